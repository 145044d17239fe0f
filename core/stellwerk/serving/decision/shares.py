"""Holds the shares of `classify` steps: the cut points follow the scores of recent traffic."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import accumulate

from stellwerk.serving.decision.types import Scored
from stellwerk.serving.policy.model import Classify, Policy

WINDOW = 1024  # scores remembered per step: some minutes of traffic, 8 kB
_EVERY = 16  # cut points move after so many new scores
# At the start the shipped reference stands in for traffic that has not been seen, and fades as scores come in.
_REFERENCE = 24
_FADED_AFTER = 128
_ABOVE_ALL = 2.0  # a cut that no score reaches: the easier side takes all


class ShareKeeper:
    """One per running policy. Not thread-safe: it belongs to the loop that decides.

    Memory is bounded by `WINDOW` scores per step with a share, however long it runs.
    """

    def __init__(self, policy: Policy) -> None:
        self._steps: dict[str, _Step] = {}
        for name, step in policy.steps.items():
            if isinstance(step, Classify) and step.shares is not None:
                self._steps[name] = _Step(tuple(accumulate(share for _, share in step.shares))[:-1])
        self._thresholds: dict[str, tuple[float, ...]] = {name: step.cuts for name, step in self._steps.items()}

    def observe(self, scores: Iterable[Scored]) -> None:
        """Take in the scores of a decision (`Decision.scores`)."""
        for scored in scores:
            step = self._steps.get(scored.step)
            if step is not None and step.add(scored.score):
                # A new mapping each time: snapshots that were handed out stay as they are.
                self._thresholds = {**self._thresholds, scored.step: step.cuts}

    def thresholds(self) -> Mapping[str, tuple[float, ...]]:
        """For `StateSnapshot.thresholds`. The mapping never changes; a later call may give another one."""
        return self._thresholds

    def recent(self) -> dict[str, list[float]]:
        """The remembered scores, oldest first: for keeping over a restart or a reload (see `restore`)."""
        return {name: list(step.window) for name, step in self._steps.items()}

    def restore(self, recent: Mapping[str, Iterable[float]]) -> None:
        """Take over what `recent()` gave. Steps that are not in this policy are left out."""
        for name, scores in recent.items():
            self.observe(Scored(name, "", float(score), "") for score in scores)


class _Step:
    """Recent scores of one step, once in order of time and once sorted."""

    def __init__(self, quantiles: tuple[float, ...]) -> None:
        self.quantiles = quantiles
        # Scores are shares of reference prompts, so shares are the first cut points.
        self.cuts = tuple(cut if cut < 1 else _ABOVE_ALL for cut in quantiles)
        self.window: deque[float] = deque()
        self._sorted: list[float] = []
        self._since = 0

    def add(self, score: float) -> bool:
        """True when the cut points have moved."""
        if len(self.window) == WINDOW:
            old = self.window.popleft()
            del self._sorted[bisect_left(self._sorted, old)]
        self.window.append(score)
        insort(self._sorted, score)
        self._since += 1
        if self._since < _EVERY:
            return False
        self._since = 0
        self.cuts = self._cut()
        return True

    def _cut(self) -> tuple[float, ...]:
        scores = self._sorted
        reference = _REFERENCE * (_FADED_AFTER - len(scores)) // _FADED_AFTER
        if reference > 0:
            scores = sorted(scores + [(number + 0.5) / reference for number in range(reference)])
        return tuple(_quantile(scores, share) for share in self.quantiles)


def _quantile(scores: list[float], share: float) -> float:
    """The point below which this share of the scores lies; scores equal to a cut go to the harder side."""
    if share <= 0:
        return 0.0
    if share >= 1:
        return _ABOVE_ALL
    at = share * len(scores)
    index = min(int(at), len(scores) - 1)
    return scores[index]
