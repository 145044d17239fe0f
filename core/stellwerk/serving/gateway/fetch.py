"""A request of the gateway's own to an engine: health checks and questions to judges."""

from __future__ import annotations

import asyncio
from time import monotonic

from stellwerk.serving.gateway.http.response import ResponseHead
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.gateway.upstream import UpstreamConnection, connect, take_idle

_MOST_BYTES = 1024 * 1024


class FetchError(OSError):
    """No answer. The text says why."""


class _Fetch:
    """Gathers one answer."""

    def __init__(self, upstream: UpstreamConnection, *, keep: bool) -> None:
        self.done: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self._upstream = upstream
        self._keep = keep
        self._status = 0
        self._parts: list[bytes] = []
        self._size = 0

    def response_head(self, head: ResponseHead, length: int | None) -> None:
        self._status = head.status

    def response_data(self, payload: bytes, raw: bytes | None) -> None:
        self._parts.append(payload)
        self._size += len(payload)
        if self._size > _MOST_BYTES:
            self._upstream.cut()
            self._fail("the answer is too large")

    def response_whole(self, head: ResponseHead, body: bytes, reusable: bool, raw: bytes | None = None) -> None:
        self.response_head(head, len(body))
        self.response_data(body, None)
        self.response_end(reusable)

    def response_end(self, reusable: bool) -> None:
        self._upstream.release(monotonic(), reusable=reusable and self._keep)
        if not self.done.done():
            self.done.set_result((self._status, b"".join(self._parts)))

    def upstream_lost(self, reason: str, *, answered: bool, reused: bool) -> None:
        self._fail(reason)

    def _fail(self, reason: str) -> None:
        if not self.done.done():
            self.done.set_exception(FetchError(reason))


async def fetch(
    replica: Replica, method: str, path: bytes, body: bytes = b"", *, timeout_s: float, fresh: bool = False
) -> tuple[int, bytes]:
    """(status, body) of an answer. `fresh`: over a connection of its own.

    Raises:
        OSError, TimeoutError: no answer.
    """
    async with asyncio.timeout(timeout_s):
        upstream = None if fresh else take_idle(replica)
        if upstream is None:
            upstream = await connect(replica, timeout_s)
        request = _Fetch(upstream, keep=not fresh)
        kind = b"content-type: application/json\r\n" if body else b""
        head = b"%b %b HTTP/1.1\r\n%b%bcontent-length: %d\r\n\r\n" % (
            method.encode(),
            path,
            replica.address.lines,
            kind,
            len(body),
        )
        upstream.send(request, head, body)
        try:
            return await request.done
        finally:
            if not request.done.done() or request.done.cancelled():
                upstream.cut()
