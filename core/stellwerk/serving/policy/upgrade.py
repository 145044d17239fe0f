"""Brings files of older formats up to this one, as text patches that keep comments and layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stellwerk.serving.policy.edit import EditError, find, insert_key, rename_key, set_value
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.model import SCHEMA_VERSION
from stellwerk.serving.policy.patch import Change, Patch, apply_patch, patch_of
from stellwerk.serving.policy.source import MappingNode, ScalarNode, compose, tag_of
from stellwerk.serving.policy.yamltext import line_start, newline_of


@dataclass(frozen=True, slots=True)
class Upgraded:
    """The text in the present format, and what was done, a line each. No notes: it was up to date."""

    text: str
    notes: tuple[str, ...]


def version_of(text: str) -> int:
    """The version a file says it has; 0 when it says none. PolicyErrors when it is not YAML or says nonsense."""
    for key, value in compose(text).value:
        if key.value == "version":
            if isinstance(value, ScalarNode) and tag_of(value) == "int" and value.value.isdigit():
                return int(value.value)
            return SCHEMA_VERSION  # the reader says what is wrong with it
    return 0


def upgrade(text: str) -> Upgraded:
    """Run all upgrades from the file's version on. EditError when one cannot be done in the text as it is written."""
    notes: list[str] = []
    version = version_of(text)
    while version < SCHEMA_VERSION:
        text, said = _UPGRADES[version](text)
        notes += said
        version += 1
    return Upgraded(text, tuple(notes))


# Words of the format before version 1, which had no `version` key: (where, old, new).
_OLD_WORDS = (
    ("pools", "max_queue", "max_waiting"),
    ("steps", "default", "else"),
    ("steps", "fallback", "try"),
    ("steps", "weights", "split"),
)


def _from_0(text: str) -> tuple[str, list[str]]:
    notes: list[str] = []
    for section, old, new in _OLD_WORDS:
        for card in list(_cards(text, section)):
            if _has(text, section, card, old) and not _has(text, section, card, new):
                text = apply_patch(text, rename_key(text, (section, card, old), new))
                notes.append(f"{section} > {card}: `{old}` is called `{new}` now.")
    return _with_version(text, 1), [*notes, "`version: 1` says which format the file has."]


def _cards(text: str, section: str) -> Iterator[str]:
    for key, value in compose(text).value:
        if key.value == section and isinstance(value, MappingNode):
            yield from (card.value for card, body in value.value if isinstance(body, MappingNode))


def _has(text: str, section: str, card: str, word: str) -> bool:
    try:
        find(text, (section, card, word))
    except EditError:
        return False
    return True


def _with_version(text: str, version: int) -> str:
    root = compose(text)
    if any(key.value == "version" for key, _ in root.value):
        return apply_patch(text, set_value(text, ("version",), version))
    if root.flow_style:
        return apply_patch(text, insert_key(text, ("version",), version))
    at = line_start(text, root.value[0][0].start_mark.index)
    patch: Patch = patch_of(Change(at, at, f"version: {version}{newline_of(text)}"))
    return apply_patch(text, patch)


_UPGRADES: dict[int, Callable[[str], tuple[str, list[str]]]] = {0: _from_0}
__all__ = ["PolicyErrors", "Upgraded", "upgrade", "version_of"]
