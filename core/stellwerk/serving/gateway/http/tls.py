"""TLS between a socket and a client connection, the same under every event loop.

The event loops' own TLS ends a connection as soon as the client says that it sends no more, though TLS lets the other
direction go on (RFC 8446, 6.1); and it cannot close its own direction alone, so a refused sender may lose the answer.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from stellwerk.serving.gateway.http.message import HttpError

if TYPE_CHECKING:
    from stellwerk.serving.gateway.http.connection import ServerConnection

_READ_BYTES = 256 * 1024
_HANDSHAKE = 0x16  # the first byte of every TLS connection


class TlsConnection(asyncio.Protocol, asyncio.Transport):
    """The protocol of a socket's transport, and itself the transport of what is inside.

    `full` says whether there is room for another connection; `handshakes` holds those that have not got so far.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        inside: ServerConnection,
        handshakes: set[TlsConnection],
        full: Callable[[], bool],
        timeout_s: float,
    ) -> None:
        super().__init__()
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._inside = inside
        self._handshakes = handshakes
        self._full = full
        self._timeout_s = timeout_s
        self._timer: asyncio.TimerHandle | None = None
        self._raw: asyncio.Transport
        self._heard = False
        self._open = False  # the handshake is done, and the inside knows of the connection
        self._paused = False
        self._closing = False
        self._input_ended = False
        self._output_ended = False

    # --- the socket's protocol ------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._raw = cast("asyncio.Transport", transport)
        if self._full():
            self.abort()
            return
        self._handshakes.add(self)
        self._timer = asyncio.get_running_loop().call_later(self._timeout_s, self.abort)

    def data_received(self, data: bytes) -> None:
        if self._closing or self._output_ended:
            return  # of a sender that has been refused
        if not self._heard:
            self._heard = True
            if data[0] != _HANDSHAKE:
                self._speaks_plainly()
                return
        self._incoming.write(data)
        if self._open or self._shake_hands():
            self._read()

    def eof_received(self) -> bool:
        """Many clients do not say the end in TLS; that no more comes is what counts: requests say where they end."""
        if not self._open or self._closing:
            return False
        return self._end_of_input()

    def connection_lost(self, exc: Exception | None) -> None:
        self._handshake_over()
        self._closing = True
        if self._open:
            self._open = False
            self._inside.connection_lost(exc)
        # Each side holds the other: without this, memory would wait for the collector of cycles.
        del self._inside, self._tls, self._incoming, self._outgoing

    def pause_writing(self) -> None:
        if self._open:
            self._inside.pause_writing()

    def resume_writing(self) -> None:
        if self._open:
            self._inside.resume_writing()

    # --- TLS ------------------------------------------------------------------------------------------------------

    def _shake_hands(self) -> bool:
        """True once it is done."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self._flush()
            return False
        except ssl.SSLError:
            self._flush()  # the alert that says why
            self._closing = True
            self._raw.close()
            return False
        self._handshake_over()
        self._flush()
        self._open = True
        self._inside.connection_made(self)
        return True

    def _handshake_over(self) -> None:
        self._handshakes.discard(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _speaks_plainly(self) -> None:
        """A client that came without TLS is told so, in the only language that it understands."""
        self._handshake_over()
        self._closing = True
        self._inside.connection_made(self._raw)
        self._raw.set_protocol(self._inside)
        if not self._inside.transport.is_closing():
            self._inside.refuse(
                HttpError(400, "https_only", "This port speaks HTTPS. Write https:// before its address.")
            )

    def _read(self) -> None:
        pieces: list[bytes] = []
        ended = False
        try:
            while not self._paused:
                piece = self._tls.read(_READ_BYTES)
                if not piece:
                    ended = True
                    break
                pieces.append(piece)
        except ssl.SSLWantReadError:
            pass  # all that has come is read
        except ssl.SSLZeroReturnError:
            ended = True
        except ssl.SSLError:
            self._flush()
            self.abort()
            return
        self._flush()
        if pieces:
            self._inside.data_received(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        if ended and not self._closing and not self._end_of_input():
            self.close()

    def _read_on(self) -> None:
        if self._open and not self._closing and not self._output_ended:
            self._read()

    def _end_of_input(self) -> bool:
        """False: the connection is to be closed."""
        if not self._input_ended:
            self._input_ended = True
            return self._inside.eof_received()
        return not self._output_ended

    def _flush(self) -> None:
        data = self._outgoing.read()
        if data and not self._raw.is_closing():
            self._raw.write(data)

    def _say_the_end(self) -> None:
        """Tell the client that no more comes (close_notify), so that it knows an answer from a cut one."""
        if self._output_ended or not self._open:
            return
        self._output_ended = True
        try:
            self._tls.unwrap()
        except ssl.SSLError:
            pass  # it waits for the other side's end, which does not matter; what was to be said is written
        self._flush()

    # --- the transport of what is inside ----------------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or self._output_ended:
            return
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._tls.write(rest) :]
        except ssl.SSLError:
            self.abort()
            return
        self._flush()

    def close(self) -> None:
        if not self._closing:
            self._say_the_end()
            self._closing = True
            self._raw.close()

    def abort(self) -> None:
        self._closing = True
        self._raw.abort()

    def is_closing(self) -> bool:
        return self._closing or self._raw.is_closing()

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._say_the_end()
        if not self._raw.is_closing():
            self._raw.write_eof()

    def pause_reading(self) -> None:
        self._paused = True
        if not self._input_ended:
            self._raw.pause_reading()

    def resume_reading(self) -> None:
        self._paused = False
        if not self._raw.is_closing():
            self._raw.resume_reading()
            asyncio.get_running_loop().call_soon(self._read_on)  # what had come before the pause

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "ssl_object":
            return getattr(self, "_tls", default)
        return self._raw.get_extra_info(name, default)


def server_context(cert: str, key: str | None, password: Callable[[], str]) -> ssl.SSLContext:
    """A context for a server with this certificate. Raises OSError, ssl.SSLError, and what `password` raises."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(cert, key, password)
    return context
