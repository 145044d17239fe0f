"""Reads nodes into values and collects every mistake on the way instead of stopping at the first."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from stellwerk.serving.policy.errors import Problem
from stellwerk.serving.policy.fields import Field
from stellwerk.serving.policy.model import Mark
from stellwerk.serving.policy.source import MAX_DEPTH, MappingNode, Node, ScalarNode, SequenceNode, tag_of

Pair = tuple[ScalarNode, Node]

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|m|min|h)?")
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = re.compile(r"(\d+(?:\.\d*)?)\s*([kKMG]?)i?[bB]?")


def one_form(node: ScalarNode) -> str:
    """The text of a scalar, accents in one piece with their letters however the editor wrote them; stays so in it."""
    node.value = unicodedata.normalize("NFC", str(node.value))
    return str(node.value)


def _is_name(text: str) -> bool:
    first = text[:1]
    return 0 < len(text) <= 100 and (first.isalnum() or first == "_") and all(map(_in_names, text))


def _in_names(letter: str) -> bool:
    # Many scripts write vowels as marks of their own.
    return letter.isalnum() or letter in "_.-" or unicodedata.category(letter) in ("Mn", "Mc")


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint: ` Did you mean X?`, else the known words."""
    words = [str(item) for item in known]
    close = get_close_matches(word, words, n=1, cutoff=0.5) or get_close_matches(
        word.lower(), [item.lower() for item in words], n=1, cutoff=0.5
    )
    if close:
        exact = next(item for item in words if item.lower() == close[0].lower())
        return f"Did you mean `{exact}`?"
    return f"Known here: {', '.join(words)}." if words else "There is none here."


def parse_duration(text: str) -> float | None:
    """`400ms`, `2s`, `1.5m`, `1h`, or plain seconds; in seconds. None when it is none of them."""
    found = _DURATION.fullmatch(text.strip())
    return float(found[1]) * _UNITS_S[found[2] or "s"] if found else None


def parse_fraction(text: str) -> float | None:
    """`70%` or `0.7` as 0.7. None when it is no finite number."""
    text = text.strip()
    percent = text.endswith("%")
    try:
        value = float(text[:-1] if percent else text)
    except ValueError:
        return None
    if not math.isfinite(value) or "_" in text:
        return None
    return value / 100 if percent else value


class Reader:
    """State of one reading: the problems so far and the card that is being read."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.card: str | None = None

    def error(self, node: Node, what: str, remedy: str) -> None:
        """Note a mistake at the start of a node."""
        self.problems.append(self._at(node, what, remedy))

    def warning(self, node: Node, what: str, remedy: str) -> None:
        """Note what works, but not as its writer may think."""
        self.warnings.append(self._at(node, what, remedy))

    def _at(self, node: Node, what: str, remedy: str) -> Problem:
        mark = node.start_mark
        return Problem(mark.line + 1, mark.column + 1, what, remedy, self.card)

    def mark(self, node: Node) -> Mark:
        return Mark(node.start_mark.line + 1, node.start_mark.column + 1)

    # --- containers ---------------------------------------------------------------------------------------------

    def pairs(self, node: Node, what: str, example: str) -> list[Pair]:
        """Keys and values of a mapping, merge keys (`<<`) resolved, later duplicates reported and left out."""
        if not isinstance(node, MappingNode):
            self.error(node, f"{what} must be a mapping.", f"Write it like `{example}`.")
            return []
        found: dict[str, Pair] = {}
        sources: list[Node] = []
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self.error(key, "A key must be a plain word.", "Did a `{` or `[` slip in?")
            elif _merges(key):
                sources += value.value if isinstance(value, SequenceNode) else [value]
            elif one_form(key) in found:
                first = found[key.value][0].start_mark.line + 1
                self.error(key, f"`{key.value}` is there twice (first in line {first}).", "Keep one of them.")
            else:
                found[key.value] = (key, value)
                _place_nothing(key, value)
        for source in sources:
            if isinstance(source, MappingNode):
                for key, value in _with_merged(source):
                    found.setdefault(one_form(key), (key, value))
            else:
                self.error(source, "`<<` takes in a mapping, and this is none.", "Write it like `<<: *anchor`.")
        return list(found.values())

    def items(self, node: Node, what: str, example: str) -> list[Node]:
        """Entries of a list."""
        if not isinstance(node, SequenceNode):
            self.error(node, f"{what} must be a list.", f"Write it like `{example}`.")
            return []
        return list(node.value)

    def section(self, node: Node, fields: Sequence[Field], what: str) -> dict[str, Node]:
        """Values by key; unknown and missing keys reported."""
        known = [field.key for field in fields]
        example = "{" + ", ".join(f"{field.key}: …" for field in fields[:2]) + "}"
        values: dict[str, Node] = {}
        if not isinstance(node, MappingNode):
            self.error(node, f"{what} must be a mapping.", f"Write it like `{example}`.")
            return values
        for key, value in self.pairs(node, what, example):
            if key.value not in known:
                self.error(key, f"Unknown key `{key.value}` in {what}.", nearest(key.value, known))
            else:
                values[key.value] = value
        for field in fields:
            if field.required and field.key not in values:
                self.error(node, f"{what[0].upper()}{what[1:]} has no `{field.key}`.", f"{field.doc}")
        return values

    def plain(self, values: dict[str, Node], fields: Sequence[Field]) -> dict[str, object]:
        """The non-custom fields as arguments for their dataclass; what is wrong is reported and left out."""
        arguments: dict[str, object] = {}
        for field in fields:
            if field.kind != "custom" and field.key in values:
                value = self.value(values[field.key], field)
                if value is not None or field.kind == "path_or_none":
                    arguments[field.target] = value
        return arguments

    # --- scalars ------------------------------------------------------------------------------------------------

    def value(self, node: Node, field: Field) -> object:
        """One scalar (or list of texts) of the kind that the field says; None when it is wrong."""
        match field.kind:
            case "text":
                return self.text(node, f"`{field.key}`")
            case "name":
                return self.text(node, f"`{field.key}`")
            case "texts":
                return self.texts(node, f"`{field.key}`")
            case "flag":
                return self.flag(node, f"`{field.key}`")
            case "choice":
                return self.choice(node, field)
            case "path_or_none":
                return self._path(node, field)
        return self._number(node, field)

    def text(self, node: Node, what: str) -> str | None:
        """A non-empty scalar as written; numbers and dates count as their text."""
        if not isinstance(node, ScalarNode) or (tag_of(node) == "null" and node.style is None):
            self.error(node, f"{what} must be a text.", "Write a word, or put it in quotes.")
            return None
        if node.value == "":
            self.error(node, f"{what} is empty.", "Write a word, or leave the key out.")
            return None
        return one_form(node)

    def name(self, key: ScalarNode, what: str) -> bool:
        """Is this a good name of a card? It travels in HTTP headers (as %XX where it is no ASCII) and log lines."""
        if _is_name(key.value):
            return True
        hint = "Use letters of any language, digits, `_`, `-` and `.`, at most 100, and begin with a letter or digit."
        self.error(key, f"{key.value[:100]!r} cannot be the name of a {what}.", hint)
        return False

    def texts(self, node: Node, what: str) -> tuple[str, ...] | None:
        """One text or a list of them."""
        if isinstance(node, SequenceNode):
            values = [self.text(item, f"An entry of {what}") for item in node.value]
            if not values:
                self.error(node, f"{what} is an empty list.", "Put at least one entry in, or leave the key out.")
            return tuple(value for value in values if value is not None) or None
        value = self.text(node, what)
        return None if value is None else (value,)

    def flag(self, node: Node, what: str) -> bool | None:
        if isinstance(node, ScalarNode) and tag_of(node) == "bool":
            return bool(node.value.lower() in ("true", "yes", "on"))
        self.error(node, f"{what} must be `true` or `false`.", "Write one of the two, without quotes.")
        return None

    def choice(self, node: Node, field: Field) -> str | None:
        value = node.value if isinstance(node, ScalarNode) else None
        if value in field.choices:
            return str(value)
        shown = f"`{value}`" if value is not None else "a list or mapping"
        self.error(node, f"`{field.key}` cannot be {shown}.", nearest(str(value or ""), field.choices))
        return None

    def _path(self, node: Node, field: Field) -> str | None:
        if isinstance(node, ScalarNode) and (tag_of(node) == "null" or node.value == "none"):
            return None
        value = self.text(node, f"`{field.key}`")
        if value is not None and not value.startswith("/"):
            self.error(node, f"`{field.key}` must begin with `/`.", f"Write `/{value}`, or `none`.")
        return value

    def _number(self, node: Node, field: Field) -> float | int | None:
        text = node.value.strip() if isinstance(node, ScalarNode) else ""
        value: float | None = None
        example = "16"
        if field.kind == "duration":
            value, example = parse_duration(text), "400ms` or `30s"
        elif field.kind == "bytes":
            found = _BYTES.fullmatch(text)
            value = (
                float(found[1]) * {"": 1, "k": 1024, "K": 1024, "M": 1024**2, "G": 1024**3}[found[2]] if found else None
            )
            example = "32MB"
        elif isinstance(node, ScalarNode) and tag_of(node) in ("int", "float"):
            number = parse_fraction(text.replace("_", ""))
            value = number if field.kind == "number" or (number is not None and number == int(number)) else None
        if value is None or not math.isfinite(value):
            self.error(
                node, f"`{field.key}` must be a {_CALLED.get(field.kind, field.kind)}.", f"Write it like `{example}`."
            )
            return None
        if (field.least is not None and value < field.least) or (field.most is not None and value > field.most):
            limits = (
                f"at least {field.least:g}" if field.most is None else f"from {field.least or 0:g} to {field.most:g}"
            )
            self.error(node, f"`{field.key}` is {value:g}.", f"It must be {limits}.")
            return None
        return int(value) if field.kind in ("integer", "bytes") else value


_CALLED = {"integer": "whole number", "bytes": "size", "number": "number", "duration": "time"}


def _merges(key: ScalarNode) -> bool:
    return bool(key.value == "<<" and key.style is None)


def _place_nothing(key: ScalarNode, value: Node) -> None:
    """A value that was left out has its place at its key; YAML would put it where the next thing begins."""
    if isinstance(value, ScalarNode) and value.start_mark.index == value.end_mark.index and value.style is None:
        value.start_mark = value.end_mark = key.start_mark


def _with_merged(node: MappingNode) -> list[Pair]:
    """Keys and values of a mapping, then those of what it takes in by `<<` itself. (No anchor contains itself.)"""
    pairs = [(key, value) for key, value in node.value if isinstance(key, ScalarNode)]
    own = [pair for pair in pairs if not _merges(pair[0])]
    for key, value in pairs:
        if _merges(key):
            for source in value.value if isinstance(value, SequenceNode) else [value]:
                own += _with_merged(source) if isinstance(source, MappingNode) else []
    return own


def depth_guard(depth: int, reader: Reader, node: Node) -> bool:
    """False, with a problem noted, when conditions are nested beyond all sense (or an alias contains itself)."""
    if depth <= MAX_DEPTH:
        return True
    reader.error(node, "Conditions are nested too deeply.", f"Use at most {MAX_DEPTH} levels.")
    return False
