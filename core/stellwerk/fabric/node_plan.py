"""What changes on one machine: its netplan files, its settings, its firewall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from stellwerk.fabric.addresses import Addressing, Assigned, Key
from stellwerk.fabric.members import HalfAt
from stellwerk.fabric.netplan import OWN_PATH, Claim, NetplanText, Stanza, render
from stellwerk.fabric.settings import arp_is_set, settings_removed, sysctl_changes
from stellwerk.fabric.state import HalfState, NodeState, halves_of, read_half
from stellwerk.fabric.transit import UNIT_PATH, firewall_changes, firewall_rules
from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.plan import Change, FileChange, HalfRow, NodePlan
from stellwerk.model.text import joined, say

_KNOWN_KEYS = {"addresses", "dhcp4", "dhcp6", "link-local", "mtu", "optional", "routes", "match", "renderer"}
_KNOWN_KEYS |= {"networkmanager", "accept-ra", "wakeonlan", "dhcp-identifier", "critical"}


@dataclass(frozen=True, slots=True)
class Intent:
    """What the whole plan wants of every machine."""

    addressing: Addressing
    mtu: int
    routes: Mapping[Key, tuple[tuple[str, str], ...]]
    transit: bool


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with a half, in words, and whether its files are right and only the machine is not."""

    why: str
    files_are_right: bool = False


@dataclass(slots=True)
class Told:
    """What a person should know about the plan."""

    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def plan_node(node: NodeState, intent: Intent, told: Told, last: bool) -> NodePlan:
    """The plan of one machine. Raises `PlanRefused` or `BadInput` when it cannot be done without harm."""
    member = node.member
    mine = sorted(
        (entry for entry in intent.addressing.assigned if entry.at.member.name == member.name),
        key=lambda entry: (entry.at.port.number, entry.at.half.label),
    )
    states = {entry.key: read_half(node, entry.at) for entry in mine}
    wrong = {entry.key: _what_is_wrong(node, entry, states[entry.key], intent) for entry in mine}
    dropped = _left_over(node, mine)
    changes: list[Change] = []
    reconfigure: list[str] = []
    if any(wrong.values()) or dropped:
        changes, reconfigure = _netplan_changes(node, mine, wrong, dropped, intent, told)
    elif node.unread:
        told.notes.append(
            say(
                "{member}: {unread} could not be read without sudo, so whether its addresses survive a restart "
                "is not known.",
                member=member.name,
                unread=", ".join(node.unread),
            )
        )
    unit = member.facts.own_files.get(UNIT_PATH)
    ours = bool(changes) or node.owned or intent.transit
    halves = [entry.at for entry in mine]
    if len(halves) > 1 and (ours or _arp_flux(node, intent)):
        changes += sysctl_changes(member, halves, intent.transit)
    elif len(halves) > 1 and not all(arp_is_set(at) for at in halves):
        told.notes.append(
            say(
                "{member}: its ARP settings are left as they are; if a neighbour answers with the MAC of the "
                "wrong half, the next plan sets them.",
                member=member.name,
            )
        )
    iptables = member.facts.tools.get("iptables")
    rules = firewall_rules(member, intent.addressing) if intent.transit else ()
    if rules and "iptables" in member.facts.tools and iptables is None:
        told.notes.append(
            say("{member}: it has no iptables, so nothing there drops the fabric's traffic.", member=member.name)
        )
        rules = ()
    changes += firewall_changes(unit, rules, iptables)
    if not changes and mine:
        files = sorted({PurePosixPath(f).name for state in states.values() for f in state.config.files})
        source = say("set up in {files}", files=", ".join(files)) if files else say("set up already")
        told.notes.append(say("{member}: nothing to change, {source}.", member=member.name, source=source))
    rows = [_row(entry, states[entry.key], wrong[entry.key], intent) for entry in mine]
    rows += [_dropped_row(at, read_half(node, at)) for at in dropped]
    return NodePlan(
        node=member.name,
        node_id=member.facts.node_id,
        rows=tuple(sorted(rows, key=lambda row: (row.port, row.half))),
        changes=tuple(changes),
        reconfigure=tuple(reconfigure),
        expect_addresses=tuple((entry.at.netdev, str(entry.address)) for entry in mine),
        expect_mtu=tuple((entry.at.netdev, intent.mtu) for entry in mine),
        peers=_peers(mine, intent.addressing),
        last=last,
    )


def leave_node(node: NodeState) -> NodePlan:
    """The plan of a machine that leaves the cluster: what we wrote goes, nothing else."""
    member = node.member
    changes: list[Change] = []
    halves = list(halves_of(member))
    own = next((text for text in node.texts if text.path == OWN_PATH), None)
    ours = [at for at in halves if own is not None and own.claims(at.half.netdev)]
    if own is not None:
        changes.append(FileChange(OWN_PATH, own.text, None, why="the node leaves the cluster"))
    changes += settings_removed(member, halves)
    changes += firewall_changes(member.facts.own_files.get(UNIT_PATH), (), None)
    rows = tuple(_dropped_row(at, read_half(node, at)) for at in ours)
    return NodePlan(member.name, member.facts.node_id, rows, tuple(changes), tuple(at.netdev for at in ours))


def _what_is_wrong(node: NodeState, entry: Assigned, state: HalfState, intent: Intent) -> Wrong | None:
    """Why a half has to change; None when it is right for good."""
    if not entry.kept:
        return Wrong(entry.why)
    wanted = [str(entry.address)]
    live = "" if [str(address) for address in state.live] == wanted else say("its address is not in effect")
    if not live and state.mtu != intent.mtu:
        live = say("its MTU is {mtu}", mtu=state.mtu if state.mtu is not None else say("not known"))
    if node.unread:
        return Wrong(live) if live else None
    routes = intent.routes.get(entry.key, ())
    files = ""
    if [str(address) for address in state.static] != wanted:
        files = say("its address is in no netplan file and would be gone after a restart")
    elif (state.config.mtu or 1500) != intent.mtu:
        files = live or say("its MTU is {mtu} only until the next restart", mtu=intent.mtu)
    elif not set(routes) <= set(state.config.routes):
        files = say("it lacks the routes to nodes that are no neighbours")
    elif OWN_PATH in state.config.files and set(routes) != set(state.config.routes):
        files = say("its routes are those of an earlier plan")
    if files:
        return Wrong(files)
    return Wrong(live, files_are_right=True) if live else None


def _left_over(node: NodeState, mine: Sequence[Assigned]) -> list[HalfAt]:
    """Halves that our file still configures although they are no longer part of the fabric."""
    planned = {entry.at.netdev for entry in mine}
    own = [text for text in node.texts if text.path == OWN_PATH]
    return [
        at
        for at in halves_of(node.member)
        if at.netdev not in planned and any(text.claims(at.half.netdev) for text in own)
    ]


def _netplan_changes(
    node: NodeState,
    mine: Sequence[Assigned],
    wrong: Mapping[Key, Wrong | None],
    dropped: Sequence[HalfAt],
    intent: Intent,
    told: Told,
) -> tuple[list[Change], list[str]]:
    member = node.member
    if node.unread:
        raise PlanRefused(
            say("{unread} cannot be read, so no plan can be made", unread=", ".join(node.unread)),
            node=member.name,
            why="netplan files belong to root",
            remedy="Give the sudo password and look again",
        )
    affected = [(entry, reason) for entry in mine if (reason := wrong[entry.key])]
    if not dropped and all(reason.files_are_right for _, reason in affected):
        return _again(node, [entry for entry, _ in affected]), [entry.at.netdev for entry, _ in affected]
    stanzas = [
        Stanza(entry.at.netdev, str(entry.address), intent.mtu, tuple(intent.routes.get(entry.key, ())))
        for entry in mine
    ]
    changes: list[Change] = []
    own = next((text for text in node.texts if text.path == OWN_PATH), None)
    before = own.text if own else None
    after = render(stanzas) if stanzas else None
    if before is not None or after is not None:
        changes.append(FileChange(OWN_PATH, before, after, why=_why(wrong, dropped)))
    changed = {entry.at.netdev for entry in mine if wrong[entry.key]}
    for text in node.texts:
        if text.path != OWN_PATH:
            changed |= _take_over(text, [entry.at for entry in mine], node, changes, told)
    names = [entry.at.netdev for entry in mine if entry.at.netdev in changed] + [at.netdev for at in dropped]
    return changes, names


def _again(node: NodeState, affected: Sequence[Assigned]) -> list[Change]:
    """The files are right and only the machine is not (an MTU was reset): writing them again puts them into effect."""
    paths = {path for entry in affected for path in read_half(node, entry.at).config.files}
    why = "the file is right and has to be put into effect again"
    return [FileChange(text.path, text.text, text.text, why=why) for text in node.texts if text.path in paths]


def _why(wrong: Mapping[Key, Wrong | None], dropped: Sequence[HalfAt]) -> str:
    reasons = list(dict.fromkeys(reason.why for reason in wrong.values() if reason))
    if dropped:
        reasons.append(say("{names} no longer belongs to the fabric", names=", ".join(at.netdev for at in dropped)))
    return joined(reasons, "; ")


def _take_over(
    text: NetplanText, halves: Sequence[HalfAt], node: NodeState, changes: list[Change], told: Told
) -> set[str]:
    """Take our halves' keys out of a foreign file; gives the interfaces that it configured."""
    name = node.member.name
    keys: dict[str, str] = {}
    for at in halves:
        for claim in text.claims(at.half.netdev):
            value = text.ethernets.get(claim.key, {})
            if claim.kind == "pattern" and "networkmanager" in value:
                told.warnings.append(
                    say(
                        "{name}: {path} holds a NetworkManager profile that fits any interface, {netdev} too; it "
                        "stays, and our profile is made active.",
                        name=name,
                        path=text.path,
                        netdev=claim.netdev,
                    )
                )
            elif claim.kind != "own":
                raise PlanRefused(
                    say(
                        "{path} configures {netdev} in a way that cannot be taken over",
                        path=text.path,
                        netdev=claim.netdev,
                    ),
                    node=name,
                    why=_cannot(claim),
                    remedy=say("Take {netdev} out of that file by hand, then look again", netdev=claim.netdev),
                )
            else:
                keys[claim.key] = claim.netdev
                _tell_lost(text, value, claim.netdev, name, told)
    if not keys:
        return set()
    if str(PurePosixPath(text.path).parent) != "/etc/netplan":
        raise PlanRefused(
            say(
                "{path} configures {values} and lies outside /etc/netplan",
                path=text.path,
                values=", ".join(keys.values()),
            ),
            node=name,
        )
    try:
        after = text.without(keys)
    except BadInput as error:
        raise PlanRefused(error.what, node=name, why=error.why, remedy=error.remedy) from None
    what = say("nothing else is in it") if after is None else say("everything else in it stays")
    why = say(
        "{values} moves to {own_path}; {what}",
        values=", ".join(keys.values()),
        own_path=PurePosixPath(OWN_PATH).name,
        what=what,
    )
    changes.append(FileChange(text.path, text.text, after, why=why))
    return set(keys.values())


def _cannot(claim: Claim) -> str:
    if claim.kind == "pattern":
        return say("its entry {key} fits other interfaces, too", key=claim.key)
    if claim.kind == "rename":
        return say("its entry {key} gives the interface its name", key=claim.key)
    return say("it is part of {key}", key=claim.key)


def _tell_lost(text: NetplanText, value: Mapping[str, object], netdev: str, name: str, told: Told) -> None:
    lost: list[str] = sorted(set(value) - _KNOWN_KEYS)
    addresses = value.get("addresses")
    if isinstance(addresses, list) and any(isinstance(a, str) and ":" in a for a in addresses):
        lost.append(say("its IPv6 addresses"))
    if lost:
        told.warnings.append(
            say(
                "{name}: {path} also sets {lost} for {netdev}; that goes.",
                name=name,
                path=text.path,
                lost=joined(lost),
                netdev=netdev,
            )
        )


def _arp_flux(node: NodeState, intent: Intent) -> bool:
    """Does a neighbour entry hold the MAC of another half than the one that has the address?"""
    owner = {str(e.address.ip): e.at.half.netdev for e in intent.addressing.assigned}
    for entry in node.member.facts.neighbours:
        device = owner.get(entry.address)
        if device is not None and entry.mac and device.mac and entry.mac.lower() != device.mac.lower():
            return True
    return False


def _peers(mine: Sequence[Assigned], addressing: Addressing) -> tuple[tuple[str, str], ...]:
    return tuple(
        (entry.at.netdev, str(other.address.ip))
        for entry in mine
        for other in addressing.assigned
        if other.segment.key == entry.segment.key and other.key != entry.key
    )


def _row(entry: Assigned, state: HalfState, wrong: Wrong | None, intent: Intent) -> HalfRow:
    others = [at for at in entry.segment.halves if at.member.name != entry.at.member.name]
    peer = str(others[0].ref) if entry.segment.name != "switch" and others else entry.segment.name
    return HalfRow(
        port=entry.at.port.number,
        half=entry.at.half.label,
        netdev=entry.at.netdev,
        now=_now(entry.at),
        then=str(entry.address),
        mtu_now=state.mtu,
        mtu_then=intent.mtu,
        changed=wrong is not None,
        peer=peer,
        why=wrong.why if wrong else "",
    )


def _dropped_row(at: HalfAt, state: HalfState) -> HalfRow:
    why = "it no longer belongs to the fabric"
    return HalfRow(at.port.number, at.half.label, at.netdev, _now(at), None, state.mtu, None, bool(_now(at)), why=why)


def _now(at: HalfAt) -> tuple[str, ...]:
    return tuple(address for address in at.half.netdev.addresses if ":" not in address)
