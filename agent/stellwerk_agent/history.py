"""An hour of samples in little memory: packed in groups, oldest out first; kept over the change of the daemon."""

from __future__ import annotations

import json
import os
import zlib
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stellwerk import wire
from stellwerk.model.sample import Sample

GROUP = 60
KEPT_SAMPLES = 3600
MAX_FILE_BYTES = 32 * 1024 * 1024
ANSWER_BYTES = wire.MAX_LINE_BYTES * 3 // 4


class History:
    """Samples in order of their sequence numbers."""

    def __init__(self, kept: int = KEPT_SAMPLES, group: int = GROUP) -> None:
        self._group = group
        self._packed: deque[tuple[int, bytes]] = deque(maxlen=max(1, kept // group))  # (last sequence, samples)
        self._open: list[bytes] = []
        self._last = 0

    @property
    def last_sequence(self) -> int:
        """Of the newest sample; 0 when there is none."""
        return self._last

    def append(self, sample: Sample) -> None:
        """Keep one sample, whose sequence number is above all before it."""
        self._open.append(json.dumps(wire.to_wire(sample), separators=(",", ":")).encode())
        self._last = sample.sequence
        if len(self._open) >= self._group:
            self._packed.append((self._last, zlib.compress(b"\n".join(self._open), 1)))
            self._open = []

    def after(self, sequence: int, budget_bytes: int = ANSWER_BYTES) -> list[dict[str, Any]]:
        """Samples above `sequence` in wire form, oldest first; the newest when all are more than the budget."""
        found: deque[tuple[int, dict[str, Any]]] = deque()
        size = 0
        for line, sample in self._walk(sequence):
            if sample["sequence"] > sequence:
                found.append((line, sample))
                size += line
                while size > budget_bytes:
                    size -= found.popleft()[0]
        return [sample for _, sample in found]

    def _walk(self, sequence: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """(bytes of its line, sample) of every group that may hold one above `sequence`."""
        for last, data in self._packed:
            if last > sequence:
                yield from _lines(zlib.decompress(data))
        yield from _lines(b"\n".join(self._open))

    def save(self, path: Path, boot_id: str) -> None:
        """Leave the samples for the next daemon. Raises OSError, and then leaves no file."""
        groups = [data for _, data in self._packed]
        if self._open:
            groups.append(zlib.compress(b"\n".join(self._open), 1))
        head = {"boot_id": boot_id, "sizes": [len(data) for data in groups], "last": self._last}
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(json.dumps(head).encode() + b"\n" + b"".join(groups))
        except OSError:
            path.unlink(missing_ok=True)
            raise

    def load(self, path: Path, boot_id: str) -> None:
        """Take over what the last daemon of this boot left, and remove the file. Damage means: nothing to take over."""
        try:
            with path.open("rb") as stream:
                data = stream.read(MAX_FILE_BYTES)
            path.unlink()
        except FileNotFoundError:
            return
        head_line, _, body = data.partition(b"\n")
        try:
            head = json.loads(head_line)
            if head["boot_id"] != boot_id:
                return
            position = 0
            for size in head["sizes"]:
                packed = body[position : position + size]
                position += size
                self._packed.append((int(list(_lines(zlib.decompress(packed)))[-1][1]["sequence"]), packed))
            self._last = int(head["last"])
        except (ValueError, KeyError, TypeError, IndexError, zlib.error):
            self._packed.clear()
            self._last = 0


def _lines(data: bytes) -> Iterator[tuple[int, dict[str, Any]]]:
    for line in data.splitlines():
        yield len(line), json.loads(line)
