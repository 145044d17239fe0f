"""The tests that an engine must pass on every rank before a communicator is handed out."""

from __future__ import annotations

import ctypes
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from stellwerk.collectives import native_library as native
from stellwerk.collectives.algorithms import algorithms_for
from stellwerk.collectives.dispatch import Dispatch
from stellwerk.collectives.engine import AGAIN, DONE, Engine
from stellwerk.collectives.kinds import Algorithm, DataType, Operation, ReduceOp, Topology, Transport
from stellwerk.collectives.writing import Call

WRAP_ROUNDS = 70  # more than any ring of messages in the library has places
LIMIT_BYTES_MAX = 4 << 20
PROBE_BYTES = 8192
PROBE_ROUNDS = 15


class SelfTestFailed(Exception):
    """An engine gave a wrong result or none; the text says where. `here`: not because another rank stopped the test."""

    def __init__(self, why: str, *, here: bool = True) -> None:
        self.here = here
        super().__init__(why)


class Reference(Protocol):
    """Reproducible data and the number of elements that differ from a float64 reference."""

    def fill(self, seed: int, rank: int, dtype: DataType, op: ReduceOp, address: int, count: int) -> None:
        """Write the data of a rank."""

    def wrong(self, seed: int, ranks: int, dtype: DataType, op: ReduceOp, address: int, count: int) -> int:
        """Compare a reduction over `ranks` ranks."""


class NativeReference:
    """In C, fast enough for megabytes."""

    def __init__(self) -> None:
        self._library = native.load()

    def fill(self, seed: int, rank: int, dtype: DataType, op: ReduceOp, address: int, count: int) -> None:
        """See Reference."""
        self._library.sw_test_fill(seed, rank, int(dtype), int(op), address, count)

    def wrong(self, seed: int, ranks: int, dtype: DataType, op: ReduceOp, address: int, count: int) -> int:
        """See Reference."""
        return int(self._library.sw_test_check(seed, ranks, int(dtype), int(op), address, count))


class PythonReference:
    """Without the native library; sums of float32 only."""

    @staticmethod
    def _values(seed: int, rank: int, count: int) -> list[float]:
        return [((seed * 7 + rank * 131 + i * 37) % 255 - 127) / 8 for i in range(count)]

    def fill(self, seed: int, rank: int, dtype: DataType, op: ReduceOp, address: int, count: int) -> None:
        """See Reference."""
        data = struct.pack(f"<{count}f", *self._values(seed, rank, count))
        ctypes.memmove(address, data, len(data))

    def wrong(self, seed: int, ranks: int, dtype: DataType, op: ReduceOp, address: int, count: int) -> int:
        """See Reference."""
        got = struct.unpack(f"<{count}f", ctypes.string_at(address, 4 * count))
        columns = zip(*(self._values(seed, r, count) for r in range(ranks)), strict=True)
        return sum(abs(value - sum(column)) > 1e-5 for value, column in zip(got, columns, strict=True))


@dataclass(frozen=True, slots=True)
class SelfTestReport:
    """What was run, and the median time of a small all_reduce."""

    calls: int
    latency_us: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Setting:
    """What the ranks have settled on before an engine is tested."""

    rank: int
    ranks: int
    topology: Topology
    dispatch: Dispatch
    window_bytes: int


class SelfTest:
    """One run over one engine. All ranks run the same calls in the same order."""

    def __init__(self, engine: Engine, setting: Setting, deadline: float, stopped: Callable[[], bool]) -> None:
        self._engine, self._deadline, self._stopped = engine, deadline, stopped
        self._rank, self._ranks, self._topology = setting.rank, setting.ranks, setting.topology
        self._dispatch, self._window = setting.dispatch, setting.window_bytes
        self._pure = engine.transport is Transport.PYTHON
        self._reference: Reference = PythonReference() if self._pure else NativeReference()
        self._calls = 0
        self._wrong = ""

    def run(self) -> SelfTestReport:
        """SelfTestFailed with the first thing that was wrong on this rank."""
        started = time.monotonic()
        self._all_reduce_sizes()
        self._dispatch_limits()
        if not self._pure:
            self._types()
        self._other_reductions()
        self._other_operations()
        self._wrap()
        latency_us = self._probe()
        if self._wrong:
            raise SelfTestFailed(self._wrong)
        return SelfTestReport(self._calls, latency_us, time.monotonic() - started)

    def _algorithms(self, operation: Operation) -> list[Algorithm]:
        """Relay is for rings of four or more; elsewhere it is only slower."""
        known = algorithms_for(operation)
        return [a for a in known if a is not Algorithm.RELAY or self._topology is Topology.RING or self._ranks < 4]

    def _all_reduce_sizes(self) -> None:
        for algorithm in self._algorithms(Operation.ALL_REDUCE):
            for count in (0, 1, 7, 16 * self._ranks + 3, 1000):
                self._reduction(algorithm, count)

    def _dispatch_limits(self) -> None:
        if self._pure:
            return
        for operation in (Operation.ALL_REDUCE, Operation.REDUCE_SCATTER):
            for limit in self._dispatch.limits(operation):
                if limit > LIMIT_BYTES_MAX:
                    continue
                parts = self._ranks if operation is Operation.REDUCE_SCATTER else 1
                for count in (limit // (4 * parts), limit // (4 * parts) + 1):
                    algorithm = self._dispatch.choose(operation, 4 * count * parts)
                    self._reduction(algorithm, count, operation=operation)
        for operation in (Operation.ALL_GATHER, Operation.BROADCAST):
            for limit in self._dispatch.limits(operation):
                if limit <= LIMIT_BYTES_MAX:
                    for count in (limit, limit + 1):
                        self._spread(operation, self._dispatch.choose(operation, count), count)

    def _types(self) -> None:
        for dtype in DataType:
            for op in ReduceOp:
                self._reduction(Algorithm.TWO_SHOT, 133, dtype, op)
        # How partial sums of half types travel is another matter in every algorithm.
        for algorithm in self._algorithms(Operation.ALL_REDUCE):
            for dtype in (DataType.FLOAT16, DataType.BFLOAT16):
                self._reduction(algorithm, 16 * self._ranks + 3, dtype)

    def _other_reductions(self) -> None:
        for operation in (Operation.REDUCE, Operation.REDUCE_SCATTER):
            for algorithm in self._algorithms(operation):
                for count in (1, 37, 1000):
                    self._reduction(algorithm, count, operation=operation)

    def _wrap(self) -> None:
        for _ in range(WRAP_ROUNDS):
            self._reduction(self._dispatch.choose(Operation.ALL_REDUCE, 256), 64)

    def _reduction(
        self,
        algorithm: Algorithm,
        count: int,
        dtype: DataType = DataType.FLOAT32,
        op: ReduceOp = ReduceOp.SUM,
        operation: Operation = Operation.ALL_REDUCE,
    ) -> None:
        """`count` as in a Call: of one rank's part in a reduce_scatter, whose parts hold different data."""
        parts = self._ranks if operation is Operation.REDUCE_SCATTER else 1
        first, mine = self._calls * parts, self._rank % parts
        source = ctypes.create_string_buffer(count * parts * dtype.bytes + 1)
        target = ctypes.create_string_buffer(count * dtype.bytes + 1)
        at, to = ctypes.addressof(source), ctypes.addressof(target)
        for part in range(parts):
            self._reference.fill(first + part, self._rank, dtype, op, at + part * count * dtype.bytes, count)
        self._call(Call(operation, algorithm, self._rank, self._ranks, count, dtype, 0, self._window), op, at, to)
        if operation is Operation.REDUCE and self._rank != 0:
            return
        wrong = self._reference.wrong(first + mine, self._ranks, dtype, op, to, count)
        if wrong:
            self._note(
                f"{operation.name.lower()} ({algorithm.name.lower()}, {op.name.lower()}) of {count} "
                f"{dtype.name.lower()}: {wrong} elements are wrong"
            )

    def _spread(self, operation: Operation, algorithm: Algorithm, size: int) -> None:
        """An all_gather or broadcast of `size` bytes per rank."""
        parts = [bytes([rank + 1]) * size for rank in range(self._ranks)]
        want = parts[0] if operation is Operation.BROADCAST else b"".join(parts)
        self._moves(operation, algorithm, parts[self._rank], want, size)

    def _note(self, what: str) -> None:
        """Keep the first wrong result and go on: a rank that stopped here would leave the others waiting."""
        self._wrong = self._wrong or what

    def _other_operations(self) -> None:
        n, count = self._ranks, 37
        parts = [bytes((r * 31 + i * 7) % 256 for i in range(count)) for r in range(n)]
        own, everything = parts[self._rank], b"".join(parts)
        dealt = b"".join(part[::-1] for part in parts)
        expected: list[tuple[Operation, bytes, bytes]] = [
            (Operation.ALL_GATHER, own, everything),
            (Operation.GATHER, own, everything if self._rank == 0 else bytes(n * count)),
            (Operation.SCATTER, dealt, parts[self._rank][::-1]),
            (Operation.BROADCAST, parts[0], parts[0]),
            (Operation.ALL_TO_ALL, own * n, everything),
            (Operation.BARRIER, b"", b""),
        ]
        for operation, data, want in expected:
            for algorithm in self._algorithms(operation):
                self._moves(operation, algorithm, data, want, count if data else 0)

    def _moves(self, operation: Operation, algorithm: Algorithm, data: bytes, want: bytes, count: int) -> None:
        source = ctypes.create_string_buffer(data, len(data) + 1)
        in_place = operation is Operation.BROADCAST and self._rank == 0
        target = source if in_place else ctypes.create_string_buffer(len(want) + 1)
        call = Call(operation, algorithm, self._rank, self._ranks, count, DataType.UINT8, 0, self._window)
        self._call(call, ReduceOp.SUM, ctypes.addressof(source), ctypes.addressof(target))
        if target.raw[: len(want)] != want:
            self._note(f"{operation.name.lower()} ({algorithm.name.lower()}) delivered wrong bytes")

    def _call(self, call: Call, op: ReduceOp, source: int, target: int) -> None:
        self._calls += 1
        plan = self._engine.prepare(call, op)
        self._finish(self._engine.execute(plan, source, target), call.operation)

    def _finish(self, status: int, operation: Operation) -> None:
        while status == AGAIN:
            if self._stopped():
                raise SelfTestFailed("another rank stopped the test", here=False)
            if time.monotonic() > self._deadline:
                waiting_on = self._engine.health().waiting_on
                raise SelfTestFailed(f"{operation.name.lower()} did not end in time; it waited for rank {waiting_on}")
            status = self._engine.resume()
        if status != DONE:
            raise SelfTestFailed(f"{operation.name.lower()} failed: {self._engine.failure().text}")

    def _probe(self) -> float:
        algorithm = self._dispatch.choose(Operation.ALL_REDUCE, PROBE_BYTES)
        count = PROBE_BYTES // 4
        source, target = (ctypes.create_string_buffer(PROBE_BYTES) for _ in range(2))
        at, to = ctypes.addressof(source), ctypes.addressof(target)
        call = Call(Operation.ALL_REDUCE, algorithm, self._rank, self._ranks, count, DataType.FLOAT32, 0, self._window)
        plan = self._engine.prepare(call, ReduceOp.SUM)
        times = []
        for _ in range(PROBE_ROUNDS):
            begun = time.perf_counter()
            self._finish(self._engine.execute(plan, at, to), Operation.ALL_REDUCE)
            times.append(time.perf_counter() - begun)
        self._calls += PROBE_ROUNDS
        return sorted(times)[len(times) // 2] * 1e6


def run_self_test(
    engine: Engine, setting: Setting, deadline: float, stopped: Callable[[], bool] = lambda: False
) -> SelfTestReport:
    """Test an engine that is open on all ranks. SelfTestFailed names what went wrong on this one.

    `stopped()` becomes true when another rank has given up.
    """
    return SelfTest(engine, setting, deadline, stopped).run()
