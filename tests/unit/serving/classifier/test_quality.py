"""The figures of routing quality, against their definitions."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.classifier.quality import quality, recovery_curve, share_for


def test_the_best_order_recovers_everything_first() -> None:
    strong, weak = [1, 1, 1, 1], [0, 1, 1, 1]
    found = quality([9, 1, 2, 3], strong, weak)
    assert found.apgr == pytest.approx(0.125 + 0.75)
    assert found.cpt50 == 0.25
    assert (found.prompts, found.strong_right, found.weak_right) == (4, 1.0, 0.75)


def test_the_worst_order_recovers_everything_last() -> None:
    found = quality([0, 1, 2, 3], [1, 1, 1, 1], [0, 1, 1, 1])
    assert found.apgr == pytest.approx(0.125)
    assert found.cpt50 == 1.0


def test_equal_scores_are_worth_what_chance_is_worth() -> None:
    found = quality([5] * 10, [1] * 10, [0] * 5 + [1] * 5)
    assert found.apgr == pytest.approx(0.5)
    assert found.cpt50 == 0.5


def test_nothing_to_gain_is_said() -> None:
    with pytest.raises(ValueError, match="not better"):
        quality([1, 2], [0, 1], [1, 0])
    with pytest.raises(ValueError, match="not better"):
        quality([], [], [])


grades = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=30)


@settings(max_examples=60, deadline=None)
@given(grades, st.integers(0, 2**32))
def test_ties_count_as_in_the_mean_over_random_orders(rows: list[tuple[int, int, int]], seed: int) -> None:
    scores, strong, weak = (list(column) for column in zip(*rows, strict=True))
    if sum(strong) <= sum(weak):
        return
    found = quality(scores, strong, weak)
    chance = random.Random(seed)
    total = 0.0
    orders = 300
    for _ in range(orders):
        jittered = [score + chance.random() / 10 for score in scores]
        total += quality(jittered, strong, weak).apgr
    spread = max(1.0, sum(abs(a - b) for a, b in zip(strong, weak, strict=True)) / (sum(strong) - sum(weak)))
    assert found.apgr == pytest.approx(total / orders, abs=0.12 * spread)


@settings(max_examples=60, deadline=None)
@given(grades)
def test_the_curve_begins_at_nothing_and_ends_at_everything(rows: list[tuple[int, int, int]]) -> None:
    scores, strong, weak = (list(column) for column in zip(*rows, strict=True))
    if sum(strong) <= sum(weak):
        return
    points = recovery_curve(scores, strong, weak)
    assert points[0] == (0.0, 0.0)
    assert points[-1] == pytest.approx((1.0, 1.0))
    shares = [share for share, _ in points]
    assert shares == sorted(set(shares))
    half = share_for(points, 0.5, len(rows))
    assert round(half * len(rows), 6).is_integer()
    assert any(gain >= 0.5 - 1e-9 for share, gain in points if share >= half - 1e-9)
