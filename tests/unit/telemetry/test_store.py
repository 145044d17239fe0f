"""Rates survive wraps and resets, a gap stays a gap, an hour fits into its memory."""

from __future__ import annotations

import math
import sys
import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.sample import GpuSample, NetCounters, RdmaCounters, Sample
from stellwerk.telemetry import TelemetryStore
from stellwerk.telemetry.rates import counter_delta, rates
from stellwerk.telemetry.ring import Ring


def sample(sequence: int, tx: int = 0, words: int = 0, boot: str = "b", at_s: float | None = None) -> Sample:
    at = float(sequence) if at_s is None else at_s
    return Sample(
        sequence=sequence,
        monotonic_ns=int(at * 1e9),
        wall_s=at,
        boot_id=boot,
        cpu_busy_ticks=sequence * 50,
        cpu_total_ticks=sequence * 200,
        mem_total_kb=100 * 1024**2,
        mem_available_kb=60 * 1024**2,
        gpus=(GpuSample(utilisation_pct=50.0),),
        net={"enp1s0f0np0": NetCounters(0, tx, 0, 0)},
        rdma={"rocep1s0f0": RdmaCounters(words, 0)},
    )


@given(st.integers(0, 2**64 - 1), st.integers(0, 10**9), st.sampled_from([32, 64]))
def test_a_wrap_counts_the_way_over_the_top(before: int, step: int, bits: int) -> None:
    before %= 1 << bits
    assert counter_delta(before, (before + step) % (1 << bits), bits, 2e9) == step


def test_a_reset_says_nothing_instead_of_a_spike() -> None:
    assert counter_delta(10**12, 5, 64, 1e11) is None


def test_throughput_of_a_half_is_rdma_plus_netdev() -> None:
    before, after = sample(1), sample(2, tx=125_000_000, words=250_000_000)
    values = rates(before, after, {"enp1s0f0np0": "rocep1s0f0"})
    assert values["half.enp1s0f0np0.tx"] == 1.0 + 8.0
    assert values["cpu"] == 25.0


def test_a_reboot_between_two_samples_gives_no_rate() -> None:
    assert rates(sample(9, tx=10**9), sample(1, tx=5, boot="c", at_s=30.0), {}) == {}


def test_memory_that_is_not_told_is_absent_not_zero() -> None:
    store = TelemetryStore()
    store.add("a", Sample(1, 0, 0.0, "b"), 0.0)
    assert "mem.used" not in store.latest("a")


def test_a_silence_is_a_gap_not_a_line() -> None:
    store = TelemetryStore()
    for i in range(1, 5):
        store.add("a", sample(i), float(i))
    store.add("a", sample(30), 30.0)
    values = store.window("a", "mem.used", 60, 31.0).values
    assert sum(math.isnan(v) for v in values) == 1
    assert len(values) == 6


def test_samples_twice_or_out_of_order_are_taken_once() -> None:
    store = TelemetryStore()
    assert store.add("a", sample(5), 5.0)
    assert not store.add("a", sample(5), 6.0)
    assert not store.add("a", sample(4), 6.0)


def test_a_late_sample_keeps_its_place_in_time() -> None:
    store = TelemetryStore()
    for i in range(1, 4):
        store.add("a", sample(i), i + 0.01)
    store.add("a", sample(4), 4.4)  # held up on the way
    times = store.window("a", "cpu", 60, 5.0).times
    assert abs(times[-1] - 4.01) < 1e-6


def test_stale_is_said_with_its_age() -> None:
    store = TelemetryStore()
    store.add("a", sample(1), 1.0)
    assert not store.freshness("a", 2.0).stale
    assert store.freshness("a", 39.0).stale
    assert store.freshness("nobody", 0.0).age_s is None


@given(st.lists(st.floats(-1e6, 1e6, width=32), max_size=40), st.integers(1, 12))
def test_a_ring_holds_the_newest_values_in_order(values: list[float], capacity: int) -> None:
    ring = Ring(capacity, "f")
    for value in values:
        ring.append(value)
    assert list(ring.newest(capacity)) == values[-capacity:]


def test_an_hour_of_eight_nodes_fits_into_twenty_megabytes() -> None:
    tracemalloc.start()
    store = TelemetryStore()
    names = [f"if{i}" for i in range(6)]
    for second in range(1, 4):
        for node in range(8):
            at = Sample(
                sequence=second,
                monotonic_ns=second * 10**9,
                wall_s=second,
                boot_id="b",
                cpu_busy_ticks=second,
                cpu_total_ticks=second * 2,
                load1=1.0,
                mem_total_kb=10,
                mem_available_kb=5,
                swap_used_kb=0,
                gpus=(GpuSample(1.0, 2.0, 3.0, 4.0, 5.0),),
                net={n: NetCounters(second, second, 0, 0) for n in names},
                rdma={n: RdmaCounters(second, second, 0, 0, 0, 0) for n in names[:4]},
                temperatures_c={"zone0": 40.0},
            )
            store.add(f"spark-{node + 1}", at, float(second))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()  # traced, three million numbers take ten times as long
    for held in store._nodes.values():
        for tier in (held.fine, held.coarse):
            for ring in (tier.times, *tier.series.values()):
                empty = sys.getsizeof(ring._data)
                ring.fill(1.0, ring.capacity)
                size += sys.getsizeof(ring._data) - empty
    assert size < 20e6, f"{size / 1e6:.0f} MB"


def test_an_hour_long_window_comes_at_one_point_a_second_when_sampled_fast() -> None:
    store = TelemetryStore()
    for i in range(1, 4000):
        store.add("a", sample(i, at_s=i / 10), i / 10)
    hour = store.window("a", "gpu.util", 3600, 400.0)
    assert 398 <= len(hour.times) <= 401
    minute = store.window("a", "gpu.util", 60, 399.9)
    assert 599 <= len(minute.times) <= 601
