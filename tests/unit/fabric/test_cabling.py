"""Who is connected to whom, and which shape that makes."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.machines import mac_of, pc, spark
from fixtures.wires import Segment, cable, cabling_of, chain, hear, ref, ring, sparks, switch
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.members import make_members
from stellwerk.fabric.topology import find_topology, recommend
from stellwerk.model.fabric import Heard, HearReport, HearState, LldpNeighbour, Topology, TopologyKind


def topology_of(count: int, segments: list[Segment], **options: Any) -> Topology:
    return find_topology(sparks(count, segments), cabling_of(count, segments, **options))


def test_one_machine_is_single() -> None:
    assert topology_of(1, []).kind is TopologyKind.SINGLE


def test_a_pair_is_two_ports_and_says_that_it_may_be_a_switch() -> None:
    topology = topology_of(2, [cable((1, 1), (2, 1))])
    assert topology.kind is TopologyKind.PAIR
    assert not topology.direct_certain
    assert [(c.a, c.b, c.speed_mbps) for c in topology.cabling.cables] == [(ref(1, 1), ref(2, 1), 200000)]
    assert topology.cabling.dark == (ref(1, 0), ref(2, 0))


@pytest.mark.parametrize("evidence", [{"lldp": "crs812"}, {"bpdu": True}])
def test_two_machines_behind_a_switch_that_speaks_are_no_pair(evidence: dict[str, Any]) -> None:
    topology = topology_of(2, switch(2, **evidence))
    assert topology.kind is TopologyKind.SWITCH
    assert topology.direct_certain
    assert {link.port for link in topology.cabling.switch_links} == {ref(1, 1), ref(2, 1)}


def test_a_switch_gives_its_name_and_port() -> None:
    links = topology_of(2, switch(2, lldp="crs812")).cabling.switch_links
    assert [(link.switch, link.switch_port) for link in links] == [("crs812", "swp1"), ("crs812", "swp2")]


def test_a_host_that_runs_lldpd_is_no_switch() -> None:
    segments = [cable((1, 1), (2, 1))]
    reports = hear(2, segments)
    spoken = LldpNeighbour("enp1s0f1np1", mac_of(2, "enp1s0f1np1"), "enp1s0f1np1", "spark-2.local")
    reports["spark-1"] = dataclasses.replace(reports["spark-1"], lldp=(spoken,))
    members = sparks(2, segments)
    assert find_topology(members, find_cabling(members, reports)).kind is TopologyKind.PAIR


@pytest.mark.parametrize("count", range(3, 9))
def test_rings_and_chains_of_any_size(count: int) -> None:
    closed = topology_of(count, ring(count))
    assert closed.kind is TopologyKind.RING
    assert closed.order == tuple(f"spark-{n}" for n in range(1, count + 1))
    assert len(closed.cabling.cables) == count
    opened = topology_of(count, chain(count))
    assert opened.kind is TopologyKind.CHAIN
    assert opened.order == closed.order


@pytest.mark.parametrize("count", range(3, 9))
def test_three_or_more_on_one_wire_are_a_switch(count: int) -> None:
    topology = topology_of(count, switch(count))
    assert topology.kind is TopologyKind.SWITCH
    assert not topology.cabling.cables


def test_a_ring_needs_only_one_side_to_hear() -> None:
    reports = hear(4, ring(4))
    deaf = tuple(HearState(s.netdev, "needs-sudo") for s in reports["spark-2"].states)
    reports["spark-2"] = dataclasses.replace(reports["spark-2"], heard=(), states=deaf)
    members = sparks(4, ring(4))
    assert find_topology(members, find_cabling(members, reports)).kind is TopologyKind.RING


def test_own_twin_and_own_echo_are_nothing() -> None:
    segments = [Segment(((1, 0),)), Segment(((2, 0),))]
    reports = hear(2, segments)
    echo = Heard("enp1s0f0np0", "node-1", "spark-1", "enp1s0f0np0", mac_of(1, "enp1s0f0np0"), "raw")
    reports["spark-1"] = dataclasses.replace(reports["spark-1"], heard=(*reports["spark-1"].heard, echo))
    members = sparks(2, segments)
    cabling = find_cabling(members, reports)
    assert cabling.cables == () and cabling.switch_links == () and cabling.loops == ()
    assert cabling.silent == (ref(1, 0), ref(2, 0))


def test_a_cable_from_a_machine_to_itself_is_a_loop() -> None:
    cabling = cabling_of(2, [cable((1, 0), (1, 1))])
    assert cabling.loops == ((ref(1, 0), ref(1, 1)),)
    assert not cabling.cables


def test_a_port_to_a_machine_outside_is_left_alone() -> None:
    segments = [cable((1, 1), (2, 1)), cable((1, 0), (9, 0))]
    topology = topology_of(2, segments, strangers={9: "nas"})
    assert topology.kind is TopologyKind.PAIR
    assert topology.cabling.foreign == ((ref(1, 0), "nas"),)


def test_cable_and_switch_together_are_mixed() -> None:
    topology = topology_of(4, [*switch(4), cable((1, 0), (2, 0))])
    assert topology.kind is TopologyKind.MIXED


def test_a_machine_off_the_switch_is_named() -> None:
    topology = topology_of(4, switch(3))
    assert topology.kind is TopologyKind.UNKNOWN
    assert topology.notes == ("not on the switch: spark-4",)


def test_two_pairs_are_no_chain() -> None:
    topology = topology_of(4, [cable((1, 0), (2, 1)), cable((3, 0), (4, 1))])
    assert topology.kind is TopologyKind.UNKNOWN
    rings = [cable((1, 0), (2, 1)), cable((2, 0), (1, 1)), cable((3, 0), (4, 1)), cable((4, 0), (3, 1))]
    assert topology_of(4, rings).kind is TopologyKind.UNKNOWN


def test_without_sudo_the_answer_is_not_no_cable() -> None:
    members = sparks(2, [cable((1, 1), (2, 1))])
    states = (HearState("enp1s0f1np1", "needs-sudo"), HearState("enP2p1s0f1np1", "needs-sudo"))
    reports = {m.name: HearReport(m.facts.node_id, m.name, states) for m in members}
    cabling = find_cabling(members, reports)
    assert (ref(1, 1), "it cannot be heard without the sudo password") in cabling.unheard
    assert cabling.dark == (ref(1, 0), ref(2, 0))  # no light is seen without asking
    assert find_topology(members, cabling).kind is TopologyKind.UNKNOWN


def test_a_node_that_was_not_asked_is_said() -> None:
    members = sparks(2, [cable((1, 1), (2, 1))])
    cabling = find_cabling(members, {})
    assert (ref(1, 1), "the node has not been asked") in cabling.unheard


def test_copied_disks_with_one_machine_id_are_told_apart_by_mac() -> None:
    segments = [cable((1, 1), (2, 1))]
    members = make_members({f"spark-{n}": dataclasses.replace(spark(n, up=(1,)), node_id="clone") for n in (1, 2)})
    reports = {
        name: dataclasses.replace(
            report, heard=tuple(dataclasses.replace(h, remote_node_id="clone") for h in report.heard)
        )
        for name, report in hear(2, segments).items()
    }
    assert len(find_cabling(members, reports).cables) == 1


def test_ordinary_machines_with_one_nic_make_a_pair() -> None:
    members = make_members({"pc-1": pc(1), "pc-2": pc(2)})
    reports = {
        f"pc-{n}": HearReport(
            f"pc-{n}",
            f"pc-{n}",
            (HearState("enp4s0", "heard"),),
            (Heard("enp4s0", f"pc-{o}", f"pc-{o}", "enp4s0", f"02:00:00:00:{o:02x}:02", "ipv6"),),
        )
        for n, o in ((1, 2), (2, 1))
    }
    assert find_topology(members, find_cabling(members, reports)).kind is TopologyKind.PAIR


@given(st.data())
def test_any_wiring_is_read_as_it_is(data: st.DataObject) -> None:
    """Whatever is plugged where: every cable is found, none is invented."""
    count = data.draw(st.integers(1, 8))
    ends = data.draw(st.permutations([(n, p) for n in range(1, count + 1) for p in (0, 1)]))
    used = data.draw(st.integers(0, len(ends) // 2))
    pairs = [(ends[2 * i], ends[2 * i + 1]) for i in range(used)]
    cabling = cabling_of(count, [cable(*pair) for pair in pairs])
    direct = {tuple(sorted(pair)) for pair in pairs if pair[0][0] != pair[1][0]}
    loops = {tuple(sorted(pair)) for pair in pairs if pair[0][0] == pair[1][0]}
    assert {(c.a, c.b) for c in cabling.cables} == {(ref(*a), ref(*b)) for a, b in direct}
    assert {(a, b) for a, b in cabling.loops} == {(ref(*a), ref(*b)) for a, b in loops}
    assert cabling.switch_links == () and cabling.silent == () and cabling.foreign == ()
    assert len(cabling.dark) == 2 * (count - used)


@pytest.mark.parametrize(
    ("count", "segments", "wanted"),
    [
        (1, [], TopologyKind.SINGLE),
        (2, [], TopologyKind.PAIR),
        (3, [], TopologyKind.RING),
        (4, chain(4), TopologyKind.RING),
        (4, [cable((1, 0), (2, 1))], TopologyKind.RING),
        (6, switch(4), TopologyKind.SWITCH),
        (8, [], TopologyKind.SWITCH),
    ],
)
def test_the_recommendation_follows_what_is_there(count: int, segments: list[Segment], wanted: TopologyKind) -> None:
    advice = recommend(topology_of(count, segments))
    assert advice.kind is wanted
    assert advice.why
