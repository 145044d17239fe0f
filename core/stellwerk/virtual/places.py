"""Where the directories of virtual clusters lie, and which clusters run."""

from __future__ import annotations

import errno
import os
import socket
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say

MAX_SOCKET_PATH_BYTES = 107  # sun_path holds 108 with its closing zero
CONTROL_SOCKET = "control.sock"
BLOCK_PORT = 20177
MEMORY = Path("/dev/shm")  # a tmpfs on every usual Linux
MIN_FREE_BYTES = 512 * 2**20


def default_base() -> Path:
    """The directory of this user's virtual clusters. Short: sockets live below it.

    In memory where that can be: a node has eight hundred small files, and a busy disk takes seconds for eight of them.
    """
    place = MEMORY if _fit(MEMORY) else Path(tempfile.gettempdir())
    return place / f"stellwerk-{os.getuid()}"


def _fit(place: Path) -> bool:
    """Whether programs may be written and run there, with room to spare."""
    try:
        status = os.statvfs(place)
    except OSError:
        return False
    free_bytes = status.f_bavail * status.f_frsize
    return not status.f_flag & os.ST_NOEXEC and free_bytes >= MIN_FREE_BYTES and os.access(place, os.W_OK | os.X_OK)


def _check_ours(parent: Path) -> None:
    """The place may be one where everybody can write: whoever made the directory first must have been us."""
    status = parent.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        raise BadInput(
            say("{parent} belongs to somebody else", parent=parent), remedy="name another directory with --base-dir"
        )


def make_cluster_dir(base: Path | None) -> Path:
    """A fresh directory, readable by its owner alone. Raises `BadInput` when its path is too long for sockets."""
    parent = base.resolve() if base is not None else default_base()
    for _ in range(3):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_ours(parent)
        try:
            made = Path(tempfile.mkdtemp(prefix="v-", dir=parent))
            break
        except FileNotFoundError:
            continue  # the last cluster there ended just now and took the directory along
    else:
        raise BadInput(
            say("{parent} cannot be written to", parent=parent), remedy="name another directory with --base-dir"
        )
    longest = made / "spark-8" / "home" / ".local" / "state" / "stellwerk" / "agent.sock"
    if len(os.fsencode(longest)) > MAX_SOCKET_PATH_BYTES:
        made.rmdir()
        raise BadInput(
            say("{parent} is too deep for a virtual cluster", parent=parent),
            why=say(
                "sockets have paths of up to {max_socket_path_bytes} bytes", max_socket_path_bytes=MAX_SOCKET_PATH_BYTES
            ),
            remedy="name a shorter directory with --base-dir",
        )
    return made


@dataclass(slots=True)
class LoopbackBlock:
    """127.77.N.0/24 for one cluster alone: what its nodes listen on must not meet another cluster's."""

    number: int
    _held: socket.socket | None = None

    @classmethod
    def take(cls) -> LoopbackBlock:
        """The lowest block that no other cluster on this computer holds; a bound UDP port is the sign of it."""
        for number in range(256):
            sign = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            try:
                sign.bind((f"127.77.{number}.1", BLOCK_PORT))
            except OSError as error:
                sign.close()
                if error.errno == errno.EADDRINUSE:
                    continue
                return cls(0)  # this system has no loopback addresses but 127.0.0.1
            return cls(number, sign)
        raise BadInput("256 virtual clusters run already", remedy="end some of them")

    def release(self) -> None:
        """Let another cluster have it."""
        if self._held is not None:
            self._held.close()


def running(base: Path | None = None) -> list[Path]:
    """The directories of all clusters of this user that can be spoken to."""
    places = [base] if base is not None else [place / f"stellwerk-{os.getuid()}" for place in _all_places()]
    return sorted(path.parent for place in places for path in place.glob(f"v-*/{CONTROL_SOCKET}"))


def _all_places() -> tuple[Path, ...]:
    """A cluster that was started when memory was short lies with the other temporary files."""
    return MEMORY, Path(tempfile.gettempdir())


def choose(directory: Path | None) -> Path:
    """The cluster in `directory`, or the only one that runs. Raises `BadInput`."""
    if directory is not None:
        return directory
    found = running()
    if not found:
        raise BadInput("no virtual cluster runs", remedy="start one with: stellwerk virtual up")
    if len(found) > 1:
        listed = ", ".join(str(path) for path in found)
        raise BadInput("more than one virtual cluster runs", why=listed, remedy="choose one with --dir")
    return found[0]
