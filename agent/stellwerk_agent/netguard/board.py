"""The guard's state as others see it: shared between the thread that works and the one that answers."""

from __future__ import annotations

import threading
from collections.abc import Callable

from stellwerk.model.guard import GuardState, GuardStatus
from stellwerk.model.text import say
from stellwerk_agent.netguard.layout import now_s

LOG_LINES = 200


class Board:
    """Holds the status, wakes those who wait for a change, keeps the lease's clock."""

    def __init__(self, plan_id: str, clock_s: Callable[[], float] = now_s) -> None:
        self._clock_s = clock_s
        self._changed = threading.Condition()
        self._status = GuardStatus(GuardState.IDLE, plan_id)
        self._log: list[str] = []
        self._lease_s = 0.0
        self._lease_end_s: float | None = None
        self._hard_end_s: float | None = None
        self._wish: tuple[str, str] | None = None  # (confirm | revert, why)

    def show(self, state: GuardState, why: str, changed_at: str) -> None:
        """Publish a state."""
        with self._changed:
            self._status = GuardStatus(state, self._status.plan_id, why, self._status.step, changed_at=changed_at)
            self._changed.notify_all()

    def step(self, name: str) -> None:
        """Publish what is being done."""
        with self._changed:
            status = self._status
            self._status = GuardStatus(status.state, status.plan_id, status.why, name, changed_at=status.changed_at)

    def note(self, line: str) -> None:
        """Add a line to the log that people read."""
        with self._changed:
            self._log.append(line)
            del self._log[:-LOG_LINES]

    def hold(self, lease_s: float, hard_limit_s: float) -> None:
        """Start the lease."""
        with self._changed:
            self._lease_s = lease_s
            self._hard_end_s = self._clock_s() + hard_limit_s
            self._lease_end_s = self._clock_s() + lease_s

    def renew(self) -> None:
        """The desktop lives: the lease starts again, the hard limit does not."""
        with self._changed:
            if self._lease_end_s is not None:
                self._lease_end_s = self._clock_s() + self._lease_s

    def wish(self, what: str, why: str) -> None:
        """Ask the working thread to confirm or to revert. The first wish counts."""
        with self._changed:
            self._wish = self._wish or (what, why)
            self._changed.notify_all()

    def drop_wish(self) -> None:
        """A wish that cannot be fulfilled now."""
        with self._changed:
            self._wish = None

    def wished(self) -> tuple[str, str] | None:
        """What was asked for, if anything."""
        with self._changed:
            return self._wish

    def wait_for_end(self) -> tuple[str, str]:
        """Wait while holding, until somebody decides or time runs out: (confirm | revert, why)."""
        with self._changed:
            while True:
                if self._wish is not None:
                    return self._wish
                lease_s, hard_s = self._left_s(self._lease_end_s), self._left_s(self._hard_end_s)
                if hard_s is not None and hard_s <= 0:
                    return "revert", say("the time limit for an unconfirmed change was reached")
                if lease_s is not None and lease_s <= 0:
                    return "revert", _lease_lost(self._lease_s)
                # Short waits: a signal handler can only set a wish between them.
                self._changed.wait(0.2)

    def wait_while(self, state: GuardState, limit_s: float) -> GuardStatus:
        """Wait until the state is another one, for `limit_s` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._status.state is not state, limit_s)
        return self.status()

    def status(self) -> GuardStatus:
        """Everything at this moment."""
        with self._changed:
            holding = self._status.state is GuardState.HOLDING
            return GuardStatus(
                self._status.state,
                self._status.plan_id,
                self._status.why,
                self._status.step,
                self._left_s(self._lease_end_s) if holding else None,
                self._left_s(self._hard_end_s) if holding else None,
                self._status.changed_at,
                tuple(self._log),
            )

    def _left_s(self, end_s: float | None) -> float | None:
        return None if end_s is None else round(max(end_s - self._clock_s(), 0.0), 1)


def _lease_lost(lease_s: float) -> str:
    return say("lease lost: nothing was heard from the desktop for {seconds} s", seconds=f"{lease_s:.0f}")
