"""What is asked to prove a fabric, and how answers are judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.machines import change_device, pc
from fixtures.nodes import apply
from fixtures.planning import CASES, PAIR, plan_of, size
from fixtures.wires import Segment, hear, ring, sparks, switch
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.judging import Answers, judge, make_verification
from stellwerk.fabric.members import Member, make_members
from stellwerk.fabric.topology import find_topology
from stellwerk.fabric.verification import BANDWIDTH_TOOL, Proof, plan_proof
from stellwerk.model.fabric import Heard, HearReport, HearState
from stellwerk.model.facts import Neighbour, NodeFacts
from stellwerk.model.finding import Check, Verdict
from stellwerk.model.guard import PingResult, RdmaPerf, RouteAnswer


def ready(wiring: Sequence[Segment], change: Callable[[str, NodeFacts], NodeFacts] | None = None) -> tuple[Member, ...]:
    members = sparks(size(wiring), wiring)
    members = apply(members, plan_of(members, wiring))
    if change is None:
        return members
    return make_members({member.name: change(member.name, member.facts) for member in members})


def proof_of(members: Sequence[Member], wiring: Sequence[Segment]) -> Proof:
    return plan_proof(members, find_topology(members, find_cabling(members, hear(len(members), wiring))))


def good_answers(proof: Proof) -> Answers:
    """What a healthy fabric answers."""
    macs = {str(e.address.ip): e.at.half.netdev.mac for e in proof.addressing.assigned}
    neighbours: dict[str, list[Neighbour]] = {member.name: [] for member in proof.members}
    for ping in proof.pings:
        if ping.netdev:
            neighbours[ping.place.node].append(
                Neighbour(ping.destination, ping.netdev, macs[ping.destination], "REACHABLE")
            )
    return Answers(
        {p.id: PingResult(p.destination, p.netdev, p.payload_bytes, p.dont_fragment, 3, 3, 0.2) for p in proof.pings},
        {r.id: RouteAnswer(r.destination, r.place.netdev) for r in proof.routes},
        {
            r.id: RdmaPerf(r.tool, r.client_device, r.server_address, bandwidth_gbps=97.3)
            if r.tool == BANDWIDTH_TOOL
            else RdmaPerf(r.tool, r.client_device, r.server_address, latency_us=2.3)
            for r in proof.perf
        },
        neighbours,
    )


def not_passed(checks: Sequence[Check]) -> list[Check]:
    return [check for check in checks if check.verdict is not Verdict.PASS]


@pytest.mark.parametrize(("kind", "wiring"), CASES)
def test_a_healthy_fabric_passes_every_check(kind: str, wiring: list[Segment]) -> None:
    proof = proof_of(ready(wiring), wiring)
    checks = judge(proof, good_answers(proof))
    assert not not_passed(checks)
    assert {check.kind for check in checks} >= {
        "carrier", "speed", "pcie", "rdma", "address", "gid", "route", "mtu", "neighbour", "bandwidth",
        "bandwidth-port", "latency",
    }  # fmt: skip
    assert ("transit" in {check.kind for check in checks}) == (
        kind in ("ring", "chain") and wiring not in ([], ring(3))
    )
    verification = make_verification(
        proof, checks, run_id="r", cluster="c", started_at="2026-11-30T10:00:00Z", seconds=1.0
    )
    assert verification.verdict is Verdict.PASS and not verification.simulated


@pytest.mark.parametrize(("kind", "wiring"), CASES)
def test_no_machine_is_in_two_links_of_a_round_and_every_half_is_measured(kind: str, wiring: list[Segment]) -> None:
    proof = proof_of(ready(wiring), wiring)
    for requests in proof.rounds:
        links: dict[str, set[str]] = {}
        for request in requests:
            links.setdefault(request.link, set()).update((request.place.node, request.place.peer))
        nodes = [node for pair in links.values() for node in pair]
        assert len(nodes) == len(set(nodes))
        assert len({request.tool for request in requests}) == 1
    ports = [(request.place.peer, request.tcp_port) for request in proof.perf]
    assert len(ports) == len(set(ports))
    measured = {
        device for r in proof.perf for device in ((r.place.node, r.client_device), (r.place.peer, r.server_device))
    }
    assert measured == {(e.at.member.name, e.at.half.rdma.name) for e in proof.addressing.assigned if e.at.half.rdma}
    if len(proof.members) > 2 and kind != "chain":
        senders = {request.place.node for request in proof.perf if request.tool == BANDWIDTH_TOOL}
        assert senders == {member.name for member in proof.members}


def test_large_packets_are_sent_both_ways_over_each_half() -> None:
    proof = proof_of(ready(PAIR), PAIR)
    assert {(p.place.node, p.place.half, p.payload_bytes, p.dont_fragment) for p in proof.pings} == {
        (node, half, 8972, True) for node in ("spark-1", "spark-2") for half in "AB"
    }


def test_a_pair_is_measured_both_ways() -> None:
    proof = proof_of(ready(PAIR), PAIR)
    assert [(r.place.node, r.place.half, r.tool) for r in proof.perf] == [
        ("spark-1", "A", "ib_write_bw"),
        ("spark-1", "B", "ib_write_bw"),
        ("spark-2", "A", "ib_write_bw"),
        ("spark-2", "B", "ib_write_bw"),
        ("spark-1", "A", "ib_write_lat"),
        ("spark-1", "B", "ib_write_lat"),
    ]
    assert all(r.client_gid_index == 3 and r.server_gid_index == 3 for r in proof.perf)


def test_nothing_asked_is_nothing_proven() -> None:
    proof = proof_of(ready(PAIR), PAIR)
    checks = judge(proof, Answers(errors={"neighbours spark-1": "the connection ended"}))
    asked = [c for c in checks if c.kind in ("route", "mtu", "bandwidth", "latency", "bandwidth-port", "neighbour")]
    assert asked and all(check.verdict is Verdict.NOT_AVAILABLE and check.why for check in asked)
    assert any(check.why == "the connection ended" for check in asked)


def check_one(
    change: Callable[[str, NodeFacts], NodeFacts], kind: str, verdict: Verdict, why: str, count: int = 1
) -> None:
    proof = proof_of(ready(PAIR, change), PAIR)
    bad = [check for check in not_passed(judge(proof, good_answers(proof))) if check.kind == kind]
    assert len(bad) == count, bad
    assert bad[0].verdict is verdict and why in bad[0].why and bad[0].node == "spark-2"
    assert verdict is Verdict.NOT_AVAILABLE or bad[0].remedy


def on_spark_2(**changes: object) -> Callable[[str, NodeFacts], NodeFacts]:
    return lambda name, facts: change_device(facts, "enP2p1s0f1np1", **changes) if name == "spark-2" else facts


def test_each_fact_that_is_wrong_is_a_check_with_its_reason() -> None:
    check_one(on_spark_2(carrier=False), "carrier", Verdict.FAIL, "no signal")
    check_one(on_spark_2(carrier=None, admin_up=False), "carrier", Verdict.FAIL, "switched off")
    check_one(on_spark_2(carrier=None), "carrier", Verdict.NOT_AVAILABLE, "could not be read")
    check_one(on_spark_2(speed_mbps=100000), "speed", Verdict.DEGRADED, "below 200")
    check_one(on_spark_2(speed_mbps=None), "speed", Verdict.NOT_AVAILABLE, "not reported")
    check_one(on_spark_2(pcie_width=2), "pcie", Verdict.DEGRADED, "32 GT/s ×2 instead of 32 GT/s ×4")
    check_one(on_spark_2(pcie_speed_gts=5.0), "pcie", Verdict.DEGRADED, "5 GT/s ×4 instead of")
    check_one(on_spark_2(pcie_width=None), "pcie", Verdict.NOT_AVAILABLE, "could not be read")
    check_one(on_spark_2(addresses=()), "address", Verdict.FAIL, "not in effect")


def rdma_changed(**changes: object) -> Callable[[str, NodeFacts], NodeFacts]:
    def change(name: str, facts: NodeFacts) -> NodeFacts:
        if name != "spark-2":
            return facts
        rdma = tuple(
            dataclasses.replace(r, **changes) if r.netdev == "enP2p1s0f1np1" else r  # type: ignore[arg-type]
            for r in facts.rdma
        )
        return dataclasses.replace(facts, rdma=rdma)

    return change


def test_rdma_state_and_gid_table_are_judged() -> None:
    check_one(rdma_changed(state="DOWN"), "rdma", Verdict.FAIL, "is DOWN")
    check_one(rdma_changed(state=None), "rdma", Verdict.NOT_AVAILABLE, "not known")
    check_one(rdma_changed(gids=()), "gid", Verdict.NOT_AVAILABLE, "could not be read")
    only_v1 = sparks(1)[0].ports[0].halves[0].rdma
    assert only_v1 is not None
    check_one(rdma_changed(gids=only_v1.gids), "gid", Verdict.FAIL, "no RoCE v2 entry")


@settings(max_examples=30, deadline=None)
@given(st.floats(0.1, 200.0), st.floats(0.1, 200.0))
def test_bandwidth_bands(a: float, b: float) -> None:
    proof = proof_of(ready(PAIR), PAIR)
    answers = good_answers(proof)
    values = {"A": a, "B": b}
    perf = {
        r.id: dataclasses.replace(answers.perf[r.id], bandwidth_gbps=values[r.place.half])
        for r in proof.perf
        if r.tool == BANDWIDTH_TOOL
    }
    checks = judge(proof, dataclasses.replace(answers, perf=perf))
    assert {"bandwidth", "bandwidth-port"} <= {check.kind for check in checks}
    for check in checks:
        if check.kind == "bandwidth":
            assert check.verdict is (Verdict.PASS if values[check.half or ""] >= 92 else Verdict.DEGRADED)
        if check.kind == "bandwidth-port":
            assert check.verdict is (Verdict.PASS if a + b >= 184 else Verdict.DEGRADED)
        assert check.verdict is not Verdict.DEGRADED or (check.why and check.remedy)


def test_a_slow_half_says_what_the_facts_know() -> None:
    def why(change: Callable[[str, NodeFacts], NodeFacts] | None) -> str:
        proof = proof_of(ready(PAIR, change), PAIR)
        answers = good_answers(proof)
        first = proof.perf[1]
        slow = {**answers.perf, first.id: dataclasses.replace(answers.perf[first.id], bandwidth_gbps=13.1)}
        (check,) = [c for c in judge(proof, dataclasses.replace(answers, perf=slow)) if c.kind == "bandwidth" and c.why]
        assert check.verdict is Verdict.DEGRADED and check.text == "13.1 Gb/s" and check.remedy
        return check.why

    assert "in order" in why(None)
    assert "spark-2: the PCIe link came up at 32 GT/s ×2" in why(on_spark_2(pcie_width=2))
    assert "spark-2 runs at 100 Gb/s" in why(on_spark_2(speed_mbps=100000))


def test_no_result_is_a_failure_and_a_missing_tool_is_not_available() -> None:
    proof = proof_of(ready(PAIR), PAIR)
    answers = good_answers(proof)
    broken = {
        r.id: RdmaPerf(r.tool, r.client_device, r.server_address, error="ibv_modify_qp failed") for r in proof.perf
    }
    checks = judge(proof, dataclasses.replace(answers, perf=broken))
    bad = [check for check in checks if check.kind in ("bandwidth", "latency")]
    assert all(check.verdict is Verdict.FAIL and "ibv_modify_qp" in check.why and check.remedy for check in bad)

    def without_tool(name: str, facts: NodeFacts) -> NodeFacts:
        return dataclasses.replace(facts, tools={**facts.tools, "ib_write_bw": None}) if name == "spark-2" else facts

    proof = proof_of(ready(PAIR, without_tool), PAIR)
    bad = [check for check in judge(proof, good_answers(proof)) if check.kind == "bandwidth"]
    assert all(check.verdict is Verdict.NOT_AVAILABLE and "perftest" in check.remedy for check in bad)


def test_lost_packets_wrong_routes_and_a_wrong_mac() -> None:
    proof = proof_of(ready(PAIR), PAIR)
    good = good_answers(proof)
    ping = proof.pings[0]
    none = {
        **good.pings,
        ping.id: dataclasses.replace(good.pings[ping.id], received=0, error="message too long, mtu=1500"),
    }
    (check,) = not_passed(judge(proof, dataclasses.replace(good, pings=none)))
    assert (check.kind, check.verdict) == ("mtu", Verdict.FAIL) and "mtu=1500" in check.why
    some = {**good.pings, ping.id: dataclasses.replace(good.pings[ping.id], received=2)}
    (check,) = not_passed(judge(proof, dataclasses.replace(good, pings=some)))
    assert check.verdict is Verdict.DEGRADED
    route = proof.routes[0]
    astray = {**good.routes, route.id: RouteAnswer(route.destination, "enP7s7", via="192.168.50.1")}
    (check,) = not_passed(judge(proof, dataclasses.replace(good, routes=astray)))
    assert (check.kind, check.verdict) == ("route", Verdict.FAIL) and "enP7s7 via 192.168.50.1" in check.why
    twin = proof.members[1].ports[0].halves if len(proof.members[1].ports) == 1 else proof.members[1].ports[1].halves
    wrong = [dataclasses.replace(n, mac=twin[1].netdev.mac) for n in good.neighbours["spark-1"]]
    bad = not_passed(judge(proof, dataclasses.replace(good, neighbours={**good.neighbours, "spark-1": wrong})))
    assert [(c.kind, c.verdict) for c in bad] == [("neighbour", Verdict.FAIL)]
    assert "half B" in bad[0].why and "arp_ignore" in bad[0].remedy


def test_an_mtu_that_fell_back_on_one_half_is_measured_against_the_others() -> None:
    proof = proof_of(ready(PAIR, on_spark_2(mtu=1500)), PAIR)
    assert proof.mtu == 9000


def test_machines_without_rdma_are_proven_without_it_and_this_is_said() -> None:
    members = make_members({f"pc-{n}": pc(n) for n in (1, 2)})
    reports = {
        f"pc-{n}": HearReport(
            f"pc-{n}", f"pc-{n}", (HearState("enp4s0", "heard"),),
            (Heard("enp4s0", f"pc-{o}", f"pc-{o}", "enp4s0", f"02:00:00:00:{o:02x}:02", "ipv6"),),
        )
        for n, o in ((1, 2), (2, 1))
    }  # fmt: skip
    topology = find_topology(members, find_cabling(members, reports))
    bare = plan_proof(members, topology)
    assert {c.verdict for c in judge(bare, Answers()) if c.kind == "address"} == {Verdict.FAIL}
    live = {m.name: change_device(m.facts, "enp4s0", addresses=(f"10.9.0.{m.number}/24",)) for m in members}
    proof = plan_proof(make_members(live), topology)
    checks = judge(proof, good_answers(proof))
    assert not not_passed(checks)
    assert "bandwidth" not in {check.kind for check in checks}
    assert proof.notes == ("bandwidth and latency are not measured on pc-1, pc-2: no RDMA device",)


def test_simulated_machines_are_said_to_be() -> None:
    members = ready(switch(3), lambda _, facts: dataclasses.replace(facts, product="NVIDIA DGX Spark (simulated)"))
    proof = proof_of(members, switch(3))
    verification = make_verification(proof, (), run_id="r", cluster="c", started_at="", seconds=0.0)
    assert verification.simulated and verification.verdict is Verdict.NOT_AVAILABLE
