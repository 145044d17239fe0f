"""Serving HTTP/1.1: listens, owns the connections, and keeps the clock for their deadlines."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from time import monotonic

from stellwerk.serving.gateway.http.connection import ServerConnection
from stellwerk.serving.gateway.http.half_closed import HangUps
from stellwerk.serving.gateway.http.handler import Handler
from stellwerk.serving.gateway.http.message import HttpError, HttpLimits
from stellwerk.serving.gateway.http.parse import HeadCache, HeadParser, best_parser
from stellwerk.serving.gateway.http.tls import TlsConnection

_TICK_S = 0.25
_TOLD_WHY = 64  # connections beyond the limit whose TLS handshake is made, so that they can be told of it


class HttpServer:
    """Listens, owns the connections, and looks after their deadlines."""

    def __init__(
        self,
        handler: Handler,
        limits: HttpLimits | None = None,
        *,
        parser: HeadParser | None = None,
        tick_s: float = _TICK_S,
        body_budget_bytes: int = 512 * 1024 * 1024,
        on_tick: Callable[[float], None] | None = None,
    ) -> None:
        self.handler = handler
        self.limits = limits or HttpLimits()
        self.heads = HeadCache(parser or best_parser())
        self.connections: set[ServerConnection] = set()
        self.draining = False
        self.hang_ups = HangUps()
        self._outbox: list[ServerConnection] = []  # whose answer goes out at the end of this turn
        self._handshakes: set[TlsConnection] = set()
        self._budget = body_budget_bytes
        self._claimed = 0
        self._tick_s = tick_s
        self._on_tick = on_tick
        self._timer: asyncio.TimerHandle | None = None
        self._listening: asyncio.Server | None = None
        self._deserted = asyncio.Event()  # draining, and the last connection has gone

    async def start(self, host: str, port: int, tls: ssl.SSLContext | None = None, *, backlog: int = 2048) -> int:
        """Listen. Returns the port, which matters when 0 was asked for. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._listening = await loop.create_server(
            (lambda: ServerConnection(self)) if tls is None else (lambda: self._with_tls(tls)),
            host,
            port,
            backlog=backlog,
            reuse_address=True,
        )
        self._timer = loop.call_later(self._tick_s, self._tick)
        return int(self._listening.sockets[0].getsockname()[1])

    def _with_tls(self, context: ssl.SSLContext) -> TlsConnection:
        inside = ServerConnection(self)
        return TlsConnection(context, inside, self._handshakes, self._full, self.limits.head_timeout_s)

    def _full(self) -> bool:
        return len(self.connections) + len(self._handshakes) >= self.limits.connections + _TOLD_WHY

    def send_later(self, connection: ServerConnection) -> None:
        """Let `connection` write at the end of this turn of the event loop."""
        if not self._outbox:
            asyncio.get_running_loop().call_soon(self._send_all)
        self._outbox.append(connection)

    def _send_all(self) -> None:
        waiting, self._outbox = self._outbox, []
        for connection in waiting:
            connection.send_now()

    def _tick(self) -> None:
        now_s = monotonic()
        for connection in list(self.connections):
            connection.expire(now_s)
        if self._on_tick is not None:
            self._on_tick(now_s)
        self._timer = asyncio.get_running_loop().call_later(self._tick_s, self._tick)

    def opened(self, connection: ServerConnection) -> None:
        if len(self.connections) >= self.limits.connections:
            error = HttpError(503, "too_many_connections", "Too many connections are open. Try again later.")
            connection.refuse(error)
            return
        self.connections.add(connection)
        connection.deadline_s = monotonic() + self.limits.head_timeout_s

    def closed(self, connection: ServerConnection) -> None:
        self.connections.discard(connection)
        if not self.connections and self.draining:
            self._deserted.set()

    def claim_body(self, size: int) -> None:
        """Count bytes of bodies that are held incomplete. Raises HttpError 503 beyond the budget."""
        self._claimed += size
        if self._claimed > self._budget:
            raise HttpError(503, "memory", "Too many large requests are arriving at once. Try again later.")

    def release_body(self, size: int) -> None:
        self._claimed -= size

    async def drain(self, drain_s: float) -> None:
        """Stop listening, close what is idle, and let running answers finish for up to `drain_s`."""
        self.draining = True
        if self._listening is not None:
            self._listening.close()
        for connection in list(self.connections):
            if connection.request is None:
                connection.close()
        if self.connections and drain_s > 0:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._deserted.wait(), drain_s)

    async def stop(self) -> None:
        """Cut what is left after `drain`, and end the clock."""
        for connection in list(self.connections):
            connection.abort()
        for handshake in list(self._handshakes):
            handshake.abort()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self.hang_ups.close()
        if self._listening is not None:
            self._listening.close()
            await self._listening.wait_closed()
            self._listening = None
