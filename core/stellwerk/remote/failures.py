"""Says in words why a machine could not be reached or used, and what to do."""

from __future__ import annotations

import errno
import re
import socket

import asyncssh

from stellwerk.model.errors import AgentRefused, ConnectionFailed, LoginFailed, StellwerkError
from stellwerk.remote.deadlines import Deadlines
from stellwerk.remote.dial import Attempt, DialError
from stellwerk.remote.target import Target

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_MAX_FOREIGN = 300
# How an SSH server begins: with its version, or with OpenSSH's words for one connection too many.
_SSH_SAYS = ("SSH-", "Exceeded MaxStartups", "Not allowed at this time")


def cleaned(text: str, limit: int = _MAX_FOREIGN) -> str:
    """A string from a machine, fit to be shown: one line, no control characters, not endless."""
    line = _CONTROL.sub(" ", text).strip()
    return line if len(line) <= limit else line[: limit - 1] + "…"


def explain(failure: DialError, node: str, target: Target, deadlines: Deadlines) -> StellwerkError:
    """The error for people that belongs to a failed attempt to connect and log in."""
    cause, attempt = failure.cause, failure.attempt
    if isinstance(cause, asyncssh.ChannelOpenError):
        return _through_jump(cause, node, target)
    if isinstance(cause, asyncssh.Error):
        return _from_ssh(cause, attempt, node, target)
    if isinstance(cause, TimeoutError):
        return _too_slow(attempt, node, target, deadlines)
    if isinstance(cause, socket.gaierror):
        return ConnectionFailed(
            f"the name {target.host} is not known",
            node=node,
            why=f"Looking it up said: {cleaned(cause.strerror or str(cause))}",
            remedy="Check the spelling, or use the machine's IP address: names ending in .local often do not work "
            "in company networks",
        )
    if isinstance(cause, OSError):
        return _from_os(cause, attempt, node, target)
    return ConnectionFailed(f"no connection to {target.address}: {cleaned(str(cause))}", node=node)


def _from_os(cause: OSError, attempt: Attempt | None, node: str, target: Target) -> StellwerkError:
    at = f"{target.host} port {target.port}"
    if isinstance(cause, ConnectionRefusedError):
        return ConnectionFailed(
            f"{at} refuses connections",
            node=node,
            why="The machine is there, but no SSH server listens on that port",
            remedy="Check the port, and on the machine: sudo systemctl enable --now ssh",
        )
    if cause.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT):
        return ConnectionFailed(
            f"{target.host} cannot be reached",
            node=node,
            why=f"The network says: {cause.strerror or cause}",
            remedy="Check that the machine is on, its cable or Wi-Fi, and that this computer is in the same network",
        )
    if isinstance(cause, (ConnectionResetError, BrokenPipeError)):
        return _ended(attempt, node, target)
    return ConnectionFailed(f"no connection to {at}: {cleaned(cause.strerror or str(cause))}", node=node)


def _too_slow(attempt: Attempt | None, node: str, target: Target, deadlines: Deadlines) -> StellwerkError:
    at = f"{target.host} port {target.port}"
    if attempt is None:
        return ConnectionFailed(
            f"{at} did not answer within {deadlines.connect_s:g} s",
            node=node,
            why="It is off, has another address, or a firewall drops the connection",
            remedy="Check that the machine is on and that its address is right",
        )
    return ConnectionFailed(
        f"{at} accepted the connection but did not {attempt.stage} within {deadlines.login_s:g} s",
        node=node,
        why="The machine is overloaded, or something else than an SSH server listens there",
        remedy="Check the port, and whether `ssh` from a terminal gets further",
    )


def _ended(attempt: Attempt | None, node: str, target: Target) -> ConnectionFailed:
    at = f"{target.host} port {target.port}"
    said = cleaned((attempt.first_bytes if attempt else b"").decode("utf-8", "replace").partition("\n")[0], 80)
    named = said.startswith(_SSH_SAYS)
    if said and not named:
        return _no_ssh(at, node, f"It said {said!r} and closed the connection")
    return ConnectionFailed(
        f"{at} closed the connection before the login was done",
        node=node,
        why="Its SSH server may limit connections (MaxStartups), block this address, or be starting up"
        if named
        else "It may be no SSH server: it never named itself as one. An SSH server does so, too, when it limits "
        "connections (MaxStartups), blocks this address, or is starting up",
        remedy=f"{'' if named else 'Check the port; SSH normally listens on 22. '}Wait a minute and try again; on the "
        "machine, look at: journalctl -u ssh -n 20",
    )


def _no_ssh(at: str, node: str, why: str) -> ConnectionFailed:
    return ConnectionFailed(
        f"what listens at {at} is not an SSH server",
        node=node,
        why=why,
        remedy="Check the port; SSH normally listens on 22",
    )


def _from_ssh(cause: asyncssh.Error, attempt: Attempt | None, node: str, target: Target) -> StellwerkError:
    text = cleaned(str(cause.reason))
    at = f"{target.host} port {target.port}"
    if "too many authentication failures" in text.lower():
        return too_many_attempts(node, target)
    if isinstance(cause, asyncssh.PermissionDenied):
        return LoginFailed(
            f"{target.user} could not log in at {target.host}",
            node=node,
            why="No key and no password was accepted",
            remedy="Check the user name, and that this user may log in there: " + target.ssh_command,
        )
    if isinstance(cause, asyncssh.ConnectionLost):
        return _ended(attempt, node, target)
    if isinstance(cause, asyncssh.KeyExchangeFailed):
        return ConnectionFailed(
            f"{at} and this computer have no encryption method in common",
            node=node,
            why=text,
            remedy="Update the SSH server of that machine",
        )
    if attempt is None or not attempt.names_itself:
        return _no_ssh(at, node, f"It answered something else ({text})")
    return ConnectionFailed(f"the SSH connection to {at} failed: {text}", node=node)


def too_many_attempts(node: str, target: Target) -> LoginFailed:
    """The machine hung up because too many keys or passwords were tried."""
    return LoginFailed(
        f"{target.host} ended the login after too many attempts",
        node=node,
        why="Every key of the ssh-agent that it does not know counts as one attempt",
        remedy="Name the right key with IdentityFile and IdentitiesOnly in ~/.ssh/config, and try again in a minute",
    )


def _through_jump(cause: asyncssh.ChannelOpenError, node: str, target: Target) -> StellwerkError:
    return ConnectionFailed(
        f"the jump host could not connect to {target.host} port {target.port}",
        node=node,
        why=f"It said: {cleaned(str(cause.reason))}",
        remedy="Check the address as seen from the jump host, and that its SSH server allows AllowTcpForwarding",
    )


def lost(node: str, why: str = "") -> ConnectionFailed:
    """The connection that was there is gone."""
    return ConnectionFailed(
        "the connection was lost",
        node=node,
        why=why,
        remedy="It is being opened again; check the machine if that does not succeed",
    )


def cannot_store(node: str, error_name: str, path: str, text: str) -> StellwerkError:
    """The node could not store a file of ours."""
    what = f"{cleaned(path)} could not be written"
    if error_name in ("ENOSPC", "EDQUOT", "EFBIG"):
        full = "the user's disk quota is used up" if error_name == "EDQUOT" else "its disk is full"
        return AgentRefused(
            what,
            node=node,
            why=f"On that machine {full}",
            remedy="Free some space there (df -h shows where), then try again",
        )
    if error_name == "EROFS":
        return AgentRefused(
            what,
            node=node,
            why="The home directory there is read-only",
            remedy="Look at `dmesg` there: a file system with errors is mounted read-only until it is repaired",
        )
    if error_name in ("EACCES", "EPERM"):
        return AgentRefused(
            what,
            node=node,
            why="The user may not write there",
            remedy=f"Check the owner on the machine: ls -ld {cleaned(path)}; it must belong to the user",
        )
    return AgentRefused(what, node=node, why=cleaned(text), remedy="Check the machine's disk and home directory")
