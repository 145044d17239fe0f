"""On a ring of four or more, RDMA reaches only the neighbours: what is made for rings goes there, the rest over TCP.

RoCE needs a cable between two devices; nothing forwards it for ranks that are further apart. `ring` and `relay` send to
neighbours only. Which way a call goes depends on its algorithm alone, so all ranks decide alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stellwerk.collectives.engine import Engine, EngineHealth, Failure
from stellwerk.collectives.kinds import Algorithm, ReduceOp, Transport
from stellwerk.collectives.writing import Call

NEAR = frozenset({Algorithm.RING, Algorithm.RELAY})


@dataclass(frozen=True, slots=True)
class _Plan:
    engine: Engine
    plan: Any


class NeighbourEngine:
    """Two engines of one communicator. Only one of them is in a call at a time."""

    def __init__(self, near: Engine, far: Engine) -> None:
        self.transport = Transport.VERBS
        self._near, self._far = near, far
        self._active = near

    def prepare(self, call: Call, op: ReduceOp) -> _Plan:
        """See Engine."""
        engine = self._near if call.algorithm in NEAR else self._far
        return _Plan(engine, engine.prepare(call, op))

    def execute(self, plan: _Plan, source: int, target: int) -> int:
        """See Engine."""
        self._active = plan.engine
        return self._active.execute(plan.plan, source, target)

    def bind(self, plan: _Plan, source: int, target: int) -> Callable[[], int]:
        """See Engine."""
        execute = plan.engine.bind(plan.plan, source, target)

        def bound() -> int:
            self._active = plan.engine
            return execute()

        return bound

    def resume(self) -> int:
        """See Engine."""
        return self._active.resume()

    def failure(self) -> Failure:
        """See Engine."""
        return self._active.failure()

    def health(self) -> EngineHealth:
        """See Engine. The counters of both."""
        near, far = self._near.health(), self._far.health()
        waiting_on = far.waiting_on if self._active is self._far else near.waiting_on
        return EngineHealth(
            calls=near.calls + far.calls,
            done=near.done + far.done,
            messages_sent=near.messages_sent + far.messages_sent,
            bytes_sent=near.bytes_sent + far.bytes_sent,
            blocked=near.blocked + far.blocked,
            waiting_on=waiting_on,
        )

    def abort(self) -> None:
        """See Engine."""
        self._near.abort()
        self._far.abort()

    def close(self) -> None:
        """See Engine."""
        self._near.close()
        self._far.close()
