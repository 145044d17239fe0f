"""What a communicator knows about how it came to be; shown by the doctor and by `stellwerk measure collectives`."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.collectives.kinds import Topology, Transport


@dataclass(frozen=True, slots=True)
class RankInfo:
    """One rank as the others see it."""

    rank: int
    host: str
    pid: int


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of the set-up.

    `fallbacks` holds one sentence per transport that was tried or wanted and not taken, with the rank and the reason.
    `notes` holds what was settled differently from what was asked. `latency_us` is the median of a small all_reduce.
    """

    transport: Transport
    requested: str
    topology: Topology
    ranks: tuple[RankInfo, ...]
    fallbacks: tuple[str, ...]
    notes: tuple[str, ...]
    dispatch_source: str
    self_test_calls: int
    latency_us: float | None
    setup_s: float

    def lines(self) -> list[str]:
        """The report in words."""
        hosts = sorted({info.host for info in self.ranks})
        first = (
            f"{len(self.ranks)} ranks on {', '.join(hosts)} over {self.transport} ({self.topology}), "
            f"ready in {self.setup_s:.2f} s, dispatch table: {self.dispatch_source}"
        )
        tested = [f"{self.self_test_calls} test calls passed"] if self.self_test_calls else ["not tested"]
        if self.latency_us is not None:
            tested.append(f"a small all_reduce takes {self.latency_us:.1f} µs")
        return [first, "; ".join(tested), *self.fallbacks, *self.notes]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a communicator, readable from any thread while a call is blocked."""

    state: str  # "ready", "busy", "failed", "closed"
    calls: int
    done: int
    waiting_on: int | None
    waiting_s: float
    messages_sent: int
    bytes_sent: int
    error: str | None
