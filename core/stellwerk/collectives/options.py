"""What the caller of `Communicator.connect` may ask for, and the sizes that all ranks must agree on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stellwerk.collectives.engine import Link
from stellwerk.collectives.kinds import Topology, Transport

RING_BYTES = 8 << 20
VERBS_SLOT_BYTES = 1 << 20
REQUESTS: dict[str, tuple[Transport, ...]] = {
    "auto": (Transport.SHM, Transport.VERBS, Transport.TCP, Transport.PYTHON),
    "verbs": (Transport.VERBS, Transport.TCP, Transport.PYTHON),
    "shm": (Transport.SHM, Transport.TCP, Transport.PYTHON),
    "tcp": (Transport.TCP, Transport.PYTHON),
    "python": (Transport.PYTHON,),
}


def window_bytes(transport: Transport, topology: Topology) -> int:
    """How much of a call is under way at once. On one machine, what stays in the cache; over a distance, more, because
    every chunk waits for its own round trips; never more than a good part of a ring of shared memory."""
    if topology is Topology.HOST:
        return 256 << 10
    if transport is Transport.VERBS:
        return VERBS_SLOT_BYTES
    return RING_BYTES // 4 if transport is Transport.SHM else 8 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of `Communicator.connect` asked for."""

    transport: str = "auto"
    timeout_s: float = 10.0
    setup_timeout_s: float = 60.0
    address: str = ""
    addresses: Mapping[int, str] = field(default_factory=dict)
    topology: Topology | str | None = None
    link: Link = field(default_factory=Link)
    tuning: Path | None = None
    self_test: bool = True
    rails: tuple[str, ...] = ()
    dial: Callable[[str], str] = str
    name: str = "main"

    def __post_init__(self) -> None:
        if self.transport not in REQUESTS:
            raise ValueError(f"unknown transport {self.transport!r}; known are: {', '.join(REQUESTS)}")
        if self.topology is not None and self.topology not in set(Topology):
            raise ValueError(f"unknown topology {self.topology!r}; known are: {', '.join(Topology)}")
        if self.timeout_s <= 0 or self.setup_timeout_s <= 0:
            raise ValueError("time-outs must be positive")
