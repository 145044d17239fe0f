"""Reads files of the machine below `--root`: bounded, cleaned, and with a note for what cannot be read."""

from __future__ import annotations

import os
import re
from pathlib import Path

from stellwerk.model.facts import Unavailable

MAX_FILE_BYTES = 64 * 1024
MAX_LINE_CHARS = 512
MAX_NOTES = 100

# C0 without tab and newline, DEL, C1, marks that turn the writing direction, and halves of surrogate pairs.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Text of several lines without control characters."""
    return _CONTROL.sub("", text)


def clean(text: str) -> str:
    """One line from a machine: no control characters, no edges, bounded."""
    return _CONTROL.sub("", text.replace("\n", " ").replace("\t", " ")).strip()[:MAX_LINE_CHARS]


class Reader:
    """Reads below one root and remembers what was not readable."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._notes: dict[str, Unavailable] = {}

    @property
    def notes(self) -> tuple[Unavailable, ...]:
        """All that could not be read so far, with the reason."""
        return tuple(self._notes.values())

    def note(self, what: str, why: str) -> None:
        """Remember that `what` is not available."""
        if len(self._notes) < MAX_NOTES:
            self._notes.setdefault(what, Unavailable(clean(what), clean(why)))

    def path(self, path: str) -> Path:
        """Where the node's `path` lies."""
        return self.root / path.lstrip("/")

    def raw(self, path: str, limit: int = MAX_FILE_BYTES) -> str:
        """The file's text as it is. Raises OSError."""
        with self.path(path).open("rb") as stream:
            return stream.read(limit).decode("utf-8", "replace")

    def lines(self, path: str, limit: int = MAX_FILE_BYTES) -> list[str]:
        """The lines of a file that should be there; none, and a note, when it cannot be read."""
        try:
            return clean_text(self.raw(path, limit)).splitlines()
        except OSError as error:
            self.note(path, error.strerror or str(error))
            return []

    def text(self, path: str) -> str | None:
        """A one-line file that may be missing; empty is None."""
        try:
            return clean(self.raw(path, 4096)) or None
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        """A file with one integer; None when it is missing or holds something else."""
        text = self.text(path)
        try:
            return int(text, 0) if text is not None else None
        except ValueError:
            return None

    def names(self, path: str) -> list[str]:
        """The sorted entries of a directory; none when it is missing."""
        try:
            return sorted(os.listdir(self.path(path)))  # noqa: PTH208  (names are wanted, not paths)
        except OSError:
            return []

    def link_name(self, path: str) -> str | None:
        """The last part of what a symbolic link points to."""
        try:
            return clean(os.path.basename(os.readlink(self.path(path)))) or None  # noqa: PTH119, PTH115
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Whether the path is there."""
        return self.path(path).exists()
