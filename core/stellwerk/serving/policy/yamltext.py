"""Plain values as YAML in one line, and where things begin and end in a text."""

from __future__ import annotations

import re
from typing import TypeAlias

from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, tag_of

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"

# A plain word is safe in every context when it begins with a letter and holds nothing that YAML gives a meaning.
_PLAIN = re.compile(r"[A-Za-z_](?:[\w./+ -]*[\w./+-])?", re.ASCII)
_PLAIN_PERCENT = re.compile(r"\d+(?:\.\d+)?(?:%|ms|s|min|m|h|kB|MB|GB)")
_SPECIAL = frozenset(("true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf"))


def to_yaml(value: Value) -> str:
    """The value in flow style, readable again as exactly this value."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return _number(value)
        case str():
            return scalar_text(value)
        case list():
            return "[" + ", ".join(to_yaml(item) for item in value) + "]"
    return "{" + ", ".join(f"{scalar_text(key)}: {to_yaml(item)}" for key, item in value.items()) + "}"


def _number(value: float) -> str:
    text = repr(value)
    # YAML reads 1e-05 as a word: the mantissa needs its point.
    return re.sub(r"^(-?\d+)e", r"\1.0e", text)


def scalar_text(value: str, style: str | None = None) -> str:
    """A text as a scalar, in the given quotes where they can hold it, else plain where that is safe, else quoted."""
    if style == "'" and value.isprintable():
        return "'" + value.replace("'", "''") + "'"
    if style != '"' and (
        (_PLAIN.fullmatch(value) and value.lower() not in _SPECIAL and " #" not in value)
        or _PLAIN_PERCENT.fullmatch(value)
    ):
        return value
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return "\\" + letter
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def data_of(node: Node, depth: int = 0) -> object:
    """A node as plain data for comparing two texts. Scalars are (tag, text), so that `1` and `"1"` differ; an alias is
    ("*", name of its anchor), so that a change under an anchor is one change."""
    if depth > 100:
        raise RecursionError
    if isinstance(node, MappingNode):
        return [(_part(node, key, depth), _part(node, value, depth)) for key, value in node.value]
    if isinstance(node, SequenceNode):
        return ["-", *(_part(node, item, depth) for item in node.value)]
    return (tag_of(node), node.value if tag_of(node) != "null" else "")


def _part(parent: Node, child: Node, depth: int) -> object:
    return ("*", child.anchor) if is_alias(parent, child) else data_of(child, depth + 1)


def is_alias(parent: Node, child: Node) -> bool:
    """Does the child stand elsewhere in the text, where its anchor is?"""
    return not parent.start_mark.index <= child.start_mark.index <= parent.end_mark.index


def content_end(text: str, node: Node) -> int:
    """Where the last character that belongs to a node ends; what the parser counts of blank lines and comments after
    a block is left out."""
    if isinstance(node, ScalarNode):
        if node.style in ("|", ">"):
            return len(text[: node.end_mark.index].rstrip("\r\n \t"))
        return int(node.end_mark.index)
    if not isinstance(node, MappingNode | SequenceNode) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    last = node.value[-1]
    last = last[1] if isinstance(node, MappingNode) else last
    if is_alias(node, last):
        return len(text[: node.end_mark.index].rstrip())  # an alias: its node lies elsewhere
    return content_end(text, last)


def line_start(text: str, at: int) -> int:
    """The offset of the first character of the line that holds `at`."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The offset of the line break (or the end of the text) at or after `at`."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


def next_line(text: str, at: int) -> int:
    """The offset behind the line break at or after `at`."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def newline_of(text: str) -> str:
    """The line break that the text uses."""
    return "\r\n" if "\r\n" in text else "\n"
