"""Edits of a policy text as minimal patches at the parser's positions. All other bytes stay identical.

A *path* names a place: keys of mappings and indices of lists, as in ("steps", "triage", "when", 0, "to"). Every
function gives a Patch and raises EditError, with words for people, when the change cannot be made that way. What a
patch does is checked before it is given out: the text after it must hold exactly the wanted data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.patch import Change, Patch, apply_patch, patch_of
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, compose, tag_of
from stellwerk.serving.policy.yamltext import (
    Value,
    content_end,
    data_of,
    is_alias,
    line_end,
    line_start,
    newline_of,
    next_line,
    scalar_text,
    to_yaml,
)

Path = tuple[str | int, ...]


class EditError(ValueError):
    """An edit that cannot be made as a small patch; the text says why and what to do instead."""


def set_value(text: str, path: Path, value: Value) -> Patch:
    """Replace what stands at `path`; a key that is not there yet is added at the end of its mapping."""
    parent = find(text, path[:-1])
    key = path[-1]
    if isinstance(parent, MappingNode) and isinstance(key, str) and _entry(parent, key) is None:
        return insert_key(text, path, value)
    if tag_of(parent) == "null" and isinstance(key, str):
        return insert_key(text, path, value)
    node = find(text, path)
    return _checked(text, _replace(text, node, value), path, lambda data, at: _put(data, at, value))


def rename_key(text: str, path: Path, new: str) -> Patch:
    """Give the key at the end of `path` another name; its place and value stay."""
    parent, key, _ = _pair(text, path)
    if _entry(parent, new) is not None:
        raise EditError(f"`{new}` is there already. Choose another name.")
    change = Change(key.start_mark.index, key.end_mark.index, scalar_text(new, key.style))
    return _checked(text, patch_of(change), path, lambda data, at: _rename(data, at, new))


def insert_key(text: str, path: Path, value: Value) -> Patch:
    """Add a key at the end of the mapping `path[:-1]`."""
    key = str(path[-1])
    parent = find(text, path[:-1])
    entry = f"{scalar_text(key)}: {to_yaml(value)}"
    if tag_of(parent) == "null":
        patch = _into_nothing(text, path[:-1], parent, entry)
    elif not isinstance(parent, MappingNode):
        raise EditError(f"`{_words(path[:-1])}` is no mapping, so it cannot take the key `{key}`.")
    elif _entry(parent, key) is not None:
        raise EditError(f"`{key}` is there already. Change it, or choose another name.")
    elif parent.flow_style or not parent.value:
        patch = patch_of(_into_flow(text, parent, len(parent.value), entry))
    else:
        end = line_end(text, _entry_end(text, *parent.value[-1]))
        indent = " " * int(parent.value[0][0].start_mark.column)
        patch = patch_of(Change(end, end, f"{newline_of(text)}{indent}{entry}"))
    return _checked(text, patch, path, lambda data, at: _add_key(data, at, value))


def insert_item(text: str, path: Path, value: Value) -> Patch:
    """Put a value into a list so that it has the index `path[-1]`; the ones from there on move down."""
    parent, index = find(text, path[:-1]), path[-1]
    if not isinstance(parent, SequenceNode) or not isinstance(index, int) or not 0 <= index <= len(parent.value):
        raise EditError(f"`{_words(path[:-1])}` is no list with a place {index}.")
    entry = to_yaml(value)
    if parent.flow_style or not parent.value:
        patch = patch_of(_into_flow(text, parent, index, entry))
    elif index == 0:
        dash = _dash(text, parent.value[0])
        indent = text[line_start(text, dash) : dash]
        if indent.strip():  # `- - a`: the first dash of this list has no line of its own
            raise EditError(f"`{_words(path[:-1])}` begins within a line. Put it on its own line first.")
        patch = patch_of(Change(dash, dash, f"- {entry}{newline_of(text)}{indent}"))
    else:
        end = line_end(text, _own_end(text, parent, parent.value[index - 1]))
        column = _column(text, _dash(text, parent.value[index - 1]))
        patch = patch_of(Change(end, end, f"{newline_of(text)}{' ' * column}- {entry}"))
    return _checked(text, patch, path, lambda data, at: _add_item(data, at, value))


def remove(text: str, path: Path) -> Patch:
    """Take out a key with its value, or an item of a list. Comments on lines of their own stay."""
    parent = find(text, path[:-1])
    if isinstance(parent, MappingNode):
        _, key, _ = _pair(text, path)
        index = [k.value for k, _ in parent.value].index(key.value)
        starts = [k.start_mark.index for k, _ in parent.value]
        ends = [_entry_end(text, k, v) for k, v in parent.value]
    else:
        parent, index = _list_with(parent, path)
        flow = parent.flow_style
        starts = [item.start_mark.index if flow else _dash(text, item) for item in parent.value]
        ends = [_own_end(text, parent, item) for item in parent.value]
    if parent.flow_style:
        if index + 1 < len(starts):
            change = Change(starts[index], starts[index + 1], "")
        else:
            change = Change(ends[index - 1] if index else starts[index], ends[index], "")
    else:
        change = _lines_of(text, starts, ends, index, path)
    return _checked(text, patch_of(change), path, _delete)


def move_item(text: str, path: Path, to: int) -> Patch:
    """Move an item of a list to the index `to`. The texts of the items between are exchanged; comments stay put."""
    parent, index = _list_with(find(text, path[:-1]), path)
    if not 0 <= to < len(parent.value):
        raise EditError(f"`{_words(path[:-1])}` has no place {to}.")
    spans = [(item.start_mark.index, _own_end(text, parent, item)) for item in parent.value]
    order = list(range(len(spans)))
    order.insert(to, order.pop(index))
    texts = [text[start:end] for start, end in spans]
    changes = [Change(*spans[place], texts[source]) for place, source in enumerate(order) if place != source]
    return _checked(text, patch_of(*changes), path, lambda data, at: _move(data, at, to))


def find(text: str, path: Path) -> Node:
    """The node at a path. EditError when it is not there, or only through an alias or a merge key."""
    try:
        node: Node = compose(text)
    except PolicyErrors as errors:
        raise EditError(f"The text must be readable before it can be edited: {errors}") from errors
    for number, step in enumerate(path):
        parent = node
        child: Node | None = None
        if isinstance(parent, MappingNode) and isinstance(step, str):
            found = _entry(parent, step)
            child = found[1] if found else None
        elif isinstance(parent, SequenceNode) and isinstance(step, int) and 0 <= step < len(parent.value):
            child = parent.value[step]
        if child is None:
            raise EditError(f"There is no `{_words(path[: number + 1])}`.")
        if is_alias(parent, child):
            raise EditError(
                f"`{_words(path[: number + 1])}` is an alias (`*…`): a change would change every place that uses it. "
                "Write it out there first."
            )
        node = child
    return node


# --- positions ------------------------------------------------------------------------------------------------------


def _entry(node: MappingNode, key: str) -> tuple[ScalarNode, Node] | None:
    for found, value in node.value:
        if isinstance(found, ScalarNode) and found.value == key:
            return found, value
    return None


def _pair(text: str, path: Path) -> tuple[MappingNode, ScalarNode, Node]:
    parent = find(text, path[:-1])
    found = _entry(parent, str(path[-1])) if isinstance(parent, MappingNode) else None
    if found is None or not isinstance(parent, MappingNode):
        raise EditError(f"There is no `{_words(path)}`.")
    return parent, found[0], found[1]


def _list_with(parent: Node, path: Path) -> tuple[SequenceNode, int]:
    index = path[-1]
    if not isinstance(parent, SequenceNode) or not isinstance(index, int) or not 0 <= index < len(parent.value):
        raise EditError(f"There is no `{_words(path)}`.")
    return parent, index


def _own_end(text: str, parent: Node, child: Node) -> int:
    if is_alias(parent, child):
        raise EditError("One of these entries is an alias (`*…`). Write it out first.")
    return content_end(text, child)


def _entry_end(text: str, key: Node, value: Node) -> int:
    """The end of `key: value`; for a value that is an alias, the end of its line's text."""
    if value.start_mark.index < key.end_mark.index or value.start_mark.index > value.end_mark.index:
        stop = line_end(text, key.end_mark.index)
        comment = text.find(" #", key.end_mark.index, stop)
        if any(mark in text[key.end_mark.index : stop] for mark in ",}]"):
            raise EditError("One of these entries is an alias (`*…`). Write it out first.")
        return len(text[: comment if comment >= 0 else stop].rstrip())
    return max(content_end(text, value), text.index(":", key.end_mark.index) + 1)


def _dash(text: str, item: Node) -> int:
    """The offset of the `-` before an item of a block list."""
    at = int(item.start_mark.index)
    dash = text.rfind("-", 0, at + (at < len(text) and text[at] == "-" and not isinstance(item, ScalarNode)))
    between = text[dash + 1 : at]
    if dash < 0 or (between.strip() and "#" not in between):
        raise EditError("The dash of a list entry cannot be found. Put each entry on its own line.")
    return dash


def _column(text: str, at: int) -> int:
    return at - line_start(text, at)


def _lines_of(text: str, starts: list[int], ends: list[int], index: int, path: Path) -> Change:
    """The lines of one entry of a block collection."""
    start, end = starts[index], ends[index]
    head = line_start(text, start)
    if text[head:start].strip():  # `- key: …`: the first key shares its line with the dash
        if index + 1 == len(starts):
            raise EditError(f"`{_words(path)}` is the last one there. Take out what holds it instead.")
        return Change(start, starts[index + 1], "")
    return Change(head, next_line(text, end), "")


def _into_flow(text: str, node: Node, index: int, entry: str) -> Change:
    """An entry of `[…]` or `{…}` at an index."""
    values = node.value
    starts = [(item[0] if isinstance(item, tuple) else item).start_mark.index for item in values]
    if not values:
        at = text.index("[" if isinstance(node, SequenceNode) else "{", node.start_mark.index) + 1
        return Change(at, at, entry)
    if index < len(values):
        return Change(starts[index], starts[index], f"{entry}, ")
    last = values[-1]
    end = _entry_end(text, *last) if isinstance(last, tuple) else _own_end(text, node, last)
    return Change(end, end, f", {entry}")


def _into_nothing(text: str, path: Path, node: Node, entry: str) -> Patch:
    """The first entry of a mapping that is only a key so far (`steps:`)."""
    if not path:
        raise EditError("The file is empty.")
    parent, key, _ = _pair(text, path)
    if parent.flow_style:
        raise EditError(f"`{_words(path)}` is empty within a line. Write `{{}}` there first.")
    if node.value:  # a written `null` or `~` makes way
        return patch_of(Change(node.start_mark.index, node.end_mark.index, f"{{{entry}}}"))
    colon = text.index(":", key.end_mark.index) + 1
    end = line_end(text, colon)
    indent = " " * (int(key.start_mark.column) + 2)
    return patch_of(Change(end, end, f"{newline_of(text)}{indent}{entry}"))


def _replace(text: str, node: Node, value: Value) -> Patch:
    start, end = int(node.start_mark.index), content_end(text, node)
    if isinstance(node, ScalarNode):
        style = node.style if node.style in ("'", '"') else None
        new = scalar_text(value, style) if isinstance(value, str) else to_yaml(value)
        if start == end:  # nothing stands there: behind its colon or dash, or behind a key that has no colon yet
            start = end = len(text[:start].rstrip())
            new = f" {new}" if text[start - 1] in ":-" else f": {new}"
        return patch_of(Change(start, end, new))
    if not isinstance(node, MappingNode | SequenceNode) or node.flow_style or not node.value:
        return patch_of(Change(start, end, to_yaml(value)))
    # A block begins on the line after its key: what replaces it stands behind the colon.
    before = text[:start].rstrip()
    if before.endswith(":") and "#" not in text[len(before) : start]:
        return patch_of(Change(len(before), end, f" {to_yaml(value)}"))
    return patch_of(Change(start, end, to_yaml(value)))


# --- the same edits on data, for checking --------------------------------------------------------------------------


def _checked(text: str, patch: Patch, path: Path, edit: Callable[[Any, Path], None]) -> Patch:
    """The patch, once it is sure that it does what it should and nothing else."""
    wanted = data_of(compose(text))
    edit(wanted, path)
    try:
        found = data_of(compose(apply_patch(text, patch)))
    except PolicyErrors as errors:
        raise EditError(f"`{_words(path)}` cannot be changed by a small patch: {errors.problems[0].what}") from errors
    if found != wanted:
        raise EditError(f"`{_words(path)}` cannot be changed by a small patch. Change it in the text.")
    return patch


def _data(value: Value) -> object:
    if value is None:
        return ("null", "")
    return data_of(compose(f"x: {to_yaml(value)}").value[0][1])


def _place(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step + 1] if isinstance(step, int) else data[_at(data, step)][1]
    return data


def _at(data: Any, key: object) -> int:
    return next(number for number, (found, _) in enumerate(data) if found[1] == key)


def _put(data: Any, path: Path, value: Value) -> None:
    holder, step = _place(data, path[:-1]), path[-1]
    if isinstance(step, int):
        holder[step + 1] = _data(value)
    else:
        at = _at(holder, step)
        holder[at] = (holder[at][0], _data(value))


def _rename(data: Any, path: Path, new: str) -> None:
    holder = _place(data, path[:-1])
    at = _at(holder, path[-1])
    holder[at] = (_data(new), holder[at][1])


def _add_key(data: Any, path: Path, value: Value) -> None:
    pair = (_data(str(path[-1])), _data(value))
    holder = _place(data, path[:-1])
    if isinstance(holder, tuple):  # it was null
        _put_raw(data, path[:-1], [pair])
    else:
        holder.append(pair)


def _put_raw(data: Any, path: Path, new: object) -> None:
    holder, step = _place(data, path[:-1]), path[-1]
    if isinstance(step, int):
        holder[step + 1] = new
    else:
        at = _at(holder, step)
        holder[at] = (holder[at][0], new)


def _add_item(data: Any, path: Path, value: Value) -> None:
    _place(data, path[:-1]).insert(int(path[-1]) + 1, _data(value))


def _delete(data: Any, path: Path) -> None:
    holder, step = _place(data, path[:-1]), path[-1]
    del holder[step + 1 if isinstance(step, int) else _at(holder, step)]
    if not path[:-1]:
        return
    outer = _place(data, path[:-2])
    # What loses its last entry in a block is an empty value afterwards.
    if holder in ([], ["-"]):
        key = path[-2]
        at = key + 1 if isinstance(key, int) else _at(outer, key)
        empty = _Empty(holder)
        outer[at] = empty if isinstance(key, int) else (outer[at][0], empty)


class _Empty:
    """An empty collection, or nothing at all: which of the two is left depends on how it was written."""

    def __init__(self, holder: list[Any]) -> None:
        self._holder = holder

    def __eq__(self, other: object) -> bool:
        return other == self._holder or other == ("null", "")

    __hash__ = None  # type: ignore[assignment]


def _move(data: Any, path: Path, to: int) -> None:
    holder = _place(data, path[:-1])
    holder.insert(to + 1, holder.pop(int(path[-1]) + 1))


def _words(path: Path) -> str:
    return " > ".join(str(step) for step in path) or "the file"
