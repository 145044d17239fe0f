"""Searching a turn for a policy's regular expression without ever holding up the gateway.

A decision must not depend on how busy the machine is, so there is no time limit; what may take long is known before.
Short texts are searched by `re`. So many letters that `re` could need too many steps are searched by an automaton in
time that grows with their number. The few expressions that no automaton can follow see only the start of a turn, as
much of it as `re` manages in any case.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from stellwerk.serving.policy.automaton import Automaton, TooComplex

_parse: Any = import_module("re._parser").parse

WINDOW = 16_384  # letters of a turn that are searched at most
_QUICK_STEPS = 1_000_000  # of `re`: a few milliseconds
_MOST_STEPS = 5_000_000  # some 50 ms
_FEW = 8  # more repetitions than so many are counted like any number
_IDLE_START = re.compile(r"((?:\(\?[aimsx]+\))?)\.\*\??(?![*+?{])")


@dataclass(frozen=True, slots=True)
class Steps:
    """About `factor * n ** power` steps for a text of n letters."""

    factor: float = 1.0
    power: int = 0

    def __mul__(self, other: Steps) -> Steps:
        return Steps(self.factor * other.factor, self.power + other.power)

    def __or__(self, other: Steps) -> Steps:
        """One after the other."""
        if self.power != other.power:
            return self if self.power > other.power else other
        return Steps(self.factor + other.factor, self.power)

    def letters(self, most: float) -> int:
        """The longest text that takes no more than so many steps."""
        if self.factor > most:
            return 0
        return int((most / self.factor) ** (1 / self.power)) if self.power else WINDOW


_ONE = Steps()
_ANY_NUMBER = Steps(1.0, 1)


def without_idle_start(pattern: str) -> str:
    """The same search without `.*` at its start, which finds nothing more and makes `re` try all pairs of places."""
    found = _IDLE_START.match(pattern)
    return found[1] + pattern[found.end() :] if found is not None else pattern


def window_of(pattern: str) -> int:
    """How many letters of a turn this expression gets to see. Less than WINDOW only where no automaton follows it."""
    pattern = without_idle_start(pattern)
    reach = min(WINDOW, steps_of(pattern).letters(_MOST_STEPS))
    if reach < WINDOW:
        try:
            Automaton(pattern)
        except TooComplex:
            return reach
    return WINDOW


def make_search(pattern: str) -> Callable[[str], bool]:
    """A function that says whether the expression matches anywhere in the window of a text."""
    pattern = without_idle_start(pattern)
    quick = min(WINDOW, steps_of(pattern).letters(_QUICK_STEPS))
    by_steps = re.compile(pattern).search
    if quick == WINDOW:
        return lambda text: by_steps(text[:WINDOW]) is not None
    try:
        automaton = Automaton(pattern)
    except TooComplex:
        window = window_of(pattern)
        return lambda text: by_steps(text[:window]) is not None

    def search(text: str) -> bool:
        return by_steps(text) is not None if len(text) <= quick else automaton.search(text[:WINDOW])

    return search


def steps_of(pattern: str) -> Steps:
    """How many steps `re` may need at worst. The pattern is one that does not run away (see `runaway`)."""
    parsed = _parse(pattern)
    _, steps = _cost(parsed)
    return steps if _starts_once(parsed) else _ANY_NUMBER * steps


def _starts_once(parsed: Any) -> bool:
    if not len(parsed) or str(parsed[0][0]) != "AT":
        return False
    place = str(parsed[0][1])
    return place == "AT_BEGINNING_STRING" or (place == "AT_BEGINNING" and not parsed.state.flags & re.MULTILINE)


def _cost(items: Sequence[tuple[Any, Any]]) -> tuple[Steps, Steps]:
    """(ways in which the items can match, most steps)."""
    ways = worst = _ONE
    for kind, detail in items:
        own_ways, own_steps = _item(str(kind), detail)
        worst = worst | ways * own_steps
        ways = ways * own_ways
    return ways, worst


def _item(kind: str, detail: Any) -> tuple[Steps, Steps]:
    match kind:
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, inner = detail
            few = int(most) <= _FEW
            ways, steps = _cost(inner)
            taken = Steps(int(most) - least + 1.0) if few else _ANY_NUMBER if most != least else _ONE
            for _ in range(int(most) if few else 1):
                taken = taken * ways
            return _ONE if kind == "POSSESSIVE_REPEAT" else taken, Steps(max(1.0, least)) * taken * steps
        case "BRANCH":
            return _either(detail[1])
        case "GROUPREF_EXISTS":
            return _either([way for way in detail[1:] if way is not None])
        case "SUBPATTERN":
            return _cost(detail[3])
        case "ASSERT" | "ASSERT_NOT":
            return _ONE, _cost(detail[1])[1]
        case "ATOMIC_GROUP":
            return _ONE, _cost(detail)[1]
        case "GROUPREF":
            return _ONE, _ANY_NUMBER
    return _ONE, _ONE


def _either(ways: Sequence[Sequence[tuple[Any, Any]]]) -> tuple[Steps, Steps]:
    costs = [_cost(way) for way in ways]
    all_ways, all_steps = costs[0]
    for more, steps in costs[1:]:
        all_ways, all_steps = all_ways | more, all_steps | steps
    return all_ways, all_steps
