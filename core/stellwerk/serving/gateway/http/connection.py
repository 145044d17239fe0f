"""One client connection: HTTP/1.1 without a task per request.

A handler is told about complete requests and answers through the connection. Everything that a client can make large
or slow is bounded here: heads, bodies, bytes read ahead, connections, and the time each of them may take.
"""

from __future__ import annotations

import asyncio
import select
from time import monotonic
from typing import TYPE_CHECKING, cast

from stellwerk.serving.gateway.http.half_closed import Begun
from stellwerk.serving.gateway.http.handler import Exchange
from stellwerk.serving.gateway.http.incoming import Incoming, too_large
from stellwerk.serving.gateway.http.message import Head, HttpError, Request, bad_request, check_head_start
from stellwerk.serving.gateway.http.parse import same_head
from stellwerk.serving.gateway.http.status import CONTINUE, STAYS_OPEN, answer_head

if TYPE_CHECKING:
    from stellwerk.serving.gateway.http.server import HttpServer

_LINGER_S = 2.0  # how long a refused sender may go on before the connection is cut


class ServerConnection(asyncio.Protocol):
    """One client. Reads a request, hands it over, and reads on when it has been answered."""

    __slots__ = (
        "_ahead",
        "_asked",
        "_claimed",
        "_closing",
        "_discarding",
        "_ended",
        "_head",
        "_held_back",
        "_incoming",
        "_inside",
        "_last",
        "_received",
        "_server",
        "_unsent",
        "deadline_s",
        "exchange",
        "local_host",
        "paused",
        "request",
        "transport",
        "writing_since_s",
    )

    transport: asyncio.Transport

    def __init__(self, server: HttpServer) -> None:
        self._server = server
        self.local_host = ""
        self.request: Request | None = None  # being answered
        self.exchange: Exchange | None = None
        self.paused = False
        self.writing_since_s = 0.0
        self.deadline_s = 0.0
        self._ahead = bytearray()  # arrived while a request is being answered
        self._head = bytearray()  # the start of a head
        self._received: Request | None = None  # head complete, body not
        self._incoming: Incoming | None = None  # its body, unless it was refused by its head
        self._claimed = 0  # share of the memory budget, given back when the request is answered
        self._closing = False
        self._discarding = False
        self._inside = False
        self._last: Head | None = None  # of the request before
        self._held_back = False  # reading is paused: the client has sent too much ahead
        self._ended = False  # the client has closed its sending side
        self._asked: int | None = None  # it was asked whether it is still there; what `forget` wants to hear
        self._unsent = b""  # a whole answer that goes out at the end of this turn

    # --- asyncio --------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop has a class of its own
        local = self.transport.get_extra_info("sockname")
        if isinstance(local, tuple):
            self.local_host = f"[{local[0]}]" if ":" in local[0] else str(local[0])
        self._server.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        self._unsent = b""
        self._drop_body()
        self._release()
        if self._asked is not None:
            self._server.hang_ups.forget(self._asked)
        self._server.closed(self)
        exchange, self.exchange = self.exchange, None
        self.request = None
        if exchange is not None:
            exchange.client_gone()

    def eof_received(self) -> bool:
        """The client has closed its sending side. True: the connection stays, for the answers that it waits for."""
        self.send_now()
        if self.request is None and not self._ahead:
            self._end_of_input()
            return False
        self._ended = True
        if self.request is not None and not self._ahead:
            self.request.keep_alive = False
        self._ask_whether_there()
        return True

    def _end_of_input(self) -> None:
        """Nothing more will come, and all that was whole has been answered."""
        if (self._received is not None or self._head) and not (self._discarding or self._closing):
            self.refuse(bad_request("The request ended before it was complete.", "incomplete"))
        if not self._closing:
            self.close()

    def _ask_whether_there(self) -> None:
        """See http.half_closed. An answer that has begun needs no question: its next part is one."""
        if self._asked is not None or self._closing:
            return
        self._asked = self._server.hang_ups.watch(self.transport, self.abort)
        if self.exchange is None or not self.exchange.begun:
            self.transport = Begun(self.transport, self._went_on)

    def _went_on(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def pause_writing(self) -> None:
        self.paused = True
        self.writing_since_s = monotonic()
        if self.exchange is not None:
            self.exchange.client_paused()

    def resume_writing(self) -> None:
        self.paused = False
        if self.exchange is not None:
            self.exchange.client_resumed()
        elif self._ahead and self.request is None and not self._closing:
            self._read_ahead()

    def data_received(self, data: bytes) -> None:
        if self.request is not None or (self.paused and self._received is None and not self._discarding):
            self._keep_ahead(data)
        elif self._discarding or self._closing:
            return
        elif self._received is not None or self._head or self._unsent or not self._read_whole(data):
            self._read(data)

    def _read_whole(self, data: bytes) -> bool:
        """Is `data` one whole request with the head of the one before? The usual case on a connection that is kept."""
        last = self._last
        if last is None:
            return False
        length, start = same_head(last, data)
        if not start or start + length != len(data) or length > self._server.limits.body_bytes:
            return False
        request = Request(last, length)
        handler = self._server.handler
        if handler.accept(self, request) is not None:
            return False
        request.received_s = monotonic()
        request.body = data[start:]
        self.request = request
        self.deadline_s = 0.0
        self._inside = True
        try:
            handler.answer(self, request)
        finally:
            self._inside = False
        return True

    def _keep_ahead(self, data: bytes) -> None:
        self._ahead += data
        if len(self._ahead) > self._server.limits.pending_bytes and not self._held_back:
            self._held_back = True
            self.transport.pause_reading()

    # --- reading --------------------------------------------------------------------------------------------------

    def _read(self, data: bytes) -> None:
        """Cut `data` into requests until one is being answered. Answers given at once do not nest.

        Who does not take the answers gets no more: they would gather here.
        """
        self._inside = True
        try:
            while data:
                data = self._read_one(data)
                if self.request is not None or (self.paused and self._received is None):
                    if data:
                        self._keep_ahead(data)
                    break
                if self._closing or self._discarding or self.transport.is_closing():
                    break
        except HttpError as error:
            self.refuse(error)
        finally:
            self._inside = False
        if self._ended and self.request is None and not self._closing and not self._ahead:
            self._end_of_input()

    def _read_ahead(self) -> None:
        data = bytes(self._ahead)
        self._ahead.clear()
        if self._held_back:
            self._held_back = False
            self.transport.resume_reading()
        self._read(data)

    def _read_one(self, data: bytes) -> bytes:
        """Use up the start of `data`; what is left belongs to the next request."""
        self.send_now()
        if self._incoming is not None:
            return self._read_body(self._incoming, data)
        server = self._server
        last = self._last
        if last is not None and not self._head:
            length, start = same_head(last, data)
            if start:
                request = Request(last, length)
                request.received_s = monotonic()
                return self._begin(request, data, start)
        searched = 0
        if self._head == b"\r" and data.startswith(b"\n"):  # the empty line before a request, in two pieces
            self._head = bytearray()
            return data[1:]
        if self._head:
            searched = max(0, len(self._head) - 3)
            self._head += data
            end = self._head.find(b"\r\n\r\n", searched)
            data = b"" if end < 0 else bytes(self._head)
        else:
            # An empty line before a request is skipped (RFC 9112, 2.2): some clients end a body with one.
            if data.startswith(b"\r\n"):
                return data[2:]
            end = data.find(b"\r\n\r\n")
            if end < 0:
                self._head += data
                self.deadline_s = monotonic() + server.limits.head_timeout_s
        if end < 0:
            if len(self._head) > server.limits.head_bytes:
                raise HttpError(431, "head_too_large", "The request head is too large.")
            check_head_start(self._head, searched)
            return b""
        if end > server.limits.head_bytes:
            raise HttpError(431, "head_too_large", "The request head is too large.")
        if self._head:
            self._head = bytearray()
        head, body_length = server.heads.parse(data[:end], server.limits.header_count)
        self._last = head
        request = Request(head, body_length)
        request.received_s = monotonic()
        return self._begin(request, data, end + 4)

    def _begin(self, request: Request, data: bytes, start: int) -> bytes:
        length = request.content_length
        refusal = self._server.handler.accept(self, request)
        if refusal is not None:
            self._received = request
            if not refusal.close and length == 0:
                self.refuse(refusal)
                return data[start:]  # whole requests may follow: dropped, the rest of one would be read as a head
            raise HttpError(refusal.status, refusal.code, refusal.message)
        if length is not None:
            if length > self._server.limits.body_bytes:
                self._received = request
                raise too_large(self._server.limits.body_bytes)
            end = start + length
            if end <= len(data):
                if length:
                    request.body = data[start:end]
                self._answer(request)
                return data[end:]
        self._received = request
        self.deadline_s = request.received_s + self._server.limits.body_timeout_s
        self._incoming = Incoming(request, self._server.limits.body_bytes, self._claim)
        if request.head.expects_continue and start == len(data):
            self.transport.write(CONTINUE)
        return data[start:]

    def _read_body(self, incoming: Incoming, data: bytes) -> bytes:
        rest = incoming.feed(data)
        if rest is None:
            return b""
        self._drop_body()
        self._answer(incoming.request)
        return rest

    def _claim(self, size: int) -> None:
        """Room in memory, and time to arrive in."""
        self._claimed += size
        self._server.claim_body(size)
        self.deadline_s += size / self._server.limits.body_rate

    def _release(self) -> None:
        if self._claimed:
            self._server.release_body(self._claimed)
            self._claimed = 0

    def _drop_body(self) -> None:
        self._received = None
        self._incoming = None

    def _answer(self, request: Request) -> None:
        self.request = request
        self.deadline_s = 0.0
        self._server.handler.answer(self, request)

    def refuse(self, error: HttpError) -> None:
        """Answer what arrived with an error, and close if `error.close`."""
        self.send_now()
        request = self._received
        unread = request is not None and request.content_length != 0
        self._drop_body()
        self._release()
        self.request = request
        self._discarding = error.close
        self._server.handler.refuse(self, request, error)
        self.request = None
        if error.close:
            self._linger(unread or len(self._head) > 0)

    def _linger(self, unread: bool) -> None:
        """Close so that the answer arrives: closing with unread input makes the kernel reset the connection."""
        if unread and self.transport.can_write_eof():
            self.transport.write_eof()
            self._discarding = True
            self.deadline_s = monotonic() + _LINGER_S
        else:
            self.close()

    # --- answering ------------------------------------------------------------------------------------------------

    def respond(
        self,
        status: int,
        body: bytes,
        content_type: bytes = b"application/json",
        lines: bytes = b"",
    ) -> None:
        """Write one whole answer and finish. For HEAD the body stays away. `lines`: more header lines."""
        request = self.request
        keep_alive = request is not None and request.keep_alive and not self._discarding
        if keep_alive and request is not None and not request.head.version_11:
            lines += STAYS_OPEN
        head = answer_head(status, content_type, len(body), keep_alive, lines)
        if request is not None and request.head.method == b"HEAD":
            body = b""
        self.transport.write(head + body)
        if not self._discarding:
            self.finish()

    def write_soon(self, data: bytes) -> None:
        """Write a whole answer at the end of this turn of the event loop, with those of other connections.

        A client that sleeps has to be woken, which costs more than the write; of several answers one wakes it.
        """
        request = self.request
        if request is None or not request.keep_alive or self._ahead or self._asked is not None or self.paused:
            self.transport.write(data)  # something follows on this connection
        else:
            self._unsent = data
            self._server.send_later(self)

    def send_now(self) -> None:
        """Write what waits for the end of the turn: it has come, or something follows it."""
        if self._unsent:
            data, self._unsent = self._unsent, b""
            self.transport.write(data)

    def finish(self) -> None:
        """The answer is complete: read the next request, or close."""
        request = self.request
        self.request = None
        self.exchange = None
        if self._claimed:
            self._release()
        if request is None or not request.keep_alive or self._server.draining:
            self.close()
            return
        self.deadline_s = monotonic() + self._server.limits.idle_timeout_s
        if self._inside or (self.paused and self._ahead):
            return
        if self._ahead:
            self._read_ahead()
        elif self._ended:
            self.close()

    def close(self) -> None:
        """Close after what is written has gone out."""
        self.send_now()
        self._closing = True
        self.deadline_s = monotonic() + self._server.limits.write_timeout_s
        self.transport.close()

    def abort(self) -> None:
        """Close now; what is written may be lost. For an answer that must not look complete."""
        self._closing = True
        self.transport.abort()

    def expire(self, now_s: float) -> None:
        """Called now and then: is something overdue?"""
        unread = self.paused and now_s - self.writing_since_s > self._server.limits.write_timeout_s
        if unread:
            self.abort()
            return
        if self._asked is not None:
            if isinstance(self.transport, Begun):
                self.transport.ask(now_s)
        elif self._held_back and self._hung_up():
            self._ask_whether_there()
        if self.deadline_s and now_s > self.deadline_s:
            self._overdue()

    def _hung_up(self) -> bool:
        """While reading is paused the event loop does not see that a client closes its side; the kernel does."""
        raw = self.transport.get_extra_info("socket")
        if raw is None or not hasattr(select, "poll"):
            return False
        look = select.poll()
        look.register(raw.fileno(), getattr(select, "POLLRDHUP", 0))
        return bool(look.poll(0))

    def _overdue(self) -> None:
        self.deadline_s = 0.0
        if self._discarding or self._closing:
            self.transport.abort()
        elif self._received is not None or self._head:
            self.refuse(HttpError(408, "timeout", "The request took too long to arrive."))
        else:
            self.close()
