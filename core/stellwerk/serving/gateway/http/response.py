"""Reading answers of engines: heads, and bodies by length, in chunks or to the end of the connection."""

from __future__ import annotations

import re
from typing import Protocol

from stellwerk.serving.gateway.http.chunked import LAST_CHUNK, ChunkError, ChunkReader, whole_chunks
from stellwerk.serving.gateway.http.message import HttpError, check_raw_head, field_name
from stellwerk.serving.gateway.http.status import status_line

MAX_HEAD_BYTES = 64 * 1024

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?")
_DIGITS = re.compile(rb"[0-9]{1,15}")

# Fields that belong to one connection, that this gateway writes itself, or that would open it to other web pages.
_NOT_PASSED = frozenset(
    {
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
        b"alt-svc",
        b"access-control-allow-origin",
        b"access-control-allow-credentials",
        b"access-control-allow-methods",
        b"access-control-allow-headers",
        b"access-control-expose-headers",
        b"access-control-max-age",
        b"x-stellwerk-pool",
        b"x-stellwerk-path",
        b"x-stellwerk-id",
    }
)


class ResponseError(ValueError):
    """What came is not an HTTP answer."""


class ResponseHead:
    """Never changed once made. `start`: status line and raw header lines to pass on, each with its line end.

    `content_type` is lower case and bare. `event_stream`: a success whose body is server-sent events. `before` and
    `after` are the bytes around the digits of Content-Length, as with `http.message.Head`; `whole` is the head with
    its empty line where the body comes in chunks.
    """

    __slots__ = (
        "after",
        "before",
        "chunked",
        "content_length",
        "content_type",
        "encoded",
        "event_stream",
        "keep_alive",
        "retry_after",
        "start",
        "status",
        "whole",
    )

    def __init__(self, status: int, keep_alive: bool) -> None:
        self.status = status
        self.keep_alive = keep_alive
        self.content_length: int | None = None
        self.chunked = False
        self.content_type = b""
        self.encoded = False  # the body is compressed, so it cannot be looked into
        self.event_stream = False
        self.retry_after: bytes | None = None
        self.start = b""
        self.before = self.after = self.whole = b""


def parse_response_head(head: bytes) -> ResponseHead:
    """Raises ResponseError. `head` comes without its empty line."""
    try:
        check_raw_head(head)
        return _parse(head)
    except HttpError as error:
        raise ResponseError(error.message) from error


def _parse(head: bytes) -> ResponseHead:
    lines = head.split(b"\r\n")
    line = _STATUS_LINE.fullmatch(lines[0])
    if line is None:
        raise ResponseError("the answer does not begin with an HTTP status line")
    found = ResponseHead(int(line[2]), line[1] == b"1")
    passed: list[bytes] = []
    for field in lines[1:]:
        name, colon, value = field.partition(b":")
        if not colon:
            raise ResponseError("a header line of the answer has no colon")
        name = field_name(name)
        if name == b"content-length":
            value = value.strip()
            if not _DIGITS.fullmatch(value) or found.content_length not in (None, int(value)):
                raise ResponseError("the answer's Content-Length is no number, or there are two")
            found.content_length = int(value)
        elif name == b"content-type":
            found.content_type = value.partition(b";")[0].strip().lower()
            passed.append(field)
        elif name == b"transfer-encoding":
            if value.strip().lower() != b"chunked":
                raise ResponseError("the answer's transfer coding is not 'chunked'")
            found.chunked = True
        elif name == b"connection":
            words = value.lower()
            found.keep_alive = b"close" not in words and (found.keep_alive or b"keep-alive" in words)
        elif name not in _NOT_PASSED:
            if name == b"content-encoding":
                found.encoded = value.strip().lower() not in (b"", b"identity")
            elif name == b"retry-after":
                found.retry_after = value.strip()
            passed.append(field)
    if found.chunked and found.content_length is not None:
        raise ResponseError("the answer has both a Content-Length and a Transfer-Encoding")
    found.event_stream = found.content_type == b"text/event-stream" and 200 <= found.status < 300 and not found.encoded
    found.start = status_line(found.status) + b"".join([line + b"\r\n" for line in passed])
    return found


_LENGTH = b"content-length: "
_MOST_HEADS = 64


class ResponseHeads:
    """Parses heads, and remembers those that differ in nothing but the length of the body, as an engine's do."""

    __slots__ = ("_heads",)

    def __init__(self) -> None:
        self._heads: dict[tuple[bytes, bytes], ResponseHead] = {}

    def parse(self, head: bytes) -> tuple[ResponseHead, int | None]:
        """The head and the length of the body; None when the head does not say. Raises ResponseError."""
        start = head.lower().find(b"\r\n" + _LENGTH)
        if start < 0:
            key = (head, b"")
            digits = b""
        else:
            start += 18
            end = head.find(b"\r\n", start)
            digits = head[start:] if end < 0 else head[start:end]
            if not digits.isdigit() or len(digits) > 15:
                parsed = parse_response_head(head)
                return parsed, parsed.content_length
            key = (head[:start], b"" if end < 0 else head[end:])
        known = self._heads.get(key)
        if known is None:
            known = parse_response_head(head)
            if known.chunked:
                known.whole = head + b"\r\n\r\n"
            elif digits:
                known.before, known.after = key[0], key[1] + b"\r\n\r\n"
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            self._heads[key] = known
        return known, int(digits) if digits else known.content_length


class ResponseSink(Protocol):
    """Who is told about an answer as it arrives."""

    def response_head(self, head: ResponseHead, length: int | None) -> None:
        """`length`: bytes of the body, None when they are not known beforehand."""

    def response_data(self, payload: bytes, raw: bytes | None) -> None:
        """`raw`: the same payload as whole chunks, when it came so; it may be passed on as it is."""

    def response_whole(self, head: ResponseHead, body: bytes, reusable: bool, raw: bytes | None = None) -> None:
        """The same as the three others one after the other: the whole answer came at once.

        `raw`: the body as whole chunks with the last one, when it came so.
        """

    def response_end(self, reusable: bool) -> None:
        """The answer is complete. `reusable`: the connection can carry another request."""


class ResponseReader:
    """One connection's answers, one after the other."""

    __slots__ = ("_chunks", "_head", "_heads", "_held", "_last", "_length", "_missing", "sink")

    def __init__(self, heads: ResponseHeads) -> None:
        self.sink: ResponseSink | None = None
        self._heads = heads
        self._held = b""
        self._last: ResponseHead | None = None  # of the answer before
        self._head: ResponseHead | None = None  # of the answer whose body is being read
        self._length: int | None = None
        self._chunks: ChunkReader | None = None
        self._missing = 0

    def feed(self, data: bytes) -> None:
        """Tell the sink what `data` means. The sink may be taken away while this runs.

        Raises:
            ResponseError: not an HTTP answer, or bytes that nobody asked for.
        """
        if self._head is None:
            if self.sink is None:
                raise ResponseError("an answer without a request")
            if self._last is not None and not self._held and self._feed_whole(self.sink, self._last, data):
                return
            data = self._read_head(data)
            if not data or self._head is None:
                return
        self._read_body(data)

    @staticmethod
    def _feed_whole(sink: ResponseSink, last: ResponseHead, data: bytes) -> bool:
        """Is `data` one whole answer with the head of the one before? The usual case with answers of some length."""
        if last.whole:
            if not data.startswith(last.whole) or not data.endswith(LAST_CHUNK) or last.status in (204, 304):
                return False
            raw = data[len(last.whole) :]
            found = whole_chunks(raw)
            if found is None or not found[1]:
                return False
            sink.response_whole(last, found[0], last.keep_alive, raw)
            return True
        if not last.before or not data.startswith(last.before):
            return False
        start = len(last.before)
        stop = data.find(b"\r\n", start, start + 17)
        if stop < 0 or not data.startswith(last.after, stop):
            return False
        digits = data[start:stop]
        body = data[stop + len(last.after) :]
        if not digits.isdigit() or len(body) != int(digits) or last.status in (204, 304):
            return False
        sink.response_whole(last, body, last.keep_alive)
        return True

    def _read_head(self, data: bytes) -> bytes:
        """What follows a complete head; nothing while it is incomplete."""
        if self._held:
            data = self._held + data
            self._held = b""
        last = self._last
        if last is not None and last.whole and data.startswith(last.whole):
            data = data[len(last.whole) :]
            self._begin(last, None, data)
            return data
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                if len(data) > MAX_HEAD_BYTES:
                    raise ResponseError("the head of the answer is too large")
                if not data.startswith(b"HTTP/1."[: len(data)]):
                    raise ResponseError("the answer does not begin with an HTTP status line")
                self._held = data
                return b""
            head, length = self._heads.parse(data[:end])
            data = data[end + 4 :]
            if head.status >= 200:
                self._last = head
                self._begin(head, length, data)
                return data

    def _begin(self, head: ResponseHead, length: int | None, rest: bytes) -> None:
        chunked = head.chunked
        if head.status == 204 or head.status == 304:
            length, chunked = 0, False
        self._head = head
        self._length = length
        if chunked:
            self._chunks = ChunkReader()
        elif length is not None:
            self._missing = length
        sink = self.sink
        assert sink is not None
        sink.response_head(head, length)
        if length == 0:
            self._end(clean=not rest)

    def _read_body(self, data: bytes) -> None:
        sink = self.sink
        if sink is None:
            return
        chunks = self._chunks
        if chunks is not None:
            try:
                payload, rest = chunks.feed(data)
            except ChunkError as error:
                raise ResponseError(f"the answer is not properly chunked: {error}") from error
            if payload:
                sink.response_data(payload, chunks.raw)
            if chunks.ended:
                self._end(clean=not rest)
        elif self._length is None:
            sink.response_data(data, None)
        else:
            excess = len(data) - self._missing
            if excess > 0:
                data = data[: self._missing]
            self._missing -= len(data)
            sink.response_data(data, None)
            if not self._missing:
                self._end(clean=excess <= 0)

    def _end(self, clean: bool) -> None:
        head, sink, length, chunks = self._head, self.sink, self._length, self._chunks
        self._head = None
        self._chunks = None
        if sink is not None and head is not None:
            sink.response_end(clean and head.keep_alive and (length is not None or chunks is not None))

    def eof(self) -> bool:
        """The connection has ended. True when that was the proper end of an answer without a length."""
        if self._head is not None and self._length is None and self._chunks is None:
            self._end(clean=False)
            return True
        return False
