"""Every algorithm, simulated: n ranks in one thread over a carrier that delays and reorders pairs at random."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.collectives.algorithms import algorithms_for, build
from stellwerk.collectives.arithmetic import reduce_with_lists, reduce_with_numpy
from stellwerk.collectives.interpreter import Interpreter
from stellwerk.collectives.kinds import Algorithm, DataType, Operation, ReduceOp
from stellwerk.collectives.schedule import Kind, Schedule, Where
from stellwerk.collectives.writing import Call

Array = npt.NDArray[np.float32]


class Wire:
    """All pairs of a simulated cluster. A sent message is read when it is *delivered*, as a lazy network would do:
    a schedule that overwrites a source too early sends the wrong bytes."""

    def __init__(self, ranks: int, seed: int) -> None:
        self.queues: dict[tuple[int, int], deque[memoryview]] = {
            (a, b): deque() for a in range(ranks) for b in range(ranks)
        }
        self.landed: dict[tuple[int, int], deque[bytes]] = {key: deque() for key in self.queues}
        self.random = random.Random(seed)

    def deliver_one(self) -> None:
        busy = [key for key, queue in self.queues.items() if queue]
        if busy:
            key = self.random.choice(busy)
            self.landed[key].append(bytes(self.queues[key].popleft()))


class SimulatedCarrier:
    def __init__(self, wire: Wire, rank: int, in_place: bool) -> None:
        self.wire, self.rank, self.in_place = wire, rank, in_place
        self.expected: dict[int, deque[memoryview]] = {}
        self.sent = 0

    def send(self, peer: int, data: memoryview) -> None:
        assert peer != self.rank
        self.sent += 1
        self.wire.queues[self.rank, peer].append(data)

    def expect(self, peer: int, place: memoryview) -> None:
        self.expected.setdefault(peer, deque()).append(place)

    def arrived(self, peer: int) -> memoryview | None:
        assert self.expected[peer], "a wait without an expected message"
        landed = self.wire.landed[peer, self.rank]
        if not landed:
            return None
        place = self.expected[peer][0]
        assert len(landed[0]) == len(place), "the two sides disagree on the length"
        if self.in_place:  # shared memory: the message stays where it is
            return memoryview(landed[0])
        place[:] = landed[0]
        return place

    def release(self, peer: int) -> None:
        self.expected[peer].popleft()
        self.wire.landed[peer, self.rank].popleft()

    def flushed(self) -> bool:
        return not any(self.wire.queues[self.rank, p] for p in range(16) if (self.rank, p) in self.wire.queues)


def run(
    schedules: list[Schedule],
    inputs: list[npt.NDArray[np.generic]],
    outputs: list[npt.NDArray[np.generic]],
    dtype: DataType,
    op: ReduceOp,
    seed: int = 0,
    in_place: bool = False,
) -> list[SimulatedCarrier]:
    ranks = len(schedules)
    wire = Wire(ranks, seed)
    carriers = [SimulatedCarrier(wire, r, in_place) for r in range(ranks)]
    ranked = [
        Interpreter(
            schedules[r],
            carriers[r],
            memoryview(inputs[r].reshape(-1).view(np.uint8)),
            memoryview(outputs[r].reshape(-1).view(np.uint8)),
            dtype,
            op,
            ranks,
            reduce_with_numpy,
        )
        for r in range(ranks)
    ]
    left = set(range(ranks))
    idle = 0
    while left:
        for r in sorted(left, key=lambda _: wire.random.random()):
            if ranked[r].advance():
                left.discard(r)
        busy = any(wire.queues.values())
        for _ in range(wire.random.randint(1, 3 * ranks)):
            wire.deliver_one()
        idle = 0 if busy else idle + 1
        assert idle < 5, f"ranks {sorted(left)} wait for messages that nobody sends"
    assert not any(wire.landed.values()), "messages that nobody received"
    return carriers


def call(operation: Operation, algorithm: Algorithm, rank: int, ranks: int, count: int, **more: object) -> Call:
    return Call(operation, algorithm, rank, ranks, count, more.pop("dtype", DataType.FLOAT32), **more)  # type: ignore[arg-type]


def vectors(ranks: int, count: int, seed: int = 1) -> list[Array]:
    generator = np.random.default_rng(seed)
    return [generator.standard_normal(count).astype(np.float32) for _ in range(ranks)]


EVERY_RANKS = [1, 2, 3, 4, 5, 6, 7, 8, 16]


@pytest.mark.parametrize("ranks", EVERY_RANKS)
@pytest.mark.parametrize("algorithm", algorithms_for(Operation.ALL_REDUCE))
@pytest.mark.parametrize("aliased", [False, True], ids=["two buffers", "in place"])
def test_all_reduce_sums_and_all_ranks_hold_the_same_bits(ranks: int, algorithm: Algorithm, aliased: bool) -> None:
    for count in (0, 1, 2, ranks - 1, ranks + 1, 1000):
        inputs = vectors(ranks, count)
        expected = np.sum([v.astype(np.float64) for v in inputs], axis=0)
        outputs = inputs if aliased else [np.zeros(count, np.float32) for _ in inputs]
        schedules = [
            build(call(Operation.ALL_REDUCE, algorithm, r, ranks, count, window_bytes=1024)) for r in range(ranks)
        ]
        run(schedules, list(inputs), list(outputs), DataType.FLOAT32, ReduceOp.SUM, seed=count, in_place=aliased)
        for result in outputs:
            assert result.tobytes() == outputs[0].tobytes()
        np.testing.assert_allclose(outputs[0], expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=60, deadline=None)
@given(
    ranks=st.integers(2, 9),
    count=st.integers(0, 300),
    algorithm=st.sampled_from(algorithms_for(Operation.ALL_REDUCE)),
    dtype=st.sampled_from([DataType.FLOAT16, DataType.INT32, DataType.FLOAT64]),
    op=st.sampled_from(list(ReduceOp)),
    window=st.integers(64, 4096),
    seed=st.integers(0, 1 << 30),
    in_place=st.booleans(),
)
def test_all_reduce_matches_a_float64_reference_for_any_type_and_chunking(
    ranks: int,
    count: int,
    algorithm: Algorithm,
    dtype: DataType,
    op: ReduceOp,
    window: int,
    seed: int,
    in_place: bool,
) -> None:
    kind = {DataType.FLOAT16: np.float16, DataType.INT32: np.int32, DataType.FLOAT64: np.float64}[dtype]
    generator = np.random.default_rng(seed)
    inputs = [generator.integers(-3, 4, count).astype(kind) for _ in range(ranks)]
    outputs = [np.zeros(count, kind) for _ in range(ranks)]
    schedules = [
        build(call(Operation.ALL_REDUCE, algorithm, r, ranks, count, dtype=dtype, window_bytes=window))
        for r in range(ranks)
    ]
    run(schedules, list(inputs), list(outputs), dtype, op, seed, in_place)
    wide = np.array([v.astype(np.float64) for v in inputs]).reshape(ranks, count)
    expected = {
        ReduceOp.SUM: lambda: wide.sum(axis=0),
        ReduceOp.AVG: lambda: np.trunc(wide.mean(axis=0)) if kind is np.int32 else wide.mean(axis=0),
        ReduceOp.MAX: lambda: wide.max(axis=0),
        ReduceOp.MIN: lambda: wide.min(axis=0),
        ReduceOp.PRODUCT: lambda: wide.prod(axis=0),
    }[op]()
    for result in outputs:
        assert result.tobytes() == outputs[0].tobytes()
        np.testing.assert_allclose(result.astype(np.float64), expected, rtol=1e-3)


def test_half_types_keep_float32_partial_sums() -> None:
    """2048 + 1 is not a float16; sixteen ones on top of it are only kept if the partial sums are wide."""
    ranks = 16
    for algorithm in algorithms_for(Operation.ALL_REDUCE):
        inputs = [np.full(32, 2048 if r == 0 else 1, np.float16) for r in range(ranks)]
        outputs = [np.zeros(32, np.float16) for _ in range(ranks)]
        schedules = [
            build(call(Operation.ALL_REDUCE, algorithm, r, ranks, 32, dtype=DataType.FLOAT16)) for r in range(ranks)
        ]
        run(schedules, list(inputs), list(outputs), DataType.FLOAT16, ReduceOp.SUM)
        assert outputs[0][0] == np.float16(2048 + 15), algorithm.name


Maker = Callable[[int, int], tuple[list[Array], list[Array], list[Array]]]


def _all_gather(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    inputs = vectors(ranks, count)
    return inputs, [np.zeros(ranks * count, np.float32) for _ in inputs], [np.concatenate(inputs)] * ranks


def _reduce_scatter(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    inputs = vectors(ranks, ranks * count)
    total = np.sum([v.astype(np.float64) for v in inputs], axis=0).astype(np.float32)
    wanted = [total[r * count : (r + 1) * count] for r in range(ranks)]
    return inputs, [np.zeros(count, np.float32) for _ in inputs], wanted


def _all_to_all(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    inputs = vectors(ranks, ranks * count)
    wanted = [np.concatenate([v[r * count : (r + 1) * count] for v in inputs]) for r in range(ranks)]
    return inputs, [np.zeros(ranks * count, np.float32) for _ in inputs], wanted


ROOT = 1


def _broadcast(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    both = vectors(ranks, count)
    return both, both, [both[ROOT % ranks].copy()] * ranks


def _reduce(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    inputs = vectors(ranks, count)
    outputs = [np.zeros(count, np.float32) for _ in inputs]
    wanted = [np.zeros(count, np.float32) for _ in inputs]
    wanted[ROOT % ranks] = np.sum([v.astype(np.float64) for v in inputs], axis=0).astype(np.float32)
    return inputs, outputs, wanted


def _gather(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    inputs = vectors(ranks, count)
    outputs = [np.zeros(ranks * count, np.float32) for _ in inputs]
    wanted = [np.zeros(ranks * count, np.float32) for _ in inputs]
    wanted[ROOT % ranks] = np.concatenate(inputs)
    return inputs, outputs, wanted


def _scatter(ranks: int, count: int) -> tuple[list[Array], list[Array], list[Array]]:
    inputs = vectors(ranks, ranks * count)
    dealt = inputs[ROOT % ranks]
    return inputs, [np.zeros(count, np.float32) for _ in inputs], [dealt[r * count :][:count] for r in range(ranks)]


MAKERS: dict[Operation, Maker] = {
    Operation.ALL_GATHER: _all_gather,
    Operation.REDUCE_SCATTER: _reduce_scatter,
    Operation.ALL_TO_ALL: _all_to_all,
    Operation.BROADCAST: _broadcast,
    Operation.REDUCE: _reduce,
    Operation.GATHER: _gather,
    Operation.SCATTER: _scatter,
}


@pytest.mark.parametrize("ranks", EVERY_RANKS)
@pytest.mark.parametrize(("operation", "algorithm"), [(o, a) for o in MAKERS for a in algorithms_for(o)])
def test_other_operations_deliver_what_they_promise(operation: Operation, algorithm: Algorithm, ranks: int) -> None:
    for count in (0, 1, 3, 100):
        for in_place in (False, True):
            inputs, outputs, wanted = MAKERS[operation](ranks, count)
            schedules = [
                build(call(operation, algorithm, r, ranks, count, root=ROOT % ranks, window_bytes=512))
                for r in range(ranks)
            ]
            run(schedules, list(inputs), list(outputs), DataType.FLOAT32, ReduceOp.SUM, count, in_place)
            for got, want in zip(outputs, wanted, strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(ranks=st.integers(1, 6), data=st.data(), window=st.integers(16, 400))
def test_uneven_all_to_all_moves_every_element_to_its_place(ranks: int, data: st.DataObject, window: int) -> None:
    counts = [[data.draw(st.integers(0, 30)) for _ in range(ranks)] for _ in range(ranks)]
    inputs = [
        np.concatenate([np.full(counts[s][d], s * 100 + d, np.float32) for d in range(ranks)]) for s in range(ranks)
    ]
    outputs = [np.zeros(sum(counts[s][d] for s in range(ranks)), np.float32) for d in range(ranks)]
    schedules = [
        build(
            call(
                Operation.ALL_TO_ALL,
                Algorithm.DIRECT,
                r,
                ranks,
                sum(counts[r]),
                sends=tuple(counts[r]),
                receives=tuple(row[r] for row in counts),
                window_bytes=window,
            )
        )
        for r in range(ranks)
    ]
    run(schedules, list(inputs), list(outputs), DataType.FLOAT32, ReduceOp.SUM)
    for d in range(ranks):
        want = np.concatenate([np.full(counts[s][d], s * 100 + d, np.float32) for s in range(ranks)])
        np.testing.assert_array_equal(outputs[d], want)


@pytest.mark.parametrize("ranks", EVERY_RANKS)
@pytest.mark.parametrize("algorithm", algorithms_for(Operation.BARRIER))
def test_nobody_leaves_a_barrier_before_the_last_one_enters(ranks: int, algorithm: Algorithm) -> None:
    schedules = [build(call(Operation.BARRIER, algorithm, r, ranks, 0)) for r in range(ranks)]
    for late in range(ranks):
        wire = Wire(ranks, late)
        empty = np.zeros(0, np.uint8)
        carriers = [SimulatedCarrier(wire, r, True) for r in range(ranks)]
        ranked = [
            Interpreter(s, c, memoryview(empty), memoryview(empty), DataType.UINT8, ReduceOp.SUM, ranks)
            for s, c in zip(schedules, carriers, strict=True)
        ]
        for _ in range(20 * ranks):
            for r in range(ranks):
                if r != late:
                    assert not ranked[r].advance()
            wire.deliver_one()
        done: set[int] = set()
        for _ in range(40 * ranks):
            done |= {r for r in range(ranks) if r not in done and ranked[r].advance()}
            wire.deliver_one()
        assert done == set(range(ranks))


@pytest.mark.parametrize(
    ("algorithm", "steps"),
    [
        (Algorithm.DIRECT, lambda n: 1),
        (Algorithm.TWO_SHOT, lambda n: 2),
        (Algorithm.RING, lambda n: 2 * (n - 1)),
        (Algorithm.RECURSIVE_DOUBLING, lambda n: n.bit_length() - 1),
        (Algorithm.RELAY, lambda n: n // 2),
    ],
)
@pytest.mark.parametrize("ranks", [2, 4, 8, 16])
def test_dependent_steps_are_as_many_as_the_table_says(
    algorithm: Algorithm, steps: Callable[[int], int], ranks: int
) -> None:
    """Count rounds in which every message that was sent before is delivered at once."""
    inputs, outputs = vectors(ranks, 64), vectors(ranks, 64)
    wire = Wire(ranks, 0)
    carriers = [SimulatedCarrier(wire, r, True) for r in range(ranks)]
    ranked = [
        Interpreter(
            build(call(Operation.ALL_REDUCE, algorithm, r, ranks, 64)),
            carriers[r],
            memoryview(inputs[r].view(np.uint8)),
            memoryview(outputs[r].view(np.uint8)),
            DataType.FLOAT32,
            ReduceOp.SUM,
            ranks,
        )
        for r in range(ranks)
    ]
    rounds = 0
    while sum(one.advance() for one in ranked) < ranks:
        while any(wire.queues.values()):
            wire.deliver_one()
        rounds += 1
        assert rounds < 100
    assert rounds == steps(ranks)


def test_relay_and_ring_talk_to_neighbours_only() -> None:
    for ranks in (4, 5, 8):
        for operation in (Operation.ALL_REDUCE, Operation.ALL_GATHER):
            for algorithm in (Algorithm.RELAY, Algorithm.RING):
                for rank in range(ranks):
                    near = {(rank - 1) % ranks, (rank + 1) % ranks}
                    for step in build(call(operation, algorithm, rank, ranks, 1000)).steps:
                        assert set(step.peers) <= near
                        assert step.kind is not Kind.RECV or step.peer in near


@settings(max_examples=50, deadline=None)
@given(
    ranks=st.integers(2, 16),
    rank=st.integers(0, 15),
    count=st.integers(0, 5000),
    algorithm=st.sampled_from(algorithms_for(Operation.ALL_REDUCE)),
)
def test_schedules_write_only_output_and_scratch_within_bounds(
    ranks: int, rank: int, count: int, algorithm: Algorithm
) -> None:
    schedule = build(call(Operation.ALL_REDUCE, algorithm, rank % ranks, ranks, count, window_bytes=4096))
    sizes = {Where.INPUT: 4 * count, Where.OUTPUT: 4 * count, Where.SCRATCH: schedule.scratch_bytes}
    for step in schedule.steps:
        if step.kind in (Kind.RECV, Kind.COPY, Kind.REDUCE):
            assert step.dst.where in (Where.OUTPUT, Where.SCRATCH)
            size = step.length * (4 if step.kind is Kind.REDUCE else 1)
            assert step.dst.offset + size <= sizes[step.dst.where]


def test_an_algorithm_that_an_operation_lacks_is_named() -> None:
    with pytest.raises(ValueError, match=r"all_to_all has no algorithm relay; it has: direct"):
        build(call(Operation.ALL_TO_ALL, Algorithm.RELAY, 0, 4, 10))


@settings(max_examples=80, deadline=None)
@given(
    dtype=st.sampled_from(list(DataType)),
    op=st.sampled_from(list(ReduceOp)),
    count=st.integers(0, 40),
    many=st.integers(1, 5),
    seed=st.integers(0, 1 << 30),
)
def test_the_reducers_with_and_without_numpy_agree(
    dtype: DataType, op: ReduceOp, count: int, many: int, seed: int
) -> None:
    generator = np.random.default_rng(seed)
    integers = generator.integers(0 if dtype is DataType.UINT8 else -9, 10, (many, count))
    if dtype is DataType.BFLOAT16:
        raw = (integers.astype("<f4").view("<u4") >> 16).astype("<u2")
    else:
        kinds = {0: "<f4", 1: "<f8", 2: "<f2", 4: "<i4", 5: "<i8", 6: "u1"}
        raw = integers.astype(kinds[int(dtype)])
    sources = [(memoryview(row.tobytes()), dtype) for row in raw]
    results = []
    for reduce in (reduce_with_numpy, reduce_with_lists):
        out = bytearray(count * dtype.bytes)
        reduce(memoryview(out), dtype, sources, count, op, many)
        results.append(bytes(out))
    assert results[0] == results[1]
