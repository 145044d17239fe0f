"""Writes the simulated /sys, /proc and /etc of one node; a file is touched only when its text changes."""

from __future__ import annotations

import os
from pathlib import Path


class Tree:
    """Files below one root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._texts: dict[str, str] = {}
        self._open: dict[str, int] = {}

    def path(self, path: str) -> Path:
        """Where the node's `path` lies."""
        return self.root / path.lstrip("/")

    def put(self, path: str, text: str, mode: int = 0o644) -> None:
        """Make the file hold `text`, without a moment in which it is empty: a sysfs file never is."""
        if self._texts.get(path) == text:
            return
        target = self.path(path)
        data = text.encode()
        try:
            fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, mode)
        except FileNotFoundError:
            target.parent.mkdir(parents=True, exist_ok=True)
            fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, mode)
        try:
            os.pwrite(fd, data, 0)
            os.ftruncate(fd, len(data))
        finally:
            os.close(fd)
        self._texts[path] = text

    def put_number(self, path: str, value: int) -> None:
        """As `put`, for counters that change many times a second: the file stays open."""
        fd = self._open.get(path)
        if fd is None:
            self.put(path, f"{value}\n")
            fd = self._open[path] = os.open(self.path(path), os.O_WRONLY | os.O_CLOEXEC)
        text = f"{value}\n"
        before = self._texts.get(path, "")
        if text == before:
            return
        data = text.encode()
        os.pwrite(fd, data, 0)
        if len(text) < len(before):
            os.ftruncate(fd, len(data))
        self._texts[path] = text

    def link(self, path: str, target: str) -> None:
        """A relative symbolic link, as in sysfs."""
        link = self.path(path)
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)

    def directory(self, path: str) -> Path:
        """Make a directory."""
        target = self.path(path)
        target.mkdir(parents=True, exist_ok=True)
        return target

    def read(self, path: str) -> str | None:
        """The text of a file that the node may have changed itself; None when it is not there."""
        try:
            return self.path(path).read_text("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None

    def number(self, path: str) -> int:
        """The integer in a file; 0 when there is none, as for a sysctl that nobody set."""
        try:
            return int((self.read(path) or "0").strip())
        except ValueError:
            return 0

    def forget(self, prefix: str = "") -> None:
        """The node may have changed files below `prefix`: write them again when asked to."""
        self._texts = {path: text for path, text in self._texts.items() if not path.startswith(prefix)}

    def close(self) -> None:
        """Let go of all files."""
        for fd in self._open.values():
            os.close(fd)
        self._open.clear()
        self._texts.clear()
