"""Cables and switches as layer-2 segments: who hears whom, what has carrier, how fast it is.

Both halves of a port are on the same wire, so a segment joins ports, never halves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from stellwerk.virtual.hardware import LINK_SPEED_MBPS, PORTS


@dataclass(frozen=True, slots=True, order=True)
class End:
    """One end of a cable: a port of a node."""

    node: str
    port: int

    def __str__(self) -> str:
        return f"{self.node}:{self.port}"


def parse_end(text: str) -> End:
    """`spark-1:0` -> End("spark-1", 0). Raises ValueError that says what is expected."""
    node, colon, port = text.rpartition(":")
    if not colon or not node or port not in {str(p) for p in PORTS}:
        raise ValueError(f"{text!r} is no cable end; write NODE:PORT, such as spark-1:0")
    return End(node, int(port))


@dataclass(slots=True)
class Segment:
    """One wire: a cable with two ends, or a switch with any number."""

    name: str
    kind: str  # "cable" | "switch"
    ends: list[End] = field(default_factory=list)
    speed_mbps: int = LINK_SPEED_MBPS

    def other_ends(self, end: End) -> list[End]:
        """Who else is on this wire."""
        return [other for other in self.ends if other != end]


class CableModel:
    """All segments of the fabric. An end is on one segment at most."""

    def __init__(self) -> None:
        self._segments: list[Segment] = []

    @property
    def segments(self) -> tuple[Segment, ...]:
        return tuple(self._segments)

    def segment_of(self, end: End) -> Segment | None:
        """The wire that `end` is on; None when nothing is plugged in."""
        return next((segment for segment in self._segments if end in segment.ends), None)

    def plug(self, first: End, second: End) -> Segment:
        """Join two ports by a cable. Raises ValueError when one of them is taken."""
        if first == second:
            raise ValueError(f"{first} cannot be joined with itself")
        for end in (first, second):
            if self.segment_of(end) is not None:
                raise ValueError(f"{end} already holds a cable")
        segment = Segment(f"{first}--{second}", "cable", [first, second])
        self._segments.append(segment)
        return segment

    def add_switch(self, name: str, ends: Iterable[End]) -> Segment:
        """Join any number of ports by a switch."""
        segment = Segment(name, "switch")
        self._segments.append(segment)
        for end in ends:
            self.join(name, end)
        return segment

    def join(self, switch: str, end: End) -> Segment:
        """Plug a port into a switch that is there."""
        segment = next((s for s in self._segments if s.name == switch and s.kind == "switch"), None)
        if segment is None:
            raise ValueError(f"there is no switch {switch!r}")
        if self.segment_of(end) is not None:
            raise ValueError(f"{end} already holds a cable")
        segment.ends.append(end)
        return segment

    def unplug(self, end: End) -> Segment:
        """Take the cable out of `end`. A cable is gone then; a switch keeps its other ports.

        Returns the segment as it was, so that it can be plugged in again.
        """
        segment = self.segment_of(end)
        if segment is None:
            raise ValueError(f"nothing is plugged into {end}")
        before = Segment(segment.name, segment.kind, list(segment.ends), segment.speed_mbps)
        if segment.kind == "cable":
            self._segments.remove(segment)
        else:
            segment.ends.remove(end)
        return before

    def move(self, source: End, target: End) -> None:
        """Take the plug out of `source` and put it into the free port `target`."""
        if self.segment_of(target) is not None:
            raise ValueError(f"{target} already holds a cable")
        segment = self.segment_of(source)
        if segment is None:
            raise ValueError(f"nothing is plugged into {source}")
        segment.ends[segment.ends.index(source)] = target
        if segment.kind == "cable":
            segment.name = "--".join(str(end) for end in segment.ends)

    def has_carrier(self, end: End, powered: set[str]) -> bool:
        """Whether the port sees light: a switch always answers, a node only while it has power."""
        segment = self.segment_of(end)
        if segment is None or end.node not in powered:
            return False
        return segment.kind == "switch" or any(other.node in powered for other in segment.other_ends(end))
