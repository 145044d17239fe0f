"""Ports and halves: grouped by cage, whatever the names."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.machines import HALVES, change_device, pc, spark
from stellwerk.fabric.members import make_members, number_nodes
from stellwerk.fabric.ports import find_ports
from stellwerk.model.facts import NetDevice, NodeFacts, RdmaDevice, Route, SessionRoute


def shape(facts: NodeFacts) -> dict[int, list[tuple[str, str, str | None]]]:
    return {
        port.number: [(half.label, half.netdev.name, half.rdma.name if half.rdma else None) for half in port.halves]
        for port in find_ports(facts).ports
    }


SPARK_SHAPE = {
    0: [("A", "enp1s0f0np0", "rocep1s0f0"), ("B", "enP2p1s0f0np0", "roceP2p1s0f0")],
    1: [("A", "enp1s0f1np1", "rocep1s0f1"), ("B", "enP2p1s0f1np1", "roceP2p1s0f1")],
}


def test_a_spark_has_two_ports_with_two_halves_each() -> None:
    assert shape(spark(1)) == SPARK_SHAPE


def test_management_radio_and_bridge_are_left_out_with_a_reason() -> None:
    ports = find_ports(spark(1))
    reasons = {entry.netdev: entry.why for entry in ports.excluded}
    assert ports.management == "enP7s7"
    assert reasons["enP7s7"] == "it carries the default route"
    assert "radio" in reasons["wlP9s9"]
    assert "bridge" in reasons["docker0"]


@given(
    st.permutations(range(8)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_grouping_survives_any_order_and_any_single_source_of_truth(
    order: list[int], switch_id: bool, port_name: bool, pci: bool
) -> None:
    facts = spark(1)
    devices = []
    for device in facts.netdevs:
        if device.pci_vendor == "0x15b3":
            device = dataclasses.replace(
                device,
                phys_switch_id=device.phys_switch_id if switch_id else None,
                phys_port_name=device.phys_port_name if port_name else None,
                pci_address=device.pci_address if pci else None,
            )
        devices.append(device)
    facts = dataclasses.replace(facts, netdevs=tuple(devices[i] for i in order))
    assert shape(facts) == SPARK_SHAPE


@pytest.mark.parametrize("kept", ["phys", "pci"])
def test_renamed_interfaces_are_still_grouped(kept: str) -> None:
    facts = spark(1)
    new = {name: f"fabric{i}" for i, (name, *_rest) in enumerate(HALVES)}
    devices = tuple(
        dataclasses.replace(
            device,
            name=new[device.name],
            phys_port_name=device.phys_port_name if kept == "phys" else None,
            phys_switch_id=device.phys_switch_id if kept == "phys" else None,
        )
        if device.name in new
        else device
        for device in facts.netdevs
    )
    rdma = tuple(dataclasses.replace(r, name=f"mlx5_{i}", netdev=new[r.netdev or ""]) for i, r in enumerate(facts.rdma))
    ports = find_ports(dataclasses.replace(facts, netdevs=devices, rdma=rdma)).ports
    assert [port.netdevs for port in ports] == [("fabric0", "fabric2"), ("fabric1", "fabric3")]


def test_a_name_without_a_function_number_is_understood() -> None:
    devices = (
        NetDevice("enp1s1np1", driver="mlx5_core", pci_vendor="0x15b3"),
        NetDevice("enP2p1s1np1", driver="mlx5_core", pci_vendor="0x15b3"),
    )
    rdma = (RdmaDevice("rocep1s1", "enp1s1np1"), RdmaDevice("roceP2p1s1", "enP2p1s1np1"))
    facts = dataclasses.replace(spark(1), netdevs=devices, rdma=rdma)
    assert shape(facts) == {1: [("A", "enp1s1np1", "rocep1s1"), ("B", "enP2p1s1np1", "roceP2p1s1")]}


def test_two_cards_of_a_server_are_not_twins() -> None:
    def card(domain: str, switch: str) -> list[NetDevice]:
        return [
            NetDevice(
                f"en{domain}f{f}",
                driver="mlx5_core",
                pci_vendor="0x15b3",
                pci_address=f"{domain}:01:00.{f}",
                phys_port_name=f"p{f}",
                phys_switch_id=switch,
            )
            for f in (0, 1)
        ]

    facts = dataclasses.replace(pc(1), netdevs=tuple(card("0000", "aa") + card("0002", "bb")))
    ports = find_ports(facts).ports
    assert [len(port.halves) for port in ports] == [1, 1, 1, 1]
    assert [port.number for port in ports] == [0, 1, 2, 3]


def test_halves_of_one_card_in_other_slots_are_found_by_their_switch_id() -> None:
    facts = spark(1)
    for name, pci in (("enP2p1s0f0np0", "0003:41:00.0"), ("enP2p1s0f1np1", "0003:41:00.1")):
        facts = change_device(facts, name, pci_address=pci)
    assert shape(facts) == SPARK_SHAPE


def test_an_ordinary_pc_has_one_port_with_one_half() -> None:
    ports = find_ports(pc(1))
    assert [(port.number, port.netdevs) for port in ports.ports] == [(0, ("enp4s0",))]
    assert {entry.netdev for entry in ports.excluded} == {"lo", "enp3s0", "wg0"}


def test_a_machine_without_a_free_port_says_so() -> None:
    facts = dataclasses.replace(pc(1), netdevs=tuple(d for d in pc(1).netdevs if d.name != "enp4s0"))
    ports = find_ports(facts)
    assert ports.ports == ()
    assert ports.note == "no ConnectX and no other free network port"


def test_a_session_over_the_fabric_keeps_the_port() -> None:
    facts = dataclasses.replace(spark(1), session=SessionRoute("10.100.0.9", "10.100.0.1", "enp1s0f0np0"))
    assert shape(facts) == SPARK_SHAPE


def test_a_fabric_half_with_the_best_default_route_is_management() -> None:
    facts = dataclasses.replace(
        spark(1), routes=(Route("default", "enp1s0f1np1", metric=50), Route("default", "enP7s7", metric=100))
    )
    ports = find_ports(facts)
    assert ports.management == "enp1s0f1np1"
    assert "enp1s0f1np1" not in [name for port in ports.ports for name in port.netdevs]


def test_part_of_a_bond_is_no_port() -> None:
    facts = change_device(spark(1), "enp1s0f0np0", master="bond0")
    assert {entry.netdev: entry.why for entry in find_ports(facts).excluded}["enp1s0f0np0"] == "it is part of bond0"


def test_virtual_functions_are_no_ports() -> None:
    vf = NetDevice("enp1s0f0v0", driver="mlx5_core", pci_vendor="0x15b3", pci_address="0000:01:00.2")
    facts = dataclasses.replace(spark(1), netdevs=(*spark(1).netdevs, vf))
    assert shape(facts) == SPARK_SHAPE


@given(st.lists(st.sampled_from(["spark-1", "spark-2", "spark-3", "a", "b", "head", "node07"]), unique=True))
def test_numbers_are_distinct_and_stay(names: list[str]) -> None:
    first = number_nodes(names, {})
    assert len(set(first.values())) == len(names)
    again = number_nodes([*names, "new"], first)
    assert {name: again[name] for name in names} == first
    for name, number in first.items():
        if name.startswith("spark-"):
            assert number == int(name[-1])


def test_members_come_in_order_of_their_numbers() -> None:
    for order in itertools.permutations([1, 2, 3]):
        members = make_members({f"spark-{n}": spark(n) for n in order})
        assert [member.name for member in members] == ["spark-1", "spark-2", "spark-3"]
