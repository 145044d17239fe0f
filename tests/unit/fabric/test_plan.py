"""Plans: whole, idempotent, and with the reason for everything they change."""

from __future__ import annotations

import dataclasses
import shutil
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.machines import change_device, spark
from fixtures.nodes import apply
from fixtures.planning import CASES, PAIR, file_changes, plan_of, size, with_files
from fixtures.wires import Segment, cable, ring, sparks
from stellwerk.fabric.members import Member, make_members
from stellwerk.fabric.netplan import OWN_PATH
from stellwerk.fabric.settings import SYSCTL_PATH
from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.facts import Neighbour, NetplanFile
from stellwerk.model.plan import FileChange, SysctlChange
from unit.fabric.test_netplan import netplan_accepts


def by_hand(number: int, *, mtu: int | None = None, nets: tuple[str, str] = ("192.168.100", "192.168.101")) -> str:
    lines = ["network:", "  version: 2", "  ethernets:"]
    for netdev, net in zip(("enp1s0f1np1", "enP2p1s0f1np1"), nets, strict=True):
        lines += [f"    {netdev}:", "      dhcp4: no", f"      addresses: [{net}.{9 + number}/24]"]
        lines += [f"      mtu: {mtu}"] if mtu else []
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(("kind", "wiring"), CASES)
def test_a_plan_once_applied_leaves_nothing_to_change(kind: str, wiring: list[Segment]) -> None:
    members = sparks(size(wiring), wiring)
    plan = plan_of(members, wiring)
    assert plan.topology == kind
    assert all(node.changes for node in plan.nodes)
    again = plan_of(apply(members, plan), wiring)
    assert again.empty
    assert again.notes[0] == "Nothing to change: every node is as planned."
    assert not any(row.changed for node in again.nodes for row in node.rows)


@pytest.mark.parametrize(("kind", "wiring"), CASES)
def test_every_machine_reaches_every_address_after_the_plan(kind: str, wiring: list[Segment]) -> None:
    members = sparks(size(wiring), wiring)
    members = apply(members, plan_of(members, wiring))
    devices = [(member, device) for member in members for device in member.facts.netdevs]
    owner = {a.split("/")[0]: m for m, d in devices for a in d.addresses if a.startswith("10.100")}

    def next_hop(member: Member, target: str) -> Member | None:
        routes = [r for r in member.facts.routes if r.destination != "default"]
        fit = [r for r in routes if ip_address(target) in ip_network(r.destination)]
        best = max(fit, key=lambda r: ip_network(r.destination).prefixlen, default=None)
        if best is None:
            return None
        return owner.get(best.via or target)

    def arrives(member: Member, target: str) -> bool:
        here: Member | None = member
        for _ in range(len(members)):
            if here is None or here.name == owner[target].name:
                break
            here = next_hop(here, target)
        return here is not None and here.name == owner[target].name

    for member in members:
        for goal in members:
            reached = [arrives(member, target) for target, its in owner.items() if its.name == goal.name]
            # In a ring of three all are neighbours, and the far side of a neighbour needs no route.
            assert any(reached) if wiring == ring(3) else all(reached), (member.name, goal.name)


@pytest.mark.parametrize(("kind", "wiring"), CASES)
@pytest.mark.skipif(shutil.which("netplan") is None, reason="netplan is not installed")
def test_netplan_accepts_the_files_of_every_topology(
    kind: str, wiring: list[Segment], tmp_path_factory: pytest.TempPathFactory
) -> None:
    members = sparks(size(wiring), wiring)
    member = apply(members, plan_of(members, wiring))[-1]
    files = {file.path: file.text or "" for file in member.facts.netplan}
    assert netplan_accepts(tmp_path_factory.mktemp("root"), files) == ""


def test_the_plan_of_a_pair_in_full() -> None:
    members = sparks(2, PAIR)
    plan = plan_of(members, PAIR)
    node = plan.nodes[0]
    files = file_changes(plan)
    assert set(files) == {OWN_PATH, SYSCTL_PATH}
    assert files[OWN_PATH].before is None and files[OWN_PATH].mode == 0o600
    assert "renderer" not in (files[OWN_PATH].after or "") and "optional: true" in (files[OWN_PATH].after or "")
    assert files[SYSCTL_PATH].mode == 0o644
    sysctls = {change.key: change.after for change in node.changes if isinstance(change, SysctlChange)}
    assert sysctls == {
        "net.ipv4.conf.enp1s0f1np1.arp_ignore": "1",
        "net.ipv4.conf.enp1s0f1np1.arp_announce": "2",
        "net.ipv4.conf.enP2p1s0f1np1.arp_ignore": "1",
        "net.ipv4.conf.enP2p1s0f1np1.arp_announce": "2",
    }
    assert node.reconfigure == ("enp1s0f1np1", "enP2p1s0f1np1")
    assert node.expect_addresses == (("enp1s0f1np1", "10.100.0.1/24"), ("enP2p1s0f1np1", "10.100.1.1/24"))
    assert node.expect_mtu == (("enp1s0f1np1", 9000), ("enP2p1s0f1np1", 9000))
    assert node.peers == (("enp1s0f1np1", "10.100.0.2"), ("enP2p1s0f1np1", "10.100.1.2"))
    row = node.rows[0]
    assert (row.port, row.half, row.now, row.then) == (1, "A", (), "10.100.0.1/24")
    assert (row.mtu_now, row.mtu_then, row.peer, row.why) == (1500, 9000, "spark-2 port 1", "it has no address")
    assert not plan.empty and not node.last


def test_one_machine_has_an_empty_plan() -> None:
    plan = plan_of(sparks(1), [])
    assert plan.empty and plan.nodes == () and plan.topology == "single"


# --- adoption ---


def test_a_pair_set_up_by_hand_is_adopted_with_an_offer() -> None:
    members = with_files(sparks(2, PAIR), {1: by_hand(1), 2: by_hand(2)})
    plan = plan_of(members, PAIR)
    assert plan.empty
    assert "spark-1: nothing to change, set up in 40-cx7.yaml." in plan.notes
    assert any("1500 everywhere" in note for note in plan.notes)
    assert [row.then for row in plan.nodes[0].rows] == ["192.168.100.10/24", "192.168.101.10/24"]


def test_the_offer_of_jumbo_frames_can_be_taken() -> None:
    members = with_files(sparks(2, PAIR), {1: by_hand(1), 2: by_hand(2)})
    plan = plan_of(members, PAIR, mtu=9000)
    files = file_changes(plan)
    assert files["/etc/netplan/40-cx7.yaml"].after is None
    assert "192.168.100.10/24" in (files[OWN_PATH].after or "")
    assert plan_of(apply(members, plan), PAIR).empty


def test_a_cluster_of_sync_with_9000_is_adopted() -> None:
    files = {n: by_hand(n, mtu=9000, nets=("10.100.16", "10.100.17")) for n in (1, 2)}
    plan = plan_of(with_files(sparks(2, PAIR), files, "/etc/netplan/99-nvidia-sync-cluster.yaml"), PAIR)
    assert plan.empty
    assert not any("1500" in note for note in plan.notes)


def test_one_adopted_and_one_bare_machine_change_only_the_bare_one() -> None:
    members = with_files(sparks(2, PAIR), {1: by_hand(1, mtu=9000)})
    plan = plan_of(members, PAIR)
    assert plan.nodes[0].changes == () and plan.nodes[1].changes
    assert plan.nodes[1].rows[0].then == "192.168.100.2/24"


def test_addresses_set_by_hand_without_a_file_are_made_to_last() -> None:
    live = {"enp1s0f1np1": "10.7.0.1/24", "enP2p1s0f1np1": "10.7.1.1/24"}
    members = make_members(
        {
            f"spark-{n}": spark(
                n, up=(1,), addresses={k: v.replace(".1/24", f".{n}/24") for k, v in live.items()}, mtu=9000
            )
            for n in (1, 2)
        }
    )
    plan = plan_of(members, PAIR)
    assert "10.7.0.1/24" in (file_changes(plan)[OWN_PATH].after or "")
    assert "gone after a restart" in plan.nodes[0].rows[0].why


def test_twins_in_one_subnet_are_parted_and_the_reason_is_said() -> None:
    files = {n: by_hand(n, nets=("192.168.200", "192.168.200")).replace(f".{9 + n}/", f".{11 + n}/", 1) for n in (1, 2)}
    members = with_files(sparks(2, PAIR), files)
    plan = plan_of(members, PAIR)
    rows = plan.nodes[0].rows
    assert rows[0].then == "192.168.200.12/24" and rows[1].then == "10.100.0.1/24"
    assert "one subnet for two links confuses routing" in rows[1].why
    assert plan_of(apply(members, plan), PAIR).empty


# --- drift ---


def test_an_mtu_that_was_reset_is_put_back_by_the_same_file() -> None:
    members = sparks(2, PAIR)
    members = apply(members, plan_of(members, PAIR))
    facts = {m.name: m.facts for m in members}
    facts["spark-2"] = change_device(facts["spark-2"], "enP2p1s0f1np1", mtu=1500)
    members = make_members(facts)
    plan = plan_of(members, PAIR)
    assert plan.nodes[0].changes == ()
    (change,) = plan.nodes[1].changes
    assert isinstance(change, FileChange) and change.before == change.after
    assert plan.nodes[1].reconfigure == ("enP2p1s0f1np1",)
    assert plan.nodes[1].rows[1].why == "its MTU is 1500"
    assert plan_of(apply(members, plan), PAIR).empty


def test_arp_settings_that_were_lost_are_set_again() -> None:
    members = sparks(2, PAIR)
    members = apply(members, plan_of(members, PAIR))
    facts = {m.name: m.facts for m in members}
    facts["spark-1"] = change_device(facts["spark-1"], "enp1s0f1np1", arp_ignore=0)
    plan = plan_of(make_members(facts), PAIR)
    assert [change.key for change in plan.nodes[0].changes if isinstance(change, SysctlChange)] == [
        "net.ipv4.conf.enp1s0f1np1.arp_ignore"
    ]


def test_arp_flux_on_an_adopted_machine_brings_the_settings() -> None:
    members = with_files(sparks(2, PAIR), {1: by_hand(1, mtu=9000), 2: by_hand(2, mtu=9000)})
    wrong_mac = members[1].ports[0].halves[1].netdev.mac  # the twin's
    facts = {m.name: m.facts for m in members}
    facts["spark-1"] = dataclasses.replace(
        facts["spark-1"], neighbours=(Neighbour("192.168.100.11", "enp1s0f1np1", wrong_mac, "REACHABLE"),)
    )
    plan = plan_of(make_members(facts), PAIR)
    kinds = {change.kind for change in plan.nodes[0].changes}
    assert kinds == {"sysctl", "file"} and OWN_PATH not in file_changes(plan)


def test_a_port_that_is_no_longer_used_is_taken_out_of_our_file() -> None:
    members = sparks(2, PAIR)
    members = apply(members, plan_of(members, PAIR))
    moved = [cable((1, 0), (2, 0))]
    facts = {
        m.name: change_device(change_device(m.facts, "enp1s0f1np1", carrier=False), "enP2p1s0f1np1", carrier=False)
        for m in members
    }
    members = make_members(facts)
    plan = plan_of(members, moved)
    node = plan.nodes[0]
    assert set(node.reconfigure) == {"enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1", "enP2p1s0f1np1"}
    assert "f1np1" not in (file_changes(plan)[OWN_PATH].after or "")
    assert [row.then for row in node.rows if row.port == 1] == [None, None]
    assert plan_of(apply(members, plan), moved).empty


# --- foreign files ---


def test_the_management_interface_in_the_same_file_stays_byte_for_byte() -> None:
    foreign = "network:\n  ethernets:\n    enP7s7:  # LAN\n      dhcp4: true\n    enp1s0f1np1: {dhcp4: true}\n"
    members = with_files(sparks(2, PAIR), {1: foreign})
    plan = plan_of(members, PAIR)
    change = file_changes(plan)["/etc/netplan/40-cx7.yaml"]
    assert change.after == "network:\n  ethernets:\n    enP7s7:  # LAN\n      dhcp4: true\n"
    assert plan.nodes[0].rows[0].why == "its address comes by DHCP and may change"
    assert plan_of(apply(members, plan), PAIR).empty


def test_a_profile_of_network_manager_for_our_half_is_taken_over() -> None:
    foreign = (
        "network:\n  version: 2\n  ethernets:\n    NM-123:\n      renderer: NetworkManager\n      match:\n"
        '        name: "enp1s0f1np1"\n      dhcp4: true\n      networkmanager:\n        uuid: "123"\n'
    )
    members = with_files(sparks(2, PAIR), {1: foreign}, "/etc/netplan/90-NM-123.yaml")
    plan = plan_of(members, PAIR)
    assert file_changes(plan)["/etc/netplan/90-NM-123.yaml"].after is None


@pytest.mark.parametrize(
    ("stanza", "why"),
    [
        ("ethernets: {all: {match: {name: 'en*'}, dhcp4: true}}", "fits other interfaces"),
        (
            "ethernets: {f: {match: {macaddress: '3c:6d:66:00:01:01'}, set-name: enp1s0f1np1}}",
            "gives the interface its name",
        ),
        ("bonds: {bond0: {interfaces: [enp1s0f1np1]}}", "it is part of bonds.bond0"),
    ],
)
def test_what_cannot_be_taken_over_is_refused_with_the_file_and_the_reason(stanza: str, why: str) -> None:
    members = with_files(sparks(2, PAIR), {1: f"network: {{version: 2, {stanza}}}\n"})
    with pytest.raises(PlanRefused, match=r"spark-1: /etc/netplan/40-cx7\.yaml") as caught:
        plan_of(members, PAIR)
    assert why in caught.value.why and "by hand" in caught.value.remedy


def test_garbage_in_a_netplan_file_names_machine_and_file() -> None:
    facts = {m.name: m.facts for m in sparks(2, PAIR)}
    bad = NetplanFile("/etc/netplan/50-bad.yaml", 0o600, "network: {")
    facts["spark-2"] = dataclasses.replace(facts["spark-2"], netplan=(bad,))
    with pytest.raises(BadInput, match=r"spark-2: /etc/netplan/50-bad\.yaml line \d"):
        plan_of(make_members(facts), PAIR)


def test_settings_of_a_foreign_file_that_would_go_are_said() -> None:
    foreign = "network: {ethernets: {enp1s0f1np1: {ipv6-privacy: true, nameservers: {addresses: [1.1.1.1]}}}}\n"
    plan = plan_of(with_files(sparks(2, PAIR), {1: foreign}), PAIR)
    assert any("ipv6-privacy, nameservers" in warning for warning in plan.warnings)


def test_files_that_cannot_be_read_refuse_a_change_but_not_an_adoption() -> None:
    unread = NetplanFile("/etc/netplan/40-cx7.yaml", 0o600, None, "needs sudo")
    facts = {m.name: dataclasses.replace(m.facts, netplan=(unread,)) for m in sparks(2, PAIR)}
    with pytest.raises(PlanRefused, match="sudo password"):
        plan_of(make_members(facts), PAIR)
    right = {}
    for n in (1, 2):
        live = {"enp1s0f1np1": f"10.7.0.{n}/24", "enP2p1s0f1np1": f"10.7.1.{n}/24"}
        right[f"spark-{n}"] = spark(n, up=(1,), addresses=live, mtu=9000, netplan=(unread,))
    plan = plan_of(make_members(right), PAIR)
    assert plan.empty
    assert any("could not be read without sudo" in note for note in plan.notes)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(CASES), st.sampled_from([None, 1500, 9000]), st.data())
def test_any_plan_applied_twice_is_empty(case: tuple[str, list[Segment]], mtu: int | None, data: st.DataObject) -> None:
    """Whatever files were there before: one plan puts it right, the second finds nothing."""
    _, wiring = case
    members: Sequence[Member] = sparks(size(wiring), wiring)
    stanza = st.sampled_from(
        [
            "{dhcp4: true}",
            "{addresses: [10.3.1.9/24]}",
            "{link-local: [ipv4]}",
            "{mtu: 9000}",
            "{addresses: [10.100.0.7/24]}",
        ]
    )
    files = {
        member.number: "network:\n  ethernets:\n"
        + "".join(f"    {name}: {data.draw(stanza)}\n" for port in member.ports for name in port.netdevs)
        for member in members
        if data.draw(st.booleans())
    }
    members = with_files(members, files)
    plan = plan_of(members, wiring, mtu=mtu)
    again = plan_of(apply(members, plan), wiring, mtu=mtu)
    assert again.empty, [change for node in again.nodes for change in node.changes]
