"""What is put on a node: python3 looked at, the agent sent once, every obstacle named."""

from __future__ import annotations

import errno
import stat
from collections.abc import Awaitable, Callable

import pytest

from engine.remote.fakenode import FakeNode, FullDisk
from engine.remote.people import Person
from stellwerk.model.errors import AgentRefused
from stellwerk.remote import LinkState, NodeLink

Nodes = Callable[..., Awaitable[FakeNode]]
Links = Callable[..., NodeLink]
SHARE = ".local/share/stellwerk"


async def test_the_agent_lies_under_its_hash_and_is_not_sent_twice(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    link = links(node)
    await link.pair(person)
    agent = link.desktop.agent
    path = node.home / SHARE / agent.file_name
    assert path.read_bytes() == agent.data
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == [agent.file_name]
    stamp = path.stat().st_mtime_ns
    await link.close()
    again = links(node)
    await again.connect()
    assert path.stat().st_mtime_ns == stamp


async def test_a_damaged_agent_is_sent_again(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes()
    link = links(node)
    path = node.home / SHARE / link.desktop.agent.file_name
    path.parent.mkdir(parents=True)
    path.write_bytes(b"damaged")
    await link.pair(person)
    assert path.read_bytes() == link.desktop.agent.data


@pytest.mark.parametrize("good", [True, False])
async def test_an_interrupted_upload_goes_on_where_it_stopped_if_it_was_ours(
    nodes: Nodes, links: Links, person: Person, good: bool
) -> None:
    node = await nodes()
    link = links(node)
    data = link.desktop.agent.data
    half = data[: len(data) // 2] if good else b"x" * (len(data) // 2)
    partial = node.home / SHARE / f"{link.desktop.agent.file_name}.part"
    partial.parent.mkdir(parents=True)
    partial.write_bytes(half)
    seen: list[str] = []
    link.on_state(lambda state, reason: seen.append(reason))
    await link.pair(person)
    assert (node.home / SHARE / link.desktop.agent.file_name).read_bytes() == data
    assert not partial.exists()
    first_percent = next(int(reason.split(",")[1].split()[0]) for reason in seen if "sending" in reason)
    assert first_percent >= 50


@pytest.mark.parametrize("sftp", ["off", "elsewhere"])
async def test_without_a_usable_sftp_the_agent_arrives_through_python(
    nodes: Nodes, links: Links, person: Person, sftp: str
) -> None:
    node = await nodes(sftp=sftp)
    link = links(node)
    await link.pair(person)
    assert (node.home / SHARE / link.desktop.agent.file_name).read_bytes() == link.desktop.agent.data


async def test_a_full_disk_is_named_and_no_half_file_stays(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(sftp=FullDisk, space_bytes=4096)
    link = links(node)
    with pytest.raises(AgentRefused, match="disk is full") as caught:
        await link.pair(person)
    assert caught.value.node == "spark-1"
    assert link.state is LinkState.NEEDS_ATTENTION
    assert list((node.home / SHARE).iterdir()) == []
    await node.stop()
    node.sftp, node.space_bytes = "home", None
    await node.start()
    await link.pair(person)
    assert link.state is LinkState.READY


@pytest.mark.parametrize(
    ("number", "cause"),
    [(errno.EROFS, "read-only"), (errno.EACCES, "may not write"), (errno.EDQUOT, "quota"), (errno.EIO, "Input/output")],
)
async def test_a_home_that_cannot_be_written_to_is_named_before_anything_is_changed(
    nodes: Nodes, links: Links, person: Person, number: int, cause: str
) -> None:
    node = await nodes(space_bytes=0, write_errno=number)
    with pytest.raises(AgentRefused, match=cause) as caught:
        await links(node).pair(person)
    assert "authorized_keys" in str(caught.value)
    assert caught.value.remedy
    assert node.authorized_keys() is None


async def test_no_python3_changes_nothing_and_says_what_to_install(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(python="missing")
    with pytest.raises(AgentRefused, match="no python3") as caught:
        await links(node).pair(person)
    assert "apt install python3" in caught.value.remedy
    assert list(node.home.iterdir()) == []


async def test_an_old_python3_is_named_with_its_version(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(python="old")
    with pytest.raises(AgentRefused, match=r"3\.8\.10") as caught:
        await links(node).pair(person)
    assert "3.10" in str(caught.value)
    assert list(node.home.iterdir()) == []


async def test_what_a_login_shell_prints_does_not_disturb(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(noise='Welcome!\n{"not": "ours"}\nno newline')
    link = links(node)
    # The agent's own first line begins a line only if the noise ended with one.
    node.noise += "\n"
    await link.pair(person)
    assert link.state is LinkState.READY


async def test_a_newer_agent_is_left_alone(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(agent_first_line={"stellwerk": "refused", "why": "newer", "version": "9.9"})
    with pytest.raises(AgentRefused, match=r"9\.9") as caught:
        await links(node).pair(person)
    assert "Update Stellwerk" in caught.value.remedy


async def test_a_newer_protocol_is_refused(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(hello={"protocol": 99, "agent_version": "9.9"})
    with pytest.raises(AgentRefused, match="newer agent"):
        await links(node).pair(person)


async def test_another_agent_than_the_one_started_is_not_used(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(hello={"agent_hash": "0" * 64})
    with pytest.raises(AgentRefused, match="another agent"):
        await links(node).pair(person)


async def test_an_agent_that_dies_at_start_is_quoted(nodes: Nodes, links: Links, person: Person) -> None:
    node = await nodes(agent_stderr="ImportError: \x1b[31mno module\x1b[0m\n")
    with pytest.raises(AgentRefused, match="ImportError") as caught:
        await links(node).pair(person)
    assert "\x1b" not in str(caught.value)


async def test_an_agent_that_refuses_for_another_reason_says_it(nodes: Nodes, links: Links, person: Person) -> None:
    line = {"stellwerk": "refused", "why": "failed", "message": "no space for the socket"}
    node = await nodes(agent_first_line=line)
    with pytest.raises(AgentRefused, match="no space for the socket"):
        await links(node).pair(person)
