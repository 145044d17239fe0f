"""Traffic: what slows a stream down, and the counters."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.virtual.flows import Flow, Traffic, fair_rates

RESOURCES = ("r0", "r1", "r2", "r3")


@given(
    st.lists(st.tuples(st.floats(0, 200), st.lists(st.sampled_from(RESOURCES), max_size=3, unique=True)), max_size=6),
    st.fixed_dictionaries({name: st.floats(0, 200) for name in RESOURCES}),
)
def test_shares_stay_within_demand_and_capacity_and_leave_nothing_that_somebody_could_use(
    demands: list[tuple[float, list[str]]], capacity: dict[str, float]
) -> None:
    rates = fair_rates(demands, capacity)
    used = dict.fromkeys(RESOURCES, 0.0)
    for rate, (demand, resources) in zip(rates, demands, strict=True):
        assert -1e-6 <= rate <= demand + 1e-6
        for name in resources:
            used[name] += rate
    for name in RESOURCES:
        assert used[name] <= capacity[name] + 1e-6
    for rate, (demand, resources) in zip(rates, demands, strict=True):
        if rate < demand - 1e-6:
            assert any(used[name] >= capacity[name] - 1e-5 for name in resources)


def flow(source: str, demand: float, *resources: str, rdma: bool = True) -> Flow:
    return Flow((source, "if0"), ("peer", "if0"), demand, resources, packet_bytes=1000, rdma=rdma)


def test_two_halves_share_a_wire_of_100_gbps() -> None:
    traffic = Traffic({"wire": 98.5})
    first, second = flow("a", 97, "wire"), flow("b", 98, "wire")
    traffic.add(first, 0.0)
    assert first.rate_gbps == pytest.approx(97)
    traffic.add(second, 1.0)
    assert (first.rate_gbps, second.rate_gbps) == (pytest.approx(49.25), pytest.approx(49.25))
    traffic.remove(first, 2.0)
    assert second.rate_gbps == pytest.approx(98)


def test_roce_moves_the_rdma_counters_alone() -> None:
    traffic = Traffic()
    traffic.add(flow("a", 80), 10.0)
    traffic.advance(12.0)
    counted = traffic.counted[("a", "if0")]
    assert counted.rdma_tx_bytes == pytest.approx(2 * 80e9 / 8)
    assert counted.rdma_tx_packets == pytest.approx(counted.rdma_tx_bytes / 1000)
    assert counted.tx_bytes == 0
    assert traffic.counted[("peer", "if0")].rdma_rx_bytes == counted.rdma_tx_bytes


@given(st.lists(st.floats(0, 5), min_size=1, max_size=20))
def test_counters_never_go_back_and_add_up_however_often_they_are_read(steps: list[float]) -> None:
    traffic = Traffic()
    stream = flow("a", 10, rdma=False)
    traffic.add(stream, 0.0)
    now, before = 0.0, 0.0
    for step in steps:
        now += step
        traffic.advance(now)
        counted = traffic.counted[("a", "if0")].tx_bytes
        assert counted >= before
        before = counted
    assert math.isclose(before, now * 10e9 / 8, rel_tol=1e-9, abs_tol=1e-3)
