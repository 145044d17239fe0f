"""Requests on one connection arrive as they were sent, however the network cuts them and whenever they are answered."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.serving.gateway.http.connection import ServerConnection
from stellwerk.serving.gateway.http.message import HttpError, HttpLimits, Request
from stellwerk.serving.gateway.http.server import HttpServer

SECRET = b"/secret"  # refused by its head; the connection stays


class Transport:
    """Takes what is written."""

    closing = False

    def write(self, data: bytes) -> None:
        pass

    def is_closing(self) -> bool:
        return self.closing

    def can_write_eof(self) -> bool:
        return False

    def get_extra_info(self, name: str, default: object = None) -> object:
        return ("127.0.0.1", 1)

    def close(self) -> None:
        self.closing = True

    pause_reading = resume_reading = abort = close


class Handler:
    """Answers at once, or when told."""

    def __init__(self, answers_at_once: list[bool]) -> None:
        self.seen: list[tuple[bytes, bytes]] = []
        self.refused: list[int] = []
        self.waiting: list[ServerConnection] = []
        self._at_once = answers_at_once

    def accept(self, connection: ServerConnection, request: Request) -> HttpError | None:
        return HttpError(401, "no", "No.", close=False) if request.head.path == SECRET else None

    def answer(self, connection: ServerConnection, request: Request) -> None:
        self.seen.append((request.head.path, request.body))
        if self._at_once[len(self.seen) % len(self._at_once)]:
            connection.respond(200, b"")
        else:
            self.waiting.append(connection)

    def refuse(self, connection: ServerConnection, request: Request | None, error: HttpError) -> None:
        self.refused.append(error.status)
        connection.respond(error.status, b"")

    def answer_those_that_wait(self) -> None:
        while self.waiting:
            self.waiting.pop().respond(200, b"")


def connection_to(handler: Handler) -> ServerConnection:
    connection = ServerConnection(HttpServer(handler, HttpLimits(body_bytes=64)))
    connection.connection_made(Transport())  # type: ignore[arg-type]
    return connection


def as_sent(path: bytes, body: bytes, chunked: bool) -> bytes:
    if not chunked:
        return b"POST %b HTTP/1.1\r\nhost: h\r\ncontent-length: %d\r\n\r\n%b" % (path, len(body), body)
    chunk = b"%x\r\n%b\r\n" % (len(body), body) if body else b""
    return b"POST %b HTTP/1.1\r\nhost: h\r\ntransfer-encoding: chunked\r\n\r\n%b0\r\n\r\n" % (path, chunk)


requests = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([b"/a", b"/b"]), st.binary(max_size=64), st.booleans()),
        st.just((SECRET, b"", False)),
    ),
    min_size=1,
    max_size=8,
)


@given(requests, st.lists(st.integers(1, 200), min_size=1), st.lists(st.booleans(), min_size=1), st.booleans())
def test_requests_arrive_as_they_were_sent_however_they_are_cut(
    sent: list[tuple[bytes, bytes, bool]], cuts: list[int], at_once: list[bool], whole: bool
) -> None:
    handler = Handler(at_once)
    connection = connection_to(handler)
    pieces = [as_sent(*request) for request in sent]
    if not whole:
        data, pieces = b"".join(pieces), []
        while data:
            size = cuts[len(pieces) % len(cuts)]
            pieces.append(data[:size])
            data = data[size:]
    for number, piece in enumerate(pieces):
        connection.data_received(piece)
        if number % 2:
            handler.answer_those_that_wait()
    handler.answer_those_that_wait()
    assert handler.seen == [(path, body) for path, body, _ in sent if path != SECRET]
    assert handler.refused == [401 for path, _, _ in sent if path == SECRET]


def test_what_follows_a_refused_request_is_no_head_of_another() -> None:
    """The rest of a request that was dropped with the one before it would be read as a request of its own."""
    handler = Handler([True])
    connection = connection_to(handler)
    hidden = b"GET /hidden HTTP/1.1\r\nhost: h\r\n\r\n"
    inside = as_sent(b"/a", hidden, chunked=False)
    connection.data_received(as_sent(SECRET, b"", chunked=False) + inside[: -len(hidden)])
    connection.data_received(hidden)
    assert handler.refused == [401]
    assert handler.seen == [(b"/a", hidden)]
