"""Reads OpenSSH client configuration: what `ssh ALIAS` would use for one machine.

Only reading: commands in the file (`Match exec`, `ProxyCommand`) are never run, and the file is never written.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say

_MAX_DEPTH = 16  # of Include, as in OpenSSH
_MAX_BYTES = 1024 * 1024
_PATTERN_SIGNS = frozenset("*?!")


@dataclass(frozen=True, slots=True)
class HostOptions:
    """What the configuration says about one alias; `None` or empty where it says nothing."""

    host: str | None = None
    port: str | None = None
    user: str | None = None
    proxy_jump: str | None = None
    proxy_command: str | None = None
    identity_files: tuple[str, ...] = ()
    identity_agent: str | None = None
    identities_only: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    source: Path
    number: int
    keyword: str
    words: tuple[str, ...]
    rest: str


def read_host(path: Path | None, alias: str, local_user: str) -> HostOptions:
    """The options for `alias`. A missing file says nothing. Raises `BadInput` for a file that cannot be read."""
    if path is None or not path.exists():
        return HostOptions()
    found: dict[str, str] = {}
    identities: list[str] = []
    reader = _Reader(path, alias, local_user, found)
    for line in reader.matching_lines():
        if line.keyword == "identityfile":
            identities.append(line.words[0])
        else:
            value = line.rest if line.keyword == "proxycommand" else line.words[0]
            found.setdefault(line.keyword, value)
    host = _expand(found["hostname"], {"h": alias, "n": alias}) if "hostname" in found else None
    tokens = {
        "h": host or alias,
        "n": alias,
        "p": found.get("port", "22"),
        "r": found.get("user", local_user),
        "u": local_user,
        "d": str(path.parent.parent),
    }
    agent = found.get("identityagent")
    return HostOptions(
        host=host,
        port=found.get("port"),
        user=found.get("user"),
        proxy_jump=_unless_none(found.get("proxyjump")),
        proxy_command=_unless_none(found.get("proxycommand")),
        identity_files=tuple(_path(item, tokens, path) for item in identities if item.lower() != "none"),
        identity_agent=agent if agent in (None, "none", "SSH_AUTH_SOCK") else _path(agent, tokens, path),
        identities_only=found.get("identitiesonly", "no").lower() in ("yes", "true"),
    )


def aliases(path: Path) -> tuple[str, ...]:
    """The names that stand in `Host` lines without wildcards, in the order of the file: what can be imported."""
    if not path.exists():
        return ()
    names: dict[str, None] = {}
    for line in _lines(path, path, 0):
        if line.keyword == "host":
            names.update((word, None) for word in line.words if not _PATTERN_SIGNS & set(word))
    return tuple(names)


class _Reader:
    """Walks through the file and its includes and yields the lines of the blocks that fit `alias`."""

    def __init__(self, path: Path, alias: str, local_user: str, found: dict[str, str]) -> None:
        self._path = path
        self._alias = alias
        self._local_user = local_user
        self._found = found  # filled by the caller while it reads: `Match host` looks at HostName, `Match user` at User

    def matching_lines(self) -> Iterator[_Line]:
        return self._walk(self._path, 0)

    def _walk(self, path: Path, depth: int) -> Iterator[_Line]:
        applies = True
        for line in _own_lines(path):
            if line.keyword == "host":
                applies = _fits(line.words, self._alias)
            elif line.keyword == "match":
                applies = self._match(line)
            elif not applies:
                continue
            elif line.keyword == "include":
                for included in _included(line, self._path, depth):
                    yield from self._walk(included, depth + 1)
            else:
                yield line

    def _match(self, line: _Line) -> bool:
        """`Match` with the criteria that need no command to be run; a block with any other does not apply."""
        words = list(line.words)
        while words:
            criterion = words.pop(0).lower()
            negated = criterion.startswith("!")
            criterion = criterion.lstrip("!")
            if criterion == "all":
                fits = True
            elif criterion in ("host", "originalhost", "user", "localuser") and words:
                subject = {
                    "host": self._found.get("hostname", self._alias),
                    "originalhost": self._alias,
                    "user": self._found.get("user", self._local_user),
                    "localuser": self._local_user,
                }[criterion]
                fits = _fits(tuple(words.pop(0).split(",")), subject)
            else:
                return False
            if fits == negated:
                return False
        return True


def _fits(patterns: tuple[str, ...], name: str) -> bool:
    """OpenSSH's pattern list: any fits, and no negated one does. Only * and ? are special."""
    fits = False
    for pattern in patterns:
        plain = pattern.lstrip("!").replace("[", "[[]")
        if fnmatch.fnmatchcase(name.lower(), plain.lower()):
            if pattern.startswith("!"):
                return False
            fits = True
    return fits


def _lines(path: Path, root: Path, depth: int) -> Iterator[_Line]:
    for line in _own_lines(path):
        yield line
        if line.keyword == "include":
            for included in _included(line, root, depth):
                yield from _lines(included, root, depth + 1)


def _included(line: _Line, root: Path, depth: int) -> Iterator[Path]:
    """The files of an Include line; relative names lie beside the user's configuration file, as in OpenSSH."""
    if depth >= _MAX_DEPTH:
        raise BadInput(
            say(
                "{source}, line {number}: Include is nested more than {max_depth} deep",
                source=line.source,
                number=line.number,
                max_depth=_MAX_DEPTH,
            ),
            why="Probably a file includes itself",
            remedy="Remove that Include line",
        )
    for word in line.words:
        pattern = _tilde(word, root)
        absolute = pattern if pattern.is_absolute() else root.parent / pattern
        anchor = Path(absolute.anchor)
        yield from sorted(p for p in anchor.glob(str(absolute.relative_to(anchor))) if p.is_file())


def _own_lines(path: Path) -> Iterator[_Line]:
    for number, text in enumerate(_read(path).splitlines(), 1):
        stripped = text.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = re.match(r"([A-Za-z0-9]+)(?:\s*=\s*|\s+|$)(.*)", stripped)
        if found is None:
            raise BadInput(
                say("{path}, line {number}: this is not a line of an SSH configuration", path=path, number=number),
                remedy="Correct it",
            )
        try:
            words = shlex.split(found[2], comments=True)
        except ValueError as error:
            if found[1].lower() not in ("proxycommand", "remotecommand", "localcommand"):
                raise BadInput(
                    say("{path}, line {number}: {error}", path=path, number=number, error=error),
                    remedy="Correct the quotes",
                ) from None
            words = [found[2]]
        if not words:
            raise BadInput(
                say("{path}, line {number}: {found} has no value", path=path, number=number, found=found[1]),
                remedy="Give it one, or remove the line",
            )
        yield _Line(path, number, found[1].lower(), tuple(words), found[2])


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise BadInput(
            say("{path} cannot be read: {strerror}", path=path, strerror=error.strerror),
            remedy="Correct its permissions, or type the address instead",
        ) from None
    if len(data) > _MAX_BYTES:
        raise BadInput(
            say(
                "{path} is larger than {max_bytes} bytes and is not read as an SSH configuration",
                path=path,
                max_bytes=_MAX_BYTES,
            )
        )
    return data.decode("utf-8", "replace")


def _unless_none(value: str | None) -> str | None:
    return None if value is None or value.lower() == "none" else value


def _expand(value: str, tokens: dict[str, str]) -> str:
    def token(found: re.Match[str]) -> str:
        sign = found[1]
        return "%" if sign == "%" else tokens.get(sign, found[0])

    return re.sub(r"%(.)", token, value)


def _tilde(value: str, root: Path) -> Path:
    # `~` is the home that the configuration file belongs to (~/.ssh/config), which is the user's own.
    return root.parent.parent / value[2:] if value.startswith("~/") else Path(value)


def _path(value: str, tokens: dict[str, str], root: Path) -> str:
    with_environment = re.sub(r"\$\{(\w+)\}", lambda found: os.environ.get(found[1], found[0]), value)
    return str(_tilde(_expand(with_environment, tokens), root))
