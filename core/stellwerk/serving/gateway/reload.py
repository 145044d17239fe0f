"""The policy file on disk: has it changed since it was last read?"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_MOST_BYTES = 4 * 1024 * 1024


class PolicyFile:
    """None as path: the policy came from elsewhere and never changes by itself."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stamp = self._seen = self._look()

    def _look(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat() if self._path is not None else None
        except OSError:
            return None  # being replaced at this moment; the next look will find it
        return (status.st_mtime_ns, status.st_size, status.st_ino) if status is not None else None

    def changed(self) -> bool:
        """True once after every change, when the file has rested since the look before.

        Some editors empty a file and then write it: half a policy may be one, without the keys that it asks for.
        """
        before, self._seen = self._seen, self._look()
        if self._seen is None or self._seen == self._stamp or self._seen != before:
            return False
        self._stamp = self._seen
        return True

    def read(self) -> str:
        """The whole text. Raises OSError: not there, no file, too large, no UTF-8. The text is for people."""
        try:
            return self._read()
        except UnicodeDecodeError as error:
            raise OSError(f"{self._path} is not UTF-8: byte {error.start} cannot be read.") from error
        except OSError as error:
            if error.strerror is None:
                raise
            raise OSError(f"{self._path} cannot be read: {error.strerror}.") from error

    def _read(self) -> str:
        if self._path is None:
            raise FileNotFoundError("This gateway was started without a policy file; send the policy as the body.")
        self._stamp = self._look()
        # Without waiting: opening a named pipe that nobody writes to would never end.
        with os.fdopen(os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(f"{self._path} is not a file.")
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise OSError(f"{self._path} is larger than {_MOST_BYTES} bytes; that is no policy.")
        return data.decode("utf-8")
