"""The collective self-test of a proof, as data: every algorithm over the fabric, its times, was every sum exact."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SelfTestRow:
    """One algorithm: median µs per size (None: not measured) and how many elements were wrong in all checks."""

    algorithm: str
    median_us: tuple[float | None, ...]
    wrong: int


@dataclass(frozen=True, slots=True)
class SelfTest:
    """Every algorithm over the fabric, checked and timed. Sizes in bytes.

    `best[i]` is the fastest algorithm at `sizes[i]`. `notes` say what is not as it should be (a transport that was
    left out, with the rank and the reason).
    """

    ranks: int
    transport: str
    calls: int
    sizes: tuple[int, ...]
    rows: tuple[SelfTestRow, ...]
    best: tuple[str | None, ...]
    notes: tuple[str, ...] = ()
    simulated: bool = False

    @property
    def wrong(self) -> int:
        """How many elements were wrong, over all algorithms."""
        return sum(row.wrong for row in self.rows)

    @property
    def exact(self) -> bool:
        """True when something was tested and no sum was wrong."""
        return bool(self.rows) and not self.wrong
