"""Which cables a wanted topology needs, and the fewest movements of a hand from the cables that are there.

In a ring or chain every cable goes from the first port (port 0) of one machine to the second port (port 1) of the
next: a cable between equal ports stopped RDMA in the field. The order of the machines is free, so the target is the
order that leaves most plugs where they are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from stellwerk.fabric.members import Member
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import Cable, Cabling, Movement, PortRef, TopologyKind
from stellwerk.model.text import say

_TRIED_IN_FULL = 12  # candidates whose movements are counted exactly; the others have fewer right cables
_SAME_MACHINE, _OTHER_MACHINE, _PULLED = 2, 3, 7  # cost of a plug: moving it at the same machine is the easiest


@dataclass(frozen=True, slots=True)
class Rewiring:
    """From the cables as they are to the wanted ones."""

    target: tuple[Cable, ...]
    right: tuple[Cable, ...]  # those of the target that are there
    moved: tuple[tuple[Cable, Cable], ...]  # (as it is, where it belongs), one or both plugs move
    missing: tuple[Cable, ...]
    extra: tuple[Cable, ...]  # have no place in the target
    movements: tuple[Movement, ...]  # of the plugs in `moved`, in an order in which every place is free


def expected_cables(members: Sequence[Member], wanted: TopologyKind, cabling: Cabling) -> tuple[Cable, ...]:
    """The cables of a pair, ring or chain of these members, as near as possible to what is there."""
    return rewire(members, wanted, cabling).target


def rewire(members: Sequence[Member], wanted: TopologyKind, cabling: Cabling) -> Rewiring:
    """The nearest target and the movements to it.

    Raises `BadInput` for a topology without direct cables, or when a machine has too few ports for it.
    """
    why = _impossible(members, wanted)
    if why:
        raise BadInput(say("{count} nodes cannot make a {wanted}", count=len(members), wanted=wanted.word), why=why)
    present = [*cabling.cables, *(Cable(a, b) for a, b in cabling.loops)]
    results = [_assign(present, target) for target in _nearest(members, wanted, present)]
    return min(results, key=lambda result: result[0])[1]


def _impossible(members: Sequence[Member], wanted: TopologyKind) -> str:
    least = {TopologyKind.PAIR: 2, TopologyKind.RING: 3, TopologyKind.CHAIN: 2}.get(wanted)
    if least is None:
        return say("a {wanted} has no cables from node to node", wanted=wanted.word)
    if len(members) < least or (wanted is TopologyKind.PAIR and len(members) != 2):
        return (
            "a pair is two nodes"
            if wanted is TopologyKind.PAIR
            else say("a {wanted} needs {least} or more", wanted=wanted.word, least=least)
        )
    few = [member.name for member in members if not has_ports_for(member, wanted)]
    return say("{few} has too few ports", few=", ".join(few)) if few else ""


def has_ports_for(member: Member, wanted: TopologyKind) -> bool:
    """A ring or chain needs two ports, a pair or switch one."""
    return len(member.ports) >= (2 if wanted in (TopologyKind.RING, TopologyKind.CHAIN) else 1)


def _pairs(a: Member, b: Member) -> Iterator[tuple[Cable, ...]]:
    """The same port on both machines; where they have none in common, the first of each."""
    common = [port.number for port in a.ports if b.node_ports.port(port.number)]
    for number in common:
        yield (_cable(PortRef(a.name, number), PortRef(b.name, number)),)
    if not common:
        yield (_cable(PortRef(a.name, a.ports[0].number), PortRef(b.name, b.ports[0].number)),)


def _cable(a: PortRef, b: PortRef) -> Cable:
    return Cable(min(a, b), max(a, b))


def _ends(cable: Cable) -> tuple[PortRef, PortRef]:
    return cable.a, cable.b


def _nearest(members: Sequence[Member], wanted: TopologyKind, present: Sequence[Cable]) -> list[tuple[Cable, ...]]:
    """The first few targets with the most cables that are there already; the order of the numbers comes first."""
    there = {_ends(cable) for cable in present}
    if wanted is TopologyKind.PAIR:
        targets = list(_pairs(*members))
        most = max(sum(_ends(cable) in there for cable in target) for target in targets)
        return [target for target in targets if sum(_ends(cable) in there for cable in target) == most]
    # The step from machine i to machine j, and whether its cable is there. Eight machines have 40320 orders.
    steps = [
        [_cable(PortRef(a.name, a.ports[0].number), PortRef(b.name, b.ports[1].number)) for b in members]
        for a in members
    ]
    right = [[_ends(cable) in there for cable in row] for row in steps]
    best: list[tuple[int, ...]] = []
    most = -1
    for order in _orders(len(members), wanted):
        count = sum(right[a][b] for a, b in itertools.pairwise(order))
        if count > most:
            most, best = count, []
        if count == most and len(best) < _TRIED_IN_FULL:
            best.append(order)
    return [tuple(steps[a][b] for a, b in itertools.pairwise(order)) for order in best]


def _orders(count: int, wanted: TopologyKind) -> Iterator[tuple[int, ...]]:
    """Every way round (a ring ends where it begins) or along, the order of the numbers first."""
    if wanted is TopologyKind.RING:
        for rest in itertools.permutations(range(1, count)):
            yield (0, *rest, 0)
    else:
        yield from itertools.permutations(range(count))


def _plug_cost(now: PortRef, then: PortRef) -> int:
    if now == then:
        return 0
    return _SAME_MACHINE if now.node == then.node else _OTHER_MACHINE


def _turned(now: Cable, then: Cable) -> tuple[int, tuple[tuple[PortRef, PortRef], ...]]:
    """Cost and (from, to) of both plugs of a cable, the cheaper way round."""
    ways = (((now.a, then.a), (now.b, then.b)), ((now.a, then.b), (now.b, then.a)))
    costs = [sum(_plug_cost(*plug) for plug in way) for way in ways]
    return min(costs), ways[costs.index(min(costs))]


def _assign(present: Sequence[Cable], target: Sequence[Cable]) -> tuple[int, Rewiring]:
    """Give each cable a place in the target so that the fewest plugs move."""
    wanted = {_ends(cable): cable for cable in target}
    right = [cable for cable in present if _ends(cable) in wanted]
    loose = [cable for cable in present if _ends(cable) not in wanted]
    kept = {_ends(cable) for cable in right}
    open_places = [cable for cable in target if _ends(cable) not in kept]
    # Cheapest assignment over all subsets of places; both lists hold eight entries at most.
    states: dict[int, tuple[int, tuple[int | None, ...]]] = {0: (0, ())}
    for cable in loose:
        following: dict[int, tuple[int, tuple[int | None, ...]]] = {}
        for mask, (cost, chosen) in states.items():
            options: list[tuple[int, int, int | None]] = [(mask, cost + _PULLED, None)]
            for index, place in enumerate(open_places):
                if not mask & 1 << index:
                    options.append((mask | 1 << index, cost + _turned(cable, place)[0], index))
            for new_mask, new_cost, place_index in options:
                if new_mask not in following or new_cost < following[new_mask][0]:
                    following[new_mask] = new_cost, (*chosen, place_index)
        states = following
    cost, chosen = min(states.values(), key=lambda state: state[0])
    moved = [(cable, open_places[i]) for cable, i in zip(loose, chosen, strict=True) if i is not None]
    extra = tuple(cable for cable, i in zip(loose, chosen, strict=True) if i is None)
    missing = tuple(place for i, place in enumerate(open_places) if i not in chosen)
    plugs = [plug for now, then in moved for plug in _turned(now, then)[1] if plug[0] != plug[1]]
    return cost, Rewiring(tuple(target), tuple(right), tuple(moved), missing, extra, _movements(dict(plugs)))


def _movements(goes: dict[PortRef, PortRef]) -> tuple[Movement, ...]:
    """Order the plugs so that each finds its place free; plugs that stand in each other's place are swapped."""
    result: list[Movement] = []
    left = dict(goes)
    while left:
        free = next((plug for plug, to in left.items() if to not in left), None)
        if free is not None:
            result.append(Movement("move", free, left.pop(free)))
            continue
        start, to = next(iter(left.items()))
        # A round trip of k plugs is k - 1 swaps, all with the first place.
        while to != start:
            result.append(Movement("swap", start, to))
            to = left.pop(to)
        del left[start]
    return tuple(result)


def after(cabling: Cabling, movements: Iterable[Movement]) -> Cabling:
    """The cabling once the movements have been made; what the drawing shows as "where it belongs"."""
    at: dict[PortRef, int] = {}
    for index, cable in enumerate([*cabling.cables, *(Cable(a, b) for a, b in cabling.loops)]):
        at[cable.a] = at[cable.b] = index
    new = len(at)
    for movement in movements:
        if movement.kind == "pull":
            at.pop(movement.plug, None)
        elif movement.kind == "plug" and movement.to is not None:
            at[movement.plug] = at[movement.to] = new
            new += 1
        elif movement.kind == "move" and movement.to is not None and movement.plug in at:
            at[movement.to] = at.pop(movement.plug)
        elif movement.kind == "swap" and movement.to is not None:
            at[movement.plug], at[movement.to] = at[movement.to], at[movement.plug]
    ends: dict[int, list[PortRef]] = {}
    for ref, index in sorted(at.items()):
        ends.setdefault(index, []).append(ref)
    whole = [tuple(refs) for refs in ends.values() if len(refs) == 2]
    cables = tuple(Cable(a, b) for a, b in sorted(whole) if a.node != b.node)
    loops = tuple((a, b) for a, b in sorted(whole) if a.node == b.node)
    return Cabling(cables, cabling.switch_links, loops=loops)
