"""Where the ranks of a cluster run and by which addresses they reach each other. Pure: from facts to places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.collectives.kinds import Topology as Joined
from stellwerk.fabric.addresses import assign_addresses
from stellwerk.fabric.members import Member
from stellwerk.fabric.segments import find_segments
from stellwerk.fabric.state import read_node
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import Topology, TopologyKind
from stellwerk.model.text import say


@dataclass(frozen=True, slots=True)
class Place:
    """One rank: its machine, the fabric address it answers on, and its own address towards each other machine.

    `towards` differs from `address` where every cable has a subnet of its own (rings, chains).
    """

    node: str
    address: str
    towards: dict[str, str]

    def for_peer(self, node: str) -> str:
        """The own address by which that machine reaches this one."""
        return self.towards.get(node, self.address)


def find_places(members: Sequence[Member], topology: Topology, kind: TopologyKind) -> tuple[Place, ...]:
    """A place on every machine, in the order of the ring or chain, else of the numbers.

    Only addresses that a machine has now count. Raises `BadInput` that names the machines without one.
    """
    segments = find_segments(members, topology, kind)
    assigned = [e for e in assign_addresses([read_node(m) for m in members], segments).assigned if e.kept]
    lacking = [m.name for m in members if not any(e.at.member.name == m.name for e in assigned)]
    if len(members) < 2 or lacking:
        raise BadInput(
            say("{lacking} has no fabric address", lacking=", ".join(lacking))
            if lacking
            else "a collective needs two nodes or more",
            why="Ranks meet over the fabric",
            remedy="Set the fabric up first" if lacking else "Add a node",
        )
    places = {}
    for member in members:
        own = [e for e in assigned if e.at.member.name == member.name]
        towards: dict[str, str] = {}
        for entry in own:
            for at in entry.segment.halves:
                if at.member.name != member.name:
                    towards.setdefault(at.member.name, str(entry.address.ip))
        places[member.name] = Place(member.name, str(own[0].address.ip), towards)
    order = topology.order if set(topology.order) == set(places) else tuple(places)
    return tuple(places[name] for name in order)


def find_rails(
    members: Sequence[Member], topology: Topology, kind: TopologyKind, nodes: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """The RDMA devices by which each of `nodes` reaches another one directly; empty if one of them has none.

    On rings and chains every cable has devices of its own. The ranks choose among them by subnet, pair by pair.
    """
    found: dict[str, list[str]] = {node: [] for node in nodes}
    for segment in find_segments(members, topology, kind):
        at = {half.member.name: half.half.rdma for half in segment.halves}
        devices = {node: device.name for node in nodes if (device := at.get(node)) is not None}
        if len(devices) > 1:
            for node, name in devices.items():
                found[node].append(name)
    return {node: tuple(devices) for node, devices in found.items()} if all(found.values()) else {}


def joined(kind: TopologyKind, ranks: int, machines: int) -> Joined:
    """How the first `ranks` of `machines` are joined, as far as the choice of an algorithm depends on it."""
    if ranks <= 2 or kind in (TopologyKind.PAIR, TopologyKind.SWITCH):
        return Joined.MESH
    if kind is TopologyKind.RING and machines == 3:
        return Joined.MESH  # a ring of three: everybody is everybody's neighbour
    return Joined.RING


def sensible_ranks(kind: TopologyKind, machines: int) -> tuple[int, ...]:
    """Numbers of ranks worth measuring: two neighbours, four of a switch, all."""
    some = (2, 4) if kind is TopologyKind.SWITCH else (2,)
    return tuple(sorted({n for n in (*some, machines) if 2 <= n <= machines}))
