"""Small changes of a text that can be undone: all that an edit ever does to a policy file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """`text[start:end]` becomes `new`. Offsets in characters of the text before the patch."""

    start: int
    end: int
    new: str


@dataclass(frozen=True, slots=True)
class Patch:
    """Changes that do not overlap, in ascending order. Everything outside of them stays byte for byte."""

    changes: tuple[Change, ...]

    def __post_init__(self) -> None:
        end = 0
        for change in self.changes:
            if change.start < end or change.end < change.start:
                raise ValueError("changes of a patch must ascend and not overlap")
            end = change.end


def patch_of(*changes: Change) -> Patch:
    """A patch of changes in any order; those that change nothing are left out."""
    return Patch(tuple(sorted((c for c in changes if c.new or c.end > c.start), key=lambda c: (c.start, c.end))))


def apply_patch(text: str, patch: Patch) -> str:
    """The text after the patch. ValueError when the patch reaches beyond the text."""
    parts: list[str] = []
    at = 0
    for change in patch.changes:
        if change.end > len(text):
            raise ValueError("the patch belongs to another text")
        parts += [text[at : change.start], change.new]
        at = change.end
    parts.append(text[at:])
    return "".join(parts)


def inverse(text: str, patch: Patch) -> Patch:
    """The patch that turns `apply_patch(text, patch)` back into `text`: what undo keeps."""
    shift = 0
    back: list[Change] = []
    for change in patch.changes:
        start = change.start + shift
        back.append(Change(start, start + len(change.new), text[change.start : change.end]))
        shift += len(change.new) - (change.end - change.start)
    return Patch(tuple(back))
