"""Cabling -> the shape of the fabric, and which shape to recommend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.fabric.members import Member
from stellwerk.model.fabric import Cable, Cabling, Topology, TopologyKind
from stellwerk.model.text import say


def find_topology(members: Sequence[Member], cabling: Cabling) -> Topology:
    """The shape that the cables make; `UNKNOWN` with a note where they make none."""
    names = tuple(member.name for member in members)
    if len(names) < 2:
        return Topology(TopologyKind.SINGLE, names, cabling, names)
    if cabling.switch_links and cabling.cables:
        note = "some nodes are joined by a cable and some by a switch; a fabric is one or the other"
        return Topology(TopologyKind.MIXED, names, cabling, notes=(note,))
    if cabling.switch_links:
        return _switch(names, cabling)
    return _direct(names, cabling)


def _switch(names: tuple[str, ...], cabling: Cabling) -> Topology:
    by_switch: dict[str, set[str]] = {}
    for link in cabling.switch_links:
        by_switch.setdefault(link.switch, set()).add(link.port.node)
    if any(nodes >= set(names) for nodes in by_switch.values()):
        return Topology(TopologyKind.SWITCH, names, cabling, names)
    on_none = [name for name in names if not any(name in nodes for nodes in by_switch.values())]
    if len(by_switch) > 1:
        names_of = ", ".join(sorted(by_switch))
        note = say("the nodes are on switches that do not pass traffic to each other: {names}", names=names_of)
    else:
        note = say("not on the switch: {on_none}", on_none=", ".join(on_none))
    return Topology(TopologyKind.UNKNOWN, names, cabling, notes=(note,))


def _direct(names: tuple[str, ...], cabling: Cabling) -> Topology:
    near: dict[str, list[str]] = {name: [] for name in names}
    for cable in cabling.cables:
        near[cable.a.node].append(cable.b.node)
        near[cable.b.node].append(cable.a.node)
    loose = [name for name in names if not near[name]]
    if len(loose) == len(names):
        return Topology(TopologyKind.UNKNOWN, names, cabling, notes=("no node hears another one",))
    if loose:
        note = say("not connected to the others: {loose}", loose=", ".join(loose))
        return Topology(TopologyKind.UNKNOWN, names, cabling, notes=(note,))
    if len(names) == 2:
        notes = []
        if len(cabling.cables) > 1:
            notes.append("two cables join the same two nodes; the second one adds no speed")
        # A switch that says nothing looks like a cable: with two ends nobody can tell.
        note = say("a cable or a switch that does not name itself: with two nodes this cannot be told apart")
        return Topology(TopologyKind.PAIR, names, cabling, names, (*notes, note), direct_certain=False)
    order = _walk(names, cabling.cables, near)
    if order is None:
        return Topology(TopologyKind.UNKNOWN, names, cabling, notes=("the cables make neither a ring nor a chain",))
    kind = TopologyKind.RING if len(cabling.cables) == len(names) else TopologyKind.CHAIN
    return Topology(kind, names, cabling, order)


def _walk(names: tuple[str, ...], cables: Sequence[Cable], near: dict[str, list[str]]) -> tuple[str, ...] | None:
    """The nodes along the ring or chain; None when there is no single path through all of them."""
    if any(len(others) > 2 or len(set(others)) < len(others) for others in near.values()):
        return None
    ends = [name for name in names if len(near[name]) == 1]
    if len(ends) not in (0, 2):
        return None
    start = ends[0] if ends else names[0]
    # A ring is walked out of port 0, as it is cabled; a chain from the end that is lower in order.
    first = _through_port_0(start, cables) or near[start][0]
    order = [start, first]
    while len(order) <= len(names):
        forward = [name for name in near[order[-1]] if name != order[-2]]
        if not forward or forward[0] == start:
            break
        order.append(forward[0])
    return tuple(order) if len(order) == len(names) else None


def _through_port_0(start: str, cables: Sequence[Cable]) -> str | None:
    for cable in cables:
        for here, there in ((cable.a, cable.b), (cable.b, cable.a)):
            if here.node == start and here.port == 0:
                return there.node
    return None


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The shape to aim at, and why."""

    kind: TopologyKind
    why: str


def recommend(topology: Topology) -> Recommendation:
    """Which topology to aim at, given what is there. Never more than the cables and the number of machines allow."""
    count = len(topology.nodes)
    on_switch = {link.port.node for link in topology.cabling.switch_links}
    if count < 2:
        return Recommendation(TopologyKind.SINGLE, "one node needs no fabric")
    if topology.kind is TopologyKind.SWITCH:
        return Recommendation(TopologyKind.SWITCH, "all nodes are on one switch")
    if topology.kind is TopologyKind.PAIR:
        return Recommendation(TopologyKind.PAIR, "two nodes hear each other")
    if topology.kind is TopologyKind.RING:
        return Recommendation(TopologyKind.RING, say("the cables make a ring of {count}", count=count))
    if topology.kind is TopologyKind.CHAIN:
        why = "the cables make a chain; one more cable closes it to a ring, and no node is a dead end then"
        return Recommendation(TopologyKind.RING, why)
    if len(on_switch) * 2 >= count:
        return Recommendation(TopologyKind.SWITCH, "most nodes are on a switch already")
    if count == 2:
        return Recommendation(TopologyKind.PAIR, "two nodes need one cable")
    if topology.cabling.cables or count == 3:
        return Recommendation(
            TopologyKind.RING,
            say("{count} nodes with two ports each make a ring", count=count),
        )
    return Recommendation(
        TopologyKind.SWITCH,
        say("{count} nodes on a switch reach each other in one step, and no cable is heard yet", count=count),
    )
