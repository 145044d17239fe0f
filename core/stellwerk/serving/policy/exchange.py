"""What the import from and the export to Switchyard share: names, and the list of what is lost."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the other format cannot say. `card` is where it stands, `instead` what is written in its place."""

    card: str
    what: str
    instead: str

    def __str__(self) -> str:
        return f"{self.card}: {self.what} {self.instead}"


@dataclass(frozen=True, slots=True)
class Exchanged:
    """A file in the other format, and everything that it does not say."""

    text: str
    losses: tuple[Loss, ...]


def plain_name(wanted: str, taken: Iterable[str]) -> str:
    """A name that both formats allow, as close to the wanted one as can be, and not among the taken ones."""
    base = re.sub(r"[^\w.-]+", "-", wanted).strip("-.") or "card"
    used = set(taken)
    name, number = base, 2
    while name in used:
        name, number = f"{base}-{number}", number + 1
    return name
