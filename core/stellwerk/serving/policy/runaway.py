"""Does a regular expression have shapes for which some texts take `re` longer than anybody waits?

A part that is repeated must match a text in one way only: with two ways, every further repetition doubles the work. So
nothing in it may be empty or vary in length (but for a single optional letter that differs from the letter behind it),
and its alternatives must begin with different letters. That refuses a few harmless expressions, and no harmful one is
known that it lets pass. Time that grows with a power of the text's length is not looked at: the text is cut before.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

# What `re` itself reads patterns with. It has no public name since `sre_parse` was deprecated.
_parse: Any = import_module("re._parser").parse
_FEW = 8  # so many repetitions do no harm
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
_LOOKS = ("ASSERT", "ASSERT_NOT")


def runs_away(pattern: str) -> bool:
    """Is there a repeated part with several ways to match the same text? `pattern` is one that `re` accepts."""
    return _runs_away(_parse(pattern), 1)


def _runs_away(items: Sequence[tuple[Any, Any]], times: int) -> bool:
    """`times`: how often these items may be repeated."""
    repeated = times > _FEW
    for place, (kind, detail) in enumerate(items):
        name = str(kind)
        if name in _REPEATS:
            least, most, inner = detail
            if times * int(most) > _FEW and inner.getwidth()[1] == 0:
                return True  # nothing, counted: `re` counts to the end
            if repeated and least != most and not (most == 1 and _is_told_apart(inner, items[place + 1 :])):
                return True
            if _runs_away(inner, times * int(most)):
                return True
        elif name == "BRANCH":
            if repeated and not _begin_differently(detail[1]):
                return True
            if any(_runs_away(way, times) for way in detail[1]):
                return True
        elif name == "GROUPREF_EXISTS":
            ways = [way for way in detail[1:] if way is not None]
            if any(_runs_away(way, times) for way in ways):
                return True
        elif name == "SUBPATTERN":
            if _runs_away(detail[3], times):
                return True
        elif name in _LOOKS:
            if _runs_away(detail[1], 1):
                return True
        elif name == "ATOMIC_GROUP":
            if _runs_away(detail, 1):
                return True
        elif name == "POSSESSIVE_REPEAT" and _runs_away(detail[2], 1):
            return True
    return False


def _letter(items: Sequence[tuple[Any, Any]]) -> str | None:
    """The letter with which it begins, without its case; None when that is not one certain letter."""
    if items and str(items[0][0]) == "LITERAL":
        return chr(items[0][1]).casefold()
    return None


def _is_told_apart(optional: Sequence[tuple[Any, Any]], rest: Sequence[tuple[Any, Any]]) -> bool:
    first, then = _letter(optional), _letter(rest)
    return len(optional) == 1 and first is not None and then is not None and first != then


def _begin_differently(ways: Sequence[Sequence[tuple[Any, Any]]]) -> bool:
    letters = [_letter(way) for way in ways]
    return None not in letters and len(set(letters)) == len(letters)
