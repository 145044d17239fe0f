"""Clients and engines that take what they can get: memory stays bounded, and others do not pay for it."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from engine.serving.kit import Wire, Yard, chat, policy, request, until
from stellwerk.serving.engines.simulated.settings import Fault
from stellwerk.serving.gateway import app
from stellwerk.serving.gateway.keys import create_key
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.load import load_policy


@pytest.mark.parametrize("ended", [False, True])
async def test_who_asks_and_asks_and_reads_nothing_fills_no_memory_and_gets_all_answers_later(
    yard: Yard, ended: bool
) -> None:
    _, port = await yard.engine()
    names = ", ".join(f"a-model-with-a-long-name-{number}: only" for number in range(400))
    gateway = await yard.gateway(policy(port).replace("auto: only", f"auto: only, {names}"))
    raw = socket.socket()
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    raw.setblocking(False)
    await asyncio.get_running_loop().sock_connect(raw, ("127.0.0.1", yard.port))
    wire = Wire(*await asyncio.open_connection(sock=raw, limit=1 << 20))
    count = 900
    await wire.send(request("/v1/models", method="GET") * count)
    if ended:
        wire.writer.write_eof()
    await until(lambda: any(connection.paused for connection in gateway.server.connections))
    (connection,) = gateway.server.connections
    assert (await yard.get("/health")).status == 200  # all that had arrived has been looked at
    assert connection.transport.get_extra_info("socket") is not None
    body = len(gateway.deployment.models_body)
    assert buffered(connection.transport) < 64 * 1024 + 2 * body
    for _ in range(count):
        answer = await wire.answer()
        assert (answer.status, len(answer.body)) == (200, body)
    await wire.close()
    await until(lambda: not gateway.server.connections)


def buffered(transport: object) -> int:
    real = getattr(transport, "_real", transport)
    return int(real.get_write_buffer_size())


@asynccontextmanager
async def refusing_engine(message: str) -> AsyncIterator[int]:
    """Answers 400 with `message` to everything. Yields its port."""

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = json.dumps({"error": {"message": message}}).encode()
        writer.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body)
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


@pytest.mark.parametrize(
    ("path", "body", "stated", "learned"),
    [
        ("/v1/completions", {"model": "auto", "prompt": list(range(9000))}, True, 4096),
        ("/v1/completions", {"model": "auto", "prompt": list(range(9000))}, False, None),
        ("/v1/chat/completions", chat("hello", max_tokens=-(10**9)), True, 4096),
        ("/v1/chat/completions", chat("hello", max_tokens=-(10**9)), False, None),
        ("/v1/chat/completions", chat("hello", documents=["word " * 9000]), False, None),
        ("/v1/chat/completions", chat("word " * 9000), False, 12_000),
    ],
)
async def test_a_prompt_that_cannot_be_estimated_does_not_narrow_the_window_for_others(
    yard: Yard, path: str, body: object, stated: bool, learned: int | None
) -> None:
    message = f"The maximum context length is {'4096 tokens' if stated else 'exceeded'}."
    async with refusing_engine(message) as port:
        gateway = await yard.gateway(policy(port).replace("{every: 50ms, timeout: 500ms}", "{path: none}"))
        assert (await yard.ask(path, body)).status == 400
        window = gateway.deployment.pools["small"].learned_window
        assert window == learned or (learned == 12_000 and window is not None and 10_000 < window < 14_000)


async def test_of_two_reloads_the_later_one_stands_however_long_the_first_takes(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    later = threading.Event()

    def load(text: str) -> CompiledPolicy:
        if "max_waiting: 1" in text:
            later.wait(0.3)
        later.set()
        return load_policy(text)

    monkeypatch.setattr(app, "load_policy", load)
    first = asyncio.create_task(gateway.reload_text(policy(port, pool="    max_waiting: 1")))
    second = asyncio.create_task(gateway.reload_text(policy(port, pool="    max_waiting: 2")))
    await asyncio.gather(first, second)
    assert gateway.deployment.policy.pools["small"].max_waiting == 2


async def test_a_name_that_no_host_can_have_is_a_replica_that_cannot_be_reached(yard: Yard) -> None:
    gateway = await yard.gateway(policy(1).replace("127.0.0.1:1/", f"{'a' * 70}.example/"))
    (replica,) = gateway.deployment.pools["small"].replicas
    await until(lambda: replica.state == "down")
    gateway = await yard.gateway(
        policy(1)
        .replace("127.0.0.1:1/", f"{'a' * 70}.example/")
        .replace("{every: 50ms, timeout: 500ms}", "{path: none}")
    )
    async with asyncio.timeout(3):
        answer = await yard.ask()
    assert answer.status == 502
    assert "cannot be reached" in str(answer.json())
    assert not gateway.counters.refused


async def test_keys_that_are_made_after_the_start_are_found_and_the_policy_that_needs_them_comes_into_service(
    yard: Yard, tmp_path: Path
) -> None:
    _, port = await yard.engine()
    path, keys = tmp_path / "policy.yaml", tmp_path / "keys.json"
    path.write_text(policy(port))
    gateway = await yard.gateway(path.read_text(), policy_path=path, keys_path=str(keys))
    path.write_text(policy(port, gateway="gateway: {require_keys: true}"))
    await until(lambda: gateway.last_reload_error is not None)
    key = create_key(keys, "anna")
    await until(lambda: gateway.deployment.version == 2)
    assert (await yard.ask()).status == 401
    assert (await yard.ask(authorization=f"Bearer {key}")).status == 200


async def test_a_body_of_a_million_keys_is_refused_before_they_are_all_looked_at(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    keys = b"".join(b'"k":1,' for _ in range(100_000))
    assert (await yard.ask(body=b"{" + keys + b'"model":"auto"}')).status == 200  # only one key can be the model
    body = b'{"model":"auto",' + keys + b'"model":"auto"}'
    answer = await yard.ask(body=body)
    assert answer.status == 400
    assert "too many keys" in str(answer.json())


async def test_half_a_character_is_no_fault_of_an_engine(yard: Yard) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port))
    answer = await yard.ask(body=b'{"model":"auto","messages":[{"role":"user","content":"\\ud800 why"}]}')
    assert answer.status == 200
    assert engine.served == 1


async def test_who_waits_for_a_pool_that_dies_goes_to_the_next_of_try(yard: Yard) -> None:
    large, large_port = await yard.engine()
    _, port = await yard.engine()
    text = f"""version: 1
models: {{auto: safe}}
pools:
  large:
    model: tiny
    max_running: 1
    max_wait: 60s
    health: {{every: 50ms, timeout: 500ms, eject: 60s}}
    replicas: [{{url: "http://127.0.0.1:{large_port}/v1"}}]
  small: {{model: tiny, max_running: 16, replicas: [{{url: "http://127.0.0.1:{port}/v1"}}]}}
steps:
  safe: {{try: [large, small]}}
"""
    gateway = await yard.gateway(text)
    large.faults += [Fault("stall")]
    asked = [asyncio.create_task(yard.ask()) for _ in range(9)]
    await until(lambda: gateway.deployment.pools["large"].waiting == 8)
    await large.stop()
    async with asyncio.timeout(10):
        answers = await asyncio.gather(*asked)
    assert {(answer.status, answer.headers["x-stellwerk-pool"]) for answer in answers} == {(200, "small")}
    assert gateway.deployment.pools["large"].waiting == 0
