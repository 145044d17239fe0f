"""Facts of a node -> its ports and halves.

A ConnectX-7 of a Spark shows as four functions on two PCI domains, and every QSFP cage appears once on each domain.
What belongs to one cage is therefore found by port (p0/p1, f0/f1), never by PCI domain.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.model.fabric import Half, Port
from stellwerk.model.facts import NetDevice, NodeFacts, RdmaDevice, Route
from stellwerk.model.text import say

_PHYS_PORT = re.compile(r"p(\d+)")
_VIRTUAL_FUNCTION = re.compile(r"(?:v\d+$)|(?:pf\d+(?:vf|sf)\d+)")
_PORT_IN_NAME = re.compile(r"np(\d+)$")
_FUNCTION_IN_NAME = re.compile(r"f(\d+)$")
_DOMAIN_IN_NAME = re.compile(r"^(en|roce)P(\d+)")
_PCI = re.compile(r"([0-9a-f]+):([0-9a-f]{2}:[0-9a-f]{2})\.([0-7])", re.IGNORECASE)
_MELLANOX = "0x15b3"
_NOT_WIRED = {
    "wifi": say("it is a radio"),
    "bridge": say("it is a bridge"),
    "bond": say("it is a bond"),
    "vlan": say("it is a VLAN"),
    "veth": say("it belongs to a container"),
    "tunnel": say("it is a tunnel (VPN)"),
    "loopback": say("it is the loopback"),
    "virtual": say("it is virtual"),
    "infiniband": say("InfiniBand carries no Ethernet"),
}


@dataclass(frozen=True, slots=True)
class Excluded:
    """An interface that is no fabric port, and why."""

    netdev: str
    why: str


@dataclass(frozen=True, slots=True)
class NodePorts:
    """The ports of one node, in order of their number, and what was left out."""

    ports: tuple[Port, ...]
    excluded: tuple[Excluded, ...] = ()
    management: str | None = None  # the interface with the default route, which is never touched
    note: str | None = None  # why there is no port

    def port(self, number: int) -> Port | None:
        """The port with that number."""
        return next((port for port in self.ports if port.number == number), None)

    def find(self, netdev: str) -> tuple[Port, Half] | None:
        """The port and half of an interface."""
        for port in self.ports:
            for half in port.halves:
                if half.netdev.name == netdev:
                    return port, half
        return None


def find_ports(facts: NodeFacts) -> NodePorts:
    """Group the interfaces of a node into ports with one or more halves.

    Where the node has RDMA hardware, its ordinary NICs are no fabric ports; elsewhere each of them is a port with
    one half. The interface of the default route is left out always, the one of the SSH session where it is an
    ordinary NIC: a session may well run over the fabric, and then the plan spares that node for the end.
    """
    rdma = {device.name: _rdma_of(device, facts.rdma) for device in facts.netdevs}
    management = management_device(facts)
    excluded: list[Excluded] = []
    wired: list[NetDevice] = []
    for device in facts.netdevs:
        why = _why_not(device, rdma[device.name], facts, management)
        if why is None:
            wired.append(device)
        else:
            excluded.append(Excluded(device.name, why))
    fast = [device for device in wired if _is_fabric_grade(device, rdma[device.name])]
    if fast:
        slow = [device for device in wired if device not in fast]
        excluded += [Excluded(device.name, "this node has faster ports for a fabric") for device in slow]
        wired = fast
    groups = _grouped(wired, rdma, _is_spark(facts))
    ports = _numbered(groups, rdma)
    return NodePorts(ports, tuple(excluded), management, None if ports else _note(facts))


def management_device(facts: NodeFacts) -> str | None:
    """The interface of the default route with the lowest metric; None when there is none."""
    defaults = [route for route in facts.routes if route.destination in ("default", "0.0.0.0/0")]
    best = min(defaults, key=_metric, default=None)
    return best.device if best else None


def _metric(route: Route) -> int:
    return route.metric or 0


def _note(facts: NodeFacts) -> str:
    if any(device.pci_vendor == _MELLANOX for device in facts.netdevs):
        return say("its ConnectX ports cannot be used as a fabric")
    return say("no ConnectX and no other free network port")


def _rdma_of(device: NetDevice, rdma: Sequence[RdmaDevice]) -> RdmaDevice | None:
    for candidate in rdma:
        if candidate.netdev == device.name:
            return candidate
    for candidate in rdma:
        if candidate.netdev is None and candidate.pci_address and candidate.pci_address == device.pci_address:
            return candidate
    return None


def _is_mellanox(device: NetDevice) -> bool:
    return device.pci_vendor == _MELLANOX or (device.driver or "").startswith("mlx5")


def _is_fabric_grade(device: NetDevice, rdma: RdmaDevice | None) -> bool:
    return rdma is not None or _is_mellanox(device)


def _is_spark(facts: NodeFacts) -> bool:
    return "spark" in (facts.product or "").lower() or any("GB10" in gpu.name for gpu in facts.gpus)


def _why_not(device: NetDevice, rdma: RdmaDevice | None, facts: NodeFacts, management: str | None) -> str | None:
    """Why an interface is no fabric port; None when it is one."""
    if device.kind != "ethernet":
        return _NOT_WIRED.get(device.kind, say("its kind is {kind}", kind=device.kind))
    if _VIRTUAL_FUNCTION.search(device.name) or _VIRTUAL_FUNCTION.search(device.phys_port_name or ""):
        return say("it is a virtual function")
    if device.pci_address is None and device.driver is None and rdma is None and not _PORT_IN_NAME.search(device.name):
        return say("it is no hardware")
    if device.name == management:
        return say("it carries the default route")
    if device.name == facts.session.device and not _is_fabric_grade(device, rdma):
        return say("it carries this SSH session")
    if not _is_fabric_grade(device, rdma) and any(
        route.device == device.name and route.destination in ("default", "0.0.0.0/0") for route in facts.routes
    ):
        return say("it carries a default route")
    if device.master:
        return say("it is part of {master}", master=device.master)
    return None


def _token(device: NetDevice, rdma: RdmaDevice | None) -> str:
    """What tells the cages of one card apart: the port number where it can be seen, else the name."""
    if match := _PHYS_PORT.fullmatch(device.phys_port_name or ""):
        return match.group(1)
    if match := _PORT_IN_NAME.search(device.name):
        return match.group(1)
    for name in (device.name, rdma.name if rdma else ""):
        if match := _FUNCTION_IN_NAME.search(name):
            return match.group(1)
    if match := _PCI.fullmatch(device.pci_address or ""):
        return match.group(3)
    return device.name


def _slot(device: NetDevice) -> str:
    """Bus and slot without the domain: the two halves of a cage differ in the domain alone."""
    if match := _PCI.fullmatch(device.pci_address or ""):
        return match.group(2).lower()
    return _DOMAIN_IN_NAME.sub(r"\1", device.name)


def _domain(device: NetDevice) -> tuple[int, str]:
    """Sort key of the halves: the lower PCI domain is half A."""
    if match := _PCI.fullmatch(device.pci_address or ""):
        return int(match.group(1), 16), device.name
    match = _DOMAIN_IN_NAME.match(device.name)
    return (int(match.group(2)) if match else 0), device.name


def _twins(a: NetDevice, b: NetDevice, rdma: dict[str, RdmaDevice | None], spark: bool) -> bool:
    """Do two interfaces share one cage?"""
    if _token(a, rdma[a.name]) != _token(b, rdma[b.name]):
        return False
    if a.phys_switch_id and b.phys_switch_id and a.phys_port_name and b.phys_port_name:
        if a.phys_switch_id == b.phys_switch_id:
            return True
        if not spark:  # a server may hold two cards in the same slot of two domains
            return False
    return _is_mellanox(a) and _is_mellanox(b) and _slot(a) == _slot(b) and _domain(a)[0] != _domain(b)[0]


def _grouped(
    devices: Sequence[NetDevice], rdma: dict[str, RdmaDevice | None], spark: bool
) -> list[tuple[NetDevice, ...]]:
    groups: list[list[NetDevice]] = []
    for device in sorted(devices, key=_domain):
        home = next((group for group in groups if any(_twins(device, other, rdma, spark) for other in group)), None)
        if home is None:
            groups.append([device])
        else:
            home.append(device)
    return [tuple(group) for group in groups]


def _numbered(groups: list[tuple[NetDevice, ...]], rdma: dict[str, RdmaDevice | None]) -> tuple[Port, ...]:
    """Number the ports as the hardware does where that is unambiguous, else in order."""
    tokens = [_token(group[0], rdma[group[0].name]) for group in groups]
    if all(token.isdigit() for token in tokens) and len(set(tokens)) == len(tokens):
        numbers = [int(token) for token in tokens]
    else:
        numbers = list(range(len(groups)))
    ports = []
    for number, group in sorted(zip(numbers, groups, strict=True), key=lambda item: item[0]):
        halves = tuple(
            Half(label, device, rdma[device.name])
            for label, device in zip("ABCDEFGH", sorted(group, key=_domain), strict=False)
        )
        ports.append(Port(number, halves))
    return tuple(ports)
