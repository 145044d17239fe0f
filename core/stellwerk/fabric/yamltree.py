"""YAML text -> a tree that knows where everything stands, and removal of mapping keys with all other bytes kept.

The tree is built from libyaml's events, the parser that netplan itself uses. All scalars stay strings (to YAML 1.1 an
all-digit MAC is a sexagesimal number), aliases stay aliases, keys that appear twice stay twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say

MAX_TEXT = 1 << 20
MAX_DEPTH = 60
MAX_VALUES = 100_000  # after aliases are followed
_COMMENT = re.compile(r"(?:^|(?<=\s))#[^\r\n\x85\u2028\u2029]*")
_LINE_BREAKS = "\r\n\x85\u2028\u2029"


@dataclass(slots=True)
class Scalar:
    """A value; `None` where nothing is written."""

    value: str | None
    start: int
    end: int
    anchor: str | None = None


@dataclass(slots=True)
class Alias:
    """`*name`, and what it stands for."""

    name: str
    target: Node
    start: int
    end: int
    anchor: str | None = None


@dataclass(slots=True)
class Listing:
    """A sequence."""

    items: list[Node]
    start: int
    end: int
    flow: bool
    anchor: str | None = None


@dataclass(slots=True)
class Mapping:
    """A mapping, in the order of the file."""

    pairs: list[tuple[Node, Node]]
    start: int
    end: int
    flow: bool
    anchor: str | None = None

    def get(self, key: str) -> Node | None:
        """The value of a key; the last one counts when it is there twice."""
        found = [value for name, value in self.pairs if isinstance(name, Scalar) and name.value == key]
        return found[-1] if found else None


Node = Scalar | Alias | Listing | Mapping


@dataclass(slots=True)
class _Builder:
    path: str
    offset: int
    events: Iterator[Any]
    anchors: dict[str, Node] = field(default_factory=dict)

    def end_of(self, event: Any) -> int:
        return int(event.end_mark.index) + self.offset

    def node(self, event: Any, depth: int = 0) -> Node:
        if depth > MAX_DEPTH:
            raise BadInput(say("{path} is nested too deeply", path=self.path), remedy="Correct the file by hand")
        start, end = event.start_mark.index + self.offset, event.end_mark.index + self.offset
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise BadInput(
                    say("{path} uses *{anchor}, which is not defined before", path=self.path, anchor=event.anchor)
                )
            return Alias(event.anchor, self.anchors[event.anchor], start, end)
        node: Node
        if isinstance(event, yaml.ScalarEvent):
            plain = event.implicit[0]
            empty = plain and event.value in ("", "~", "null", "Null", "NULL")
            node = Scalar(None if empty else event.value, start, end, event.anchor)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = Listing([], start, end, bool(event.flow_style), event.anchor)
        else:
            node = Mapping([], start, end, bool(event.flow_style), event.anchor)
        if event.anchor:
            self.anchors[event.anchor] = node
        if isinstance(node, Listing):
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                node.items.append(self.node(item, depth + 1))
            node.end = self.end_of(item)
        elif isinstance(node, Mapping):
            while not isinstance(item := next(self.events), yaml.MappingEndEvent):
                key = self.node(item, depth + 1)
                node.pairs.append((key, self.node(next(self.events), depth + 1)))
            node.end = self.end_of(item)
        return node


def parse(text: str, path: str) -> Node | None:
    """The tree of the only document in a text; None for an empty one.

    Raises `BadInput` that names the file and the line for anything that netplan could not read either.
    """
    if len(text) > MAX_TEXT:
        raise BadInput(say("{path} is larger than {max_text} KiB", path=path, max_text=MAX_TEXT // 1024))
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # libyaml drops a byte order mark without counting it.
    builder = _Builder(path, 1 if text.startswith("\ufeff") else 0, iter(()))
    roots: list[Node] = []
    try:
        builder.events = yaml.parse(text, Loader=loader)
        for event in builder.events:
            if isinstance(event, yaml.NodeEvent):
                roots.append(builder.node(event))
            elif isinstance(event, yaml.DocumentStartEvent):
                builder.anchors.clear()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = say(" line {line}", line=mark.line + 1) if mark is not None else ""
        why = getattr(error, "problem", None) or str(error)
        raise BadInput(
            say("{path}{where} is not YAML", path=path, where=where), why=str(why), remedy="Correct the file by hand"
        ) from None
    except (UnicodeError, RecursionError, StopIteration, ValueError) as error:
        raise BadInput(
            say("{path} is not YAML", path=path), why=str(error), remedy="Correct the file by hand"
        ) from None
    if len(roots) > 1:
        raise BadInput(say("{path} holds more than one document; netplan reads only the first", path=path))
    return roots[0] if roots else None


def data(node: Node | None, path: str) -> Any:
    """Plain dicts, lists and strings; aliases followed. Raises `BadInput` for an alias that holds itself."""
    count = 0

    def build(item: Node, trail: tuple[int, ...]) -> Any:
        nonlocal count
        count += 1
        if count > MAX_VALUES or id(item) in trail or len(trail) > 2 * MAX_DEPTH:
            raise BadInput(say("{path} grows without end through its aliases", path=path))
        inner = (*trail, id(item))
        if isinstance(item, Alias):
            return build(item.target, inner)
        if isinstance(item, Listing):
            return [build(entry, inner) for entry in item.items]
        if isinstance(item, Mapping):
            return {_key(key): build(value, inner) for key, value in item.pairs}
        return item.value

    return None if node is None else build(node, ())


def _key(node: Node) -> str:
    while isinstance(node, Alias):
        node = node.target
    return (node.value or "") if isinstance(node, Scalar) else ""


def key_text(node: Node) -> str:
    """A mapping key as text; empty for a key that is itself a list or mapping."""
    return _key(node)


def mapping(node: Node | None) -> Mapping | None:
    """The mapping behind a node, aliases followed; None when it is something else."""
    while isinstance(node, Alias):
        node = node.target
    return node if isinstance(node, Mapping) else None


# --- removal ---------------------------------------------------------------------------------------------------------


Cut = tuple[int, int]


def cut(text: str, cuts: Iterable[Cut]) -> str:
    """The text without these ranges, which do not overlap."""
    for start, end in sorted(cuts, reverse=True):
        text = text[:start] + text[end:]
    return text


def cuts_for(text: str, path: str, parent: Mapping, doomed: Callable[[Node], bool]) -> list[Cut]:
    """What to cut out so that the pairs of `parent` whose key is doomed go and every other byte stays.

    Raises `BadInput` when a key that goes shares its line with something that stays.
    """
    cuts: list[Cut] = []
    for index, (key, value) in enumerate(parent.pairs):
        if doomed(key):
            cuts += _flow_cuts(text, parent, index, doomed) if parent.flow else [_block_cut(text, path, key, value)]
    return cuts


def _leaf_end(node: Node) -> int:
    """Where the last thing written in a node ends; the end of a block itself lies past comments."""
    if isinstance(node, Mapping) and not node.flow and node.pairs:
        return _leaf_end(node.pairs[-1][1])
    if isinstance(node, Listing) and not node.flow and node.items:
        return _leaf_end(node.items[-1])
    return node.end


def _block_cut(text: str, path: str, key: Node, value: Node) -> Cut:
    """Whole lines, from the one of the key to the one on which the value ends."""
    start = key.start
    while start > 0 and text[start - 1] not in _LINE_BREAKS:
        start -= 1
    if text[start : key.start].strip(" \t\ufeff"):
        raise BadInput(
            say("{path}: the key {key} shares its line with something else", path=path, key=key_text(key)),
            remedy="Edit the file by hand",
        )
    if text.startswith("\ufeff", start):
        start += 1
    end = _leaf_end(value)
    while end > key.end and text[end - 1].isspace():  # a block scalar ends after its line break
        end -= 1
    while end < len(text) and text[end] not in _LINE_BREAKS:
        end += 1
    if text.startswith("\r\n", end):
        end += 1
    return start, min(end + 1, len(text))


def _flow_cuts(text: str, parent: Mapping, index: int, doomed: Callable[[Node], bool]) -> list[Cut]:
    """The pair and one of the commas beside it."""
    key, value = parent.pairs[index]
    start, end = key.start, max(value.end, key.end)
    after = _comma(text, end, parent.pairs[index + 1][0].start if index + 1 < len(parent.pairs) else parent.end - 1)
    if after is not None:
        end_of_gap = after + 1
        while text[end_of_gap] in " \t":
            end_of_gap += 1
        # A comment between value and comma stays: only the pair and the comma go.
        if text[end:after].strip():
            return [(start, end), (after, after + 1)]
        return [(start, end_of_gap)]
    cuts = [(start, end)]
    kept = [pair for pair in parent.pairs[:index] if not doomed(pair[0])]
    if kept:
        last_key, last_value = kept[-1]
        before = _comma(text, max(last_value.end, last_key.end), start)
        if before is not None:
            cuts.append((before, before + 1))
    return cuts


def _comma(text: str, start: int, stop: int) -> int | None:
    """The first comma between two places that is not in a comment."""
    gap = _COMMENT.sub(lambda match: "#" * len(match.group()), text[start:stop])
    found = gap.find(",")
    return start + found if found >= 0 else None
