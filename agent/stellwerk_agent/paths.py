"""Files of the agent in the user's state directory, and sockets whose paths may be long."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from stellwerk.model.errors import AgentRefused
from stellwerk.model.text import say

MAX_SOCKET_PATH_BYTES = 107  # sun_path holds 108 bytes with its closing zero


def socket_path(state_dir: Path) -> Path:
    """Where the daemon listens."""
    return state_dir / "agent.sock"


def prepare_state_dir(state_dir: Path) -> None:
    """Make the state directory for its owner alone. Raises `AgentRefused` when that cannot be."""
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if state_dir.stat().st_uid != os.getuid():
            raise AgentRefused(
                say("{state_dir} belongs to another user", state_dir=state_dir),
                remedy="give it back to the user or remove it",
            )
        state_dir.chmod(0o700)
    except OSError as error:
        raise AgentRefused(
            say("the agent cannot keep its state in {state_dir}", state_dir=state_dir),
            why=error.strerror or str(error),
            remedy="see to space and permissions there",
        ) from None


@contextlib.contextmanager
def short_path(path: Path) -> Iterator[str]:
    """`path`, or a name of the same file that fits into a socket address.

    A home directory can be longer than a socket address; the kernel accepts the way over an open directory.
    """
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


def connect(path: Path) -> socket.socket | None:
    """A connection to the daemon, or None when nobody listens there (no socket, or a stale one)."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(path) as name:
            connection.connect(name)
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    return connection


def bound(path: Path, flags: int = 0) -> socket.socket:
    """A socket at `path` for its owner alone, which does not listen yet. `flags`: those of its type."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | flags)
    before = os.umask(0o177)
    try:
        with short_path(path) as name:
            listener.bind(name)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def listen(path: Path) -> socket.socket:
    """Listen at `path` for the owner alone, replacing a stale socket. The caller holds the daemon's lock."""
    path.unlink(missing_ok=True)
    listener = bound(path, socket.SOCK_NONBLOCK)
    listener.listen(16)
    return listener


@contextlib.contextmanager
def file_lock(path: Path) -> Iterator[int]:
    """Hold an exclusive lock on `path`, waiting for it; gives the file descriptor."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield descriptor
    finally:
        os.close(descriptor)


def try_file_lock(path: Path) -> int | None:
    """An exclusive lock on `path` as an open file descriptor, or None when another process holds it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
