"""The simulated engine: a server on the gateway's HTTP layer, with a batch, a queue, a clock and faults."""

from __future__ import annotations

import asyncio
import json
from collections import deque

from stellwerk.serving.engines.simulated import answers
from stellwerk.serving.engines.simulated.calls import APIS, Call, CallError, read_call
from stellwerk.serving.engines.simulated.settings import Fault, SimulatedSettings, parse_fault
from stellwerk.serving.gateway.http.chunked import LAST_CHUNK, encode_chunk
from stellwerk.serving.gateway.http.connection import ServerConnection
from stellwerk.serving.gateway.http.message import HttpError, HttpLimits, Request
from stellwerk.serving.gateway.http.server import HttpServer

FAULT_HEADER = b"x-simulated-fault"
_LABEL = b"x-simulated: true\r\n"
_SHORTEST_PAUSE_S = 0.005  # faster streams send several tokens at once, as engines do


class SimulatedEngine:
    """Answers requests. `running`, `waiting`, `cancelled` and `served` are there to be looked at."""

    def __init__(self, settings: SimulatedSettings | None = None) -> None:
        self.settings = settings or SimulatedSettings()
        self.running: set[Job] = set()
        self.waiting: deque[Job] = deque()
        self.served = 0
        self.cancelled = 0
        self.tokens_made = 0
        self.healthy = True
        self.faults: deque[Fault] = deque(self.settings.faults)
        self.bodies: deque[bytes] = deque(maxlen=16)  # of the last requests, for tests of what arrives
        self.heads: deque[list[tuple[bytes, bytes]]] = deque(maxlen=16)
        self.server = HttpServer(self, HttpLimits(body_bytes=64 * 1024 * 1024, connections=20_000))
        self._number = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> int:
        """Listen; returns the port. Raises OSError."""
        return await self.server.start(host, port)

    async def stop(self) -> None:
        for job in [*self.running, *self.waiting]:
            job.cancel()
        await self.server.drain(0)
        await self.server.stop()

    # --- http.connection.Handler --------------------------------------------------------------------------------------

    def accept(self, connection: ServerConnection, request: Request) -> HttpError | None:
        return None

    def refuse(self, connection: ServerConnection, request: Request | None, error: HttpError) -> None:
        connection.respond(error.status, answers.error(error.status, error.message), lines=_LABEL)

    def answer(self, connection: ServerConnection, request: Request) -> None:
        path, method = request.head.path, request.head.method
        api = APIS.get(path)
        if api is not None and method == b"POST":
            self._number += 1
            self.bodies.append(request.body)
            self.heads.append(request.head.headers)
            fault = self._fault_of(request)
            try:
                call = read_call(api, request.body, self.settings, self._number)
            except CallError as error:
                self._error(connection, error.status, str(error))
                return
            self._take(Job(self, connection, call, self._number, fault))
        elif path == b"/health":
            self._json(connection, 200 if self.healthy else 503, {"status": "simulated"})
        elif path == b"/v1/models":
            model = {
                "id": self.settings.model,
                "object": "model",
                "created": 0,
                "owned_by": "simulated",
                "max_model_len": self.settings.context_window,
            }
            self._json(connection, 200, {"object": "list", "data": [model]})
        elif path == b"/simulated/faults" and method == b"POST":
            self._order_faults(connection, request)
        elif path == b"/simulated/faults" and method == b"DELETE":
            self.faults.clear()
            self._json(connection, 200, {"ordered": 0})
        elif path == b"/simulated/state":
            state = {"running": len(self.running), "waiting": len(self.waiting), "served": self.served}
            self._json(connection, 200, {**state, "cancelled": self.cancelled, "tokens": self.tokens_made})
        else:
            self._error(connection, 404, "Not Found")

    def _json(self, connection: ServerConnection, status: int, value: object) -> None:
        connection.respond(status, json.dumps(value).encode(), lines=_LABEL)

    def _error(self, connection: ServerConnection, status: int, message: str) -> None:
        connection.respond(status, answers.error(status, message), lines=_LABEL)

    def _fault_of(self, request: Request) -> Fault | None:
        ordered = request.head.fields.get(FAULT_HEADER)
        if ordered is not None:
            try:
                return parse_fault(ordered.decode("latin-1"))
            except ValueError:
                return Fault("status", 400)
        return self.faults.popleft() if self.faults else None

    def _order_faults(self, connection: ServerConnection, request: Request) -> None:
        """`{"fault": "status:503", "count": 3}`: the next three requests fail so."""
        try:
            order = json.loads(request.body)
            fault, count = parse_fault(str(order["fault"])), int(order.get("count", 1))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            self._error(connection, 400, f"That is no order of faults: {error}")
            return
        self.faults.extend([fault] * min(count, 10_000))
        self._json(connection, 200, {"ordered": len(self.faults)})

    # --- batch and queue ------------------------------------------------------------------------------------------

    def _take(self, job: Job) -> None:
        if len(self.running) < self.settings.batch:
            self.running.add(job)
            job.start()
        elif len(self.waiting) < self.settings.queue:
            self.waiting.append(job)
        else:
            job.refuse(503, "The queue of this engine is full.")

    def ended(self, job: Job) -> None:
        """A job is through or gone: the next one gets its place."""
        if job in self.running:
            self.running.discard(job)
        elif job in self.waiting:
            self.waiting.remove(job)
        while self.waiting and len(self.running) < self.settings.batch:
            following = self.waiting.popleft()
            self.running.add(following)
            following.start()

    def pause_s(self) -> float:
        """Time between two tokens of one stream, at the present size of the batch."""
        settings = self.settings
        if settings.batch > 1:
            fullness = max(0, len(self.running) - 1) / (settings.batch - 1)
        else:
            fullness = 0.0
        return 1.0 / (settings.rate * (1.0 - fullness * (1.0 - settings.batch_share)))


class Job:
    """One request in the engine. Driven by timers; gone when its client is gone."""

    def __init__(
        self, engine: SimulatedEngine, connection: ServerConnection, call: Call, number: int, fault: Fault | None
    ) -> None:
        self._engine = engine
        self._connection = connection
        self._call = call
        self._number = number
        self._fault = fault
        self._form = answers.StreamForm(call, number)
        self._timer: asyncio.TimerHandle | None = None
        self._made = 0
        self._paused = False
        self._over = False
        connection.exchange = self

    # --- http.connection.Exchange -------------------------------------------------------------------------------------

    @property
    def begun(self) -> bool:
        return self._made > 0

    def client_gone(self) -> None:
        if not self._over:
            self._engine.cancelled += 1
        self.cancel()

    def client_paused(self) -> None:
        self._paused = True

    def client_resumed(self) -> None:
        self._paused = False

    # --- life -----------------------------------------------------------------------------------------------------

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if not self._over:
            self._over = True
            self._engine.ended(self)

    def refuse(self, status: int, message: str) -> None:
        self._over = True
        self._connection.respond(status, answers.error(status, message), lines=_LABEL)

    def start(self) -> None:
        if self._fault is not None and self._fails_at_once(self._fault):
            return
        settings = self._engine.settings
        self._later(settings.ttft_s + self._call.prompt_tokens / settings.prefill_rate, self._first)

    def _later(self, delay_s: float, what: object) -> None:
        assert callable(what)
        self._timer = asyncio.get_running_loop().call_later(delay_s, what)

    def _fails_at_once(self, fault: Fault) -> bool:
        kind = fault.kind
        if kind == "stall":
            return True  # keeps its place in the batch until the client gives up
        if kind in ("half", "late_error"):
            return False
        transport = self._connection.transport
        self._over = True
        if kind == "die":
            self._connection.abort()
        elif kind == "not_http":
            transport.write(b"\x00\x01\x02 this is not HTTP\r\n\r\n")
            self._connection.close()
        elif kind == "status":
            self._connection.respond(fault.status, answers.error(fault.status, "A simulated fault."), lines=_LABEL)
        elif kind == "error_event" and self._call.stream:
            self._open_stream(b"data: " + answers.error(500, "A simulated fault.") + b"\n\n")
            self._close_stream()
        elif kind == "error_event":
            self._connection.respond(200, answers.error(500, "A simulated fault."), lines=_LABEL)
        else:
            body = b"<html><body>A simulated web page.</body></html>"
            self._connection.respond(200, body, b"text/event-stream" if self._call.stream else b"text/html")
        self._engine.ended(self)
        return True

    # --- answering ------------------------------------------------------------------------------------------------

    def _first(self) -> None:
        if not self._call.stream:
            pause_s = self._engine.pause_s()
            self._later(pause_s * max(0, len(self._call.answer) - 1), self._whole)
            return
        self._open_stream(self._form.opening())
        self._tokens()

    def _open_stream(self, events: bytes) -> None:
        self._connection.transport.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
            + _LABEL
            + b"transfer-encoding: chunked\r\n\r\n"
            + encode_chunk(events)
        )

    def _close_stream(self) -> None:
        self._connection.transport.write(LAST_CHUNK)
        self._connection.finish()

    def _tokens(self) -> None:
        """Send what is due, and come again."""
        call, engine = self._call, self._engine
        pause_s = engine.pause_s()
        if not self._paused:
            count = max(1, round(_SHORTEST_PAUSE_S / pause_s))
            tokens = call.answer[self._made : self._made + count]
            self._made += len(tokens)
            engine.tokens_made += len(tokens)
            fault = self._fault
            if fault is not None and self._made * 2 >= len(call.answer):
                self._fail_midway(fault)
                return
            events = b"".join([self._form.token(token) for token in tokens])
            if self._made >= len(call.answer):
                self._over = True
                self._connection.transport.write(encode_chunk(events) + encode_chunk(self._form.ending()))
                engine.served += 1
                self._close_stream()
                engine.ended(self)
                return
            self._connection.transport.write(encode_chunk(events))
        self._later(max(pause_s, _SHORTEST_PAUSE_S), self._tokens)

    def _fail_midway(self, fault: Fault) -> None:
        self._over = True
        if fault.kind == "late_error":
            event = b"data: " + answers.error(500, "A simulated fault.") + b"\n\n"
            self._connection.transport.write(encode_chunk(event))
            self._close_stream()
        else:
            # Half an event, then the connection goes: the worst place to break off.
            self._connection.transport.write(encode_chunk(self._form.token("half")[:20]))
            self._connection.request = None
            self._connection.exchange = None
            self._connection.close()
        self._engine.ended(self)

    def _whole(self) -> None:
        self._over = True
        engine, connection = self._engine, self._connection
        body = answers.whole(self._call, self._number)
        if self._fault is not None:
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
            connection.transport.write(head + body[: len(body) // 2])
            connection.close()
        else:
            engine.served += 1
            engine.tokens_made += len(self._call.answer)
            connection.respond(200, body, lines=_LABEL)
        engine.ended(self)
