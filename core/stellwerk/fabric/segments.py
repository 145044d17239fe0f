"""Topology -> the sets of halves that share one subnet.

On a direct cable each half has a subnet of its own with its counterpart; on a switch all halves A share one and all
halves B another. Two halves of one machine in one subnet confuse routing and NCCL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.fabric.cable_findings import switch_port_number
from stellwerk.fabric.members import HalfAt, Member, half_at
from stellwerk.model.fabric import Cable, PortRef, Topology, TopologyKind
from stellwerk.model.text import say


@dataclass(frozen=True, slots=True)
class Segment:
    """Halves that reach each other directly, in the order of their machines' numbers."""

    name: str  # "spark-1 port 0 to spark-2 port 1" or "switch"
    label: str  # half A or B
    halves: tuple[HalfAt, ...]

    @property
    def key(self) -> str:
        """What the segment is called, and what stands for it in mappings."""
        return say("{link}, half {half}", link=self.name, half=self.label)


def find_segments(members: Sequence[Member], topology: Topology, kind: TopologyKind) -> tuple[Segment, ...]:
    """The segments of the fabric, cable by cable along the ring or chain; both halves of a cable in a row.

    A half whose counterpart does not exist (a Spark cabled to a machine with one half) is left out.
    """
    if kind is TopologyKind.SWITCH:
        return _on_switch(members, topology)
    if kind in (TopologyKind.PAIR, TopologyKind.RING, TopologyKind.CHAIN):
        found = []
        for cable in cables_in_order(topology):
            name = say("{port} to {other}", port=cable.a, other=cable.b)
            found += _by_label(name, members, (cable.a, cable.b))
        return tuple(found)
    return ()


def cables_in_order(topology: Topology) -> tuple[Cable, ...]:
    """The cables as one meets them walking along the ring or chain."""
    place = {name: index for index, name in enumerate(topology.order)}
    last = len(topology.order) - 1

    def position(cable: Cable) -> tuple[int, Cable]:
        a, b = sorted((place.get(cable.a.node, 0), place.get(cable.b.node, 0)))
        # The cable that closes a ring joins the first and the last machine and comes at the end.
        return (last if last > 1 and (a, b) == (0, last) else a), cable

    return tuple(sorted(topology.cabling.cables, key=lambda cable: (position(cable)[0], cable.a, cable.b)))


def _by_label(name: str, members: Sequence[Member], refs: Sequence[PortRef]) -> list[Segment]:
    number = {member.name: member.number for member in members}
    found = []
    for label in "ABCDEFGH":
        halves = [half for ref in refs if (half := half_at(members, ref, label)) is not None]
        if len(halves) == len(refs) and halves:
            ordered = tuple(sorted(halves, key=lambda half: number[half.member.name]))
            found.append(Segment(name, label, ordered))
    return found


def _on_switch(members: Sequence[Member], topology: Topology) -> tuple[Segment, ...]:
    number = switch_port_number(members, topology)
    links: dict[str, list[int]] = {}
    for link in topology.cabling.switch_links:
        links.setdefault(link.port.node, []).append(link.port.port)
    for cable in topology.cabling.cables:  # two machines on a switch that says nothing look like a cable
        for ref in (cable.a, cable.b):
            links.setdefault(ref.node, []).append(ref.port)
    refs = []
    for member in members:
        ports = links.get(member.name)
        if ports:
            refs.append(PortRef(member.name, number if number in ports else min(ports)))
    found = []
    for label in "ABCDEFGH":
        halves = tuple(half for ref in refs if (half := half_at(members, ref, label)) is not None)
        if len(halves) > 1:
            found.append(Segment(say("switch"), label, halves))
    return tuple(found)
