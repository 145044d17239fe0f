"""An engine that does nothing as fast as Python can: for measuring what stands in front of it.

It reads just enough HTTP to find where a request ends, trusts its peer, and answers from prepared bytes.
"""

from __future__ import annotations

import asyncio
import json
from time import monotonic_ns
from typing import cast

# A prompt with this mark gets a slow stream whose last words are the time at which the end was written: whoever
# reads them knows how late the end came.
TIMED_MARK = b"[timed]"
TIMED_EVENTS = 5
TIMED_PACE_S = 0.004

_MODELS = json.dumps({"object": "list", "data": [{"id": "null", "object": "model", "owned_by": "simulated"}]}).encode()
_USAGE = {"prompt_tokens": 12, "completion_tokens": 8, "total_tokens": 20}
_CHAT = json.dumps(
    {
        "id": "chatcmpl-null",
        "object": "chat.completion",
        "created": 0,
        "model": "null",
        "system_fingerprint": "simulated",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "simulated"}, "finish_reason": "stop"}],
        "usage": _USAGE,
    }
).encode()


def _whole(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-simulated: true\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


def _event(delta: dict[str, str], finish: str | None) -> bytes:
    value = {
        "id": "chatcmpl-null",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "null",
        "system_fingerprint": "simulated",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: %b\n\n" % json.dumps(value).encode()


def _chunk(payload: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(payload), payload)


def stream_parts(events: int) -> list[bytes]:
    """Head with first event, each further event, and the end: what is written for one streamed answer."""
    head = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-simulated: true\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    parts = [_chunk(_event({"content": f"t{number} "}, None)) for number in range(events)]
    end = _chunk(_event({}, "stop")) + _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
    return [head + parts[0], *parts[1:], end]


def prepared(events: int) -> dict[str, bytes]:
    """All that this engine says, by name, for one that is quicker than Python (`tests/bench/null_engine.c`).

    `models`, `whole`, `stream` are answers; `first`, `other` and `end` are parts of a stream; `before` and `after`
    stand around the time in a timed stream's last event.
    """
    parts = stream_parts(events)
    before, after = _event({"content": "written_ns=@"}, None).split(b"@")
    return {
        "models": _whole(_MODELS),
        "whole": _whole(_CHAT),
        "stream": b"".join(parts),
        "first": parts[0],
        "other": parts[1],
        "end": parts[-1],
        "before": before,
        "after": after,
    }


class NullEngine(asyncio.Protocol):
    """One connection. `pace_s` is the time between events; 0 writes a streamed answer at once."""

    def __init__(self, events: int = 8, pace_s: float = 0.0) -> None:
        self._held = b""
        self._whole = _whole(_CHAT)
        self._models = _whole(_MODELS)
        self._parts = stream_parts(events)
        self._stream = b"".join(self._parts)
        self._pace_s = pace_s
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop has a class of its own

    def connection_lost(self, exc: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def data_received(self, data: bytes) -> None:
        if self._held:
            data = self._held + data
        while data:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                break
            length = 0
            place = data.find(b"ontent-", 0, end)
            while place >= 0 and data[place + 7 : place + 14].lower() != b"length:":
                place = data.find(b"ontent-", place + 7, end)
            if place >= 0:
                length = int(data[place + 14 : data.find(b"\r\n", place)])
            stop = end + 4 + length
            if len(data) < stop:
                break
            self._answer(data, end, stop)
            data = data[stop:]
        self._held = data

    def _answer(self, data: bytes, end: int, stop: int) -> None:
        if data.startswith(b"GET"):
            self._transport.write(self._models)
        elif data.find(b'"stream":true', end, stop) >= 0 or data.find(b'"stream": true', end, stop) >= 0:
            if data.find(TIMED_MARK, end, stop) >= 0:
                self._timed(0)
            elif self._pace_s:
                self._paced(0)
            else:
                self._transport.write(self._stream)
        else:
            self._transport.write(self._whole)

    def _paced(self, number: int) -> None:
        self._transport.write(self._parts[number])
        if number + 1 < len(self._parts):
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._pace_s, self._paced, number + 1)

    def _timed(self, number: int) -> None:
        if number < TIMED_EVENTS:
            self._transport.write(self._parts[min(number, 1)])
            self._timer = asyncio.get_running_loop().call_later(TIMED_PACE_S, self._timed, number + 1)
        else:
            stamp = _chunk(_event({"content": f"written_ns={monotonic_ns()}"}, None))
            self._transport.write(stamp + self._parts[-1])


async def serve_null(host: str, port: int, *, events: int = 8, pace_s: float = 0.0) -> asyncio.Server:
    """Listen. The caller closes the server."""
    loop = asyncio.get_running_loop()
    return await loop.create_server(lambda: NullEngine(events, pace_s), host, port, backlog=2048)
