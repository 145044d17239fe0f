"""What has happened since the start, in plain numbers: cheap to count, shaped for people and Prometheus on demand."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from stellwerk.serving.policy.model import Price

# Seconds. A small model's first token takes tens of milliseconds, a long answer minutes.
TIME_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


class Histogram:
    """Counts per bucket. `bounds` are upper limits; the last bucket has none."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float] = TIME_BOUNDS) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @property
    def count(self) -> int:
        return sum(self.counts)

    def quantile(self, fraction: float) -> float | None:
        """Upper bound of the bucket in which the quantile lies; None without values or beyond the last bound."""
        wanted = fraction * self.count
        seen = 0
        for bound, count in zip(self.bounds, self.counts, strict=False):
            seen += count
            if count and seen >= wanted:
                return bound
        return None


class PoolCounters:
    """One pool. Tokens are the engine's own figures; for streams that do not state them, events are counted."""

    __slots__ = ("cost", "failures", "first_byte", "input_tokens", "judge_tokens", "output_tokens",
                 "queued", "saved", "service", "statuses")  # fmt: skip

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.failures: Counter[str] = Counter()  # attempts that gave nothing, by code
        self.input_tokens = 0
        self.output_tokens = 0
        self.judge_tokens = 0
        self.cost = 0.0
        self.saved = 0.0  # against the baseline pool, in the same currency
        self.service = Histogram()
        self.first_byte = Histogram()
        self.queued = Histogram()

    def count_judge(self, given: int, made: int, price: Price | None, baseline: Price | None) -> None:
        """Tokens that deciding cost. With the baseline alone nobody would have been asked: all of it is extra."""
        self.judge_tokens += given + made
        if price is not None:
            cost = _cost(given, made, price)
            self.cost += cost
            if baseline is not None:
                self.saved -= cost

    def count_tokens(self, given: int, made: int, price: Price | None, baseline: Price | None) -> None:
        self.input_tokens += given
        self.output_tokens += made
        if price is not None:
            cost = _cost(given, made, price)
            self.cost += cost
            if baseline is not None:
                self.saved += _cost(given, made, baseline) - cost


def _cost(given: int, made: int, price: Price) -> float:
    return (given * price.input + made * price.output) / 1e6


class Counters:
    """The whole gateway."""

    __slots__ = ("pools", "refused", "reloads")

    def __init__(self) -> None:
        self.pools: dict[str, PoolCounters] = {}
        self.refused: Counter[str] = Counter()  # requests that reached no pool, by code
        self.reloads: Counter[str] = Counter()

    def pool(self, name: str) -> PoolCounters:
        counters = self.pools.get(name)
        if counters is None:
            counters = self.pools[name] = PoolCounters()
        return counters
