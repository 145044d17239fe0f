"""A cluster's machines as the fabric code sees them: name, number, facts, ports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stellwerk.fabric.ports import NodePorts, find_ports
from stellwerk.model.fabric import Half, Port, PortRef
from stellwerk.model.facts import NodeFacts

_NUMBER_IN_NAME = re.compile(r"[a-z]+[-_.]?0*([1-9]\d?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Member:
    """One machine of the cluster. `number` stays when others come and go; it is the last octet of its addresses."""

    name: str
    number: int
    facts: NodeFacts
    node_ports: NodePorts

    @property
    def ports(self) -> tuple[Port, ...]:
        return self.node_ports.ports


@dataclass(frozen=True, slots=True)
class HalfAt:
    """A half with its place: the machine and the port it belongs to."""

    member: Member
    port: Port
    half: Half

    @property
    def ref(self) -> PortRef:
        return PortRef(self.member.name, self.port.number)

    @property
    def netdev(self) -> str:
        return self.half.netdev.name


def make_members(facts: Mapping[str, NodeFacts], numbers: Mapping[str, int] | None = None) -> tuple[Member, ...]:
    """The members in order of their numbers; `numbers` holds those given earlier, which stay."""
    given = number_nodes(tuple(facts), numbers or {})
    members = [Member(name, given[name], fact, find_ports(fact)) for name, fact in facts.items()]
    return tuple(sorted(members, key=lambda member: member.number))


def number_nodes(names: Sequence[str], keep: Mapping[str, int]) -> dict[str, int]:
    """A number for each name: the one it has, else the one in its name (`spark-3`), else the lowest free one."""
    result = {name: keep[name] for name in names if name in keep}
    # Numbers of machines that left stay reserved only while they are listed in `keep`.
    taken = set(keep.values())
    for name in names:
        match = _NUMBER_IN_NAME.fullmatch(name)
        if name not in result and match and int(match.group(1)) not in taken:
            result[name] = int(match.group(1))
            taken.add(result[name])
    for name in names:
        if name not in result:
            result[name] = next(number for number in range(1, len(names) + len(taken) + 2) if number not in taken)
            taken.add(result[name])
    return result


def half_at(members: Sequence[Member], ref: PortRef, label: str) -> HalfAt | None:
    """The half of a port by its label; None when there is none."""
    for member in members:
        port = member.node_ports.port(ref.port) if member.name == ref.node else None
        if port is not None:
            return next((HalfAt(member, port, half) for half in port.halves if half.label == label), None)
    return None
