"""One walk through a compiled policy, and the stable draws of its splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from hashlib import blake2b

from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.state import StateSnapshot
from stellwerk.serving.decision.types import Answer, Hop, Scored

# A pool that might answer, and the way that led to it.
Candidate = tuple[str, tuple[Hop, ...]]


class Walk:
    """What a step may look at, and what it leaves behind. Lives as long as one decide()."""

    __slots__ = ("answers", "explain", "hops", "request", "salt", "scores", "state")

    def __init__(
        self, request: RequestView, state: StateSnapshot, salt: str, answers: Mapping[str, Answer], explain: bool
    ) -> None:
        self.request = request
        self.state = state
        self.salt = salt
        self.answers = answers
        self.explain = explain
        self.hops: tuple[Hop, ...] = ()
        self.scores: list[Scored] = []


_UNIT = 2.0**-53  # as many bits as a float holds

# A step or a pool, ready to run: the candidates below it, best first.
Node = Callable[[Walk], list[Candidate]]


def draw(salt: str, step: str, key: str) -> float:
    """A number in [0, 1) that depends on the three texts alone: the same after a restart and on every machine."""
    hashed = _begun(salt, step).copy()
    hashed.update(key.encode("utf-8", "surrogatepass"))
    return (int.from_bytes(hashed.digest(), "big") >> 11) * _UNIT


@lru_cache(maxsize=256)
def _begun(salt: str, step: str) -> blake2b:
    """The hash over what is the same for every draw of a step: a copy costs less than to begin anew."""
    return blake2b(f"{salt}\0{step}\0".encode("utf-8", "surrogatepass"), digest_size=8)
