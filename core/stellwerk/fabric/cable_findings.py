"""What is wrong with the cables, in words: one finding per movement of a hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stellwerk.fabric.expected import Rewiring, has_ports_for, rewire
from stellwerk.fabric.members import Member
from stellwerk.model.fabric import Cable, CableFinding, Cabling, Movement, PortRef, Topology, TopologyKind
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.units import link_speed

FULL_SPEED_MBPS = 200_000
_IN_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")
_RULE = "every cable goes from port 0 of one machine to port 1 of the next"
_ASK_AGAIN = "Give the sudo password, or switch the interface on, and look again."
_FOLLOW = "If it stays so with root on every machine, follow the cable: its other end is not at one of them."
_SILENT = "it has a signal, but heard nobody"


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
    evidence = (f"{finding.cable.a} goes to {finding.cable.b}",) if finding.cable else ()
    return Finding(
        finding.code,
        finding.severity,
        finding.title,
        first.node if first else None,
        f"port {first.port}" if first else None,
        evidence,
        finding.meaning,
        finding.steps,
    )


def _count(members: Sequence[Member], wanted: TopologyKind) -> str:
    number = _IN_WORDS[len(members)] if len(members) < len(_IN_WORDS) else str(len(members))
    return f"a {wanted.value}" if wanted is TopologyKind.PAIR else f"a {wanted.value} of {number}"


def _where(ref: PortRef) -> str:
    """Port 0 is easily found: it is next to the RJ45."""
    return f"port {ref.port} (next to the RJ45)" if ref.port == 0 else f"port {ref.port}"


def _spoken_of(ref: PortRef, findings: Sequence[CableFinding]) -> bool:
    return any(ref in finding.ports for finding in findings)


def _too_few_ports(member: Member, wanted: TopologyKind) -> CableFinding:
    have = len(member.ports)
    return CableFinding(
        "too-few-ports",
        Severity.BAD,
        f"{member.name} has {_IN_WORDS[have]} port{'' if have == 1 else 's'} for a fabric.",
        meaning=member.node_ports.note or f"A {wanted.value} needs two ports on every machine.",
        steps=(f"Choose another topology, or leave {member.name} out.",),
    )


# --- pair, ring, chain -----------------------------------------------------------------------------------------------


def _for_cables(members: Sequence[Member], cabling: Cabling, wanted: TopologyKind) -> list[CableFinding]:
    plan = rewire(members, wanted, cabling)
    shape = _count(members, wanted)
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
    movement: Movement, plan: Rewiring, wanted: TopologyKind, shape: str, freed: Sequence[Cable]
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
    steps = [f"At the back of {plug.node}, move the plug from {_where(plug)} to {_where(to)}."]
    if plug.node != to.node:
        steps = [f"Pull the plug out of {plug.node} {_where(plug)} and put it into {to.node} {_where(to)}."]
    movements = [movement]
    for cable in freed:
        near = plug if plug in (cable.a, cable.b) else cable.a
        far = cable.b if cable.a == near else cable.a
        steps.append(f"Plug a cable from {far} into {near}, which is free then.")
        movements.append(Movement("plug", far, near))
    code, severity, title, meaning = _what_is_wrong(plug, to, other, wanted)
    return CableFinding(
        code, severity, title, meaning or f"{shape[0].upper()}{shape[1:]}: {_RULE}.", tuple(steps), tuple(movements),
        now, then, tuple(freed), (plug, to, other),
    )  # fmt: skip


def _what_is_wrong(plug: PortRef, to: PortRef, other: PortRef, wanted: TopologyKind) -> tuple[str, Severity, str, str]:
    """Code, severity, title and meaning of a plug that has to move."""
    if other.node == plug.node:
        title = f"A cable joins two ports of {plug.node} to each other."
        return "cable-loop", Severity.BAD, title, f"It belongs in {to}; a machine needs no cable to itself."
    if wanted is TopologyKind.PAIR and plug.node == to.node:
        title = f"The cable joins port {other.port} of {other.node} to port {plug.port} of {plug.node}."
        meaning = "It works, but with the same port on both machines every setting is the same on both, too."
        return "port-mixed", Severity.WARN, title, meaning
    if plug.node == to.node:
        title = f"The cable from {other.node} is in the wrong port of {plug.node}."
        meaning = f"It joins port {other.port} to port {plug.port}. In a {wanted.value} {_RULE}."
        return "cable-wrong-port", Severity.BAD, title, meaning
    title = f"The cable from {other} goes to the wrong machine."
    return "cable-wrong-machine", Severity.BAD, title, f"It goes to {plug}; it belongs in {to}."


def _swapped(plug: PortRef, to: PortRef, now: Cable, then: Cable, wanted: TopologyKind) -> CableFinding:
    if plug.node == to.node:
        title = f"The two plugs of {plug.node} are in each other's port."
        step = f"At the back of {plug.node}, swap the plugs of {_where(plug)} and {_where(to)}."
    else:
        title = f"The plugs in {plug} and {to} are in each other's place."
        step = f"Swap them: the plug in {plug.node} {_where(plug)} and the one in {to.node} {_where(to)}."
    return CableFinding(
        "plugs-swapped", Severity.BAD, title, f"In a {wanted.value} {_RULE}.", (step,),
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


def _missing(cable: Cable, not_told: Sequence[tuple[PortRef, str]], cabling: Cabling, shape: str) -> CableFinding:
    a, b = cable.a, cable.b
    needs = f"{shape[0].upper()}{shape[1:]} needs a cable from {a} to {b}."
    if not_told:
        why = "; ".join(f"{ref}: {reason}" for ref, reason in not_told)
        title = f"Whether a cable joins {a} and {b} cannot be told."
        refs = tuple(dict.fromkeys((a, b, *(ref for ref, _ in not_told))))
        return CableFinding(
            "cable-unknown", Severity.WARN, title, f"{why}. {needs}", _ask_again(not_told), (), None, cable, (), refs
        )
    foreign = {ref: host for ref, host in cabling.foreign if ref in (a, b)}
    switched = {link.port: link.switch for link in cabling.switch_links if link.port in (a, b)}
    steps = [f"Plug a cable from {a} into {b}."]
    movements = [Movement("plug", a, b)]
    title = f"{a} is not connected to {b}."
    for ref, place in {**foreign, **switched}.items():
        title = f"{ref} goes to {place}, not to {b if ref == a else a}."
        steps.insert(0, f"Pull the plug out of {ref.node} {_where(ref)}.")
        movements.insert(0, Movement("pull", ref))
    silent = [ref for ref in cabling.silent if ref in (a, b)]
    if silent and not foreign and not switched:
        where = " and ".join(str(ref) for ref in silent)
        steps.insert(0, f"There is a cable in {where}, but nothing at its other end answers: look where it goes.")
    return CableFinding(
        "cable-missing", Severity.BAD, title, needs, tuple(steps), tuple(movements), None, cable, (cable,), (a, b)
    )


def _extra(cable: Cable, wanted: TopologyKind, in_the_way: bool) -> CableFinding:
    loop = cable.a.node == cable.b.node
    title = (
        f"A cable joins two ports of {cable.a.node} to each other."
        if loop
        else f"The cable between {cable.a} and {cable.b} has no place in a {wanted.value}."
    )
    meaning = "Its port is needed for another cable." if in_the_way else "A second cable adds no speed."
    return CableFinding(
        "cable-loop" if loop else "cable-extra",
        Severity.BAD if in_the_way else Severity.INFO,
        title,
        meaning if not loop or in_the_way else "It does nothing.",
        (f"Pull the cable out of {cable.a} and {cable.b}.",) if in_the_way or loop else ("Leave it, or pull it.",),
        (Movement("pull", cable.a), Movement("pull", cable.b)),
        cable,
        ports=(cable.a, cable.b),
    )


def _on_switch(ref: PortRef, shape: str) -> CableFinding:
    return CableFinding(
        "port-on-switch",
        Severity.INFO,
        f"{ref} goes to a switch.",
        f"{shape[0].upper()}{shape[1:]} does not use it; it is left alone.",
        ports=(ref,),
    )


def _foreign(ref: PortRef, host: str) -> CableFinding:
    return CableFinding(
        "port-foreign",
        Severity.INFO,
        f"{ref} goes to {host}, which is not in this cluster.",
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
    title = f"{ref} goes to the switch, too."
    meaning = "One port carries all that the machine can; the second one is left alone."
    return CableFinding("cable-extra", Severity.INFO, title, meaning, ("Leave it, or pull it.",), ports=(ref,))


def _mixed_port(now: PortRef, wanted: PortRef) -> CableFinding:
    return CableFinding(
        "port-mixed",
        Severity.WARN,
        f"{now.node} is on the switch with port {now.port}, the others with port {wanted.port}.",
        "It works, but with the same port on all machines every setting is the same on all, too.",
        (f"At the back of {now.node}, move the plug from {_where(now)} to {_where(wanted)}.",),
        (Movement("move", now, wanted),),
        ports=(now, wanted),
    )


def _off_switch(members: Sequence[Member], member: Member, wanted: PortRef, cabling: Cabling) -> CableFinding:
    unheard = _not_told(members, cabling, [PortRef(member.name, port.number) for port in member.ports])
    if unheard:
        why = "; ".join(f"{ref}: {reason}" for ref, reason in unheard)
        return CableFinding(
            "cable-unknown", Severity.WARN, f"Whether {member.name} is on the switch cannot be told.", f"{why}.",
            _ask_again(unheard), ports=(wanted, *(ref for ref, _ in unheard if ref != wanted)),
        )  # fmt: skip
    steps = [f"Plug a cable from {member.name} {_where(wanted)} into the switch."]
    silent = [ref for ref in cabling.silent if ref.node == member.name]
    if silent:
        steps.insert(0, f"There is a cable in {silent[0]}, but nothing at its other end answers: look where it goes.")
    return CableFinding(
        "cable-missing", Severity.BAD, f"{member.name} is not on the switch.", "All machines need to be on it.",
        tuple(steps), (Movement("plug", wanted, None),), ports=(wanted, *silent),
    )  # fmt: skip


def _direct_on_switch(cable: Cable) -> CableFinding:
    return CableFinding(
        "cable-extra",
        Severity.BAD,
        f"A cable joins {cable.a} directly to {cable.b}.",
        "Machines on a switch need no cable to each other, and the two kinds do not mix.",
        (f"Pull the cable out of {cable.a} and {cable.b}.",),
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
            f"{link.port} is on {link.switch}, most others on {main}.",
            "The two do not pass traffic to each other.",
            (f"Plug {link.port} into {main}, or put both switches into one bridge.",),
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
            step = "Use a 200 or 400 Gb/s QSFP copper cable made for Ethernet, and plug it in again."
            findings.append(
                _slow(f"between {cable.a} and {cable.b}", cable.speed_mbps, step, (cable.a, cable.b), cable)
            )
    for link in cabling.switch_links:
        speeds = [h.netdev.speed_mbps for h in full[link.port].halves] if link.port in full else []
        known = [speed for speed in speeds if speed]
        if known and min(known) < FULL_SPEED_MBPS:
            step = "On the switch, set this port to 200G-baseCR4 and switch auto-negotiation off."
            findings.append(_slow(f"from {link.port} to the switch", min(known), step, (link.port,), None))
    return findings


def _slow(
    where: str, speed_mbps: int | None, step: str, ports: tuple[PortRef, ...], cable: Cable | None
) -> CableFinding:
    return CableFinding(
        "link-100g" if speed_mbps == 100_000 else "link-slow",
        Severity.WARN,
        f"The link {where} runs at {link_speed(speed_mbps)}, not at 200 Gb/s.",
        "It works; models that span machines may get slower by a few percent.",
        (step,),
        (),
        cable,
        ports=ports,
    )
