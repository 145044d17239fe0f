"""Taking a machine out of a cluster leaves nothing of it there and everything else as it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from engine.remote.fakenode import Agent, FakeNode
from engine.remote.people import Person
from stellwerk.model.errors import Busy, ConnectionFailed
from stellwerk.remote import LinkState, NodeLink, unpair

Nodes = Callable[..., Awaitable[FakeNode]]
Links = Callable[..., NodeLink]


async def uninstall(agent: Agent, request: dict[str, Any]) -> Any:
    return {"removed": ["/somewhere/state"]}


def tree(home: Path) -> dict[str, bytes | None]:
    return {str(p.relative_to(home)): p.read_bytes() if p.is_file() else None for p in sorted(home.rglob("*"))}


@pytest.mark.parametrize(
    "before",
    [None, b"", b"# mine\nssh-ed25519 AAAA me\n", b"no newline at the end", b"\xff\xfe binary\r\nssh-rsa B x\r\n\n\n"],
)
async def test_the_home_is_as_it_was_byte_for_byte(
    nodes: Nodes, links: Links, person: Person, before: bytes | None
) -> None:
    node = await nodes(methods={"uninstall": uninstall})
    if before is not None:
        (node.home / ".ssh").mkdir(mode=0o700)
        (node.home / ".ssh" / "authorized_keys").write_bytes(before)
    was = tree(node.home)
    link = links(node)
    await link.pair(person)
    assert tree(node.home) != was
    report = await unpair(link)
    assert tree(node.home) == was
    assert "/somewhere/state" in report.removed
    assert report.left == ()
    assert link.state is LinkState.CLOSED
    assert link.desktop.trust.keys("127.0.0.1", node.port) == ()


async def test_a_key_that_was_there_before_pairing_twice_is_removed_once(
    nodes: Nodes, links: Links, person: Person
) -> None:
    node = await nodes(methods={"uninstall": uninstall})
    link = links(node)
    await link.pair(person)
    await link.close()
    again = links(node)
    await again.connect()
    await unpair(again)
    assert tree(node.home) == {}


async def test_what_the_agent_cannot_remove_is_removed_without_it(nodes: Nodes, links: Links, person: Person) -> None:
    async def dies(agent: Agent, request: dict[str, Any]) -> Any:
        agent.process.exit(1)

    node = await nodes(methods={"uninstall": dies})
    link = links(node)
    await link.pair(person)
    (node.home / ".local/state/stellwerk").mkdir(parents=True)
    await unpair(link)
    assert tree(node.home) == {}


async def test_what_the_agent_had_to_leave_is_reported(nodes: Nodes, links: Links, person: Person) -> None:
    async def needs_root(agent: Agent, request: dict[str, Any]) -> Any:
        return {"removed": [], "left": [{"path": "/var/lib/stellwerk", "why": "needs the sudo password"}]}

    node = await nodes(methods={"uninstall": needs_root})
    link = links(node)
    await link.pair(person)
    assert (await unpair(link)).left == ("/var/lib/stellwerk: needs the sudo password",)


async def test_nothing_is_taken_from_under_another_desktop(nodes: Nodes, links: Links, person: Person) -> None:
    async def held(agent: Agent, request: dict[str, Any]) -> Any:
        raise Busy("desk-2 works with this machine")

    node = await nodes(methods={"uninstall": held})
    link = links(node)
    await link.pair(person)
    was = tree(node.home)
    with pytest.raises(Busy, match="desk-2"):
        await unpair(link)
    assert tree(node.home) == was
    assert link.desktop.trust.keys("127.0.0.1", node.port) != ()


async def test_a_link_that_is_not_connected_connects_for_it(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(methods={"uninstall": uninstall})
    link = links(node)
    await link.pair(person)
    await link.close()
    fresh = links(node)
    await unpair(fresh)
    assert tree(node.home) == {}


async def test_a_machine_that_is_gone_is_forgotten_only_on_request(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    link = links(node)
    await link.pair(person)
    await link.close()
    await node.stop()
    fresh = links(node)
    with pytest.raises(ConnectionFailed):
        await unpair(fresh)
    assert link.desktop.trust.keys("127.0.0.1", node.port) != ()
    report = await unpair(fresh, forget_unreachable=True)
    assert "not reached" in report.left[0]
    assert link.desktop.trust.keys("127.0.0.1", node.port) == ()
