"""Whatever a machine or the network does wrong: a message that names the machine, the cause and the remedy."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from engine.remote.fakenode import USER, FakeNode
from engine.remote.people import Person
from stellwerk.model.errors import ConnectionFailed, StellwerkError
from stellwerk.remote import Deadlines, Desktop, LinkState, NodeLink, Target

Nodes = Callable[..., Awaitable[FakeNode]]
Links = Callable[..., NodeLink]
SHORT = Deadlines(connect_s=0.3, login_s=0.3, command_s=0.5, attach_s=0.5, close_s=0.3)


async def failure(desktop: Desktop, host: str, port: int, **changes: object) -> StellwerkError:
    """The error of pairing with what listens there."""
    link = NodeLink("spark-1", Target(host, port, USER, "spark-1"), replace(desktop, **changes))
    with pytest.raises(StellwerkError) as caught:
        await link.pair(Person(passwords=["geheim"]))
    assert link.state is LinkState.NEEDS_ATTENTION
    assert link.reason == str(caught.value)
    assert caught.value.node == "spark-1"
    assert caught.value.remedy
    await link.close()
    return caught.value


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def test_a_closed_port_is_refused(desktop: Desktop) -> None:
    error = await failure(desktop, "127.0.0.1", free_port())
    assert isinstance(error, ConnectionFailed)
    assert "refuses connections" in str(error)


async def test_an_unknown_name_is_called_unknown(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_args: object, **_named: object) -> object:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    error = await failure(desktop, "no-such-machine.local", 22)
    assert "no-such-machine.local is not known" in str(error)
    assert "IP address" in error.remedy


async def test_a_machine_that_does_not_answer_at_all_is_given_up_in_time(
    desktop: Desktop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(*_args: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", never)
    error = await failure(desktop, "127.0.0.1", 22, deadlines=SHORT)
    assert "did not answer within 0.3 s" in str(error)


async def test_an_unreachable_network_is_named(desktop: Desktop, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreachable(*_args: object) -> None:
        raise OSError(113, "No route to host")

    monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", unreachable)
    error = await failure(desktop, "127.0.0.1", 22)
    assert "cannot be reached" in str(error)
    assert "No route to host" in str(error)


async def test_a_second_address_is_tried_when_the_first_does_not_answer(
    desktop: Desktop, nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = await nodes()
    loop = asyncio.get_running_loop()
    real = loop.sock_connect

    async def two(*_args: object, **_named: object) -> object:
        return [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.99", node.port)),
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", node.port)),
        ]

    async def first_hangs(sock: socket.socket, address: tuple[str, int]) -> None:
        if address[0] == "127.0.0.99":
            await asyncio.Event().wait()
        await real(sock, address)

    monkeypatch.setattr(loop, "getaddrinfo", two)
    monkeypatch.setattr(loop, "sock_connect", first_hangs)
    link = NodeLink("spark-1", Target("spark", node.port, USER, "spark-1"), desktop)
    await link.pair(Person(passwords=["geheim"]))
    assert link.state is LinkState.READY
    await link.close()


@pytest.mark.parametrize(
    "greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\x01\x02\x03" * 5000, b"220 ftp\r\n" * 2000]
)
async def test_something_else_than_ssh_is_recognised(
    desktop: Desktop, silent_port: Callable[..., Awaitable[int]], greeting: bytes
) -> None:
    error = await failure(desktop, "127.0.0.1", await silent_port(greeting), deadlines=SHORT)
    assert "SSH server" in str(error)
    assert "port" in error.remedy


async def test_a_listener_that_says_nothing_is_given_up_in_time(
    desktop: Desktop, silent_port: Callable[..., Awaitable[int]]
) -> None:
    error = await failure(desktop, "127.0.0.1", await silent_port(), deadlines=SHORT)
    assert "did not answer as an SSH server within 0.3 s" in str(error)


async def test_a_server_that_hangs_up_at_once_is_explained(
    desktop: Desktop, silent_port: Callable[..., Awaitable[int]]
) -> None:
    error = await failure(desktop, "127.0.0.1", await silent_port(hang_up=True))
    assert "closed the connection" in str(error)
    assert "no SSH server" in (error.why or "")
    assert "MaxStartups" in str(error)


@pytest.mark.parametrize("greeting", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"hello"])
async def test_a_server_that_says_something_else_and_hangs_up_is_no_ssh_server(
    desktop: Desktop, silent_port: Callable[..., Awaitable[int]], greeting: bytes
) -> None:
    error = await failure(desktop, "127.0.0.1", await silent_port(greeting, hang_up=True))
    assert "is not an SSH server" in str(error)
    assert greeting.split(b"\r")[0].decode() in (error.why or "")
    assert "port" in error.remedy


async def test_a_busy_ssh_server_that_hangs_up_with_words_is_one(
    desktop: Desktop, silent_port: Callable[..., Awaitable[int]]
) -> None:
    error = await failure(desktop, "127.0.0.1", await silent_port(b"Exceeded MaxStartups\r\n", hang_up=True))
    assert "closed the connection" in str(error)
    assert "may limit connections" in (error.why or "") and "no SSH server" not in (error.why or "")


async def test_a_jump_host_that_may_not_forward_is_named(nodes: Nodes, links: Links) -> None:
    gate, node = await nodes(), await nodes()
    link = links(node, jump=(Target("127.0.0.1", gate.port, USER, "gate"),))
    with pytest.raises(ConnectionFailed, match="jump host could not connect") as caught:
        await link.pair(Person(passwords=["geheim"]))
    assert "AllowTcpForwarding" in caught.value.remedy
