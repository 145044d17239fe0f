"""What happens in a call that does not end at once: waiting by the clock, and saying who is to blame when it fails."""

from __future__ import annotations

import time

from stellwerk.collectives.control import Control, PeerState
from stellwerk.collectives.engine import ABORTED, AGAIN, CLOSED, DONE, MISMATCH, Engine
from stellwerk.collectives.errors import Aborted, CallMismatch, CollectiveError, PeerLost
from stellwerk.collectives.kinds import Operation

ASK_BEFORE_S = 1.0  # so long before the time-out the peers are asked what they are doing


class Waiting:
    """Goes on with calls that returned AGAIN. `blocked_since` is set (monotonic clock) while one is blocked."""

    def __init__(self, rank: int, world_size: int, engine: Engine, control: Control, timeout_s: float) -> None:
        self.rank, self.world_size, self.timeout_s = rank, world_size, timeout_s
        self._engine, self._control = engine, control
        self.blocked_since: float | None = None

    def go_on(self, status: int, operation: Operation) -> None:
        """A call that did not end in its first time slice: wait on, by the clock."""
        started = time.monotonic()
        self.blocked_since = started
        asked = False
        slices_on_gone = 0
        try:
            while status == AGAIN:
                waited = time.monotonic() - started
                waiting_on = self._engine.health().waiting_on
                if not asked and waited >= max(self.timeout_s - ASK_BEFORE_S, self.timeout_s / 2):
                    self._control.ask_all()
                    asked = True
                if waited >= self.timeout_s:
                    raise self._control.give_up(self._who_stalls(operation, waiting_on))
                slices_on_gone = slices_on_gone + 1 if self._control.is_gone(waiting_on) else 0
                if slices_on_gone > 3:  # what it sent before it left has arrived by now
                    raise self._control.give_up(self._lost(waiting_on, "it closed the communicator"))
                status = self._engine.resume()
        finally:
            self.blocked_since = None
        if status != DONE:
            raise self._explain(status)

    def _lost(self, peer: int, why: str) -> PeerLost:
        return PeerLost(peer, self._control.hosts[peer], why)

    def _explain(self, status: int) -> CollectiveError:
        failure = self._engine.failure()
        if status == ABORTED:
            return self._control.verdict() or Aborted("the communicator was aborted")
        if status == MISMATCH:
            return self._control.give_up(CallMismatch(self.rank, failure.text))
        if status == CLOSED and failure.peer >= 0:
            # The peer may have said why, or named somebody else, on the control channel.
            verdict = self._control.verdict()
            why = "it closed the communicator" if self._control.is_gone(failure.peer) else failure.text
            return verdict or self._control.give_up(self._lost(failure.peer, why))
        if failure.peer >= 0:
            return self._control.give_up(self._lost(failure.peer, failure.text))
        return self._control.give_up(Aborted(failure.text))

    def _who_stalls(self, operation: Operation, waiting_on: int) -> CollectiveError:
        """Name the rank that holds everybody up: who does not answer, else the end of the chain of waiting ranks."""
        answers = self._control.answers()
        limit, name = f"{self.timeout_s:g} s", operation.name.lower()
        silent = [p for p in range(self.world_size) if p != self.rank and p not in answers]
        if silent:
            peer = waiting_on if waiting_on in silent else silent[0]
            return self._lost(peer, f"it has not answered; {name} waited {limit} (stopped, hung, or cut off)")
        mine = self._engine.health().calls
        seen = {self.rank}
        peer = waiting_on
        while peer >= 0 and peer not in seen:
            seen.add(peer)
            state: PeerState = answers[peer]
            if state.calls < mine or state.waiting_on < 0:
                calls = f"its {state.calls} calls" if state.calls < mine else "this call"
                why = f"it is alive but did not come on in {calls} while {name} #{mine} waited {limit}"
                return self._lost(peer, why)
            peer = state.waiting_on
        blamed = waiting_on if waiting_on >= 0 else next(iter(answers), self.rank)
        return self._lost(blamed, f"it did not send its part of {name} #{mine} within {limit}")
