"""The cabling that `--topology` asks for."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.virtual.cables import CableModel, End

TOPOLOGIES = ("single", "pair", "ring", "chain", "switch")
MAX_NODES = 8


def check(nodes: int, topology: str) -> str | None:
    """Why this many nodes cannot be cabled like that; None when they can."""
    if topology not in TOPOLOGIES:
        return f"there is no topology {topology!r}; choose one of {', '.join(TOPOLOGIES)}"
    if not 1 <= nodes <= MAX_NODES:
        return f"a virtual cluster has 1 to {MAX_NODES} nodes, not {nodes}"
    if topology == "single" and nodes != 1:
        return f"'single' is one node, not {nodes}"
    if topology == "pair" and nodes != 2:
        return f"'pair' is two nodes, not {nodes}"
    if topology == "ring" and nodes < 3:
        return f"a ring needs three nodes or more, not {nodes}; take 'pair' for two"
    if topology == "chain" and nodes < 2:
        return "a chain needs two nodes or more"
    return None


def cable(topology: str, names: Sequence[str]) -> CableModel:
    """Cables as they should be: port 1 for a pair and a switch, port 0 to the next node's port 1 elsewhere."""
    problem = check(len(names), topology)
    if problem is not None:
        raise ValueError(problem)
    cables = CableModel()
    if topology == "pair":
        cables.plug(End(names[0], 1), End(names[1], 1))
    elif topology == "switch":
        cables.add_switch("switch-1", [End(name, 1) for name in names])
    elif topology in ("ring", "chain"):
        steps = len(names) if topology == "ring" else len(names) - 1
        for at in range(steps):
            cables.plug(End(names[at], 0), End(names[(at + 1) % len(names)], 1))
    return cables
