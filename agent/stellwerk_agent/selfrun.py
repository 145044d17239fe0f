"""How the agent starts itself again, and under which hash it is known."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import stellwerk_agent
from stellwerk import __version__, wire
from stellwerk.model import errors


@dataclass(frozen=True, slots=True)
class Self:
    """The running agent: its archive (None when it runs from sources) and how to run it again."""

    archive: Path | None
    argv: tuple[str, ...]
    python_path: str | None  # PYTHONPATH that a process started with `argv` needs

    def command(self, *words: str) -> list[str]:
        """The argument vector of one of the agent's sub commands."""
        return [*self.argv, *words]

    def environment(self, base: dict[str, str]) -> dict[str, str]:
        """`base` with what a child needs to find the agent's sources."""
        return base if self.python_path is None else {**base, "PYTHONPATH": self.python_path}


def find_self() -> Self:
    """See where this code came from. In an archive Python runs isolated, so that no file of the user is imported."""
    archive = getattr(stellwerk_agent.__spec__.loader if stellwerk_agent.__spec__ else None, "archive", None)
    if isinstance(archive, str):
        path = Path(archive).resolve()
        return Self(path, (sys.executable, "-I", str(path)), None)
    roots = dict.fromkeys(str(Path(module.__file__ or "").resolve().parents[1]) for module in (stellwerk_agent, wire))
    return Self(None, (sys.executable, "-m", "stellwerk_agent"), ":".join(roots))


def version() -> str:
    """The release that this agent belongs to."""
    return __version__


def agent_hash(me: Self) -> str:
    """SHA-256 (hex) of the archive, or of all sources when there is none."""
    digest = hashlib.sha256()
    if me.archive is not None:
        with me.archive.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
        return digest.hexdigest()
    for path in _sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    yield from sorted(Path(stellwerk_agent.__file__ or "").parent.rglob("*.py"))
    yield from sorted(Path(errors.__file__ or "").parent.glob("*.py"))
    yield Path(wire.__file__ or "")
