"""A collective as data: the steps that one rank executes. Algorithms build them, two executors run them.

Rules that every schedule keeps (tests check them): messages of an ordered pair are received in the order in which they
are sent; a source that is still being sent is not overwritten before a FLUSH; only OUTPUT and SCRATCH are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum


class Where(IntEnum):
    """Which buffer an operand lies in."""

    INPUT = 0
    OUTPUT = 1
    SCRATCH = 2
    MESSAGE = 3  # the message of a peer that WAIT returned


class Kind(IntEnum):
    """What a step does."""

    SEND = 0
    RECV = 1
    WAIT = 2
    RELEASE = 3
    COPY = 4
    REDUCE = 5
    FLUSH = 6


@dataclass(frozen=True, slots=True)
class Operand:
    """Bytes at `offset` of a buffer. `wide`: holds the accumulation type instead of the data type."""

    where: Where
    offset: int = 0
    peer: int = 0
    wide: bool = False

    def at(self, more: int) -> Operand:
        """The operand `more` bytes further on."""
        return Operand(self.where, self.offset + more, self.peer, self.wide)


NOWHERE = Operand(Where.OUTPUT)


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `length` is in bytes, for REDUCE in elements; `peers` are the receivers of a SEND."""

    kind: Kind
    peer: int = 0
    peers: tuple[int, ...] = ()
    dst: Operand = NOWHERE
    length: int = 0
    sources: tuple[Operand, ...] = ()
    finish: bool = False


@dataclass(frozen=True, slots=True)
class Schedule:
    """What one rank does for one call."""

    steps: tuple[Step, ...]
    scratch_bytes: int


@dataclass(slots=True)
class Builder:
    """Collects the steps of a schedule. Empty transfers are left out, on both sides alike."""

    rank: int
    ranks: int
    steps: list[Step] = field(default_factory=list)
    scratch_bytes: int = 0

    @property
    def peers(self) -> list[int]:
        """The other ranks, beginning with the next one, so that not all ranks turn to the same peer first."""
        return [(self.rank + i) % self.ranks for i in range(1, self.ranks)]

    def scratch(self, size: int, wide: bool = False) -> Operand:
        """Room for `size` bytes that no other step uses."""
        start = self.scratch_bytes
        self.scratch_bytes = start + (size + 63) // 64 * 64
        return Operand(Where.SCRATCH, start, 0, wide)

    def send(self, peers: Iterable[int], src: Operand, length: int, empty: bool = False) -> None:
        """Hand `length` bytes to each of the peers; `empty` sends a message without payload too (a barrier)."""
        targets = tuple(peers)
        if targets and (length or empty):
            self.steps.append(Step(Kind.SEND, peers=targets, length=length, sources=(src,)))

    def recv(self, peer: int, dst: Operand, length: int, empty: bool = False) -> None:
        """Expect a message. A transport may put it at `dst` or keep it: only MESSAGE(peer) after `wait` is sure."""
        if length or empty:
            self.steps.append(Step(Kind.RECV, peer=peer, dst=dst, length=length))

    def wait(self, peer: int) -> Operand:
        """Wait for the oldest expected message of the peer and give its place, valid until `release`."""
        self.steps.append(Step(Kind.WAIT, peer=peer))
        return Operand(Where.MESSAGE, 0, peer)

    def release(self, peer: int) -> None:
        """The peer's message is no longer needed."""
        self.steps.append(Step(Kind.RELEASE, peer=peer))

    def take(self, peer: int, dst: Operand, length: int) -> None:
        """Wait for a message and have it at `dst`, where it was expected."""
        if length:
            self.copy(dst, self.wait(peer), length)
            self.release(peer)

    def copy(self, dst: Operand, src: Operand, length: int) -> None:
        """Copy bytes; costs nothing where both are the same place."""
        if length:
            self.steps.append(Step(Kind.COPY, dst=dst, length=length, sources=(src,)))

    def reduce(self, dst: Operand, sources: Sequence[Operand], count: int, finish: bool) -> None:
        """Combine `count` elements of the sources in this order."""
        if count:
            self.steps.append(Step(Kind.REDUCE, dst=dst, length=count, sources=tuple(sources), finish=finish))

    def flush(self) -> None:
        """Wait until all sources that were sent may be overwritten."""
        if self.steps and self.steps[-1].kind is not Kind.FLUSH:
            self.steps.append(Step(Kind.FLUSH))

    def build(self) -> Schedule:
        """The finished schedule. Its end is a flush: the caller may reuse the input."""
        self.flush()
        return Schedule(tuple(self.steps), self.scratch_bytes)
