"""What has to be asked to prove a fabric: a list of requests as data. `judging.py` makes checks out of the answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.fabric.addresses import Addressing, Assigned, assign_addresses
from stellwerk.fabric.members import Member
from stellwerk.fabric.segments import Segment, find_segments
from stellwerk.fabric.state import HalfState, read_half, read_node
from stellwerk.fabric.transit import needs_transit
from stellwerk.model.fabric import Topology, TopologyKind
from stellwerk.model.text import say

BANDWIDTH_TOOL, LATENCY_TOOL = "ib_write_bw", "ib_write_lat"
_FIRST_TCP_PORT = {BANDWIDTH_TOOL: 12000, LATENCY_TOOL: 13000}
_IPV4_AND_ICMP_BYTES = 28


@dataclass(frozen=True, slots=True)
class Place:
    """The half that a check speaks of, and the machine at the other end."""

    node: str
    port: int
    half: str
    netdev: str
    peer: str

    def __str__(self) -> str:
        return say("port {port} half {half} -> {peer}", port=self.port, half=self.half, peer=self.peer)


@dataclass(frozen=True, slots=True)
class PingRequest:
    """`verify.ping` on `place.node`; with don't-fragment it proves the MTU in this direction."""

    id: str
    place: Place
    destination: str
    netdev: str | None  # None: whatever way the routes lead
    payload_bytes: int
    dont_fragment: bool = True
    count: int = 3


@dataclass(frozen=True, slots=True)
class RouteRequest:
    """`verify.route` on `place.node`; the answer has to leave on `place.netdev`."""

    id: str
    place: Place
    destination: str


@dataclass(frozen=True, slots=True)
class PerfRequest:
    """`verify.rdma_server` on `place.peer`, then `verify.rdma_client` on `place.node`."""

    id: str
    place: Place
    tool: str
    client_device: str
    client_gid_index: int | None
    server_device: str
    server_gid_index: int | None
    server_address: str
    tcp_port: int
    link: str  # both halves of one link and direction run at the same time and are summed


@dataclass(frozen=True, slots=True)
class Proof:
    """All that is asked. A round of `rounds` runs at once; no machine takes part in two links of one round."""

    members: tuple[Member, ...]
    kind: TopologyKind
    segments: tuple[Segment, ...]
    addressing: Addressing
    mtu: int
    pings: tuple[PingRequest, ...] = ()
    routes: tuple[RouteRequest, ...] = ()
    rounds: tuple[tuple[PerfRequest, ...], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def perf(self) -> tuple[PerfRequest, ...]:
        """All measurements, in the order of the rounds."""
        return tuple(request for round_ in self.rounds for request in round_)


def plan_proof(members: Sequence[Member], topology: Topology, kind: TopologyKind | None = None) -> Proof:
    """What to ask of these machines, whose facts are to be fresh. Raises `BadInput` for a broken netplan file."""
    shape = kind or topology.kind
    segments = find_segments(members, topology, shape)
    nodes = {member.name: read_node(member) for member in members}
    addressing = assign_addresses(tuple(nodes.values()), segments)
    mtu = _expected_mtu([read_half(nodes[e.at.member.name], e.at) for e in addressing.assigned])
    present = {entry.key: entry for entry in addressing.assigned if entry.kept}
    links = _links(segments, present, shape)
    pings, routes = _reach(links, mtu)
    if needs_transit(shape, len(members)):
        pings += _transit_pings(members, addressing)
    rounds, missing = _measurements(links, len(members) == 2)
    notes = []
    if missing:
        notes.append(
            say("bandwidth and latency are not measured on {missing}: no RDMA device", missing=", ".join(missing))
        )
    return Proof(tuple(members), shape, segments, addressing, mtu, tuple(pings), tuple(routes), rounds, tuple(notes))


def _expected_mtu(states: Sequence[HalfState]) -> int:
    """The MTU that most halves should have by their files, else have; the larger one where they are equal."""
    mtus = Counter(mtu for state in states if (mtu := state.config.mtu or state.mtu))
    return max(mtus, key=lambda mtu: (mtus[mtu], mtu), default=1500)


@dataclass(frozen=True, slots=True)
class _Link:
    """Two machines that reach each other directly, with the pairs of halves that do."""

    name: str
    pairs: tuple[tuple[Assigned, Assigned], ...]

    @property
    def nodes(self) -> tuple[str, str]:
        return self.pairs[0][0].at.member.name, self.pairs[0][1].at.member.name


def _links(segments: Sequence[Segment], present: dict[tuple[str, str], Assigned], kind: TopologyKind) -> list[_Link]:
    """Cables as they are; on a switch each machine with the next one, so that every machine sends and receives."""
    found: dict[str, list[tuple[Assigned, Assigned]]] = {}
    for segment in segments:
        ends = [present.get((at.member.name, at.netdev)) for at in segment.halves]
        if kind is TopologyKind.SWITCH:
            ring = list(zip(ends, ends[1:] + ends[:1], strict=True))
            pairs = ring if len(ends) > 2 else ring[:1]
        else:
            pairs = [_along_cable(segment, ends)]
        for a, b in pairs:
            if a is not None and b is not None:
                name = f"{a.at.member.name} to {b.at.member.name} ({segment.name})"
                found.setdefault(name, []).append((a, b))
    return [_Link(name, tuple(pairs)) for name, pairs in found.items()]


def _along_cable(segment: Segment, ends: Sequence[Assigned | None]) -> tuple[Assigned | None, Assigned | None]:
    """From the lower port to the higher one: around a ring, every machine then sends once and receives once."""
    order = sorted(range(2), key=lambda i: segment.halves[i].port.number)
    return ends[order[0]], ends[order[1]]


def _place(entry: Assigned, peer: str) -> Place:
    return Place(entry.at.member.name, entry.at.port.number, entry.at.half.label, entry.at.netdev, peer)


def _reach(links: Sequence[_Link], mtu: int) -> tuple[list[PingRequest], list[RouteRequest]]:
    pings, routes = [], []
    for link in links:
        for pair in link.pairs:
            for here, there in (pair, pair[::-1]):
                place = _place(here, there.at.member.name)
                target = str(there.address.ip)
                key = f"{place.node}/{place.netdev}/{target}"
                pings.append(PingRequest(f"ping/{key}", place, target, place.netdev, mtu - _IPV4_AND_ICMP_BYTES))
                routes.append(RouteRequest(f"route/{key}", place, target))
    return pings, routes


def _transit_pings(members: Sequence[Member], addressing: Addressing) -> list[PingRequest]:
    """Each machine to one address of every machine that is no neighbour."""
    near: dict[str, set[str]] = {member.name: {member.name} for member in members}
    for entry in addressing.assigned:
        near[entry.at.member.name] |= {at.member.name for at in entry.segment.halves}
    own = {entry.at.member.name: entry for entry in reversed(addressing.assigned) if entry.kept}
    return [
        PingRequest(f"transit/{a}/{b}", _place(own[a], b), str(own[b].address.ip), None, 56, False)
        for a in own
        for b in own
        if b not in near[a]
    ]


def _measurements(links: Sequence[_Link], both_ways: bool) -> tuple[tuple[tuple[PerfRequest, ...], ...], list[str]]:
    """Rounds of bandwidth, then rounds of latency; and the machines without RDMA."""
    missing: list[str] = []
    rounds: list[tuple[PerfRequest, ...]] = []
    number = 0
    for tool in (BANDWIDTH_TOOL, LATENCY_TOOL):
        for group in _disjoint(links):
            for back in (False, True) if both_ways and tool == BANDWIDTH_TOOL else (False,):
                requests = []
                for link in group:
                    for pair in link.pairs:
                        client, server = pair[::-1] if back else pair
                        request = _perf(tool, client, server, number)
                        if request is None:
                            lacking = [end.at.member.name for end in pair if end.at.half.rdma is None]
                            missing += [name for name in lacking if name not in missing]
                        else:
                            requests.append(request)
                            number += 1
                if requests:
                    rounds.append(tuple(requests))
    return tuple(rounds), missing


def _disjoint(links: Sequence[_Link]) -> list[list[_Link]]:
    """Groups of links in which no machine appears twice: the halves of its two ports share their PCIe links."""
    groups: list[list[_Link]] = []
    for link in links:
        for group in groups:
            if not any(set(link.nodes) & set(other.nodes) for other in group):
                group.append(link)
                break
        else:
            groups.append([link])
    return groups


def _perf(tool: str, client: Assigned, server: Assigned, number: int) -> PerfRequest | None:
    if client.at.half.rdma is None or server.at.half.rdma is None:
        return None
    place = _place(client, server.at.member.name)
    return PerfRequest(
        id=f"{tool}/{place.node}/{place.netdev}/{server.address.ip}",
        place=place,
        tool=tool,
        client_device=client.at.half.rdma.name,
        client_gid_index=gid_index(client),
        server_device=server.at.half.rdma.name,
        server_gid_index=gid_index(server),
        server_address=str(server.address.ip),
        tcp_port=_FIRST_TCP_PORT[tool] + number,
        link=f"{place.node} port {place.port} -> {place.peer} port {server.at.port.number}",
    )


def gid_index(entry: Assigned) -> int | None:
    """The place of the RoCE v2 entry of this half's own address in its GID table; it may differ from node to node."""
    ip = str(entry.address.ip)
    gids = entry.at.half.rdma.gids if entry.at.half.rdma else ()
    return next((gid.index for gid in gids if gid.ipv4 == ip and "v2" in gid.kind.lower()), None)
