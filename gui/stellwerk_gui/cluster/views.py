"""From a look and the telemetry to what the map shows: plain functions, tested without a window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from stellwerk.model.fabric import Cable, PortRef, TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.units import gibibytes_from_kb, link_speed, seconds
from stellwerk_gui.widgets.fabricmap import CableView, HalfView, MapView, NodeView, PortView, SwitchView

if TYPE_CHECKING:
    from stellwerk.fabric.members import Member
    from stellwerk.model.plan import Plan
    from stellwerk.setup.look import Look
    from stellwerk.telemetry import TelemetryStore
    from stellwerk_gui.controller import NodeSnapshot

Rates = Mapping[str, float | None]


def translate(text: str) -> str:
    return QCoreApplication.translate("views", text)


def whole_seconds(age_s: float) -> str:
    """How old something is; fractions of a second would only flicker."""
    return seconds(age_s) if age_s >= 10 else f"{age_s:.0f} s"


def topology_word(kind: TopologyKind) -> str:
    """`Ring`, `Switch` ... in the user's language."""
    return {
        TopologyKind.SINGLE: translate("Single"),
        TopologyKind.PAIR: translate("Pair"),
        TopologyKind.RING: translate("Ring"),
        TopologyKind.CHAIN: translate("Chain"),
        TopologyKind.SWITCH: translate("Switch"),
        TopologyKind.MIXED: translate("Mixed"),
        TopologyKind.UNKNOWN: translate("Not complete yet"),
    }[kind]


def topology_in_words(kind: TopologyKind) -> str:
    """The same in the middle of a sentence."""
    return {
        TopologyKind.SINGLE: translate("single"),
        TopologyKind.PAIR: translate("pair"),
        TopologyKind.RING: translate("ring"),
        TopologyKind.CHAIN: translate("chain"),
        TopologyKind.SWITCH: translate("switch"),
        TopologyKind.MIXED: translate("mixed"),
        TopologyKind.UNKNOWN: translate("not complete yet"),
    }[kind]


def state_word(state: str) -> str:
    """The state of a link (value of `LinkState`) in the user's language."""
    words = {
        "found": translate("Found"),
        "checking key": translate("Checking key"),
        "logging in": translate("Logging in"),
        "installing agent": translate("Installing agent"),
        "ready": translate("Ready"),
        "reconnecting": translate("Reconnecting"),
        "needs attention": translate("Needs attention"),
        "closed": translate("Closed"),
    }
    return words.get(state, state)


def cables_view(look: Look, nodes: Sequence[NodeSnapshot]) -> MapView:
    """The cabling as heard, with what is wrong in red and where it belongs in dots."""
    bad_cables = _wrong_cables(look)
    bad_ports = {ref for f in look.cable_findings if f.severity is Severity.BAD for ref in f.ports}
    cables: list[CableView] = []
    for cable in look.topology.cabling.cables:
        wrong = (cable.a, cable.b) in bad_cables
        slow = cable.speed_mbps is not None and cable.speed_mbps < 200_000
        label = translate("Wrong port") if wrong else link_speed(cable.speed_mbps) if cable.speed_mbps else ""
        sign = "bad" if wrong else "warn" if slow else "ok"
        cables.append(CableView(cable.a, cable.b, "bad" if wrong else "warn" if slow else "ok", label, sign, _quiet()))
    for finding in look.cable_findings:
        cables += [CableView(c.a, c.b, "missing", translate("Missing"), "bad") for c in finding.missing]
        if finding.belongs is not None and finding.cable is not None:
            cables.append(CableView(finding.belongs.a, finding.belongs.b, "belongs"))
    for link in look.topology.cabling.switch_links:
        cables.append(CableView(link.port, None, "ok", "", "plain", _quiet()))
    kind = look.wanted if look.topology.kind is TopologyKind.UNKNOWN else look.topology.kind
    right, needed = cables_right(look)
    ring = kind in (TopologyKind.RING, TopologyKind.CHAIN) and len(look.members) >= 4
    return MapView(
        kind=kind,
        nodes=tuple(_cable_card(member, look, nodes, bad_ports) for member in look.members),
        cables=tuple(_once(cables)),
        switch=_switch(look) if kind in (TopologyKind.SWITCH, TopologyKind.MIXED) else None,
        order=_order(look),
        words=True,
        centre_big=translate("{n} of {all}").format(n=right, all=needed) if ring else "",
        centre_small=translate("cables are right") if ring else "",
    )


def _wrong_cables(look: Look) -> set[tuple[PortRef, PortRef]]:
    """Those that a finding names, and those that sit where one of them belongs: two swapped plugs are one finding."""
    found = [f for f in look.cable_findings if f.severity is Severity.BAD]
    named = {(f.cable.a, f.cable.b) for f in found if f.cable}
    wanted = {end for f in found if f.cable and f.belongs for end in (f.belongs.a, f.belongs.b)}
    cables = {(c.a, c.b) for c in look.topology.cabling.cables}
    return named | {(a, b) for a, b in cables if a in wanted or b in wanted}


def cables_right(look: Look) -> tuple[int, int]:
    """How many cables are right, of how many that there have to be."""
    bad = _wrong_cables(look)
    cabling = look.topology.cabling
    slow = sum(c.speed_mbps is not None and c.speed_mbps < 200_000 for c in cabling.cables if (c.a, c.b) not in bad)
    right = sum((c.a, c.b) not in bad for c in cabling.cables) - slow + len(cabling.switch_links)
    wrong = sum(f.severity is Severity.BAD and bool(f.missing or f.belongs) for f in look.cable_findings)
    needed = right + max(wrong, len(bad) + sum(len(f.missing) for f in look.cable_findings if not f.belongs))
    return right, max(needed, len(look.members)) if cabling.switch_links else needed


def plan_view(plan: Plan, look: Look, nodes: Sequence[NodeSnapshot]) -> MapView:
    """The plan as a drawing: the cables as they are, the planned addresses on the cards."""
    view = cables_view(look, nodes)
    planned = {node.node: node for node in plan.nodes}
    cards: list[NodeView] = []
    for card in view.nodes:
        node = planned.get(card.name)
        rows = node.rows if node is not None else ()
        ports = []
        for port in card.ports:
            then = [r.then or ", ".join(r.now) for r in rows if r.port == port.number and (r.then or r.now)]
            state = "ok" if then else "off"
            words = "  ".join(t.partition("/")[0] for t in then) or translate("no address")
            ports.append(replace(port, words=words, state=state))
        changes = node is not None and bool(node.changes)
        text = translate("Changes") if changes else translate("Adopted")
        state = "busy" if changes else "ready"
        cards.append(replace(card, ports=tuple(ports), state=state, state_text=text, state_icon=not changes))
    cables = tuple(replace(c, label="", label_state="plain") for c in view.cables)
    return replace(view, nodes=tuple(cards), cables=cables, centre_big="", centre_small="")


def _once(cables: Sequence[CableView]) -> list[CableView]:
    seen: dict[tuple[PortRef, PortRef | None, str], CableView] = {}
    for cable in cables:
        seen.setdefault((cable.a, cable.b, cable.state), cable)
    return list(seen.values())


def _quiet() -> tuple[HalfView, ...]:
    return (HalfView("A", "ok"), HalfView("B", "ok"))


def _order(look: Look) -> tuple[str, ...]:
    """Along the ring as it is, or as it is wanted."""
    if look.topology.order:
        return look.topology.order
    wanted = [c for f in look.cable_findings for c in (*f.missing, *([f.belongs] if f.belongs else []))]
    present = [c for c in look.topology.cabling.cables if c not in [f.cable for f in look.cable_findings]]
    return _walk([m.name for m in look.members], [*present, *wanted])


def _walk(names: Sequence[str], cables: Sequence[Cable]) -> tuple[str, ...]:
    near: dict[str, list[str]] = {name: [] for name in names}
    for cable in cables:
        near[cable.a.node].append(cable.b.node)
        near[cable.b.node].append(cable.a.node)
    order = [names[0]] if names else []
    while order and len(order) < len(names):
        following = [n for n in near[order[-1]] if n not in order]
        order.append(following[0] if following else next(n for n in names if n not in order))
    return tuple(order)


def _cable_card(member: Member, look: Look, nodes: Sequence[NodeSnapshot], bad: set[PortRef]) -> NodeView:
    ends: dict[PortRef, str] = {}
    near: dict[PortRef, str] = {}
    for cable in look.topology.cabling.cables:
        for own, other in ((cable.a, cable.b), (cable.b, cable.a)):
            near[own] = other.node
            ends[own] = translate("to {node} port {n}").format(node=other.node, n=other.port)
    for link in look.topology.cabling.switch_links:
        near[link.port] = translate("Switch")
        ends[link.port] = translate("to the switch") + (f", {link.switch_port}" if link.switch_port else "")
    for ref, host in look.topology.cabling.foreign:
        ends[ref] = translate("to {host}, not of this cluster").format(host=host)
    unheard = dict(look.topology.cabling.unheard)
    ports = []
    for port in member.ports:
        ref = PortRef(member.name, port.number)
        carrier = any(half.netdev.carrier for half in port.halves)
        words = ends.get(ref) or unheard.get(ref) or (translate("nobody answers") if carrier else translate("no cable"))
        state = "bad" if ref in bad else "ok" if ref in ends else "off"
        light = "bad" if ref in bad and carrier else "ok" if carrier else "off"
        halves = tuple(HalfView(h.label, light) for h in port.halves)
        ports.append(PortView(port.number, halves, words, near.get(ref) or (words if carrier else "–"), state))
    snapshot = next((n for n in nodes if n.name == member.name), None)
    away = snapshot is not None and not snapshot.ready
    return NodeView(
        name=member.name,
        number=member.number,
        state="unreachable" if away else "ready",
        state_text=state_word(snapshot.state) if away and snapshot else gibibytes_from_kb(member.facts.memory.total_kb),
        state_icon=away,
        ports=tuple(ports),
    )


def _switch(look: Look) -> SwitchView:
    links = look.topology.cabling.switch_links
    named = next((link.switch for link in links if link.switch and link.switch != "switch"), "")
    seen = translate("1 port seen") if len(links) == 1 else translate("{n} ports seen").format(n=len(links))
    on_it = {link.port for link in links}
    halves = [
        half.netdev
        for member in look.members
        for port in member.ports
        if PortRef(member.name, port.number) in on_it
        for half in port.halves
    ]
    speeds = {netdev.speed_mbps for netdev in halves if netdev.speed_mbps}
    mtus = {netdev.mtu for netdev in halves if netdev.mtu}
    same = [link_speed(*speeds)] if len(speeds) == 1 else []
    same += [f"MTU {mtu}" for mtu in mtus] if len(mtus) == 1 else []
    return SwitchView(
        name=translate("Switch"),
        left=f"{named} (LLDP)" if named else "",
        right=" · ".join((seen, *same)),
        port_names=tuple((link.port, link.switch_port or "") for link in links),
    )


def live_view(
    look: Look | None,
    nodes: Sequence[NodeSnapshot],
    telemetry: TelemetryStore | None,
    now_s: float,
    notes: Mapping[str, tuple[str, str]] | None = None,
    bad_halves: Mapping[tuple[str, str], str] | None = None,
) -> MapView:
    """The cluster as it lives. `notes`: node -> (state, sentence); `bad_halves`: (node, netdev) -> warn | bad."""
    kind = look.topology.kind if look is not None else TopologyKind.UNKNOWN
    members = {m.name: m for m in look.members} if look is not None else {}
    latest: dict[str, Rates] = {n.name: telemetry.latest(n.name) if telemetry else {} for n in nodes}
    cards = tuple(
        _live_card(
            n, members.get(n.name), latest[n.name], telemetry, now_s, (notes or {}).get(n.name), bad_halves or {}
        )
        for n in nodes
    )
    cables: list[CableView] = []
    if look is not None:
        names = {n.name for n in nodes}
        for cable in look.topology.cabling.cables:
            if {cable.a.node, cable.b.node} <= names:
                cables.append(_live_cable(cable.a, cable.b, members, latest, bad_halves or {}))
        for link in look.topology.cabling.switch_links:
            if link.port.node in names:
                cables.append(_live_cable(link.port, None, members, latest, bad_halves or {}))
    order = look.topology.order if look is not None else ()
    switch = _switch(look) if look is not None and look.topology.cabling.switch_links else None
    return MapView(kind, cards, tuple(cables), switch, order)


def _half(
    label: str, netdev: str, carrier: bool | None, node: str, rates: Rates, bad: Mapping[tuple[str, str], str]
) -> HalfView:
    state = bad.get((node, netdev), "ok") if carrier else "off"
    return HalfView(label, state, rates.get(f"half.{netdev}.tx"), rates.get(f"half.{netdev}.rx"))


def _live_cable(
    a: PortRef,
    b: PortRef | None,
    members: Mapping[str, Member],
    latest: Mapping[str, Rates],
    bad: Mapping[tuple[str, str], str],
) -> CableView:
    member = members.get(a.node)
    port = member.node_ports.port(a.port) if member is not None else None
    halves = tuple(
        _half(h.label, h.netdev.name, True, a.node, latest.get(a.node, {}), bad) for h in (port.halves if port else ())
    )
    tx, rx = sum(h.tx_gbps or 0 for h in halves), sum(h.rx_gbps or 0 for h in halves)
    worst = (
        "bad" if any(h.state == "bad" for h in halves) else "warn" if any(h.state == "warn" for h in halves) else "ok"
    )
    label = ""
    if worst != "ok":
        label = "  ".join(f"{h.label} {h.load_gbps:.1f}" for h in halves) + " Gb/s"
    elif max(tx, rx) >= 8:
        parts = ([f"↑ {tx:.1f}"] if tx >= 8 else []) + ([f"↓ {rx:.1f}"] if rx >= 8 else [])
        label = "  ".join(parts) + " Gb/s"
    return CableView(a, b, "ok" if worst == "ok" else "warn", label, "plain" if worst == "ok" else worst, halves)


def _live_card(
    node: NodeSnapshot,
    member: Member | None,
    rates: Rates,
    telemetry: TelemetryStore | None,
    now_s: float,
    note: tuple[str, str] | None,
    bad: Mapping[tuple[str, str], str],
) -> NodeView:
    fresh = telemetry.freshness(node.name, now_s) if telemetry is not None else None
    stale = fresh is None or fresh.stale
    away = not node.ready or (stale and fresh is not None and fresh.age_s is not None)
    state, sentence = note or ("ready", "")
    words = {"ready": translate("Ready"), "degraded": translate("Degraded"), "bad": translate("Needs attention")}
    text = words[state]
    age_s = fresh.age_s if fresh is not None else None
    if away:
        state = "unreachable"
        old = whole_seconds(age_s) if age_s is not None else translate("No data")
        text = old if node.ready else state_word(node.state)
    ports: list[PortView] = []
    tx: list[float] = []
    rx: list[float] = []
    for port in member.ports if member is not None else ():
        halves = tuple(_half(h.label, h.netdev.name, h.netdev.carrier, node.name, rates, bad) for h in port.halves)
        ports.append(PortView(port.number, halves))
        tx += [h.tx_gbps for h in halves if h.tx_gbps is not None]
        rx += [h.rx_gbps for h in halves if h.rx_gbps is not None]
    subtitle = ""
    if member is not None:
        subtitle = member.facts.product or member.facts.os_name or ""
    return NodeView(
        name=node.name,
        number=node.number,
        state=state,
        state_text=text,
        subtitle=subtitle,
        ports=tuple(ports),
        gpu_pct=rates.get("gpu.util"),
        cpu_pct=rates.get("cpu"),
        mem_used_gib=rates.get("mem.used"),
        mem_total_gib=rates.get("mem.total"),
        temp_c=rates.get("gpu.temp") if rates.get("gpu.temp") is not None else rates.get("temp.max"),
        power_w=rates.get("gpu.power"),
        tx_gbps=sum(tx) if tx else None,
        rx_gbps=sum(rx) if rx else None,
        note=sentence,
        age_s=age_s if away else None,
    )
