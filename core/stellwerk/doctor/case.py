"""What the doctor looks at: the machines, their fabric, and the last proof."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stellwerk.fabric.addresses import Addressing, Assigned, assign_addresses
from stellwerk.fabric.members import HalfAt, Member
from stellwerk.fabric.segments import Segment, find_segments
from stellwerk.fabric.state import HalfState, NodeState, halves_of, read_half, read_node
from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.fabric import CableFinding, Topology, TopologyKind
from stellwerk.model.finding import Finding, Severity, Verification
from stellwerk.model.text import say, words

PLAN = (say("Make the plan and apply it; it shows every change before."),)


class NotKnown(Exception):
    """A check cannot be made, and why. It then counts as "not available", never as fine."""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything known at one moment. Built by `open_case`."""

    members: tuple[Member, ...]
    nodes: tuple[NodeState, ...]  # without machines whose netplan files are broken
    broken: Mapping[str, BadInput]  # node -> what is wrong with its netplan files
    topology: Topology | None = None
    kind: TopologyKind = TopologyKind.UNKNOWN
    segments: tuple[Segment, ...] = ()
    addressing: Addressing | None = None
    cable_findings: tuple[CableFinding, ...] = ()
    agents: Mapping[str, str] = field(default_factory=dict)  # node -> hash or version of its agent
    proof: Verification | None = None

    def halves(self) -> Iterable[tuple[NodeState, HalfAt, HalfState]]:
        """All fabric halves with their state."""
        for node in self.nodes:
            for at in halves_of(node.member):
                yield node, at, read_half(node, at)

    def in_fabric(self) -> Iterable[tuple[Assigned, HalfState]]:
        """The halves that lead to another machine of the cluster."""
        by_name = {node.member.name: node for node in self.nodes}
        for entry in self.addressing.assigned if self.addressing else ():
            if entry.at.member.name in by_name:
                yield entry, read_half(by_name[entry.at.member.name], entry.at)

    def need_fabric(self) -> Addressing:
        """The addressing, or `NotKnown`."""
        if len(self.members) < 2:
            raise NotKnown("it takes two nodes")
        if self.broken:
            raise NotKnown(say("the netplan files of {broken} cannot be read", broken=words(self.broken)))
        if self.addressing is None or not self.addressing.assigned:
            raise NotKnown("the cabling is not known yet")
        return self.addressing


Check = Callable[[Case], list[Finding]]


def open_case(
    members: Sequence[Member],
    topology: Topology | None = None,
    kind: TopologyKind | None = None,
    *,
    cable_findings: Sequence[CableFinding] = (),
    agents: Mapping[str, str] | None = None,
    proof: Verification | None = None,
) -> Case:
    """Read what the checks need. Never raises for bad facts: a broken file becomes a finding."""
    nodes: list[NodeState] = []
    broken: dict[str, BadInput] = {}
    for member in members:
        try:
            nodes.append(read_node(member))
        except BadInput as error:
            broken[member.name] = error
    shape = kind or (topology.kind if topology else TopologyKind.UNKNOWN)
    segments: tuple[Segment, ...] = ()
    addressing: Addressing | None = None
    if topology is not None and not broken:
        segments = find_segments(members, topology, shape)
        try:
            addressing = assign_addresses(nodes, segments)
        except PlanRefused:
            addressing = None  # no subnet is free; what is wrong with the present ones is found without a new one
    return Case(
        tuple(members),
        tuple(nodes),
        broken,
        topology,
        shape,
        segments,
        addressing,
        tuple(cable_findings),
        dict(agents or {}),
        proof,
    )


def finding(
    code: str,
    severity: Severity,
    title: str,
    *,
    node: str | None = None,
    at: HalfAt | None = None,
    subject: str | None = None,
    evidence: Sequence[str] = (),
    meaning: str,
    remedy: Sequence[str],
    fix: str = "",
) -> Finding:
    """A finding; `at` gives node and subject."""
    if at is not None:
        node = at.member.name
        subject = say("port {port} half {half}", port=at.port.number, half=at.half.label)
    return Finding(code, severity, title, node, subject, tuple(evidence), meaning, tuple(remedy), fix)
