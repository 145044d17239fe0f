"""A link that stands: calls, cancel, samples; a lost connection and how it comes back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import asyncssh
import pytest

from engine.remote.fakenode import Agent, FakeNode
from engine.remote.people import Person, Watcher
from stellwerk.model.errors import AgentRefused, ConnectionFailed, DeadlineExceeded, LoginFailed
from stellwerk.model.sample import Sample
from stellwerk.remote import HostKeyAlarmError, LinkState, NodeLink

Nodes = Callable[..., Awaitable[FakeNode]]
Links = Callable[..., NodeLink]


@pytest.fixture
async def node(nodes: Nodes) -> FakeNode:
    return await nodes()


@pytest.fixture
async def link(node: FakeNode, links: Links, person: Person) -> NodeLink:
    link = links(node)
    await link.pair(person)
    return link


async def test_a_call_with_progress(node: FakeNode, link: NodeLink) -> None:
    async def hear(agent: Agent, request: dict[str, Any]) -> Any:
        agent.progress(request, "half")
        return {"heard": request["params"]["seconds"]}

    node.methods["hear"] = hear
    seen: list[Any] = []
    assert await link.call("hear", {"seconds": 3}, on_progress=seen.append) == {"heard": 3}
    assert seen == ["half"]


async def test_cancelling_a_call_ends_it_on_the_node(node: FakeNode, link: NodeLink) -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def hear(agent: Agent, request: dict[str, Any]) -> Any:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    node.methods["hear"] = hear
    call = asyncio.create_task(link.call("hear"))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    async with asyncio.timeout(10):
        await ended.wait()


async def test_calls_without_a_connection_fail_at_once_and_name_the_node(nodes: Nodes, links: Links) -> None:
    link = links(await nodes())
    with pytest.raises(ConnectionFailed, match="spark-1"):
        await link.call("facts")


async def test_a_dropped_connection_fails_the_calls_and_comes_back_by_itself(node: FakeNode, link: NodeLink) -> None:
    started = asyncio.Event()

    async def wait(agent: Agent, request: dict[str, Any]) -> Any:
        started.set()
        await asyncio.Event().wait()

    node.methods["wait"] = wait
    watcher = Watcher(link)
    call = asyncio.create_task(link.call("wait"))
    await started.wait()
    await node.drop()
    with pytest.raises(ConnectionFailed, match="spark-1"):
        await call
    await watcher.until(LinkState.READY)
    assert watcher.states == [LinkState.RECONNECTING, LinkState.READY]
    assert (await link.call("hello"))["hostname"] == "spark-1"


async def test_while_a_machine_is_off_every_attempt_is_visible_with_its_reason(node: FakeNode, link: NodeLink) -> None:
    watcher = Watcher(link)
    await node.stop()
    await watcher.until(LinkState.RECONNECTING)
    async with asyncio.timeout(20):
        while not any("attempt 3" in reason and "refuses connections" in reason for reason in watcher.reasons):
            watcher._changed.clear()
            await watcher._changed.wait()
    with pytest.raises(ConnectionFailed, match="reconnecting"):
        await link.call("hello")
    await node.start()
    await link.ready(20)
    assert link.error is None


async def test_an_agent_that_ends_is_started_again(node: FakeNode, link: NodeLink) -> None:
    watcher = Watcher(link)
    node.agents[0].process.exit(1)
    await watcher.until(LinkState.RECONNECTING)
    await watcher.until(LinkState.READY)
    assert len(node.agents) == 1


async def test_a_host_key_that_changes_meanwhile_stops_the_link_with_an_alarm(node: FakeNode, link: NodeLink) -> None:
    watcher = Watcher(link)
    await node.stop()
    node.host_keys = [asyncssh.generate_private_key("ssh-ed25519")]
    await node.start()
    await watcher.until(LinkState.NEEDS_ATTENTION)
    with pytest.raises(HostKeyAlarmError):
        await link.ready(1)


async def test_a_key_that_is_no_longer_accepted_stops_the_link_after_some_tries(node: FakeNode, link: NodeLink) -> None:
    watcher = Watcher(link)
    (node.home / ".ssh" / "authorized_keys").unlink()
    await node.drop()
    await watcher.until(LinkState.NEEDS_ATTENTION)
    assert isinstance(link.error, LoginFailed)
    assert sum("attempt" in reason for reason in watcher.reasons) > 1


async def test_an_agent_that_is_refused_for_a_moment_is_tried_again(node: FakeNode, link: NodeLink) -> None:
    watcher = Watcher(link)
    node.agent_stderr = "booting"
    await node.drop()
    async with asyncio.timeout(20):
        while not isinstance(link.error, AgentRefused):
            watcher._changed.clear()
            await watcher._changed.wait()
    node.agent_stderr = ""
    await watcher.until(LinkState.READY)


async def test_an_agent_that_dies_again_and_again_is_started_less_and_less_often(
    node: FakeNode, link: NodeLink, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    enough = asyncio.Event()

    async def pause(pause_s: float, attempt: int, why: Exception) -> None:
        pauses.append(pause_s)
        if len(pauses) == 4:
            enough.set()

    def end_agent(state: LinkState, reason: str) -> None:
        if state is LinkState.READY and not enough.is_set():
            node.agents[-1].process.exit(1)

    monkeypatch.setattr(link, "_pause", pause)
    link.on_state(end_agent)
    node.agents[0].process.exit(1)
    async with asyncio.timeout(20):
        await enough.wait()
    # 10 ms, doubled each time, up to 50 ms; each spread by a fifth.
    assert pauses[0] < pauses[1] < pauses[2]
    assert 0.04 <= pauses[3] <= 0.06


async def test_ready_gives_up_in_time(nodes: Nodes, links: Links) -> None:
    link = links(await nodes())
    with pytest.raises(DeadlineExceeded, match="spark-1"):
        await link.ready(0.01)


async def test_closing_while_reconnecting_ends_everything(node: FakeNode, link: NodeLink) -> None:
    watcher = Watcher(link)
    await node.stop()
    await watcher.until(LinkState.RECONNECTING)
    await link.close()
    assert link.state is LinkState.CLOSED
    with pytest.raises(ConnectionFailed):
        await link.call("hello")


def sample(sequence: int, monotonic_ns: int, boot_id: str = "boot") -> dict[str, Any]:
    return {"sequence": sequence, "monotonic_ns": monotonic_ns, "wall_s": 0.0, "boot_id": boot_id}


class Sampler:
    """The sampling half of an agent: numbers come when the test says so."""

    def __init__(self, node: FakeNode) -> None:
        self.node = node
        self.rates: list[float] = []
        self.kept: list[dict[str, Any]] = []
        self.unsubscribed = asyncio.Event()
        self.subscribed = asyncio.Event()
        node.methods["sample.subscribe"] = self._subscribe
        node.methods["sample.unsubscribe"] = self._unsubscribe
        node.methods["sample.history"] = self._history

    async def _subscribe(self, agent: Agent, request: dict[str, Any]) -> Any:
        self.rates.append(request["params"]["rate_hz"])
        self.subscribed.set()
        return {"rate_hz": request["params"]["rate_hz"]}

    async def _unsubscribe(self, agent: Agent, request: dict[str, Any]) -> Any:
        self.unsubscribed.set()
        return {}

    async def _history(self, agent: Agent, request: dict[str, Any]) -> Any:
        after = request["params"]["after_sequence"]
        return {"samples": [item for item in self.kept if item["sequence"] > after]}

    def emit(self, item: dict[str, Any]) -> None:
        self.kept.append(item)
        for agent in self.node.agents:
            with contextlib.suppress(BrokenPipeError):  # its desktop was cut off a moment ago
                agent.notify("sample", item)


async def test_samples_go_on_after_a_lost_connection_without_hole_or_repetition(node: FakeNode, link: NodeLink) -> None:
    sampler = Sampler(node)
    async with contextlib.aclosing(link.subscribe(2.0)) as samples:
        first = asyncio.create_task(anext(samples))
        await sampler.subscribed.wait()
        sampler.emit(sample(1, 100))
        assert (await first).sequence == 1
        sampler.subscribed.clear()
        await node.drop()
        sampler.emit(sample(2, 200))
        second = asyncio.create_task(anext(samples))
        await sampler.subscribed.wait()
        sampler.emit(sample(3, 300))
        got: list[Sample] = [await second, await anext(samples)]
        assert [item.sequence for item in got] == [2, 3]
    await sampler.unsubscribed.wait()


async def test_samples_of_a_rebooted_machine_start_from_its_beginning(node: FakeNode, link: NodeLink) -> None:
    sampler = Sampler(node)
    async with contextlib.aclosing(link.subscribe()) as samples:
        first = asyncio.create_task(anext(samples))
        await sampler.subscribed.wait()
        sampler.emit(sample(1000, 10**12))
        await first
        node.hello = {"pid": 2, "boot_id": "second"}
        sampler.kept.clear()
        await node.drop()
        sampler.emit(sample(1, 5, "second"))
        assert (await anext(samples)).boot_id == "second"


async def test_the_agent_sends_at_the_highest_rate_that_is_wanted(node: FakeNode, link: NodeLink) -> None:
    sampler = Sampler(node)
    async with contextlib.aclosing(link.subscribe(1.0)) as slow:
        one = asyncio.create_task(anext(slow))
        await sampler.subscribed.wait()
        async with contextlib.aclosing(link.subscribe(10.0)) as fast:
            sampler.subscribed.clear()
            two = asyncio.create_task(anext(fast))
            await sampler.subscribed.wait()
            sampler.emit(sample(1, 1))
            await asyncio.gather(one, two)
        assert sampler.rates == [1.0, 10.0, 1.0]


async def test_the_stream_ends_when_the_link_is_closed(node: FakeNode, link: NodeLink) -> None:
    sampler = Sampler(node)
    samples = link.subscribe()
    reading = asyncio.create_task(anext(samples, None))
    await sampler.subscribed.wait()
    await link.close()
    assert await reading is None
