"""One engine endpoint as the gateway sees it: may it take requests, how many, and why not.

No I/O and no clock of its own: every call that depends on time is told the time (`time.monotonic`).
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Literal

from stellwerk.serving.gateway.http.response import ResponseHeads
from stellwerk.serving.policy.model import Health

if TYPE_CHECKING:
    from stellwerk.serving.gateway.address import Address
    from stellwerk.serving.gateway.upstream import UpstreamConnection

# up: takes requests. down: active checks fail. ejected: requests failed in a row, it rests. trial: one request decides.
# draining: finishes what runs and gets nothing new.
ReplicaState = Literal["up", "down", "ejected", "trial", "draining"]

_LONGEST_REST = 8  # times `eject_s`


class Replica:
    """State machine of one replica. `slots` is how many requests may run on it now; 0 keeps all away."""

    __slots__ = (
        "_failures",
        "_limit",
        "_misses",
        "_passes",
        "_rest_until_s",
        "_rests",
        "_seen",
        "_slow_since_s",
        "address",
        "answered",
        "context_window",
        "failed",
        "heads",
        "health",
        "idle",
        "name",
        "outbox",
        "prefixes",
        "quoted",
        "reason",
        "running",
        "slots",
        "state",
    )

    def __init__(self, name: str, address: Address, limit: int, health: Health) -> None:
        self.name = name
        self.quoted = json.dumps(name)  # for the log
        self.address = address
        self.health = health
        self.state: ReplicaState = "up"
        self.reason = "not checked yet"
        self.slots = limit
        self.running = 0
        self.answered = 0
        self.failed = 0
        self.context_window: int | None = None  # as the engine states it, or as its refusals taught
        self.idle: list[UpstreamConnection] = []
        self.outbox: list[UpstreamConnection] = []  # those whose request goes out at the end of this turn
        self.heads = ResponseHeads()
        self.prefixes: dict[bytes, bytes] = {}  # path -> request line and header lines, the same for every request
        self._limit = limit
        self._failures = 0  # requests in a row
        self._misses = 0  # checks in a row
        self._passes = 0
        self._seen = False
        self._rests = 0
        self._rest_until_s = 0.0
        self._slow_since_s: float | None = None

    def configure(self, limit: int, health: Health) -> None:
        """Take over new limits after a reload; what is known about the replica stays."""
        self._limit = limit
        self.health = health
        if self.state == "up" and self._slow_since_s is None:
            self.slots = limit

    def prefix(self, path: bytes) -> bytes:
        """The start of every request for `path` (below /v1)."""
        prefix = self.prefixes.get(path)
        if prefix is None:
            address = self.address
            prefix = b"POST %b%b HTTP/1.1\r\n%b" % (address.base, path[3:], address.lines)
            if b"?" not in path:  # queries are many
                self.prefixes[path] = prefix
        return prefix

    @property
    def proven(self) -> bool:
        """Takes requests and has been heard from. A new one takes them unheard, so that a start waits for no check."""
        return self.slots > 0 and (self._seen or self.answered > 0 or self.health.path is None)

    # --- requests -------------------------------------------------------------------------------------------------

    def succeeded(self, now_s: float) -> bool:
        """A request was answered. True when `slots` changed."""
        self.answered += 1
        self._failures = 0
        if self.state == "trial":
            self._rests = 0
            self._come_back(now_s, "answers again")
            return True
        return False

    def request_failed(self, now_s: float, reason: str) -> bool:
        """A request failed through the replica's fault. True when `slots` changed."""
        self.failed += 1
        self._failures += 1
        self.reason = reason
        if self.state == "trial" or (self.state == "up" and self._failures >= self.health.fails):
            rest_s = self.health.eject_s * min(2**self._rests, _LONGEST_REST)
            self._rests += 1
            self._rest_until_s = now_s + rest_s
            self._leave("ejected", f"{self._failures} requests failed in a row: {reason}")
            return True
        return False

    # --- checks ---------------------------------------------------------------------------------------------------

    def check_passed(self, now_s: float) -> bool:
        """An active check passed. True when `slots` changed. It does not end a rest: requests decide that."""
        self._seen = True
        self._misses = 0
        self._passes += 1
        if self.state == "down" and self._passes >= self.health.passes:
            self._come_back(now_s, "checks pass again")
            return True
        if self.state == "up" and self._failures == 0:
            self.reason = "healthy"
        return False

    def check_failed(self, now_s: float, reason: str) -> bool:
        """An active check failed. True when `slots` changed."""
        self._passes = 0
        self._misses += 1
        if self.state != "draining" and self.state != "down" and self._misses >= self.health.fails:
            self._leave("down", reason)
            return True
        self.reason = reason
        return False

    # --- time and orders ------------------------------------------------------------------------------------------

    def tick(self, now_s: float) -> bool:
        """Let rests end and slow starts grow. True when `slots` changed."""
        if self.state == "ejected" and now_s >= self._rest_until_s:
            self.state = "trial"
            self.reason = "one request is let through to see whether it answers"
            self.slots = 1
            return True
        if self._slow_since_s is not None and self.state == "up":
            before = self.slots
            self.slots = self._grown(now_s)
            return self.slots != before
        return False

    def drain(self) -> None:
        """Nothing new from now on."""
        self._leave("draining", "draining: finishes what runs, takes nothing new")

    def undrain(self, now_s: float) -> None:
        if self.state == "draining":
            self._come_back(now_s, "taken back into service")

    def _leave(self, state: ReplicaState, reason: str) -> None:
        self.state = state
        self.reason = reason
        self.slots = 0
        self._slow_since_s = None

    def _come_back(self, now_s: float, reason: str) -> None:
        self.state = "up"
        self.reason = reason
        self._failures = self._misses = 0
        self._slow_since_s = now_s
        self.slots = self._grown(now_s)

    def _grown(self, now_s: float) -> int:
        """Slots during a slow start: from one to the limit, in proportion to the time since the return."""
        assert self._slow_since_s is not None
        span_s = self.health.slow_start_s
        elapsed_s = now_s - self._slow_since_s
        if elapsed_s >= span_s:
            self._slow_since_s = None
            return self._limit
        return max(1, min(self._limit, math.ceil(self._limit * elapsed_s / span_s)))
