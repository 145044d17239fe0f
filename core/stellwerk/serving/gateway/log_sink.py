"""Where lines of the log go, without ever waiting: a pipe, terminal or socket may have a reader that does not read."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import stat
import sys
from pathlib import Path
from typing import Protocol

_FLAGS = os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK


class Sink(Protocol):
    """Takes bytes. `tells`: the event loop can say when `descriptor` takes more."""

    descriptor: int
    tells: bool

    def write(self, data: bytes | bytearray) -> int:
        """How many bytes were taken; 0 when nothing can be taken now. Raises OSError."""

    def close(self) -> None:
        """Give back what was opened."""


class _Descriptor:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.tells = not stat.S_ISREG(os.fstat(descriptor).st_mode)

    def write(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self.descriptor, data)
        except BlockingIOError:
            return 0

    def close(self) -> None:
        os.close(self.descriptor)


class _Socket:
    """Standard error of a service is often a socket of the system's journal."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self.descriptor = descriptor
        self.tells = True

    def write(self, data: bytes | bytearray) -> int:
        try:
            return self._socket.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    def close(self) -> None:
        self._socket.close()


class _Stream:
    """Standard error that is no file, as within tests and other programs."""

    descriptor = -1
    tells = False

    def write(self, data: bytes | bytearray) -> int:
        sys.stderr.write(data.decode("ascii"))
        sys.stderr.flush()
        return len(data)

    def close(self) -> None:
        """It is not ours."""


def open_sink(path: str) -> Sink:
    """A file to append to, or standard error for "-". Raises OSError."""
    if path == "-":
        return _standard_error()
    # A policy may ask for prompts in it: a new file is its owner's alone. A FIFO is opened for both directions, as it
    # may have no reader yet.
    is_fifo = Path(path).is_fifo()
    mode = os.O_RDWR if is_fifo else os.O_WRONLY
    return _Descriptor(os.open(path, mode | _FLAGS, 0o600))


def _standard_error() -> Sink:
    try:
        descriptor = sys.stderr.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError, io.UnsupportedOperation):
        return _Stream()
    if stat.S_ISSOCK(kind):
        return _Socket(os.dup(descriptor))
    if stat.S_ISREG(kind):
        return _Descriptor(os.dup(descriptor))  # never waits, and shares its place with what others write to it
    try:
        # Opened anew: made non-blocking as it is, it would be so for all other programs that share it.
        return _Descriptor(os.open(f"/proc/self/fd/{descriptor}", os.O_WRONLY | _FLAGS & ~os.O_CREAT))
    except OSError:
        return _Stream()


def tell(words: str) -> None:
    """A line on standard error for whoever reads it; an end must not wait for one who does not."""
    with contextlib.suppress(OSError):
        sink = open_sink("-")
        sink.write(f"{words}\n".encode("ascii", "backslashreplace"))
        sink.close()
