"""Plans for machines that are no neighbours, for growing and shrinking, for sessions over the fabric, and refusals."""

from __future__ import annotations

import dataclasses
from ipaddress import ip_network

import pytest

from fixtures.machines import spark
from fixtures.nodes import apply
from fixtures.planning import PAIR, file_changes, plan_of
from fixtures.wires import cable, chain, ring, sparks, switch
from stellwerk.fabric.members import make_members
from stellwerk.fabric.netplan import OWN_PATH, NetplanText
from stellwerk.fabric.settings import SYSCTL_PATH, sysctl_key
from stellwerk.fabric.transit import UNIT_PATH
from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.facts import NetplanFile, SessionRoute
from stellwerk.model.plan import CommandChange, FileChange, FirewallChange, SysctlChange, UnitChange

# --- rings of four and more ---


def test_a_ring_of_three_needs_no_transit() -> None:
    plan = plan_of(sparks(3, ring(3)), ring(3))
    kinds = {change.kind for node in plan.nodes for change in node.changes}
    assert kinds == {"file", "sysctl"}
    assert not any("forwarding" in change.key for n in plan.nodes for change in n.changes if change.kind == "sysctl")


def test_a_ring_of_four_forwards_per_interface_and_only_fabric_traffic() -> None:
    plan = plan_of(sparks(4, ring(4)), ring(4))
    for node in plan.nodes:
        sysctls = {change.key: change.after for change in node.changes if isinstance(change, SysctlChange)}
        assert sum(key.endswith(".forwarding") for key in sysctls) == 4
        assert "net.ipv4.ip_forward" not in sysctls
        rules = [change for change in node.changes if isinstance(change, FirewallChange)]
        assert len(rules) == 4
        for rule in rules:
            words = dict(zip(rule.rule[::2], rule.rule[1::2], strict=True))
            assert {words["-i"], words["-o"]} <= {"enp1s0f0np0", "enp1s0f1np1", "enP2p1s0f0np0", "enP2p1s0f1np1"}
            assert words["-s"] == words["-d"] == "10.100.0.0/21"
            assert words["-j"] == "ACCEPT" and words["-i"] != words["-o"]
        (unit,) = [change for change in node.changes if isinstance(change, UnitChange)]
        assert "After=docker.service" in (unit.after or "") and (unit.after or "").count(" -I FORWARD ") == 4
    stanza = NetplanText(OWN_PATH, file_changes(plan)[OWN_PATH].after or "").ethernets["enp1s0f0np0"]
    assert stanza["routes"] == [{"to": "10.100.2.0/24", "via": "10.100.0.2"}]
    assert any("no neighbours" in note for note in plan.notes)
    assert not any("field-proven" in note for note in plan.notes)


def test_without_iptables_there_is_no_rule_and_this_is_said() -> None:
    members = make_members({m.name: dataclasses.replace(m.facts, tools={"iptables": None}) for m in sparks(4, ring(4))})
    plan = plan_of(members, ring(4))
    assert {change.kind for node in plan.nodes for change in node.changes} == {"file", "sysctl"}
    assert any("no iptables" in note for note in plan.notes)
    assert plan_of(apply(members, plan), ring(4)).empty


def test_interface_names_with_dots_are_written_as_sysctl_wants_them() -> None:
    assert sysctl_key("eth0.5", "arp_ignore") == "net.ipv4.conf.eth0/5.arp_ignore"


def test_a_ring_with_a_turned_machine_is_planned_with_a_warning() -> None:
    turned = [cable((1, 0), (2, 0)), cable((2, 1), (3, 1)), cable((3, 0), (1, 1))]
    plan = plan_of(sparks(3, turned), turned)
    assert "The two plugs of spark-2 are in each other's port." in plan.warnings


def test_machines_that_leave_can_be_planned_alone() -> None:
    members = sparks(2, PAIR)
    members = apply(members, plan_of(members, PAIR))
    plan = plan_of((), [], leaving=members[1:])
    assert [node.node for node in plan.nodes] == ["spark-2"] and plan.nodes[0].changes
    assert plan.notes == ("Only nodes that leave.",)


def test_rings_above_four_are_marked_as_not_proven() -> None:
    assert any("not field-proven" in note for note in plan_of(sparks(5, ring(5)), ring(5)).notes)


def test_firewall_rules_name_each_subnet_when_no_range_holds_the_fabric_alone() -> None:
    foreign = "network: {tunnels: {wg0: {mode: wireguard, addresses: [10.7.3.1/24]}}}\n"
    nets = [("10.7.0", "10.7.1"), ("10.7.2", "10.7.4"), ("10.7.5", "10.7.6"), ("10.7.8", "10.7.9")]
    addresses: dict[int, dict[str, str]] = {n: {} for n in range(1, 5)}
    for index, (a, b) in enumerate(nets):
        here, there = index + 1, (index + 1) % 4 + 1
        for number, port in ((here, 0), (there, 1)):
            addresses[number][f"enp1s0f{port}np{port}"] = f"{a}.{number}/24"
            addresses[number][f"enP2p1s0f{port}np{port}"] = f"{b}.{number}/24"
    vpn = NetplanFile("/etc/netplan/70-vpn.yaml", 0o600, foreign)
    members = make_members({f"spark-{n}": spark(n, addresses=addresses[n], netplan=(vpn,)) for n in range(1, 5)})
    plan = plan_of(members, ring(4))
    rules = [change.rule for change in plan.nodes[0].changes if isinstance(change, FirewallChange)]
    assert len(rules) == 4 * 8 and not any("-s" in rule for rule in rules)
    assert not any(ip_network("10.7.3.0/24").overlaps(ip_network(rule[rule.index("-d") + 1])) for rule in rules)


def test_a_ring_that_shrinks_to_three_takes_its_rules_and_its_unit_away() -> None:
    four = sparks(4, ring(4))
    four = apply(four, plan_of(four, ring(4)))
    three = four[:3]
    plan = plan_of(three, ring(3), leaving=four[3:])
    staying, going = plan.nodes[0], plan.nodes[3]
    deletes = [change for change in staying.changes if isinstance(change, CommandChange)]
    assert len(deletes) == 4 and all(change.argv[0] == "firewall-delete" for change in deletes)
    assert [c.after for c in staying.changes if isinstance(c, UnitChange)] == [None]
    assert sum(c.key.endswith("forwarding") and c.after == "0" for c in staying.changes if c.kind == "sysctl") == 4
    assert {c.path: c.after for c in going.changes if isinstance(c, FileChange)} == {OWN_PATH: None, SYSCTL_PATH: None}
    rest = apply(four, plan)
    assert plan_of(rest[:3], ring(3)).empty
    assert UNIT_PATH not in rest[0].facts.own_files
    assert rest[3].facts.own_files == {} and OWN_PATH not in [file.path for file in rest[3].facts.netplan]


@pytest.mark.parametrize("count", [3, 4, 7])
def test_a_machine_more_in_a_ring_keeps_all_other_addresses(count: int) -> None:
    members = sparks(count, ring(count))
    members = apply(members, plan_of(members, ring(count)))
    newcomer = sparks(count + 1, ring(count + 1))[-1]
    plan = plan_of((*members, newcomer), ring(count + 1))
    untouched = {f"spark-{n}" for n in range(2, count)}
    for node in plan.nodes:
        if node.node in untouched:
            assert all(row.then in row.now for row in node.rows)
    assert plan_of(apply((*members, newcomer), plan), ring(count + 1)).empty


# --- who is changed last ---


def test_the_machine_through_whose_fabric_the_session_runs_is_last() -> None:
    members = sparks(2, PAIR)
    members = apply(members, plan_of(members, PAIR))
    facts = {m.name: m.facts for m in members}
    facts["spark-2"] = dataclasses.replace(
        facts["spark-2"], session=SessionRoute("10.100.0.1", "10.100.0.2", "enp1s0f1np1")
    )
    plan = plan_of(make_members(facts), PAIR, mtu=1500)
    assert {node.node: node.last for node in plan.nodes} == {"spark-1": True, "spark-2": False}
    assert any("changed last" in warning for warning in plan.warnings)


def test_a_desktop_on_the_fabric_makes_its_machine_last() -> None:
    facts = {m.name: m.facts for m in sparks(3, switch(3))}
    facts["spark-3"] = dataclasses.replace(
        facts["spark-3"], session=SessionRoute("10.9.0.9", "10.9.0.3", "enp1s0f1np1")
    )
    plan = plan_of(make_members(facts), switch(3))
    assert {node.node: node.last for node in plan.nodes} == {"spark-1": False, "spark-2": False, "spark-3": True}


# --- refusals ---


def test_a_chain_is_no_ring_and_the_missing_cable_is_named() -> None:
    with pytest.raises(PlanRefused, match="do not make a ring") as caught:
        plan_of(sparks(4, chain(4)), chain(4), wanted=TopologyKind.RING)
    assert "is not connected to" in caught.value.why and "Plug a cable" in caught.value.remedy


def test_no_cable_is_refused_with_the_reason() -> None:
    with pytest.raises(PlanRefused, match="no node hears another one"):
        plan_of(sparks(2), [])


def test_two_machines_may_be_planned_as_on_a_switch() -> None:
    plan = plan_of(sparks(2, PAIR), PAIR, wanted=TopologyKind.SWITCH)
    assert plan.topology == "switch"
    assert plan.nodes[0].rows[0].peer == "switch"


@pytest.mark.parametrize("mtu", [0, 576, 99999])
def test_an_impossible_mtu_is_refused(mtu: int) -> None:
    with pytest.raises(BadInput):
        plan_of(sparks(2, PAIR), PAIR, mtu=mtu)
