"""Checks of the fabric halves: addresses, MTU, ARP, GIDs, forwarding. One function per code."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Sequence

from stellwerk.doctor.case import PLAN, Case, NotKnown, finding
from stellwerk.fabric.addresses import networks_in_use
from stellwerk.fabric.members import HalfAt
from stellwerk.fabric.settings import arp_is_set
from stellwerk.fabric.state import HalfState
from stellwerk.fabric.subnets import HOME_LANS, LINK_LOCAL, overlap
from stellwerk.fabric.transit import needs_transit
from stellwerk.fabric.verification import gid_index
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.text import say, words


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
                            say(
                                "{other} and {netdev} are both in {network}",
                                other=other,
                                netdev=at.netdev,
                                network=address.network,
                            ),
                            at=at,
                            evidence=(say("{netdev}: {address}", netdev=at.netdev, address=address),),
                            meaning="Two interfaces in one subnet confuse routing and NCCL: answers leave by the "
                            "wrong half, and one half carries everything. Some NVIDIA tools write it this way.",
                            remedy=("Give each half a subnet of its own.", *PLAN),
                            fix="plan",
                        )
                    )
                seen.setdefault(address.network, at.netdev)
    return found


def mtu_mixed(case: Case) -> list[Finding]:
    """Halves whose MTU is not what their file says, or not that of the others; a node's are one finding."""
    case.need_fabric()
    halves = [(entry.at, state) for entry, state in case.in_fabric() if state.mtu is not None]
    planned = Counter(mtu for _, state in halves if (mtu := state.config.mtu or state.mtu))
    if not planned:
        raise NotKnown("no node reports an MTU")
    usual = max(planned, key=lambda mtu: (planned[mtu], mtu))
    others_are_right = any(state.mtu == usual for _, state in halves)
    wrong: dict[tuple[str, int | None], list[tuple[HalfAt, HalfState]]] = {}
    for at, state in halves:
        if state.mtu != usual:
            wrong.setdefault((at.member.name, state.mtu), []).append((at, state))
    return [
        finding(
            "mtu-mixed",
            Severity.BAD,
            _mtu_title(member, mtu, found, usual, others_are_right),
            node=member,
            at=found[0][0] if len(found) == 1 else None,
            evidence=tuple(
                dict.fromkeys(
                    (
                        *(say("{netdev}: mtu {mtu}", netdev=at.netdev, mtu=mtu) for at, _ in found),
                        *(
                            say("{path}: mtu {mtu}", path=path, mtu=state.config.mtu)
                            for _, state in found
                            for path in state.config.files
                            if state.config.mtu
                        ),
                    )
                )
            ),
            meaning="Large packets are dropped there. Small ones pass, so a ping looks fine, but RDMA stops "
            "with IBV_WC_RETRY_EXC_ERR as soon as a model runs.",
            remedy=(say("Put {usual} back. Nothing else changes.", usual=usual), *PLAN),
            fix="plan",
        )
        for (member, mtu), found in wrong.items()
    ]


def _mtu_title(
    member: str, mtu: int | None, found: Sequence[tuple[HalfAt, HalfState]], usual: int, others_are_right: bool
) -> str:
    netdev, count = found[0][0].netdev, len(found)
    if others_are_right and count == 1:
        return say("MTU is {mtu} on one half of {member}, {usual} elsewhere", mtu=mtu, member=member, usual=usual)
    if others_are_right:
        return say(
            "MTU is {mtu} on {count} halves of {member}, {usual} elsewhere",
            mtu=mtu,
            count=count,
            member=member,
            usual=usual,
        )
    if count == 1:
        return say("MTU is {mtu} on {netdev}, its file says {usual}", mtu=mtu, netdev=netdev, usual=usual)
    return say(
        "MTU is {mtu} on {count} halves of {member}, their files say {usual}",
        mtu=mtu,
        count=count,
        member=member,
        usual=usual,
    )


def not_lasting(case: Case) -> list[Finding]:
    """Addresses or an MTU that a restart takes away."""
    case.need_fabric()
    if unread := [node.member.name for node in case.nodes if node.unread]:
        raise NotKnown(say("the netplan files of {unread} need the sudo password", unread=words(unread)))
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
                    say("{what} of {netdev} will be gone after a restart", what=what, netdev=entry.at.netdev),
                    at=entry.at,
                    evidence=(say("no netplan file of {member} sets it", member=entry.at.member.name),),
                    meaning="It was set by hand and works until the node restarts or NetworkManager takes over.",
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
            title = say("{netdev} gets its address by DHCP", netdev=at.netdev)
        elif state.link_local and not state.live:
            title = say("{netdev} has only an address of {network}", netdev=at.netdev, network=LINK_LOCAL)
        else:
            continue
        found.append(
            finding(
                "address-changes",
                Severity.WARN,
                title,
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
                        say(
                            "{network} of {netdev} is in use elsewhere, too",
                            network=address.network,
                            netdev=entry.at.netdev,
                        ),
                        at=entry.at,
                        evidence=(say("{network}: {where}", network=other.network, where=other.where),),
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
                        say("{netdev} is in {lan}, which many home routers hand out", netdev=entry.at.netdev, lan=lan),
                        at=entry.at,
                        evidence=(str(address),),
                        meaning="It works here. In a LAN of that range this node can no longer be reached.",
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
            say("A default route of {member} leads over {netdev}", member=node.member.name, netdev=at.netdev),
            at=at,
            evidence=tuple(
                say("default via {via} dev {device} metric {metric}", via=r.via, device=r.device, metric=r.metric)
                for r in routes
            ),
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
                    say("{member} sends to {address} by the wrong half", member=member.name, address=neighbour.address),
                    node=member.name,
                    subject=neighbour.device,
                    evidence=(
                        say(
                            "{address} is at {mac}, but belongs to {mac2}",
                            address=neighbour.address,
                            mac=neighbour.mac,
                            mac2=mac,
                        ),
                    ),
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
                    say("{netdev} may answer ARP for each other", netdev=words(at.netdev for at in loose)),
                    node=node.member.name,
                    evidence=[
                        say(
                            "{device}: arp_ignore {arp_ignore}, arp_announce {arp_announce}",
                            device=device.name,
                            arp_ignore=device.arp_ignore,
                            arp_announce=device.arp_announce,
                        )
                        for device in (at.half.netdev for at in loose)
                    ],
                    meaning="It may work for a long time and then give half the speed.",
                    remedy=("A plan that changes this node sets them.",),
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
            say("{rdma} has no RoCE v2 entry for {ip}", rdma=entry.at.half.rdma.name, ip=entry.address.ip),
            at=entry.at,
            evidence=[
                say("{index}: {gid} {kind}", index=gid.index, gid=gid.gid, kind=gid.kind)
                for gid in entry.at.half.rdma.gids
            ][:8],
            meaning="RDMA connections end with `local GID ::` or hang.",
            remedy=("Apply the plan again; if it stays, restart the node.",),
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
            say(
                "GID index is {indices} on {netdev}, on the others it is {usual}",
                indices=indices[entry.key],
                netdev=entry.at.netdev,
                usual=usual,
            ),
            at=entry.at,
            evidence=(
                say(
                    "{rdma}: {indices}",
                    rdma=entry.at.half.rdma.name if entry.at.half.rdma else entry.at.netdev,
                    indices=indices[entry.key],
                ),
            ),
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
            say("{name} does not pass fabric traffic on", name=name),
            node=name,
            evidence=[say("net.ipv4.conf.{netdev}.forwarding = 0", netdev=netdev) for netdev in netdevs],
            meaning="Neighbours reach each other; nodes on opposite sides do not.",
            remedy=PLAN,
            fix="plan",
        )
        for name, netdevs in by_node.items()
    ]
