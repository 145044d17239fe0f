"""Faults of cables, links, addresses and netplan files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import yaml

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say
from stellwerk.virtual import hardware
from stellwerk.virtual.cables import End
from stellwerk.virtual.machine import Machine

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster

SLOW_HALF_GBPS = 13.0
TWINS_FILE = "40-cx7.yaml"
NO_LINK_LOCAL_FILE = "41-no-link-local.yaml"
FOREIGN_FILE = "99-fastlink.yaml"


def _end(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> End:
    """The port that a fault is about: the one named, else the first that has a cable."""
    if "port" in parameters:
        port = int(parameters["port"])
        if port not in hardware.PORTS:
            raise BadInput(
                say("{machine} has no port {port}", machine=machine.name, port=port), remedy="ports are 0 and 1"
            )
        return End(machine.name, port)
    for port in hardware.PORTS:
        if cluster.cables.segment_of(End(machine.name, port)) is not None:
            return End(machine.name, port)
    raise BadInput(say("{machine} has no cable", machine=machine.name))


async def unplug(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Take the cable out."""
    end = _end(cluster, machine, parameters)
    try:
        cluster.pulled[end] = cluster.cables.unplug(end)
    except ValueError as error:
        raise BadInput(str(error)) from None
    cluster.network_changed()


async def replug(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Put every cable that was pulled out of this node back, where its ports are still free."""
    for end in [end for end in cluster.pulled if end.node == machine.name]:
        segment = cluster.pulled.pop(end)
        try:
            if segment.kind == "switch":
                cluster.cables.join(segment.name, end)
            else:
                restored = cluster.cables.plug(*segment.ends)
                restored.speed_mbps = segment.speed_mbps
        except ValueError as error:
            raise BadInput(str(error), remedy="unplug the other cable first") from None
    cluster.network_changed()


async def swap_ports(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Exchange what is in the node's two ports. Done twice, all is as before."""
    first, second = (End(machine.name, port) for port in hardware.PORTS)
    segments = cluster.cables.segment_of(first), cluster.cables.segment_of(second)
    if segments == (None, None):
        raise BadInput(say("{machine} has no cable", machine=machine.name))
    for segment, here, there in ((segments[0], first, second), (segments[1], second, first)):
        if segment is not None:
            segment.ends[segment.ends.index(here)] = there
            if segment.kind == "cable":
                segment.name = "--".join(str(end) for end in segment.ends)
    cluster.network_changed()


async def slow_link(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """100 Gb/s."""
    _set_speed(cluster, machine, parameters, 100_000)


async def fast_link(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """200 Gb/s again."""
    _set_speed(cluster, machine, parameters, hardware.LINK_SPEED_MBPS)


def _set_speed(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any], speed_mbps: int) -> None:
    segment = cluster.cables.segment_of(_end(cluster, machine, parameters))
    if segment is None:
        raise BadInput(say("nothing is plugged into {cluster}", cluster=_end(cluster, machine, parameters)))
    segment.speed_mbps = speed_mbps
    cluster.network_changed()


async def silence_switch(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """No LLDP any more."""
    cluster.silent_switches.add(_switch(cluster, machine, parameters))


async def let_switch_speak(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """LLDP again."""
    cluster.silent_switches.discard(_switch(cluster, machine, parameters))


def _switch(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> str:
    end = _end(cluster, machine, parameters)
    segment = cluster.cables.segment_of(end)
    if segment is None or segment.kind != "switch":
        raise BadInput(say("{end} hangs on no switch", end=end))
    return segment.name


def _half(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> tuple[str, str]:
    label = str(parameters.get("half", "B")).upper()
    port = _end(cluster, machine, parameters).port
    for half in machine.hardware.port_halves(port):
        if half.label == label:
            return machine.name, half.netdev
    raise BadInput(say("a port has no half {label}", label=repr(label)), remedy="halves are A and B")


async def slow_half(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """13 Gb/s. Nothing but a measurement shows it."""
    cluster.load.half_limit_gbps[_half(cluster, machine, parameters)] = SLOW_HALF_GBPS
    cluster.network_changed()


async def fast_half(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """As it should be."""
    cluster.load.half_limit_gbps.pop(_half(cluster, machine, parameters), None)
    cluster.network_changed()


async def reset_mtu(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """The live MTU falls back; the files still say what they said."""
    for name in hardware.FABRIC_NETDEVS:
        machine.network.interfaces[name].mtu = 1500
    cluster.network_changed()


async def restore_mtu(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """What the interfaces' profiles say."""
    for name in hardware.FABRIC_NETDEVS:
        profile = machine.manager.active.get(name)
        if profile is not None and profile.config.mtu:
            machine.network.interfaces[name].mtu = profile.config.mtu
    cluster.network_changed()


async def _write_netplan(machine: Machine, name: str, ethernets: dict[str, Any]) -> None:
    text = yaml.safe_dump({"network": {"version": 2, "ethernets": ethernets}}, sort_keys=False)
    path = f"/etc/netplan/{name}"
    machine.tree.forget(path)
    machine.tree.put(path, text, 0o600)
    await machine.apply_netplan()


async def _remove_netplan(machine: Machine, name: str) -> None:
    machine.tree.path(f"/etc/netplan/{name}").unlink(missing_ok=True)
    machine.tree.forget(f"/etc/netplan/{name}")
    await machine.apply_netplan()


async def twins_one_subnet(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """As several of NVIDIA's own scripts write it: .10 to .17 on one half, four more on its twin."""
    ethernets: dict[str, Any] = {}
    for port in hardware.PORTS:
        if cluster.cables.segment_of(End(machine.name, port)) is None:
            continue
        for half in machine.hardware.port_halves(port):
            host = 9 + machine.hardware.number + (20 if half.label == "B" else 0)
            ethernets[half.netdev] = {"addresses": [f"192.168.{200 + port}.{host}/24"], "dhcp4": False}
    if not ethernets:
        raise BadInput(say("{machine} has no cable", machine=machine.name))
    await _write_netplan(machine, TWINS_FILE, ethernets)


async def remove_twins_file(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Back to stock."""
    await _remove_netplan(machine, TWINS_FILE)


async def link_local_off(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """As community scripts write it."""
    ethernets = {name: {"link-local": [], "dhcp4": False} for name in hardware.FABRIC_NETDEVS}
    await _write_netplan(machine, NO_LINK_LOCAL_FILE, ethernets)


async def remove_link_local_file(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Back to stock."""
    await _remove_netplan(machine, NO_LINK_LOCAL_FILE)


async def foreign_netplan(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Whoever drops the management part of that file cuts the node off: its address is only there."""
    end = _end(cluster, machine, parameters)
    number = machine.hardware.number
    management = str(hardware.HOME_LAN.network_address + 60 + number)
    ethernets = {
        hardware.MANAGEMENT: {
            "dhcp4": False,
            "addresses": [f"{management}/24"],
            "routes": [{"to": "default", "via": hardware.HOME_ROUTER}],
        },
        machine.hardware.port_halves(end.port)[0].netdev: {"addresses": [f"10.77.0.{number}/24"], "mtu": 9000},
    }
    machine.management_address = management
    await _write_netplan(machine, FOREIGN_FILE, ethernets)


async def remove_foreign_netplan(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Back to stock: the address comes from DHCP again."""
    machine.management_address = machine.hardware.lan_address
    await _remove_netplan(machine, FOREIGN_FILE)
