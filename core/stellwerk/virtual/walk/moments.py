"""The faults and the moments of an apply, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Moment:
    """When a fault strikes. With a `step` it waits for that word in the node's journal, else the desktop knows."""

    key: str
    text: str
    step: str = ""


@dataclass(frozen=True, slots=True)
class WalkFault:
    """What strikes. `kind` names a fault of the virtual cluster; without one it is the desktop that dies."""

    key: str
    text: str
    kind: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


FAULTS: tuple[WalkFault, ...] = (
    WalkFault("ssh", "the SSH connection is pulled, for a second", "ssh-drop", {"hold_s": 1.0}),
    WalkFault("desktop", "the desktop is killed and comes back at once"),
    WalkFault("desktop-late", "the desktop is killed and comes back when the leases have run out"),
    WalkFault("agent", "the agent is killed", "agent-killed"),
    WalkFault("guard", "netguard is killed", "guard-killed"),
    WalkFault("reboot", "the node reboots", "reboot", {"down_s": 0.3}),
    WalkFault("power", "the node loses its power and gets it back later", "power-off"),
    WalkFault("disk", "the node's disk is full, and has room later", "disk-full"),
)

BEFORE = Moment("start", "before the node has heard of the plan")
DECIDED = Moment("decided", "the decision is written, no node has heard of it")
HALFWAY = Moment("halfway", "another node has confirmed, this one has not")
CONFIRMING = Moment("confirmed", "while the node confirms", '"state":"confirmed"')

TEXTS = {
    "check": "the node compares itself with the plan",
    "space": "it looks for free space",
    "backup": "it copies files and live state",
    "judge": "netplan judges the new files",
    "boot-unit": "the way back for a power cut is prepared",
    "files": "files are put in place",
    "generate": "netplan generates",
    "reconfigure": "the interfaces are reconfigured",
    "addresses": "the new addresses are awaited",
    "sysctls": "settings are made",
    "units": "units are enabled",
    "firewall": "firewall rules are inserted",
    "checks": "the node checks itself",
    "holding": "the node holds the change; the lease runs",
}


def moments_of(steps: Sequence[str]) -> list[Moment]:
    """All moments of an apply whose nodes' journals show these steps."""
    own = [
        Moment(s, TEXTS.get(s, s), f'"state":"{s}"' if s == "holding" else f'"name":"{s}"')
        for s in steps
        if s not in ("preparing", "applying", "confirmed")
    ]
    return [BEFORE, *own, DECIDED, HALFWAY, CONFIRMING]


def makes_sense(fault: WalkFault, moment: Moment) -> bool:
    """A guard that does not run yet cannot be killed."""
    return fault.key != "guard" or moment is not BEFORE


def fault_of(key: str) -> WalkFault:
    """The fault of that name."""
    return next(fault for fault in FAULTS if fault.key == key)
