"""`ssh` and `ssh-keyscan` from node to node.

The client is the system's real one. OpenSSH takes the home from the user database, so the node's own configuration is
handed over with its `~` written out; a relay stands for the simulated network: it refuses what the wires do not reach
and leads fabric addresses to where the node really listens.
"""

from __future__ import annotations

import glob
import ipaddress
import shutil
from collections.abc import Iterator
from pathlib import Path

import asyncssh

from stellwerk.virtual import hardware
from stellwerk.virtual.call import Call, Usage, Words

MAX_INCLUDE_DEPTH = 8
RELAY = ".relay"


def client() -> Path | None:
    """The system's ssh client."""
    found = shutil.which("ssh", path="/usr/bin:/bin:/usr/local/bin")
    return Path(found) if found else None


async def ssh(call: Call) -> int:
    """ssh […]"""
    program = client()
    if program is None:
        raise Usage("ssh: command not found", 127)
    machine = call.machine
    config = machine.dir / "ssh-config"
    config.write_text("\n".join(_config(machine.home)) + "\n")
    config.chmod(0o600)
    machine.note("ssh", call.argv)
    relay = f"ProxyCommand={machine.bin / RELAY} %h %p"
    argv = ["ssh", "-F", str(config), "-o", relay, *call.argv]
    call.become(program, argv, machine.environment() | {k: v for k, v in call.env.items() if k == "SSH_AUTH_SOCK"})
    return 0


def _config(home: Path) -> Iterator[str]:
    """The user's configuration with includes put in and `~` written out, then the node's defaults."""
    yield from _expand(home / ".ssh" / "config", home, 0)
    yield "Host *"
    yield f"  User {hardware.USER}"
    yield f"  UserKnownHostsFile {home}/.ssh/known_hosts"
    yield "  GlobalKnownHostsFile none"
    for name in ("id_ed25519", "id_rsa"):
        if (home / ".ssh" / name).exists():
            yield f"  IdentityFile {home}/.ssh/{name}"


def _expand(path: Path, home: Path, depth: int) -> Iterator[str]:
    if depth > MAX_INCLUDE_DEPTH or not path.is_file():
        return
    block = "Host *"
    for line in path.read_text("utf-8", "replace").splitlines():
        words = line.split()
        keyword = words[0].lower() if words else ""
        if keyword in ("host", "match"):
            block = line
        if keyword == "include":
            for pattern in words[1:]:
                full = pattern.replace("~/", f"{home}/", 1) if pattern.startswith("~/") else pattern
                for found in sorted(glob.glob(str(home / ".ssh" / full))):  # noqa: PTH207  (absolute patterns too)
                    yield from _expand(Path(found), home, depth + 1)
            yield block  # what an included file began ends with it
            continue
        yield line.replace("~/", f"{home}/").replace("%d", str(home))


def _reach(call: Call, host: str, port: int) -> tuple[str, int]:
    """Where a host is really reached. Raises `Usage` when the simulated wires do not lead there."""
    try:
        address = str(ipaddress.IPv4Address(host))
    except ValueError:
        peer = call.cluster.machines.get(host.removesuffix(".local"))
        if peer is None:
            raise Usage(f"ssh: Could not resolve hostname {host}: Name or service not known", 255) from None
        address = peer.management_address
    echo = call.cluster.fabric.ping(call.machine.name, address, payload_bytes=36)
    if echo.problem is not None:
        why = "Network is unreachable" if echo.problem == "no-route" else "No route to host"
        raise Usage(f"ssh: connect to host {host} port {port}: {why}", 255)
    return call.cluster.translate(address, port)


async def relay(call: Call) -> int:
    """Becomes the connection to a host: HOST PORT"""
    words = Words(call.argv)
    host, port = words.need("usage: HOST PORT", 2), int(words.need("usage: HOST PORT", 2))
    target, real_port = _reach(call, host, port)
    call.connect(target, real_port)
    return 0


async def keyscan(call: Call) -> int:
    """ssh-keyscan [-t TYPES] [-p PORT] [-T S] HOST…"""
    words, hosts, port = Words(call.argv), [], 22
    while words:
        word = words.need("", 1)
        if word == "-p":
            port = int(words.need("option requires an argument -- p", 1))
        elif word in ("-t", "-T", "-f"):
            words.need("option requires an argument", 1)
        elif not word.startswith("-"):
            hosts.append(word)
    for host in hosts:
        try:
            target, real_port = _reach(call, host, port)
            key = await asyncssh.get_server_host_key(target, real_port, config=None)
        except (Usage, OSError, asyncssh.Error) as error:
            call.err(str(error))
            continue
        if key is not None:
            call.err(f"# {host}:{port} SSH-2.0-OpenSSH_9.6p1 Ubuntu-3ubuntu13.14")
            name = host if port == 22 else f"[{host}]:{port}"
            call.line(f"{name} {' '.join(key.export_public_key().decode().split()[:2])}")
    return 0
