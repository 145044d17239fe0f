"""Files that only their owner may read: keys, trusted host keys. Replaced as a whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say

_MAX_BYTES = 4 * 1024 * 1024


def write_private(path: Path, data: bytes) -> None:
    """Write `data` with mode 0600; after a crash or on a full disk the old file is still whole.

    Raises `StellwerkError` that names the file and the reason.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mkstemp makes it 0600
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise StellwerkError(
            say("{path} could not be written: {strerror}", path=path, strerror=error.strerror or error),
            why="The old file was left as it was",
            remedy="Free some space on this computer, or correct the folder's permissions, and try again",
        ) from None


def read_private(path: Path) -> bytes | None:
    """The content, or `None` when there is no such file. Raises `BadInput` when it cannot be used."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadInput(
            say("{path} cannot be read: {strerror}", path=path, strerror=error.strerror or error),
            remedy="Correct its permissions and try again",
        ) from None
    if len(data) > _MAX_BYTES:
        raise BadInput(
            say("{path} is larger than {max_bytes} bytes", path=path, max_bytes=_MAX_BYTES),
            remedy="Move it away and try again",
        )
    return data
