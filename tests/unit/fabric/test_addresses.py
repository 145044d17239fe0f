"""Subnets and addresses: right ones stay, new ones overlap nothing, and they are stable."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.machines import STOCK_NETPLAN, netdev_of
from fixtures.wires import Segment, addressed, cable, chain, hear, ring, sparks, switch
from stellwerk.fabric.addresses import Addressing, assign_addresses
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.members import Member
from stellwerk.fabric.segments import find_segments
from stellwerk.fabric.state import read_node
from stellwerk.fabric.topology import find_topology
from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.facts import NetDevice, NetplanFile, Route

SHAPES = {
    "pair": (lambda n: [cable((1, 1), (2, 1))], range(2, 3)),
    "ring": (ring, range(3, 9)),
    "chain": (chain, range(3, 9)),
    "switch": (switch, range(2, 9)),
}


def addressing_of(
    members: Sequence[Member],
    wiring: Sequence[Segment],
    kind: TopologyKind | None = None,
    pool: str | None = None,
) -> Addressing:
    topology = find_topology(members, find_cabling(members, hear(len(members), wiring)))
    segments = find_segments(members, topology, kind or topology.kind)
    return assign_addresses([read_node(member) for member in members], segments, pool)


def shown(addressing: Addressing) -> dict[int, dict[str, str]]:
    result: dict[int, dict[str, str]] = {}
    for entry in addressing.assigned:
        result.setdefault(entry.at.member.number, {})[entry.at.netdev] = str(entry.address)
    return result


def check_sound(addressing: Addressing) -> None:
    """No two links share a subnet, no address is there twice, no half of one machine shares a subnet with another."""
    by_segment: dict[str, set[IPv4Network]] = {}
    for entry in addressing.assigned:
        by_segment.setdefault(entry.segment.key, set()).add(entry.address.network)
    assert all(len(networks) == 1 for networks in by_segment.values())
    networks = [next(iter(found)) for found in by_segment.values()]
    for index, network in enumerate(networks):
        assert not any(network.overlaps(other) for other in networks[index + 1 :])
        assert not any(network.overlaps(entry.network) for entry in addressing.taken)
    ips = [entry.address.ip for entry in addressing.assigned]
    assert len(ips) == len(set(ips))


def test_a_pair_gets_one_subnet_for_each_half() -> None:
    wiring = [cable((1, 1), (2, 1))]
    assert shown(addressing_of(sparks(2, wiring), wiring)) == {
        1: {"enp1s0f1np1": "10.100.0.1/24", "enP2p1s0f1np1": "10.100.1.1/24"},
        2: {"enp1s0f1np1": "10.100.0.2/24", "enP2p1s0f1np1": "10.100.1.2/24"},
    }


def test_a_ring_of_four_gets_eight_subnets_along_the_ring() -> None:
    found = shown(addressing_of(sparks(4, ring(4)), ring(4)))
    assert found[1] == {
        "enp1s0f0np0": "10.100.0.1/24",
        "enP2p1s0f0np0": "10.100.1.1/24",
        "enp1s0f1np1": "10.100.6.1/24",
        "enP2p1s0f1np1": "10.100.7.1/24",
    }
    assert found[3]["enp1s0f0np0"] == "10.100.4.3/24"


def test_a_switch_gets_two_subnets() -> None:
    found = shown(addressing_of(sparks(8, switch(8)), switch(8)))
    for number in range(1, 9):
        assert found[number] == {
            "enp1s0f1np1": f"10.100.0.{number}/24",
            "enP2p1s0f1np1": f"10.100.1.{number}/24",
        }


@pytest.mark.parametrize("shape", SHAPES)
def test_every_size_of_every_shape_is_sound_and_planning_again_keeps_all(shape: str) -> None:
    wire, counts = SHAPES[shape]
    kind = TopologyKind(shape)
    for count in counts:
        first = addressing_of(sparks(count, wire(count)), wire(count), kind)
        check_sound(first)
        assert all(entry.address.ip.packed[-1] == entry.at.member.number for entry in first.assigned)
        again = addressing_of(addressed(count, wire(count), shown(first)), wire(count), kind)
        assert all(entry.kept for entry in again.assigned)
        assert shown(again) == shown(first)


NETWORKS = st.builds(
    lambda a, b, c, prefix: str(IPv4Network(f"{a}.{b}.{c}.0/{prefix}", strict=False)),
    st.sampled_from([10, 172, 192]),
    st.integers(0, 255),
    st.integers(0, 255),
    st.integers(8, 28),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(NETWORKS, max_size=6), st.sampled_from(list(SHAPES)), st.data())
def test_new_subnets_overlap_no_network_on_any_machine(networks: list[str], shape: str, data: st.DataObject) -> None:
    wire, counts = SHAPES[shape]
    count = data.draw(st.sampled_from(list(counts)))
    members = []
    for member in sparks(count, wire(count)):
        mine = [network for network in networks if data.draw(st.booleans())]
        facts = dataclasses.replace(
            member.facts,
            routes=(*member.facts.routes, *(Route(network, "wg0") for network in mine)),
            netdevs=(*member.facts.netdevs, NetDevice("wg0", kind="tunnel")),
        )
        members.append(dataclasses.replace(member, facts=facts))
    try:
        addressing = addressing_of(members, wire(count), TopologyKind(shape))
    except PlanRefused:
        assert any(IPv4Network(network).prefixlen <= 10 for network in networks)
        return
    check_sound(addressing)


def test_a_home_lan_is_never_chosen() -> None:
    wiring = [cable((1, 1), (2, 1))]
    found = addressing_of(sparks(2, wiring), wiring, pool="192.168.0.0/16")
    assert shown(found)[1]["enp1s0f1np1"] == "192.168.4.1/24"


def test_a_vpn_that_is_down_counts_through_its_file() -> None:
    file = NetplanFile(
        "/etc/netplan/70-vpn.yaml", 0o600, "network: {tunnels: {wg0: {mode: wireguard, addresses: [10.100.9.1/24]}}}"
    )
    wiring = [cable((1, 1), (2, 1))]
    found = addressing_of(sparks(2, wiring, netplan=(STOCK_NETPLAN, file)), wiring)
    assert shown(found)[1]["enp1s0f1np1"] == "10.101.0.1/24"


@pytest.mark.parametrize("pool", ["banana", "8.8.0.0/16", "10.1.2.0/24", "10.0.0.1/16", "::/64"])
def test_a_pool_that_is_none_is_refused(pool: str) -> None:
    wiring = [cable((1, 1), (2, 1))]
    with pytest.raises(BadInput):
        addressing_of(sparks(2, wiring), wiring, pool=pool)


def test_a_pool_without_room_says_what_is_in_the_way() -> None:
    wiring = ring(4)
    with pytest.raises(PlanRefused, match=r"10\.20\.0\.0/22"):
        addressing_of(sparks(4, wiring), wiring, pool="10.20.0.0/22")


def test_two_halves_in_one_subnet_are_parted_and_one_stays() -> None:
    wiring = [cable((1, 1), (2, 1))]
    twins = {
        1: {"enp1s0f1np1": "192.168.200.12/24", "enP2p1s0f1np1": "192.168.200.14/24"},
        2: {"enp1s0f1np1": "192.168.200.13/24", "enP2p1s0f1np1": "192.168.200.15/24"},
    }
    found = addressing_of(addressed(2, wiring, twins), wiring)
    check_sound(found)
    kept = {entry.at.netdev for entry in found.assigned if entry.kept}
    assert kept == {"enp1s0f1np1"}
    changed = next(entry for entry in found.assigned if not entry.kept)
    assert "192.168.200.0/24 is used by" in changed.why


@pytest.mark.parametrize(
    ("addresses", "why"),
    [
        ({}, "it has no address"),
        ({"enp1s0f1np1": "169.254.3.4/16"}, "link-local"),
        ({"enp1s0f1np1": "192.168.50.77/24"}, r"overlaps 192.168.50.0/24 \(enP7s7 of spark-1\)"),
        ({"enp1s0f1np1": "8.8.8.1/24"}, "not a private network"),
        ({"enp1s0f1np1": "10.0.0.1/8"}, "too wide"),
        ({"enp1s0f1np1": "192.168.1.4/24"}, "home routers"),
    ],
)
def test_why_an_address_cannot_stay(addresses: dict[str, str], why: str) -> None:
    wiring = [cable((1, 1), (2, 1))]
    found = addressing_of(addressed(2, wiring, {1: addresses}), wiring)
    check_sound(found)
    entry = found.of("spark-1", "enp1s0f1np1")
    assert entry is not None and not entry.kept
    assert re.search(why, entry.why), entry.why


def test_one_good_end_keeps_its_subnet_and_the_other_end_joins_it() -> None:
    wiring = [cable((1, 1), (2, 1))]
    half = {1: {"enp1s0f1np1": "192.168.100.10/24"}}
    found = shown(addressing_of(addressed(2, wiring, half), wiring))
    assert found[1]["enp1s0f1np1"] == "192.168.100.10/24"
    assert found[2]["enp1s0f1np1"] == "192.168.100.2/24"
    assert found[2]["enP2p1s0f1np1"] == "10.100.0.2/24"


def test_one_address_on_both_ends_is_parted() -> None:
    wiring = [cable((1, 1), (2, 1))]
    same = {n: {"enp1s0f1np1": "10.20.0.5/24"} for n in (1, 2)}
    found = addressing_of(addressed(2, wiring, same), wiring)
    check_sound(found)
    assert "there twice" in next(entry for entry in found.assigned if not entry.kept).why


def by_cable(found: Addressing) -> dict[str, dict[str, str]]:
    return {
        f"{entry.segment.key} {entry.at.member.name}": {entry.at.netdev: str(entry.address)} for entry in found.assigned
    }


@pytest.mark.parametrize("count", range(3, 8))
def test_a_node_more_in_a_ring_changes_only_the_two_cables_concerned(count: int) -> None:
    before = addressing_of(sparks(count, ring(count)), ring(count))
    larger = ring(count + 1)
    after = addressing_of(addressed(count + 1, larger, shown(before)), larger)
    check_sound(after)
    concerned = {f"spark-{count}", f"spark-{count + 1}", "spark-1"}
    for entry in after.assigned:
        ends = {at.member.name for at in entry.segment.halves}
        if not ends <= concerned or f"spark-{count + 1}" not in ends:
            assert entry.kept, entry
    back = addressing_of(addressed(count, ring(count), shown(after)), ring(count))
    check_sound(back)
    assert sum(not entry.kept for entry in back.assigned) <= 2


@pytest.mark.parametrize("count", range(2, 8))
def test_a_node_more_on_a_switch_changes_nothing_for_the_others(count: int) -> None:
    before = addressing_of(sparks(count, switch(count)), switch(count), TopologyKind.SWITCH)
    after = addressing_of(addressed(count + 1, switch(count + 1), shown(before)), switch(count + 1))
    assert {number: addresses for number, addresses in shown(after).items() if number <= count} == shown(before)
    assert shown(after)[count + 1]["enp1s0f1np1"] == f"10.100.0.{count + 1}/24"


ADDRESSES = st.one_of(
    st.none(),
    st.builds(
        lambda net, host, prefix: f"{net}.{host}/{prefix}",
        st.sampled_from(["10.100.0", "10.100.1", "192.168.50", "192.168.1", "169.254.7", "172.17.0", "10.7.7"]),
        st.integers(0, 255),
        st.sampled_from([8, 16, 24, 30, 32]),
    ),
)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_whatever_addresses_are_there_the_result_is_sound(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(["pair", "ring", "switch"]))
    wire, counts = SHAPES[shape]
    count = data.draw(st.sampled_from(list(counts)[:3]))
    present: Mapping[int, dict[str, str]] = {
        number: {
            netdev_of(port, half): address
            for port in (0, 1)
            for half in "AB"
            if (address := data.draw(ADDRESSES)) is not None
        }
        for number in range(1, count + 1)
    }
    try:
        found = addressing_of(addressed(count, wire(count), present), wire(count), TopologyKind(shape))
    except PlanRefused:  # ports outside the fabric hold all private ranges
        assert any(address.endswith("/8") for addresses in present.values() for address in addresses.values())
        return
    check_sound(found)
    for entry in found.assigned:
        if entry.kept:
            assert str(entry.address) == present[entry.at.member.number][entry.at.netdev]
        else:
            assert entry.why
