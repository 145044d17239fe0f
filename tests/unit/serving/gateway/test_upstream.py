"""Connections to engines: what is put back into the pool can be used again."""

from __future__ import annotations

import asyncio
import socket

import pytest

from stellwerk.serving.gateway.address import Address
from stellwerk.serving.gateway.http.response import ResponseHead
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.gateway.upstream import UpstreamConnection, close_idle, take_idle, why_unreachable
from stellwerk.serving.policy.model import Health


class Transport:
    def __init__(self) -> None:
        self.reading = True
        self.closed = False
        self.written = b""

    def get_extra_info(self, name: str) -> None:
        return None

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    abort = close

    def is_closing(self) -> bool:
        return self.closed


class Caller:
    def __init__(self, upstream: UpstreamConnection) -> None:
        self.upstream = upstream
        self.ends = 0
        self.lost: list[str] = []

    def response_head(self, head: ResponseHead, length: int | None) -> None:
        return None

    def response_data(self, payload: bytes, raw: bytes | None) -> None:
        self.upstream.pause()  # the client takes no more, with the very last bytes

    def response_whole(self, head: ResponseHead, body: bytes, reusable: bool, raw: bytes | None = None) -> None:
        self.response_end(reusable)

    def response_end(self, reusable: bool) -> None:
        self.ends += 1
        self.upstream.release(0.0, reusable=reusable)

    def upstream_lost(self, reason: str, *, answered: bool, reused: bool) -> None:
        self.lost.append(reason)


def made() -> tuple[UpstreamConnection, Transport, Replica]:
    replica = Replica("a", Address("h", 1, None, None, b"/v1", b""), 4, Health())
    upstream, transport = UpstreamConnection(replica), Transport()
    upstream.connection_made(transport)  # type: ignore[arg-type]
    return upstream, transport, replica


ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"


def test_a_connection_that_was_paused_at_the_end_reads_again_in_the_pool() -> None:
    upstream, transport, replica = made()
    caller = Caller(upstream)
    upstream.send(caller, b"head", b"body")
    upstream.data_received(ANSWER)
    assert caller.ends == 1
    assert transport.reading
    assert take_idle(replica) is upstream


async def test_requests_of_one_turn_go_out_together_at_its_end_without_those_that_nobody_wants_any_more() -> None:
    replica = Replica("a", Address("h", 1, None, None, b"/v1", b""), 4, Health())
    replica.running = 3
    pairs = [(UpstreamConnection(replica), Transport()) for _ in range(3)]
    for upstream, transport in pairs:
        upstream.connection_made(transport)  # type: ignore[arg-type]
        upstream.send(Caller(upstream), b"head", b"body")
    pairs[1][0].cut()
    assert [transport.written for _, transport in pairs] == [b"", b"", b""]
    await asyncio.sleep(0)
    assert [transport.written for _, transport in pairs] == [b"headbody", b"", b"headbody"]
    replica.running = 1
    upstream, transport = pairs[0]
    upstream.data_received(ANSWER)
    upstream.send(Caller(upstream), b"next", b"")
    assert transport.written == b"headbodynext"  # alone: nothing to wait for


def test_bytes_on_an_idle_connection_end_it() -> None:
    upstream, transport, replica = made()
    upstream.send(Caller(upstream), b"head", b"body")
    upstream.data_received(ANSWER)
    upstream.data_received(b"HTTP/1.1 200 OK\r\n\r\n")
    assert transport.closed
    assert take_idle(replica) is None


def test_rubbish_is_told_to_the_caller_once() -> None:
    upstream, transport, _ = made()
    caller = Caller(upstream)
    upstream.send(caller, b"head", b"body")
    upstream.data_received(b"\x00\x01\r\n\r\n")
    upstream.connection_lost(None)
    assert len(caller.lost) == 1
    assert "not HTTP" in caller.lost[0]
    assert transport.closed


def test_idle_connections_are_closed_by_age_and_a_draining_replica_keeps_none() -> None:
    upstream, transport, replica = made()
    upstream.send(Caller(upstream), b"head", b"body")
    upstream.data_received(ANSWER)
    close_idle(replica, before_s=-1.0)
    assert not transport.closed
    close_idle(replica)
    assert transport.closed
    other, other_transport, draining = made()
    other.send(Caller(other), b"head", b"body")
    draining.drain()
    other.data_received(ANSWER)
    assert other_transport.closed
    assert draining.idle == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 1)"), "Connection refused"),
        (OSError("Multiple exceptions: [Errno 111] Connect call failed, [Errno 113] x"), "Connection refused"),
        (socket.gaierror(-2, "Name or service not known"), "Name or service not known"),
        (ConnectionResetError(), "ConnectionResetError"),
    ],
)
def test_why_there_is_no_connection_is_said_in_words(error: OSError, said: str) -> None:
    assert why_unreachable(error) == said
