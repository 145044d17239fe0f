"""What telemetry costs the desktop: N virtual nodes at some rate, CPU of this process over a stretch of time.

    python tests/bench/telemetry_load.py [--nodes N] [--rate HZ] [--seconds S]

The last lines extrapolate to 64 nodes: CPU and memory grow with the number of samples and series. That is said to be
an extrapolation; only N nodes were measured.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from e2e.support import Person
from stellwerk.remote import Target, UserIdentity
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore
from stellwerk.virtual import VirtualCluster


def resident_mb() -> float:
    """Memory of this process in MB."""
    rows = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return int(rows["VmRSS"].split()[0]) * 1024 / 1e6


async def measure(nodes: int, rate_hz: float, seconds: float) -> None:
    with tempfile.TemporaryDirectory(prefix="stellwerk-bench-") as base:
        topology = "single" if nodes == 1 else "switch"
        async with VirtualCluster.start(nodes, topology) as cluster:
            folder, _ = ClusterStore(Path(base)).create("bench")
            async with ClusterSession.open(folder, identity=UserIdentity()) as session:
                for node in cluster.nodes:
                    session.add(Target(node.host, node.port, node.user, node.name), node.name)
                errors = [e for e in (await session.pair(Person(cluster))).values() if e is not None]
                assert not errors, errors
                await session.facts()
                arrived = 0
                add = session.telemetry.add

                def counted(name: str, sample: object, at_s: float) -> None:
                    nonlocal arrived
                    arrived += 1
                    add(name, sample, at_s)  # type: ignore[arg-type]

                session.telemetry.add = counted  # type: ignore[method-assign,assignment]
                memory_before = resident_mb()
                idle_cpu, idle_began = time.process_time(), time.monotonic()
                await asyncio.sleep(3.0)
                idle = (time.process_time() - idle_cpu) / (time.monotonic() - idle_began)
                session.watch(rate_hz)
                await asyncio.sleep(2.0)  # the history that the agents kept comes first
                arrived, cpu, began = 0, time.process_time(), time.monotonic()
                await asyncio.sleep(seconds)
                spent = time.monotonic() - began
                share = (time.process_time() - cpu) / spent
                per_sample_ms = (share - idle) * spent / max(arrived, 1) * 1000
                memory = resident_mb()
    print(f"{nodes} nodes at {rate_hz:g} Hz for {spent:.0f} s: {arrived} samples, {arrived / spent:.1f} a second")
    print(f"desktop: {share * 100:.2f} % of one core ({idle * 100:.2f} % without telemetry)")
    print(f"each sample costs {per_sample_ms:.3f} ms")
    print(f"memory: {memory:.1f} MB resident, {memory_before:.1f} MB before the first sample")
    print(f"(load of this computer: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores)")
    for rate in (1.0, rate_hz):
        cost = per_sample_ms / 1000 * 64 * rate * 100
        print(f"extrapolated, not measured: 64 nodes at {rate:g} Hz need about {cost:.1f} % of one core")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    asked = parser.parse_args()
    asyncio.run(measure(asked.nodes, asked.rate, asked.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
