"""Whoever connects to the ports of a set-up without being one of the ranks, and ranks that do not fit together."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from stellwerk.collectives import admission
from stellwerk.collectives.errors import SetupFailed
from stellwerk.collectives.mesh import Mesh, close_all
from stellwerk.collectives.rendezvous import TcpRendezvous

TOKEN = b"a secret"
STRANGERS = admission.PENDING_MAX + 6


@pytest.fixture(autouse=True)
def nobody_is_dropped_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "HANDSHAKE_S", 3600.0)


@pytest.fixture
def strangers() -> Iterator[Callable[[Any], list[socket.socket]]]:
    with ExitStack() as stack:
        yield lambda address: [
            stack.enter_context(socket.create_connection(tuple(address)[:2])) for _ in range(STRANGERS)
        ]


def heard(sock: socket.socket) -> int:
    """Bytes until the end of the connection: no more than the challenge."""
    sock.settimeout(10.0)
    return sum(len(part) for part in iter(lambda: sock.recv(1 << 10), b""))


def meet(numbers: list[tuple[int, int]], listener: socket.socket, seconds: float = 30.0) -> list[Any]:
    """What each rank (number, number of ranks) gets from one exchange, or why it gets nothing."""

    def one(rank: int, ranks: int) -> Any:
        deadline = time.monotonic() + seconds
        given = listener if rank == 0 else None
        try:
            meeting = TcpRendezvous(rank, ranks, listener.getsockname()[:2], TOKEN, deadline, given)
        except SetupFailed as error:
            return str(error)
        try:
            return meeting.exchange(rank * 10, deadline)
        except SetupFailed as error:
            return str(error)
        finally:
            meeting.close()

    with ThreadPoolExecutor(len(numbers)) as pool:
        return [done.result() for done in [pool.submit(one, *number) for number in numbers]]


def test_silent_strangers_keep_no_rank_from_the_rendezvous(strangers: Any) -> None:
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    idle = strangers(listener.getsockname())
    assert meet([(0, 3), (1, 3), (2, 3)], listener) == [[0, 10, 20]] * 3
    assert all(heard(sock) in (0, 32) for sock in idle)  # dropped before its challenge went out, or after


def test_silent_strangers_keep_no_pair_of_ranks_apart(strangers: Any) -> None:
    meshes = [Mesh(rank, 2, "group", TOKEN, "127.0.0.1", {}, str) for rank in range(2)]
    idle = strangers(meshes[0].advertised[1])
    where = [mesh.advertised for mesh in meshes]
    with ThreadPoolExecutor(2) as pool:
        calls = [pool.submit(mesh.connect, where, "data", time.monotonic() + 30.0) for mesh in meshes]
        for call in calls:
            sockets, failures = call.result()
            assert not failures
            close_all(sockets)
    for mesh in meshes:
        mesh.close()
    assert all(heard(sock) in (0, 32) for sock in idle)  # dropped before its challenge went out, or after
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("stellwerk-a")]


def test_bytes_that_mean_nothing_are_cut_off_and_counted() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(listener.getsockname()) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\nHost: spark-1\r\nUser-Agent: a scanner of ports\r\n\r\n")
        (why,) = meet([(0, 2)], listener, seconds=0.5)
    assert why == "rank 1 did not come in time (1 callers with a wrong token were refused)"


@pytest.mark.parametrize(
    ("numbers", "why"),
    [
        ([(0, 3), (1, 3), (1, 3)], "two processes say that they are rank 1"),
        ([(0, 3), (2, 4)], "rank 2 expects 4 ranks, rank 0 expects 3"),
    ],
)
def test_a_rank_that_does_not_fit_in_is_told_so_like_all_others(numbers: list[tuple[int, int]], why: str) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    for answer in meet(numbers, listener):
        assert answer == why
