"""What the algorithms write with: a call as one rank sees it, and a builder that counts in elements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from stellwerk.collectives.kinds import Algorithm, DataType, Operation
from stellwerk.collectives.schedule import Builder, Operand, Where

INPUT = Operand(Where.INPUT)
OUTPUT = Operand(Where.OUTPUT)
MESSAGE_BYTES_MAX = 1 << 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call as one rank sees it.

    `count` is in elements: of the whole vector for all_reduce, reduce and broadcast; of one rank's part for the others.
    `sends`/`receives` hold the elements per peer of an uneven all_to_all (else empty).
    `window_bytes` bounds what a rank may have under way: longer calls are cut into chunks of it.
    """

    operation: Operation
    algorithm: Algorithm
    rank: int
    ranks: int
    count: int
    dtype: DataType
    root: int = 0
    window_bytes: int = MESSAGE_BYTES_MAX
    sends: tuple[int, ...] = ()
    receives: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of elements."""

    start: int
    count: int


def split(part: Part, ranks: int) -> list[Part]:
    """One nearly equal piece per rank, in whole cache lines where there is enough."""
    grain = 16 if part.count >= 16 * ranks else 1
    edges = [part.count * i // (ranks * grain) * grain for i in range(ranks)] + [part.count]
    return [Part(part.start + a, b - a) for a, b in pairwise(edges)]


def chunks(count: int, largest: int) -> Iterator[Part]:
    """Cut `count` elements into nearly equal chunks of at most `largest`."""
    pieces = max(1, -(-count // max(1, largest)))
    for i in range(pieces):
        start, end = count * i // pieces, count * (i + 1) // pieces
        yield Part(start, end - start)


class Writer:
    """A builder that counts in elements of one type."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.b = Builder(call.rank, call.ranks)
        self.size = call.dtype.bytes
        self.wide_size = call.dtype.wide.bytes
        self.wide = self.wide_size != self.size
        self._areas: dict[str, tuple[Operand, int]] = {}

    def area(self, name: str, size: int, wide: bool = False) -> Operand:
        """Scratch under a name: the chunks of one call use the same room again."""
        if name not in self._areas or self._areas[name][1] < size:
            self._areas[name] = (self.b.scratch(size, wide), size)
        return self._areas[name][0]

    def input(self, start: int) -> Operand:
        return INPUT.at(start * self.size)

    def output(self, start: int) -> Operand:
        return OUTPUT.at(start * self.size)
