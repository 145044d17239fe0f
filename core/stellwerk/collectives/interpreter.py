"""Executes a schedule in Python. The pure-Python transport and the tests of the algorithms use it.

It has no I/O of its own: a `Carrier` moves the messages and says when one is there, so a test can run n ranks in one
thread.
"""

from __future__ import annotations

from typing import Protocol

from stellwerk.collectives.arithmetic import Reducer, reducer
from stellwerk.collectives.kinds import DataType, ReduceOp
from stellwerk.collectives.schedule import Kind, Operand, Schedule, Step, Where


class Carrier(Protocol):
    """What the interpreter needs from a transport."""

    def send(self, peer: int, data: memoryview) -> None:
        """Queue a message."""

    def expect(self, peer: int, place: memoryview) -> None:
        """The next message of the peer, of exactly this length, goes to `place`."""

    def arrived(self, peer: int) -> memoryview | None:
        """The oldest expected message of the peer, if it is complete."""

    def release(self, peer: int) -> None:
        """That message is no longer needed."""

    def flushed(self) -> bool:
        """Everything queued has been handed to the network."""


class Interpreter:
    """One call on one rank. `advance()` goes as far as it can without waiting."""

    def __init__(
        self,
        schedule: Schedule,
        carrier: Carrier,
        source: memoryview,
        target: memoryview,
        dtype: DataType,
        op: ReduceOp,
        ranks: int,
        reduce: Reducer | None = None,
    ) -> None:
        self._steps = schedule.steps
        self._carrier = carrier
        self._buffers = {
            Where.INPUT: source,
            Where.OUTPUT: target,
            Where.SCRATCH: memoryview(bytearray(schedule.scratch_bytes)),
        }
        self._messages: dict[int, memoryview] = {}
        self._dtype = dtype
        self._op = op
        self._ranks = ranks
        self._reduce = reduce or reducer()
        self._next = 0

    @property
    def waiting_on(self) -> int:
        """The rank whose message is awaited, -1 if none."""
        step = self._steps[self._next] if self._next < len(self._steps) else None
        return step.peer if step is not None and step.kind is Kind.WAIT else -1

    def advance(self) -> bool:
        """Execute steps until one must wait. True when the schedule is done."""
        while self._next < len(self._steps):
            if not self._do(self._steps[self._next]):
                return False
            self._next += 1
        return True

    def _view(self, operand: Operand, size: int) -> memoryview:
        whole = self._messages[operand.peer] if operand.where is Where.MESSAGE else self._buffers[operand.where]
        view = whole[operand.offset : operand.offset + size]
        if len(view) != size:
            raise AssertionError(f"a step reaches beyond its buffer: {operand}, {size} bytes")
        return view

    def _do(self, step: Step) -> bool:
        carrier = self._carrier
        if step.kind is Kind.SEND:
            for peer in step.peers:
                carrier.send(peer, self._view(step.sources[0], step.length))
        elif step.kind is Kind.RECV:
            carrier.expect(step.peer, self._view(step.dst, step.length))
        elif step.kind is Kind.WAIT:
            message = carrier.arrived(step.peer)
            if message is None:
                return False
            self._messages[step.peer] = message
        elif step.kind is Kind.RELEASE:
            del self._messages[step.peer]
            carrier.release(step.peer)
        elif step.kind is Kind.COPY:
            self._view(step.dst, step.length)[:] = self._view(step.sources[0], step.length)
        elif step.kind is Kind.REDUCE:
            self._do_reduce(step)
        elif step.kind is Kind.FLUSH:
            return carrier.flushed()
        return True

    def _do_reduce(self, step: Step) -> None:
        sources = []
        for operand in step.sources:
            dtype = self._dtype.wide if operand.wide else self._dtype
            sources.append((self._view(operand, step.length * dtype.bytes), dtype))
        dst_type = self._dtype.wide if step.dst.wide else self._dtype
        dst = self._view(step.dst, step.length * dst_type.bytes)
        self._reduce(dst, dst_type, sources, step.length, self._op, self._ranks if step.finish else 1)
