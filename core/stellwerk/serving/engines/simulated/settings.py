"""How a simulated engine behaves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# stall: takes the request and says nothing. die: closes the connection at once. status: answers with an error status.
# half: breaks off in the middle of the answer. error_event: a 200 whose first event (or body) is an error.
# garbage: HTTP with a body that is none. not_http: bytes that are no HTTP. late_error: an error event after content.
FaultKind = Literal["stall", "die", "status", "half", "error_event", "garbage", "not_http", "late_error"]
FAULT_KINDS: tuple[FaultKind, ...] = (
    "stall",
    "die",
    "status",
    "half",
    "error_event",
    "garbage",
    "not_http",
    "late_error",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong. `status` for kind "status" (500 by default)."""

    kind: FaultKind
    status: int = 500


def parse_fault(text: str) -> Fault:
    """`stall`, `die`, `status:503`, … Raises ValueError."""
    kind, _, status = text.partition(":")
    for known in FAULT_KINDS:
        if kind == known:
            return Fault(known, int(status) if status else 500)
    raise ValueError(f"{text!r} is no fault. Known: {', '.join(FAULT_KINDS)}.")


@dataclass(frozen=True, slots=True)
class SimulatedSettings:
    """Times in seconds, speeds in tokens per second.

    `ttft_s`: time to the first token of a request that runs alone. `prefill_rate`: prompt tokens per second that come
    on top. `rate`: tokens per second of one stream that runs alone; with a full batch each stream has
    `rate * batch_share`, in between linearly. `batch`: streams at once; `queue`: requests that wait beyond it.
    """

    model: str = "simulated"
    ttft_s: float = 0.05
    prefill_rate: float = 20_000.0
    rate: float = 50.0
    batch: int = 16
    batch_share: float = 0.5
    queue: int = 256
    context_window: int = 32_768
    answer_tokens: int = 48  # usual length of an answer that nothing ends earlier
    seed: int = 0
    faults: tuple[Fault, ...] = field(default=())  # given to the first requests, one each
