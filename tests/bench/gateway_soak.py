"""Runs the gateway under faults for a while and looks for what it leaks: tasks, sockets, memory, slots.

    python tests/bench/gateway_soak.py --seconds 600

The gateway is a process of its own (`stellwerk serve`); three simulated engines with random faults, and clients of all
kinds, run here. Engines stall, die, lie, break off, are stopped and started again; clients leave, dawdle, send rubbish;
the policy is reloaded all the while, broken now and then. Every answer must be whole, or say that it is not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

from stellwerk.serving.engines.simulated.engine import SimulatedEngine
from stellwerk.serving.engines.simulated.settings import FAULT_KINDS, Fault, SimulatedSettings

SETTINGS = SimulatedSettings(model="tiny", ttft_s=0.005, rate=800, answer_tokens=24, batch=16, queue=64)
HEADER = "host: localhost\r\ncontent-type: application/json\r\n"
RUBBISH = (
    b"\x16\x03\x01\x02\x00",
    b"GET / HTTP/9.9\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: 999999999999\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: localhost\r\nx: " + b"y" * 100_000,
)


def policy_text(ports: list[int], waiting: int) -> str:
    replicas = ", ".join(f'{{url: "http://127.0.0.1:{port}/v1"}}' for port in ports[:2])
    return f"""version: 1
models: {{auto: both}}
pools:
  small:
    model: tiny
    max_running: 8
    max_waiting: {waiting}
    max_wait: 2s
    deadlines: {{connect: 500ms, first_byte: 700ms, idle: 700ms, total: 10s}}
    health: {{every: 300ms, timeout: 500ms, eject: 500ms, slow_start: 500ms}}
    replicas: [{replicas}]
  spare:
    model: tiny
    deadlines: {{connect: 500ms, first_byte: 700ms, idle: 700ms, total: 10s}}
    health: {{every: 300ms, timeout: 500ms, eject: 500ms, slow_start: 500ms}}
    replicas: [{{url: "http://127.0.0.1:{ports[2]}/v1"}}]
steps:
  both: {{try: [small, spare]}}
"""


class Soak:
    """Engines, clients and what they saw."""

    def __init__(self, port: int, path: Path, seed: int) -> None:
        self.port = port
        self.path = path
        self.random = random.Random(seed)
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.engines: list[SimulatedEngine] = []
        self.engine_ports: list[int] = []
        self.over = asyncio.Event()

    # --- engines --------------------------------------------------------------------------------------------------

    async def trouble(self) -> None:
        """Faults, and now and then an engine that goes and comes back."""
        while not self.over.is_set():
            engine = self.random.choice(self.engines)
            # A fault that nobody meets is taken back: while a replica rests none may pile up, or no trial could pass.
            engine.faults.clear()
            if self.random.random() < 0.6:
                engine.faults.append(Fault(self.random.choice(FAULT_KINDS), self.random.choice([429, 500, 503])))
            if self.random.random() < 0.02:
                index = self.random.randrange(3)
                await self.engines[index].stop()
                await asyncio.sleep(0.5)
                self.engines[index] = SimulatedEngine(SETTINGS)
                await self.engines[index].start("127.0.0.1", self.engine_ports[index])
                self.seen["engine restarted"] += 1
            await asyncio.sleep(0.05)

    async def reloads(self) -> None:
        while not self.over.is_set():
            broken = self.random.random() < 0.3
            text = "steps: [" if broken else policy_text(self.engine_ports, self.random.choice([8, 16, 32]))
            draft = self.path.with_suffix(".draft")
            draft.write_text(text)
            draft.replace(self.path)
            self.seen["reload broken" if broken else "reload"] += 1
            await asyncio.sleep(1.5)

    # --- clients --------------------------------------------------------------------------------------------------

    async def client(self) -> None:
        while not self.over.is_set():
            kind = self.random.choices(
                ["whole", "stream", "half-closed", "leave", "leave half-closed", "dawdle", "rubbish", "loris"],
                [30, 30, 20, 5, 5, 4, 4, 2],
            )[0]
            try:
                async with asyncio.timeout(30):
                    outcome = await self._one(kind)
            except (ConnectionError, asyncio.IncompleteReadError):
                outcome = "cut"
            except TimeoutError:
                outcome = "no end"
                self.wrong.append(f"{kind}: no end within 30 s")
            self.seen[f"{kind}: {outcome}"] += 1

    async def _one(self, kind: str) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            if kind == "rubbish":
                writer.write(self.random.choice(RUBBISH))
                await reader.read(4096)
                return "answered"
            stream = kind != "whole" and (kind != "half-closed" or self.random.random() < 0.5)
            body = json.dumps(
                {"model": "auto", "messages": [{"role": "user", "content": "x" * self.random.randrange(2000)}],
                 "stream": stream}
            )  # fmt: skip
            data = f"POST /v1/chat/completions HTTP/1.1\r\n{HEADER}content-length: {len(body)}\r\n\r\n{body}".encode()
            if kind == "loris":
                writer.write(data[: self.random.randrange(1, len(data) - 1)])
                await asyncio.sleep(self.random.random())
                return "left"
            writer.write(data)
            if "half-closed" in kind:
                writer.write_eof()
            if kind.startswith("leave"):
                await asyncio.sleep(self.random.random() * 0.05)
                return "left"
            return await self._read(reader, stream, dawdle=kind == "dawdle")
        finally:
            writer.close()

    async def _read(self, reader: asyncio.StreamReader, stream: bool, *, dawdle: bool) -> str:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status = int(head[9:12])
        fields = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in head.split("\r\n")[1:]}
        if "content-length" in fields:
            body = await reader.readexactly(int(fields["content-length"]))
            value = json.loads(body)
            if status == 200 and "choices" not in value:
                self.wrong.append(f"a 200 without an answer: {body[:200]!r}")
            if status != 200 and "error" not in value:
                self.wrong.append(f"a {status} without an error: {body[:200]!r}")
            return str(status)
        body = b""
        while True:
            size = int(await reader.readuntil(b"\r\n"), 16)
            if dawdle:
                await asyncio.sleep(0.01)
            body += (await reader.readexactly(size + 2))[:-2]
            if not size:
                break
        ended_well = body.endswith(b"data: [DONE]\n\n")
        has_error = b'"error"' in body
        if ended_well == has_error:
            self.wrong.append(f"a stream that is neither whole nor an error: ...{body[-300:]!r}")
        return "whole" if ended_well else "error event"


async def state(port: int) -> dict[str, object]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET /stellwerk/stats HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    text = await reader.read()
    writer.close()
    value = json.loads(text.partition(b"\r\n\r\n")[2])
    assert isinstance(value, dict)
    return value


async def settle(port: int, timeout_s: float = 40.0) -> dict[str, object]:
    """Wait until nothing runs any more. The connection that asks is one itself."""
    end_s = time.monotonic() + timeout_s
    while True:
        now = await state(port)
        if now["active"] == 0 and now["connections"] == 1:
            return now
        if time.monotonic() > end_s:
            return now
        await asyncio.sleep(0.2)


async def soak(seconds: float, clients: int, seed: int) -> dict[str, object]:
    """The summary."""
    with tempfile.TemporaryDirectory(prefix="stellwerk-soak-") as place:
        path = Path(place) / "policy.yaml"
        engines = [SimulatedEngine(SETTINGS) for _ in range(3)]
        ports = [await engine.start() for engine in engines]
        path.write_text(policy_text(ports, 16))
        program = str(Path(sys.executable).parent / "stellwerk")
        log = Path(place) / "log.jsonl"
        process = subprocess.Popen(
            [program, "serve", "--policy", str(path), "--port", "0", "--log", str(log)], stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        try:
            line = await asyncio.to_thread(process.stderr.readline)
            port = int(line.decode().partition("127.0.0.1:")[2].partition("/")[0])
            run = Soak(port, path, seed)
            run.engines, run.engine_ports = engines, ports
            return await _run(run, psutil.Process(process.pid), seconds, clients, log)
        finally:
            process.terminate()
            await asyncio.to_thread(process.wait, 60)
            process.stderr.close()


async def _run(run: Soak, process: psutil.Process, seconds: float, clients: int, log: Path) -> dict[str, object]:
    samples: list[dict[str, object]] = []
    begun_s = time.monotonic()
    async with asyncio.TaskGroup() as group:
        group.create_task(run.trouble())
        group.create_task(run.reloads())
        for _ in range(clients):
            group.create_task(run.client())
        while time.monotonic() - begun_s < seconds:
            await asyncio.sleep(seconds / 20)
            now = await state(run.port)
            samples.append(
                {"at_s": round(time.monotonic() - begun_s, 1), "rss_mb": round(process.memory_info().rss / 1e6, 1),
                 "fds": process.num_fds(), "tasks": now["tasks"], "connections": now["connections"],
                 "active": now["active"]}
            )  # fmt: skip
        run.over.set()
    for engine in run.engines:
        engine.faults.clear()
    rested = await settle(run.port)
    await asyncio.sleep(6)  # warm connections to engines are closed after four seconds
    end = {"rss_mb": round(process.memory_info().rss / 1e6, 1), "fds": process.num_fds()}
    for engine in run.engines:
        await engine.stop()
    early = samples[len(samples) // 4]
    pools = rested["pools"]
    assert isinstance(pools, dict)
    slots = {name: (pool["running"], pool["waiting"]) for name, pool in pools.items()}
    problems = list(run.wrong[:10])
    if rested["active"] != 0 or any(held != (0, 0) for held in slots.values()):
        problems.append(f"slots are still held: active {rested['active']}, {slots}")
    growth_mb = float(str(end["rss_mb"])) - float(str(early["rss_mb"]))
    if growth_mb > 8 + 0.1 * float(str(early["rss_mb"])):
        problems.append(f"memory grew by {growth_mb:.1f} MB after the first quarter")
    if int(str(rested["tasks"])) > 12:
        problems.append(f"{rested['tasks']} tasks are left")
    if int(end["fds"]) > 40:
        problems.append(f"{end['fds']} files and sockets are left open")
    errors = sum('"internal_error"' in line for line in log.read_text().splitlines())
    if errors:
        problems.append(f"{errors} internal errors in the log")
    return {
        "seconds": seconds, "requests": sum(run.seen.values()), "seen": dict(sorted(run.seen.items())),
        "samples": samples, "after_rest": {**end, "tasks": rested["tasks"], "slots": slots}, "growth_mb": growth_mb,
        "reloads": rested["reloads"], "problems": problems,
    }  # fmt: skip


def table(summary: dict[str, object]) -> str:
    """What happened, what it took, and what was left."""
    seen, samples, rest = summary["seen"], summary["samples"], summary["after_rest"]
    assert isinstance(seen, dict)
    assert isinstance(samples, list)
    assert isinstance(rest, dict)
    lines = [f"{summary['requests']} requests and disturbances in {summary['seconds']:g} s"]
    lines += [f"  {what:28}{count:>8}" for what, count in seen.items()]
    columns = ("at_s", "rss_mb", "fds", "tasks", "connections", "active")
    lines.append("".join(f"{name:>13}" for name in columns))
    lines += ["".join(f"{sample[name]:>13}" for name in columns) for sample in samples]
    lines.append("".join(f"{value:>13}" for value in ("at rest", rest["rss_mb"], rest["fds"], rest["tasks"], 0, 0)))
    lines.append(
        f"slots held at rest (running, waiting): {rest['slots']}; memory after the first quarter: "
        f"{summary['growth_mb']:+.1f} MB; reloads: {summary['reloads']}"
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    summary = asyncio.run(soak(options.seconds, options.clients, options.seed))
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(summary, indent=1))
    print(table(summary))
    problems = summary["problems"]
    assert isinstance(problems, list)
    print("nothing leaked, nothing lost" if not problems else "PROBLEMS:\n" + "\n".join(problems))
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
