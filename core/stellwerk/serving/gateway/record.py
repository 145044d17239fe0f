"""What is known of one request on its way: what counters, log and headers read of it, and what its attempts share."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from stellwerk.serving.decision.request import BYTES_PER_TOKEN
from stellwerk.serving.gateway import judge_answer
from stellwerk.serving.gateway.dialect import Dialect

if TYPE_CHECKING:
    from stellwerk.serving.decision.request import RequestView
    from stellwerk.serving.decision.types import Decision
    from stellwerk.serving.gateway.deployment import Route, Way
    from stellwerk.serving.gateway.http.message import Request
    from stellwerk.serving.gateway.pool import Pool
    from stellwerk.serving.gateway.replica import Replica

# deciding: a judge is asked, or the next attempt is being chosen. queued: all replicas are busy. connecting.
# engaged: sent to an engine. done.
Phase = Literal["deciding", "queued", "connecting", "engaged", "done"]


class Record:
    """Times in seconds on the monotonic clock; 0.0 where something has not happened."""

    __slots__ = (
        "_view", "attempts", "avoid", "bytes_out", "deadline_s", "decision", "dialect", "error", "first_byte_s", "gone",
        "model", "name", "phase", "pool", "queued_s", "replica", "request", "route", "session", "status", "streamed",
        "tokens", "way",
    )  # fmt: skip

    _view: RequestView

    def __init__(self, request: Request, dialect: Dialect, name: str) -> None:
        self.request = request
        self.dialect = dialect
        self.name = name  # of this request, in the log and for draws
        self.phase: Phase = "deciding"
        self.gone = False
        self.model = ""
        self.decision: Decision | None = None
        self.way: Way | None = None  # where the policy led, though nothing there could take the request
        self.route: Route | None = None  # where the answer comes from, as counters and headers know it
        self.pool: Pool | None = None
        self.replica: Replica | None = None
        self.avoid: tuple[Replica, ...] = ()
        self.session: str | None = None
        self.attempts = 0
        self.queued_s = 0.0
        self.first_byte_s = 0.0
        self.status = 0
        self.error: str | None = None
        self.streamed = False
        self.tokens: tuple[int | None, int | None] = (None, None)
        self.bytes_out = 0
        self.deadline_s = 0.0

    @property
    def begun(self) -> bool:
        """The client has got a part of the answer."""
        return self.first_byte_s > 0

    @property
    def engine(self) -> str:
        """Name of the replica, for messages."""
        return self.replica.name if self.replica is not None else "?"

    @property
    def prompt(self) -> str:
        """Text of the last user turn; for the log of those who want it there. Empty for a body that is none."""
        view = getattr(self, "_view", None)
        return view.last_user if view is not None else ""

    @property
    def demand(self) -> int:
        """Tokens of prompt and answer, as estimated."""
        return self._view.prompt_tokens + max(0, self._view.max_tokens or 0)

    @property
    def demand_is_known(self) -> bool:
        """Can the estimate be far too low? Token numbers, documents and images say more than is counted."""
        uncounted = len(self.request.body) - BYTES_PER_TOKEN * self._view.prompt_tokens
        return uncounted <= max(len(self.request.body) / 2, self._view.max_tokens or 0)


def learn_window(record: Record, stated: int | None) -> bool:
    """Remember that this much does not fit its replica, so that the next one of its size goes elsewhere at once.

    `stated`: the window that the engine's refusal names. Not when the caller's own words could have made the error read
    so: they must not narrow the pool for others. True when something new was learned.
    """
    replica = record.replica
    assert replica is not None
    if judge_answer.speaks_of_overflow(json.dumps(record._view.data, ensure_ascii=False, default=str)):
        return False
    if stated is None and not record.demand_is_known:
        return False
    learned = stated if stated is not None else max(1, record.demand - 1)
    if replica.context_window is not None and learned >= replica.context_window:
        return False
    replica.context_window = learned
    return True
