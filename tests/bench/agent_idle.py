"""What the agent costs a node that does nothing: CPU of one core and memory, measured on the real processes.

    python tests/bench/agent_idle.py [--agents N] [--seconds S] [--attached] [--rate HZ]

Each agent is the archive that nodes get, run by the system's python3 on a simulated tree of a Spark.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from stellwerk.remote.artefact import build_agent
from unit.agent import spark_tree

TICK_HZ = os.sysconf("SC_CLK_TCK")


class Agent:
    """One agent with a home and a tree of its own."""

    def __init__(self, base: Path, archive: Path, python: str) -> None:
        base.mkdir()
        root = spark_tree.build(base / "root")
        (base / "home").mkdir()
        self.attached = subprocess.Popen(
            [python, "-I", str(archive), "attach", "--root", str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"HOME": str(base / "home"), "PATH": "/usr/bin:/bin"},
        )
        assert self.attached.stdout is not None
        self.banner = json.loads(self.attached.stdout.readline())
        self.pid = int(self.call("hello")["pid"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        assert self.attached.stdin is not None
        assert self.attached.stdout is not None
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        self.attached.stdin.write(json.dumps(message).encode() + b"\n")
        self.attached.stdin.flush()
        while True:
            answer = json.loads(self.attached.stdout.readline())
            if answer.get("id") == 1:
                result: dict[str, Any] = answer["result"]
                return result

    def drain(self) -> None:
        """Read what the agent sends by itself."""
        assert self.attached.stdout is not None
        os.set_blocking(self.attached.stdout.fileno(), False)
        while self.attached.stdout.read(65536):
            pass

    def hang_up(self) -> None:
        assert self.attached.stdin is not None
        self.attached.stdin.close()
        self.attached.wait()


def cpu_s(pid: int) -> float:
    """CPU time that a process has used, with that of its children that ended."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(word) for word in words[11:15]) / TICK_HZ


def memory_mb(pid: int) -> tuple[float, float]:
    """(resident, proportional) memory in MB."""
    rows = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:])
    return tuple(int(rows[name].split()[0]) * 1024 / 1e6 for name in ("Rss", "Pss"))  # type: ignore[return-value]


def round_trip_us(agent: Agent, calls: int = 200) -> float:
    """Median time of a `hello` over attach."""
    times = []
    for _ in range(calls):
        begin = time.perf_counter()
        agent.call("hello")
        times.append(time.perf_counter() - begin)
    return sorted(times)[calls // 2] * 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--agents", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--attached", action="store_true", help="keep a desktop attached that takes samples")
    parser.add_argument("--rate", type=float, default=1.0)
    parser.add_argument("--python", default="/usr/bin/python3")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="stellwerk-idle-") as name:
        archive = Path(name) / "agent.pyz"
        archive.write_bytes(build_agent().data)
        begin = time.perf_counter()
        agents = [Agent(Path(name) / f"node-{i}", archive, asked.python) for i in range(asked.agents)]
        started_s = time.perf_counter() - begin
        trip = round_trip_us(agents[0])
        for agent in agents:
            if asked.attached:
                agent.call("sample.subscribe", rate_hz=asked.rate)
            else:
                agent.hang_up()
        time.sleep(3.0)
        before, begin = [cpu_s(agent.pid) for agent in agents], time.perf_counter()
        until = begin + asked.seconds
        while time.perf_counter() < until:
            time.sleep(0.5)
            if asked.attached:
                for agent in agents:
                    agent.drain()
        spent = time.perf_counter() - begin
        shares = [(cpu_s(a.pid) - b) / spent * 100 for a, b in zip(agents, before, strict=True)]
        memories = [memory_mb(agent.pid) for agent in agents]
        print(f"{asked.agents} agents started in {started_s:.2f} s; hello round trip {trip:.0f} µs (median, local)")
        print(f"CPU of one core per agent: {max(shares):.2f} % at most, {sum(shares) / len(shares):.2f} % on average")
        resident, proportional = (max(column) for column in zip(*memories, strict=True))
        print(f"memory per agent: {resident:.1f} MB resident, {proportional:.1f} MB proportional")
        for agent in agents:
            if agent.attached.returncode is None:
                agent.hang_up()
            os.kill(agent.pid, 15)
        while any(Path(f"/proc/{agent.pid}/cwd").exists() and _runs(agent.pid) for agent in agents):
            time.sleep(0.05)
    return 0


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    sys.exit(main())
