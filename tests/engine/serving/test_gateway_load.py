"""Queues, balance, slow start and drain."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections import Counter
from pathlib import Path

import pytest

from engine.serving.kit import FAST, Wire, Yard, chat, policy, request, until
from stellwerk.serving.engines.simulated.settings import Fault, SimulatedSettings

STEADY = SimulatedSettings(model="tiny", ttft_s=0.05, rate=2000, answer_tokens=4)
HELD = SimulatedSettings(model="tiny", ttft_s=60)


async def test_more_than_may_run_wait_in_order_and_all_are_answered(yard: Yard) -> None:
    engine, port = await yard.engine(STEADY)
    gateway = await yard.gateway(policy(port, pool="    max_running: 2\n    max_waiting: 50"))
    tasks = [asyncio.create_task(yard.ask(body=chat(f"number {number}"))) for number in range(12)]
    await until(lambda: gateway.deployment.pools["small"].waiting >= 5)
    assert len(engine.running) <= 2
    assert {(await task).status for task in tasks} == {200}
    counters = gateway.counters.pool("small")
    assert counters.queued.count == 12
    assert counters.queued.total > 0
    pool = gateway.deployment.pools["small"]
    assert (pool.running, pool.waiting) == (0, 0)


async def test_a_full_queue_is_answered_429_with_retry_after(yard: Yard) -> None:
    _, port = await yard.engine(HELD)
    gateway = await yard.gateway(policy(port, pool="    max_running: 1\n    max_waiting: 2"))
    held = [await Wire.open(yard.port) for _ in range(3)]
    for wire in held:
        await wire.send(request("/v1/chat/completions", chat()))
    await until(lambda: gateway.deployment.pools["small"].full)
    answer = await yard.ask()
    assert answer.status == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert answer.json()["error"]["type"] == "rate_limit_error"
    # Whoever leaves the queue makes room.
    await held[2].close()
    await until(lambda: gateway.deployment.pools["small"].waiting == 1)
    for wire in held[:2]:
        await wire.close()
    await until(lambda: not gateway.active)


async def test_waiting_has_an_end(yard: Yard) -> None:
    _, port = await yard.engine(HELD)
    gateway = await yard.gateway(policy(port, pool="    max_running: 1\n    max_waiting: 5\n    max_wait: 100ms"))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat()))
    await until(lambda: gateway.deployment.pools["small"].running == 1)
    answer = await yard.ask()
    assert answer.status == 429
    assert "no replica became free in time" in answer.json()["error"]["message"]
    await wire.close()


async def test_an_overloaded_pool_hands_over_to_the_next_of_try(yard: Yard) -> None:
    _, port = await yard.engine(HELD)
    _, other = await yard.engine(FAST)
    text = f"""version: 1
models: {{auto: both}}
pools:
  small: {{model: tiny, max_running: 1, max_waiting: 0, replicas: [{{url: "http://127.0.0.1:{port}/v1"}}]}}
  spare: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{other}/v1"}}]}}
steps:
  both: {{try: [small, spare]}}
"""
    gateway = await yard.gateway(text)
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat()))
    await until(lambda: gateway.deployment.pools["small"].running == 1)
    assert (await yard.ask()).headers["x-stellwerk-pool"] == "spare"
    await wire.close()


async def _spread(yard: Yard, balance: str, count: int, **more: str) -> Counter[int]:
    ports = [(await yard.engine())[1] for _ in range(3)]
    await yard.gateway(policy(*ports, pool=f"    balance: {balance}"))
    for number in range(count):
        assert (await yard.ask(body=chat(f"{number}"), **more)).status == 200
    return Counter(engine.served for engine in yard.engines)


async def test_round_robin_gives_each_the_same(yard: Yard) -> None:
    assert await _spread(yard, "round_robin", 9) == {3: 3}


async def test_least_busy_spreads_what_is_idle_too(yard: Yard) -> None:
    assert await _spread(yard, "least_busy", 9) == {3: 3}


async def test_prefix_keeps_a_conversation_on_its_replica(yard: Yard) -> None:
    assert await _spread(yard, "prefix", 9, x_stellwerk_session="one") == {9: 1, 0: 2}


async def test_prefix_spreads_conversations(yard: Yard) -> None:
    ports = [(await yard.engine())[1] for _ in range(3)]
    await yard.gateway(policy(*ports, pool="    balance: prefix"))
    for number in range(60):
        await yard.ask(x_stellwerk_session=f"session {number}")
    assert all(engine.served > 5 for engine in yard.engines)


async def test_least_busy_avoids_the_replica_that_is_busy(yard: Yard) -> None:
    busy, busy_port = await yard.engine(HELD)
    idle, idle_port = await yard.engine(FAST)
    await yard.gateway(policy(busy_port, idle_port))
    wires = []
    for _ in range(2):  # equals take turns: one of two goes to the replica that keeps it
        wire = await Wire.open(yard.port)
        await wire.send(request("/v1/chat/completions", chat()))
        wires.append(wire)
        await until(lambda: idle.served + len(busy.running) == len(wires))
    assert len(busy.running) == 1
    served = idle.served
    for _ in range(5):
        assert (await yard.ask()).status == 200
    assert idle.served == served + 5
    for wire in wires:
        await wire.close()


async def test_stopping_lets_running_answers_finish_and_takes_nothing_new(yard: Yard) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.05, rate=100, answer_tokens=20))
    gateway = await yard.gateway(policy(port))
    running = asyncio.create_task(yard.ask(body=chat(stream=True)))
    await until(lambda: len(engine.running) == 1)
    stopping = asyncio.create_task(gateway.stop(5))
    answer = await running
    assert answer.events[-1] == "[DONE]"
    await stopping
    try:
        await Wire.open(yard.port)
    except ConnectionRefusedError:
        return
    raise AssertionError("it still listens")


async def test_stopping_in_a_hurry_ends_streams_with_an_error_event(yard: Yard) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.001, rate=20, answer_tokens=200))
    gateway = await yard.gateway(policy(port))
    running = asyncio.create_task(yard.ask(body=chat(stream=True)))
    await until(lambda: engine.tokens_made > 2)
    await gateway.stop(0)
    answer = await running
    assert '"shutdown"' in answer.events[-1]
    assert b"[DONE]" not in answer.body


async def test_a_drained_replica_finishes_takes_nothing_new_and_comes_back(yard: Yard) -> None:
    slow, slow_port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.4, rate=2000, answer_tokens=4))
    other, other_port = await yard.engine(FAST)
    gateway = await yard.gateway(policy(slow_port, other_port))
    running = [asyncio.create_task(yard.ask(body=chat(f"{number}"))) for number in range(2)]
    await until(lambda: len(slow.running) == 1)
    name = gateway.deployment.pools["small"].replicas[0].name
    order = {"pool": "small", "replica": name}
    assert (await yard.ask("/stellwerk/drain", order)).json() == {"replica": name, "state": "draining", "running": 1}
    for _ in range(3):
        assert (await yard.ask()).status == 200
    assert {(await task).status for task in running} == {200}
    assert (slow.served, other.served) == (1, 4)
    assert (await yard.ask("/stellwerk/drain", {**order, "drain": False})).json()["state"] == "up"
    assert (await yard.ask("/stellwerk/drain", {**order, "replica": "x"})).status == 404
    assert (await yard.ask("/stellwerk/drain", b"[]")).status == 400


async def test_a_wall_clock_that_jumps_changes_nothing_but_the_times_in_the_log(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = itertools.cycle((0.0, 4e9, 1.7e9, -1.0))
    monkeypatch.setattr("time.time", lambda: next(clock))
    monkeypatch.setattr("stellwerk.serving.gateway.log.time", lambda: next(clock))
    engine, port = await yard.engine()
    engine.faults.append(Fault("stall"))
    log = tmp_path / "log.jsonl"
    gateway = await yard.gateway(
        policy(port, pool="    deadlines: {first_byte: 100ms}\n    retries: 0"), log_path=str(log)
    )
    assert [(await yard.ask()).status for _ in range(6)] == [504, *[200] * 5]
    assert gateway.deployment.pools["small"].replicas[0].state == "up"
    await gateway.stop(0)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert sum(line.get("status") == 200 for line in lines) == 5
    assert all(0 <= line["total_ms"] < 60_000 for line in lines if "total_ms" in line)
