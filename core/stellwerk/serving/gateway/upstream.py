"""Connections to engines: opened when needed, kept while they are warm, told apart by the replica they lead to."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import struct
from typing import Protocol, cast

from stellwerk.serving.gateway.http.response import ResponseError, ResponseReader, ResponseSink
from stellwerk.serving.gateway.replica import Replica

# Many engines close an idle connection after 5 s; using one at that moment costs a retry.
IDLE_S = 4.0
_RESET = struct.pack("ii", 1, 0)  # on, no seconds: closing throws away what is unsent and resets


class Caller(ResponseSink, Protocol):
    """Who has a request running on an upstream connection."""

    def upstream_lost(self, reason: str, *, answered: bool, reused: bool) -> None:
        """The connection broke or the answer was no HTTP. `answered`: at least one byte of the answer had come."""


class UpstreamConnection(asyncio.Protocol):
    """One connection to a replica. At most one request at a time."""

    __slots__ = (
        "_answered",
        "_caller",
        "_paused",
        "_reader",
        "_unsent",
        "idle_since_s",
        "lost",
        "replica",
        "reused",
        "transport",
    )

    transport: asyncio.Transport

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.lost = False
        self.reused = False
        self.idle_since_s = 0.0
        self._reader = ResponseReader(replica.heads)
        self._caller: Caller | None = None
        self._answered = False
        self._paused = False
        self._unsent = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop has a class of its own

    def data_received(self, data: bytes) -> None:
        self._answered = True
        try:
            self._reader.feed(data)
        except ResponseError as error:
            self._break(f"it answered what is not HTTP: {str(error).rstrip('.')}")

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        caller = self._caller
        if caller is None:
            if self in self.replica.idle:
                self.replica.idle.remove(self)
            return
        if exc is None and self._reader.eof():
            return
        self._break("it closed the connection" if exc is None else f"the connection broke ({exc})")

    def _break(self, reason: str) -> None:
        caller = self._caller
        self.cut()
        if caller is not None:
            caller.upstream_lost(reason, answered=self._answered, reused=self.reused)

    def send(self, caller: Caller, head: bytes, body: bytes) -> None:
        """Put a request on the connection; the caller is told about the answer."""
        self._caller = caller
        self._reader.sink = caller
        self._answered = False
        if len(body) >= 32768:
            self.transport.write(head)
            self.transport.write(body)
        elif self.replica.running <= 1:
            self.transport.write(head + body)
        else:
            # An engine that sleeps has to be woken, which costs more than the write: requests that come in one turn of
            # the event loop go out together at its end, and wake it once.
            self._unsent = head + body
            outbox = self.replica.outbox
            if not outbox:
                asyncio.get_running_loop().call_soon(_send_all, outbox)
            outbox.append(self)

    def send_now(self) -> None:
        """Write the request that waited for the end of the turn, if somebody still wants its answer."""
        data, self._unsent = self._unsent, b""
        if self._caller is not None and not self.lost:
            self.transport.write(data)

    def pause(self) -> None:
        """Take nothing more from the engine for the time being."""
        if not self._paused and not self.lost:
            self._paused = True
            self.transport.pause_reading()

    def resume(self) -> None:
        if self._paused and not self.lost:
            self._paused = False
            self.transport.resume_reading()

    def release(self, now_s: float, *, reusable: bool) -> None:
        """The answer has been read to its end: keep the connection for the next request, or close it."""
        self._caller = None
        self._reader.sink = None
        self.resume()  # the client may have paused it with the very last bytes
        if reusable and not self.lost and self.replica.state in ("up", "trial"):
            self.reused = True
            self.idle_since_s = now_s
            self.replica.idle.append(self)
        elif not self.lost:
            self.transport.close()

    def cut(self) -> None:
        """Break off at once: the engine sees it and stops computing.

        With a reset: one that takes half-closed connections for living ones would compute on after a mere end of input.
        """
        self._caller = None
        self._reader.sink = None
        if not self.lost:
            raw = self.transport.get_extra_info("socket")
            if raw is not None and raw.fileno() >= 0:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.transport.abort()


def _send_all(outbox: list[UpstreamConnection]) -> None:
    waiting = outbox[:]
    outbox.clear()
    for connection in waiting:
        connection.send_now()


def take_idle(replica: Replica) -> UpstreamConnection | None:
    """The connection used last, which is the one least likely to have been closed by the engine."""
    idle = replica.idle
    while idle:
        connection = idle.pop()
        if not connection.lost and not connection.transport.is_closing():
            return connection
    return None


def close_idle(replica: Replica, before_s: float = float("inf")) -> None:
    """Close the connections that have been idle since before `before_s`; all of them by default."""
    kept = [connection for connection in replica.idle if connection.idle_since_s >= before_s]
    dropped = [connection for connection in replica.idle if connection.idle_since_s < before_s]
    replica.idle[:] = kept
    for connection in dropped:
        connection.transport.close()


def why_unreachable(error: OSError) -> str:
    """Why no connection came about, without the libraries' own abbreviations."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message}); SSL_CERT_FILE can name its issuer's"
    if isinstance(error, ssl.SSLError):
        if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
            return "it speaks no TLS; write http:// in its URL"
        return f"TLS fails ({error.reason or error})"
    # For a name with several addresses the event loop puts several errors into one text.
    found = re.search(r"\[Errno ([0-9]+)\]", str(error)) if error.errno is None else None
    number = int(found[1]) if found is not None else error.errno
    if number is not None and number > 0:
        return os.strerror(number)
    return error.strerror or str(error) or type(error).__name__


async def connect(replica: Replica, timeout_s: float) -> UpstreamConnection:
    """A new connection. Raises OSError (also for TLS) or TimeoutError."""
    address = replica.address
    try:
        async with asyncio.timeout(timeout_s):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: UpstreamConnection(replica),
                address.host,
                address.port,
                ssl=address.tls,
                server_hostname=address.server_name,
            )
    except UnicodeError as error:  # out of the IDNA codec, through which names go
        raise OSError("no host can have this name") from error
    return connection
