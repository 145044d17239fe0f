"""Engines that stall, die, lie and break off: the client gets a good answer or a clear error, never half a success."""

from __future__ import annotations

import asyncio
import json
from collections import deque

import pytest

from engine.serving.kit import Wire, Yard, chat, policy, request, until
from stellwerk.serving.engines.simulated.engine import SimulatedEngine
from stellwerk.serving.engines.simulated.settings import Fault, SimulatedSettings, parse_fault

SLOW = SimulatedSettings(model="tiny", ttft_s=0.001, rate=40.0, answer_tokens=200)
DEADLINES = "    deadlines: {connect: 500ms, first_byte: 300ms, idle: 300ms, total: 20s}\n    retries: 2"


def one_of_them_fails(fault: Fault, *engines: SimulatedEngine) -> None:
    """Whichever is asked first, and only that one."""
    shared = deque([fault])
    for engine in engines:
        engine.faults = shared


BEFORE_CONTENT = ["stall", "die", "status:500", "status:503", "error_event", "garbage", "not_http"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("fault", BEFORE_CONTENT)
async def test_a_fault_before_the_first_content_moves_to_the_next_replica(yard: Yard, fault: str, stream: bool) -> None:
    bad, bad_port = await yard.engine()
    good, good_port = await yard.engine()
    gateway = await yard.gateway(policy(bad_port, good_port, pool=DEADLINES))
    one_of_them_fails(parse_fault(fault), bad, good)
    answer = await yard.ask(body=chat(stream=stream))
    assert answer.status == 200, answer.body
    assert answer.complete
    assert b"A simulated fault" not in answer.body
    assert answer.events[-1] == "[DONE]" if stream else b"choices" in answer.body
    assert sum(gateway.counters.pool("small").failures.values()) == 1
    assert bad.served + good.served == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    ("fault", "status"),
    [("stall", 504), ("die", 502), ("status:500", 500), ("status:503", 503), ("error_event", 500), ("garbage", 502),
     ("not_http", 502), ("status:429", 429)],
)  # fmt: skip
async def test_without_another_replica_the_error_is_clear(yard: Yard, fault: str, status: int, stream: bool) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port, pool=DEADLINES))
    engine.faults.append(parse_fault(fault))
    answer = await yard.ask(body=chat(stream=stream))
    assert answer.status == status
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["error"]["message"]
    assert answer.headers["x-stellwerk-pool"] == "small"
    assert (await yard.ask()).status == 200


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/responses"])
async def test_a_stream_that_breaks_ends_with_an_error_event_and_no_success(yard: Yard, path: str) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port))
    engine.faults.append(Fault("half"))
    answer = await yard.ask(path, chat(stream=True, input="x"))
    assert answer.status == 200
    last = answer.events[-1]
    data = json.loads(last.partition("data: ")[2] if "data: " in last else last)
    assert "error" in json.dumps(data)
    assert b"[DONE]" not in answer.body
    assert b"message_stop" not in answer.body
    assert b"response.completed" not in answer.body
    assert b"half" not in answer.body, "a part of an event got through"


async def test_half_an_answer_that_was_not_streamed_is_tried_elsewhere(yard: Yard) -> None:
    engine, port = await yard.engine()
    other, other_port = await yard.engine()
    gateway = await yard.gateway(policy(port, other_port))
    one_of_them_fails(Fault("half"), engine, other)
    answer = await yard.ask()
    assert (answer.status, answer.complete) == (200, True)
    assert gateway.counters.pool("small").failures == {"engine_failed": 1}


async def test_an_error_event_after_content_is_passed_on_without_a_success(yard: Yard) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port))
    engine.faults.append(Fault("late_error"))
    answer = await yard.ask(body=chat(stream=True))
    assert b"A simulated fault." in answer.body
    assert b"[DONE]" not in answer.body


async def test_a_client_that_leaves_stops_the_engine_at_once(yard: Yard) -> None:
    engine, port = await yard.engine(SLOW)
    gateway = await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat(stream=True)))
    await wire.reader.readuntil(b"data: ")
    await wire.close()
    await until(lambda: engine.cancelled == 1)
    await until(lambda: not gateway.active)
    assert gateway.counters.pool("small").statuses == {499: 1}
    assert gateway.deployment.pools["small"].running == 0


async def test_a_client_that_leaves_before_the_answer_stops_the_engine_too(yard: Yard) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=30))
    gateway = await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat()))
    await until(lambda: len(engine.running) == 1)
    await wire.close()
    await until(lambda: engine.cancelled == 1 and not gateway.active)


async def test_an_engine_that_goes_silent_in_the_middle_is_cut(yard: Yard) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.001, rate=0.5, answer_tokens=100))
    await yard.gateway(policy(port, pool=DEADLINES))
    answer = await yard.ask(body=chat(stream=True))
    assert json.loads(answer.events[-1])["error"]["code"] == "deadline"
    assert b"[DONE]" not in answer.body
    assert engine.cancelled == 1


async def test_try_moves_to_the_next_pool_and_the_path_says_so(yard: Yard) -> None:
    dead, dead_port = await yard.engine()
    await dead.stop()
    _, port = await yard.engine(SimulatedSettings(model="big", ttft_s=0.001, rate=2000))
    text = f"""version: 1
models: {{auto: safe}}
pools:
  small: {{model: tiny, health: {{path: none}}, replicas: [{{url: "http://127.0.0.1:{dead_port}/v1"}}]}}
  large: {{model: big, replicas: [{{url: "http://127.0.0.1:{port}/v1"}}]}}
steps:
  safe: {{try: [small, large]}}
"""
    gateway = await yard.gateway(text)
    answer = await yard.ask()
    assert answer.status == 200
    assert answer.headers["x-stellwerk-pool"] == "large"
    assert answer.json()["model"] == "big"
    assert gateway.counters.pool("small").failures == {"unreachable": 1}


async def test_a_prompt_that_does_not_fit_moves_on_and_is_remembered(yard: Yard) -> None:
    small, small_port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.001, rate=2000, context_window=100))
    _, port = await yard.engine(SimulatedSettings(model="big", ttft_s=0.001, rate=2000))
    text = f"""version: 1
models: {{auto: safe}}
pools:
  small: {{model: tiny, health: {{path: none}}, replicas: [{{url: "http://127.0.0.1:{small_port}/v1"}}]}}
  large: {{model: big, replicas: [{{url: "http://127.0.0.1:{port}/v1"}}]}}
steps:
  safe: {{try: [small, large]}}
"""
    await yard.gateway(text)
    long = chat("word " * 200)
    assert (await yard.ask(body=long)).headers["x-stellwerk-pool"] == "large"
    assert len(small.bodies) == 1
    assert (await yard.ask(body=long)).headers["x-stellwerk-pool"] == "large"
    assert len(small.bodies) == 1, "the second long prompt was sent to the small pool again"
    assert (await yard.ask()).headers["x-stellwerk-pool"] == "small"


async def test_an_error_that_repeats_the_callers_words_teaches_nothing(yard: Yard) -> None:
    async def picky(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        value = json.loads(await reader.readexactly(length))
        body = json.dumps({"error": {"message": f"bad input: {value['messages'][0]['content']}"}}).encode()
        writer.write(
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%b" % (len(body), body)
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(picky, "127.0.0.1", 0)
    async with server:
        text = policy(server.sockets[0].getsockname()[1]).replace("{every: 50ms, timeout: 500ms}", "{path: none}")
        gateway = await yard.gateway(text)
        words = "This model's maximum context length is 3 tokens"
        for body in (
            chat(words),
            json.dumps(chat(words)).replace("c", "\\u0063").replace("\\u0063ontent", "content").encode(),
        ):
            assert (await yard.ask(body=body)).status == 400
            assert gateway.deployment.pools["small"].learned_window is None


@pytest.mark.parametrize("status", [302, 999])
async def test_an_engine_that_sends_elsewhere_or_answers_no_status_has_failed(yard: Yard, status: int) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port, pool=DEADLINES))
    engine.faults.append(parse_fault(f"status:{status}"))
    answer = await yard.ask()
    assert (answer.status, answer.json()["error"]["code"]) == (502, "bad_answer")


async def test_an_endpoint_that_is_no_engine_is_found_out(yard: Yard) -> None:
    async def web_page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 15\r\n\r\n<html>hi</html>")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(web_page, "127.0.0.1", 0)
    async with server:
        gateway = await yard.gateway(policy(server.sockets[0].getsockname()[1]))
        replica = gateway.deployment.pools["small"].replicas[0]
        assert (await yard.get("/ready")).status == 503  # nothing has answered yet
        await until(lambda: replica.state == "down")
        assert "no engine" in replica.reason
        answer = await yard.ask()
        assert answer.status == 503
        assert int(answer.headers["retry-after"]) >= 1
        assert (await yard.get("/ready")).status == 503


async def test_failures_in_a_row_eject_a_replica_and_one_trial_brings_it_back(yard: Yard) -> None:
    engine, port = await yard.engine()
    pool = "    retries: 0\n"
    text = policy(port, pool=pool).replace(
        "{every: 50ms, timeout: 500ms}", "{path: none, fails: 3, eject: 200ms, slow_start: 100ms}"
    )
    gateway = await yard.gateway(text)
    replica = gateway.deployment.pools["small"].replicas[0]
    engine.faults.extend([Fault("status", 500)] * 3)
    for _ in range(3):
        assert (await yard.ask()).status == 500
    assert (replica.state, replica.slots) == ("ejected", 0)
    assert (await yard.ask()).status == 503
    await until(lambda: replica.state == "trial")
    assert replica.slots == 1
    assert (await yard.ask()).status == 200
    assert replica.state == "up"
    await until(lambda: replica.slots == 16)


async def test_a_dead_replica_does_not_delay_the_others(yard: Yard) -> None:
    dead, dead_port = await yard.engine()
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(dead_port, port))
    await dead.stop()
    answers = await asyncio.gather(*[yard.ask(body=chat(f"{number}")) for number in range(20)])
    assert [answer.status for answer in answers] == [200] * 20
    await until(lambda: gateway.deployment.pools["small"].ready == 1)


async def test_an_idle_connection_that_the_engine_has_closed_costs_no_answer(yard: Yard) -> None:
    body = b'{"choices": []}'
    answer = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
    connections = 0

    async def once_per_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readuntil(b"}]}")
        writer.write(answer)
        # The second request of a connection meets an engine that has just closed it.
        await reader.readuntil(b"}]}")
        writer.close()

    server = await asyncio.start_server(once_per_connection, "127.0.0.1", 0)
    async with server:
        text = policy(server.sockets[0].getsockname()[1], pool="    retries: 0")
        gateway = await yard.gateway(text.replace("{every: 50ms, timeout: 500ms}", "{path: none}"))
        assert [(await yard.ask()).status for _ in range(4)] == [200] * 4
        assert gateway.counters.pool("small").failures == {}
        assert connections == 4
        await gateway.stop(0)


async def test_slow_readers_hold_the_engine_back_and_not_the_memory(yard: Yard) -> None:
    settings = SimulatedSettings(model="tiny", ttft_s=0.001, rate=200_000, answer_tokens=60_000, context_window=10**6)
    engine, port = await yard.engine(settings)
    gateway = await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    wire.writer.transport.pause_reading()  # type: ignore[attr-defined]
    await wire.send(request("/v1/chat/completions", chat(stream=True, max_tokens=60_000, ignore_eos=True)))
    await until(lambda: any(connection.paused for connection in gateway.server.connections))
    made = -1
    while made != engine.tokens_made:
        made = engine.tokens_made
        await asyncio.sleep(0.2)
    assert made < 60_000, "everything was produced although nobody read"
    wire.writer.transport.resume_reading()  # type: ignore[attr-defined]
    answer = await wire.answer()
    assert answer.events[-1] == "[DONE]"
    assert sum('"content": " ' in event for event in answer.events) == 59_999
    await wire.close()


async def test_usage_is_counted_once_whatever_was_tried(yard: Yard) -> None:
    bad, bad_port = await yard.engine()
    good, good_port = await yard.engine()
    gateway = await yard.gateway(policy(bad_port, good_port))
    one_of_them_fails(Fault("error_event"), bad, good)
    answer = await yard.ask(body=chat(max_tokens=3))
    usage = answer.json()["usage"]
    counters = gateway.counters.pool("small")
    assert (counters.input_tokens, counters.output_tokens) == (usage["prompt_tokens"], usage["completion_tokens"])


async def test_a_fault_of_the_gateway_itself_is_an_answer_and_a_line_in_the_log(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))

    def broken(*_: object) -> object:
        raise RuntimeError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr("stellwerk.serving.gateway.exchange.decide", broken)
        answer = await yard.ask()
    assert answer.status == 500
    assert answer.json()["error"]["code"] == "internal_error"
    assert gateway.counters.refused["internal_error"] >= 1
    assert (await yard.ask()).status == 200
