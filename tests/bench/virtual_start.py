"""How long eight simulated Sparks take to start and to end, and how much memory they hold. Prints, asserts nothing.

python tests/bench/virtual_start.py [--nodes 8] [--topology ring] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from pathlib import Path

import psutil

from stellwerk.virtual import VirtualCluster


def memory_mib(pids: list[int]) -> tuple[float, float]:
    """(proportional set size, resident set size) in MiB: pages that processes share count once in the first."""
    pss = rss = 0
    for pid in pids:
        try:
            info = psutil.Process(pid).memory_full_info()
        except psutil.NoSuchProcess:
            continue
        pss, rss = pss + info.pss, rss + info.rss
    return pss / 2**20, rss / 2**20


async def measure(nodes: int, topology: str) -> dict[str, float | int | str]:
    started = time.perf_counter()
    async with VirtualCluster.start(nodes, topology) as cluster:
        ready = time.perf_counter()
        pids = [process.pid for process in psutil.Process().children(recursive=True)]
        pss, rss = memory_mib(pids)
        before = [psutil.Process(pid).cpu_times() for pid in pids]
        idle_s = 3.0
        await asyncio.sleep(idle_s)
        used_s = sum(
            sum(psutil.Process(pid).cpu_times()[:2]) - sum(old[:2]) for pid, old in zip(pids, before, strict=True)
        )
        files = sum(1 for _ in cluster.dir.rglob("*"))
        ending = time.perf_counter()
    return {
        "nodes": nodes,
        "topology": topology,
        "start_s": round(ready - started, 2),
        "stop_s": round(time.perf_counter() - ending, 2),
        "processes": len(pids),
        "pss_mib": round(pss, 1),
        "rss_mib": round(rss, 1),
        "idle_cpu_pct": round(100 * used_s / idle_s, 2),
        "files": files,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--topology", default="ring")
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    figures = asyncio.run(measure(options.nodes, options.topology))
    load = os.getloadavg()[0]
    print(
        f"{figures['nodes']} nodes ({figures['topology']}): start {figures['start_s']} s, stop {figures['stop_s']} s, "
        f"{figures['processes']} processes, {figures['pss_mib']} MiB (RSS added up: {figures['rss_mib']} MiB), "
        f"idle {figures['idle_cpu_pct']} % of one core, {figures['files']} files; "
        f"load average of this computer {load:.1f} on {os.cpu_count()} cores"
    )
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
