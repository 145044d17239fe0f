"""Traffic: who sends to whom how fast, what slows it down, and the counters that move with it.

What limits a stream: its half (PCIe x4: about 97 Gb/s with the RDMA MTU of an Ethernet MTU of 1500), the x4 link that
both ports' halves of a PCI domain share, and the wire that both halves of a port share; each direction on its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

# Gb/s that one half reaches by (label, RDMA MTU): as NVIDIA measured at 1024 bytes, as others did at 4096.
HALF_GBPS = {("A", 1024): 92.6, ("B", 1024): 97.3, ("A", 4096): 97.9, ("B", 4096): 98.1}
PCI_DOMAIN_GBPS = 111.7
WIRE_EFFICIENCY = 0.985

Resource = Hashable


@dataclass(slots=True)
class Flow:
    """One stream from a half to a half. `demand_gbps` is what it would take if nothing was in its way."""

    source: tuple[str, str]  # node, netdev
    target: tuple[str, str]
    demand_gbps: float
    resources: tuple[Resource, ...]
    packet_bytes: int = 1024
    rdma: bool = True
    rate_gbps: float = 0.0
    moved_bytes: float = 0.0


@dataclass(slots=True)
class Counted:
    """What has gone through one half since its node booted."""

    tx_bytes: float = 0.0
    rx_bytes: float = 0.0
    tx_packets: float = 0.0
    rx_packets: float = 0.0
    rdma_tx_bytes: float = 0.0
    rdma_rx_bytes: float = 0.0
    rdma_tx_packets: float = 0.0
    rdma_rx_packets: float = 0.0


def fair_rates(demands: Sequence[tuple[float, Iterable[Resource]]], capacity: Mapping[Resource, float]) -> list[float]:
    """Max-min fair shares in Gb/s: all grow together until a resource is full or the own demand is met."""
    rates = [0.0] * len(demands)
    left = dict(capacity)
    growing = {at for at, (demand, _) in enumerate(demands) if demand > 0}
    while growing:
        users = {r: sum(1 for at in growing if r in set(demands[at][1])) for r in left}
        step = min(demands[at][0] - rates[at] for at in growing)
        step = min([step, *(left[r] / count for r, count in users.items() if count)])
        for at in growing:
            rates[at] += step
        for resource, count in users.items():
            left[resource] -= step * count
        full = {r for r, count in users.items() if count and left[r] <= 1e-9}
        growing = {at for at in growing if demands[at][0] - rates[at] > 1e-9 and not full.intersection(demands[at][1])}
    return rates


@dataclass(slots=True)
class Traffic:
    """All flows and counters. Time is given in, so that tests need no clock."""

    capacity: dict[Resource, float] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)
    counted: dict[tuple[str, str], Counted] = field(default_factory=dict)
    at_s: float = 0.0

    def add(self, flow: Flow, now_s: float) -> None:
        """A stream begins."""
        self.advance(now_s)
        self.flows.append(flow)
        self.share()

    def remove(self, flow: Flow, now_s: float) -> None:
        """A stream ends."""
        self.advance(now_s)
        if flow in self.flows:
            self.flows.remove(flow)
        self.share()

    def share(self) -> None:
        """Work out how fast every stream is now. Resources without a capacity limit nothing."""
        known = [(f.demand_gbps, [r for r in f.resources if r in self.capacity]) for f in self.flows]
        for flow, rate in zip(self.flows, fair_rates(known, self.capacity), strict=True):
            flow.rate_gbps = rate

    def advance(self, now_s: float) -> None:
        """Move the counters on to `now_s`."""
        passed_s = max(0.0, now_s - self.at_s)
        self.at_s = now_s
        for flow in self.flows:
            moved = flow.rate_gbps * 1e9 / 8 * passed_s
            flow.moved_bytes += moved
            packets = moved / flow.packet_bytes
            sender = self.counted.setdefault(flow.source, Counted())
            receiver = self.counted.setdefault(flow.target, Counted())
            if flow.rdma:
                # RoCE by-passes the network stack: its bytes are in the RDMA counters alone.
                sender.rdma_tx_bytes += moved
                sender.rdma_tx_packets += packets
                receiver.rdma_rx_bytes += moved
                receiver.rdma_rx_packets += packets
            else:
                sender.tx_bytes += moved
                sender.tx_packets += packets
                receiver.rx_bytes += moved
                receiver.rx_packets += packets

    def rates_of(self, half: tuple[str, str]) -> tuple[float, float]:
        """Gb/s that a half sends and receives now."""
        sent = sum(flow.rate_gbps for flow in self.flows if flow.source == half)
        return sent, sum(flow.rate_gbps for flow in self.flows if flow.target == half)
