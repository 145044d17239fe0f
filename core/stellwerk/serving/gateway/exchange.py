"""One request on its way: decided, sent to a replica, tried elsewhere if that gives nothing, counted at the end.

An exchange is a state machine driven by callbacks (client, engine, clock); it has no task of its own. Whatever
happens, it ends in exactly one call of `_finish`.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from stellwerk.serving.decision.decide import decide, decide_async
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.types import Decision, NoPool
from stellwerk.serving.gateway import failure as failing
from stellwerk.serving.gateway import judge_answer
from stellwerk.serving.gateway.body import BodyError, BodyScan, replace_model, scan_body
from stellwerk.serving.gateway.deployment import NOWHERE, Way
from stellwerk.serving.gateway.dialect import Dialect, error_body
from stellwerk.serving.gateway.failure import Failure
from stellwerk.serving.gateway.headers import lines_for_engine
from stellwerk.serving.gateway.http.status import STAYS_OPEN, status_line
from stellwerk.serving.gateway.record import Record, learn_window
from stellwerk.serving.gateway.relay import Relay
from stellwerk.serving.gateway.upstream import UpstreamConnection, connect, take_idle, why_unreachable

if TYPE_CHECKING:
    from asyncio import Task

    from stellwerk.serving.gateway.app import Gateway
    from stellwerk.serving.gateway.deployment import Deployment
    from stellwerk.serving.gateway.http.connection import ServerConnection
    from stellwerk.serving.gateway.http.message import Request
    from stellwerk.serving.gateway.http.response import ResponseHead
    from stellwerk.serving.gateway.pool import Pool
    from stellwerk.serving.gateway.replica import Replica

CLIENT_LEFT = 499


class Exchange(Record):
    """See the module. Attributes that counters and log read are public."""

    __slots__ = (
        "_again", "_asking", "_body", "_connection", "_deployment", "_gateway", "_next_pools", "_relay", "_scan",
        "_sent_for", "_slot_since_s", "_stale_retry", "_total_deadline_s",
    )  # fmt: skip

    def __init__(
        self, gateway: Gateway, connection: ServerConnection, request: Request, dialect: Dialect, name: str
    ) -> None:
        super().__init__(request, dialect, name)
        self._gateway = gateway
        self._connection = connection
        self._deployment: Deployment = gateway.deployment
        self._total_deadline_s = 0.0
        self._slot_since_s = 0.0
        self._relay: Relay | None = None
        self._body = b""
        self._sent_for: Pool | None = None
        self._stale_retry = False
        self._again = 0
        self._asking: Task[None] | None = None
        self._next_pools: tuple[str, ...] = ()

    # --- deciding -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Read what the policy needs of the request and send it on its way."""
        request, deployment = self.request, self._deployment
        try:
            self._scan: BodyScan = scan_body(request.body)
        except BodyError as error:
            self._answer_error(Failure(400, "invalid_body", str(error)))
            return
        self.model = self._scan.model
        self._view = RequestView(
            self.model,
            request.body,
            headers=deployment.view_headers(request.head),
            api_key=request.caller,
            request_id=self.name,
        )
        self._decide()

    def decide_anew(self) -> None:
        """The pool in whose queue this waits is gone with a reload: go by the policy that is in service now."""
        self._leave_queue()
        self._deployment = self._gateway.deployment
        self.deadline_s = 0.0
        self._decide()

    def _decide(self) -> None:
        deployment = self._deployment
        if deployment.policy.needs.judge:
            self._asking = self._gateway.spawn(self._decide_with_judge())
            return
        try:
            decision = decide(deployment.policy, self._view, deployment.snapshot())
        except NoPool as error:
            self._no_pool(error)
        else:
            self._go(decision)

    async def _decide_with_judge(self) -> None:
        deployment = self._deployment
        try:
            decision = await decide_async(deployment.policy, self._view, deployment.snapshot(), self._gateway.ask)
        except NoPool as error:
            if self.phase == "deciding":
                self._no_pool(error)
        else:
            if self.phase == "deciding":
                self._go(decision)

    def _no_pool(self, error: NoPool) -> None:
        if error.pool is not None or error.hops:
            self.way = Way(error.pool or "-", tuple([hop.step for hop in error.hops]))
        self._answer_error(failing.no_pool(error, self._deployment.retry_after_s()))

    def _go(self, decision: Decision) -> None:
        self.decision = decision
        if decision.scores:
            self._deployment.observe(decision.scores)
        self._next_pools = decision.candidates
        self._enter(decision.pool)

    # --- pools and replicas ---------------------------------------------------------------------------------------

    def _enter(self, name: str) -> None:
        assert self.decision is not None
        self.pool = pool = self._deployment.pools[name]
        self.route = self._deployment.route(self.decision, name)
        self.avoid = ()
        spec = pool.spec
        self._again = spec.retries
        if not self._total_deadline_s:
            self._total_deadline_s = self.request.received_s + spec.deadlines.total_s
        if spec.balance == "prefix":
            self.session = self._view.session_key
        self._attempt(None)

    def _attempt(self, failure: Failure | None) -> None:
        """Take a replica of the current pool, or queue for one. `failure`: why there is another attempt."""
        pool = self.pool
        assert pool is not None
        replica = pool.take(self.session, self.avoid)
        if replica is not None:
            self.slot_free(replica)
        elif not pool.can_serve(self.avoid):
            self._next_pool(failure or failing.unhealthy(pool.spec.name, pool.retry_after_s()))
        elif pool.enqueue(self):
            self.phase = "queued"
            self._slot_since_s = monotonic()
            self.deadline_s = self._slot_since_s + pool.spec.max_wait_s
            if pool.full:
                self._gateway.changed()
        else:
            self._next_pool(self._overloaded("its queue is full"))

    def pool_changed(self) -> None:
        """A replica came or went: who waits for a pool that can no longer serve him goes where the policy says."""
        pool = self.pool
        if self.phase != "queued" or pool is None or pool.can_serve(self.avoid):
            return
        if self.avoid or self._next_pools:  # with nowhere else to go: the pool may come back in time
            self.queued_s += monotonic() - self._slot_since_s
            self._leave_queue()
            self._next_pool(failing.unhealthy(pool.spec.name, pool.retry_after_s()))

    def _overloaded(self, why: str) -> Failure:
        assert self.pool is not None
        return failing.overloaded(self.pool.spec.name, why, self.pool.retry_after_s())

    def slot_free(self, replica: Replica) -> None:
        """A slot on `replica` is ours: use a warm connection to it, or open one."""
        now_s = monotonic()
        if self.phase == "queued":
            self.queued_s += now_s - self._slot_since_s
        self.replica = replica
        self.attempts += 1
        self._slot_since_s = now_s
        upstream = take_idle(replica)
        if upstream is not None:
            self._send(upstream, now_s)
        else:
            self._open(replica)

    def _open(self, replica: Replica) -> None:
        self.phase = "connecting"
        self.deadline_s = 0.0
        self._gateway.spawn(self._connect(replica, self.attempts))

    async def _connect(self, replica: Replica, attempt: int) -> None:
        assert self.pool is not None
        timeout_s = self.pool.spec.deadlines.connect_s
        try:
            upstream = await connect(replica, timeout_s)
        except (OSError, TimeoutError) as error:
            if self.phase == "connecting" and self.attempts == attempt:
                late = isinstance(error, TimeoutError)
                reason = f"no connection within {timeout_s:g} s" if late else why_unreachable(error)
                self.failed(502, "unreachable", f"The engine {replica.name} cannot be reached: {reason}.")
            return
        if self.phase == "connecting" and self.attempts == attempt:
            self._send(upstream, monotonic())
        else:
            upstream.release(monotonic(), reusable=True)

    def _send(self, upstream: UpstreamConnection, now_s: float) -> None:
        pool, replica, head = self.pool, self.replica, self.request.head
        assert pool is not None
        assert replica is not None
        if self._sent_for is not pool:
            self._sent_for = pool
            self._body = replace_model(self.request.body, self._scan, pool.model_json)
        lines = head.engine_lines
        if lines is None:
            lines = head.engine_lines = lines_for_engine(head.headers)
        path = head.path if not head.query else b"%b?%b" % (head.path, head.query)
        self.phase = "engaged"
        self.deadline_s = now_s + pool.spec.deadlines.first_byte_s
        self._relay = relay = Relay(self, upstream)
        upstream.send(
            relay, b"%b%bcontent-length: %d\r\n\r\n" % (replica.prefix(path), lines, len(self._body)), self._body
        )

    # --- what the relay says --------------------------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Send bytes to the client."""
        self._connection.transport.write(data)

    def write_whole(self, data: bytes) -> None:
        """Send a whole answer to the client; with those of others, when there are any."""
        if self.replica is not None and self.replica.running > 1:
            self._connection.write_soon(data)
        else:
            self._connection.transport.write(data)

    def progress(self) -> None:
        """A part of the answer has been passed on."""
        if self._connection.paused:
            self.client_paused()
        else:
            assert self.pool is not None
            self.deadline_s = monotonic() + self.pool.spec.deadlines.idle_s

    def own_lines(self) -> bytes:
        """The header lines that the gateway adds, with the empty line that ends the head."""
        way = self.route or self.way or NOWHERE
        request = self.request
        more = request.cors
        if request.keep_alive:
            if not more and request.head.version_11:
                return way.ending
            return b"%b%b%b\r\n" % (way.lines, more, b"" if request.head.version_11 else STAYS_OPEN)
        return b"%b%bconnection: close\r\n\r\n" % (way.lines, more)

    def answered(self, status: int) -> None:
        """The whole answer has been passed on."""
        now_s = monotonic()
        assert self.replica is not None
        if self.replica.succeeded(now_s):
            self._gateway.replica_changed(self.replica)
        self._give_slot_back(now_s - self._slot_since_s)
        self._finish(status, None, now_s)

    def lost(self, reason: str, *, stale: bool) -> None:
        """The connection ended before an answer. `stale`: it had been idle, and not a byte came back."""
        replica = self.replica
        assert replica is not None
        if stale and not self._stale_retry:
            # The engine closed an idle connection while the request was on its way: it has not seen it.
            self._stale_retry = True
            self._open(replica)
        else:
            self.failed(502, "engine_failed", f"The engine {replica.name} failed: {reason}.")

    def refused(self, status: int, payload: bytes, head: ResponseHead) -> None:
        """The engine answered with an error: elsewhere it may work, or the client must be told."""
        assert self.replica is not None
        failure, again, too_long = failing.refusal(self.engine, status, payload, head)
        if too_long and learn_window(self, judge_answer.stated_window(payload)):
            self._gateway.changed()
        if again:
            self._fail(failure)
        else:
            self.first_byte_s = monotonic()
            self._give_slot_back(None)
            self._answer_error(failure)

    def failed(self, status: int, code: str, message: str) -> None:
        """The replica gave nothing, through its own fault."""
        self._fail(Failure(status, code, message, fault=True))

    def broke_off(self, code: str, message: str, *, abort: bool) -> None:
        """The answer broke after a part of it had been passed on."""
        assert self.replica is not None
        if code not in ("shutdown", "internal_error"):
            self._gateway.fault(self.replica, message)
        self._give_slot_back(None)
        self._finish(502, code, monotonic(), abort=abort)

    # --- failures -------------------------------------------------------------------------------------------------

    def _fail(self, failure: Failure) -> None:
        """This attempt gave nothing. Nothing has reached the client, so another replica or pool may answer."""
        pool, replica = self.pool, self.replica
        assert pool is not None
        assert replica is not None
        self._cut()
        self._give_slot_back(None)
        self._gateway.attempt_failed(self, failure.code)
        if failure.fault:
            self._gateway.fault(replica, failure.message)
        self.avoid = (*self.avoid, replica)
        if failure.elsewhere and self._again > 0 and pool.can_serve(self.avoid):
            self._again -= 1
            self._attempt(failure)
        else:
            self._next_pool(failure)

    def _next_pool(self, failure: Failure) -> None:
        while self._next_pools:
            name, *rest = self._next_pools
            self._next_pools = tuple(rest)
            pool = self._deployment.pools[name]
            if pool.ready and not pool.full:
                self._enter(name)
                return
        self._answer_error(failure)

    def _answer_error(self, failure: Failure) -> None:
        body = failure.answer or error_body(self.dialect, failure.status, failure.code, failure.message)
        retry = b"" if failure.retry_after is None else b"retry-after: %b\r\n" % failure.retry_after
        self.bytes_out = len(body)
        self.write(
            b"%bcontent-type: application/json\r\ncontent-length: %d\r\n%b%b%b"
            % (status_line(failure.status), len(body), retry, self.own_lines(), body)
        )
        self._finish(failure.status, failure.code, monotonic())

    # --- client and clock -----------------------------------------------------------------------------------------

    def client_gone(self) -> None:
        """The client has left: the engine, or the judge, is told by closing its connection, at once."""
        self.gone = True
        if self._asking is not None:
            self._asking.cancel()
        if self.phase == "done":
            return
        self._leave_queue()
        self._cut()
        self._give_slot_back(None)
        self._finish(CLIENT_LEFT, "client_left", monotonic(), connected=False)

    def client_paused(self) -> None:
        if self._relay is not None:
            self._relay.pause()
            self.deadline_s = 0.0  # it is the client who is slow

    def client_resumed(self) -> None:
        if self._relay is not None and self.pool is not None:
            self._relay.resume()
            self.deadline_s = monotonic() + self.pool.spec.deadlines.idle_s

    def check(self, now_s: float) -> None:
        """Called by the clock: is something overdue?"""
        if self._total_deadline_s and now_s > self._total_deadline_s:
            self._total_deadline_s = 0.0
            self._next_pools = ()
            self._again = 0
            self._overdue("the whole request took longer than its deadline", fault=False)
        elif self.deadline_s and now_s > self.deadline_s:
            self._overdue("it sent nothing for too long", fault=True)

    def _overdue(self, what: str, *, fault: bool) -> None:
        self.deadline_s = 0.0
        if self.phase == "queued":
            self.queued_s += monotonic() - self._slot_since_s
            self._leave_queue()
            self._next_pool(self._overloaded("no replica became free in time"))
        elif self._relay is not None and self._relay.passing:
            self._relay.break_off("deadline", f"The answer was cut: {what}.")
        elif self.phase in ("engaged", "connecting"):
            self._fail(Failure(504, "timeout", f"The engine {self.engine} failed: {what}.", fault=fault))
        else:
            self._answer_error(Failure(504, "timeout", f"The request failed: {what}."))

    def crash(self) -> None:
        """Something here is broken. The client gets an error, the engine is let go."""
        message = "The gateway has failed at this request. Its log says how."
        if self._relay is not None and self._relay.passing:
            self._relay.break_off("internal_error", message)
        elif self.phase != "done":
            self._leave_queue()
            self._cut()
            self._give_slot_back(None)
            self._answer_error(Failure(500, "internal_error", message))

    def stop(self) -> None:
        """The gateway shuts down and cannot wait any longer."""
        message = "The gateway is shutting down."
        if self._relay is not None and self._relay.passing:
            self._relay.break_off("shutdown", message)
        elif self.phase != "done":
            self._leave_queue()
            self._cut()
            self._give_slot_back(None)
            self._answer_error(Failure(503, "shutdown", message, retry_after=b"5"))

    # --- the end --------------------------------------------------------------------------------------------------

    def _leave_queue(self) -> None:
        if self.phase == "queued" and self.pool is not None:
            self.phase = "deciding"
            self.pool.leave_queue(self)

    def _cut(self) -> None:
        relay, self._relay = self._relay, None
        if relay is not None:
            relay.cut()

    def _give_slot_back(self, service_s: float | None) -> None:
        if self.phase == "engaged" or self.phase == "connecting":
            self.phase = "deciding"
            assert self.pool is not None
            assert self.replica is not None
            self.pool.release(self.replica, service_s)

    def _finish(
        self, status: int, error: str | None, now_s: float, *, connected: bool = True, abort: bool = False
    ) -> None:
        self.status = status
        self.error = error
        self.phase = "done"
        self._relay = None
        try:
            self._gateway.ended(self, now_s)
        finally:  # whatever goes wrong in counting, the client must not wait for the end of its answer
            if abort:
                self._connection.exchange = None
                self._connection.abort()
            elif connected:
                self._connection.finish()
