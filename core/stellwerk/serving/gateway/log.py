"""One JSON line per request. Lines are gathered and written together, so that a request does not wait for a disk."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from json.encoder import encode_basestring_ascii as quote
from time import monotonic, time
from typing import TYPE_CHECKING

from stellwerk.serving.gateway.log_sink import Sink, open_sink

if TYPE_CHECKING:
    from stellwerk.serving.gateway.exchange import Exchange
    from stellwerk.serving.gateway.http.message import Request

_NOWHERE = '"pool":null,"path":null'
_LONGEST_PATH = 200  # of a path that a caller made up
_MOST_KNOWN = 1024
_MOST_LINES = 2000  # gathered before they are written in any case
_MOST_WAITING = 4 * 1024 * 1024  # bytes kept for a reader that does not read; more lines are dropped


class RequestLog:
    """Appends to a file, or to standard error for "-". None drops everything. Raises OSError when opened."""

    def __init__(self, path: str | None) -> None:
        self._lines: list[str] = []
        self._out: Sink | None = None if path is None else open_sink(path)
        self._waiting = bytearray()  # could not be written yet
        self._draining = False
        self.lost = 0  # lines that could not be written
        self._known: dict[tuple[object, ...], str] = {}  # parts of lines that many requests share
        self._second = self._millisecond = -1
        self._day = self._clock = ""

    @property
    def active(self) -> bool:
        return self._out is not None

    def exchange(self, exchange: Exchange, now_s: float, prompt: str | None) -> None:
        """A finished request. Prompt text only when the policy asks for it."""
        if self._out is None:
            return
        way, replica, request = exchange.route or exchange.way, exchange.replica, exchange.request
        key = (
            request.head.path, exchange.model, way and way.text, replica, exchange.status, exchange.error,
            exchange.attempts, exchange.streamed, request.caller,
        )  # fmt: skip
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[key] = _same_for_many(exchange)
        given, made = exchange.tokens
        first_s, begun_s, queued_s = exchange.first_byte_s, request.received_s, exchange.queued_s
        line = (
            f'{{"time":"{self._time()}","id":"{exchange.name}",{known},'
            f'"input_tokens":{"null" if given is None else given},"output_tokens":{"null" if made is None else made},'
            f'"bytes_in":{len(request.body)},"bytes_out":{exchange.bytes_out},'
            f'"queued_ms":{f"{queued_s * 1e3:.1f}" if queued_s else "0.0"},'
            f'"first_byte_ms":{f"{(first_s - begun_s) * 1e3:.1f}" if first_s else "null"},'
            f'"total_ms":{(now_s - begun_s) * 1e3:.1f}'
        )
        self._lines.append(line + "}\n" if prompt is None else f'{line},"prompt":{quote(prompt)}}}\n')
        if len(self._lines) > _MOST_LINES:
            self.flush()

    def other(self, number: str, request: Request | None, status: int, error: str | None, bytes_out: int) -> None:
        """A request that leads to no engine: one of the gateway's own pages, or a refusal. None: it never was one."""
        if self._out is None:
            return
        head = request.head if request is not None else None
        caller = request.caller if request is not None else None
        spent_ms = (monotonic() - request.received_s) * 1e3 if request is not None else 0.0
        self._lines.append(
            f'{{"time":"{self._time()}","id":"{number}",'
            f'"api":{"null" if head is None else quote(head.path[:_LONGEST_PATH].decode("latin-1"))},'
            f'"model":null,{_NOWHERE},"replica":null,"status":{status},'
            f'"error":{"null" if error is None else quote(error)},"attempts":0,"stream":false,'
            f'"key":{"null" if caller is None else quote(caller)},"input_tokens":null,"output_tokens":null,'
            f'"bytes_in":{0 if request is None else len(request.body)},"bytes_out":{bytes_out},"queued_ms":0.0,'
            f'"first_byte_ms":null,"total_ms":{spent_ms:.1f}}}\n'
        )
        if len(self._lines) > _MOST_LINES:
            self.flush()

    def event(self, what: str, **details: object) -> None:
        """Something other than a request: a reload, a replica that goes or comes back."""
        if self._out is not None:
            self._lines.append(json.dumps({"time": self._time(), "event": what, **details}) + "\n")

    def _time(self) -> str:
        millisecond = int(time() * 1000)
        if millisecond != self._millisecond:
            self._millisecond = millisecond
            second, rest = divmod(millisecond, 1000)
            if second != self._second:
                self._second = second
                self._day = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._clock = f"{self._day}.{rest:03d}Z"
        return self._clock

    def flush(self) -> None:
        """Write what has been gathered. A full disk, or a reader that does not read, loses lines, never requests."""
        lines, self._lines = self._lines, []
        if self._out is None:
            return
        if lines:
            if len(self._waiting) > _MOST_WAITING:
                self.lost += len(lines)
            else:
                self._waiting += "".join(lines).encode("ascii")
        if self._waiting and not self._draining:
            self._drain()

    def _drain(self) -> None:
        """Write as much as is taken now; of a pipe, the rest as soon as its reader has made room."""
        assert self._out is not None
        waits = False
        try:
            del self._waiting[: self._out.write(self._waiting)]
            waits = bool(self._waiting) and self._out.tells
        except OSError:
            waits = False  # tried again with the next lines
        if waits is not self._draining:
            self._follow(waits)

    def _follow(self, waits: bool) -> None:
        assert self._out is not None
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return  # closed at the end of a program: there is nobody to tell
        if waits:
            loop.add_writer(self._out.descriptor, self._drain)
        else:
            loop.remove_writer(self._out.descriptor)
        self._draining = waits

    def close(self) -> None:
        self.flush()
        if self._out is not None:
            if self._draining:
                self._follow(False)
            self._out.close()
        self._out = None


def _same_for_many(exchange: Exchange) -> str:
    """The part of a line that is the same for all requests which went the same way with the same outcome."""
    way, replica, request, error = exchange.route or exchange.way, exchange.replica, exchange.request, exchange.error
    return (
        f'"api":"{request.head.path.decode("ascii")}","model":{quote(exchange.model)},'
        f"{_NOWHERE if way is None else way.logged},"
        f'"replica":{"null" if replica is None else replica.quoted},"status":{exchange.status},'
        f'"error":{"null" if error is None else quote(error)},"attempts":{exchange.attempts},'
        f'"stream":{"true" if exchange.streamed else "false"},'
        f'"key":{"null" if request.caller is None else quote(request.caller)}'
    )
