"""What becomes of packets: ARP flux, MTU at both ends, routes, forwarding, firewalls."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.virtual.network import Route, Rule
from unit.virtual.world import A0, A1, B0, B1, World, addressed_pair, end, make_world

IP = ipaddress.IPv4Address
NET = ipaddress.IPv4Network


def test_a_pair_answers_on_both_halves_with_large_packets() -> None:
    fabric = addressed_pair().fabric
    assert fabric.ping("spark-1", "192.168.100.2", payload_bytes=8972, device=A1).problem is None
    assert fabric.ping("spark-2", "192.168.101.1", payload_bytes=8972, device=B1).problem is None


def test_a_packet_longer_than_the_own_mtu_is_refused_with_the_mtu() -> None:
    world = addressed_pair()
    world.nodes["spark-1"].interfaces[A1].mtu = 1500
    echo = world.fabric.ping("spark-1", "192.168.100.2", payload_bytes=8972, device=A1)
    assert (echo.problem, echo.mtu) == ("too-long", 1500)
    assert world.fabric.ping("spark-1", "192.168.100.2", payload_bytes=1472, device=A1).problem is None
    assert world.fabric.ping("spark-1", "192.168.100.2", payload_bytes=1473, device=A1).problem == "too-long"


def test_a_packet_longer_than_the_receivers_mtu_is_lost_without_a_word() -> None:
    world = addressed_pair()
    world.nodes["spark-2"].interfaces[A1].mtu = 1500
    assert world.fabric.ping("spark-1", "192.168.100.2", payload_bytes=8972, device=A1).problem == "lost"


def test_without_sysctls_the_twin_answers_arp_and_the_neighbour_entry_is_wrong() -> None:
    world = addressed_pair()
    world.fabric.ping("spark-1", "192.168.101.2", payload_bytes=56, device=B1)
    entry = world.nodes["spark-1"].neighbours[(B1, "192.168.101.2")]
    assert entry.mac == world.nodes["spark-2"].interfaces[A1].mac


def test_with_arp_ignore_every_half_answers_for_itself_alone() -> None:
    world = addressed_pair()
    world.quiet_arp()
    for device, ip in ((A1, "192.168.100.2"), (B1, "192.168.101.2")):
        assert world.fabric.ping("spark-1", ip, payload_bytes=56, device=device).problem is None
        entry = world.nodes["spark-1"].neighbours[(device, ip)]
        assert entry.mac == world.nodes["spark-2"].interfaces[device].mac


def test_a_wrong_neighbour_entry_is_asked_anew_once_the_twin_keeps_quiet() -> None:
    world = addressed_pair()
    world.fabric.ping("spark-1", "192.168.101.2", payload_bytes=56, device=B1)
    world.quiet_arp()
    world.fabric.ping("spark-1", "192.168.101.2", payload_bytes=56, device=B1)
    assert world.nodes["spark-1"].neighbours[(B1, "192.168.101.2")].mac == world.nodes["spark-2"].interfaces[B1].mac


def test_with_twins_in_one_subnet_answers_to_the_second_half_come_in_by_the_first_once_the_peer_has_asked() -> None:
    world = make_world("pair", 2)
    for number, name in enumerate(world.nodes, 1):
        world.give(name, A1, f"192.168.201.{number}/24")
        world.give(name, B1, f"192.168.201.{number + 20}/24")
    fabric = world.fabric
    assert fabric.ping("spark-1", "192.168.201.2", payload_bytes=56, device=A1).problem is None
    # The peer learns the right MAC from the question that it answers itself ...
    assert fabric.ping("spark-1", "192.168.201.22", payload_bytes=56, device=B1).problem is None
    # ... and a wrong one as soon as it asks: its route leaves by the first half, where the first half answers.
    world.nodes["spark-2"].neighbours.clear()
    fabric.ping("spark-2", "192.168.201.21", payload_bytes=56)
    assert fabric.ping("spark-1", "192.168.201.22", payload_bytes=56, device=B1).problem == "lost"


def test_nobody_hears_over_a_pulled_cable() -> None:
    world = addressed_pair()
    world.cables.unplug(end(1, 1))
    world.light()
    assert world.fabric.ping("spark-1", "192.168.100.2", payload_bytes=56).problem == "unreachable"
    assert list(world.fabric.listeners("spark-1", A1)) == []


def test_the_own_twin_hears_and_is_no_peer() -> None:
    world = addressed_pair()
    heard = {(node, interface.name) for node, interface in world.fabric.listeners("spark-1", A1)}
    assert heard == {("spark-1", B1), ("spark-2", A1), ("spark-2", B1)}


def test_on_a_switch_everybody_hears_everybody() -> None:
    world = make_world("switch", 4)
    heard = {node for node, _ in world.fabric.listeners("spark-3", B1)}
    assert heard == {"spark-1", "spark-2", "spark-3", "spark-4"}


def four_ring() -> World:
    """A ring of four with one subnet per cable on half A, and the way round for spark-1 to spark-3 by spark-2."""
    world = make_world("ring", 4)
    for number in range(1, 5):
        following = number % 4 + 1
        world.give(f"spark-{number}", A0, f"10.20.{number}.1/24")
        world.give(f"spark-{following}", A1, f"10.20.{number}.2/24")
    world.quiet_arp()
    world.nodes["spark-1"].static_routes.append(Route(NET("10.20.2.0/24"), A0, via=IP("10.20.1.2")))
    world.nodes["spark-3"].static_routes.append(Route(NET("10.20.1.0/24"), A1, via=IP("10.20.2.1")))
    return world


def test_the_opposite_node_of_a_ring_needs_forwarding_and_a_firewall_that_lets_it_pass() -> None:
    world = four_ring()
    ping = lambda: world.fabric.ping("spark-1", "10.20.2.2", payload_bytes=56)  # noqa: E731
    assert ping().problem == "lost"
    for interface in (A0, A1):
        world.set(f"net/ipv4/conf/{interface}/forwarding", 1, "spark-2")
    assert ping().problem == "lost"  # Docker's FORWARD policy
    router = world.nodes["spark-2"]
    router.rules.append(Rule("filter", "DOCKER-USER", ("-i", A1, "-o", A0, "-j", "ACCEPT")))
    router.rules.append(Rule("filter", "DOCKER-USER", ("-i", A0, "-o", A1, "-s", "10.20.0.0/16", "-j", "ACCEPT")))
    echo = ping()
    assert (echo.problem, echo.hops) == (None, 1)


def test_rp_filter_strict_refuses_a_source_that_is_routed_elsewhere_and_loose_takes_it() -> None:
    world = addressed_pair()
    world.quiet_arp()
    network = world.nodes["spark-2"]
    network.static_routes.append(Route(NET("192.168.100.1/32"), B1))
    send = lambda: world.fabric.send(  # noqa: E731
        "spark-1", IP("192.168.100.2"), source=IP("192.168.100.1"), size_bytes=100, oif=A1
    )
    world.set("net/ipv4/conf/all/rp_filter", 1, "spark-2")
    assert (send().problem, send().why) == ("lost", "rp_filter drops it")
    world.set("net/ipv4/conf/all/rp_filter", 2, "spark-2")
    assert send().problem is None


@pytest.mark.parametrize("half", [A0, B0])
def test_an_interface_without_cable_reaches_nobody(half: str) -> None:
    world = addressed_pair()
    world.give("spark-1", half, "10.9.9.1/24")
    assert world.fabric.ping("spark-1", "10.9.9.2", payload_bytes=56).problem == "unreachable"


@settings(max_examples=40, deadline=None)
@given(st.sampled_from([("pair", 2), ("ring", 3), ("ring", 5), ("switch", 4), ("chain", 3)]), st.data())
def test_who_hears_is_always_on_the_same_segment_and_hearing_is_mutual(
    shape: tuple[str, int], data: st.DataObject
) -> None:
    world = make_world(*shape)
    ends = [e for segment in world.cables.segments for e in segment.ends]
    for pulled in data.draw(st.sets(st.sampled_from(ends), max_size=2)):
        if world.cables.segment_of(pulled) is not None:
            world.cables.unplug(pulled)
    world.light()
    fabric = world.fabric
    hears = {
        (name, interface.name, node, other.name)
        for name, network in world.nodes.items()
        for interface in network.interfaces.values()
        if interface.kind == "fabric"
        for node, other in fabric.listeners(name, interface.name)
    }
    for name, interface, node, other in hears:
        assert (node, other, name, interface) in hears
        here, there = world.nodes[name].interfaces[interface].end, world.nodes[node].interfaces[other].end
        assert here is not None
        assert there is not None
        segment = world.cables.segment_of(here)
        assert segment is not None
        assert there in segment.ends
