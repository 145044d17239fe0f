"""The doctor: silent on a healthy cluster, one finding with evidence and remedy for each thing that is wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from fixtures.machines import STOCK_NETPLAN, change_device, ipv4_gids, pc, spark
from fixtures.nodes import apply
from fixtures.planning import CASES, PAIR, plan_of, size, with_files
from fixtures.wires import Segment, cable, chain, hear, ring, sparks, switch
from stellwerk.doctor import CHECKS, Diagnosis, examine, open_case
from stellwerk.fabric import cable_findings, find_cabling, find_topology, recommend
from stellwerk.fabric.members import Member, make_members
from stellwerk.model.facts import Memory, Neighbour, NetDevice, NetplanFile, NodeFacts, Route, Sudo, Unavailable
from stellwerk.model.finding import Check, Finding, Severity, Verdict, Verification

PROVEN = Verification("r", "c", "pair", "2026-11-30T10:00:00Z", 1.0, (Check("bandwidth", "x", "y", Verdict.PASS),))


def healthy(wiring: Sequence[Segment]) -> tuple[Member, ...]:
    members = sparks(size(wiring), wiring)
    members = apply(members, plan_of(members, wiring))
    owner = {a.split("/")[0]: d.mac for m in members for d in m.facts.netdevs for a in d.addresses}
    facts = {}
    for member in members:
        mine = {a.split("/")[0] for d in member.facts.netdevs for a in d.addresses}
        heard = tuple(
            Neighbour(ip, "enp1s0f1np1", mac) for ip, mac in owner.items() if ip.startswith("10.100") and ip not in mine
        )
        facts[member.name] = dataclasses.replace(member.facts, neighbours=heard)
    return make_members(facts)


def diagnose(members: Sequence[Member], wiring: Sequence[Segment], **options: Any) -> Diagnosis:
    topology = find_topology(members, find_cabling(members, hear(len(members), wiring)))
    wanted = recommend(topology).kind
    options.setdefault("agents", {m.name: "aa" for m in members})
    options.setdefault("proof", PROVEN)
    found = cable_findings(members, topology, wanted)
    return examine(open_case(members, topology, cable_findings=found, **options))


def changed(change: Callable[[NodeFacts], NodeFacts], number: int = 2) -> tuple[Member, ...]:
    """A healthy switch of three on which one machine differs."""
    members = healthy(switch(3))
    return make_members({m.name: change(m.facts) if m.number == number else m.facts for m in members})


def only(diagnosis: Diagnosis, code: str) -> Finding:
    """The one finding of a code; whatever else is found must say all that a person needs, too."""
    for finding in diagnosis.findings:
        assert finding.title and finding.meaning and finding.remedy, finding
    (found,) = [finding for finding in diagnosis.findings if finding.code == code]
    return found


def of_device(**changes: object) -> Callable[[NodeFacts], NodeFacts]:
    return lambda facts: change_device(facts, "enP2p1s0f1np1", **changes)


def of_facts(**changes: Any) -> Callable[[NodeFacts], NodeFacts]:
    return lambda facts: dataclasses.replace(facts, **changes)


@pytest.mark.parametrize(("kind", "wiring"), [case for case in CASES if case[0] != "chain"])
def test_a_healthy_cluster_has_no_finding_and_nothing_unknown(kind: str, wiring: list[Segment]) -> None:
    diagnosis = diagnose(healthy(wiring), wiring)
    assert diagnosis.findings == ()
    assert diagnosis.not_available == ()
    assert len(diagnosis.fine) == diagnosis.count == len(CHECKS)


SINGLE_FAULTS: list[tuple[str, Callable[[NodeFacts], NodeFacts], Severity, str]] = [
    ("mtu-mixed", of_device(mtu=1500), Severity.BAD, "MTU is 1500 on one half of spark-2, 9000 elsewhere"),
    ("link-100g", of_device(speed_mbps=100000), Severity.WARN, "100 Gb/s"),
    ("half-down", of_device(carrier=False), Severity.BAD, "Half B of port 1 is down"),
    ("half-down", of_device(carrier=None, admin_up=False), Severity.BAD, "switched off"),
    ("pcie-downgraded", of_device(pcie_width=2), Severity.WARN, "32 GT/s ×2"),
    ("twins-one-subnet", of_device(addresses=("10.100.0.77/24",)), Severity.BAD, "both in 10.100.0.0/24"),
    ("overlap", of_device(addresses=("192.168.50.9/24",)), Severity.BAD, "192.168.50.0/24"),
    ("overlap-home-lan", of_device(addresses=("192.168.1.9/24",)), Severity.WARN, "home routers"),
    ("not-lasting", of_device(addresses=("10.100.1.2/24", "10.44.0.2/24")), Severity.WARN, "10.44.0.2/24"),
    ("arp-settings", of_device(arp_ignore=0), Severity.INFO, "answer ARP for each other"),
    ("no-sudo", of_facts(sudo=Sudo("none", "not in the sudoers file")), Severity.BAD, "may not become root"),
    ("cma-zero", of_facts(memory=Memory(127_535_084, cma_total_kb=0, cma_free_kb=9_751_756)), Severity.WARN, "9.3 GiB"),
    ("clock-skew", of_facts(wall_time_s=1_800_000_600.0), Severity.BAD, "600 s ahead"),
    ("clock-skew", of_facts(wall_time_s=1_799_999_970.0), Severity.WARN, "30 s behind"),
    ("kernel-mixed", of_facts(kernel="6.14.0"), Severity.INFO, "Kernel 6.14.0, on the others 6.17"),
    ("kernel-faulty", of_facts(kernel="6.17.0-1008-nvidia"), Severity.WARN, "known fault"),
    ("user-mixed", of_facts(uid=1001), Severity.INFO, "nvidia (1001:1000)"),
    ("memory-mixed", of_facts(memory=Memory(65_000_000, cma_total_kb=1)), Severity.INFO, "64 GiB, on the others 120"),
    ("same-machine-id", of_facts(node_id="node-1"), Severity.WARN, "spark-1 and spark-2"),
    ("same-hostname", of_facts(hostname="spark-1"), Severity.WARN, "spark-1 and spark-2"),
    ("disk-low", of_facts(disk_free_bytes=10**9), Severity.WARN, "0.9 GiB"),
    ("tools-missing", of_facts(tools={"ib_write_bw": None}), Severity.INFO, "ib_write_bw is not installed"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "change", "severity", "title"), SINGLE_FAULTS, ids=[f"{i}-{f[0]}" for i, f in enumerate(SINGLE_FAULTS)]
)
def test_each_fault_is_named_where_it_is(
    code: str, change: Callable[[NodeFacts], NodeFacts], severity: Severity, title: str
) -> None:
    found = only(diagnose(changed(change), switch(3)), code)
    assert (found.severity, found.node) == (severity, "spark-2")
    assert title in found.title
    assert found.evidence


def test_versions_that_differ() -> None:
    def older(facts: NodeFacts) -> NodeFacts:
        assert facts.dgx is not None
        dgx = dataclasses.replace(facts.dgx, ota_version="7.2.3")
        gpus = tuple(dataclasses.replace(gpu, driver="570.1") for gpu in facts.gpus)
        rdma = tuple(dataclasses.replace(r, firmware="28.40.1") for r in facts.rdma)
        return dataclasses.replace(facts, dgx=dgx, gpus=gpus, rdma=rdma)

    diagnosis = diagnose(changed(older), switch(3))
    assert {f.code for f in diagnosis.findings} == {"os-too-old", "os-mixed", "driver-mixed", "firmware-mixed"}
    assert "7.2.3" in only(diagnosis, "os-too-old").title


def test_an_agent_of_another_version() -> None:
    agents = {"spark-1": "aa", "spark-2": "bb", "spark-3": "aa"}
    assert only(diagnose(healthy(switch(3)), switch(3), agents=agents), "agents-differ").node == "spark-2"


def test_dhcp_link_local_and_a_default_route_on_the_fabric() -> None:
    def dhcp(facts: NodeFacts) -> NodeFacts:
        own = Route("192.168.88.0/24", "enP2p1s0f1np1", protocol="dhcp")
        way_out = Route("default", "enP2p1s0f1np1", via="192.168.88.1", metric=600)
        facts = change_device(facts, "enP2p1s0f1np1", addresses=("192.168.88.7/24",))
        return dataclasses.replace(facts, routes=(*facts.routes, own, way_out))

    diagnosis = diagnose(changed(dhcp), switch(3))
    assert "by DHCP" in only(diagnosis, "address-changes").title
    assert only(diagnosis, "default-route-on-fabric").fix == "plan"

    members = make_members(
        {f"spark-{n}": spark(n, up=(1,), addresses={"enp1s0f1np1": f"169.254.1.{n}/16"}) for n in (1, 2)}
    )
    found = [f for f in diagnose(members, PAIR).findings if f.code == "address-changes"]
    assert len(found) == 2 and "169.254.0.0/16" in found[0].title


def test_arp_flux_names_who_sends_wrong() -> None:
    members = healthy(PAIR)
    twin = members[1].ports[1].halves[1].netdev.mac
    wrong = (Neighbour("10.100.0.2", "enp1s0f1np1", twin, "REACHABLE"),)
    facts = {m.name: m.facts for m in members}
    facts["spark-1"] = dataclasses.replace(facts["spark-1"], neighbours=wrong)
    found = only(diagnose(make_members(facts), PAIR), "arp-flux")
    assert (found.node, found.severity, found.fix) == ("spark-1", Severity.BAD, "plan")


def test_gid_tables() -> None:
    def gone(facts: NodeFacts) -> NodeFacts:
        rdma = tuple(
            dataclasses.replace(r, gids=ipv4_gids(r.netdev or "", None)) if r.name == "rocep1s0f1" else r
            for r in facts.rdma
        )
        return dataclasses.replace(facts, rdma=rdma)

    def shifted(facts: NodeFacts) -> NodeFacts:
        rdma = tuple(
            dataclasses.replace(r, gids=tuple(dataclasses.replace(g, index=g.index + 1) for g in r.gids))
            if r.name == "rocep1s0f1"
            else r
            for r in facts.rdma
        )
        return dataclasses.replace(facts, rdma=rdma)

    assert "rocep1s0f1 has no RoCE v2 entry" in only(diagnose(changed(gone), switch(3)), "gid-missing").title
    drift = only(diagnose(changed(shifted), switch(3)), "gid-drift")
    assert "GID index is 4" in drift.title and drift.severity is Severity.INFO


def test_netplan_files() -> None:
    def with_file(text: str, mode: int = 0o600) -> Callable[[NodeFacts], NodeFacts]:
        return lambda facts: dataclasses.replace(
            facts, netplan=(*facts.netplan, NetplanFile("/etc/netplan/99-nvidia-sync-cluster.yaml", mode, text))
        )

    double = "network: {ethernets: {enp1s0f1np1: {mtu: 9000}}}\n"
    found = only(diagnose(changed(with_file(double)), switch(3)), "foreign-netplan-claims-interface")
    assert "60-stellwerk.yaml and /etc/netplan/99-nvidia-sync-cluster.yaml" in found.title and found.fix == "plan"
    broken = diagnose(changed(with_file("network: {")), switch(3))
    assert "99-nvidia-sync-cluster.yaml" in only(broken, "netplan-broken").title
    assert ("MTU", "the netplan files of spark-2 cannot be read") in broken.not_available
    assert (
        "644"
        in only(diagnose(changed(with_file("network: {}\n", 0o644)), switch(3)), "netplan-permissions").evidence[0]
    )
    pattern = diagnose(changed(with_file("network: {ethernets: {x: {match: {name: 'enp1*'}}}}\n")), switch(3))
    assert {f.subject for f in pattern.findings if f.code == "netplan-pattern"} == {"port 0 half A", "port 1 half A"}
    hidden = NetplanFile("/etc/netplan/60-stellwerk.yaml", 0o600)
    unread = diagnose(changed(of_facts(netplan=(hidden,))), switch(3))
    assert ("netplan files readable", "the netplan files of spark-2 need the sudo password") in unread.not_available


def test_a_half_in_a_bond() -> None:
    found = only(diagnose(changed(of_device(master="bond0")), switch(3)), "half-in-bond")
    assert "enP2p1s0f1np1 is part of bond0" in found.title


def test_cables_speak_through_the_doctor() -> None:
    diagnosis = diagnose(healthy(chain(4)), chain(4))
    assert only(diagnosis, "cable-missing").severity is Severity.BAD


def test_a_ring_of_four_that_does_not_forward() -> None:
    members = healthy(ring(4))
    facts = {m.name: m.facts for m in members}
    facts["spark-3"] = change_device(facts["spark-3"], "enp1s0f0np0", forwarding=0)
    found = only(diagnose(make_members(facts), ring(4)), "transit-off")
    assert found.node == "spark-3" and "forwarding = 0" in found.evidence[0]


def test_management_over_radio_and_machines_without_ports() -> None:
    def radio(facts: NodeFacts) -> NodeFacts:
        rest = tuple(route for route in facts.routes if route.destination != "default")
        return dataclasses.replace(facts, routes=(*rest, Route("default", "wlP9s9")))

    assert only(diagnose(changed(radio), switch(3)), "management-wifi").node == "spark-2"
    bare = dataclasses.replace(pc(3), netdevs=(NetDevice("enp3s0", driver="r8169", pci_address="0000:03:00.0"),))
    members = make_members({"spark-1": spark(1), "pc-3": bare})
    assert only(examine(open_case(members)), "no-ports").node == "pc-3"


def test_a_proof_that_did_not_pass_becomes_findings() -> None:
    checks = (
        dataclasses.replace(
            Check("bandwidth", "spark-2", "port 1 half B -> spark-1", Verdict.DEGRADED, 13.1, "Gb/s", 92.0),
            text="13.1 Gb/s", why="w", remedy="r", peer="spark-1",
        ),
        Check("mtu", "spark-1", "port 1 half A -> spark-2", Verdict.FAIL, text="no answer", why="w", remedy="r"),
        Check("latency", "spark-1", "port 1 half A -> spark-2", Verdict.NOT_AVAILABLE, text="not available"),
    )  # fmt: skip
    proof = dataclasses.replace(PROVEN, checks=checks)
    diagnosis = diagnose(healthy(PAIR), PAIR, proof=proof)
    assert [(f.code, f.severity) for f in diagnosis.findings] == [
        ("mtu-blocked", Severity.BAD),
        ("rdma-half-slow", Severity.WARN),
    ]
    assert only(diagnosis, "rdma-half-slow").title == "Port 1 half B carries 13.1 Gb/s of 92 Gb/s"


def test_what_is_not_known_is_not_fine() -> None:
    members = make_members({"spark-1": dataclasses.replace(spark(1), unavailable=(Unavailable("GPU", "no driver"),))})
    diagnosis = examine(open_case(members))
    unknown = dict(diagnosis.not_available)
    assert unknown["MTU"] == "it takes two nodes"
    assert unknown["last proof"] == "the cluster has not been proven yet"
    assert unknown["spark-1: GPU"] == "no driver"
    assert not set(unknown) & set(diagnosis.fine)


def test_the_worst_comes_first() -> None:
    members = changed(lambda facts: of_device(mtu=1500)(dataclasses.replace(facts, uid=7, disk_free_bytes=1)))
    ranks = [finding.severity.rank for finding in diagnose(members, switch(3)).findings]
    assert ranks == sorted(ranks) and len(set(ranks)) == 3


def test_hand_made_pairs_of_the_field_get_notes_but_no_alarm() -> None:
    files = {
        n: "network:\n  version: 2\n  ethernets:\n"
        f"    enp1s0f1np1: {{dhcp4: no, addresses: [192.168.100.{n}/24]}}\n"
        f"    enP2p1s0f1np1: {{dhcp4: no, addresses: [192.168.101.{n}/24]}}\n"
        for n in (1, 2)
    }
    members = with_files(sparks(2, PAIR), files)
    diagnosis = diagnose(members, PAIR)
    assert {f.code for f in diagnosis.findings} == {"arp-settings"}
    assert STOCK_NETPLAN.text is not None


def test_an_empty_case_examines_to_nothing_found() -> None:
    diagnosis = examine(open_case(()))
    assert diagnosis.findings == ()


def test_cables_of_a_pair_in_mixed_ports() -> None:
    wiring = [cable((1, 0), (2, 1))]
    assert only(diagnose(healthy(wiring), wiring), "port-mixed").severity is Severity.WARN


def test_an_mtu_that_fell_back_everywhere_is_found_by_the_files() -> None:
    members = healthy(PAIR)
    facts = {m.name: m.facts for m in members}
    for name in facts:
        for netdev in ("enp1s0f1np1", "enP2p1s0f1np1"):
            facts[name] = change_device(facts[name], netdev, mtu=1500)
    found = [f for f in diagnose(make_members(facts), PAIR).findings if f.code == "mtu-mixed"]
    assert [f.node for f in found] == ["spark-1", "spark-2"], "one finding per node, not per half"
    assert found[0].title == "MTU is 1500 on 2 halves of spark-1, their files say 9000"
    assert len(found[0].evidence) == 3, "each half once, the file once"


def test_a_node_whose_halves_all_lost_their_mtu_is_one_finding() -> None:
    facts = {m.name: m.facts for m in healthy(switch(3))}
    for netdev in ("enp1s0f1np1", "enP2p1s0f1np1"):
        facts["spark-2"] = change_device(facts["spark-2"], netdev, mtu=1500)
    title = only(diagnose(make_members(facts), switch(3)), "mtu-mixed").title
    assert title == "MTU is 1500 on 2 halves of spark-2, 9000 elsewhere"
