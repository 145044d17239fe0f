"""Which machine is meant: parses what people type or what their SSH configuration says."""

from __future__ import annotations

import getpass
import ipaddress
import re
from dataclasses import dataclass, replace
from pathlib import Path

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say
from stellwerk.remote import ssh_config as config_file

DEFAULT_PORT = 22
_MAX_JUMPS = 8

MOST_SHOWN = 60  # characters of what was typed


@dataclass(frozen=True, slots=True)
class Target:
    """One machine and the way to it. `jump` is passed through from left to right."""

    host: str
    port: int
    user: str
    name: str
    jump: tuple[Target, ...] = ()
    identity_files: tuple[str, ...] = ()
    identity_agent: str | None = None  # a socket's path, "none", or None for the desktop's own
    identities_only: bool = False

    @property
    def address(self) -> str:
        """`user@host:port` as it can be typed again."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}" + ("" if self.port == DEFAULT_PORT else f":{self.port}")

    @property
    def ssh_command(self) -> str:
        """The same for a terminal, as OpenSSH's `ssh` takes it."""
        port = "" if self.port == DEFAULT_PORT else f"-p {self.port} "
        return f"ssh {port}{self.user}@{self.host}"


@dataclass(frozen=True, slots=True)
class _Parts:
    user: str | None
    host: str
    port: int | None


def parse_target(
    text: str,
    ssh_config: Path | None = None,
    *,
    default_user: str | None = None,
    jump: str | None = None,
) -> Target:
    """Understand `host`, `user@host:port`, `[v6%scope]:port`, `ssh://user@host:port` or an alias of `ssh_config`.

    What is typed wins over the configuration. `jump` (comma separated, or "none") wins over its ProxyJump.
    Raises `BadInput` with what is wrong and how to write it.
    """
    local_user = default_user or getpass.getuser()
    return _resolve(text, ssh_config, local_user, jump, ())


def parse_targets(
    text: str, ssh_config: Path | None = None, *, default_user: str | None = None
) -> tuple[tuple[Target, ...], tuple[BadInput, ...]]:
    """A list of machines, separated by lines, commas or blanks; `#` begins a comment.

    Returns the good ones without duplicates, and one error for each bad one that names its line.
    """
    targets: dict[tuple[str, int, str], Target] = {}
    problems: list[BadInput] = []
    for number, line in enumerate(text.splitlines(), 1):
        for item in re.split(r"[,\s]+", line.partition("#")[0].strip()):
            if not item:
                continue
            try:
                target = parse_target(item, ssh_config, default_user=default_user)
            except BadInput as error:
                problems.append(
                    BadInput(
                        say("line {number}: {what}", number=number, what=error.what), why=error.why, remedy=error.remedy
                    )
                )
            else:
                targets.setdefault((target.host.lower(), target.port, target.user), target)
    return tuple(targets.values()), tuple(problems)


def import_targets(
    ssh_config: Path, *, default_user: str | None = None
) -> tuple[tuple[Target, ...], tuple[BadInput, ...]]:
    """Every alias of an SSH configuration as a target, and one error for each that cannot be used."""
    return parse_targets("\n".join(config_file.aliases(ssh_config)), ssh_config, default_user=default_user)


def _resolve(text: str, ssh_config: Path | None, local_user: str, jump: str | None, seen: tuple[str, ...]) -> Target:
    parts = _split(text)
    options = config_file.read_host(ssh_config, parts.host, local_user)
    host = _check_host(options.host or parts.host, text)
    if options.proxy_command and jump is None and not options.proxy_jump:
        raise BadInput(
            say(
                "{host}: its entry in {ssh_config} uses ProxyCommand, which Stellwerk does not run",
                host=parts.host,
                ssh_config=ssh_config,
            ),
            remedy="Write ProxyJump instead, or name the jump host in the dialog",
        )
    user = parts.user or _check_user(options.user, text) or local_user
    route = options.proxy_jump if jump is None else jump
    return Target(
        host=host,
        port=parts.port or _port(options.port, text) or DEFAULT_PORT,
        user=user,
        name=parts.host,
        jump=_jumps(route, ssh_config, local_user, (*seen, parts.host)),
        identity_files=options.identity_files,
        identity_agent=options.identity_agent,
        identities_only=options.identities_only,
    )


def _jumps(route: str | None, ssh_config: Path | None, local_user: str, seen: tuple[str, ...]) -> tuple[Target, ...]:
    """The hops in order. As in OpenSSH, only the first may have a ProxyJump of its own."""
    if route is None or route.strip().lower() in ("", "none"):
        return ()
    hops: list[Target] = []
    for position, hop in enumerate(route.split(",")):
        name = _split(hop.strip()).host
        if name in seen or len(seen) > _MAX_JUMPS:
            raise BadInput(
                say("the jump hosts of {seen} lead in a circle (over {name})", seen=seen[0], name=name),
                remedy="Correct ProxyJump in the SSH configuration",
            )
        target = _resolve(hop.strip(), ssh_config, local_user, None if position == 0 else "none", seen)
        hops.extend(target.jump)
        hops.append(replace(target, jump=()))
    return tuple(hops)


def _split(text: str) -> _Parts:
    rest = text.strip()
    if not rest:
        raise BadInput(
            "no machine was named", remedy="Type a host name or an address, for example spark-1 or 192.168.1.20"
        )
    is_url = rest.lower().startswith("ssh://")
    if is_url:
        rest = rest[len("ssh://") :].rstrip("/")
    elif "://" in rest:
        raise BadInput(
            say("{text} is not an SSH address", text=_said(text)),
            remedy="Write it as user@host:port or ssh://user@host:port",
        )
    user, at, place = rest.rpartition("@")
    checked_user = _check_user(user, text) if at else None
    if at and checked_user is None:
        raise BadInput(say("{text}: the user name before the @ is missing", text=_said(text)), remedy="Write user@host")
    host, port = _split_port(place, text)
    return _Parts(checked_user, _check_host(host, text), _port(port, text))


def _split_port(place: str, text: str) -> tuple[str, str | None]:
    if place.startswith("["):
        host, bracket, tail = place[1:].partition("]")
        if not bracket or (tail and not tail.startswith(":")):
            raise BadInput(
                say("{text}: the brackets do not fit", text=_said(text)),
                remedy="Write an IPv6 address as [fd00::1]:22",
            )
        if ":" not in host:
            raise BadInput(
                say("{text}: only an IPv6 address stands in brackets", text=_said(text)),
                remedy="Write host:port without them",
            )
        return host, tail[1:] if tail else None
    if place.count(":") > 1:  # an IPv6 address without brackets has no port
        return place, None
    host, colon, port = place.partition(":")
    return host, port if colon else None


def _port(value: str | None, text: str) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,5}", value) or not 1 <= int(value) <= 65535:
        raise BadInput(
            say("{text}: {value} is not a port", text=_said(text), value=_said(value)),
            remedy="A port is a number from 1 to 65535",
        )
    return int(value)


def _check_user(user: str | None, text: str) -> str | None:
    if user is None or user == "":
        return None
    if not user.isprintable() or user.startswith("-") or any(sign in user for sign in " :/[]@\\") or len(user) > 64:
        raise BadInput(
            say("{text}: {user} is not a user name", text=_said(text), user=_said(user)),
            remedy="Write user@host, without a password",
        )
    return user


def _said(text: str) -> str:
    """What was typed, in quotes and of a length that a sentence can hold."""
    return repr(text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…")


def _check_host(host: str, text: str) -> str:
    if ":" in host:
        return _check_ipv6(host, text)
    if not host or len(host) > 253 or host.startswith(("-", ".")) or not re.fullmatch(r"[\w.-]+", host):
        raise BadInput(
            say("{text} does not name a machine", text=_said(text)),
            remedy="Type a host name or an address, such as spark-1.local",
        )
    if re.fullmatch(r"[0-9.]+", host):
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            raise BadInput(
                say("{text}: {host} is not an IPv4 address", text=_said(text), host=host),
                remedy="Such as 192.168.1.20",
            ) from None
    return host


def _check_ipv6(host: str, text: str) -> str:
    try:
        address = ipaddress.IPv6Address(host)
    except ValueError:
        raise BadInput(
            say("{text}: {host} is not an IPv6 address", text=_said(text), host=host),
            remedy="Such as fd00::20 or fe80::20%eth0",
        ) from None
    if address.is_link_local and not address.scope_id:
        raise BadInput(
            say(
                "{host} is a link-local address and means a machine only together with an interface of this computer",
                host=host,
            ),
            why="Every interface has its own fe80:: network",
            remedy=say("Add the interface, such as {host}%eth0", host=host),
        )
    return host
