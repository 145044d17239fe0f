"""Wrong and missing cables are named by port, and doing what is said makes the topology right."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.wires import Segment, cable, cabling_of, chain, hear, ref, ring, sparks, switch
from stellwerk.fabric.cable_findings import as_finding, cable_findings
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.expected import after
from stellwerk.fabric.topology import find_topology
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import CableFinding, Cabling, HearState, TopologyKind
from stellwerk.model.finding import Severity

Ends = list[tuple[int, int]]


def findings_of(
    count: int, segments: list[Segment], wanted: TopologyKind, cabling: Cabling | None = None
) -> tuple[CableFinding, ...]:
    members = sparks(count, segments)
    topology = find_topology(members, cabling or cabling_of(count, segments))
    return cable_findings(members, topology, wanted)


def is_right_ring(cabling: Cabling, count: int) -> bool:
    """Every machine once, every cable from a port 0 to a port 1, nothing else."""
    follows = {}
    for found in cabling.cables:
        zero, one = sorted((found.a, found.b), key=lambda end: end.port)
        if (zero.port, one.port) != (0, 1):
            return False
        follows[zero.node] = one.node
    seen, here = [], "spark-1"
    for _ in range(count):
        seen.append(here)
        here = follows.get(here, "")
    return here == "spark-1" and len(set(seen)) == count and not cabling.loops


def fixed(cabling: Cabling, findings: tuple[CableFinding, ...]) -> Cabling:
    return after(cabling, [movement for finding in findings for movement in finding.movements])


def segments_of(cables: list[Ends]) -> list[Segment]:
    return [cable(a, b) for a, b in cables]


RING_OF_FOUR: list[Ends] = [[(n, 0), (n % 4 + 1, 1)] for n in range(1, 5)]
ALL_ENDS = [(n, p) for n in range(1, 5) for p in (0, 1)]


@pytest.mark.parametrize("count", range(3, 9))
def test_a_right_ring_has_nothing_to_say(count: int) -> None:
    assert findings_of(count, ring(count), TopologyKind.RING) == ()


@pytest.mark.parametrize("gone", range(4))
def test_one_missing_cable_of_a_ring_is_one_finding_with_both_ends(gone: int) -> None:
    segments = ring(4)
    end_a, end_b = segments.pop(gone).ends
    (finding,) = findings_of(4, segments, TopologyKind.RING)
    assert finding.code == "cable-missing"
    assert {finding.missing[0].a, finding.missing[0].b} == {ref(*end_a), ref(*end_b)}
    assert str(ref(*end_a)) in finding.title and str(ref(*end_b)) in finding.title
    assert "ring of four" in finding.meaning
    assert finding.steps[0].startswith("Plug a cable from")


@pytest.mark.parametrize("number", range(1, 5))
def test_both_plugs_of_a_machine_swapped_is_one_finding(number: int) -> None:
    swap = {(number, 0): (number, 1), (number, 1): (number, 0)}
    cables = [[swap.get(end, end) for end in ends] for ends in RING_OF_FOUR]
    (finding,) = findings_of(4, segments_of(cables), TopologyKind.RING)
    assert finding.code == "plugs-swapped"
    assert {finding.ports[0], finding.ports[1]} == {ref(number, 0), ref(number, 1)}
    assert f"spark-{number}" in finding.title


@pytest.mark.parametrize(("x", "y"), list(itertools.combinations(ALL_ENDS, 2)))
def test_any_two_plugs_of_a_ring_swapped_are_named_and_put_right(x: tuple[int, int], y: tuple[int, int]) -> None:
    swap = {x: y, y: x}
    cables = [[swap.get(end, end) for end in ends] for ends in RING_OF_FOUR]
    segments = segments_of(cables)
    cabling = cabling_of(4, segments)
    findings = findings_of(4, segments, TopologyKind.RING)
    same_cable = any(set(ends) == {x, y} for ends in RING_OF_FOUR)
    assert len(findings) == (0 if same_cable else 1)
    assert all(finding.severity is Severity.BAD for finding in findings)
    assert is_right_ring(fixed(cabling, findings), 4)


def test_a_wrong_plug_and_the_cable_whose_place_it_takes_are_one_finding() -> None:
    # spark-3 port 0 goes to spark-4 port 0; the cable spark-4 to spark-1 is not there.
    segments = [cable((1, 0), (2, 1)), cable((2, 0), (3, 1)), cable((3, 0), (4, 0))]
    (finding,) = findings_of(4, segments, TopologyKind.RING)
    assert finding.title == "The cable from spark-3 is in the wrong port of spark-4."
    assert finding.meaning.startswith("It joins port 0 to port 0.")
    assert finding.steps == (
        "At the back of spark-4, move the plug from port 0 (next to the RJ45) to port 1.",
        "Plug a cable from spark-1 port 1 into spark-4 port 0, which is free then.",
    )
    assert finding.cable and (finding.cable.a, finding.cable.b) == (ref(3, 0), ref(4, 0))
    assert finding.belongs and (finding.belongs.a, finding.belongs.b) == (ref(3, 0), ref(4, 1))
    assert len(finding.missing) == 1


def test_a_cable_to_another_machine_is_named() -> None:
    # spark-2 port 0 should go to spark-3 port 1 and goes to a free port of spark-4.
    segments = [cable((1, 0), (2, 1)), cable((2, 0), (4, 1)), cable((4, 0), (1, 1))]
    findings = findings_of(4, segments, TopologyKind.RING)
    assert is_right_ring(fixed(cabling_of(4, segments), findings), 4)
    assert any("spark-3" in finding.title or "spark-3" in " ".join(finding.steps) for finding in findings)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_is_plugged_where_the_steps_lead_to_a_ring(data: st.DataObject) -> None:
    count = data.draw(st.integers(3, 6))
    ends = data.draw(st.permutations([(n, p) for n in range(1, count + 1) for p in (0, 1)]))
    used = data.draw(st.integers(0, count))
    segments = [cable(ends[2 * i], ends[2 * i + 1]) for i in range(used)]
    findings = findings_of(count, segments, TopologyKind.RING)
    assert is_right_ring(fixed(cabling_of(count, segments), findings), count)
    assert all(finding.title.endswith(".") and finding.steps for finding in findings)


def test_ports_that_cannot_be_heard_are_not_called_missing() -> None:
    segments = chain(3)
    members = sparks(3, ring(3))
    reports = hear(3, segments)
    for name in ("spark-1", "spark-3"):
        states = tuple(HearState(s.netdev, "needs-sudo") for s in reports[name].states)
        reports[name] = dataclasses.replace(reports[name], states=states)
    findings = cable_findings(members, find_topology(members, find_cabling(members, reports)), TopologyKind.RING)
    assert [finding.code for finding in findings] == ["cable-unknown"]
    assert "sudo password" in findings[0].meaning


@pytest.mark.parametrize("state", ["needs-sudo", "failed"])
def test_a_pair_that_could_not_be_asked_is_not_told_to_plug_another_port(state: str) -> None:
    # The cable is in port 1 of both; port 0 is empty, and would be the first place for a new cable.
    members = sparks(2, [cable((1, 1), (2, 1))])
    reports = {
        name: dataclasses.replace(
            report,
            states=tuple(
                HearState(s.netdev, "no-carrier" if s.state == "no-carrier" else state) for s in report.states
            ),
            heard=(),
        )
        for name, report in hear(2, [cable((1, 1), (2, 1))]).items()
    }
    topology = find_topology(members, find_cabling(members, reports))
    (finding,) = cable_findings(members, topology, TopologyKind.PAIR)
    assert (finding.code, finding.severity) == ("cable-unknown", Severity.WARN)
    assert {ref(1, 1), ref(2, 1)} <= set(finding.ports)
    assert finding.movements == () and "sudo password" in finding.steps[0]


@pytest.mark.parametrize("wanted", [TopologyKind.PAIR, TopologyKind.SWITCH])
def test_two_ports_with_a_signal_that_hear_nobody_are_unknown_not_missing(wanted: TopologyKind) -> None:
    segments = [Segment(((1, 1),)), Segment(((2, 1),))]
    found = findings_of(2, segments, wanted)
    assert {finding.code for finding in found} == {"cable-unknown"}
    assert all("heard nobody" in finding.meaning and len(finding.steps) == 2 for finding in found)
    assert all(finding.severity is Severity.WARN and not finding.movements for finding in found)


def test_one_silent_port_beside_an_empty_one_is_a_missing_cable() -> None:
    (finding,) = findings_of(2, [Segment(((1, 1),))], TopologyKind.PAIR)
    assert finding.code == "cable-missing"


def test_a_port_to_a_machine_outside_that_is_needed_is_said() -> None:
    segments = [*chain(3), cable((3, 0), (9, 1))]
    cabling = cabling_of(3, segments, {9: "nas"})
    (finding,) = findings_of(3, segments, TopologyKind.RING, cabling)
    assert finding.title == "spark-3 port 0 goes to nas, not to spark-1 port 1."


def test_a_port_to_a_machine_outside_that_is_not_needed_is_left_alone() -> None:
    segments = [cable((1, 1), (2, 1)), cable((1, 0), (9, 1))]
    (finding,) = findings_of(2, segments, TopologyKind.PAIR, cabling_of(2, segments, {9: "nas"}))
    assert (finding.code, finding.severity) == ("port-foreign", Severity.INFO)


def test_mixed_ports_of_a_pair_are_a_warning() -> None:
    segments = [cable((1, 0), (2, 1))]
    (finding,) = findings_of(2, segments, TopologyKind.PAIR)
    assert (finding.code, finding.severity) == ("port-mixed", Severity.WARN)
    assert len(finding.movements) == 1


def test_a_second_cable_of_a_pair_is_a_note() -> None:
    (finding,) = findings_of(2, [cable((1, 0), (2, 0)), cable((1, 1), (2, 1))], TopologyKind.PAIR)
    assert (finding.code, finding.severity) == ("cable-extra", Severity.INFO)


def test_no_cable_between_two_machines_is_one_finding() -> None:
    (finding,) = findings_of(2, [], TopologyKind.PAIR)
    assert finding.title == "spark-1 port 0 is not connected to spark-2 port 0."


def test_mixed_ports_and_a_missing_machine_on_a_switch() -> None:
    segments = [Segment(((1, 1), (2, 1), (3, 0)))]
    findings = findings_of(4, segments, TopologyKind.SWITCH)
    assert [(f.code, f.ports[0].node) for f in findings] == [("cable-missing", "spark-4"), ("port-mixed", "spark-3")]
    assert findings[1].steps == ("At the back of spark-3, move the plug from port 0 (next to the RJ45) to port 1.",)


@pytest.mark.parametrize("count", [2, 3, 8])
def test_a_right_switch_has_nothing_to_say(count: int) -> None:
    assert findings_of(count, switch(count), TopologyKind.SWITCH) == ()


def test_a_direct_cable_beside_a_switch_has_to_go() -> None:
    segments = [*switch(3), cable((1, 0), (2, 0))]
    (finding,) = findings_of(3, segments, TopologyKind.SWITCH)
    assert finding.title == "A cable joins spark-1 port 0 directly to spark-2 port 0."


def test_a_slow_link_is_a_warning_with_its_speed() -> None:
    members = sparks(2, [cable((1, 1), (2, 1))], speed_mbps=100000)
    cabling = find_cabling(members, hear(2, [cable((1, 1), (2, 1))]))
    (finding,) = cable_findings(members, find_topology(members, cabling), TopologyKind.PAIR)
    assert (finding.code, finding.severity) == ("link-100g", Severity.WARN)
    assert "100 Gb/s" in finding.title
    members = sparks(3, switch(3), speed_mbps=100000)
    topology = find_topology(members, find_cabling(members, hear(3, switch(3))))
    found = cable_findings(members, topology, TopologyKind.SWITCH)
    assert [f.code for f in found] == ["link-100g"] * 3
    assert "200G-baseCR4" in found[0].steps[0]


def test_a_cable_finding_fits_into_the_list_of_all_findings() -> None:
    (finding,) = findings_of(4, chain(4), TopologyKind.RING)
    general = as_finding(finding)
    assert (general.code, general.node, general.subject) == ("cable-missing", "spark-1", "port 1")
    assert general.remedy == finding.steps


@pytest.mark.parametrize(
    ("count", "wanted", "why"),
    [(3, TopologyKind.PAIR, "two nodes"), (2, TopologyKind.RING, "3 or more"), (2, TopologyKind.MIXED, "no cables")],
)
def test_a_topology_that_cannot_be_is_said(count: int, wanted: TopologyKind, why: str) -> None:
    with pytest.raises(BadInput, match=why):
        findings_of(count, [], wanted)


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_whatever_is_plugged_where_the_steps_lead_to_a_chain(data: st.DataObject) -> None:
    count = data.draw(st.integers(2, 5))
    ends = data.draw(st.permutations([(n, p) for n in range(1, count + 1) for p in (0, 1)]))
    segments = [cable(ends[2 * i], ends[2 * i + 1]) for i in range(data.draw(st.integers(0, count - 1)))]
    result = fixed(cabling_of(count, segments), findings_of(count, segments, TopologyKind.CHAIN))
    topology = find_topology(sparks(count), result)
    assert topology.kind is (TopologyKind.PAIR if count == 2 else TopologyKind.CHAIN)
    assert all({found.a.port, found.b.port} == {0, 1} for found in result.cables)
