"""Clients that have closed their sending side: do they still wait for the answer, or have they left?

TCP says the same in both cases: no more will come. nginx, Go's reverse proxy and uvicorn take it that the client has
left; then `nc -N`, scripts that shut down their sending side, and old clients of HTTP/1.0 get nothing. Taking it that
the client still listens would let an engine compute for nobody until the answer is ready. So the client is asked,
unless the answer is there within a tenth of a second: it gets the first byte with which any answer begins. A kernel
whose program has closed the connection answers that with a reset, within one round trip; one whose program listens
keeps it, and the answer goes on after it. Who is still there is asked again with the second byte, and so on, at
growing intervals. Once an answer has begun, each of its parts is a question.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from time import monotonic
from typing import Any

from stellwerk.serving.gateway.http.status import ANSWER_START

_GRACE_S = 0.1  # an answer that is ready so soon needs no question, and comes in one piece
_FIRST_PAUSE_S = 0.25  # between the first question and the second; then twice as long each time


class Begun(asyncio.Transport):
    """Stands in for a transport over which the first bytes of an answer have gone out, until the rest is written."""

    def __init__(self, real: asyncio.Transport, went_on: Callable[[asyncio.Transport], None]) -> None:
        super().__init__()
        self._real = real
        self._went_on = went_on
        self._sent = 0
        self._next_s = monotonic() + _GRACE_S

    def ask(self, now_s: float) -> None:
        """Called now and then: send another byte if it is time."""
        if now_s >= self._next_s and self._sent < len(ANSWER_START):
            self._real.write(ANSWER_START[self._sent : self._sent + 1])
            self._next_s = now_s + _FIRST_PAUSE_S * 2**self._sent
            self._sent += 1

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._went_on(self._real)
        self._real.write(bytes(data).removeprefix(ANSWER_START[: self._sent]))

    def close(self) -> None:
        self._real.close()

    def abort(self) -> None:
        self._real.abort()

    def is_closing(self) -> bool:
        return self._real.is_closing()

    def pause_reading(self) -> None:
        self._real.pause_reading()

    def resume_reading(self) -> None:
        self._real.resume_reading()

    def can_write_eof(self) -> bool:
        return self._real.can_write_eof()

    def write_eof(self) -> None:
        self._real.write_eof()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._real.get_extra_info(name, default)


class HangUps:
    """Tells when such a client hangs up for good: at the end of input, the event loop no longer looks.

    Without epoll (outside Linux) nobody is told, and the next write to the client finds it out.
    """

    def __init__(self) -> None:
        self._epoll: select.epoll | None = None
        self._watched: dict[int, Callable[[], None]] = {}

    def watch(self, transport: asyncio.BaseTransport, gone: Callable[[], None]) -> int:
        """Call `gone` once when the other side is no longer there. Returns what `forget` wants to hear; -1: nothing."""
        raw = transport.get_extra_info("socket")
        if raw is None or raw.fileno() < 0 or not hasattr(select, "epoll"):
            return -1
        if self._epoll is None:
            self._epoll = select.epoll()
            asyncio.get_running_loop().add_reader(self._epoll.fileno(), self._look)
        descriptor: int = raw.fileno()
        # No event is asked for: errors and hang-ups are told anyway. A socket that is closed drops out by itself.
        self._epoll.register(descriptor, select.EPOLLONESHOT)
        self._watched[descriptor] = gone
        return descriptor

    def forget(self, descriptor: int) -> None:
        self._watched.pop(descriptor, None)

    def _look(self) -> None:
        assert self._epoll is not None
        for descriptor, _ in self._epoll.poll(0):
            gone = self._watched.pop(descriptor, None)
            if gone is not None:
                gone()

    def close(self) -> None:
        if self._epoll is not None:
            asyncio.get_running_loop().remove_reader(self._epoll.fileno())
            self._epoll.close()
            self._epoll = None
        self._watched.clear()
