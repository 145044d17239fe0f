"""The cluster's own SSH key: one ed25519 pair per cluster, made on this desktop, readable by its owner only."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

import asyncssh

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say
from stellwerk.remote.private_file import read_private, write_private

MARKER = "stellwerk-cluster-key"  # the first word of our comment in authorized_keys


@dataclass(frozen=True, slots=True)
class ClusterKey:
    """A key pair. `public_line` is `ssh-ed25519 AAAA…` without comment."""

    private: asyncssh.SSHKey = field(repr=False)
    public_line: str

    @property
    def fingerprint(self) -> str:
        """SHA256:… of the public half."""
        return self.private.get_fingerprint("sha256")

    @classmethod
    def load_or_create(cls, path: Path) -> ClusterKey:
        """Read the key at `path`, or make one. Raises `BadInput` when the file holds something else."""
        data = read_private(path)
        if data is None:
            private = asyncssh.generate_private_key("ssh-ed25519", comment=MARKER)
            write_private(path, private.export_private_key("openssh"))
            return cls(private, _public_line(private))
        try:
            private = asyncssh.import_private_key(data)
        except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as error:
            raise BadInput(
                say("{path} is not a private key that can be used: {error}", path=path, error=error),
                why="It is the key with which this cluster's machines are reached",
                remedy="Restore it from a backup, or move it away and pair the machines again",
            ) from None
        _close_to_others(path)
        return cls(private, _public_line(private))


def _public_line(key: asyncssh.SSHKey) -> str:
    return " ".join(key.export_public_key("openssh").decode("ascii").split()[:2])


def _close_to_others(path: Path) -> None:
    """A restored backup is often readable by everybody."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if os.name == "posix" and mode & 0o077:
        path.chmod(0o600)
