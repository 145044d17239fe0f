"""What is wrong with the cables, in words: one finding per movement of a hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stellwerk.fabric.cable_words import look_where, move_it, pull, rule, shape_in_words, what_is_wrong, where
from stellwerk.fabric.expected import Rewiring, has_ports_for, rewire
from stellwerk.fabric.members import Member
from stellwerk.model.fabric import Cable, CableFinding, Cabling, Movement, PortRef, Topology, TopologyKind
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.text import Text, joined, say, words
from stellwerk.model.units import link_speed

FULL_SPEED_MBPS = 200_000
_ASK_AGAIN = "Give the sudo password, or switch the interface on, and look again."
_FOLLOW = "If it stays so with root on every node, follow the cable: its other end is not at one of them."
_SILENT = say("it has a signal, but heard nobody")


def cable_findings(members: Sequence[Member], topology: Topology, wanted: TopologyKind) -> tuple[CableFinding, ...]:
    """All that has to be said about the cables for the wanted topology, worst first."""
    if wanted is TopologyKind.SINGLE or len(members) < 2:
        return ()
    lacking = [member for member in members if not has_ports_for(member, wanted)]
    if lacking:
        return tuple(_too_few_ports(member, wanted) for member in lacking)
    cabling = topology.cabling
    if wanted is TopologyKind.SWITCH:
        findings = _for_switch(members, topology)
    else:
        findings = _for_cables(members, cabling, wanted)
    findings += _slow_links(members, cabling)
    findings += [_foreign(ref, host) for ref, host in cabling.foreign if not _spoken_of(ref, findings)]
    return tuple(sorted(findings, key=lambda finding: finding.severity.rank))


def as_finding(finding: CableFinding) -> Finding:
    """The same for lists that hold findings of every kind."""
    first = finding.ports[0] if finding.ports else None
    cable = finding.cable
    evidence = (say("{port} goes to {other}", port=cable.a, other=cable.b),) if cable else ()
    return Finding(
        finding.code,
        finding.severity,
        finding.title,
        first.node if first else None,
        say("port {port}", port=first.port) if first else None,
        evidence,
        finding.meaning,
        finding.steps,
    )


def _spoken_of(ref: PortRef, findings: Sequence[CableFinding]) -> bool:
    return any(ref in finding.ports for finding in findings)


def _too_few_ports(member: Member, wanted: TopologyKind) -> CableFinding:
    have = len(member.ports)
    titles = (
        say("{node} has no ports for a fabric.", node=member.name),
        say("{node} has one port for a fabric.", node=member.name),
    )
    return CableFinding(
        "too-few-ports",
        Severity.BAD,
        titles[min(have, 1)],
        meaning=member.node_ports.note or say("A {kind} needs two ports on every node.", kind=wanted.word),
        steps=(say("Choose another topology, or leave {node} out.", node=member.name),),
    )


# --- pair, ring, chain -----------------------------------------------------------------------------------------------


def _for_cables(members: Sequence[Member], cabling: Cabling, wanted: TopologyKind) -> list[CableFinding]:
    plan = rewire(members, wanted, cabling)
    shape = shape_in_words(members, wanted)
    missing = list(plan.missing)
    findings: list[CableFinding] = []
    in_the_way = {movement.to for movement in plan.movements} | {end for c in missing for end in (c.a, c.b)}
    # An extra cable whose port is needed must go first: the movements below expect the port to be free.
    findings += [_extra(cable, wanted, bool(in_the_way & {cable.a, cable.b})) for cable in plan.extra]
    taken = {movement.plug for movement in plan.movements if movement.kind == "move"}
    was_taken = frozenset(taken)
    for movement in plan.movements:
        taken.discard(movement.plug)
        # A missing cable whose place a wrong plug takes is the same finding, once both its places are free.
        freed = [c for c in missing if was_taken & {c.a, c.b} and not taken & {c.a, c.b}]
        missing = [cable for cable in missing if cable not in freed]
        findings.append(_moved(movement, plan, wanted, shape, freed))
    # A pair may be joined by any port, so any port that has a cable and could not be asked may be the one.
    anywhere = [ref for ref, _ in _not_told(members, cabling)] if wanted is TopologyKind.PAIR else []
    findings += [
        _missing(cable, _not_told(members, cabling, (cable.a, cable.b, *anywhere)), cabling, shape) for cable in missing
    ]
    findings += [_on_switch(link.port, shape) for link in cabling.switch_links if not _spoken_of(link.port, findings)]
    return findings


def _moved(
    movement: Movement, plan: Rewiring, wanted: TopologyKind, shape: Text, freed: Sequence[Cable]
) -> CableFinding:
    """A plug in the wrong place, together with the missing cables whose place it took."""
    plug, to = movement.plug, movement.to
    assert to is not None
    now, then = next(
        ((now, then) for now, then in plan.moved if plug in (now.a, now.b)), (Cable(plug, to), Cable(plug, to))
    )
    if movement.kind == "swap":
        return _swapped(plug, to, now, then, wanted)
    other = now.b if plug == now.a else now.a
    steps = [move_it(plug, to)]
    movements = [movement]
    for cable in freed:
        near = plug if plug in (cable.a, cable.b) else cable.a
        far = cable.b if cable.a == near else cable.a
        steps.append(say("Plug a cable from {far} into {near}, which is free then.", far=far, near=near))
        movements.append(Movement("plug", far, near))
    code, severity, title, meaning = what_is_wrong(plug, to, other, wanted)
    if not meaning:
        meaning = say("{shape}: every cable goes from port 0 of one node to port 1 of the next.", shape=shape)
    return CableFinding(
        code, severity, title, meaning, tuple(steps), tuple(movements), now, then, tuple(freed), (plug, to, other)
    )


def _swapped(plug: PortRef, to: PortRef, now: Cable, then: Cable, wanted: TopologyKind) -> CableFinding:
    here, there = where(plug), where(to)
    if plug.node == to.node:
        title = say("The two plugs of {node} are in each other's port.", node=plug.node)
        step = say(
            "At the back of {node}, swap the plugs of {here} and {there}.", node=plug.node, here=here, there=there
        )
    else:
        title = say("The plugs in {port} and {other} are in each other's place.", port=plug, other=to)
        step = say(
            "Swap them: the plug in {node} {here} and the one in {other} {there}.",
            node=plug.node,
            here=here,
            other=to.node,
            there=there,
        )
    return CableFinding(
        "plugs-swapped", Severity.BAD, title, rule(wanted), (step,),
        (Movement("swap", plug, to),), now, then, (), (plug, to),
    )  # fmt: skip


def _not_told(
    members: Sequence[Member], cabling: Cabling, among: Sequence[PortRef] | None = None
) -> list[tuple[PortRef, str]]:
    """Ports of which nobody can say where their cable goes, and why.

    Those that could not be asked, and two or more that have a signal and heard nobody: each may be the other end of
    the other one. A single silent one has its other end outside of this cluster.
    """
    found = [(ref, why) for ref, why in cabling.unheard if among is None or ref in among]
    if among is None:
        lit = {PortRef(m.name, p.number) for m in members for p in m.ports if any(h.netdev.carrier for h in p.halves)}
        found = [(ref, why) for ref, why in found if ref in lit]
    if len({ref.node for ref in cabling.silent} | {ref.node for ref, _ in found}) > 1:
        found += [(ref, _SILENT) for ref in cabling.silent if among is None or ref in among]
    return found


def _ask_again(not_told: Sequence[tuple[PortRef, str]]) -> tuple[str, ...]:
    return (_ASK_AGAIN, _FOLLOW) if any(why == _SILENT for _, why in not_told) else (_ASK_AGAIN,)


def _reasons(not_told: Sequence[tuple[PortRef, str]]) -> str:
    return joined([joined((ref, reason), ": ") for ref, reason in not_told], "; ")


def _missing(cable: Cable, not_told: Sequence[tuple[PortRef, str]], cabling: Cabling, shape: Text) -> CableFinding:
    a, b = cable.a, cable.b
    needs = say("{shape} needs a cable from {port} to {other}.", shape=shape, port=a, other=b)
    if not_told:
        title = say("Whether a cable joins {port} and {other} cannot be told.", port=a, other=b)
        refs = tuple(dict.fromkeys((a, b, *(ref for ref, _ in not_told))))
        meaning = say("{reasons}. {needs}", reasons=_reasons(not_told), needs=needs)
        return CableFinding(
            "cable-unknown", Severity.WARN, title, meaning, _ask_again(not_told), (), None, cable, (), refs
        )
    foreign = {ref: host for ref, host in cabling.foreign if ref in (a, b)}
    switched = {link.port: link.switch for link in cabling.switch_links if link.port in (a, b)}
    steps = [say("Plug a cable from {port} into {other}.", port=a, other=b)]
    movements = [Movement("plug", a, b)]
    title = say("{port} is not connected to {other}.", port=a, other=b)
    for ref, place in {**foreign, **switched}.items():
        title = say("{port} goes to {place}, not to {other}.", port=ref, place=place, other=b if ref == a else a)
        steps.insert(0, say("Pull the plug out of {node} {here}.", node=ref.node, here=where(ref)))
        movements.insert(0, Movement("pull", ref))
    silent = [ref for ref in cabling.silent if ref in (a, b)]
    if silent and not foreign and not switched:
        steps.insert(0, look_where(words(silent)))
    return CableFinding(
        "cable-missing", Severity.BAD, title, needs, tuple(steps), tuple(movements), None, cable, (cable,), (a, b)
    )


def _extra(cable: Cable, wanted: TopologyKind, in_the_way: bool) -> CableFinding:
    loop = cable.a.node == cable.b.node
    title = (
        say("A cable joins two ports of {node} to each other.", node=cable.a.node)
        if loop
        else say(
            "The cable between {port} and {other} has no place in a {kind}.",
            port=cable.a,
            other=cable.b,
            kind=wanted.word,
        )
    )
    meaning = "Its port is needed for another cable." if in_the_way else "A second cable adds no speed."
    return CableFinding(
        "cable-loop" if loop else "cable-extra",
        Severity.BAD if in_the_way else Severity.INFO,
        title,
        meaning if not loop or in_the_way else "It does nothing.",
        (pull(cable),) if in_the_way or loop else ("Leave it, or pull it.",),
        (Movement("pull", cable.a), Movement("pull", cable.b)),
        cable,
        ports=(cable.a, cable.b),
    )


def _on_switch(ref: PortRef, shape: Text) -> CableFinding:
    return CableFinding(
        "port-on-switch",
        Severity.INFO,
        say("{ref} goes to a switch.", ref=ref),
        say("{shape} does not use it; it is left alone.", shape=shape),
        ports=(ref,),
    )


def _foreign(ref: PortRef, host: str) -> CableFinding:
    return CableFinding(
        "port-foreign",
        Severity.INFO,
        say("{ref} goes to {host}, which is not in this cluster.", ref=ref, host=host),
        "The port is left alone.",
        ports=(ref,),
    )


# --- switch ----------------------------------------------------------------------------------------------------------


def switch_port_number(members: Sequence[Member], topology: Topology) -> int:
    """The port number to use on a switch: the one most machines use, the lower one where they are equal."""
    links = _switch_ports(members, topology)
    counts = Counter(ref.port for refs in links.values() for ref in refs)
    if counts:
        return min(counts, key=lambda number: (-counts[number], number))
    return members[0].ports[0].number if members and members[0].ports else 0


def _switch_ports(members: Sequence[Member], topology: Topology) -> dict[str, list[PortRef]]:
    """Node -> its ports on the switch. Two machines that hear each other may be on a switch that says nothing."""
    refs: dict[str, list[PortRef]] = {member.name: [] for member in members}
    for link in topology.cabling.switch_links:
        refs[link.port.node].append(link.port)
    if topology.kind is TopologyKind.PAIR and not topology.direct_certain:
        for cable in topology.cabling.cables:
            refs[cable.a.node].append(cable.a)
            refs[cable.b.node].append(cable.b)
    return refs


def _for_switch(members: Sequence[Member], topology: Topology) -> list[CableFinding]:
    number = switch_port_number(members, topology)
    links = _switch_ports(members, topology)
    findings: list[CableFinding] = []
    for member in members:
        here = links[member.name]
        wanted = PortRef(member.name, number)
        if wanted in here:
            findings += [_second_link(ref) for ref in here if ref != wanted]
        elif here:
            findings.append(_mixed_port(here[0], wanted))
        else:
            findings.append(_off_switch(members, member, wanted, topology.cabling))
    if topology.kind is not TopologyKind.PAIR or topology.direct_certain:
        for cable in topology.cabling.cables:
            findings.append(_direct_on_switch(cable))
    findings += _two_switches(topology)
    return findings


def _second_link(ref: PortRef) -> CableFinding:
    title = say("{ref} goes to the switch, too.", ref=ref)
    meaning = "One port carries all that the node can; the second one is left alone."
    return CableFinding("cable-extra", Severity.INFO, title, meaning, ("Leave it, or pull it.",), ports=(ref,))


def _mixed_port(now: PortRef, wanted: PortRef) -> CableFinding:
    return CableFinding(
        "port-mixed",
        Severity.WARN,
        say(
            "{node} is on the switch with port {port}, the others with port {other_port}.",
            node=now.node,
            port=now.port,
            other_port=wanted.port,
        ),
        "It works, but with the same port on all nodes every setting is the same on all, too.",
        (move_it(now, wanted),),
        (Movement("move", now, wanted),),
        ports=(now, wanted),
    )


def _off_switch(members: Sequence[Member], member: Member, wanted: PortRef, cabling: Cabling) -> CableFinding:
    unheard = _not_told(members, cabling, [PortRef(member.name, port.number) for port in member.ports])
    if unheard:
        return CableFinding(
            "cable-unknown",
            Severity.WARN,
            say("Whether {node} is on the switch cannot be told.", node=member.name),
            say("{reasons}.", reasons=_reasons(unheard)),
            _ask_again(unheard),
            ports=(wanted, *(ref for ref, _ in unheard if ref != wanted)),
        )
    steps = [say("Plug a cable from {node} {here} into the switch.", node=member.name, here=where(wanted))]
    silent = [ref for ref in cabling.silent if ref.node == member.name]
    if silent:
        steps.insert(0, look_where(silent[0]))
    return CableFinding(
        "cable-missing",
        Severity.BAD,
        say("{node} is not on the switch.", node=member.name),
        "All nodes need to be on it.",
        tuple(steps),
        (Movement("plug", wanted, None),),
        ports=(wanted, *silent),
    )


def _direct_on_switch(cable: Cable) -> CableFinding:
    return CableFinding(
        "cable-extra",
        Severity.BAD,
        say("A cable joins {port} directly to {other}.", port=cable.a, other=cable.b),
        "Nodes on a switch need no cable to each other, and the two kinds do not mix.",
        (pull(cable),),
        (Movement("pull", cable.a), Movement("pull", cable.b)),
        cable,
        ports=(cable.a, cable.b),
    )


def _two_switches(topology: Topology) -> list[CableFinding]:
    names = Counter(link.switch for link in topology.cabling.switch_links)
    if len(names) < 2 or topology.kind is TopologyKind.SWITCH:
        return []
    main = names.most_common(1)[0][0]
    return [
        CableFinding(
            "cable-wrong-switch",
            Severity.BAD,
            say("{port} is on {switch}, most others on {main}.", port=link.port, switch=link.switch, main=main),
            "The two do not pass traffic to each other.",
            (say("Plug {port} into {main}, or put both switches into one bridge.", port=link.port, main=main),),
            ports=(link.port,),
        )
        for link in topology.cabling.switch_links
        if link.switch != main
    ]


# --- speed -----------------------------------------------------------------------------------------------------------


def _slow_links(members: Sequence[Member], cabling: Cabling) -> list[CableFinding]:
    """Links of ports with two halves that came up below 200 Gb/s."""
    full = {PortRef(m.name, p.number): p for m in members for p in m.ports if len(p.halves) > 1}
    findings = []
    for cable in cabling.cables:
        slow = cable.speed_mbps is not None and cable.speed_mbps < FULL_SPEED_MBPS
        if slow and cable.a in full and cable.b in full:
            step = say("Use a 200 or 400 Gb/s QSFP copper cable made for Ethernet, and plug it in again.")
            title = say(
                "The link between {port} and {other} runs at {speed}, not at 200 Gb/s.",
                port=cable.a,
                other=cable.b,
                speed=link_speed(cable.speed_mbps),
            )
            findings.append(_slow(title, cable.speed_mbps, step, (cable.a, cable.b), cable))
    for link in cabling.switch_links:
        speeds = [h.netdev.speed_mbps for h in full[link.port].halves] if link.port in full else []
        known = [speed for speed in speeds if speed]
        if known and min(known) < FULL_SPEED_MBPS:
            step = say("On the switch, set this port to 200G-baseCR4 and switch auto-negotiation off.")
            title = say(
                "The link from {port} to the switch runs at {speed}, not at 200 Gb/s.",
                port=link.port,
                speed=link_speed(min(known)),
            )
            findings.append(_slow(title, min(known), step, (link.port,), None))
    return findings


def _slow(
    title: Text, speed_mbps: int | None, step: Text, ports: tuple[PortRef, ...], cable: Cable | None
) -> CableFinding:
    return CableFinding(
        "link-100g" if speed_mbps == 100_000 else "link-slow",
        Severity.WARN,
        title,
        "It works; models that span nodes may get slower by a few percent.",
        (step,),
        (),
        cable,
        ports=ports,
    )
