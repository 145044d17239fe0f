"""What decide() knows about the pools: a snapshot that the gateway takes, never a live object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PoolState:
    """One pool at one moment.

    `ready` counts replicas that take requests now (healthy, not ejected, not draining). `slots` is the number of
    requests that may run at once over those replicas. `full` says that a further request would be answered 429.
    `context_window` is what the gateway has learned (tokens); it wins over the policy's figure when smaller.
    """

    ready: int = 1
    running: int = 0
    waiting: int = 0
    slots: int = 1
    full: bool = False
    context_window: int | None = None

    @property
    def load(self) -> float:
        """(running + waiting) / slots; infinite when nothing can run."""
        return (self.running + self.waiting) / self.slots if self.slots > 0 else float("inf")


@dataclass(frozen=True, slots=True)
class StateSnapshot:
    """All pools, and the thresholds that hold the shares of `classify` steps.

    A pool that is missing counts as ready and idle, so that an editor or a test may pass `StateSnapshot()`.
    `thresholds`: step name -> ascending cut points in 0..1, from `ShareKeeper.thresholds()`.
    """

    pools: Mapping[str, PoolState] = field(default_factory=dict)
    thresholds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
