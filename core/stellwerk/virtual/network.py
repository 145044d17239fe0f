"""The network of one simulated node: interfaces, addresses, routes, neighbours, firewall. Pure state, no I/O."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field

from stellwerk.virtual import hardware
from stellwerk.virtual.cables import End

Network = ipaddress.IPv4Network
Address4 = ipaddress.IPv4Address

DEFAULT_MTU = 1500


@dataclass(frozen=True, slots=True)
class Address:
    """An address on an interface. `origin`: static | dhcp | kernel | manual."""

    interface: ipaddress.IPv4Interface | ipaddress.IPv6Interface
    origin: str = "static"

    @property
    def scope(self) -> str:
        if self.interface.ip.is_loopback:
            return "host"
        return "link" if self.interface.ip.is_link_local else "global"

    @property
    def cidr(self) -> str:
        return str(self.interface)


def address(cidr: str, origin: str = "static") -> Address:
    """Out of `192.168.100.1/24`. Raises ValueError."""
    return Address(ipaddress.ip_interface(cidr), origin)


@dataclass(slots=True)
class Interface:
    """One interface as it is now. `end` is set for halves; `carrier` is what the other end gives."""

    name: str
    index: int
    mac: str
    kind: str  # fabric | lan | wifi | bridge | loopback
    mtu: int = DEFAULT_MTU
    admin_up: bool = False
    carrier: bool = False
    end: End | None = None
    addresses: list[Address] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return self.admin_up and self.carrier

    @property
    def addresses4(self) -> list[ipaddress.IPv4Interface]:
        return [a.interface for a in self.addresses if isinstance(a.interface, ipaddress.IPv4Interface)]

    @property
    def link_local6(self) -> str | None:
        """The IPv6 link-local address, without prefix length."""
        for entry in self.addresses:
            if isinstance(entry.interface, ipaddress.IPv6Interface) and entry.interface.ip.is_link_local:
                return str(entry.interface.ip)
        return None


@dataclass(frozen=True, slots=True)
class Route:
    """An IPv4 route of the main table."""

    destination: Network
    device: str
    via: Address4 | None = None
    source: Address4 | None = None
    metric: int = 0
    protocol: str = "static"
    scope: str | None = None


@dataclass(slots=True)
class NeighbourEntry:
    """What ARP learnt. A failed entry has no MAC."""

    mac: str | None
    state: str  # REACHABLE | STALE | FAILED


@dataclass(frozen=True, slots=True)
class Rule:
    """One iptables rule."""

    table: str
    chain: str
    words: tuple[str, ...]

    def option(self, *names: str) -> str | None:
        """The word after the first of `names`."""
        for at, word in enumerate(self.words[:-1]):
            if word in names:
                return self.words[at + 1]
        return None


class NodeNetwork:
    """All interfaces and tables of a node. `sysctl` reads a number below /proc/sys, e.g. net/ipv4/ip_forward."""

    def __init__(self, machine: hardware.Hardware, sysctl: Callable[[str], int]) -> None:
        self.machine = machine
        self.sysctl = sysctl
        self.interfaces: dict[str, Interface] = {}
        self.static_routes: list[Route] = []
        self.neighbours: dict[tuple[str, str], NeighbourEntry] = {}
        self.rules: list[Rule] = []
        self.forward_policy = "DROP"  # Docker's; a Spark comes with it
        self.reset()

    def reset(self) -> None:
        """As right after the kernel's start: nothing is up, nothing has an address."""
        machine = self.machine
        made = [
            Interface("lo", 1, "00:00:00:00:00:00", "loopback", 65536, True, True),
            Interface(hardware.MANAGEMENT, 2, machine.management_mac, "lan"),
            *(Interface(h.netdev, h.index, h.mac, "fabric", end=End(machine.name, h.port)) for h in machine.halves),
            Interface(hardware.WIFI, 7, machine.wifi_mac, "wifi"),
            Interface(hardware.DOCKER, 8, machine.docker_mac, "bridge"),
        ]
        self.interfaces = {interface.name: interface for interface in made}
        self.interfaces["lo"].addresses = [address("127.0.0.1/8", "kernel"), address("::1/128", "kernel")]
        self.static_routes = []
        self.neighbours = {}
        self.rules = []

    def conf(self, interface: str, key: str) -> int:
        """The effective value of a per-interface IPv4 sysctl: the kernel takes the higher of `all` and its own."""
        return max(self.sysctl(f"net/ipv4/conf/all/{key}"), self.sysctl(f"net/ipv4/conf/{interface}/{key}"))

    def forwards(self, interface: str) -> bool:
        """Whether packets that come in by `interface` are passed on."""
        return bool(self.sysctl("net/ipv4/ip_forward") or self.sysctl(f"net/ipv4/conf/{interface}/forwarding"))

    def metric_of(self, interface: str) -> int:
        """The metric that NetworkManager gives the routes of an Ethernet device."""
        return 98 + self.interfaces[interface].index

    def routes(self) -> list[Route]:
        """The main table: what follows from the addresses, then what was set; in the order in which `ip` prints."""
        table = list(self.static_routes)
        for interface in self.interfaces.values():
            if not interface.admin_up or interface.kind == "loopback":
                continue
            for entry in interface.addresses4:
                if entry.network.prefixlen == 32:
                    continue
                metric = 0 if interface.kind == "bridge" else self.metric_of(interface.name)
                table.append(Route(entry.network, interface.name, None, entry.ip, metric, "kernel", "link"))
        return sorted(table, key=lambda r: (int(r.destination.network_address), r.destination.prefixlen, r.metric))

    def is_local(self, ip: Address4) -> bool:
        """Whether the node itself has that address, on whichever interface (Linux's weak host model)."""
        return ip.is_loopback or any(
            ip == entry.ip for interface in self.interfaces.values() for entry in interface.addresses4
        )

    def owner(self, ip: Address4) -> Interface | None:
        """The interface that has that address."""
        for interface in self.interfaces.values():
            if any(ip == entry.ip for entry in interface.addresses4):
                return interface
        return None

    def lookup(self, ip: Address4, oif: str | None = None) -> Route | None:
        """The route that a packet takes. With `oif` and no route the kernel takes it to be on that link."""
        fitting = [
            route
            for route in self.routes()
            if ip in route.destination and (oif is None or route.device == oif) and self._usable(route)
        ]
        if fitting:
            return min(fitting, key=lambda r: (-r.destination.prefixlen, r.metric, self.interfaces[r.device].index))
        if oif is not None and oif in self.interfaces and self.interfaces[oif].admin_up:
            return Route(Network(f"{ip}/32"), oif, None, self.source_for(oif, ip), 0, "boot", "link")
        return None

    def _usable(self, route: Route) -> bool:
        interface = self.interfaces.get(route.device)
        return interface is not None and interface.admin_up

    def source_for(self, device: str, destination: Address4) -> Address4 | None:
        """The address from which the kernel speaks when it sends by `device`."""
        own = self.interfaces[device].addresses4
        for entry in own:
            if destination in entry.network:
                return entry.ip
        if own:
            return own[0].ip
        others = [entry.ip for i in self.interfaces.values() for entry in i.addresses4 if not entry.ip.is_loopback]
        return others[0] if others else None

    def flush(self, interface: str) -> None:
        """Take every address but the kernel's off an interface, with the routes that go through it."""
        self.interfaces[interface].addresses = []
        self.static_routes = [route for route in self.static_routes if route.device != interface]
        self.neighbours = {key: entry for key, entry in self.neighbours.items() if key[0] != interface}

    def add_address(self, interface: str, entry: Address) -> bool:
        """False when it is there already."""
        addresses = self.interfaces[interface].addresses
        if any(other.interface == entry.interface for other in addresses):
            return False
        addresses.append(entry)
        return True

    def remove_address(self, interface: str, cidr: ipaddress.IPv4Interface | ipaddress.IPv6Interface) -> bool:
        """False when it is not there. Routes that spoke from it go with it."""
        addresses = self.interfaces[interface].addresses
        for entry in addresses:
            if entry.interface == cidr:
                addresses.remove(entry)
                # With the last IPv4 address Linux takes every IPv4 route of the device.
                last = not self.interfaces[interface].addresses4
                self.static_routes = [
                    r for r in self.static_routes if r.device != interface or not (last or r.source == cidr.ip)
                ]
                return True
        return False

    def set_admin(self, interface: str, up: bool) -> None:
        """`ip link set … up|down`: down takes the routes and the IPv6 addresses along, as Linux does."""
        target = self.interfaces[interface]
        target.admin_up = up
        if not up:
            target.addresses = [a for a in target.addresses if isinstance(a.interface, ipaddress.IPv4Interface)]
            self.static_routes = [route for route in self.static_routes if route.device != interface]
            self.neighbours = {key: entry for key, entry in self.neighbours.items() if key[0] != interface}

    def may_forward(self, came_in: str, goes_out: str, source: Address4, destination: Address4) -> bool:
        """What the FORWARD chain decides: DOCKER-USER first, then its own rules, then the policy."""
        for chain in ("DOCKER-USER", "FORWARD"):
            for rule in self.rules:
                if rule.table != "filter" or rule.chain != chain:
                    continue
                if _matches(rule, came_in, goes_out, source, destination):
                    verdict = rule.option("-j", "--jump")
                    if verdict in ("ACCEPT", "DROP", "REJECT"):
                        return verdict == "ACCEPT"
                    if verdict == "RETURN":
                        break
        return self.forward_policy == "ACCEPT"


def _matches(rule: Rule, came_in: str, goes_out: str, source: Address4, destination: Address4) -> bool:
    wanted_in, wanted_out = rule.option("-i", "--in-interface"), rule.option("-o", "--out-interface")
    if wanted_in is not None and wanted_in != came_in:
        return False
    if wanted_out is not None and wanted_out != goes_out:
        return False
    for names, ip in ((("-s", "--source", "--src"), source), (("-d", "--destination", "--dst"), destination)):
        wanted = rule.option(*names)
        if wanted is not None and ip not in Network(wanted, strict=False):
            return False
    return True
