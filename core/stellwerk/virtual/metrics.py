"""The files of a node that move by themselves: CPU ticks, uptime, memory, temperatures, counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stellwerk.virtual import hardware, simroot
from stellwerk.virtual.flows import Counted, Traffic

if TYPE_CHECKING:
    from stellwerk.virtual.machine import Machine

TICKS_PER_S = 100
IDLE_CPU_PCT = 0.7
IDLE_GPU_C = 39.0
IDLE_GPU_W = 3.7
SYSTEM_MEMORY_KB = 3_400_000


@dataclass(slots=True)
class Activity:
    """What the node is made to do. `memory_kb` is what a model would hold, on top of the system."""

    cpu_pct: float = IDLE_CPU_PCT
    gpu_pct: float = 0.0
    memory_kb: int = 0

    @property
    def gpu_temperature_c(self) -> float:
        return IDLE_GPU_C + 0.36 * self.gpu_pct

    @property
    def gpu_power_w(self) -> float:
        return IDLE_GPU_W + 0.62 * self.gpu_pct

    @property
    def gpu_clock_mhz(self) -> int:
        return 2405 if self.gpu_pct > 0 else 208

    @property
    def available_kb(self) -> int:
        return max(0, hardware.MEMORY_TOTAL_KB - SYSTEM_MEMORY_KB - self.memory_kb)


class Metrics:
    """Writes one node's moving files. `now_s` is a monotonic clock, `wall_s` the desktop's."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.activity = Activity()
        self._busy_ticks = 0.0
        self._total_ticks = 0.0
        self._at_s = 0.0

    def boot(self, now_s: float) -> None:
        """Counters begin anew."""
        self._busy_ticks = 4000.0
        self._total_ticks = 60_000.0
        self._at_s = now_s

    def tick(self, now_s: float, wall_s: float) -> None:
        """Bring every moving file but the network's counters up to date."""
        machine, activity = self.machine, self.activity
        passed_s = max(0.0, now_s - self._at_s)
        self._at_s = now_s
        self._total_ticks += passed_s * TICKS_PER_S * hardware.CPU_COUNT
        self._busy_ticks += passed_s * TICKS_PER_S * hardware.CPU_COUNT * activity.cpu_pct / 100
        uptime_s = now_s - machine.booted_at
        # The node's clock is boot time plus uptime: this is where a wrong clock shows.
        boot_time_s = int(wall_s + machine.clock_offset_s - uptime_s)
        busy, idle = int(self._busy_ticks), int(self._total_ticks - self._busy_ticks)
        tree = machine.tree
        tree.put("/proc/stat", f"cpu  {busy} 0 0 {idle} 0 0 0 0 0 0\nbtime {boot_time_s}\n")
        tree.put("/proc/uptime", f"{uptime_s:.2f} {uptime_s * hardware.CPU_COUNT:.2f}\n")
        load = activity.cpu_pct / 100 * hardware.CPU_COUNT
        tree.put("/proc/loadavg", f"{load:.2f} {load:.2f} {load:.2f} 1/900 4242\n")
        tree.put("/proc/meminfo", _meminfo(activity.available_kb))
        tree.put("/sys/class/rtc/rtc0/since_epoch", f"{int(wall_s + machine.clock_offset_s)}\n")
        heat = int(activity.gpu_temperature_c * 1000)
        tree.put("/sys/class/thermal/thermal_zone0/temp", f"{heat - 1200}\n")
        tree.put("/sys/class/thermal/thermal_zone1/temp", f"{heat + 300}\n")

    def write_counters(self, traffic: Traffic) -> None:
        """The counters of all halves, as they are after `Traffic.advance`."""
        machine = self.machine
        for half in machine.hardware.halves:
            counted = traffic.counted.get((machine.name, half.netdev))
            if counted is not None:
                _write_half(machine, half.netdev, half.rdma, counted)


def _write_half(machine: Machine, netdev: str, rdma: str, counted: Counted) -> None:
    tree, base = machine.tree, f"{simroot.net_dir(netdev)}/statistics"
    for name in ("tx_bytes", "rx_bytes", "tx_packets", "rx_packets"):
        tree.put_number(f"{base}/{name}", int(getattr(counted, name)))
    port = f"/sys/class/infiniband/{rdma}/ports/1/counters"
    # In 4-byte words, as the InfiniBand specification counts data.
    tree.put_number(f"{port}/port_xmit_data", int(counted.rdma_tx_bytes / 4))
    tree.put_number(f"{port}/port_rcv_data", int(counted.rdma_rx_bytes / 4))
    tree.put_number(f"{port}/port_xmit_packets", int(counted.rdma_tx_packets))
    tree.put_number(f"{port}/port_rcv_packets", int(counted.rdma_rx_packets))


def _meminfo(available_kb: int) -> str:
    values = {
        "MemTotal": hardware.MEMORY_TOTAL_KB,
        "MemFree": max(0, available_kb - 1_500_000),
        "MemAvailable": available_kb,
        "Buffers": 210_000,
        "Cached": 1_480_000,
        "SwapTotal": hardware.SWAP_TOTAL_KB,
        "SwapFree": hardware.SWAP_TOTAL_KB,
        "CmaTotal": 131_072,
        "CmaFree": 69_320,
    }
    return "".join(f"{name + ':':<16}{value:>9} kB\n" for name, value in values.items())
