"""The border between a decision and whatever judges difficulty in this process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from stellwerk.serving.decision.request import Turn


@dataclass(frozen=True, slots=True)
class Verdict:
    """`score` 0..1: the share of reference prompts that are easier. `about` says what was judged."""

    score: float
    about: str
    features: tuple[tuple[str, float], ...] = ()


class Difficulty(Protocol):
    """Judges a conversation. Pure and thread-safe."""

    def judge(self, turns: Sequence[Turn], *, explain: bool = False) -> Verdict: ...


# Gives the model behind `weights:` of a classifier card; None: the shipped one.
# Raises OSError or ValueError with a message for people.
DifficultyLoader = Callable[[str | None], Difficulty]
