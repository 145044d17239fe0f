"""A desktop in a temporary directory, machines to pair with, and a person who answers as the test says."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from engine.remote.fakenode import USER, FakeNode
from engine.remote.people import Person
from stellwerk.remote import (
    ClusterKey,
    Deadlines,
    Desktop,
    NodeLink,
    Target,
    TrustStore,
    UserIdentity,
    build_agent,
)

# Long enough for a busy test machine, short enough that a test of a silent server does not take long.
DEADLINES = Deadlines(reconnect_first_s=0.01, reconnect_max_s=0.05, close_s=2.0)


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    folder = tmp_path / "desktop"
    return Desktop(
        trust=TrustStore(folder / "known_hosts"),
        key=ClusterKey.load_or_create(folder / "keys" / "cluster"),
        agent=build_agent(),
        name="tests",
        identity=UserIdentity(),
        deadlines=DEADLINES,
    )


@pytest.fixture
async def nodes(tmp_path: Path) -> AsyncIterator[Callable[..., Awaitable[FakeNode]]]:
    """Makes and starts nodes; all are stopped at the end, and no task may be left."""
    started: list[FakeNode] = []

    async def make(**switches: object) -> FakeNode:
        home = tmp_path / f"node-{len(started)}" / "home"
        home.mkdir(parents=True)
        home.chmod(0o755)
        node = FakeNode(home, **{"password": "geheim", **switches})
        await node.start()
        started.append(node)
        return node

    yield make
    for node in started:
        await node.stop()


@pytest.fixture
async def links(desktop: Desktop) -> AsyncIterator[Callable[..., NodeLink]]:
    """Makes links; all are closed at the end, and then no task of theirs may be left."""
    made: list[NodeLink] = []

    def make(node: FakeNode, name: str = "spark-1", jump: tuple[Target, ...] = ()) -> NodeLink:
        target = Target("127.0.0.1", node.port, USER, name, jump=jump)
        link = NodeLink(name, target, desktop)
        made.append(link)
        return link

    yield make
    for link in made:
        await link.close()
    left = [task.get_name() for task in asyncio.all_tasks() if task.get_name().startswith(("link", "opening", "agent"))]
    assert left == []


@pytest.fixture
def person() -> Person:
    return Person(passwords=["geheim"])


@pytest.fixture
async def silent_port() -> AsyncIterator[Callable[..., Awaitable[int]]]:
    """Ports on which something listens that is no SSH server."""
    async with contextlib.AsyncExitStack() as stack:

        async def listen(greeting: bytes = b"", hang_up: bool = False) -> int:
            release = asyncio.Event()

            async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                writer.write(greeting)
                if not hang_up:
                    await release.wait()
                writer.close()

            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            stack.push_async_callback(server.wait_closed)
            stack.callback(server.close)
            stack.callback(release.set)
            return int(server.sockets[0].getsockname()[1])

        yield listen
