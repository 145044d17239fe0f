"""Which clusters of this computer were made of simulated nodes, and whether those still run."""

from __future__ import annotations

import socket
from pathlib import Path

from stellwerk.setup.files import write_atomic
from stellwerk.setup.store import ClusterFolder

MARK = "virtual"  # a file beside cluster.yaml; holds the directory of the virtual cluster


def set_mark(folder: ClusterFolder, directory: Path) -> None:
    """Say that the cluster's nodes live in `directory`."""
    write_atomic(folder.path / MARK, str(directory).encode())


def home_of(folder: ClusterFolder) -> Path | None:
    """Where the cluster's simulated nodes live or lived; None for real machines."""
    try:
        return Path((folder.path / MARK).read_text("utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def has_ended(folder: ClusterFolder) -> bool:
    """The cluster's nodes were simulated ones, and nobody runs them any more."""
    home = home_of(folder)
    if home is None:
        return False
    from stellwerk.virtual.places import CONTROL_SOCKET

    with socket.socket(socket.AF_UNIX) as talk:
        try:
            talk.connect(str(home / CONTROL_SOCKET))
        except OSError:  # gone with its directory, or left behind by a process that was killed
            return True
    return False
