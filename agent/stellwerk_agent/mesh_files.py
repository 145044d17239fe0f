"""The texts behind "machines may reach each other": what is added to the user's SSH files, and taken out again.

Pure functions on bytes. Whatever is not ours comes out as it went in.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say
from stellwerk_agent.reading import clean

INCLUDE = (
    b"# Stellwerk: aliases of the machines of this cluster (goes away at un-pair)\nInclude ~/.ssh/stellwerk/config\n"
)
KEY_MARK = "stellwerk-mesh:"
BEGIN = f"# {KEY_MARK}begin".encode()
GLUED = f"# {KEY_MARK}glued".encode()
HEAD = "# Written by Stellwerk; changes here are lost. It goes away at un-pair.\n"

_ALIAS = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")
_USER = re.compile(r"^[A-Za-z0-9_][A-Za-z0-9._@-]{0,62}\$?$")
_HOST = re.compile(r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$")
_KEY = re.compile(r"^((?:ssh|ecdsa|sk)-[A-Za-z0-9@.-]+) ([A-Za-z0-9+/]{16,16000}={0,3})(?: .*)?$")
_MARKED = re.compile(rb" " + KEY_MARK.encode() + rb"[A-Za-z0-9._-]+$")


@dataclass(frozen=True, slots=True)
class Peer:
    """Another machine of the cluster, as the desktop names it."""

    alias: str
    address: str
    port: int
    user: str
    public_key: str
    host_keys: tuple[str, ...] = ()


def check_peer(peer: Peer) -> None:
    """Raise `BadInput` for a peer whose words could mean more than a machine in an SSH file (`*`, a line break)."""
    name = clean(peer.alias) or say("a peer")
    if not _ALIAS.match(peer.alias):
        raise BadInput(
            say("{name} cannot be an alias", name=repr(name)), why="letters, digits, dot, dash and underscore can"
        )
    if not _is_host(peer.address):
        raise BadInput(say("{address} is no address for {name}", address=repr(clean(peer.address)), name=name))
    if not 0 < peer.port < 65536:
        raise BadInput(say("{port} is no port for {name}", port=peer.port, name=name))
    if not _USER.match(peer.user):
        raise BadInput(say("{user} is no user name for {name}", user=repr(clean(peer.user)), name=name))
    if not peer.host_keys:
        raise BadInput(
            say("{name} has no host key", name=name), why="Without it nobody can tell it from another machine"
        )
    for key in (peer.public_key, *peer.host_keys):
        key_words(key)


def _is_host(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return bool(_HOST.match(text))
    return True


def key_words(line: str) -> str:
    """Type and key of a public key line, without its comment. Raises `BadInput`."""
    match = _KEY.match(line.strip())
    if match is None or "\n" in line.strip():
        raise BadInput("this is no public SSH key", why=clean(line)[:60])
    return f"{match[1]} {match[2]}"


def config_text(peers: Sequence[Peer]) -> str:
    """Our SSH client configuration: one block per alias, never `Host *`."""
    blocks = [
        f"""\
Host {peer.alias}
    HostName {peer.address}
    Port {peer.port}
    User {peer.user}
    HostKeyAlias {peer.alias}
    IdentityFile ~/.ssh/stellwerk/id_ed25519
    IdentitiesOnly yes
    UserKnownHostsFile ~/.ssh/stellwerk/known_hosts
    StrictHostKeyChecking yes
"""
        for peer in sorted(peers, key=lambda peer: peer.alias)
    ]
    return HEAD + "".join("\n" + block for block in blocks)


def known_hosts_text(peers: Sequence[Peer]) -> str:
    """The pinned host keys, under the aliases."""
    lines = [f"{peer.alias} {key_words(key)}\n" for peer in peers for key in peer.host_keys]
    return HEAD + "".join(sorted(set(lines)))


def with_include(before: bytes) -> bytes:
    """The user's SSH configuration with our two lines at its top: options before the first `Host` hold for all."""
    return before if before.startswith(INCLUDE) else INCLUDE + without_include(before)


def without_include(text: bytes) -> bytes:
    """The user's SSH configuration as it was before."""
    return text.replace(INCLUDE, b"", 1)


def with_keys(before: bytes, peers: Iterable[Peer]) -> bytes:
    """authorized_keys with one line per peer at its end."""
    lines = [f"{key_words(peer.public_key)} {KEY_MARK}{peer.alias}\n" for peer in peers]
    rest = without_keys(before)
    if not lines:
        return rest
    # The mark tells whether the file had no line break at its end, so that taking out gives the same bytes.
    glued = bool(rest) and not rest.endswith(b"\n")
    return rest + (b"\n" + GLUED if glued else BEGIN) + b"\n" + "".join(sorted(lines)).encode()


def without_keys(text: bytes) -> bytes:
    """authorized_keys without our lines, byte for byte as it was before them."""
    kept: list[bytes] = []
    glued = False
    for line in text.split(b"\n"):
        if _MARKED.search(line):
            glued = glued or line == GLUED
            continue
        if glued and line:
            glued = False  # what the user wrote behind our lines keeps the line break that we put before them
        kept.append(line)
    return b"\n".join(kept[:-1] if glued else kept)


def shadowed(config: bytes, aliases: Iterable[str]) -> list[str]:
    """Aliases that the user's own configuration already has a `Host` line for: ours come first and win."""
    own: set[str] = set()
    for line in without_include(config).decode("utf-8", "replace").splitlines():
        words = line.replace("=", " ", 1).split()
        if words and words[0].lower() == "host":
            own.update(word.strip('"') for word in words[1:])
    return sorted(own.intersection(aliases))
