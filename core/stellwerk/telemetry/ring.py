"""Ring buffers whose newest part is always one contiguous stretch of memory."""

from __future__ import annotations

import math
from array import array

FINE_POINTS = 3000  # five minutes at 10 Hz
COARSE_POINTS = 3600  # an hour at 1 Hz
GAP = math.nan


class Ring:
    """The last `capacity` values. Every value is written twice, so that a window never wraps around the end."""

    __slots__ = ("_at", "_data", "capacity", "length")

    def __init__(self, capacity: int, typecode: str) -> None:
        self.capacity = capacity
        self.length = 0
        self._at = 0
        self._data: array[float] = array(typecode, bytes(array(typecode).itemsize * capacity * 2))

    def append(self, value: float) -> None:
        self._data[self._at] = value
        self._data[self._at + self.capacity] = value
        self._at = (self._at + 1) % self.capacity
        self.length = min(self.length + 1, self.capacity)

    def fill(self, value: float, count: int) -> None:
        """Append `value` `count` times (a series that appears late is as long as the others)."""
        for _ in range(min(count, self.capacity)):
            self.append(value)

    def newest(self, count: int) -> array[float]:
        """A copy of the newest `count` values, oldest first."""
        count = min(count, self.length)
        end = self._at + self.capacity
        return self._data[end - count : end]

    @property
    def last(self) -> float | None:
        return self._data[self._at + self.capacity - 1] if self.length else None
