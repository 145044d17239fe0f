"""Set-ups as NVIDIA's playbooks and other tools write them: recognised, adopted, or put right where they harm."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fixtures.planning import PAIR, plan_of, with_files
from fixtures.wires import Segment, cable, ring, sparks, switch
from stellwerk.model.plan import Plan

FILES = Path(__file__).parents[2] / "fixtures" / "netplan"


def nvidia(name: str, count: int) -> dict[int, str]:
    return {n: (FILES / f"nvidia_{name}_node{n}.yaml").read_text() for n in range(1, count + 1)}


def plan_on(files: dict[int, str], wiring: Sequence[Segment], **options: object) -> Plan:
    mgmt = options.pop("mgmt_net", "192.168.50")
    return plan_of(with_files(sparks(len(files), wiring, mgmt_net=mgmt), files), wiring, **options)


def mesh(number: int, p0: tuple[str, str], p1: tuple[str, str]) -> str:
    """The keys that a well-known community tool writes, MTU 9000 and no link-local addresses."""
    lines = ["network:", "  version: 2", "  ethernets:"]
    for netdev, net in zip(("enp1s0f0np0", "enP2p1s0f0np0", "enp1s0f1np1", "enP2p1s0f1np1"), (*p0, *p1), strict=True):
        lines += [f"    {netdev}:", "      dhcp4: no", "      dhcp6: no", "      link-local: []", "      mtu: 9000"]
        lines += [f"      addresses: [192.168.{net}.1{number}/24]"]
    return "\n".join(lines) + "\n"


def test_a_pair_of_the_playbook_is_adopted() -> None:
    plan = plan_on(nvidia("two_static", 2), PAIR)
    assert plan.empty
    assert plan.notes[0] == "Nothing to change: every node is as planned."
    assert any("9000 gives larger RDMA packets" in note for note in plan.notes)


def test_a_switch_of_the_playbook_is_adopted() -> None:
    assert plan_on(nvidia("switch_static", 4), switch(4)).empty


def test_a_ring_of_the_playbook_is_adopted_with_a_warning_about_home_routers() -> None:
    plan = plan_on(nvidia("three_ring_static", 3), ring(3))
    assert plan.empty
    assert any("192.168.1.0/24" in warning and "home routers" in warning for warning in plan.warnings)


def test_a_ring_of_the_playbook_in_a_home_lan_that_it_collides_with_is_put_right() -> None:
    plan = plan_on(nvidia("three_ring_static", 3), ring(3), mgmt_net="192.168.1")
    moved = {row.netdev: row for node in plan.nodes for row in node.rows if "overlaps 192.168.1.0/24" in row.why}
    assert set(moved) == {"enP2p1s0f0np0", "enP2p1s0f1np1"}
    assert all((row.then or "").startswith("10.100.") for row in moved.values())
    kept = [row for node in plan.nodes for row in node.rows if row.netdev == "enp1s0f0np0"]
    assert all(row.then in row.now for row in kept)


def test_a_mesh_of_three_by_a_community_tool_is_adopted() -> None:
    files = {
        1: mesh(1, ("177", "178"), ("187", "188")),
        2: mesh(2, ("197", "198"), ("177", "178")),
        3: mesh(3, ("187", "188"), ("197", "198")),
    }
    # 178 is also what a German router hands out: adopted, and said.
    plan = plan_on(files, ring(3))
    assert plan.empty and not any("1500" in note for note in plan.notes)
    assert any("192.168.178.0/24" in warning for warning in plan.warnings)


def test_cables_that_were_swapped_after_the_set_up_are_seen_as_other_subnets() -> None:
    files = {
        1: mesh(1, ("177", "179"), ("187", "189")),
        2: mesh(2, ("197", "199"), ("177", "179")),
        3: mesh(3, ("187", "189"), ("197", "199")),
    }
    # Machine 1 is turned round: its port 0 now meets machine 3, its port 1 machine 2.
    turned = [cable((1, 1), (2, 1)), cable((2, 0), (3, 1)), cable((3, 0), (1, 0))]
    plan = plan_on(files, turned)
    assert not plan.empty
    reasons = [row.why for node in plan.nodes for row in node.rows if row.changed]
    assert reasons and all("is not the subnet of the other end" in why for why in reasons if why)
    unchanged = {node.node for node in plan.nodes if not any(row.changed for row in node.rows)}
    assert len(unchanged) >= 1


@pytest.mark.parametrize("name", ["nvidia_two_linklocal.yaml", "nvidia_switch_linklocal.yaml"])
def test_link_local_addresses_are_replaced(name: str) -> None:
    text = (FILES / name).read_text()
    plan = plan_on({1: text, 2: text}, PAIR)
    assert not plan.empty
    assert all(node.changes for node in plan.nodes)
    removed = [c for c in plan.nodes[0].changes if c.kind == "file" and getattr(c, "path", "").endswith("40-cx7.yaml")]
    assert len(removed) == 1
