"""Where ranks run and by which addresses they reach each other, for every shape of fabric."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network

import pytest

from fixtures.nodes import apply
from fixtures.planning import CASES, PAIR, plan_of, size
from fixtures.wires import Segment, chain, hear, ring, sparks, switch
from stellwerk.collectives.kinds import Topology as Joined
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.members import Member
from stellwerk.fabric.topology import find_topology
from stellwerk.measure.cluster_places import find_places, find_rails, joined, sensible_ranks
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import Topology, TopologyKind


def set_up(wiring: Sequence[Segment]) -> tuple[tuple[Member, ...], Topology]:
    before = sparks(size(wiring), wiring)
    after = apply(before, plan_of(before, wiring))
    return after, find_topology(after, find_cabling(after, hear(len(after), wiring)))


def subnets(member: Member) -> list[IPv4Network]:
    from ipaddress import IPv4Interface

    fabric = {netdev for port in member.ports for netdev in port.netdevs}
    return [
        IPv4Interface(address).network
        for device in member.facts.netdevs
        if device.name in fabric
        for address in device.addresses
        if ":" not in address
    ]


@pytest.mark.parametrize(("kind", "wiring"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_neighbours_reach_each_other_in_a_subnet_that_both_are_on(kind: str, wiring: Sequence[Segment]) -> None:
    machines, topology = set_up(wiring)
    places = {place.node: place for place in find_places(machines, topology, TopologyKind(kind))}
    own = {m.name: subnets(m) for m in machines}
    assert set(places) == set(own)
    for name, place in places.items():
        assert any(IPv4Address(place.address) in net for net in own[name])
        for peer in place.towards:
            here, there = place.for_peer(peer), places[peer].for_peer(name)
            assert any(IPv4Address(here) in net and IPv4Address(there) in net for net in own[name])
            assert here != there
    near = {name: set(place.towards) for name, place in places.items()}
    if kind in ("pair", "switch") or (size(wiring) == 3 and kind == "ring"):
        assert all(near[name] == set(places) - {name} for name in places), "everybody is near"
    else:
        order = list(places)
        assert all(order[i + 1] in near[order[i]] for i in range(len(order) - 1)), "the order goes along the cables"


def test_rails_are_the_devices_that_reach_other_ranks() -> None:
    machines, topology = set_up(switch(3))
    rails = find_rails(machines, topology, TopologyKind.SWITCH, [m.name for m in machines])
    assert rails == dict.fromkeys(("spark-1", "spark-2", "spark-3"), ("rocep1s0f1", "roceP2p1s0f1"))
    machines, topology = set_up(ring(4))
    everything = find_rails(machines, topology, TopologyKind.RING, [m.name for m in machines])
    both_ports = {"rocep1s0f0", "roceP2p1s0f0", "rocep1s0f1", "roceP2p1s0f1"}
    assert {node: set(devices) for node, devices in everything.items()} == {m.name: both_ports for m in machines}
    two = find_rails(machines, topology, TopologyKind.RING, list(topology.order[:2]))
    assert set(two) == set(topology.order[:2])
    assert two[topology.order[0]] != two[topology.order[1]], "a cable goes from one port to the other one"
    assert [len(devices) for devices in two.values()] == [2, 2]
    opposite = [topology.order[0], topology.order[2]]
    assert find_rails(machines, topology, TopologyKind.RING, opposite) == {}, "no cable joins them"


def test_a_machine_without_a_fabric_address_is_named() -> None:
    wiring = switch(3)
    before = sparks(3, wiring)
    topology = find_topology(before, find_cabling(before, hear(3, wiring)))
    with pytest.raises(BadInput, match="spark-1, spark-2, spark-3 has no fabric address") as caught:
        find_places(before, topology, TopologyKind.SWITCH)
    assert "Set the fabric up" in caught.value.remedy


def test_one_machine_alone_measures_nothing() -> None:
    machines, topology = set_up(PAIR)
    with pytest.raises(BadInput):
        find_places(machines[:1], topology, TopologyKind.PAIR)


@pytest.mark.parametrize(
    ("kind", "ranks", "machines", "expected"),
    [
        (TopologyKind.PAIR, 2, 2, Joined.MESH),
        (TopologyKind.SWITCH, 8, 8, Joined.MESH),
        (TopologyKind.RING, 3, 3, Joined.MESH),
        (TopologyKind.RING, 2, 8, Joined.MESH),
        (TopologyKind.RING, 4, 4, Joined.RING),
        (TopologyKind.RING, 8, 8, Joined.RING),
        (TopologyKind.CHAIN, 3, 5, Joined.RING),
    ],
)
def test_only_where_somebody_is_far_the_algorithms_of_rings_count(
    kind: TopologyKind, ranks: int, machines: int, expected: Joined
) -> None:
    assert joined(kind, ranks, machines) is expected


def test_numbers_of_ranks_that_are_measured_unasked() -> None:
    assert sensible_ranks(TopologyKind.SWITCH, 8) == (2, 4, 8)
    assert sensible_ranks(TopologyKind.SWITCH, 3) == (2, 3)
    assert sensible_ranks(TopologyKind.RING, 8) == (2, 8)
    assert sensible_ranks(TopologyKind.PAIR, 2) == (2,)


def test_wirings_of_rings_and_chains_are_covered() -> None:
    assert {size(w) for _, w in CASES} >= {size(ring(4)), size(chain(3))}
