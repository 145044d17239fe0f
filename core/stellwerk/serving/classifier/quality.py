"""How good is a ranking of prompts for routing? Pure Python: the command line judges models without numpy.

PGR(t) is the share of the quality gap between the weak and the strong model that is recovered when a share t of the
calls, those of the highest score, goes to the strong one. APGR is the area under it over t in 0..1; CPT(50) is the
smallest share with PGR >= 0.5. Prompts of equal score count as in the mean over all their orders, which makes the curve
straight between the ends of such a group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of one set of prompts, all but `prompts` in 0..1 (a perfect ranking exceeds 1 in `apgr`)."""

    prompts: int
    strong_right: float
    weak_right: float
    apgr: float
    cpt50: float


def recovery_curve(
    scores: Sequence[float], strong: Sequence[float], weak: Sequence[float]
) -> list[tuple[float, float]]:
    """Points (share of strong calls, PGR), from (0, 0) to (1, 1), one per distinct score, straight between them.

    Raises ValueError when there is nothing to gain: no prompts, or the strong model is not better.
    """
    count = len(scores)
    gap = sum(strong) - sum(weak)
    if count == 0 or gap <= 0:
        raise ValueError("the strong model is not better than the weak one on these prompts, so routing gains nothing")
    order = sorted(range(count), key=lambda index: -scores[index])
    points = [(0.0, 0.0)]
    gain = 0.0
    for place, index in enumerate(order, 1):
        gain += strong[index] - weak[index]
        if place == count or scores[order[place]] != scores[index]:
            points.append((place / count, gain / gap))
    return points


def quality(scores: Sequence[float], strong: Sequence[float], weak: Sequence[float]) -> Quality:
    """Judge scores (higher: rather strong) by graded answers of both models, 0..1 each. ValueError as above."""
    points = recovery_curve(scores, strong, weak)
    count = len(scores)
    area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in pairwise(points))
    return Quality(count, sum(strong) / count, sum(weak) / count, area, share_for(points, 0.5, count))


def share_for(points: Sequence[tuple[float, float]], wanted: float, count: int) -> float:
    """The smallest share of strong calls, in whole calls of `count`, that recovers `wanted` (PGR)."""
    if wanted <= 0:
        return 0.0
    for (share, gain), (next_share, next_gain) in pairwise(points):
        if next_gain >= wanted:
            exact = share + (next_share - share) * (wanted - gain) / (next_gain - gain)
            return min(next_share, ceil(exact * count - 1e-9) / count)
    return 1.0
