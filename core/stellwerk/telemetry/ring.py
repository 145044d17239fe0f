"""Ring buffers of numbers."""

from __future__ import annotations

import math
from array import array

FINE_POINTS = 3000  # five minutes at 10 Hz
COARSE_POINTS = 3600  # an hour at 1 Hz
GAP = math.nan


class Ring:
    """The last `capacity` values."""

    __slots__ = ("_at", "_data", "capacity", "length")

    def __init__(self, capacity: int, typecode: str) -> None:
        self.capacity = capacity
        self.length = 0
        self._at = 0  # where the next value goes
        self._data: array[float] = array(typecode)  # grows to its capacity: most series are young

    def append(self, value: float) -> None:
        if self.length < self.capacity:
            self._data.append(value)
            self.length += 1
        else:
            self._data[self._at] = value
        self._at = (self._at + 1) % self.capacity

    def fill(self, value: float, count: int) -> None:
        """Append `value` `count` times (a series that appears late is as long as the others)."""
        for _ in range(min(count, self.capacity)):
            self.append(value)

    def newest(self, count: int) -> array[float]:
        """A copy of the newest `count` values, oldest first."""
        count = min(count, self.length)
        start = self._at - count
        if start >= 0:
            return self._data[start : self._at]
        # Around the end. A ring that is not full yet has `_at` at its length (or at 0, when it has just become full).
        return self._data[start:] + self._data[: self._at]

    @property
    def last(self) -> float | None:
        return self._data[self._at - 1] if self.length else None
