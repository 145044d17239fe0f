"""The scan loop in C where it can be had, else in Python; same numbers either way."""

from __future__ import annotations

import ctypes
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import add, itemgetter
from pathlib import Path
from typing import Protocol

from stellwerk.native import DIFFICULTY, NativeMissing
from stellwerk.serving.classifier import lexicon
from stellwerk.serving.classifier.counts import COUNTS
from stellwerk.serving.classifier.scan import scan

ABI = 1


class Scanner(Protocol):
    """`weights`: three floats per bucket (strong head, weak head, square of its rarity)."""

    def buckets(self, text: bytes, bits: int) -> tuple[Sequence[int], Sequence[int]]:
        """(counts, distinct buckets in order)."""
        ...

    def bind(self, weights: array[float], bits: int) -> Callable[[bytes], tuple[Sequence[int], float, float, float]]:
        """A function text -> (counts, sum of strong weights, of weak weights, of squares), over distinct buckets."""
        ...


class PythonScanner:
    """The reference; used where there is no compiler and no prebuilt library."""

    def buckets(self, text: bytes, bits: int) -> tuple[Sequence[int], Sequence[int]]:
        return scan(text, bits)

    def bind(self, weights: array[float], bits: int) -> Callable[[bytes], tuple[Sequence[int], float, float, float]]:
        strong, weak, rarity = weights[0::3], weights[1::3], weights[2::3]

        def run(text: bytes) -> tuple[Sequence[int], float, float, float]:
            counts, buckets = scan(text, bits)
            if not buckets:
                return counts, 0.0, 0.0, 0.0
            if len(buckets) == 1:  # of which itemgetter makes no tuple
                (only,) = buckets
                return counts, 0.0 + strong[only], 0.0 + weak[only], 0.0 + rarity[only]
            pick = itemgetter(*buckets)
            return counts, in_order(pick(strong)), in_order(pick(weak)), in_order(pick(rarity))

        return run


def in_order(values: Sequence[float]) -> float:
    """The sum, added one by one as in C: sum() of newer Pythons rounds better, and so differently."""
    return sum(values, 0.0) if sys.version_info < (3, 12) else reduce(add, values, 0.0)


class _CScan(ctypes.Structure):
    """`struct sw_scan`."""

    _fields_ = (
        ("weights", ctypes.c_void_p),
        ("words", ctypes.c_void_p),
        ("classes", ctypes.c_void_p),
        ("crc", ctypes.c_void_p),
        ("word_count", ctypes.c_uint32),
        ("bits", ctypes.c_uint32),
        ("buckets", ctypes.c_void_p),
        ("bucket_room", ctypes.c_uint64),
        ("sums", ctypes.c_double * 3),
        ("counts", ctypes.c_int32 * 64),
        ("bucket_count", ctypes.c_uint64),
    )


@dataclass(frozen=True, slots=True)
class _Tables:
    words: ctypes.Array[ctypes.c_uint32]
    classes: ctypes.Array[ctypes.c_uint32]
    crc: ctypes.Array[ctypes.c_uint32]


class NativeScanner:
    """The C loop. Thread-safe: every call has its own structure."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self._scan = library.sw_scan_text
        self._scan.restype = ctypes.c_int
        self._scan.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_void_p]
        known = lexicon.word_classes()
        entries = ctypes.c_uint32 * len(known)
        crc = (ctypes.c_uint32 * 256)(*(_crc_entry(index) for index in range(256)))
        self._tables = _Tables(entries(*known), entries(*known.values()), crc)

    def _prepare(self, bits: int) -> _CScan:
        address = ctypes.addressof
        tables = self._tables
        call = _CScan()
        call.words, call.classes, call.crc = address(tables.words), address(tables.classes), address(tables.crc)
        call.word_count, call.bits = len(tables.words), bits
        return call

    def _run(self, call: _CScan, text: bytes) -> None:
        room = ctypes.create_string_buffer(len(text) + 1)
        if self._scan(ctypes.addressof(call), text, len(text), ctypes.addressof(room)) != 0:
            raise ValueError("a text of more than 2 GiB, or a table of a size that this library does not know")

    def buckets(self, text: bytes, bits: int) -> tuple[Sequence[int], Sequence[int]]:
        call = self._prepare(bits)
        out = (ctypes.c_uint32 * (1 << bits))()
        call.buckets, call.bucket_room = ctypes.addressof(out), 1 << bits
        self._run(call, text)
        return call.counts[:COUNTS], out[: call.bucket_count]

    def bind(self, weights: array[float], bits: int) -> Callable[[bytes], tuple[Sequence[int], float, float, float]]:
        address, _ = weights.buffer_info()

        def run(text: bytes) -> tuple[Sequence[int], float, float, float]:
            call = self._prepare(bits)
            call.weights = address
            self._run(call, text)
            strong, weak, rarity = call.sums
            # `weights` is named here so that the table lives as long as this function.
            assert len(weights) == 3 << bits
            return call.counts[:COUNTS], strong, weak, rarity

        return run


def _crc_entry(index: int) -> int:
    """Entry of the table of CRC-32 (polynomial 0xEDB88320, as in zlib)."""
    for _ in range(8):
        index = (index >> 1) ^ (0xEDB88320 if index & 1 else 0)
    return index


def load_native(path: Path) -> NativeScanner:
    """A scanner from a library file. NativeMissing when it is of another version or cannot be loaded."""
    try:
        library = ctypes.CDLL(str(path))
        library.sw_scan_size.restype = ctypes.c_uint64
        library.sw_scan_sources.restype = ctypes.c_char_p
        abi, size, sources = library.sw_scan_abi(), library.sw_scan_size(), library.sw_scan_sources().decode()
    except (OSError, AttributeError) as error:
        raise NativeMissing(f"{path} cannot be loaded: {error}") from error
    if abi != ABI or size != ctypes.sizeof(_CScan):
        raise NativeMissing(f"{path} is of another version")
    DIFFICULTY.check_sources(path, sources)
    return NativeScanner(library)


@cache
def native_scanner() -> NativeScanner:
    """The C loop. NativeMissing says why there is none; STELLWERK_NATIVE=0 switches it off."""
    return DIFFICULTY.load(load_native)


def best_scanner() -> Scanner:
    """C where it can be had, else Python."""
    try:
        return native_scanner()
    except NativeMissing:
        return PythonScanner()
