"""Where the directories of virtual clusters lie, and which clusters run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from stellwerk.model.errors import BadInput

MAX_SOCKET_PATH_BYTES = 107  # sun_path holds 108 with its closing zero
CONTROL_SOCKET = "control.sock"


def default_base() -> Path:
    """The directory of this user's virtual clusters. Short: sockets live below it."""
    return Path(tempfile.gettempdir()) / f"stellwerk-{os.getuid()}"


def make_cluster_dir(base: Path | None) -> Path:
    """A fresh directory, readable by its owner alone. Raises `BadInput` when its path is too long for sockets."""
    parent = (base or default_base()).resolve()
    for _ in range(3):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if parent.stat().st_uid != os.getuid():
            raise BadInput(f"{parent} belongs to somebody else", remedy="name another directory with --dir")
        try:
            made = Path(tempfile.mkdtemp(prefix="v-", dir=parent))
            break
        except FileNotFoundError:
            continue  # the last cluster there ended just now and took the directory along
    else:
        raise BadInput(f"{parent} cannot be written to", remedy="name another directory with --dir")
    longest = made / "spark-8" / "home" / ".local" / "state" / "stellwerk" / "agent.sock"
    if len(os.fsencode(longest)) > MAX_SOCKET_PATH_BYTES:
        made.rmdir()
        raise BadInput(
            f"{parent} is too deep for a virtual cluster",
            why=f"sockets have paths of up to {MAX_SOCKET_PATH_BYTES} bytes",
            remedy="name a shorter directory with --dir",
        )
    return made


def running(base: Path | None = None) -> list[Path]:
    """The directories of all clusters of this user that can be spoken to."""
    return sorted(path.parent for path in (base or default_base()).glob(f"v-*/{CONTROL_SOCKET}"))


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
