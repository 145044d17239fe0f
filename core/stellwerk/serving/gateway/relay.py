"""One attempt at an answer: judged before any of it is passed on, then passed on as it comes.

A relay is what an upstream connection talks to. It ends in exactly one call to its exchange: `answered`, `refused`,
`failed` or `broke_off`, unless the exchange cuts it first.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

from stellwerk.serving.gateway import judge_answer
from stellwerk.serving.gateway.dialect import error_event, stream_is_complete
from stellwerk.serving.gateway.events import LAST_EVENTS_BYTES, EventStream, EventTooLong, tokens_of_stream
from stellwerk.serving.gateway.http.chunked import LAST_CHUNK, encode_chunk
from stellwerk.serving.gateway.http.response import ResponseHead
from stellwerk.serving.gateway.upstream import UpstreamConnection
from stellwerk.serving.gateway.usage import tokens_of

if TYPE_CHECKING:
    from stellwerk.serving.gateway.exchange import Exchange

MAX_HELD_BYTES = 256 * 1024  # of an answer that is judged before any of it is passed on


class Relay:
    """See the module. `passing`: the client has got a part of the answer, so nothing can be tried again."""

    __slots__ = ("_chunked", "_events", "_exchange", "_head", "_held", "_held_bytes", "_length", "_upstream", "passing")

    def __init__(self, exchange: Exchange, upstream: UpstreamConnection) -> None:
        self._exchange = exchange
        self._upstream: UpstreamConnection | None = upstream
        self._head: ResponseHead | None = None
        self._length: int | None = None
        self._events: EventStream | None = None
        self._held: list[bytes] | None = None
        self._held_bytes = 0
        self._chunked = False  # towards the client
        self.passing = False

    # --- orders of the exchange -----------------------------------------------------------------------------------

    def cut(self) -> None:
        """Break the connection to the engine off: it sees it and stops computing."""
        upstream, self._upstream = self._upstream, None
        if upstream is not None:
            upstream.cut()

    def pause(self) -> None:
        if self._upstream is not None:
            self._upstream.pause()

    def resume(self) -> None:
        if self._upstream is not None:
            self._upstream.resume()

    # --- what the engine says -------------------------------------------------------------------------------------

    def response_head(self, head: ResponseHead, length: int | None) -> None:
        self._head = head
        self._length = length
        if head.event_stream:
            self._events = EventStream()

    def response_data(self, payload: bytes, raw: bytes | None) -> None:
        if self._events is not None:
            self._stream(self._events, payload, raw)
        elif self.passing:
            self._pass(payload, raw)
        elif self._held is None:
            self._held = [payload]
            self._held_bytes = len(payload)
            if len(payload) > MAX_HELD_BYTES:
                self._judge_large(self._held)
        else:
            self._held.append(payload)
            self._held_bytes += len(payload)
            if self._held_bytes > MAX_HELD_BYTES:
                self._judge_large(self._held)

    def response_whole(self, head: ResponseHead, body: bytes, reusable: bool, raw: bytes | None = None) -> None:
        if head.event_stream:
            if raw is None or not self._whole_stream(head, body, raw, reusable):
                self.response_head(head, None)
                self.response_data(body, None)
                self.response_end(reusable)
            return
        upstream, self._upstream = self._upstream, None
        assert upstream is not None
        now_s = monotonic()
        upstream.release(now_s, reusable=reusable)
        self._judge_whole(head, body, now_s)

    def response_end(self, reusable: bool) -> None:
        upstream, self._upstream = self._upstream, None
        if upstream is None:
            return  # cut while the last bytes were being read
        now_s = monotonic()
        upstream.release(now_s, reusable=reusable)
        if self._events is not None:
            self._end_stream(self._events)
        elif self.passing:
            if self._chunked:
                self._exchange.write(LAST_CHUNK)
            self._answered()
        else:
            held = self._held
            payload = b"" if held is None else held[0] if len(held) == 1 else b"".join(held)
            assert self._head is not None
            self._judge_whole(self._head, payload, now_s)

    def upstream_lost(self, reason: str, *, answered: bool, reused: bool) -> None:
        self._upstream = None
        if self.passing:
            self.break_off("stream_broken", f"The engine {self._exchange.engine} broke off its answer: {reason}.")
        else:
            self._exchange.lost(reason, stale=reused and not answered)

    def _whole_stream(self, head: ResponseHead, events: bytes, raw: bytes, reusable: bool) -> bool:
        """Pass a stream on that came at once, in one write. False: something about it is not as usual."""
        exchange = self._exchange
        if (
            b"error" in events
            or not events.startswith(b"data: {")
            or not events.endswith(b"\n\n")
            or not exchange.request.head.version_11
            or not stream_is_complete(exchange.dialect, events[-LAST_EVENTS_BYTES:])
        ):
            return False
        upstream, self._upstream = self._upstream, None
        assert upstream is not None
        now_s = monotonic()
        upstream.release(now_s, reusable=reusable)
        given, made = tokens_of_stream(events, events)
        exchange.tokens = (given, made if made is not None else events.count(b"data:"))
        exchange.streamed = True
        exchange.first_byte_s = now_s
        exchange.bytes_out = len(events)
        exchange.write(b"%btransfer-encoding: chunked\r\n%b%b" % (head.start, exchange.own_lines(), raw))
        exchange.answered(head.status)
        return True

    # --- whole answers --------------------------------------------------------------------------------------------

    def _judge_whole(self, head: ResponseHead, payload: bytes, now_s: float) -> None:
        exchange = self._exchange
        status = head.status
        if not 200 <= status < 300:
            if 300 <= status < 400:
                self._garbage(f"it answered {status}, a way to elsewhere and no result")
            elif status >= 600:
                self._garbage(f"it answered {status}, which means nothing")
            else:
                exchange.refused(status, payload, head)
            return
        if not head.encoded:
            if not payload.startswith(b"{") and not judge_answer.is_json(payload):
                self._garbage("its answer is not JSON")
                return
            if b"error" in payload:
                disguised = judge_answer.disguised_error(payload, whole=True)
                if disguised is not None:
                    exchange.refused(judge_answer.error_status(disguised), disguised, head)
                    return
            exchange.tokens = tokens_of(payload)
        exchange.first_byte_s = now_s
        exchange.bytes_out = len(payload)
        exchange.write_whole(
            b"%bcontent-length: %d\r\n%b%b" % (head.start, len(payload), exchange.own_lines(), payload)
        )
        exchange.answered(status)

    def _judge_large(self, held: list[bytes]) -> None:
        """An answer too large to hold: judge its start, and pass on from here."""
        head = self._head
        assert head is not None
        start = b"".join(held)
        self._held = None
        if not 200 <= head.status < 300:
            self._garbage(f"its error answer ({head.status}) is larger than {MAX_HELD_BYTES} bytes")
        elif not head.encoded and (not judge_answer.is_json(start) or judge_answer.disguised_error(start, whole=False)):
            self._garbage("its answer is not a result")
        else:
            self._commit(head, start, self._length)

    def _garbage(self, what: str) -> None:
        self.cut()
        self._exchange.failed(502, "bad_answer", f"The engine {self._exchange.engine} failed: {what}.")

    def _answered(self) -> None:
        assert self._head is not None
        self._exchange.answered(self._head.status)

    # --- answers that are passed on in parts ----------------------------------------------------------------------

    def _commit(self, head: ResponseHead, payload: bytes, length: int | None, raw: bytes | None = None) -> None:
        """Write the head and the first part. From here on nothing can be tried again."""
        self.passing = True
        exchange = self._exchange
        exchange.bytes_out = len(payload)
        exchange.first_byte_s = monotonic()
        if length is not None:
            framing = b"content-length: %d\r\n" % length
        elif exchange.request.head.version_11:
            framing = b"transfer-encoding: chunked\r\n"
            self._chunked = True
            payload = raw if raw is not None else encode_chunk(payload)
        else:
            framing = b""
            exchange.request.keep_alive = False
        exchange.write(b"%b%b%b%b" % (head.start, framing, exchange.own_lines(), payload))
        exchange.progress()

    def _pass(self, payload: bytes, raw: bytes | None) -> None:
        exchange = self._exchange
        exchange.bytes_out += len(payload)
        if self._chunked:
            payload = raw if raw is not None else encode_chunk(payload)
        exchange.write(payload)
        exchange.progress()

    # --- streams --------------------------------------------------------------------------------------------------

    def _stream(self, events: EventStream, payload: bytes, raw: bytes | None) -> None:
        try:
            complete = events.feed(payload)
        except EventTooLong as error:
            if self.passing:
                self.break_off("stream_broken", f"The stream was cut: {error}.")
            else:
                self._garbage(str(error))
            return
        if self.passing:
            if complete:
                self._pass(complete, raw if complete is payload else None)
        elif complete:
            if self._held is None:
                self._judge_first_events(complete, raw if complete is payload else None)
            else:
                self._judge_first_events(b"".join((*self._held, complete)), None)

    def _judge_first_events(self, first: bytes, raw: bytes | None) -> None:
        head = self._head
        assert head is not None
        if not judge_answer.says_something(first):
            self._held = [first]
            if len(first) > MAX_HELD_BYTES:
                self._garbage("its stream says nothing")
            return
        try:
            error = judge_answer.first_events_error(first)
        except ValueError as problem:
            self._garbage(str(problem))
            return
        if error is not None:
            self.cut()
            self._exchange.refused(judge_answer.error_status(error), error, head)
            return
        self._held = None
        self._exchange.streamed = True
        # The length, if the engine gave one, would be wrong if the stream broke and ended with an error event.
        self._commit(head, first, None, raw)

    def _end_stream(self, events: EventStream) -> None:
        rest = events.rest()
        if rest and (self.passing or judge_answer.says_something(rest)):
            # The last event came without its final blank line.
            if self.passing:
                self._pass(rest + b"\n\n", None)
            else:
                self._judge_first_events(b"".join((*(self._held or ()), rest, b"\n\n")), None)
                if not self.passing:
                    return
        if not self.passing:
            self._garbage("its stream ended before it said anything")
        elif stream_is_complete(self._exchange.dialect, events.last_events):
            self._count(events)
            if self._chunked:
                self._exchange.write(LAST_CHUNK)
            self._answered()
        else:
            self.break_off("stream_incomplete", f"The engine {self._exchange.engine} ended its stream too early.")

    def _count(self, events: EventStream) -> None:
        given, made = events.tokens()
        self._exchange.tokens = (given, made if made is not None else events.events)

    def break_off(self, code: str, message: str) -> None:
        """An answer that has begun cannot be completed: say so in the stream, and never end it as a success."""
        self.cut()
        exchange, events = self._exchange, self._events
        if events is None:
            exchange.broke_off(code, message, abort=True)
            return
        self._count(events)
        event = error_event(exchange.dialect, code, message)
        exchange.request.keep_alive = False
        exchange.write(encode_chunk(event) + LAST_CHUNK if self._chunked else event)
        exchange.broke_off(code, message, abort=False)
