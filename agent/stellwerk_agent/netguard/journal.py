"""The journal of one transaction: JSON lines, each on disk before the step that it announces."""

from __future__ import annotations

import datetime
import errno
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stellwerk.model.guard import GuardState
from stellwerk_agent.netguard.files import sync_directory
from stellwerk_agent.netguard.layout import now_s


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: what was about to happen or had happened, when, in which boot."""

    event: str  # created | state | step | note | firewall | command | undone
    at: str
    boot: str
    since_boot_s: float
    values: dict[str, Any]


class Journal:
    """Appends lines; a line cut short by a crash is dropped at the next append and never read."""

    def __init__(self, path: Path, boot_id: str) -> None:
        self.path = path
        self.boot_id = boot_id

    def append(self, event: str, **values: Any) -> None:
        """Write one line and wait until it is on disk. Raises `OSError`."""
        line = {
            "event": event,
            "at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
            "boot": self.boot_id,
            "since_boot_s": round(now_s(), 3),
            **values,
        }
        is_new = not self.path.exists()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "r+b", buffering=0) as stream:
            _cut_torn_line(stream.fileno())
            data = json.dumps(line, separators=(",", ":")).encode() + b"\n"
            if stream.write(data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
            os.fsync(descriptor)
        if is_new:
            sync_directory(self.path.parent)

    def entries(self) -> tuple[Entry, ...]:
        """All whole lines; empty when there is no journal."""
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return ()
        found = (_parse(line) for line in text.split(b"\n") if line)
        return tuple(entry for entry in found if entry is not None)


def _cut_torn_line(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    if size and os.pread(descriptor, 1, size - 1) != b"\n":
        whole = os.pread(descriptor, size, 0).rfind(b"\n") + 1
        os.ftruncate(descriptor, whole)


def _parse(line: bytes) -> Entry | None:
    try:
        data = json.loads(line)
    except ValueError:
        return None
    if not isinstance(data, dict) or not isinstance(data.get("event"), str):
        return None
    since = data.pop("since_boot_s", 0.0)
    return Entry(
        event=data.pop("event"),
        at=str(data.pop("at", "")),
        boot=str(data.pop("boot", "")),
        since_boot_s=float(since) if isinstance(since, (int, float)) else 0.0,
        values=data,
    )


def state_of(entries: tuple[Entry, ...]) -> GuardState:
    """The last state written; IDLE when nothing but the creation is."""
    for entry in reversed(entries):
        if entry.event == "state":
            return GuardState(entry.values["state"])
    return GuardState.IDLE


def why_of(entries: tuple[Entry, ...]) -> str:
    """The reason written with the last state."""
    return next((str(e.values.get("why", "")) for e in reversed(entries) if e.event == "state"), "")


def log_of(entries: tuple[Entry, ...], limit: int = 200) -> tuple[str, ...]:
    """The journal in lines for a person."""
    lines: list[str] = []
    for entry in entries:
        text = str(entry.values.get("text") or entry.values.get("why") or "")
        if entry.event == "state":
            lines.append(f"{entry.values['state']}: {text}" if text else str(entry.values["state"]))
        elif text:
            lines.append(text)
    return tuple(lines[-limit:])
