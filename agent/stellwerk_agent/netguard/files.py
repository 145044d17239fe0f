"""Files that are replaced whole or not at all, and stay so after a power cut."""

from __future__ import annotations

import os
import stat
from pathlib import Path

TEMPORARY = ".stellwerk-new"


def sync_directory(path: Path) -> None:
    """Make creations, renames and removals in a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(path: Path) -> bytes | None:
    """The content of a regular file; None when there is none. A link or a device is an `OSError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as stream:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        return stream.read()


def place(path: Path, data: bytes, mode: int, owner: tuple[int, int] | None = None) -> None:
    """Put a file in place atomically and durably.

    The temporary name begins with a dot and ends unlike anything that netplan, sysctl or systemd read.
    """
    temporary = path.with_name(f".{path.name}{TEMPORARY}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if owner is not None and owner != (os.geteuid(), os.getegid()):
                os.fchown(descriptor, *owner)
            os.fchmod(descriptor, mode)
            stream.write(data)
            stream.flush()
            os.fsync(descriptor)
        temporary.replace(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def remove(path: Path) -> None:
    """Remove a file durably; it may be gone already. What `place` left behind goes with it."""
    path.with_name(f".{path.name}{TEMPORARY}").unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    if path.parent.is_dir():
        sync_directory(path.parent)


def make_directory(path: Path, mode: int) -> list[Path]:
    """Make a directory and its missing parents durably; gives those that were made, outermost first."""
    missing: list[Path] = []
    current = path
    while not current.exists():
        missing.insert(0, current)
        current = current.parent
    for directory in missing:
        directory.mkdir(mode=mode, exist_ok=True)
        directory.chmod(mode)
        sync_directory(directory.parent)
    return missing
