"""Rings of four and more, and chains: how machines that are no neighbours reach each other.

Each machine passes traffic on between its own ports: routes in netplan, forwarding per fabric interface (never the
global switch, which would join the home LAN to the fabric), and firewall rules limited to fabric interfaces and
subnets, because Docker drops what it does not know.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from ipaddress import IPv4Network

from stellwerk.fabric.addresses import Addressing, Assigned, Key, present_networks
from stellwerk.fabric.members import Member
from stellwerk.fabric.subnets import NEVER
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.plan import CommandChange, FirewallChange, UnitChange

UNIT_NAME = "stellwerk-fabric.service"
UNIT_PATH = f"/etc/systemd/system/{UNIT_NAME}"
_TABLE, _CHAIN = "filter", "FORWARD"
_IPTABLES = "/usr/sbin/iptables"

Routes = dict[Key, tuple[tuple[str, str], ...]]


def needs_transit(kind: TopologyKind, count: int) -> bool:
    """Are there machines that are no neighbours?"""
    return (kind is TopologyKind.RING and count > 3) or (kind is TopologyKind.CHAIN and count > 2)


def transit_routes(members: Sequence[Member], addressing: Addressing) -> Routes:
    """(subnet, next hop) for every subnet that a machine is not on, by the interface that leads there.

    Half A goes by halves A and half B by halves B all the way. On a ring both ways may be equally far: then out of
    the first port, on every machine, so that no two machines disagree.
    """
    found: dict[Key, list[tuple[str, str]]] = {entry.key: [] for entry in addressing.assigned}
    labels = dict.fromkeys(entry.segment.label for entry in addressing.assigned)
    for label in labels:
        by_node: dict[str, list[Assigned]] = {}
        by_segment: dict[str, list[Assigned]] = {}
        for entry in addressing.assigned:
            if entry.segment.label == label:
                by_node.setdefault(entry.at.member.name, []).append(entry)
                by_segment.setdefault(entry.segment.key, []).append(entry)
        for entries in by_node.values():
            entries.sort(key=lambda entry: entry.at.port.number)
        for member in members:
            for entry, hop, network in _ways(member.name, by_node, by_segment):
                found[entry.key].append((str(network), str(hop.address.ip)))
    return {key: tuple(sorted(routes, key=lambda route: IPv4Network(route[0]))) for key, routes in found.items()}


def _ways(
    start: str, by_node: dict[str, list[Assigned]], by_segment: dict[str, list[Assigned]]
) -> list[tuple[Assigned, Assigned, IPv4Network]]:
    """(own interface, next hop, subnet) for each subnet beyond the neighbours, breadth first."""
    own = {entry.segment.key for entry in by_node.get(start, ())}
    first: dict[str, tuple[Assigned, Assigned]] = {}
    seen_segments = set(own)
    result = []
    queue = deque([start])
    while queue:
        name = queue.popleft()
        for entry in by_node.get(name, ()):
            key = entry.segment.key
            if key not in seen_segments:
                seen_segments.add(key)
                result.append((*first[name], entry.address.network))
            for other in by_segment[key]:
                neighbour = other.at.member.name
                if neighbour != start and neighbour not in first:
                    first[neighbour] = first[name] if name != start else (entry, other)
                    queue.append(neighbour)
    return result


def firewall_rules(member: Member, addressing: Addressing) -> tuple[tuple[str, ...], ...]:
    """iptables arguments that let fabric traffic pass between two ports of this machine."""
    mine = [entry for entry in addressing.assigned if entry.at.member.name == member.name]
    pairs = [
        (a.at.netdev, b.at.netdev)
        for a in mine
        for b in mine
        if a.segment.label == b.segment.label and a.at.port.number != b.at.port.number
    ]
    rules = []
    for source, destination in _ranges(addressing):
        for inward, outward in pairs:
            words = ["-i", inward, "-o", outward]
            words += ["-s", str(source)] if source else []
            words += ["-d", str(destination), "-m", "comment", "--comment", "stellwerk", "-j", "ACCEPT"]
            rules.append(tuple(words))
    return tuple(rules)


def _ranges(addressing: Addressing) -> list[tuple[IPv4Network | None, IPv4Network]]:
    """(from, to): one range that holds the whole fabric and nothing else that is in use, or else each subnet."""
    networks = present_networks(addressing)
    cover = networks[0]
    while not all(network.subnet_of(cover) for network in networks) and cover.prefixlen > 8:
        cover = cover.supernet()
    whole = all(network.subnet_of(cover) for network in networks)
    clash = any(cover.overlaps(entry.network) for entry in addressing.taken) or any(cover.overlaps(n) for n in NEVER)
    if whole and not clash:
        return [(cover, cover)]
    return [(None, network) for network in networks]


def unit_text(rules: Sequence[tuple[str, ...]], iptables: str | None) -> str:
    """The systemd unit that puts the rules in after Docker has made its own; repeating it changes nothing."""
    command = f"{iptables or _IPTABLES} -w 5 -t {_TABLE}"
    lines = [
        "# Written by Stellwerk: lets fabric traffic pass between the ports of this machine.",
        "[Unit]",
        "Description=Stellwerk: let fabric traffic pass between ports",
        "After=docker.service network-pre.target",
        "PartOf=docker.service",
        "",
        "[Service]",
        "Type=oneshot",
        "RemainAfterExit=yes",
    ]
    for rule in rules:
        lines += [f"ExecStart=-{command} -D {_CHAIN} {' '.join(rule)}"]
        lines += [f"ExecStart={command} -I {_CHAIN} {' '.join(rule)}"]
    lines += ["", "[Install]", "WantedBy=multi-user.target docker.service"]
    return "\n".join(lines) + "\n"


def rules_in(text: str | None) -> tuple[tuple[str, ...], ...]:
    """The rules that a unit of ours puts in."""
    marker = f" -I {_CHAIN} "
    lines = [line for line in (text or "").splitlines() if line.startswith("ExecStart=") and marker in line]
    return tuple(tuple(line.split(marker, 1)[1].split()) for line in lines)


def firewall_changes(
    before: str | None, rules: Sequence[tuple[str, ...]], iptables: str | None
) -> list[FirewallChange | UnitChange | CommandChange]:
    """From the unit that is there to these rules; nothing when it holds them already. No rules: unit and rules go."""
    after = unit_text(rules, iptables) if rules else None
    if before == after:
        return []
    changes: list[FirewallChange | UnitChange | CommandChange] = []
    old = rules_in(before)
    for rule in old:
        if rule not in rules:
            delete, insert = ("firewall-delete", _TABLE, _CHAIN, *rule), ("firewall-insert", _TABLE, _CHAIN, *rule)
            changes.append(CommandChange(delete, insert, "no longer needed"))
    for rule in rules:
        if rule not in old:
            changes.append(FirewallChange(_TABLE, _CHAIN, rule, "let fabric traffic pass between two ports"))
    why = "put the firewall rules in again after each start of Docker" if rules else "no longer needed"
    changes.append(UnitChange(UNIT_NAME, before, after, why))
    return changes
