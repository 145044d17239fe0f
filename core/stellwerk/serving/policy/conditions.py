"""Conditions of `when`: from data to a test on a walk, and to words."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from fnmatch import translate

from stellwerk.serving.decision.state import PoolState
from stellwerk.serving.decision.walk import Walk
from stellwerk.serving.policy.model import (
    All,
    AnyOf,
    Compare,
    Condition,
    Flag,
    Header,
    Load,
    Matches,
    Not,
    OneOf,
    Operator,
)
from stellwerk.serving.policy.search import make_search

Test = Callable[[Walk], bool]

OPERATORS: dict[Operator, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_IDLE = PoolState()


def compile_condition(condition: Condition) -> Test:
    """The test for one condition."""
    match condition:
        case All(parts):
            tests = [compile_condition(part) for part in parts]
            return tests[0] if len(tests) == 1 else lambda walk: all(test(walk) for test in tests)
        case AnyOf(parts):
            options = [compile_condition(part) for part in parts]
            return lambda walk: any(test(walk) for test in options)
        case Not(part):
            inner = compile_condition(part)
            return lambda walk: not inner(walk)
        case Flag():
            return _flag(condition)
        case Compare():
            return _compare(condition)
        case OneOf():
            return _one_of(condition)
        case Matches(pattern):
            search = make_search(pattern)
            return lambda walk: search(walk.request.last_user)
        case Header(name, None):
            return lambda walk: name in walk.request.headers
        case Header(name, str() as pattern):
            fits = _fits((pattern,))
            return lambda walk: (value := walk.request.headers.get(name)) is not None and fits(value)
        case Load(pool, op, fraction):
            compare = OPERATORS[op]
            return lambda walk: compare(walk.state.pools.get(pool, _IDLE).load, fraction)
    raise AssertionError(f"a condition of no known kind: {condition}")


def _flag(flag: Flag) -> Test:
    wanted = flag.value
    match flag.kind:
        case "tools":
            return lambda walk: walk.request.tools is wanted
        case "images":
            return lambda walk: walk.request.images is wanted
        case "json":
            return lambda walk: walk.request.json_mode is wanted
        case "stream":
            return lambda walk: walk.request.stream is wanted


def _compare(condition: Compare) -> Test:
    compare, number = OPERATORS[condition.operator], condition.number
    match condition.kind:
        case "prompt_tokens":
            if condition.operator in (">", ">="):
                return lambda walk: (
                    not walk.request.surely_below(number) and compare(walk.request.prompt_tokens, number)
                )
            return lambda walk: compare(walk.request.prompt_tokens, number)
        case "max_tokens":
            return lambda walk: walk.request.max_tokens is not None and compare(walk.request.max_tokens, number)
        case "turns":
            return lambda walk: compare(sum(1 for turn in walk.request.turns if turn.role == "user"), number)


def _one_of(condition: OneOf) -> Test:
    fits = _fits(condition.patterns)
    match condition.kind:
        case "model":
            return lambda walk: fits(walk.request.model)
        case "language":
            return lambda walk: fits(walk.request.language)
        case "api_key":
            return lambda walk: walk.request.api_key is not None and fits(walk.request.api_key)
        case "user":
            return lambda walk: walk.request.user is not None and fits(walk.request.user)


def _fits(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    if not any(letter in pattern for pattern in patterns for letter in "*?["):
        exact = frozenset(patterns)
        return exact.__contains__
    match = re.compile("|".join(f"(?:{translate(pattern)})" for pattern in patterns)).match
    return lambda value: match(value) is not None


def leaves(condition: Condition) -> Iterator[Condition]:
    """All conditions below that have no parts."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from leaves(part)
        case Not(part):
            yield from leaves(part)
        case _:
            yield condition


def reads_body(leaf: Condition) -> bool:
    """Must the body be parsed for this condition?"""
    match leaf:
        case Flag() | Compare() | Matches():
            return True
        case OneOf(kind=kind):
            return kind in ("language", "user")
    return False


def reads_load(leaf: Condition) -> bool:
    return isinstance(leaf, Load)


def reads_header(leaf: Condition) -> tuple[str, ...]:
    """Names of the headers that this condition looks at."""
    return (leaf.name,) if isinstance(leaf, Header) else ()


def describe(condition: Condition) -> str:
    """The condition in words, as it stands in explanations and on cards."""
    match condition:
        case All(parts):
            return " and ".join(_bracket(part) for part in parts)
        case AnyOf(parts):
            return " or ".join(_bracket(part) for part in parts)
        case Not(part):
            return f"not {_bracket(part)}"
        case Flag(kind, value):
            return kind if value else f"no {kind}"
        case Compare(kind, op, number):
            return f"{kind.replace('_', ' ')} {op} {number:g}"
        case OneOf(kind, patterns):
            return f"{kind.replace('_', ' ')} is {' or '.join(patterns)}"
        case Matches(pattern):
            return f"last user turn matches /{pattern}/"
        case Header(name, None):
            return f"header {name} is there"
        case Header(name, pattern):
            return f"header {name} is {pattern}"
        case Load(pool, op, fraction):
            return f"load of {pool} {op} {fraction * 100:g} %"
    raise AssertionError(f"a condition of no known kind: {condition}")


def _bracket(condition: Condition) -> str:
    text = describe(condition)
    return f"({text})" if isinstance(condition, All | AnyOf) else text
