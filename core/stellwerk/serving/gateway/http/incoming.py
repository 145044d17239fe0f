"""A request whose head has come and whose body is still on its way."""

from __future__ import annotations

from collections.abc import Callable

from stellwerk.serving.gateway.http.chunked import ChunkError, ChunkReader
from stellwerk.serving.gateway.http.message import HttpError, Request, bad_request

_SMALL = 4096  # bytes; a piece that is shorter is copied
_FULL = 65_536


class Incoming:
    """Gathers one body, of a given length or in chunks."""

    __slots__ = ("_chunks", "_claim", "_missing", "_most_bytes", "_parts", "_small", "request")

    def __init__(self, request: Request, most_bytes: int, claim: Callable[[int], None]) -> None:
        """`claim`: asked for room before bytes are held; raises HttpError when there is none."""
        self.request = request
        self._most_bytes = most_bytes
        self._claim = claim
        self._parts: list[bytes] = []
        self._small = bytearray()  # what belongs behind them
        self._chunks: ChunkReader | None = None
        self._missing = 0  # in chunks: what has come so far
        if request.content_length is None:
            self._chunks = ChunkReader()
        else:
            self._missing = request.content_length
            claim(request.content_length)

    def feed(self, data: bytes) -> bytes | None:
        """What follows the body in `data` once it is complete (then `request.body` is there), else None.

        Raises:
            HttpError: bad chunks, or more than the limit.
        """
        if self._chunks is None:
            size = len(data)
            if size < self._missing:
                self._keep(data)
                self._missing -= size
                return None
            self._keep(data[: self._missing])
            rest = data[self._missing :]
        else:
            rest = self._read_chunks(self._chunks, data)
            if not self._chunks.ended:
                return None
        if self._small:
            self._parts.append(bytes(self._small))
        self.request.body = b"".join(self._parts)
        return rest

    def _keep(self, data: bytes) -> None:
        """Small pieces are put together: an object for each would take many times the room that was claimed."""
        if len(data) < _SMALL:
            self._small += data
            if len(self._small) < _FULL:
                return
            data = b""
        if self._small:
            self._parts.append(bytes(self._small))
            self._small.clear()
        if data:
            self._parts.append(data)

    def _read_chunks(self, chunks: ChunkReader, data: bytes) -> bytes:
        try:
            payload, rest = chunks.feed(data)
        except ChunkError as error:
            raise bad_request(f"The body is not properly chunked: {error}.") from error
        if payload:
            self._claim(len(payload))
            self._missing += len(payload)
            self._keep(payload)
            if self._missing > self._most_bytes:
                raise too_large(self._most_bytes)
        return rest


def too_large(most_bytes: int) -> HttpError:
    return HttpError(413, "body_too_large", f"The body is larger than the {most_bytes} bytes accepted here.")
