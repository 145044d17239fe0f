"""Bodies in chunks (RFC 9112, section 7.1): read strictly, written plainly."""

from __future__ import annotations

import re

LAST_CHUNK = b"0\r\n\r\n"

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[\t\x20-\x7e]{0,200})?\r\n")
_HEXADECIMAL = b"0123456789abcdefABCDEF"
_LONGEST_SIZE_LINE = 256
_LONGEST_TRAILER = 8 * 1024
_NO_BYTES = b""


class ChunkError(ValueError):
    """The bytes are not a chunked body."""


def encode_chunk(payload: bytes) -> bytes:
    """One chunk. An empty payload would end the body, so it becomes nothing."""
    return b"%x\r\n%b\r\n" % (len(payload), payload) if payload else _NO_BYTES


class _Sizes(dict[bytes, int]):
    """Size lines that have been read, so that the same ones need not be read again. -1: no plain size."""

    def __missing__(self, line: bytes) -> int:
        # int() alone would also take signs, blanks, underscores and 0x.
        if not 0 < len(line) <= 8 or line.strip(_HEXADECIMAL):
            return -1
        size = int(line, 16)
        if len(self) < _MOST_SIZES:
            self[line] = size
        return size


_MOST_SIZES = 4096
_size_of = _Sizes().__getitem__


def whole_chunks(data: bytes) -> tuple[bytes, bool] | None:
    """(payload, does the body end here) if `data` is exactly whole chunks without a line end inside; else None.

    Nearly all streamed answers come so. Everything is left to a few calls that do not run in Python.
    """
    parts = data.split(b"\r\n")
    if parts.pop():
        return None
    payloads = parts[1::2]
    lengths = list(map(len, payloads))
    if list(map(_size_of, parts[::2])) != lengths or not lengths:
        return None
    ended = not lengths[-1]
    if lengths.count(0) != ended or (ended and parts[-2] != b"0"):
        return None  # something follows the last chunk, or it is written unusually
    return (payloads[0] if len(payloads) == 1 else b"".join(payloads)), ended


class ChunkReader:
    """Takes the chunk framing off. Feed it what arrives; it remembers where it stands.

    `raw`: when the last feed was exactly whole chunks, the same payload with its framing, to be passed on as it came
    (never with the last chunk); else None.
    """

    __slots__ = ("_held", "_missing", "_trailer", "ended", "raw")

    def __init__(self) -> None:
        self._held = _NO_BYTES  # the start of a size line or trailer that is not complete yet
        self._missing = 0  # bytes of the current chunk still to come, with its final CR LF
        self._trailer = False
        self.ended = False
        self.raw: bytes | None = None

    def feed(self, data: bytes) -> tuple[bytes, bytes]:
        """(payload, what follows the body). The second is empty until `ended`.

        Raises:
            ChunkError: malformed framing.
        """
        self.raw = None
        if not self._missing and not self._held and not self._trailer:
            whole = whole_chunks(data)
            if whole is not None:
                payload, self.ended = whole
                self.raw = data[: -len(LAST_CHUNK)] if self.ended else data
                return payload, _NO_BYTES
            found = self._feed_whole(data)
            if found is not None:
                return found, _NO_BYTES
        return self._feed(data)

    def _feed_whole(self, data: bytes) -> bytes | None:
        """The payload, if `data` is exactly whole chunks, whatever stands in them."""
        position, length = 0, len(data)
        payload: list[bytes] = []
        while position < length:
            start = data.find(b"\r\n", position, position + 10)
            digits = data[position:start]
            # int() alone would also take signs, blanks, underscores and 0x.
            if start < 0 or not digits or digits.strip(_HEXADECIMAL):
                return None
            size = int(digits, 16)
            start += 2
            end = start + size
            if data[end : end + 2] != b"\r\n":
                return None
            if not size:
                if end + 2 != length:
                    return None
                self.raw = data[:position]
                self.ended = True
                break
            payload.append(data[start:end])
            position = end + 2
        else:
            self.raw = data
        return payload[0] if len(payload) == 1 else b"".join(payload)

    def _feed(self, data: bytes) -> tuple[bytes, bytes]:
        if self._held:
            data = self._held + data
            self._held = _NO_BYTES
        payload: list[bytes] = []
        position = 0
        length = len(data)
        while position < length:
            if self._trailer:
                rest = self._read_trailer(data, position)
                return b"".join(payload), rest
            if self._missing:
                position = self._read_data(data, position, payload)
                continue
            line = _SIZE.match(data, position)
            if line is None:
                self._hold_size_line(data, position)
                break
            size = int(line[1], 16)
            position = line.end()
            if size:
                self._missing = size + 2
            else:
                self._trailer = True
        return (payload[0] if len(payload) == 1 else b"".join(payload)), _NO_BYTES

    def _read_data(self, data: bytes, position: int, payload: list[bytes]) -> int:
        """Take what is there of the current chunk; the last two bytes of `_missing` must be CR LF."""
        body = self._missing - 2
        available = len(data) - position
        if body > 0:
            taken = min(body, available)
            payload.append(data[position : position + taken])
            self._missing -= taken
            return position + taken
        expected = b"\r\n"[2 - self._missing :]
        taken = min(self._missing, available)
        if data[position : position + taken] != expected[:taken]:
            raise ChunkError("a chunk is longer than its size says")
        self._missing -= taken
        return position + taken

    def _hold_size_line(self, data: bytes, position: int) -> None:
        held = data[position:]
        if b"\n" in held or len(held) > _LONGEST_SIZE_LINE:
            raise ChunkError("a chunk size is not a hexadecimal number")
        first = held[0]
        if first not in b"0123456789abcdefABCDEF":
            raise ChunkError("a chunk size is not a hexadecimal number")
        self._held = held

    def _read_trailer(self, data: bytes, position: int) -> bytes:
        """Skip trailer fields: nothing here uses them, and passing them on would let them pose as headers."""
        if data.startswith(b"\r\n", position):
            self.ended = True
            return data[position + 2 :]
        end = data.find(b"\r\n\r\n", position)
        if end < 0:
            if len(data) - position > _LONGEST_TRAILER:
                raise ChunkError("the trailer is too long")
            self._held = data[position:]
            return _NO_BYTES
        if end - position > _LONGEST_TRAILER:
            raise ChunkError("the trailer is too long")
        for line in data[position:end].split(b"\r\n"):
            name, colon, _ = line.partition(b":")
            if not colon or not name or name.strip() != name or b"\n" in line or b"\r" in line:
                raise ChunkError("a trailer line is malformed")
        self.ended = True
        return data[end + 4 :]
