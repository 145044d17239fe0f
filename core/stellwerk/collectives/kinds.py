"""The words of the collective core as enumerations; the numbers are those of `native/stellwerk.h`."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import TypeVar


class _FastEnum(IntEnum):
    """Hashes as the number that it is: these are keys of the cache that every call looks into."""

    __hash__ = int.__hash__


class DataType(_FastEnum):
    """Element types. Half types are summed in float32."""

    FLOAT32 = 0
    FLOAT64 = 1
    FLOAT16 = 2
    BFLOAT16 = 3
    INT32 = 4
    INT64 = 5
    UINT8 = 6

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return (4, 8, 2, 2, 4, 8, 1)[self]

    @property
    def wide(self) -> DataType:
        """Type in which partial results are kept between the steps of an algorithm."""
        return DataType.FLOAT32 if self.bytes == 2 else self


class ReduceOp(_FastEnum):
    """How values are combined. An average of integers is cut towards zero."""

    SUM = 0
    AVG = 1
    MAX = 2
    MIN = 3
    PRODUCT = 4


class Operation(_FastEnum):
    """What a collective call does."""

    ALL_REDUCE = 1
    ALL_GATHER = 2
    REDUCE_SCATTER = 3
    BROADCAST = 4
    ALL_TO_ALL = 5
    BARRIER = 6
    REDUCE = 7
    GATHER = 8
    SCATTER = 9


class Algorithm(_FastEnum):
    """How it is done; see `algorithms.py`."""

    DIRECT = 1
    TWO_SHOT = 2
    RING = 3
    RECURSIVE_DOUBLING = 4
    RELAY = 5


class Transport(StrEnum):
    """What carries the bytes. `PYTHON` is TCP without the native library."""

    SHM = "shm"
    TCP = "tcp"
    VERBS = "verbs"
    PYTHON = "python"


class Topology(StrEnum):
    """How the nodes are joined, as far as the choice of an algorithm depends on it."""

    HOST = "host"  # all ranks on one machine: processor time per message decides, not distance
    MESH = "mesh"  # a pair, a triangle, or a switch: every rank reaches every other directly
    RING = "ring"  # a ring of four or more: only neighbours are near


E = TypeVar("E", bound=IntEnum)


def by_name(kind: type[E], word: str | E) -> E:
    """Look up `"sum"` or `ReduceOp.SUM`; an unknown word is a ValueError that lists the known ones."""
    if isinstance(word, kind):
        return word
    try:
        return kind[str(word).upper()]
    except KeyError:
        known = ", ".join(member.name.lower() for member in kind)
        raise ValueError(f"unknown {kind.__name__} {word!r}; known are: {known}") from None
