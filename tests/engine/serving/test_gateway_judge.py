"""Judges that are asked over the wire, classifiers in process, and what is counted for them."""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from engine.serving.kit import Wire, Yard, chat, request, until
from stellwerk.serving.engines.simulated.settings import Fault, SimulatedSettings


def judged(judge: int, small: int, large: int) -> str:
    return f"""version: 1
models: {{auto: ask}}
pools:
  judge: {{model: judge, price: {{input: 3, output: 5}}, health: {{path: none}}, replicas: [{{url: "http://127.0.0.1:{judge}/v1"}}]}}
  small: {{model: tiny, price: {{input: 1, output: 2}}, replicas: [{{url: "http://127.0.0.1:{small}/v1"}}]}}
  large: {{model: tiny, price: {{input: 10, output: 20}}, replicas: [{{url: "http://127.0.0.1:{large}/v1"}}]}}
classifiers:
  referee: {{kind: llm, pool: judge, labels: [simple, complex], timeout: 300ms, on_error: complex}}
steps:
  ask: {{classify: referee, to: {{simple: small, complex: large}}}}
gateway: {{baseline: large}}
"""


async def _judge(saying: str) -> tuple[asyncio.Server, int, list[bytes]]:
    """An engine that always answers one word."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        asked.append(await reader.readexactly(length))
        value = {"choices": [{"message": {"content": saying}}], "usage": {"prompt_tokens": 40, "completion_tokens": 2}}
        body = json.dumps(value).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1], asked


@pytest.mark.parametrize(("saying", "pool"), [("simple", "small"), ("Complex!", "large"), ("no idea", "large")])
async def test_a_judge_decides_and_its_tokens_are_counted(yard: Yard, saying: str, pool: str) -> None:
    server, port, asked = await _judge(saying)
    async with server:
        _, small = await yard.engine()
        _, large = await yard.engine()
        gateway = await yard.gateway(judged(port, small, large))
        answer = await yard.ask(body=chat("what is two and two"))
        assert answer.headers["x-stellwerk-pool"] == pool
        assert b"what is two and two" in asked[0]
        assert json.loads(asked[0])["model"] == "judge"
        assert gateway.counters.pool("judge").judge_tokens == 42
        asked_cost = (40 * 3 + 2 * 5) / 1e6
        assert gateway.counters.pool("judge").cost == pytest.approx(asked_cost)
        stats = (await yard.get("/stellwerk/stats")).json()
        small_cost = stats["pools"]["small"]["cost"]
        assert stats["cost"] == pytest.approx(small_cost + stats["pools"]["large"]["cost"] + asked_cost)
        assert stats["saved"] == pytest.approx(small_cost * 9 - asked_cost)


@pytest.mark.parametrize("fault", ["stall", "die", "status", "garbage"])
async def test_a_judge_that_fails_is_overruled_in_time(yard: Yard, fault: str) -> None:
    judge, port = await yard.engine(SimulatedSettings(model="judge"))
    judge.faults.append(Fault(fault))  # type: ignore[arg-type]
    _, small = await yard.engine()
    _, large = await yard.engine()
    gateway = await yard.gateway(judged(port, small, large))
    answer = await yard.ask()
    assert (answer.status, answer.headers["x-stellwerk-pool"]) == (200, "large")
    assert gateway.deployment.pools["judge"].running == 0
    assert gateway.counters.pool("judge").failures["judge"] == 1


async def test_a_judge_is_let_go_when_the_client_leaves(yard: Yard) -> None:
    left = asyncio.Event()
    asked = asyncio.Event()

    async def think(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        with contextlib.suppress(ConnectionError):  # it is cut, not closed
            await reader.read()
        left.set()
        writer.close()

    async with await asyncio.start_server(think, "127.0.0.1", 0) as server:
        _, small = await yard.engine()
        _, large = await yard.engine()
        text = judged(server.sockets[0].getsockname()[1], small, large).replace("300ms", "1h")
        gateway = await yard.gateway(text)
        wire = await Wire.open(yard.port)
        await wire.send(request("/v1/chat/completions", chat()))
        await asked.wait()
        assert gateway.deployment.pools["judge"].running == 1
        await wire.close()
        async with asyncio.timeout(10):
            await left.wait()
        await until(lambda: gateway.deployment.pools["judge"].running == 0 and not gateway.active)
        assert gateway.counters.pool("judge").failures["judge"] == 0
        assert (await yard.get("/health")).status == 200


async def test_why_a_judge_was_overruled_is_said(yard: Yard) -> None:
    server, port, _ = await _judge("It is not simple.")
    async with server:
        _, small = await yard.engine()
        _, large = await yard.engine()
        await yard.gateway(judged(port, small, large))
        explained = (await yard.ask("/stellwerk/explain", chat("hi"))).json()
    assert explained["pool"] == "large"
    (hop,) = explained["hops"]
    assert hop["why"] == "referee says nothing (the judge's answer is no label), so complex stands"


async def test_a_dead_judge_is_left_alone_after_a_while(yard: Yard) -> None:
    judge, port = await yard.engine()
    await judge.stop()
    _, small = await yard.engine()
    _, large = await yard.engine()
    gateway = await yard.gateway(judged(port, small, large))
    for _ in range(3):
        assert (await yard.ask()).headers["x-stellwerk-pool"] == "large"
    assert gateway.deployment.pools["judge"].replicas[0].state == "ejected"


async def test_the_embedded_classifier_sends_easy_and_hard_to_their_pools(yard: Yard) -> None:
    _, small = await yard.engine()
    _, large = await yard.engine()
    text = f"""version: 1
models: {{auto: ask}}
pools:
  small: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{small}/v1"}}]}}
  large: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{large}/v1"}}]}}
classifiers: {{difficulty: {{kind: embedded}}}}
steps:
  ask: {{classify: difficulty, to: {{simple: small, complex: large}}, share: {{simple: 50%}}}}
"""
    gateway = await yard.gateway(text)
    hard = (
        "Prove that every finite integral domain is a field, then derive the order of its group of units, and write a "
        "Python function that finds a primitive root for a given prime, with a proof of its running time."
    )
    for _ in range(10):
        await yard.ask(body=chat("hi"))
        await yard.ask(body=chat(hard))
    easy_pool = (await yard.ask(body=chat("hi"))).headers["x-stellwerk-pool"]
    hard_pool = (await yard.ask(body=chat(hard))).headers["x-stellwerk-pool"]
    assert (easy_pool, hard_pool) == ("small", "large")
    assert len(gateway.deployment.shares.recent()["ask"]) == 22
    explained = (await yard.ask("/stellwerk/explain", chat(hard))).json()
    assert explained["scores"][0]["features"]


def with_algorithm(small: int, large: int, options: str) -> str:
    return f"""version: 1
models: {{auto: draw}}
pools:
  small: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{small}/v1"}}]}}
  large: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{large}/v1"}}]}}
steps:
  draw: {{switchyard: random, to: {{a: small, b: large}}, options: {options}, on_error: a}}
"""


async def test_an_algorithm_of_switchyard_decides_where_it_is_installed(yard: Yard) -> None:
    pytest.importorskip("switchyard")
    _, small = await yard.engine()
    _, large = await yard.engine()
    await yard.gateway(with_algorithm(small, large, "{weights: [0, 1], seed: 5}"))
    for _ in range(3):
        assert (await yard.ask()).headers["x-stellwerk-pool"] == "large"


async def test_without_switchyard_its_steps_fall_back(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stellwerk.serving.decision.switchyard.installed", lambda: False)
    _, small = await yard.engine()
    _, large = await yard.engine()
    await yard.gateway(with_algorithm(small, large, "{weights: [0, 1]}"))
    assert (await yard.ask()).headers["x-stellwerk-pool"] == "small"
