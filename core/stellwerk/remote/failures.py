"""Says in words why a machine could not be reached or used, and what to do."""

from __future__ import annotations

import errno
import re
import socket

import asyncssh

from stellwerk.model.errors import AgentRefused, ConnectionFailed, LoginFailed, StellwerkError
from stellwerk.model.text import say
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
            say("the name {host} is not known", host=target.host),
            node=node,
            why=say("Looking it up said: {said}", said=cleaned(cause.strerror or str(cause))),
            remedy="Check the spelling, or use the machine's IP address: names ending in .local often do not work "
            "in company networks",
        )
    if isinstance(cause, OSError):
        return _from_os(cause, attempt, node, target)
    return ConnectionFailed(
        say("no connection to {address}: {cause}", address=target.address, cause=cleaned(str(cause))), node=node
    )


def _from_os(cause: OSError, attempt: Attempt | None, node: str, target: Target) -> StellwerkError:
    at = say("{host} port {port}", host=target.host, port=target.port)
    if isinstance(cause, ConnectionRefusedError):
        return ConnectionFailed(
            say("{at} refuses connections", at=at),
            node=node,
            why="The machine is there, but no SSH server listens on that port",
            remedy="Check the port, and on the machine: sudo systemctl enable --now ssh",
        )
    if cause.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EHOSTDOWN, errno.ETIMEDOUT):
        return ConnectionFailed(
            say("{host} cannot be reached", host=target.host),
            node=node,
            why=say("The network says: {said}", said=cause.strerror or cause),
            remedy="Check that the machine is on, its cable or Wi-Fi, and that this computer is in the same network",
        )
    if isinstance(cause, (ConnectionResetError, BrokenPipeError)):
        return _ended(attempt, node, target)
    return ConnectionFailed(
        say("no connection to {at}: {said}", at=at, said=cleaned(cause.strerror or str(cause))), node=node
    )


def _too_slow(attempt: Attempt | None, node: str, target: Target, deadlines: Deadlines) -> StellwerkError:
    at = say("{host} port {port}", host=target.host, port=target.port)
    if attempt is None:
        return ConnectionFailed(
            say("{at} did not answer within {connect_s} s", at=at, connect_s=f"{deadlines.connect_s:g}"),
            node=node,
            why="It is off, has another address, or a firewall drops the connection",
            remedy="Check that the machine is on and that its address is right",
        )
    return ConnectionFailed(
        say(
            "{at} accepted the connection but did not {stage} within {login_s} s",
            at=at,
            stage=attempt.stage,
            login_s=f"{deadlines.login_s:g}",
        ),
        node=node,
        why="The machine is overloaded, or something else than an SSH server listens there",
        remedy="Check the port, and whether `ssh` from a terminal gets further",
    )


def _ended(attempt: Attempt | None, node: str, target: Target) -> ConnectionFailed:
    at = say("{host} port {port}", host=target.host, port=target.port)
    said = cleaned((attempt.first_bytes if attempt else b"").decode("utf-8", "replace").partition("\n")[0], 80)
    named = said.startswith(_SSH_SAYS)
    if said and not named:
        return _no_ssh(at, node, say("It said {said} and closed the connection", said=repr(said)))
    return ConnectionFailed(
        say("{at} closed the connection before the login was done", at=at),
        node=node,
        why="Its SSH server may limit connections (MaxStartups), block this address, or be starting up"
        if named
        else "It may be no SSH server: it never named itself as one. An SSH server does so, too, when it limits "
        "connections (MaxStartups), blocks this address, or is starting up",
        remedy=say("Wait a minute and try again; on the machine, look at: journalctl -u ssh -n 20")
        if named
        else say(
            "Check the port; SSH normally listens on 22. Wait a minute and try again; on the machine, look at: "
            "journalctl -u ssh -n 20"
        ),
    )


def _no_ssh(at: str, node: str, why: str) -> ConnectionFailed:
    return ConnectionFailed(
        say("what listens at {at} is not an SSH server", at=at),
        node=node,
        why=why,
        remedy="Check the port; SSH normally listens on 22",
    )


def _from_ssh(cause: asyncssh.Error, attempt: Attempt | None, node: str, target: Target) -> StellwerkError:
    text = cleaned(str(cause.reason))
    at = say("{host} port {port}", host=target.host, port=target.port)
    if "too many authentication failures" in text.lower():
        return too_many_attempts(node, target)
    if isinstance(cause, asyncssh.PermissionDenied):
        return LoginFailed(
            say("{user} could not log in at {host}", user=target.user, host=target.host),
            node=node,
            why="No key and no password was accepted",
            remedy=say(
                "Check the user name, and that this user may log in there: {command}", command=target.ssh_command
            ),
        )
    if isinstance(cause, asyncssh.ConnectionLost):
        return _ended(attempt, node, target)
    if isinstance(cause, asyncssh.KeyExchangeFailed):
        return ConnectionFailed(
            say("{at} and this computer have no encryption method in common", at=at),
            node=node,
            why=text,
            remedy="Update the SSH server of that machine",
        )
    if attempt is None or not attempt.names_itself:
        return _no_ssh(at, node, say("It answered something else ({text})", text=text))
    return ConnectionFailed(say("the SSH connection to {at} failed: {text}", at=at, text=text), node=node)


def too_many_attempts(node: str, target: Target) -> LoginFailed:
    """The machine hung up because too many keys or passwords were tried."""
    return LoginFailed(
        say("{host} ended the login after too many attempts", host=target.host),
        node=node,
        why="Every key of the ssh-agent that it does not know counts as one attempt",
        remedy="Name the right key with IdentityFile and IdentitiesOnly in ~/.ssh/config, and try again in a minute",
    )


def _through_jump(cause: asyncssh.ChannelOpenError, node: str, target: Target) -> StellwerkError:
    return ConnectionFailed(
        say("the jump host could not connect to {host} port {port}", host=target.host, port=target.port),
        node=node,
        why=say("It said: {reason}", reason=cleaned(str(cause.reason))),
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
    what = say("{path} could not be written", path=cleaned(path))
    if error_name in ("ENOSPC", "EDQUOT", "EFBIG"):
        quota = error_name == "EDQUOT"
        return AgentRefused(
            what,
            node=node,
            why="On that machine the user's disk quota is used up" if quota else "On that machine its disk is full",
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
            remedy=say("Check the owner on the machine: ls -ld {path}; it must belong to the user", path=cleaned(path)),
        )
    return AgentRefused(what, node=node, why=cleaned(text), remedy="Check the machine's disk and home directory")
