"""A share of calls, or a floor for quality, as a threshold. Pure Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.serving.classifier.quality import recovery_curve


@dataclass(frozen=True, slots=True)
class Calibrated:
    """`threshold` for a `classify` step with two labels: scores from it on are the harder side.

    `easy_share` of the prompts lie below it. `quality` is the mean grade that is to be expected, None without grades;
    `strong_quality` what the strong model alone would reach.
    """

    threshold: float
    easy_share: float
    quality: float | None = None
    strong_quality: float | None = None


def threshold_for_share(scores: Sequence[float], easy_share: float) -> float:
    """The threshold below which a share of these scores lies, as near as whole prompts and equal scores allow."""
    ordered = sorted(scores)
    if not ordered:
        raise ValueError("there are no prompts to calibrate on")
    at = round(easy_share * len(ordered))
    if at <= 0:
        return 0.0
    if at >= len(ordered):
        return 1.0
    return (ordered[at - 1] + ordered[at]) / 2 if ordered[at - 1] < ordered[at] else ordered[at]


def calibrate_to_share(scores: Sequence[float], easy_share: float) -> Calibrated:
    """ValueError without prompts."""
    threshold = threshold_for_share(scores, easy_share)
    return Calibrated(threshold, _below(scores, threshold))


def calibrate_to_quality(
    scores: Sequence[float], strong: Sequence[float], weak: Sequence[float], floor: float
) -> Calibrated:
    """The fewest strong calls with which the mean grade is at least `floor` times that of the strong model alone.

    ValueError when the strong model is not better than the weak one, or `floor` cannot be reached.
    """
    strong_quality, weak_quality = sum(strong) / len(scores), sum(weak) / len(scores)
    wanted = floor * strong_quality
    if wanted <= weak_quality:
        return _graded(scores, strong, weak, 1.0)
    need = (wanted - weak_quality) / (strong_quality - weak_quality)
    for share, gain in recovery_curve(scores, strong, weak):
        if gain >= need - 1e-12:
            return _graded(scores, strong, weak, 1 - share)
    raise ValueError(f"a quality of {floor:.0%} of the strong model's cannot be reached on these prompts")


def _graded(scores: Sequence[float], strong: Sequence[float], weak: Sequence[float], easy_share: float) -> Calibrated:
    threshold = threshold_for_share(scores, easy_share)
    quality = sum(s if score >= threshold else w for score, s, w in zip(scores, strong, weak, strict=True)) / len(
        scores
    )
    return Calibrated(threshold, _below(scores, threshold), quality, sum(strong) / len(scores))


def _below(scores: Sequence[float], threshold: float) -> float:
    return sum(score < threshold for score in scores) / len(scores)
