"""One place for all that is measured: an hour of every metric of every node, cheap to read from another thread."""

from __future__ import annotations

import bisect
import math
import threading
from array import array
from collections.abc import Mapping
from dataclasses import dataclass

from stellwerk.model.sample import Sample
from stellwerk.telemetry.rates import gauges, rates
from stellwerk.telemetry.ring import COARSE_POINTS, FINE_POINTS, GAP, Ring

STALE_AFTER_S = 3.0
OFFSET_WINDOW = 60  # samples over which the smallest transport delay is taken


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one series: desktop times in seconds (monotonic clock) and values, NaN where there is a gap."""

    times: array[float]
    values: array[float]


@dataclass(frozen=True, slots=True)
class Freshness:
    """How old a node's newest sample is."""

    age_s: float | None
    stale: bool


class _Tier:
    """All series of one node at one resolution, with a common time axis."""

    def __init__(self, capacity: int) -> None:
        self.times = Ring(capacity, "d")
        self.series: dict[str, Ring] = {}
        self._capacity = capacity

    def append(self, at_s: float, values: Mapping[str, float | None]) -> None:
        for name in values:
            if name not in self.series:
                ring = Ring(self._capacity, "f")
                ring.fill(GAP, self.times.length)
                self.series[name] = ring
        self.times.append(at_s)
        for name, ring in self.series.items():
            value = values.get(name)
            ring.append(GAP if value is None else value)

    def window(self, metric: str, since_s: float) -> Window:
        times = self.times.newest(self.times.length)
        first = bisect.bisect_left(times, since_s)
        ring = self.series.get(metric)
        count = len(times) - first
        values = ring.newest(count) if ring else array("f", [GAP]) * count
        return Window(times[first:], values)


class _Mean:
    """Averages the samples of one second into one coarse point."""

    def __init__(self) -> None:
        self.second: int | None = None
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def add(self, values: Mapping[str, float | None]) -> None:
        for name, value in values.items():
            if value is not None and not math.isnan(value):
                self._sums[name] = self._sums.get(name, 0.0) + value
                self._counts[name] = self._counts.get(name, 0) + 1

    def take(self) -> dict[str, float | None]:
        means: dict[str, float | None] = {name: total / self._counts[name] for name, total in self._sums.items()}
        self._sums.clear()
        self._counts.clear()
        return means


class NodeStore:
    """All series of one node. Not locked: `TelemetryStore` does that."""

    def __init__(self, rdma_of: Mapping[str, str]) -> None:
        self.rdma_of = dict(rdma_of)
        self.fine = _Tier(FINE_POINTS)
        self.coarse = _Tier(COARSE_POINTS)
        self.latest: dict[str, float | None] = {}
        self.latest_at_s: float | None = None
        self.sample: Sample | None = None
        self._mean = _Mean()
        self._offsets: list[float] = []

    def add(self, sample: Sample, arrived_s: float) -> bool:
        """Take one sample in; False when it is not newer than the last one."""
        before = self.sample
        if before is not None and before.boot_id == sample.boot_id and sample.sequence <= before.sequence:
            return False
        if before is not None and before.boot_id != sample.boot_id:
            self._offsets.clear()
        at_s = self._desktop_time(sample, arrived_s)
        values = gauges(sample)
        if before is not None:
            values.update(rates(before, sample, self.rdma_of))
            self._mark_gap(before, sample, at_s)
        if self.latest_at_s is not None and at_s <= self.latest_at_s:
            at_s = math.nextafter(self.latest_at_s, math.inf)
        self.fine.append(at_s, values)
        self._coarse(at_s, values)
        self.latest, self.latest_at_s, self.sample = values, at_s, sample
        return True

    def _desktop_time(self, sample: Sample, arrived_s: float) -> float:
        """The node's clock on our axis: the smallest difference seen is the one with the least delay on the way."""
        self._offsets.append(arrived_s - sample.monotonic_ns / 1e9)
        if len(self._offsets) > OFFSET_WINDOW:
            self._offsets.pop(0)
        return sample.monotonic_ns / 1e9 + min(self._offsets)

    def _mark_gap(self, before: Sample, sample: Sample, at_s: float) -> None:
        assert self.latest_at_s is not None
        silence_s = at_s - self.latest_at_s
        if before.boot_id != sample.boot_id or silence_s > STALE_AFTER_S:
            middle = self.latest_at_s + min(silence_s / 2, 0.5)
            self.fine.append(middle, {})
            self._flush()
            self.coarse.append(middle, {})
            self.latest_at_s = middle

    def _coarse(self, at_s: float, values: Mapping[str, float | None]) -> None:
        second = int(at_s)
        if self._mean.second is not None and second != self._mean.second:
            self._flush()
        self._mean.second = second
        self._mean.add(values)

    def _flush(self) -> None:
        if self._mean.second is not None:
            self.coarse.append(self._mean.second + 0.5, self._mean.take())
            self._mean.second = None


class TelemetryStore:
    """The hour of all nodes. One thread adds, others read; every method may be called from any thread."""

    def __init__(self) -> None:
        self._nodes: dict[str, NodeStore] = {}
        self._lock = threading.Lock()

    def configure(self, node: str, rdma_of: Mapping[str, str]) -> None:
        """Say which RDMA device belongs to which netdev of `node`; keeps what is already stored."""
        with self._lock:
            if node in self._nodes:
                self._nodes[node].rdma_of = dict(rdma_of)
            else:
                self._nodes[node] = NodeStore(rdma_of)

    def add(self, node: str, sample: Sample, arrived_s: float) -> bool:
        """Store a sample that arrived at `arrived_s` (desktop's monotonic clock, seconds)."""
        with self._lock:
            store = self._nodes.get(node)
            if store is None:
                store = self._nodes[node] = NodeStore({})
            return store.add(sample, arrived_s)

    def forget(self, node: str) -> None:
        with self._lock:
            self._nodes.pop(node, None)

    def nodes(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._nodes)

    def metrics(self, node: str) -> tuple[str, ...]:
        with self._lock:
            store = self._nodes.get(node)
            return tuple(store.coarse.series.keys() | store.fine.series.keys()) if store else ()

    def latest(self, node: str) -> dict[str, float | None]:
        """The newest value of every metric; empty when nothing has been heard."""
        with self._lock:
            store = self._nodes.get(node)
            return dict(store.latest) if store else {}

    def carriers(self, node: str) -> dict[str, bool]:
        """Interface -> whether it has a signal, of the newest sample; those that are switched off are left out."""
        with self._lock:
            found = self._nodes.get(node)
            sample = found.sample if found is not None else None
            net = sample.net if sample is not None else {}
        return {name: counters.carrier for name, counters in net.items() if counters.carrier is not None}

    def last_sequence(self, node: str) -> int | None:
        with self._lock:
            store = self._nodes.get(node)
            return store.sample.sequence if store and store.sample else None

    def latest_at(self, node: str) -> float | None:
        """When the newest sample was taken (desktop's monotonic clock, seconds)."""
        with self._lock:
            store = self._nodes.get(node)
            return store.latest_at_s if store else None

    def freshness(self, node: str, now_s: float) -> Freshness:
        with self._lock:
            store = self._nodes.get(node)
            if store is None or store.latest_at_s is None:
                return Freshness(None, True)
            age_s = max(0.0, now_s - store.latest_at_s)
            return Freshness(age_s, age_s > STALE_AFTER_S)

    def window(self, node: str, metric: str, seconds: float, now_s: float) -> Window:
        """The last `seconds` of one series: at full rate where that is kept, else one point a second."""
        with self._lock:
            store = self._nodes.get(node)
            if store is None:
                return Window(array("d"), array("f"))
            since_s = now_s - seconds
            fine = store.fine
            oldest = fine.times.newest(fine.times.length)[:1]
            full = fine.times.length < FINE_POINTS or (len(oldest) > 0 and oldest[0] <= since_s)
            return (fine if full else store.coarse).window(metric, since_s)
