"""The RPC client against a scripted agent at the other end of a pipe."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from stellwerk import wire
from stellwerk.model.errors import BadInput, Busy, ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.guard import GuardState, GuardStatus
from stellwerk.remote.rpc import RpcClient


class ScriptedAgent:
    """The far end: what the client wrote comes out of `received`, what is sent goes to the client."""

    def __init__(self) -> None:
        self.received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._to_client: asyncio.Queue[bytes] = asyncio.Queue()
        self.broken = False

    async def read(self, size: int) -> bytes:
        return await self._to_client.get()

    def write(self, data: bytes) -> None:
        if self.broken:
            raise BrokenPipeError("broken")
        for line in data.splitlines():
            self.received.put_nowait(json.loads(line))

    async def drain(self) -> None:
        return None

    def send(self, message: dict[str, Any]) -> None:
        self._to_client.put_nowait(wire.encode(message))

    def send_raw(self, data: bytes) -> None:
        self._to_client.put_nowait(data)

    async def answer(self, make: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
        request = await self.received.get()
        self.send(make(request))
        return request


class Running:
    """A client whose reading loop runs."""

    def __init__(self) -> None:
        self.agent = ScriptedAgent()
        self.client = RpcClient(self.agent, "spark-1")
        self.loop = asyncio.create_task(self.client.run())


@pytest.fixture
async def running() -> AsyncIterator[Running]:
    running = Running()
    yield running
    running.loop.cancel()
    await asyncio.gather(running.loop, return_exceptions=True)


async def test_a_call_gives_the_result_as_the_named_class(running: Running) -> None:
    call = asyncio.create_task(running.client.call("net.guard.status", cls=GuardStatus, deadline_s=5))
    request = await running.agent.answer(lambda r: wire.result(r["id"], {"state": "idle", "unknown": 1}))
    assert request["method"] == "net.guard.status"
    assert request["params"] == {"deadline_s": 5}
    assert await call == GuardStatus(GuardState.IDLE)


async def test_answers_may_come_in_any_order_and_in_pieces(running: Running) -> None:
    first = asyncio.create_task(running.client.call("a", deadline_s=5))
    second = asyncio.create_task(running.client.call("b", deadline_s=5))
    one, two = await running.agent.received.get(), await running.agent.received.get()
    data = wire.encode(wire.result(two["id"], "second")) + wire.encode(wire.result(one["id"], "first"))
    for position in range(0, len(data), 7):
        running.agent.send_raw(data[position : position + 7])
    assert [await first, await second] == ["first", "second"]


async def test_an_error_of_the_agent_keeps_its_class_and_gets_the_node(running: Running) -> None:
    call = asyncio.create_task(running.client.call("lock.take", deadline_s=5))
    await running.agent.answer(lambda r: wire.error_to_wire(r["id"], Busy("held", remedy="wait")))
    with pytest.raises(Busy, match="held") as caught:
        await call
    assert caught.value.node == "spark-1"


async def test_progress_reaches_its_own_call_only(running: Running) -> None:
    seen: list[Any] = []
    call = asyncio.create_task(running.client.call("hear", deadline_s=5, on_progress=seen.append))
    request = await running.agent.received.get()
    running.agent.send(wire.notification("progress", {"id": request["id"], "data": 1}))
    running.agent.send(wire.notification("progress", {"id": 999, "data": 2}))
    running.agent.send(wire.result(request["id"], None))
    await call
    assert seen == [1]


async def test_an_error_in_a_progress_callback_does_not_end_the_conversation(running: Running) -> None:
    def broken(data: Any) -> None:
        raise ZeroDivisionError

    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
    call = asyncio.create_task(running.client.call("hear", deadline_s=5, on_progress=broken))
    request = await running.agent.received.get()
    running.agent.send(wire.notification("progress", {"id": request["id"], "data": 1}))
    running.agent.send(wire.result(request["id"], "done"))
    assert await call == "done"
    assert isinstance(reported[0]["exception"], ZeroDivisionError)


async def test_cancelling_the_task_cancels_the_call_on_the_node(running: Running) -> None:
    call = asyncio.create_task(running.client.call("hear", deadline_s=60))
    request = await running.agent.received.get()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    cancel = await running.agent.received.get()
    assert (cancel["method"], cancel["params"]) == ("cancel", {"id": request["id"]})
    running.agent.send(wire.result(request["id"], "too late"))
    later = asyncio.create_task(running.client.call("hello", deadline_s=5))
    await running.agent.answer(lambda r: wire.result(r["id"], "fine"))
    assert await later == "fine"


async def test_the_deadline_ends_the_call_on_both_sides(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stellwerk.remote.rpc._GRACE_S", 0.0)
    with pytest.raises(DeadlineExceeded, match="spark-1"):
        await running.client.call("hear", deadline_s=0.01)
    await running.agent.received.get()
    assert (await running.agent.received.get())["method"] == "cancel"


async def test_the_end_of_the_connection_fails_every_pending_call_naming_the_node(running: Running) -> None:
    calls = [asyncio.create_task(running.client.call("facts", deadline_s=60)) for _ in range(3)]
    for _ in calls:
        await running.agent.received.get()
    running.agent.send_raw(b"")
    for call in calls:
        with pytest.raises(ConnectionFailed, match="spark-1"):
            await call
    assert isinstance(await running.loop, ConnectionFailed)
    with pytest.raises(ConnectionFailed):
        await running.client.call("facts", deadline_s=60)


@pytest.mark.parametrize("garbage", [b"Traceback (most recent call last):\n", b"[1]\n", b"\xff\xfe\n"])
async def test_garbage_ends_the_connection_with_a_reason(running: Running, garbage: bytes) -> None:
    running.agent.send_raw(garbage)
    reason = await running.loop
    assert isinstance(reason, ConnectionFailed)
    assert "JSON" in str(reason)


async def test_an_endless_line_is_not_collected_for_ever(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_LINE_BYTES", 1000)
    running.agent.send_raw(b"x" * 2000)
    assert "more than 1000 bytes" in str(await running.loop)


async def test_a_broken_pipe_while_writing_is_a_lost_connection(running: Running) -> None:
    running.agent.broken = True
    with pytest.raises(ConnectionFailed, match="spark-1"):
        await running.client.call("facts", deadline_s=5)


async def test_an_answer_of_another_form_is_named(running: Running) -> None:
    call = asyncio.create_task(running.client.call("x", cls=GuardStatus, deadline_s=5))
    await running.agent.answer(lambda r: wire.result(r["id"], {"state": 7}))
    with pytest.raises(StellwerkError, match="another form"):
        await call


async def test_a_slow_reader_loses_the_oldest_notifications_and_knows_how_many(running: Running) -> None:
    inbox = running.client.open_inbox("sample", 3)
    for number in range(5):
        running.agent.send(wire.notification("sample", {"n": number}))
    running.agent.send_raw(b"")
    await running.loop
    got = [await inbox.get() for _ in range(3)]
    assert got == [{"n": 3}, {"n": 4}, None]
    assert inbox.dropped == 3


async def test_a_method_that_the_agent_does_not_know_is_an_error_for_people(running: Running) -> None:
    call = asyncio.create_task(running.client.call("nope", deadline_s=5))
    await running.agent.answer(lambda r: wire.failure(r["id"], wire.METHOD_NOT_FOUND, "no such method"))
    with pytest.raises(StellwerkError, match="no such method") as caught:
        await call
    assert not isinstance(caught.value, BadInput)
