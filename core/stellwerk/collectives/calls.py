"""The calls of one communicator, one after the other: plans are kept; what interrupts a call ends it on every rank."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from stellwerk.collectives.buffers import Buffer
from stellwerk.collectives.connecting import Connected
from stellwerk.collectives.engine import DONE
from stellwerk.collectives.errors import Aborted, CollectiveError
from stellwerk.collectives.kinds import Algorithm, Operation, ReduceOp, by_name
from stellwerk.collectives.waiting import Waiting
from stellwerk.collectives.work import Sequencer, Work
from stellwerk.collectives.writing import Call

PLANS_MAX = 512


class Calls:
    """Runs calls in the caller's thread where it can, and never two at a time."""

    def __init__(self, rank: int, connected: Connected, timeout_s: float) -> None:
        self.rank, self.world_size = rank, len(connected.infos)
        self.closed = False
        self._engine, self._control = connected.engine, connected.control
        self._dispatch, self._window_bytes = connected.dispatch, connected.window_bytes
        self._sequencer = Sequencer(f"stellwerk-calls-{rank}")
        self._plans: dict[tuple[Any, ...], Any] = {}
        self._waiting = Waiting(rank, self.world_size, self._engine, self._control, timeout_s)
        self._end_lock = threading.Lock()

    @property
    def blocked_since(self) -> float | None:
        """When the call that waits now began to (monotonic clock)."""
        return self._waiting.blocked_since

    def check_open(self) -> None:
        """Raise what ended the communicator."""
        if self._control.fatal is not None:
            raise self._control.fatal
        if self.closed:
            raise Aborted("the communicator is closed")

    def run(
        self,
        operation: Operation,
        source: Buffer,
        target: Buffer,
        count: int,
        op: str | ReduceOp,
        algorithm: str | Algorithm | None,
        root: int,
        async_op: bool,
        sends: tuple[int, ...] = (),
        receives: tuple[int, ...] = (),
    ) -> Work | None:
        """One collective. `async_op`: it goes on in a thread of its own, and is waited for by what this returns."""
        key = (operation, count, source.dtype, op, algorithm, root, sends, receives)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(key, source)
        self.check_open()
        if not async_op and self._sequencer.enter():
            try:
                status = self._engine.execute(plan, source.address, target.address)
                if status != DONE:
                    self._waiting.go_on(status, operation)
            except CollectiveError:
                raise
            except BaseException:
                self._interrupted()
                raise
            finally:
                self._sequencer.leave()
            return None

        def task() -> None:
            keep = (source, target)  # until the call has ended
            status = self._engine.execute(plan, keep[0].address, keep[1].address)
            if status != DONE:
                self._waiting.go_on(status, operation)

        work = self._sequencer.submit(task)
        if async_op:
            return work
        work.wait()
        return None

    def prepared(
        self, operation: Operation, source: Buffer, target: Buffer, op: str | ReduceOp, algorithm: str | None
    ) -> Callable[[], None]:
        """A call of these very arrays, to be made many times: everything that can be done once is done now."""
        plan = self._plan((operation, source.elements, source.dtype, op, algorithm, 0, (), ()), source)
        execute = self._engine.bind(plan, source.address, target.address)
        enter, leave, go_on = self._sequencer.enter, self._sequencer.leave, self._waiting.go_on

        def run() -> None:
            if self.closed or not enter():
                self.run(operation, source, target, source.elements, op, algorithm, 0, False)
                return
            try:
                status = execute()
                if status:
                    go_on(status, operation)
            except CollectiveError:
                raise
            except BaseException:
                self._interrupted()
                raise
            finally:
                leave()

        return run

    def _plan(self, key: tuple[Any, ...], source: Buffer) -> Any:
        operation, count, dtype, op, algorithm, root, sends, receives = key
        reduction = by_name(ReduceOp, op)
        if not 0 <= root < self.world_size:
            raise ValueError(f"root {root} is not a rank below {self.world_size}")
        reduces = operation in (Operation.ALL_REDUCE, Operation.REDUCE_SCATTER, Operation.REDUCE)
        if reduces and not source.reducible:
            raise TypeError("elements of this type can be moved but not combined; convert them first")
        if algorithm is None:
            # What is compared with the table must be the same number on every rank.
            whole = count * dtype.bytes * (self.world_size if operation is Operation.REDUCE_SCATTER else 1)
            chosen = Algorithm.DIRECT if sends else self._dispatch.choose(operation, whole)
        else:
            chosen = by_name(Algorithm, algorithm)
        call = Call(
            operation, chosen, self.rank, self.world_size, count, dtype, root, self._window_bytes, sends, receives
        )
        plan = self._engine.prepare(call, reduction)
        if len(self._plans) >= PLANS_MAX:
            self._plans.pop(next(iter(self._plans)))
        self._plans[key] = plan
        return plan

    def _interrupted(self) -> None:
        self._control.give_up(Aborted("a call was interrupted"))  # the other ranks would wait for the rest of it

    def end(self) -> bool:
        """Take no more calls and wait until the one under way has left the engine; False if that was done before."""
        with self._end_lock:
            if self.closed:
                return False
            self.closed = True
        # A call in its first time slice counts, too: its peers would wait for a rank that has left.
        if not self._sequencer.idle and self._control.fatal is None:
            self._control.give_up(Aborted("the communicator was closed during a call"))
        # A call under way must have left the engine before the engine goes; a failed one leaves within a time slice.
        self._sequencer.close()
        if self._sequencer.enter():
            self._sequencer.leave()
        else:
            self._engine.abort()
            with self._sequencer.turn():
                pass
        return True

    def left_to_parent(self) -> None:
        """In a forked process: the calls are the parent's."""
        self.closed, self._end_lock = True, threading.Lock()
