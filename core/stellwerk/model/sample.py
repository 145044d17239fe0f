"""Raw counters with a monotonic time stamp. Rates are computed on the desktop."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class GpuSample:
    """One GPU at one moment; `None` where the driver says N/A."""

    utilisation_pct: float | None = None
    temperature_c: float | None = None
    power_w: float | None = None
    clock_mhz: float | None = None
    memory_used_mib: float | None = None
    process_memory_mib: float | None = None  # sum over compute processes: all that GB10 tells


@dataclass(frozen=True, slots=True)
class NetCounters:
    """Counters of one netdev, as in /sys/class/net/*/statistics."""

    rx_bytes: int
    tx_bytes: int
    rx_packets: int
    tx_packets: int
    rx_errors: int = 0
    tx_errors: int = 0
    rx_dropped: int = 0
    tx_dropped: int = 0
    carrier: bool | None = None


@dataclass(frozen=True, slots=True)
class RdmaCounters:
    """Counters of one RDMA port; the data counters are in 4-byte words (InfiniBand specification)."""

    xmit_words: int
    rcv_words: int
    xmit_packets: int = 0
    rcv_packets: int = 0
    retransmits: int | None = None
    out_of_sequence: int | None = None
    cnp_sent: int | None = None
    cnp_handled: int | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One reading of a node."""

    sequence: int
    monotonic_ns: int
    wall_s: float
    boot_id: str
    cpu_busy_ticks: int | None = None
    cpu_total_ticks: int | None = None
    load1: float | None = None
    mem_total_kb: int | None = None
    mem_available_kb: int | None = None
    swap_used_kb: int | None = None
    gpus: tuple[GpuSample, ...] = ()
    net: dict[str, NetCounters] = field(default_factory=dict)
    rdma: dict[str, RdmaCounters] = field(default_factory=dict)
    temperatures_c: dict[str, float] = field(default_factory=dict)
    jobs_running: int = 0
