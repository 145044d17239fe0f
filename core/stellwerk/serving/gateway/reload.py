"""The policy file on disk: has it changed since it was last read?"""

from __future__ import annotations

from pathlib import Path

_MOST_BYTES = 4 * 1024 * 1024


class PolicyFile:
    """None as path: the policy came from elsewhere and never changes by itself."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._stamp = self._look()

    def _look(self) -> tuple[int, int, int] | None:
        try:
            status = self._path.stat() if self._path is not None else None
        except OSError:
            return None  # being replaced at this moment; the next look will find it
        return (status.st_mtime_ns, status.st_size, status.st_ino) if status is not None else None

    def changed(self) -> bool:
        """True once after every change."""
        stamp = self._look()
        if stamp is None or stamp == self._stamp:
            return False
        self._stamp = stamp
        return True

    def read(self) -> str:
        """The whole text. Raises OSError, UnicodeDecodeError."""
        if self._path is None:
            raise FileNotFoundError("This gateway was started without a policy file; send the policy as the body.")
        self._stamp = self._look()
        with self._path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise OSError(f"{self._path} is larger than {_MOST_BYTES} bytes; that is no policy.")
        return data.decode("utf-8")
