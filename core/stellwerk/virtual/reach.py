"""What happens to a packet: ARP with its flux, routes, MTU at both ends, forwarding, and the way back."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stellwerk.virtual.cables import CableModel
from stellwerk.virtual.network import Address4, Interface, NeighbourEntry, NodeNetwork

MAX_HOPS = 16
IP_ICMP_HEADER_BYTES = 28


@dataclass(frozen=True, slots=True)
class Delivery:
    """How one packet fared. `problem` is None when `node` took it in by `interface`.

    Problems: no-route | down | too-long (at the sender, `mtu` says what fits) | unreachable (nobody answers ARP) |
    lost (dropped on the way without a word).
    """

    problem: str | None
    node: str = ""
    interface: str = ""
    hops: int = 0
    mtu: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Echo:
    """How one ping fared; `problem` as in `Delivery`."""

    problem: str | None
    rtt_ms: float = 0.0
    mtu: int | None = None
    source: str = ""
    hops: int = 0


class Fabric:
    """All nodes on all wires. The home LAN is a wire of its own."""

    def __init__(self, nodes: Mapping[str, NodeNetwork], cables: CableModel, powered: set[str]) -> None:
        self.nodes = nodes
        self.cables = cables
        self.powered = powered

    def listeners(self, node: str, device: str) -> Iterator[tuple[str, Interface]]:
        """Every running interface that a frame sent by `device` reaches: peers, and the own twin."""
        sender = self.nodes[node].interfaces[device]
        if not sender.running or node not in self.powered:
            return
        for name, network in self.nodes.items():
            if name not in self.powered:
                continue
            for other in network.interfaces.values():
                if (name, other.name) != (node, device) and other.running and self._same_wire(sender, other):
                    yield name, other

    def _same_wire(self, first: Interface, second: Interface) -> bool:
        if first.kind == "lan":
            return second.kind == "lan"
        if first.end is None or second.end is None:
            return False
        segment = self.cables.segment_of(first.end)
        return segment is not None and second.end in segment.ends

    def resolve(self, node: str, device: str, target: Address4, source: Address4 | None) -> str | None:
        """Ask by ARP who has `target`; remembers the answer. Returns the MAC or None.

        With arp_ignore 0 every interface on the wire answers for every address of its node. The first answer
        wins, and that is the interface with the lower index: the twin's MAC may end up in the entry (ARP flux).
        """
        network = self.nodes[node]
        key = (device, str(target))
        known = network.neighbours.get(key)
        if known is not None and known.mac is not None and self._still_answers(node, device, target, known.mac):
            return known.mac
        winner: Interface | None = None
        for name, interface in self.listeners(node, device):
            peer = self.nodes[name]
            if name == node or not self._answers(peer, interface, target):
                continue
            if source is not None:
                mac = network.interfaces[device].mac
                peer.neighbours[(interface.name, str(source))] = NeighbourEntry(mac, "STALE")
            if winner is None or interface.index < winner.index:
                winner = interface
        network.neighbours[key] = NeighbourEntry(winner.mac, "REACHABLE") if winner else NeighbourEntry(None, "FAILED")
        return winner.mac if winner else None

    def _answers(self, peer: NodeNetwork, interface: Interface, target: Address4) -> bool:
        if not peer.is_local(target) or target.is_loopback:
            return False
        if peer.conf(interface.name, "arp_ignore") == 0:
            return True
        return any(target == entry.ip for entry in interface.addresses4)

    def _still_answers(self, node: str, device: str, target: Address4, mac: str) -> bool:
        """A kept entry is asked again after a while; one that nobody stands for any more is dropped."""
        return any(
            interface.mac == mac and self._answers(self.nodes[name], interface, target)
            for name, interface in self.listeners(node, device)
            if name != node
        )

    def send(
        self,
        node: str,
        destination: Address4,
        *,
        source: Address4 | None,
        size_bytes: int,
        oif: str | None = None,
    ) -> Delivery:
        """Follow one don't-fragment packet of `size_bytes` (IP header included) to where it ends."""
        if self.nodes[node].is_local(destination):
            owner = self.nodes[node].owner(destination)
            return Delivery(None, node, owner.name if owner else "lo")
        at = node
        for hop in range(MAX_HOPS):
            network = self.nodes[at]
            route = network.lookup(destination, oif if hop == 0 else None)
            if route is None:
                return Delivery("no-route" if hop == 0 else "lost", at, hops=hop, why="no route to the destination")
            step = self._one_hop(at, route.device, route.via or destination, source, size_bytes, first=hop == 0)
            if isinstance(step, Delivery):
                return step
            name, interface = step
            receiver = self.nodes[name]
            if not self._accepts_source(receiver, interface, source):
                return Delivery("lost", name, interface.name, hop, why="rp_filter drops it")
            if receiver.is_local(destination):
                return Delivery(None, name, interface.name, hop)
            problem = self._forward_problem(receiver, interface.name, source, destination)
            if problem is not None:
                return Delivery("lost", name, interface.name, hop, why=problem)
            at = name
        return Delivery("lost", at, hops=MAX_HOPS, why="it goes round in circles")

    def _one_hop(
        self, node: str, device: str, gateway: Address4, source: Address4 | None, size: int, *, first: bool
    ) -> tuple[str, Interface] | Delivery:
        sender = self.nodes[node].interfaces[device]
        if size > sender.mtu:
            return Delivery("too-long" if first else "lost", node, device, mtu=sender.mtu, why="longer than the MTU")
        if not sender.running:
            return Delivery("unreachable", node, device, why="no carrier")
        mac = self.resolve(node, device, gateway, source)
        if mac is None:
            return Delivery("unreachable", node, device, why="nobody answers ARP")
        for name, interface in self.listeners(node, device):
            if interface.mac == mac:
                if size > interface.mtu:
                    return Delivery("lost", name, interface.name, why="longer than the receiver's MTU")
                return name, interface
        return Delivery("lost", node, device, why="nobody has that MAC")

    def _accepts_source(self, receiver: NodeNetwork, interface: Interface, source: Address4 | None) -> bool:
        mode = receiver.conf(interface.name, "rp_filter")
        if mode == 0 or source is None:
            return True
        back = receiver.lookup(source)
        return back is not None and (mode == 2 or back.device == interface.name)

    def _forward_problem(
        self, router: NodeNetwork, came_in: str, source: Address4 | None, destination: Address4
    ) -> str | None:
        if not router.forwards(came_in):
            return "that node does not forward"
        onward = router.lookup(destination)
        if onward is None:
            return "that node has no route"
        if not router.may_forward(came_in, onward.device, source or Address4(0), destination):
            return "that node's firewall drops it"
        return None

    def ping(
        self, node: str, destination: str, *, payload_bytes: int, device: str | None = None, source: str | None = None
    ) -> Echo:
        """One echo request with don't-fragment, and its answer on the way that the peer's routes take."""
        target = ipaddress.IPv4Address(destination)
        network = self.nodes[node]
        size = payload_bytes + IP_ICMP_HEADER_BYTES
        if network.is_local(target):
            return Echo(None, 0.03, source=destination)
        route = network.lookup(target, device)
        if route is None:
            return Echo("no-route")
        own = Address4(source) if source else (route.source or network.source_for(route.device, target))
        there = self.send(node, target, source=own, size_bytes=size, oif=device)
        if there.problem is not None:
            return Echo(there.problem, mtu=there.mtu, source=str(own or ""))
        if own is None:
            return Echo("lost")
        back = self.send(there.node, own, source=target, size_bytes=size)
        if back.problem is not None or back.node != node:
            return Echo("lost", source=str(own))
        # A socket bound to a device (ping -I IF) only hears what comes in there.
        if device is not None and back.interface != device:
            return Echo("lost", source=str(own))
        hops = there.hops + back.hops
        return Echo(None, round(0.18 + 0.09 * hops + payload_bytes / 120_000, 3), source=str(own), hops=there.hops)
