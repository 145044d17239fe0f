"""States of a network change on a node, and of jobs; shared by netguard, daemon and desktop."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class GuardState(str, Enum):
    """Life of one guarded change on one node."""

    IDLE = "idle"
    PREPARING = "preparing"  # backup, staging, judging; nothing live has changed
    APPLYING = "applying"
    HOLDING = "holding"  # applied and checked from inside; the lease runs
    CONFIRMED = "confirmed"
    REVERTING = "reverting"
    REVERTED = "reverted"
    FAILED = "failed"  # could not even be reverted: says what is left to do


FINAL_STATES = (GuardState.CONFIRMED, GuardState.REVERTED, GuardState.FAILED)


@dataclass(frozen=True, slots=True)
class GuardStatus:
    """What netguard says about the change it holds, or about the last one it held."""

    state: GuardState
    plan_id: str | None = None
    why: str = ""  # e.g. "lease lost", "netplan generate refused: ..."
    step: str = ""
    lease_left_s: float | None = None
    hard_limit_left_s: float | None = None
    changed_at: str | None = None
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JobStatus:
    """A process that the agent started and keeps track of."""

    job_id: str
    name: str
    argv: tuple[str, ...]
    state: str  # running | exited | lost
    pid: int | None = None
    exit_code: int | None = None
    started_at: float | None = None
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class Hello:
    """First answer of an agent."""

    protocol: int
    agent_hash: str
    agent_version: str
    node_id: str
    boot_id: str
    hostname: str
    pid: int
    started_at: float
    python: str
    holder: str | None = None  # the desktop that holds the node's lock


@dataclass(frozen=True, slots=True)
class PingResult:
    """Outcome of one `ping` run."""

    destination: str
    netdev: str | None
    payload_bytes: int
    dont_fragment: bool
    sent: int
    received: int
    rtt_avg_ms: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RouteAnswer:
    """Outcome of `ip route get`."""

    destination: str
    device: str | None
    source: str | None = None
    via: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class RdmaPerf:
    """Outcome of one `ib_write_bw` or `ib_write_lat` run."""

    tool: str
    device: str
    server: str
    bandwidth_gbps: float | None = None
    latency_us: float | None = None
    error: str | None = None
    output: str = ""
