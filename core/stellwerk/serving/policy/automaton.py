"""Does a regular expression match anywhere in a text? In time that grows with the length of the text alone.

`re` tries one way after the other, which takes some texts to a power of their length. Here all ways are followed at
once: the places of the expression that can have matched the letter before are one number, and one step makes the next
number of it. Steps are kept in dictionaries, so most letters of a text cost one look-up. What single letters match is
asked of `re` itself, so both always agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import reduce
from importlib import import_module
from operator import getitem
from typing import Any

# What `re` itself reads patterns with. It has no public name since `sre_parse` was deprecated.
_parse: Any = import_module("re._parser").parse

_MOST_PLACES = 1200  # of letters in an expression, repeated parts counted as often as they may come
_MOST_KEPT = 20_000  # steps; some 10 MB at the worst
_MOST_LETTERS = 4096
_KINDS = int(re.ASCII | re.LOCALE | re.UNICODE)
_LETTER_FLAGS = re.ASCII | re.IGNORECASE | re.DOTALL

# What may lie before a gap between two letters, and (so many bits further) behind it. More bits: see `_seen`.
_EDGE, _WORD, _ASCII_WORD, _NEWLINE = 1, 2, 4, 8
_AFTER = 32
_LAST_NEWLINE = 1 << 2 * _AFTER  # the newline behind is the last letter of the text
_WORD_LETTER = re.compile(r"\w")
_ASCII_WORD_LETTER = re.compile(r"\w", re.ASCII)
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip
_LETTERS = ("LITERAL", "NOT_LITERAL", "ANY", "IN")

Gap = Callable[[int], bool]


class TooComplex(Exception):
    """The expression has back-references, looks around at more than one letter, or the like, or too many places."""


class _Found(Exception):
    """A match has ended."""


class _Row(dict[str, "_Row"]):
    """Where one letter leads: from these marks, behind a letter of this kind."""

    __slots__ = ("before", "machine", "marks")

    def __init__(self, machine: Automaton, marks: int, before: int) -> None:
        super().__init__()
        self.machine = machine
        self.marks = marks
        self.before = before

    def __missing__(self, letter: str) -> _Row:
        return self.machine.keep(self, letter)


class _Chunk(dict[int, int]):
    """What follows eight neighbouring places, by which of them are marked."""

    __slots__ = ("at", "context", "machine")

    def __init__(self, machine: Automaton, context: int, at: int) -> None:
        super().__init__()
        self.machine = machine
        self.context = context
        self.at = at

    def __missing__(self, byte: int) -> int:
        lowest = byte & -byte
        if byte == lowest:
            found = self.machine.reach(self.at + lowest.bit_length() - 1, self.context)
        else:
            found = self[lowest] | self[byte ^ lowest]
        self[byte] = found
        return found


class Automaton:
    """One expression that `re` accepts. Raises TooComplex when made for what it cannot follow.

    `_ways` are joints: each leads on to others, some only where a condition on the gap between two letters holds, or to
    a place, which is left with a letter. Joint 0 is the end.
    """

    def __init__(self, pattern: str) -> None:
        self._empty = re.compile(pattern).search("") is not None
        self._ways: list[list[tuple[Gap | None, int]]] = [[]]
        self._place_at: dict[int, int] = {}  # joint -> place
        self._behind: list[int] = []  # place -> joint
        self._exact: dict[str, int] = {}  # letter -> places that match it and nothing else
        self._tests: dict[tuple[str, int], tuple[Callable[[str], object], int]] = {}
        self._seen: dict[tuple[str, int], tuple[int, Callable[[str], object]]] = {}
        self._used = 0  # of all that may lie around a gap, what some condition asks for
        parsed = _parse(pattern)
        self._start = self._items(parsed, 0, parsed.state.flags)
        self.places = len(self._behind)
        self._end = 1 << self.places
        self._width = self.places // 8 + 1
        self._tables: dict[int, tuple[int, list[_Chunk]]] = {}
        self._letters: dict[str, int] = {}
        self._rows: dict[tuple[int, int], _Row] = {}
        self._kept = 0

    # --- building, from the end to the start ------------------------------------------------------------------------

    def _joint(self, ways: Iterable[tuple[Gap | None, int]] = ()) -> int:
        self._ways.append(list(ways))
        if len(self._ways) > 4 * _MOST_PLACES:
            raise TooComplex
        return len(self._ways) - 1

    def _place(self, then: int) -> int:
        if len(self._behind) >= _MOST_PLACES:
            raise TooComplex
        joint = self._joint()
        self._place_at[joint] = len(self._behind)
        self._behind.append(then)
        return joint

    def _items(self, items: Any, then: int, flags: int) -> int:
        for kind, detail in reversed(list(items)):
            then = self._item(str(kind), detail, then, flags)
        return then

    def _item(self, kind: str, detail: Any, then: int, flags: int) -> int:
        match kind:
            case "LITERAL" if not flags & re.IGNORECASE:
                joint = self._place(then)
                letter = chr(detail)
                self._exact[letter] = self._exact.get(letter, 0) | 1 << self._place_at[joint]
                return joint
            case _ if kind in _LETTERS:
                return self._one_of(_written(kind, detail), then, flags)
            case "ASSERT" | "ASSERT_NOT" if len(detail[1]) == 1 and str(detail[1][0][0]) in _LETTERS:
                direction, inner = detail
                return self._joint([(self._look(direction, inner, flags, kind == "ASSERT"), then)])
            case "AT":
                return self._joint([(self._gap(str(detail), flags), then)])
            case "BRANCH":
                return self._joint([(None, self._items(way, then, flags)) for way in detail[1]])
            case "SUBPATTERN":
                _, more, less, inner = detail
                if more & _KINDS:
                    flags &= ~_KINDS
                return self._items(inner, then, (flags | more) & ~less)
            case "MAX_REPEAT" | "MIN_REPEAT":
                least, most, inner = detail
                return self._repeat(least, most, inner, then, flags)
        raise TooComplex

    def _one_of(self, text: str, then: int, flags: int) -> int:
        joint = self._place(then)
        own = flags & int(_LETTER_FLAGS)
        test, places = self._tests.get((text, own)) or (re.compile(text, own).fullmatch, 0)
        self._tests[text, own] = (test, places | 1 << self._place_at[joint])
        return joint

    def _repeat(self, least: int, most: Any, inner: Any, then: int, flags: int) -> int:
        if str(most) == "MAXREPEAT":
            loop = self._joint()
            self._ways[loop] = [(None, self._items(inner, loop, flags)), (None, then)]
            then = loop
        else:
            end = then
            for _ in range(int(most) - least):
                then = self._joint([(None, self._items(inner, then, flags)), (None, end)])
        for _ in range(least):
            before, then = then, self._items(inner, then, flags)
            if then == before:  # nothing, and so often nothing is still nothing
                break
        return then

    def _look(self, direction: int, inner: Any, flags: int, there: bool) -> Gap:
        """A look at one letter, which is something that may lie before or behind a gap."""
        own = flags & int(_LETTER_FLAGS)
        seen = (_written(str(inner[0][0]), inner[0][1]), own)
        bit, _ = self._seen.get(seen) or (16 << len(self._seen), None)
        if bit >= 1 << _AFTER:
            raise TooComplex
        self._seen[seen] = (bit, re.compile(*seen).fullmatch)
        wanted = bit << _AFTER if direction > 0 else bit
        self._used |= wanted
        return lambda context: bool(context & wanted) is there

    def _gap(self, kind: str, flags: int) -> Gap:
        edge, newline = _EDGE, _NEWLINE
        if kind in ("AT_BOUNDARY", "AT_NON_BOUNDARY"):
            word = _ASCII_WORD if flags & re.ASCII else _WORD
            self._used |= word | word << _AFTER
            differ = kind == "AT_BOUNDARY"
            return lambda context: (bool(context & word) != bool(context & word << _AFTER)) is differ
        wanted = {
            "AT_BEGINNING": edge | newline if flags & re.MULTILINE else edge,
            "AT_BEGINNING_STRING": edge,
            "AT_END": (edge | newline) << _AFTER if flags & re.MULTILINE else edge << _AFTER | _LAST_NEWLINE,
            "AT_END_STRING": edge << _AFTER,
        }.get(kind)
        if wanted is None:
            raise TooComplex
        self._used |= wanted
        return lambda context: bool(context & wanted)

    # --- following --------------------------------------------------------------------------------------------------

    def search(self, text: str) -> bool:
        """Does the expression match anywhere in the text?"""
        if not text:
            return self._empty
        try:
            row = reduce(getitem, text[:-1], self._row(0, _EDGE))
            marks, before = self._step(row, text[-1], last=True)
        except _Found:
            return True
        return bool(self._follow(marks, before | _EDGE << _AFTER) & self._end)

    def keep(self, row: _Row, letter: str) -> _Row:
        """The row to which a letter leads, from now on known to the row."""
        found = self._row(*self._step(row, letter))
        row[letter] = found
        self._kept += 1
        if self._kept > _MOST_KEPT:
            self._forget()
        return found

    def _forget(self) -> None:
        """Rows know each other: emptied they go at once, without waiting for the collector of cycles."""
        rows, self._rows = self._rows, {}
        self._kept = 0
        for row in rows.values():
            row.clear()
        self._tables = {}

    def _row(self, marks: int, before: int) -> _Row:
        before &= self._used
        row = self._rows.get((marks, before))
        if row is None:
            row = self._rows[marks, before] = _Row(self, marks, before)
        return row

    def _step(self, row: _Row, letter: str, *, last: bool = False) -> tuple[int, int]:
        """(marks, what lies before now) behind one more letter. Raises _Found."""
        kind = self._kind(letter)
        after = kind << _AFTER
        if last and letter == "\n":
            after |= _LAST_NEWLINE
        found = self._follow(row.marks, row.before | after)
        if found & self._end:
            raise _Found
        return found & self._matching(letter), kind

    def _kind(self, letter: str) -> int:
        if not self._used:
            return 0
        word = _WORD if _WORD_LETTER.match(letter) else 0
        ascii_word = _ASCII_WORD if _ASCII_WORD_LETTER.match(letter) else 0
        kind = word | ascii_word | (_NEWLINE if letter == "\n" else 0)
        for bit, test in self._seen.values():
            if test(letter):
                kind |= bit
        return kind

    def _matching(self, letter: str) -> int:
        """All places that a letter matches."""
        known = self._letters.get(letter)
        if known is None:
            known = self._exact.get(letter, 0)
            for test, places in self._tests.values():
                if test(letter):
                    known |= places
            if len(self._letters) >= _MOST_LETTERS:
                self._letters.clear()
            self._letters[letter] = known
        return known

    def _follow(self, marks: int, context: int) -> int:
        """The places that may come next, and the end; a match may also begin anew here."""
        context &= self._used
        table = self._tables.get(context)
        if table is None:
            chunks = [_Chunk(self, context, 8 * number) for number in range(self._width)]
            table = self._tables[context] = (self._from(self._start, context), chunks)
        found, chunks = table
        for chunk, byte in zip(chunks, marks.to_bytes(self._width, "little"), strict=True):
            if byte:
                found |= chunk[byte]
        return found

    def reach(self, place: int, context: int) -> int:
        """What may come behind a place that has matched."""
        return self._from(self._behind[place], context)

    def _from(self, joint: int, context: int) -> int:
        found = 0
        seen = {joint}
        todo = [joint]
        while todo:
            joint = todo.pop()
            if joint == 0:
                found |= self._end
            elif joint in self._place_at:
                found |= 1 << self._place_at[joint]
            for gap, to in self._ways[joint]:
                if to not in seen and (gap is None or gap(context)):
                    seen.add(to)
                    todo.append(to)
        return found


def _written(kind: str, detail: Any) -> str:
    """The pattern for one letter."""
    if kind == "ANY":
        return "."
    if kind != "IN":
        return f"[{'^' if kind == 'NOT_LITERAL' else ''}{_escaped(detail)}]"
    parts: list[str] = []
    for name, value in detail:
        match str(name):
            case "NEGATE":
                parts.append("^")
            case "LITERAL":
                parts.append(_escaped(value))
            case "RANGE":
                parts.append(f"{_escaped(value[0])}-{_escaped(value[1])}")
            case "CATEGORY":
                parts.append(_CATEGORIES[str(value)])
            case _:
                raise TooComplex
    return f"[{''.join(parts)}]"


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"
