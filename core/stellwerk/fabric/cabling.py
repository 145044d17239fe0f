"""Who heard whom -> who is connected to whom.

All interfaces that hear each other share one layer-2 segment. Two ports on a segment are a cable, three or more are a
switch, and so is a segment on which a switch named itself (LLDP) or spoke spanning tree (BPDU). Both halves of a port
sit on one wire, so a half hears its own twin and perhaps itself: that is no neighbour.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stellwerk.fabric.members import Member
from stellwerk.model.fabric import Cable, Cabling, Heard, HearReport, HearState, PortRef, SwitchLink
from stellwerk.model.text import say, whole

_UNHEARD = {
    "needs-sudo": say("it cannot be heard without the sudo password"),
    "down": say("the interface is switched off"),
    "failed": say("listening failed"),
}


@dataclass(frozen=True, slots=True)
class _Stranger:
    """A machine outside this cluster, by what it says of itself."""

    node_id: str
    hostname: str
    netdev: str


_End = PortRef | _Stranger


@dataclass(slots=True)
class _Segments:
    """Disjoint sets of ends that hear each other."""

    parent: dict[_End, _End] = field(default_factory=dict)

    def find(self, end: _End) -> _End:
        self.parent.setdefault(end, end)
        while self.parent[end] != end:
            self.parent[end] = self.parent[self.parent[end]]
            end = self.parent[end]
        return end

    def join(self, a: _End, b: _End) -> None:
        self.parent[self.find(a)] = self.find(b)

    def groups(self) -> list[list[_End]]:
        sets: dict[_End, list[_End]] = {}
        for end in self.parent:
            sets.setdefault(self.find(end), []).append(end)
        return list(sets.values())


def find_cabling(members: Sequence[Member], reports: Mapping[str, HearReport]) -> Cabling:
    """The cabling of the cluster. `reports` maps a member's name to what it heard; a missing one was not asked."""
    segments = _Segments()
    for member in members:
        for port in member.ports:
            segments.find(PortRef(member.name, port.number))
    resolve = _Resolver(members)
    for member in members:
        report = reports.get(member.name)
        if report is None:
            continue
        for heard in report.heard:
            local = resolve.local(member, heard.netdev)
            remote = resolve.remote(heard)
            if local is not None and remote is not None and remote != local:
                segments.join(local, remote)
    switches = _switch_evidence(members, reports)
    return _judge(members, reports, segments.groups(), switches)


class _Resolver:
    """Finds the port behind an interface or a heard frame."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._by_mac: dict[str, PortRef] = {}
        self._by_name: dict[tuple[str, str], PortRef | None] = {}
        self._known_ids = {member.facts.node_id for member in members}
        for member in members:
            for port in member.ports:
                ref = PortRef(member.name, port.number)
                for half in port.halves:
                    for mac in (half.netdev.mac, half.netdev.permanent_mac):
                        if mac:
                            self._by_mac[mac.lower()] = ref
                    key = (member.facts.node_id, half.netdev.name)
                    # Two machines with one id (a copied disk) can only be told apart by their MACs.
                    self._by_name[key] = None if key in self._by_name else ref

    def local(self, member: Member, netdev: str) -> PortRef | None:
        found = member.node_ports.find(netdev)
        return PortRef(member.name, found[0].number) if found else None

    def remote(self, heard: Heard) -> _End | None:
        by_mac = self._by_mac.get(heard.remote_mac.lower())
        if by_mac is not None:
            return by_mac
        key = (heard.remote_node_id, heard.remote_netdev)
        if key in self._by_name:
            return self._by_name[key]
        if heard.remote_node_id in self._known_ids:
            return None  # an interface of a member that is no fabric port
        return _Stranger(heard.remote_node_id, heard.remote_hostname, heard.remote_netdev)


def _switch_evidence(members: Sequence[Member], reports: Mapping[str, HearReport]) -> dict[PortRef, tuple[str, str]]:
    """Ports on which a switch spoke -> (its name, its port; empty where it did not say)."""
    # Hosts run lldpd, too: a neighbour that bears a member's or a heard machine's name is no switch.
    hosts = {member.facts.hostname for member in members}
    macs = {device.mac.lower() for member in members for device in member.facts.netdevs if device.mac}
    for report in reports.values():
        hosts |= {heard.remote_hostname for heard in report.heard}
    evidence: dict[PortRef, tuple[str, str]] = {}
    for member in members:
        own = reports.get(member.name)
        if own is None:
            continue
        for netdev in own.bpdu:
            if found := member.node_ports.find(netdev):
                evidence.setdefault(PortRef(member.name, found[0].number), ("", ""))
        for lldp in own.lldp:
            found = member.node_ports.find(lldp.netdev)
            is_host = (lldp.system_name or "").split(".")[0] in hosts or lldp.chassis.lower() in macs
            if found and not is_host:
                name = lldp.system_name or lldp.chassis
                evidence[PortRef(member.name, found[0].number)] = (name, lldp.port_description or lldp.port)
    return evidence


def _judge(
    members: Sequence[Member],
    reports: Mapping[str, HearReport],
    groups: Iterable[list[_End]],
    switches: Mapping[PortRef, tuple[str, str]],
) -> Cabling:
    cables: list[Cable] = []
    switch_links: list[SwitchLink] = []
    loops: list[tuple[PortRef, PortRef]] = []
    foreign: list[tuple[PortRef, str]] = []
    alone: list[PortRef] = []
    unnamed = 0
    ordered = sorted(groups, key=lambda group: min(str(end) for end in group if isinstance(end, PortRef)))
    for group in ordered:
        ours = sorted(end for end in group if isinstance(end, PortRef))
        strangers = [end for end in group if isinstance(end, _Stranger)]
        outsiders = {stranger.node_id: stranger.hostname for stranger in strangers}
        spoken = [switches[ref] for ref in ours if ref in switches]
        if spoken or len(ours) + len(outsiders) > 2:
            name = next((name for name, _ in spoken if name), "")
            if not name:
                unnamed += 1
                name = say("switch") if unnamed == 1 else say("switch {number}", number=unnamed)
            switch_links += [SwitchLink(ref, name, switches.get(ref, ("", ""))[1] or None) for ref in ours]
        elif len(ours) == 2 and ours[0].node == ours[1].node:
            loops.append((ours[0], ours[1]))
        elif len(ours) == 2:
            cables.append(Cable(ours[0], ours[1], _speed(members, ours)))
        elif outsiders:
            foreign.append((ours[0], next(iter(outsiders.values()))))
        else:
            alone += ours
    silent, dark, unheard = _sort_silence(members, reports, alone)
    return Cabling(
        tuple(cables), tuple(switch_links), tuple(silent), tuple(dark), tuple(unheard), tuple(loops), tuple(foreign)
    )


def _speed(members: Sequence[Member], refs: Iterable[PortRef]) -> int | None:
    """The lowest negotiated speed of all halves at these ports; None where none could be read."""
    speeds = [
        half.netdev.speed_mbps
        for ref in refs
        for member in members
        if member.name == ref.node
        for port in member.ports
        if port.number == ref.port
        for half in port.halves
        if half.netdev.speed_mbps
    ]
    return min(speeds, default=None)


def _sort_silence(
    members: Sequence[Member], reports: Mapping[str, HearReport], alone: Sequence[PortRef]
) -> tuple[list[PortRef], list[PortRef], list[tuple[PortRef, str]]]:
    """Ports that heard nobody: no carrier, nobody there, or could not be asked."""
    silent: list[PortRef] = []
    dark: list[PortRef] = []
    unheard: list[tuple[PortRef, str]] = []
    by_name = {member.name: member for member in members}
    for ref in alone:
        member = by_name[ref.node]
        port = member.node_ports.port(ref.port)
        halves = port.halves if port else ()
        report = reports.get(ref.node)
        states = {state.netdev: state for state in report.states} if report else {}
        told = [states[half.netdev.name] for half in halves if half.netdev.name in states]
        carriers = [half.netdev.carrier for half in halves]
        if any(state.state in ("heard", "silent") for state in told):
            silent.append(ref)
        elif told and all(state.state == "no-carrier" for state in told):
            dark.append(ref)
        elif any(carriers):
            unheard.append((ref, _why_unheard(told)))
        elif carriers and all(carrier is False for carrier in carriers):
            dark.append(ref)  # seen without asking: no light, no cable
        else:
            unheard.append((ref, _why_unheard(told)))
    return silent, dark, unheard


def _why_unheard(told: Sequence[HearState]) -> str:
    for state in told:
        if state.state in _UNHEARD:
            text = _UNHEARD[state.state]
            return (
                say("{text}: {why}", text=text, why=whole(state.why)) if state.state == "failed" and state.why else text
            )
    return say("the node has not been asked")
