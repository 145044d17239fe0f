"""One JSON line per request. Lines are gathered and written together, so that a request does not wait for a disk."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from json.encoder import encode_basestring_ascii as quote
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from stellwerk.serving.gateway.exchange import Exchange

_LINE = (
    '{"time":"%s","id":"%s%x","api":%s,"model":%s,"pool":%s,"replica":%s,"path":%s,"status":%d,"error":%s,'
    '"attempts":%d,"stream":%s,"key":%s,"input_tokens":%s,"output_tokens":%s,"bytes_in":%d,"bytes_out":%d,'
    '"queued_ms":%.1f,"first_byte_ms":%s,"total_ms":%.1f'
)
_MOST_LINES = 2000  # gathered before they are written in any case


class RequestLog:
    """Appends to a file, or to standard error for "-". None drops everything. Raises OSError when opened."""

    def __init__(self, path: str | None) -> None:
        self._lines: list[str] = []
        self._own: TextIO | None = None
        self._out: TextIO | None = None
        self.lost = 0  # lines that could not be written
        if path == "-":
            self._out = sys.stderr
        elif path is not None:
            self._own = self._out = Path(path).open("a", encoding="ascii")  # noqa: SIM115 - closed by close()
        self._second = -1
        self._clock = ""

    @property
    def active(self) -> bool:
        return self._out is not None

    def exchange(self, exchange: Exchange, run_id: str, now_s: float, prompt: str | None) -> None:
        """A finished request. Prompt text only when the policy asks for it."""
        if self._out is None:
            return
        route, replica, request = exchange.route, exchange.replica, exchange.request
        given, made = exchange.tokens
        first_s, begun_s = exchange.first_byte_s, request.received_s
        line = _LINE % (
            self._time(),
            run_id,
            exchange.number,
            quote(request.head.path.decode("ascii")),
            quote(exchange.model),
            quote(route.pool) if route else "null",
            quote(replica.name) if replica else "null",
            quote(route.text) if route else "null",
            exchange.status,
            quote(exchange.error) if exchange.error else "null",
            exchange.attempts,
            "true" if exchange.streamed else "false",
            quote(request.caller) if request.caller else "null",
            "null" if given is None else given,
            "null" if made is None else made,
            len(request.body),
            exchange.bytes_out,
            exchange.queued_s * 1e3,
            "%.1f" % ((first_s - begun_s) * 1e3) if first_s else "null",
            (now_s - begun_s) * 1e3,
        )
        self._lines.append(line + "}\n" if prompt is None else f'{line},"prompt":{quote(prompt)}}}\n')
        if len(self._lines) > _MOST_LINES:
            self.flush()

    def event(self, what: str, **details: object) -> None:
        """Something other than a request: a reload, a replica that goes or comes back."""
        if self._out is not None:
            self._lines.append(json.dumps({"time": self._time(), "event": what, **details}) + "\n")

    def _time(self) -> str:
        now = time()
        second = int(now)
        if second != self._second:
            self._second = second
            self._clock = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        return f"{self._clock}.{int((now - second) * 1000):03d}Z"

    def flush(self) -> None:
        """Write what has been gathered. A full disk loses lines, never requests."""
        lines, self._lines = self._lines, []
        if self._out is None or not lines:
            return
        try:
            self._out.write("".join(lines))
            self._out.flush()
        except (OSError, ValueError):
            self.lost += len(lines)

    def close(self) -> None:
        self.flush()
        if self._own is not None:
            self._own.close()
        self._out = self._own = None
