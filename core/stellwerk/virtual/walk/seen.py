"""What a simulated machine really has, read from its state and its files: the judge of everything that is said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stellwerk.model.plan import FileChange, NodePlan, SysctlChange, UnitChange
from stellwerk.virtual.client import VirtualNode

RESTORE_UNIT = "/etc/systemd/system/stellwerk-restore.service"
GUARD = "/var/lib/stellwerk/guard"


@dataclass(frozen=True, slots=True)
class Seen:
    """All that a plan may change on a machine, and the management interface that it must not."""

    things: Mapping[str, str | None]

    def other_than(self, wanted: Seen) -> list[str]:
        """What is not as in `wanted`, for a person."""
        names = sorted({*self.things, *wanted.things})
        return [n for n in names if self.things.get(n) != wanted.things.get(n)]


def look_at(node: VirtualNode, state: Mapping[str, Any], plan: NodePlan) -> Seen:
    """Read one machine; `state` is `VirtualCluster.state()`, taken when the machine has power."""
    own = next(entry for entry in state["nodes"] if entry["name"] == node.name)
    things: dict[str, str | None] = {}
    for change in plan.changes:
        if isinstance(change, FileChange):
            things[change.path] = _text(node, change.path)
        elif isinstance(change, UnitChange):
            path = f"/etc/systemd/system/{change.name}"
            things[path] = _text(node, path)
            wants = Path(node.root, "etc/systemd/system").glob(f"*.wants/{change.name}")
            things[f"{change.name} starts at boot"] = str(any(wants))
        elif isinstance(change, SysctlChange):
            path = "/proc/sys/" + change.key.translate(str.maketrans("./", "/."))
            things[change.key] = (_text(node, path) or "").strip()
    for name, interface in own["interfaces"].items():
        addresses = sorted(a for a in interface["addresses"] if ":" not in a)
        things[f"interface {name}"] = f"mtu {interface['mtu']}, {', '.join(addresses) or 'no address'}"
    things["routes"] = ", ".join(own["routes"])
    things["firewall"] = json.dumps(sorted(own["firewall"]))
    return Seen(things)


def leftovers(node: VirtualNode, state: Mapping[str, Any]) -> list[str]:
    """What a change that has ended must not leave: the unit that goes back at boot, a running guard."""
    own = next(entry for entry in state["nodes"] if entry["name"] == node.name)
    left = [RESTORE_UNIT] if _text(node, RESTORE_UNIT) is not None else []
    return left + [f"process {' '.join(argv[-4:])}" for argv in own["processes"] if is_guard(argv)]


def is_guard(argv: list[str]) -> bool:
    """Whether that is a guard's command line."""
    return "root" in argv and "guard" in argv and "--plan-id" in argv


def steps(node: VirtualNode, plan_id: str) -> list[str]:
    """Names of the steps and states in the node's journal of a plan, each once, in their order."""
    names: dict[str, None] = {}
    text = _text(node, f"{GUARD}/{plan_id}/journal.jsonl") or ""
    for line in text[: text.rfind("\n") + 1].splitlines():  # a line that is being written says nothing yet
        entry = json.loads(line)
        if entry["event"] == "step":
            names[entry["name"]] = None
        elif entry["event"] == "state":
            names[entry["state"]] = None
    return list(names)


def _text(node: VirtualNode, path: str) -> str | None:
    try:
        return Path(node.root, path.lstrip("/")).read_text("utf-8")
    except FileNotFoundError:
        return None
