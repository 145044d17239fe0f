"""What was decided and done, one JSON line each, synced before the next step: the desktop's memory over a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stellwerk.model.errors import BadInput
from stellwerk.model.plan import Plan
from stellwerk.model.text import say
from stellwerk.setup.files import append_durable
from stellwerk.wire import WireError, from_wire

MAX_LINE = 4_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One event: begin | node | decision | outcome | end, of one plan."""

    event: str
    plan_id: str
    at: str
    node: str | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Journal:
    """An append-only file. A line that a crash tore is skipped, never a reason to refuse the rest."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, event: str, plan_id: str, node: str | None = None, **data: Any) -> Entry:
        """Append and sync; when this returns, the event survives a power cut."""
        entry = Entry(event, plan_id, datetime.now(UTC).isoformat(timespec="seconds"), node, data)
        line = {"event": event, "plan": plan_id, "at": entry.at, "node": node, "data": data}
        append_durable(self.path, json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode())
        return entry

    def entries(self) -> Iterator[Entry]:
        """All readable entries, oldest first."""
        if not self.path.exists():
            return
        with self.path.open("rb") as stream:
            for line in stream:
                entry = _parse(line)
                if entry is not None:
                    yield entry

    def plan(self, begin: Entry) -> Plan:
        """The plan that `begin` holds. Raises `BadInput`: what it changed cannot be told without it."""
        try:
            return from_wire(Plan, begin.data["plan"])
        except (KeyError, WireError) as error:
            raise BadInput(
                say("{path}: plan {plan_id} cannot be read", path=self.path, plan_id=begin.plan_id),
                why="what it changed, and whether it was decided, stands there alone",
                remedy="Restore the file from a backup, or move it away: a node that was not told to keep a change "
                "goes back by itself",
            ) from error

    def of_plan(self, plan_id: str) -> list[Entry]:
        return [entry for entry in self.entries() if entry.plan_id == plan_id]

    def unfinished(self) -> list[str]:
        """Plans that were begun and whose end is not written, oldest first."""
        begun: dict[str, None] = {}
        for entry in self.entries():
            if entry.event == "begin":
                begun[entry.plan_id] = None
            elif entry.event == "end":
                begun.pop(entry.plan_id, None)
        return list(begun)


def _parse(line: bytes) -> Entry | None:
    if len(line) > MAX_LINE:
        return None
    try:
        data = json.loads(line)
        entry = Entry(data["event"], data["plan"], data["at"], data.get("node"), dict(data.get("data") or {}))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    words = (entry.event, entry.plan_id, entry.at, "" if entry.node is None else entry.node)
    return entry if all(isinstance(word, str) for word in words) else None
