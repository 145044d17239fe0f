"""Checks of the fabric halves: addresses, MTU, ARP, GIDs, forwarding. One function per code."""

from __future__ import annotations

import ipaddress
from collections import Counter

from stellwerk.doctor.case import PLAN, Case, NotKnown, finding, words
from stellwerk.fabric.addresses import networks_in_use
from stellwerk.fabric.settings import arp_is_set
from stellwerk.fabric.subnets import HOME_LANS, LINK_LOCAL, overlap
from stellwerk.fabric.transit import needs_transit
from stellwerk.fabric.verification import gid_index
from stellwerk.model.finding import Finding, Severity


def twins_one_subnet(case: Case) -> list[Finding]:
    """Two interfaces of one machine in one subnet."""
    found = []
    for member in case.members:
        seen: dict[ipaddress.IPv4Network, str] = {}
        for node, at, state in case.halves():
            if node.member.name != member.name:
                continue
            for address in state.live:
                if address.network in seen:
                    other = seen[address.network]
                    found.append(
                        finding(
                            "twins-one-subnet",
                            Severity.BAD,
                            f"{other} and {at.netdev} are both in {address.network}",
                            at=at,
                            evidence=(f"{at.netdev}: {address}",),
                            meaning="Two interfaces in one subnet confuse routing and NCCL: answers leave by the "
                            "wrong half, and one half carries everything. Some NVIDIA tools write it this way.",
                            remedy=("Give each half a subnet of its own.", *PLAN),
                            fix="plan",
                        )
                    )
                seen.setdefault(address.network, at.netdev)
    return found


def mtu_mixed(case: Case) -> list[Finding]:
    """A half whose MTU is not what its file says, or not that of the others."""
    case.need_fabric()
    halves = [(entry.at, state) for entry, state in case.in_fabric() if state.mtu is not None]
    planned = Counter(mtu for _, state in halves if (mtu := state.config.mtu or state.mtu))
    if not planned:
        raise NotKnown("no machine reports an MTU")
    usual = max(planned, key=lambda mtu: (planned[mtu], mtu))
    return [
        finding(
            "mtu-mixed",
            Severity.BAD,
            f"MTU is {state.mtu} on one half of {at.member.name}, {usual} elsewhere"
            if any(other.mtu == usual for _, other in halves)
            else f"MTU is {state.mtu} on {at.netdev}, its file says {usual}",
            at=at,
            evidence=(
                f"{at.netdev}: mtu {state.mtu}",
                *(f"{path}: mtu {state.config.mtu}" for path in state.config.files if state.config.mtu),
            ),
            meaning="Large packets are dropped on this half. Small ones pass, so a ping looks fine, but RDMA stops "
            "with IBV_WC_RETRY_EXC_ERR as soon as a model runs.",
            remedy=(f"Put {usual} back. Nothing else changes.", *PLAN),
            fix="plan",
        )
        for at, state in halves
        if state.mtu != usual
    ]


def not_lasting(case: Case) -> list[Finding]:
    """Addresses or an MTU that a restart takes away."""
    case.need_fabric()
    if unread := [node.member.name for node in case.nodes if node.unread]:
        raise NotKnown(f"the netplan files of {words(unread)} need the sudo password")
    found = []
    for entry, state in case.in_fabric():
        lost = [str(address) for address in state.live if address not in state.static and not state.by_dhcp]
        small = state.mtu is not None and state.mtu > (state.config.mtu or 1500)
        if lost or small:
            what = words([*lost, *([f"MTU {state.mtu}"] if small else [])])
            found.append(
                finding(
                    "not-lasting",
                    Severity.WARN,
                    f"{what} of {entry.at.netdev} will be gone after a restart",
                    at=entry.at,
                    evidence=(f"no netplan file of {entry.at.member.name} sets it",),
                    meaning="It was set by hand and works until the machine restarts or NetworkManager takes over.",
                    remedy=PLAN,
                    fix="plan",
                )
            )
    return found


def address_changes(case: Case) -> list[Finding]:
    """DHCP or link-local addresses on the fabric."""
    found = []
    for _, at, state in case.halves():
        if not at.half.netdev.carrier:
            continue
        if state.by_dhcp:
            what = "gets its address by DHCP"
        elif state.link_local and not state.live:
            what = f"has only an address of {LINK_LOCAL}"
        else:
            continue
        found.append(
            finding(
                "address-changes",
                Severity.WARN,
                f"{at.netdev} {what}",
                at=at,
                evidence=at.half.netdev.addresses,
                meaning="It may be another one after a restart; Docker Swarm, Ray and NCCL keep the old one.",
                remedy=PLAN,
                fix="plan",
            )
        )
    return found


def overlapping(case: Case) -> list[Finding]:
    """A fabric subnet that is in use elsewhere, too."""
    addressing = case.need_fabric()
    fabric = frozenset(entry.key for entry in addressing.assigned)
    in_use = networks_in_use(case.nodes, fabric)
    found = []
    for entry, state in case.in_fabric():
        for address in state.live:
            if other := overlap(address.network, in_use):
                found.append(
                    finding(
                        "overlap",
                        Severity.BAD,
                        f"{address.network} of {entry.at.netdev} is in use elsewhere, too",
                        at=entry.at,
                        evidence=(f"{other.network}: {other.where}",),
                        meaning="Traffic for one of the two networks goes to the other one.",
                        remedy=PLAN,
                        fix="plan",
                    )
                )
    return found


def home_lan(case: Case) -> list[Finding]:
    """A fabric subnet that home routers hand out."""
    case.need_fabric()
    found = []
    for entry, state in case.in_fabric():
        for address in state.live:
            lan = next((lan for lan in HOME_LANS if address.network.overlaps(lan)), None)
            if lan is not None:
                found.append(
                    finding(
                        "overlap-home-lan",
                        Severity.WARN,
                        f"{entry.at.netdev} is in {lan}, which many home routers hand out",
                        at=entry.at,
                        evidence=(str(address),),
                        meaning="It works here. In a LAN of that range this machine can no longer be reached.",
                        remedy=("Choose another range in the plan, such as 10.100.0.0/16, and apply it.",),
                        fix="plan",
                    )
                )
    return found


def default_route(case: Case) -> list[Finding]:
    """The way to the internet leads over a fabric half."""
    return [
        finding(
            "default-route-on-fabric",
            Severity.WARN,
            f"A default route of {node.member.name} leads over {at.netdev}",
            at=at,
            evidence=tuple(f"default via {r.via} dev {r.device} metric {r.metric}" for r in routes),
            meaning="A switch that hands out addresses has offered itself as the way to the internet.",
            remedy=("Switch the DHCP server of the switch off.", *PLAN),
            fix="plan",
        )
        for node, at, _ in case.halves()
        if (routes := [r for r in node.member.facts.routes if r.device == at.netdev and r.destination == "default"])
    ]


def arp_flux(case: Case) -> list[Finding]:
    """A neighbour entry with the MAC of the wrong half."""
    addressing = case.need_fabric()
    owner = {str(e.address.ip): e.at for e in addressing.assigned if e.kept}
    entries = [(m, n) for m in case.members for n in m.facts.neighbours if n.address in owner and n.mac]
    if not entries:
        raise NotKnown("no neighbour table has an entry of the fabric yet")
    found = []
    for member, neighbour in entries:
        mac = owner[neighbour.address].half.netdev.mac
        if mac and (neighbour.mac or "").lower() != mac.lower():
            found.append(
                finding(
                    "arp-flux",
                    Severity.BAD,
                    f"{member.name} sends to {neighbour.address} by the wrong half",
                    node=member.name,
                    subject=neighbour.device,
                    evidence=(f"{neighbour.address} is at {neighbour.mac}, but belongs to {mac}",),
                    meaning="Both halves of a port share one wire, and the other one answered. RoCE takes its "
                    "destination from here, so one half gets the traffic of both.",
                    remedy=("Set arp_ignore, arp_announce and rp_filter on the fabric halves.", *PLAN),
                    fix="plan",
                )
            )
    return found


def arp_settings(case: Case) -> list[Finding]:
    """Halves that would answer ARP for each other."""
    case.need_fabric()
    found = []
    for node in case.nodes:
        mine = [entry.at for entry, _ in case.in_fabric() if entry.at.member.name == node.member.name]
        loose = [at for at in mine if not arp_is_set(at)]
        if len(mine) > 1 and loose:
            found.append(
                finding(
                    "arp-settings",
                    Severity.INFO,
                    f"{words(at.netdev for at in loose)} may answer ARP for each other",
                    node=node.member.name,
                    evidence=[
                        f"{device.name}: arp_ignore {device.arp_ignore}, arp_announce {device.arp_announce}"
                        for device in (at.half.netdev for at in loose)
                    ],
                    meaning="It may work for a long time and then give half the speed.",
                    remedy=("A plan that changes this machine sets them.",),
                )
            )
    return found


def gid_missing(case: Case) -> list[Finding]:
    """No RoCE v2 entry for a half's own address."""
    addressing = case.need_fabric()
    halves = [entry for entry in addressing.assigned if entry.kept and entry.at.half.rdma]
    if not any(entry.at.half.rdma.gids for entry in halves if entry.at.half.rdma):
        raise NotKnown("no GID table could be read of a half that has its address")
    return [
        finding(
            "gid-missing",
            Severity.BAD,
            f"{entry.at.half.rdma.name} has no RoCE v2 entry for {entry.address.ip}",
            at=entry.at,
            evidence=[f"{gid.index}: {gid.gid} {gid.kind}" for gid in entry.at.half.rdma.gids][:8],
            meaning="RDMA connections end with `local GID ::` or hang.",
            remedy=("Apply the plan again; if it stays, restart the machine.",),
        )
        for entry in halves
        if entry.at.half.rdma and entry.at.half.rdma.gids and gid_index(entry) is None
    ]


def gid_drift(case: Case) -> list[Finding]:
    """A GID index that is not that of the others."""
    addressing = case.need_fabric()
    indices = {entry.key: gid_index(entry) for entry in addressing.assigned if entry.kept and entry.at.half.rdma}
    known = Counter(index for index in indices.values() if index is not None)
    if not known:
        raise NotKnown("no GID table could be read")
    usual = known.most_common(1)[0][0]
    return [
        finding(
            "gid-drift",
            Severity.INFO,
            f"GID index is {indices[entry.key]} on {entry.at.netdev}, on the others it is {usual}",
            at=entry.at,
            evidence=(f"{entry.at.half.rdma.name if entry.at.half.rdma else entry.at.netdev}: {indices[entry.key]}",),
            meaning="A fixed NCCL_IB_GID_INDEX fails here. What Stellwerk starts reads the index at launch.",
            remedy=("Do not write the index into a file; use the variables that Stellwerk makes.",),
        )
        for entry in addressing.assigned
        if indices.get(entry.key) not in (None, usual)
    ]


def transit(case: Case) -> list[Finding]:
    """Machines of a ring or chain that do not pass traffic on."""
    if not needs_transit(case.kind, len(case.members)):
        return []
    case.need_fabric()
    closed = [entry.at for entry, _ in case.in_fabric() if entry.at.half.netdev.forwarding == 0]
    by_node: dict[str, list[str]] = {}
    for at in closed:
        by_node.setdefault(at.member.name, []).append(at.netdev)
    return [
        finding(
            "transit-off",
            Severity.WARN,
            f"{name} does not pass fabric traffic on",
            node=name,
            evidence=[f"net.ipv4.conf.{netdev}.forwarding = 0" for netdev in netdevs],
            meaning="Neighbours reach each other; machines on opposite sides do not.",
            remedy=PLAN,
            fix="plan",
        )
        for name, netdevs in by_node.items()
    ]
