"""The table that chooses an algorithm."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.collectives import dispatch
from stellwerk.collectives.algorithms import algorithms_for
from stellwerk.collectives.dispatch import Dispatch, Rule
from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport


@pytest.mark.parametrize("transport", Transport)
@pytest.mark.parametrize("topology", Topology)
@pytest.mark.parametrize("ranks", [2, 3, 4, 8, 16])
def test_the_shipped_table_knows_every_operation_and_only_algorithms_that_it_has(
    transport: Transport, topology: Topology, ranks: int
) -> None:
    table = dispatch.shipped(transport, topology, ranks)
    for operation in Operation:
        assert {rule.algorithm for rule in table[operation]} <= set(algorithms_for(operation))
        assert table[operation][-1].bytes_max == dispatch.UNBOUNDED


def test_the_limit_between_direct_and_ring_shrinks_with_the_ranks() -> None:
    """A published measurement on four machines found 1 to 1.25 MiB."""
    assert 0.8e6 < dispatch.crossover_bytes(4, gap_us=74, gigabytes_per_s=20) < 1.3e6
    assert 160e3 < dispatch.crossover_bytes(8) < 310e3
    assert dispatch.crossover_bytes(2) == dispatch.UNBOUNDED


def test_a_ring_of_four_relays_small_messages_and_a_mesh_sends_them_directly() -> None:
    ring = Dispatch(dispatch.shipped(Transport.TCP, Topology.RING, 4), "shipped")
    mesh = Dispatch(dispatch.shipped(Transport.TCP, Topology.MESH, 4), "shipped")
    assert ring.choose(Operation.ALL_REDUCE, 10_240) is Algorithm.RELAY
    assert ring.choose(Operation.ALL_REDUCE, 8 << 20) is Algorithm.RING
    assert mesh.choose(Operation.ALL_REDUCE, 10_240) is Algorithm.DIRECT


@pytest.mark.parametrize("operation", [Operation.BROADCAST, Operation.REDUCE_SCATTER, Operation.ALL_REDUCE])
def test_over_rdma_a_ring_of_four_speaks_with_neighbours_only(operation: Operation) -> None:
    ring = Dispatch(dispatch.shipped(Transport.VERBS, Topology.RING, 4), "shipped")
    assert {ring.choose(operation, nbytes) for nbytes in (64, 1 << 14, 1 << 24)} <= {Algorithm.RING, Algorithm.RELAY}


@given(
    limits=st.lists(st.integers(0, 1 << 40), unique=True, max_size=5).map(sorted),
    nbytes=st.integers(0, 1 << 41),
    data=st.data(),
)
def test_the_first_rule_that_is_large_enough_is_taken(limits: list[int], nbytes: int, data: st.DataObject) -> None:
    names = [data.draw(st.sampled_from(Algorithm)) for _ in range(len(limits) + 1)]
    row = dispatch.rules(*zip(limits, names, strict=False), above=names[-1])
    chosen = Dispatch({Operation.ALL_REDUCE: row}, "test").choose(Operation.ALL_REDUCE, nbytes)
    assert chosen is next(rule.algorithm for rule in row if nbytes <= rule.bytes_max)
    table = {Operation.ALL_REDUCE: row}
    assert dispatch.from_json(json.loads(json.dumps(dispatch.to_json(table)))) == table


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"all_reduce": [[10, "direct"]]}, "end with null"),
        ({"all_reduce": [[10, "direct"], [5, "ring"], [None, "ring"]]}, "must grow"),
        ({"all_reduce": [[None, "sideways"]]}, "cannot be read"),
        ({"dance": [[None, "direct"]]}, "cannot be read"),
        ({"all_reduce": [[float("inf"), "direct"], [None, "ring"]]}, "cannot be read"),
        ({"all_to_all": [[None, "ring"]]}, "all_to_all has no algorithm ring; it has: direct"),
        ([1], "must be an object"),
    ],
)
def test_a_broken_row_is_refused_with_a_reason(row: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        dispatch.from_json(row)


def test_a_broken_tuning_file_is_named_and_can_be_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "tuning.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"tuning\.json cannot be read"):
        dispatch.load(Transport.TCP, Topology.HOST, 2, path)
    path.write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(ValueError, match=r"tuning\.json cannot be read"):
        dispatch.load(Transport.TCP, Topology.HOST, 2, path)
    path.write_text('{"format": 1, "tables": {"tcp/host/2": {"gather": [[null, "ring"]]}}}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"tuning\.json cannot be used: gather has no algorithm ring"):
        dispatch.load(Transport.TCP, Topology.HOST, 2, path)
    path.write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(ValueError, match="another version"):
        dispatch.load(Transport.TCP, Topology.HOST, 2, path)
    table = {Operation.ALL_REDUCE: (Rule(dispatch.UNBOUNDED, Algorithm.RING),)}
    dispatch.store(Transport.TCP, Topology.HOST, 2, table, path)
    assert dispatch.load(Transport.TCP, Topology.HOST, 2, path).choose(Operation.ALL_REDUCE, 1) is Algorithm.RING
