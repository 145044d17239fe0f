"""Lets callers in who prove the token, many at a time: a stranger that says nothing keeps nobody waiting."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from stellwerk.collectives.handshake import HANDSHAKE_S, TokenRefused, admit

PENDING_MAX = 64  # callers that may be proving themselves at a time; one more, and the oldest has to go
PAUSE_S = 0.05  # until a file descriptor may be free again


class Listener(Protocol):
    """What is needed of a listening socket; several of them may stand behind one."""

    def settimeout(self, value: float | None, /) -> None:
        """None: `accept` waits."""

    def accept(self) -> tuple[socket.socket, Any]:
        """The next caller; OSError after `shutdown`."""

    def shutdown(self, how: int, /) -> None:
        """Wake `accept`."""

    def close(self) -> None:
        """Stop listening."""


class Admission:
    """Accepts on a listener, which it takes over, until it is closed.

    `arrived(socket, introduction)` and `refused()` are called from threads of the admission; the socket is then the
    receiver's.
    """

    def __init__(
        self,
        listener: Listener,
        token: bytes,
        arrived: Callable[[socket.socket, dict[str, Any]], None],
        refused: Callable[[], None],
    ) -> None:
        self._listener, self._token, self._arrived, self._refused = listener, token, arrived, refused
        self._pending: dict[socket.socket, threading.Thread] = {}
        self._guard = threading.Lock()
        self._closed = threading.Event()
        listener.settimeout(None)
        self._thread = threading.Thread(target=self._accept, name="stellwerk-accept", daemon=True)
        self._thread.start()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:  # closed, or the caller went away, or there are too many files open here
                self._drop_oldest(keep=PENDING_MAX // 2)
                self._closed.wait(PAUSE_S)
                continue
            self._drop_oldest(keep=PENDING_MAX - 1)
            thread = threading.Thread(target=self._admit, args=(sock,), name="stellwerk-admit", daemon=True)
            with self._guard:
                self._pending[sock] = thread
            thread.start()

    def _admit(self, sock: socket.socket) -> None:
        try:
            hello = admit(sock, self._token, time.monotonic() + HANDSHAKE_S)
        except (TokenRefused, OSError, ValueError):
            # A stranger must not be able to stop the ranks; who is missing in the end is named by whoever waits.
            self._forget(sock)
            sock.close()
            self._refused()
            return
        self._forget(sock)
        self._arrived(sock, hello)

    def _forget(self, sock: socket.socket) -> None:
        with self._guard:
            self._pending.pop(sock, None)

    def _drop_oldest(self, keep: int) -> None:
        with self._guard:
            for sock in list(self._pending)[: max(0, len(self._pending) - keep)]:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)  # its thread wakes up and closes it

    def close(self) -> None:
        """Stop listening and drop who has not proved anything yet."""
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self._thread.join()
        self._listener.close()
        with self._guard:
            threads = list(self._pending.values())
        self._drop_oldest(keep=0)
        for thread in threads:
            thread.join()
