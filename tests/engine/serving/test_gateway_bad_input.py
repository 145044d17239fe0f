"""Clients that are slow, huge, malformed or many. Answers are clear, memory stays bounded, others are served."""

from __future__ import annotations

import asyncio
import socket

import psutil
import pytest

from engine.serving.kit import Wire, Yard, chat, policy, request, until
from stellwerk.serving.engines.simulated.settings import Fault, SimulatedSettings
from stellwerk.serving.gateway.http.message import HttpLimits
from stellwerk.serving.gateway.http.server import HttpServer

GET = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n\r\n"


async def _raw(yard: Yard, data: bytes) -> bytes:
    """Everything that comes back until the gateway closes."""
    wire = await Wire.open(yard.port)
    try:
        await wire.send(data)
        return await asyncio.wait_for(wire.reader.read(), 5)
    finally:
        await wire.close()


@pytest.mark.parametrize(
    "data",
    [
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n"
        b"\r\n0\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 4\r\ncontent-length: 0\r\n\r\nabcd",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n1\r\nabc\r\n",
        b"POST / HTTP/1.1\r\nhost: localhost\r\nx: y\r\n folded: z\r\n\r\n",
        b"GET / HTTP/1.1\nhost: localhost\n\n\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: localhost\r\nhost: other\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ],
)
async def test_what_could_smuggle_a_second_request_is_refused_and_ends_the_connection(yard: Yard, data: bytes) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    answers = await _raw(yard, data + GET)
    assert answers.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5"))
    assert answers.count(b"content-length: ") == 1, "something after the malformed request was answered"
    assert b"connection: close" in answers


@pytest.mark.parametrize(
    "data",
    [b"GET /health HTTP/1.1\nHost: localhost\n\n", bytes.fromhex("16030100c8010000c40303"), b"GET / HTTP/1.1\rx"],
)
async def test_what_can_never_become_a_request_is_answered_without_waiting_for_more(yard: Yard, data: bytes) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    assert gateway.server.limits.head_timeout_s > 5  # _raw does not wait so long
    assert (await _raw(yard, data)).startswith(b"HTTP/1.1 400 ")


async def test_an_empty_line_before_a_request_may_come_in_two_pieces(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    await wire.send(b"\r")
    await until(lambda: any(connection._head for connection in gateway.server.connections))
    await wire.send(b"\n" + GET)
    assert (await wire.answer()).status == 200
    await wire.close()


async def test_a_model_name_without_end_reaches_neither_answer_nor_log(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    answer = await yard.ask(body={"model": "x" * 1_000_000, "messages": []})
    assert answer.status == 400
    assert len(answer.body) < 500


async def test_an_absolute_target_is_judged_by_the_host_in_it(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    assert (await yard.get("http://localhost/v1/models", host="elsewhere")).status == 200
    assert (await yard.get("http://elsewhere/v1/models")).status == 421


async def test_a_header_of_1_mb_is_refused(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    answer = await _raw(yard, b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 1_000_000)
    assert answer.startswith(b"HTTP/1.1 431 ")


async def test_a_body_of_100_mb_is_refused_by_its_length(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    before = psutil.Process().memory_info().rss
    wire = await Wire.open(yard.port)
    await wire.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 104857600\r\n\r\n")
    await wire.send(b"x" * 1_000_000)
    answer = await wire.answer()
    assert answer.status == 413
    assert "33554432" in answer.json()["error"]["message"]
    await wire.close()
    await until(lambda: not gateway.server.connections)
    assert psutil.Process().memory_info().rss - before < 40_000_000


async def test_a_chunked_body_is_refused_when_it_grows_too_large(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway="gateway: {max_body: 1000000}"))
    wire = await Wire.open(yard.port)
    await wire.send(b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
    piece = b"%x\r\n%b\r\n" % (100_000, b"x" * 100_000)
    for _ in range(11):
        await wire.send(piece)
    assert (await wire.answer()).status == 413
    await wire.close()
    await until(lambda: not gateway.server.connections)
    assert gateway.server._claimed == 0


async def test_large_bodies_that_fit_get_through(yard: Yard) -> None:
    engine, port = await yard.engine(SimulatedSettings("tiny", 0.0, 1e9, context_window=10**7))
    await yard.gateway(policy(port))
    assert (await yard.ask(body=chat("x" * 4_000_000))).status == 200
    assert len(engine.bodies[-1]) > 4_000_000


async def test_many_large_bodies_at_once_are_bounded_by_a_budget() -> None:
    class Nobody:
        def accept(self, connection: object, request: object) -> None:
            return None

        def answer(self, connection: object, request: object) -> None:
            raise AssertionError

        def refuse(self, connection: object, request: object, error: object) -> None:
            connection.respond(error.status, b"{}")  # type: ignore[attr-defined]

    server = HttpServer(Nobody(), body_budget_bytes=50_000_000)  # type: ignore[arg-type]
    port = await server.start("127.0.0.1", 0)
    head = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 20000000\r\n\r\n{"
    wires = [await Wire.open(port) for _ in range(3)]
    for wire in wires[:2]:
        await wire.send(head)
    await until(lambda: server._claimed == 40_000_000)
    await wires[2].send(head)
    assert (await wires[2].answer()).status == 503
    for wire in wires:
        await wire.close()
    await until(lambda: server._claimed == 0)
    await server.drain(0)
    await server.stop()


@pytest.mark.parametrize(
    "drip",
    [
        pytest.param(b"GET / HTTP/1.1\r\nx: ", id="head"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50\r\n\r\n{", id="body"),
    ],
)
async def test_slow_loris_clients_are_cut_off(yard: Yard, drip: bytes) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    gateway.server.limits = HttpLimits(head_timeout_s=0.2, body_timeout_s=0.2, idle_timeout_s=0.2)
    wire = await Wire.open(yard.port)
    await wire.send(drip)
    ended = asyncio.create_task(wire.reader.read())
    while not ended.done():  # a byte now and then does not help
        if drip:
            wire.writer.write(b"a")
        await asyncio.wait((ended,), timeout=0.05)
    answer = ended.result() if ended.exception() is None else b"HTTP/1.1 408"
    assert answer.startswith(b"HTTP/1.1 408") or (not drip and answer == b"")
    await wire.close()
    await until(lambda: not gateway.server.connections)


async def test_more_connections_than_allowed_are_told_so(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway="gateway: {max_connections: 20}"))
    wires = [await Wire.open(yard.port) for _ in range(20)]
    await until(lambda: len(gateway.server.connections) == 20)
    extra = await Wire.open(yard.port)
    answer = await extra.answer()
    assert (answer.status, answer.json()["error"]["code"]) == (503, "too_many_connections")
    await extra.close()
    await wires.pop().close()
    await until(lambda: len(gateway.server.connections) == 19)
    assert (await yard.ask()).status == 200
    for wire in wires:
        await wire.close()


async def test_thousands_of_idle_connections_cost_little_and_others_are_served(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    before = psutil.Process().memory_info().rss
    sockets = []
    for _ in range(3000):
        raw = socket.socket()
        raw.setblocking(False)
        await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", yard.port))
        sockets.append(raw)
    await until(lambda: len(gateway.server.connections) == 3000)
    assert (await yard.ask()).status == 200
    assert psutil.Process().memory_info().rss - before < 3000 * 20_000
    for raw in sockets:
        raw.close()
    await until(lambda: not gateway.server.connections, 10)


async def test_a_client_that_sends_ahead_is_held_back_and_its_leaving_is_still_noticed(yard: Yard) -> None:
    engine, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    engine.faults.append(Fault("stall"))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat()))
    await until(lambda: len(gateway.active) == 1)
    (connection,) = gateway.server.connections
    wire.writer.write(request("/v1/chat/completions", chat("x" * 80_000)))
    await until(lambda: len(connection._ahead) > 64 * 1024)
    kept = len(connection._ahead)
    await wire.close()
    await until(lambda: not gateway.active)
    await until(lambda: engine.cancelled == 1)
    assert kept < 600_000


async def test_both_sides_send_small_packets_at_once(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat()))
    await wire.answer()
    (client,) = gateway.server.connections
    upstreams = gateway.deployment.pools["small"].replicas[0].idle
    assert upstreams
    for transport in (client.transport, *[upstream.transport for upstream in upstreams]):
        raw = transport.get_extra_info("socket")
        assert raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
    await wire.close()
