"""A client that says no more still gets its answer; one that has left is found out at once all the same."""

from __future__ import annotations

import pytest

from engine.serving.kit import Wire, Yard, chat, policy, request, until
from stellwerk.serving.engines.simulated.settings import SimulatedSettings

WAITS = SimulatedSettings(model="tiny", ttft_s=0.05, rate=400.0, answer_tokens=12)
NEVER = SimulatedSettings(model="tiny", ttft_s=30)


async def said_to_the_end(yard: Yard, data: bytes) -> bytes:
    """What a client gets that sends, closes its sending side, and reads to the end: `nc -N`, scripts, old clients."""
    wire = await Wire.open(yard.port)
    await wire.send(data)
    wire.writer.write_eof()
    try:
        return await wire.reader.read()
    finally:
        await wire.close()


@pytest.mark.parametrize("version", [b"HTTP/1.1", b"HTTP/1.0"])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_closes_its_sending_side_gets_its_answer(yard: Yard, stream: bool, version: bytes) -> None:
    engine, port = await yard.engine(WAITS)
    await yard.gateway(policy(port))
    data = request("/v1/chat/completions", chat(stream=stream)).replace(b"HTTP/1.1", version, 1)
    heard = await said_to_the_end(yard, data)
    assert heard.startswith(b"HTTP/1.1 200 OK\r\n")
    assert heard.count(b"HTTP/1.1 ") == 1
    assert (b"[DONE]" if stream else b'"choices"') in heard
    assert (engine.served, engine.cancelled) == (1, 0)


async def test_what_it_sent_ahead_is_answered_too_and_then_the_connection_ends(yard: Yard) -> None:
    _, port = await yard.engine(WAITS)
    await yard.gateway(policy(port))
    ask, health = request("/v1/chat/completions", chat()), request("/health", b"", "GET")
    heard = await said_to_the_end(yard, ask + health + ask + health)
    assert heard.count(b"HTTP/1.1 200 OK\r\n") == 4
    assert heard.endswith(b'{"status": "ok"}')


async def test_an_error_is_told_to_it_as_well(yard: Yard) -> None:
    engine, port = await yard.engine(NEVER)
    await yard.gateway(policy(port, pool="    deadlines: {first_byte: 200ms}\n    retries: 0"))
    heard = await said_to_the_end(yard, request("/v1/chat/completions", chat()))
    assert heard.startswith(b"HTTP/1.1 504 ")
    await until(lambda: engine.cancelled == 1)


@pytest.mark.parametrize("data", [request("/health", b"", "GET")[:-4], request("/v1/chat/completions", chat())[:-3]])
async def test_half_a_request_is_refused_in_words(yard: Yard, data: bytes) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    heard = await said_to_the_end(yard, data)
    assert heard.startswith(b"HTTP/1.1 400 ")
    assert b"ended before it was complete" in heard


async def test_one_that_leaves_later_stops_the_engine(yard: Yard) -> None:
    engine, port = await yard.engine(NEVER)
    gateway = await yard.gateway(policy(port))
    for version in (b"HTTP/1.0", b"HTTP/1.1"):
        wire = await Wire.open(yard.port)
        await wire.send(request("/v1/chat/completions", chat()).replace(b"HTTP/1.1", version, 1))
        wire.writer.write_eof()
        await until(lambda: len(engine.running) == 1)
        assert await wire.reader.readexactly(1) == b"H", "asked whether it is still there"
        await wire.close()
        await until(lambda: not engine.running and not gateway.active)
    assert engine.cancelled == 2
    assert gateway.counters.pool("small").statuses == {499: 2}
