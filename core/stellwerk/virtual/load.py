"""Traffic and moving files of the whole cluster: who may send how fast, and the clock that moves the counters."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Hashable
from typing import TYPE_CHECKING

from stellwerk.model.errors import BadInput
from stellwerk.model.text import say
from stellwerk.virtual.cables import End, parse_end
from stellwerk.virtual.flows import HALF_GBPS, PCI_DOMAIN_GBPS, WIRE_EFFICIENCY, Counted, Flow, Traffic
from stellwerk.virtual.hardware import PORTS

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster

TICK_IDLE_S = 0.1
TICK_LOADED_S = 0.05


class Load:
    """The traffic model on a clock."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.traffic = Traffic(at_s=time.monotonic())
        self.half_limit_gbps: dict[tuple[str, str], float] = {}
        self.background: dict[str, list[Flow]] = {}  # what `set` was asked for -> its streams
        self.asked_gbps: dict[str, float] = {}
        self._ticking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Let time pass."""
        self._ticking = asyncio.create_task(self._tick())

    async def stop(self) -> None:
        """Stop the clock."""
        if self._ticking is not None:
            self._ticking.cancel()
            await asyncio.gather(self._ticking, return_exceptions=True)

    async def _tick(self) -> None:
        """Move what moves by itself. Counters of the fabric are written while something flows, and once after."""
        flowed = False
        while True:
            now, wall = time.monotonic(), time.time()
            flowing = bool(self.traffic.flows)
            self.traffic.advance(now)
            for machine in self.cluster.machines.values():
                if machine.powered:
                    machine.metrics.tick(now, wall)
                    if flowing or flowed:
                        machine.metrics.write_counters(self.traffic)
            flowed = flowing
            await asyncio.sleep(TICK_LOADED_S if flowing else TICK_IDLE_S)

    def update_capacity(self) -> None:
        """What every resource of the traffic model carries now."""
        capacity: dict[Hashable, float] = {}
        for machine in self.cluster.machines.values():
            speeds = self.cluster.speeds(machine)
            for half in machine.hardware.halves:
                running = machine.network.interfaces[half.netdev].running
                limit = self.half_limit_gbps.get((machine.name, half.netdev), PCI_DOMAIN_GBPS)
                wire = speeds.get(half.netdev, 0) / 1000 * WIRE_EFFICIENCY
                for way in ("tx", "rx"):
                    capacity["pci", machine.name, half.domain, way] = PCI_DOMAIN_GBPS
                    capacity["half", machine.name, half.netdev, way] = limit if running else 0.0
                    capacity["wire", machine.name, half.port, way] = wire
        self.traffic.advance(time.monotonic())
        self.traffic.capacity = capacity
        self.traffic.share()

    def rdma_flow(
        self, source: tuple[str, str], target: tuple[str, str], mtu: int, demand_gbps: float | None = None
    ) -> Flow:
        """A RoCE stream between two halves. Without a demand it takes what its half can do."""
        ends: list[Hashable] = []
        for (node, netdev), way in ((source, "tx"), (target, "rx")):
            half = self.cluster.machines[node].hardware.half(netdev)
            assert half is not None
            ends += [("pci", node, half.domain, way), ("half", node, netdev, way), ("wire", node, half.port, way)]
        sender = self.cluster.machines[source[0]].hardware.half(source[1])
        assert sender is not None
        demand = HALF_GBPS[sender.label, 4096 if mtu >= 4096 else 1024] if demand_gbps is None else demand_gbps
        return Flow(source, target, demand, tuple(ends), mtu)

    def count_pings(self, node: str, device: str | None, destination: str, count: int, payload: int) -> None:
        """Pings go through the network stack: they move the netdev's counters."""
        machine = self.cluster.machines[node]
        route = machine.network.lookup(ipaddress.IPv4Address(destination), device)
        if route is None or not machine.powered:
            return
        counted = self.traffic.counted.setdefault((node, route.device), Counted())
        counted.tx_bytes += count * (payload + 42)
        counted.tx_packets += count
        counted.rx_bytes += count * (payload + 42)
        counted.rx_packets += count
        machine.metrics.write_counters(self.traffic)

    def set(self, target: str, gbps: float) -> dict[str, float]:
        """Let RoCE traffic flow both ways on a port's wire (`spark-1:0`) or on all wires of a node (`spark-1`).

        `gbps` is per direction and wire, over both halves; 0 ends it. Returns what was asked for, by target.
        Raises `BadInput` where there is no wire, and for a negative rate.
        """
        if not 0 <= gbps <= 1000:
            raise BadInput(say("{gbps} is no rate", gbps=gbps), remedy="give Gb/s per direction, 0 to end the load")
        flows = self._streams(target, gbps)
        now = time.monotonic()
        for flow in self.background.pop(target, []):
            self.traffic.remove(flow, now)
        self.asked_gbps.pop(target, None)
        if gbps > 0:
            for flow in flows:
                self.traffic.add(flow, now)
            self.background[target] = flows
            self.asked_gbps[target] = gbps
        return dict(self.asked_gbps)

    def _streams(self, target: str, gbps: float) -> list[Flow]:
        if ":" in target:
            try:
                ends = [parse_end(target)]
            except ValueError as error:
                raise BadInput(str(error)) from None
        else:
            ends = [End(self.cluster.machine(target).name, port) for port in PORTS]
        pairs = [(end, self._peer(end)) for end in ends]
        wired = [(end, peer) for end, peer in pairs if peer is not None]
        if not wired:
            raise BadInput(
                say("{target} has no cable to another node", target=target), remedy="see `stellwerk virtual cables`"
            )
        found: list[Flow] = []
        for end, peer in wired:
            here = self.cluster.machine(end.node).hardware.port_halves(end.port)
            there = self.cluster.machine(peer.node).hardware.port_halves(peer.port)
            for mine, theirs in zip(here, there, strict=True):
                for a, b in (((end.node, mine.netdev), (peer.node, theirs.netdev)),
                             ((peer.node, theirs.netdev), (end.node, mine.netdev))):  # fmt: skip
                    found.append(self.rdma_flow(a, b, 4096, gbps / 2))
        return found

    def _peer(self, end: End) -> End | None:
        """The other end; on a switch the next port, so that a load on every node spreads evenly."""
        segment = self.cluster.cables.segment_of(end)
        if segment is None or len(segment.ends) < 2:
            return None
        return segment.ends[(segment.ends.index(end) + 1) % len(segment.ends)]

    def forget(self, node: str) -> None:
        """A node without power sends and receives nothing, and counts from zero when it comes back."""
        now = time.monotonic()
        for flow in [f for f in self.traffic.flows if node in (f.source[0], f.target[0])]:
            self.traffic.remove(flow, now)
        for half in [key for key in self.traffic.counted if key[0] == node]:
            del self.traffic.counted[half]
