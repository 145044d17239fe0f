"""Segments -> subnets and addresses. What is right stays, what is wrong is said and replaced.

The node's number is the last octet of each new address. A subnet stays with its segment when a machine joins or
leaves, so that only the cables concerned change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from stellwerk.fabric.members import HalfAt
from stellwerk.fabric.netplan import OWN_PATH, addresses_elsewhere
from stellwerk.fabric.segments import Segment
from stellwerk.fabric.state import HalfState, NodeState, halves_of, read_half
from stellwerk.fabric.subnets import HOME_LANS, LINK_LOCAL, SubnetSource, Taken, overlap, parse_pool, taken
from stellwerk.model.text import say

Key = tuple[str, str]  # node, netdev
SegmentKey = str


@dataclass(frozen=True, slots=True)
class Assigned:
    """The address of one half in the plan."""

    at: HalfAt
    segment: Segment
    address: IPv4Interface
    kept: bool  # it has this address already
    why: str = ""  # what is wrong with the present one

    @property
    def key(self) -> Key:
        return self.at.member.name, self.at.netdev


@dataclass(frozen=True, slots=True)
class Addressing:
    """All addresses of the fabric and the range that new ones came from."""

    assigned: tuple[Assigned, ...]
    taken: tuple[Taken, ...]
    pool: IPv4Network | None = None  # None when nothing new was needed

    def of(self, node: str, netdev: str) -> Assigned | None:
        """The address of an interface."""
        return next((entry for entry in self.assigned if entry.key == (node, netdev)), None)


def networks_in_use(nodes: Sequence[NodeState], fabric: frozenset[Key]) -> tuple[Taken, ...]:
    """Every IPv4 network on any machine outside the fabric halves: addresses, routes, files (a VPN may be down)."""
    found: list[Taken | None] = []
    for node in nodes:
        fabric |= _left_over(node)
        name = node.member.name
        facts = node.member.facts
        for device in facts.netdevs:
            if (name, device.name) not in fabric and device.kind != "loopback":
                found += [
                    taken(cidr, say("{device} of {name}", device=device.name, name=name)) for cidr in device.addresses
                ]
        for route in facts.routes:
            if (name, route.device) not in fabric:
                found.append(
                    taken(route.destination, say("a route of {name} through {device}", name=name, device=route.device))
                )
        spare = [at.half.netdev for at in halves_of(node.member)]
        found += [
            taken(cidr, say("{path} of {name}", path=path, name=name))
            for cidr, path in addresses_elsewhere(node.texts, spare)
        ]
    return tuple(entry for entry in found if entry is not None and entry.network != LINK_LOCAL)


def _left_over(node: NodeState) -> frozenset[Key]:
    """Halves that only our own file configures: what an earlier plan left there goes with the next one."""
    name = node.member.name
    return frozenset(
        (name, at.netdev) for at in halves_of(node.member) if read_half(node, at).config.files == (OWN_PATH,)
    )


def assign_addresses(nodes: Sequence[NodeState], segments: Sequence[Segment], pool: str | None = None) -> Addressing:
    """Give every half of every segment an address. Raises `PlanRefused` when no subnet is free, `BadInput` for a pool
    that is none."""
    by_name = {node.member.name: node for node in nodes}
    fabric = frozenset((at.member.name, at.netdev) for segment in segments for at in segment.halves)
    in_use = networks_in_use(nodes, fabric)
    states = {(at.member.name, at.netdev): read_half(by_name[at.member.name], at) for s in segments for at in s.halves}
    present = {key: states[key].address(not by_name[key[0]].unread) for key in states}
    wanted_pool = parse_pool(pool) if pool else None
    chosen, rejected = _choose(segments, present, in_use, wanted_pool)
    source: SubnetSource | None = None
    missing = [segment for segment in segments if segment.key not in chosen]
    if missing:
        source = SubnetSource(pool, in_use, tuple(chosen.values()), len(missing))
        _fill(segments, chosen, source)
    assigned = [
        entry
        for segment in segments
        for entry in _hosts(segment, chosen[segment.key], present, states, rejected.get(segment.key, ""))
    ]
    return Addressing(tuple(assigned), in_use, source.pool if source else None)


def _choose(
    segments: Sequence[Segment],
    present: Mapping[Key, IPv4Interface | None],
    in_use: Sequence[Taken],
    pool: IPv4Network | None,
) -> tuple[dict[SegmentKey, IPv4Network], dict[SegmentKey, str]]:
    """Subnets that are there and right, those that most halves of their segment have first."""
    votes: dict[SegmentKey, list[tuple[IPv4Network, int]]] = {}
    for segment in segments:
        addresses = [present[at.member.name, at.netdev] for at in segment.halves]
        counted = Counter(address.network for address in addresses if address is not None)
        votes[segment.key] = counted.most_common()
    # Sorting is stable: where as many halves agree, the order along the fabric decides.
    order = sorted(segments, key=lambda s: -(votes[s.key][0][1] / len(s.halves) if votes[s.key] else 0))
    chosen: dict[SegmentKey, IPv4Network] = {}
    rejected: dict[SegmentKey, str] = {}
    for segment in order:
        for network, count in votes[segment.key]:
            why = _unfit(network, segment, in_use, pool) or _shared(network, chosen)
            if why is None and count < len(segment.halves) and any(network.overlaps(lan) for lan in HOME_LANS):
                why = say("{network} is a network of home routers", network=network)
            if why is None:
                chosen[segment.key] = network
                break
            rejected.setdefault(segment.key, why)
    return chosen, rejected


def _unfit(network: IPv4Network, segment: Segment, in_use: Sequence[Taken], pool: IPv4Network | None) -> str | None:
    """Why a subnet that is there cannot stay; None when it can."""
    if network.prefixlen < 16:
        return say("{network} is too wide for one link", network=network)
    room = network.num_addresses - (0 if network.prefixlen >= 31 else 2)
    if room < len(segment.halves):
        return say("{network} has no room for {count} nodes", network=network, count=len(segment.halves))
    if not network.is_private:
        return say("{network} is not a private network", network=network)
    if other := overlap(network, in_use):
        return say("{network} overlaps {other} ({where})", network=network, other=other.network, where=other.where)
    if pool is not None and not network.subnet_of(pool):
        return say("{network} is outside the chosen range {pool}", network=network, pool=pool)
    return None


def _shared(network: IPv4Network, chosen: Mapping[SegmentKey, IPv4Network]) -> str | None:
    for other, there in chosen.items():
        if network.overlaps(there):
            return say(
                "{network} is used by {other}, too; one subnet for two links confuses routing and NCCL",
                network=network,
                other=other,
            )
    return None


def _fill(segments: Sequence[Segment], chosen: dict[SegmentKey, IPv4Network], source: SubnetSource) -> None:
    """New subnets for the segments that have none, link by link, so that the halves of a link are neighbours."""
    for name in dict.fromkeys(segment.name for segment in segments):
        link = [segment for segment in segments if segment.name == name]
        open_ones = [segment for segment in link if segment.key not in chosen]
        kept = [chosen[segment.key] for segment in link if segment.key in chosen]
        if open_ones:
            fresh = source.take(len(open_ones), kept[0] if kept else None)
            chosen.update(zip((segment.key for segment in open_ones), fresh, strict=True))


def _hosts(
    segment: Segment,
    network: IPv4Network,
    present: Mapping[Key, IPv4Interface | None],
    states: Mapping[Key, HalfState],
    rejected: str,
) -> list[Assigned]:
    used: dict[IPv4Address, Key] = {}
    keeps: dict[Key, IPv4Interface] = {}
    for at in segment.halves:
        key = (at.member.name, at.netdev)
        address = present[key]
        if address is not None and address.network == network and address.ip not in used and _is_host(address):
            used[address.ip] = key
            keeps[key] = address
    result = []
    for at in segment.halves:
        key = (at.member.name, at.netdev)
        if key in keeps:
            result.append(Assigned(at, segment, keeps[key], True))
            continue
        ip = _free_host(network, at.member.number, used)
        used[ip] = key
        why = _why(states[key], present[key], network, rejected)
        result.append(Assigned(at, segment, IPv4Interface(f"{ip}/{network.prefixlen}"), False, why))
    return result


def _is_host(address: IPv4Interface) -> bool:
    network = address.network
    return network.prefixlen >= 31 or address.ip not in (network.network_address, network.broadcast_address)


def _free_host(network: IPv4Network, number: int, used: Mapping[IPv4Address, Key]) -> IPv4Address:
    """The host with the node's number, else the lowest free one."""
    wanted = network.network_address + number
    if wanted in network and _is_host(IPv4Interface(f"{wanted}/{network.prefixlen}")) and wanted not in used:
        return wanted
    return next(host for host in network.hosts() if host not in used)


def _why(state: HalfState, address: IPv4Interface | None, network: IPv4Network, rejected: str) -> str:
    if state.by_dhcp:
        return say("its address comes by DHCP and may change")
    if address is not None and address.network == network:
        return say("{ip} is there twice on this link", ip=address.ip)
    if address is not None:
        return rejected or say(
            "{network} is not the subnet of the other end, {other}", network=address.network, other=network
        )
    several = state.static or state.live
    if len(several) > 1:
        return say("it has several addresses: {addresses}", addresses=", ".join(map(str, several)))
    if state.link_local:
        return say("its link-local address changes at every start")
    return say("it has no address")


def present_networks(addressing: Addressing) -> tuple[IPv4Network, ...]:
    """All subnets of the fabric."""
    return tuple(dict.fromkeys(entry.address.network for entry in addressing.assigned))
