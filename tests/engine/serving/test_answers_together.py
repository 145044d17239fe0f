"""Answers that go out together at the end of a turn of the event loop, and what must not overtake them."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from stellwerk.serving.gateway.http.connection import ServerConnection
from stellwerk.serving.gateway.http.message import HttpError, Request
from stellwerk.serving.gateway.http.server import HttpServer

GET = b"GET /%d HTTP/1.1\r\nhost: localhost\r\n\r\n"
CLOSE = b"GET /%d HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"


class Echo:
    """Answers with the path: at once, soon, or in a later turn, by the path's number."""

    def accept(self, connection: ServerConnection, request: Request) -> HttpError | None:
        return None

    def refuse(self, connection: ServerConnection, request: Request | None, error: HttpError) -> None:
        connection.respond(error.status, b"refused")

    def answer(self, connection: ServerConnection, request: Request) -> None:
        kind = int(request.head.path[1:]) % 3
        if kind == 2:
            asyncio.get_running_loop().call_soon(self._write, connection, request)
        else:
            self._write(connection, request)

    def _write(self, connection: ServerConnection, request: Request) -> None:
        body = b"[%b]" % request.head.path
        data = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        if int(request.head.path[1:]) % 3:
            connection.write_soon(data)
        else:
            connection.transport.write(data)
        connection.finish()


async def said(port: int, data: bytes, *, end: bool) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(data)
    if end:
        writer.write_eof()
    found = await asyncio.wait_for(reader.read(), 10)
    writer.close()
    return found


@pytest.mark.parametrize("end", [False, True], ids=["connection: close", "half-closed"])
async def test_every_answer_comes_once_and_in_its_order_whatever_way_it_is_written(end: bool) -> None:
    server = HttpServer(Echo())
    port = await server.start("127.0.0.1", 0)
    try:
        ways = list(itertools.product(range(3), repeat=3))
        asked = [b"".join(GET % (n + 3 * place) for place, n in enumerate(way)) for way in ways]
        last = GET if end else CLOSE
        answers = await asyncio.gather(*(said(port, data + last % 9, end=end) for data in asked))
        for way, answer in zip(ways, answers, strict=True):
            wanted = [b"[/%d]" % (n + 3 * place) for place, n in enumerate(way)] + [b"[/9]"]
            assert [part.partition(b"]")[0] + b"]" for part in answer.split(b"\r\n\r\n")[1:]] == wanted
    finally:
        await server.drain(0)
        await server.stop()


async def test_a_refusal_does_not_overtake_the_answer_before_it() -> None:
    server = HttpServer(Echo())
    port = await server.start("127.0.0.1", 0)
    try:
        answer = await said(port, GET % 1 + b"rubbish\r\n\r\n", end=False)
        assert answer.index(b"[/1]") < answer.index(b"refused")
    finally:
        await server.drain(0)
        await server.stop()
