"""Files that survive a crash: written whole beside the old one, synced, then put in its place."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say


def write_atomic(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace `path` with `data`. On any failure the old file is intact and the error says why.

    The new file is created with `mode` from the start, so that a secret is never readable for a moment.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
        sync_directory(path.parent)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise cannot_write(path, error) from error


def append_durable(path: Path, line: bytes) -> None:
    """Append one line and sync it; a torn line of an earlier crash is closed off first."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise cannot_write(path, error) from error
    start = os.fstat(descriptor).st_size
    try:
        torn = start > 0 and os.pread(descriptor, 1, start - 1) != b"\n"
        payload = (b"\n" if torn else b"") + line.rstrip(b"\n") + b"\n"
        written = os.write(descriptor, payload)
        if written != len(payload):
            os.ftruncate(descriptor, start)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        os.close(descriptor)


def sync_directory(directory: Path) -> None:
    """Make a rename in `directory` last through a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def cannot_write(path: Path, error: OSError) -> StellwerkError:
    """What to tell a person when a file of ours cannot be written."""
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return StellwerkError(
        say("{path} could not be saved on this computer", path=path.name),
        why="the disk is full" if full else say("{path}: {strerror}", path=path, strerror=error.strerror),
        remedy="Free some space and try again; the file from before is unchanged"
        if full
        else "See to the permissions of that folder and try again; the file from before is unchanged",
    )
