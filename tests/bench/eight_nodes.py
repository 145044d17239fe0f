"""Eight virtual nodes from nothing to verified: seconds per step, and how much of it is our own.

    python tests/bench/eight_nodes.py [--nodes N] [--topology T] [--json FILE]

Waiting that belongs to the job (listening for cables, letting addresses settle, the measurements' own length) is told
apart from what the program itself needs. All nodes run on this computer, so their share of the CPU is named, too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from e2e.support import Person
from stellwerk.model.finding import Verdict
from stellwerk.remote import Target, UserIdentity
from stellwerk.setup import look as looking
from stellwerk.setup import prove as proving
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.setup.planning import build_plan
from stellwerk.setup.prove import prove
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore
from stellwerk.virtual import VirtualCluster


@dataclass
class Clock:
    """Seconds of each step: on the wall, of this process's CPU, and waiting that no program could do without."""

    rows: list[tuple[str, float, float, float]] = field(default_factory=list)
    _wall: float = field(default_factory=time.monotonic)
    _cpu: float = field(default_factory=time.process_time)

    def step(self, name: str, waiting_s: float = 0.0) -> None:
        wall, cpu = time.monotonic(), time.process_time()
        self.rows.append((name, wall - self._wall, cpu - self._cpu, waiting_s))
        self._wall, self._cpu = wall, cpu


def tree_cpu_s(pid: int) -> float:
    """CPU seconds of a process and all below it, of those that ended, too, as far as their parents waited for them."""
    ticks = os.sysconf("SC_CLK_TCK")
    parents: dict[int, int] = {}
    used: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry.name)] = int(words[1])
        used[int(entry.name)] = sum(int(word) for word in words[11:15]) / ticks
    wanted = {pid}
    while fresh := {child for child, parent in parents.items() if parent in wanted} - wanted:
        wanted |= fresh
    return sum(used.get(number, 0.0) for number in wanted)


async def journey(nodes: int, topology: str) -> dict[str, object]:
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="stellwerk-bench-") as base:
        async with VirtualCluster.start(nodes, topology) as cluster:
            clock.step("start simulated machines")
            folder, _ = ClusterStore(Path(base)).create("bench")
            async with ClusterSession.open(folder, identity=UserIdentity()) as session:
                person = Person(cluster)
                for node in cluster.nodes:
                    session.add(Target(node.host, node.port, node.user, node.name), node.name)
                errors = [e for e in (await session.pair(person)).values() if e is not None]
                assert not errors, errors
                clock.step("pair")
                await session.unlock_sudo(person)
                clock.step("unlock sudo")
                look = await take_look(session)
                clock.step("look", looking.HEAR_SECONDS)
                plan = build_plan(session.cluster, look)
                clock.step("plan")
                outcome = await Apply(plan, session.links, folder.journal).run()
                assert outcome.applied or plan.empty, outcome
                clock.step("apply")
                look = await take_look(session)
                clock.step("look again", looking.HEAR_SECONDS)
                rounds = len(proving.plan_proof(look.members, look.topology).rounds)
                proof = await prove(session, look)
                # Simulated measurements answer at once; on real machines each round takes PERF_SECONDS.
                clock.step("prove")
            machines_cpu_s = tree_cpu_s(os.getpid()) - own_cpu_s()
    return {
        "nodes": nodes,
        "topology": topology,
        "steps": [{"step": n, "seconds": w, "desktop_cpu_s": c, "waiting_s": v} for n, w, c, v in clock.rows],
        "machines_cpu_s": machines_cpu_s,
        "rounds": rounds,
        "checks": len(proof.checks),
        "passed": sum(check.verdict is Verdict.PASS for check in proof.checks),
        "load": os.getloadavg()[0],
        "cores": os.cpu_count(),
    }


def own_cpu_s() -> float:
    """CPU of this process alone."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--topology", default="switch")
    parser.add_argument("--json", type=Path, default=None)
    asked = parser.parse_args()
    result = asyncio.run(journey(asked.nodes, asked.topology))
    rows = result["steps"]
    assert isinstance(rows, list)
    print(f"{asked.nodes} simulated machines, {asked.topology}; {result['cores']} cores, load {result['load']:.1f}\n")
    print(f"{'step':26} {'seconds':>8} {'must wait':>10} {'desktop CPU':>12}")
    for row in rows:
        print(f"{row['step']:26} {row['seconds']:8.2f} {row['waiting_s']:10.1f} {row['desktop_cpu_s']:12.2f}")
    wall = sum(row["seconds"] for row in rows)
    waiting = sum(row["waiting_s"] for row in rows)
    desktop = sum(row["desktop_cpu_s"] for row in rows)
    print(f"{'in all':26} {wall:8.2f} {waiting:10.1f} {desktop:12.2f}\n")
    print(f"our own overhead on the desktop: {desktop:.1f} s of CPU, {desktop / wall * 100:.0f} % of the time")
    print(f"simulated machines with their agents: {result['machines_cpu_s']:.1f} s of CPU on the same cores")
    print(
        f"verified: {result['passed']} of {result['checks']} checks pass, in {result['rounds']} rounds of measurements"
    )
    if asked.json is not None:
        asked.json.write_text(json.dumps(result, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
