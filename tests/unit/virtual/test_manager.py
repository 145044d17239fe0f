"""Profiles and their activation: what NetworkManager does to a simulated node."""

from __future__ import annotations

import asyncio

import pytest

from stellwerk.virtual import hardware
from stellwerk.virtual.manager import Manager
from stellwerk.virtual.netplan import EthernetConfig, NetplanConfig, RouteConfig
from stellwerk.virtual.network import NodeNetwork

HALF = "enp1s0f1np1"


def make(**config: EthernetConfig) -> tuple[Manager, NodeNetwork, list[str]]:
    network = NodeNetwork(hardware.spark(1), lambda key: 0)
    for name in (HALF, hardware.MANAGEMENT):
        network.interfaces[name].carrier = True
    changes: list[str] = []
    manager = Manager(network, lambda: changes.append("changed"))
    manager.generated = NetplanConfig("NetworkManager", {HALF: EthernetConfig(HALF, **config)} if config else {})  # type: ignore[arg-type]
    manager.reload()
    return manager, network, changes


def cidrs(network: NodeNetwork, name: str) -> list[str]:
    return [str(entry) for entry in network.interfaces[name].addresses4]


def test_a_stock_spark_has_its_lan_by_dhcp_and_only_link_local_addresses_on_the_fabric() -> None:
    manager, network, _ = make()
    manager.bring_up_all()
    assert cidrs(network, hardware.MANAGEMENT) == ["192.168.178.21/24"]
    assert cidrs(network, HALF) == []
    assert network.interfaces[HALF].link_local6 == "fe80::3e6d:66ff:fe01:b3b1"
    assert [str(r.destination) for r in network.routes() if r.via] == ["0.0.0.0/0"]
    assert manager.active[HALF].name.startswith("Wired connection ")


async def test_addresses_vanish_for_a_moment_when_an_interface_is_configured_anew() -> None:
    manager, network, changes = make(
        addresses=("10.0.0.1/24",), mtu=9000, routes=(RouteConfig("10.9.0.0/24", "10.0.0.2"),)
    )
    manager.bring_up_all()
    profile = manager.profile_for(HALF)
    assert profile is not None
    assert (cidrs(network, HALF), network.interfaces[HALF].mtu) == (["10.0.0.1/24"], 9000)
    task = asyncio.create_task(manager.activated(profile))
    while HALF in manager.active:
        await asyncio.sleep(0)
    assert cidrs(network, HALF) == []
    assert not [r for r in network.routes() if r.device == HALF]
    assert await task
    assert cidrs(network, HALF) == ["10.0.0.1/24"]
    assert [str(r.destination) for r in network.routes() if r.device == HALF] == ["10.0.0.0/24", "10.9.0.0/24"]
    assert len(changes) >= 3


async def test_a_newer_activation_takes_over_and_the_older_one_says_so() -> None:
    manager, network, _ = make(addresses=("10.0.0.1/24",))
    manager.bring_up_all()
    profile = manager.profile_for(HALF)
    assert profile is not None
    first = asyncio.create_task(manager.activated(profile))
    await asyncio.sleep(0)
    second = asyncio.create_task(manager.activated(profile))
    assert await asyncio.gather(first, second) == [False, True]
    assert cidrs(network, HALF) == ["10.0.0.1/24"]


@pytest.mark.parametrize("families", [(), ("ipv6",), ("ipv4",), ("ipv4", "ipv6")])
def test_link_local_addresses_are_there_as_netplan_says(families: tuple[str, ...]) -> None:
    manager, network, _ = make(link_local=families)  # type: ignore[arg-type]
    manager.bring_up_all()
    interface = network.interfaces[HALF]
    assert (interface.link_local6 is not None) == ("ipv6" in families)
    assert any(str(a).startswith("169.254.") for a in interface.addresses4) == ("ipv4" in families)


def test_without_a_cable_nothing_is_configured_until_one_comes() -> None:
    manager, network, _ = make(addresses=("10.0.0.1/24",))
    network.interfaces[HALF].carrier = False
    manager.bring_up_all()
    assert cidrs(network, HALF) == []
    network.interfaces[HALF].carrier = True
    manager.carrier_came(HALF)
    assert cidrs(network, HALF) == ["10.0.0.1/24"]
