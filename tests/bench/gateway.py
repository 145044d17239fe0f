"""Gateway against NeMo Switchyard's server and LiteLLM's proxy: same null engine, same load, one run, ratios.

    python tests/bench/gateway.py --install      (once: the rivals, each in a virtual environment of its own)
    python tests/bench/gateway.py --seconds 2 --rounds 3 --json out/bench/gateway.json

Load comes from wrk, the engine is null_engine.c: both cost little, because on a small machine they share the
processors with what is measured. `--engine python` takes `stellwerk engine null` instead, which says the same bytes
and costs as much as a gateway. Contenders take turns in every round, and the median over the rounds counts, so that
whatever else the machine does hits all of them. Added latency is the median at one connection less the engine's own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from stellwerk.collectives.native.compile import compiler
from stellwerk.serving.engines.simulated.null import prepared

ROOT = Path(__file__).resolve().parents[2]
RIVALS = ROOT / ".venv-bench"
CONNECTIONS = (1, 32, 256)
STREAM_CONNECTIONS = (1, 8, 32, 64)
EVENTS = 8  # content events of a streamed answer
# LiteLLM 1.107.0 was a compromised release; this version is older than it.
PACKAGES = {"switchyard": "nemo-switchyard==0.3.0", "litellm": "litellm[proxy]==1.105.7"}

BODY = {
    "model": "auto",
    "messages": [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "What is the capital of France, and why is it there?"},
    ],
    "temperature": 0.7,
}
POLICY = """version: 1
models: {{auto: triage}}
pools:
  small: {{model: tiny, max_running: 512, max_waiting: 512, replicas: [{{url: "{engine}"}}]}}
  large: {{model: big, max_running: 512, max_waiting: 512, replicas: [{{url: "{engine}"}}]}}
steps:
  triage:
    when: [{{if: {{header: {{x-tier: premium}}}}, to: large}}]
    else: spread
  spread: {{split: {{small: 80, large: 20}}}}
"""
ROUTES = """schema_version = 1
[llm_clients.null]
format = "openai_chat"
base_url = "{engine}"
[targets.small]
id = "tiny"
llm_client = "null"
[targets.large]
id = "big"
llm_client = "null"
[routes.auto]
id = "auto"
type = "random"
targets = ["small", "large"]
weights = [80, 20]
"""
SWITCHYARD = """
import sys, time
from switchyard_rust.server import Server
server = Server(sys.argv[1], int(sys.argv[2]))
print("ready", flush=True)
while True:
    time.sleep(1)
"""
LITELLM = """model_list:
  - {{model_name: auto, litellm_params: {{model: openai/tiny, api_base: "{engine}", api_key: none, weight: 80}}}}
  - {{model_name: auto, litellm_params: {{model: openai/big, api_base: "{engine}", api_key: none, weight: 20}}}}
litellm_settings: {{telemetry: false, num_retries: 0}}
"""


@dataclass
class Contender:
    """One server under test. Figures per number of connections."""

    name: str
    url: str
    process: psutil.Process
    rates: dict[int, list[float]] = field(default_factory=dict)
    latencies: dict[int, list[tuple[float, float]]] = field(default_factory=dict)  # p50, p99 in milliseconds
    streams: dict[int, list[float]] = field(default_factory=dict)
    cpu_us: dict[int, list[float]] = field(default_factory=dict)  # of one request
    stream_cpu_us: dict[int, list[float]] = field(default_factory=dict)  # of one streamed answer
    end_delay_ms: list[float] = field(default_factory=list)
    rss_mb: float = 0.0


def install() -> None:
    """Make the rivals' environments. They are ignored by git and never part of the program."""
    for name, package in PACKAGES.items():
        place = RIVALS / name
        if (place / "installed").exists() and (place / "installed").read_text() == package:
            continue
        subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
        subprocess.run([str(place / "bin" / "pip"), "install", "--quiet", package], check=True)
        (place / "installed").write_text(package)
    (RIVALS / ".gitignore").write_text("*\n")


def rival_bin(name: str) -> Path | None:
    """Where a rival is installed: in an environment of its own, or in the one that `make bench-deps` shares."""
    marks = {"switchyard": "lib/python3*/site-packages/switchyard_rust", "litellm": "bin/litellm"}
    for place in (RIVALS / name, RIVALS):
        if any(place.glob(marks[name])):
            return place / "bin"
    return None


# --- processes ------------------------------------------------------------------------------------------------------


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def launch(stack: ExitStack, command: list[str], output: Path, **environment: str) -> psutil.Process:
    """Start a server; it ends with the stack."""
    log = stack.enter_context(output.open("wb"))
    process = subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **environment}, cwd=output.parent)

    def end() -> None:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(end)
    return psutil.Process(process.pid)


def wait_ready(url: str, process: psutil.Process, output: Path, timeout_s: float = 90.0) -> None:
    """Until it answers a chat request with 200."""
    import http.client

    host = url.removeprefix("http://").partition("/")[0]
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        if not process.is_running() or process.status() == psutil.STATUS_ZOMBIE:
            break
        try:
            connection = http.client.HTTPConnection(host, timeout=5)
            connection.request("POST", "/v1/chat/completions", json.dumps(BODY), {"content-type": "application/json"})
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.2)
    raise SystemExit(f"{url} did not become ready:\n{output.read_text(errors='replace')[-2000:]}")


def native_engine(place: Path, port: int) -> list[str]:
    """Compile the null engine; its command line."""
    words = place / "engine"
    words.mkdir()
    for name, said in prepared(EVENTS).items():
        (words / name).write_bytes(said)
    program = place / "null_engine"
    source = Path(__file__).with_name("null_engine.c")
    subprocess.run([*compiler(), "-std=c11", "-O2", "-o", str(program), str(source)], check=True)
    return [str(program), str(port), str(words)]


def start_all(
    stack: ExitStack, place: Path, only: list[str], kind: str, bare: bool = False
) -> tuple[str, list[Contender]]:
    """The engine's URL and the contenders."""
    stellwerk = str(Path(sys.executable).parent / "stellwerk")
    engine_port = free_port()
    engine = f"http://127.0.0.1:{engine_port}/v1"
    log = place / "engine.log"
    in_python = [stellwerk, "engine", "null", "--port", str(engine_port), "--events", str(EVENTS)]
    process = launch(stack, in_python if kind == "python" else native_engine(place, engine_port), log)
    wait_ready(engine, process, log)
    contenders: list[Contender] = []
    makers: dict[str, Callable[[int], tuple[list[str], dict[str, str]]]] = {
        "stellwerk": lambda port: _stellwerk(stellwerk, place, engine, port),
        "switchyard": lambda port: _switchyard(place, engine, port),
        "litellm": lambda port: _litellm(place, engine, port),
    }
    if bare:
        makers["bare"] = lambda port: _bare(engine, port)
    for name, maker in makers.items():
        if only and name not in (*only, "bare"):
            continue
        if name in PACKAGES and rival_bin(name) is None:
            print(f"{name} is not installed (make bench-deps); left out", file=sys.stderr)
            continue
        port = free_port()
        command, environment = maker(port)
        log = place / f"{name}.log"
        process = launch(stack, command, log, **environment)
        url = f"http://127.0.0.1:{port}/v1"
        wait_ready(url, process, log)
        contenders.append(Contender(name, url, process))
    return engine, contenders


def _stellwerk(program: str, place: Path, engine: str, port: int) -> tuple[list[str], dict[str, str]]:
    path = place / "policy.yaml"
    path.write_text(POLICY.format(engine=engine))
    log = str(place / "requests.jsonl")
    return [program, "serve", "--policy", str(path), "--port", str(port), "--log", log], {}


def _switchyard(place: Path, engine: str, port: int) -> tuple[list[str], dict[str, str]]:
    (place / "routes.toml").write_text(ROUTES.format(engine=engine))
    (place / "serve.py").write_text(SWITCHYARD)
    python = str((rival_bin("switchyard") or RIVALS) / "python")
    return [python, str(place / "serve.py"), str(place / "routes.toml"), str(port)], {"RUST_LOG": "error"}


def _bare(engine: str, port: int) -> tuple[list[str], dict[str, str]]:
    place = engine.removeprefix("http://").partition("/")[0]
    return [sys.executable, str(Path(__file__).with_name("bare_proxy.py")), str(port), place], {}


def _litellm(place: Path, engine: str, port: int) -> tuple[list[str], dict[str, str]]:
    (place / "litellm.yaml").write_text(LITELLM.format(engine=engine))
    program = str((rival_bin("litellm") or RIVALS) / "litellm")
    command = [program, "--config", str(place / "litellm.yaml"), "--port", str(port), "--host", "127.0.0.1"]
    # Without keys, as the others run here: on loopback, for the length of the benchmark.
    keyless = {"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
    return command, {"LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True", **keyless}


# --- load -----------------------------------------------------------------------------------------------------------


def script(place: Path, stream: bool) -> str:
    path = place / ("stream.lua" if stream else "plain.lua")
    body = json.dumps({**BODY, "stream": True} if stream else BODY)
    path.write_text(
        f'wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\nwrk.body = [==[{body}]==]\n'
    )
    return str(path)


def milliseconds(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)(us|ms|s)", text)
    assert found is not None, text
    return float(found[1]) * {"us": 1e-3, "ms": 1.0, "s": 1e3}[found[2]]


def load(url: str, lua: str, connections: int, seconds: int) -> tuple[float, float, float, int]:
    """(requests per second, p50 ms, p99 ms, requests). Ends the program at any answer but 200."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", "--latency", "--timeout", "20s", "-s", lua]
    text = subprocess.run([*command, f"{url}/chat/completions"], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in text:
        raise SystemExit(f"{url} answered errors:\n{text}")
    found = {name: re.search(rf"{name}\s+([0-9.]+(?:us|ms|s))\s*$", text, re.M) for name in ("50%", "99%")}
    count = re.search(r"([0-9]+) requests in", text)
    rate = re.search(r"Requests/sec:\s+([0-9.]+)", text)
    assert count is not None
    assert rate is not None
    p50, p99 = (milliseconds(match[1]) if match else float("nan") for match in (found["50%"], found["99%"]))
    return float(rate[1]), p50, p99, int(count[1])


def family(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def cpu_s(process: psutil.Process) -> float:
    return sum(sum(member.cpu_times()[:2]) for member in family(process))


def end_delays(url: str, count: int) -> list[float]:
    """Milliseconds from the engine's last write to the end of the stream at the client, per stream."""
    import http.client

    host = url.removeprefix("http://").partition("/")[0]
    connection = http.client.HTTPConnection(host, timeout=20)
    body = json.dumps({**BODY, "messages": [{"role": "user", "content": "[timed]"}], "stream": True})
    delays: list[float] = []
    for _ in range(count):
        connection.request("POST", "/v1/chat/completions", body, {"content-type": "application/json"})
        text = connection.getresponse().read()
        arrived_ns = time.monotonic_ns()
        found = re.search(rb"written_ns=([0-9]+)", text)
        if found is None:
            raise SystemExit(f"{url} did not pass the engine's words on: {text[:300]!r}")
        delays.append((arrived_ns - int(found[1])) / 1e6)
    connection.close()
    return delays


# --- the run --------------------------------------------------------------------------------------------------------


def measure(contender: Contender, place: Path, seconds: int) -> None:
    """One round over all loads."""
    if contender.name == "litellm":
        seconds *= 4  # at 256 connections its first answer takes seconds
    for connections in CONNECTIONS:
        before_s = cpu_s(contender.process)
        rate, p50, p99, count = load(contender.url, script(place, False), connections, seconds)
        contender.cpu_us.setdefault(connections, []).append((cpu_s(contender.process) - before_s) / max(1, count) * 1e6)
        contender.rates.setdefault(connections, []).append(rate)
        contender.latencies.setdefault(connections, []).append((p50, p99))
    for connections in STREAM_CONNECTIONS:
        before_s = cpu_s(contender.process)
        rate, _, _, count = load(contender.url, script(place, True), connections, seconds)
        spent_us = (cpu_s(contender.process) - before_s) / max(1, count) * 1e6
        contender.stream_cpu_us.setdefault(connections, []).append(spent_us)
        contender.streams.setdefault(connections, []).append(rate)
    contender.end_delay_ms += end_delays(contender.url, 25)
    contender.rss_mb = sum(member.memory_info().rss for member in family(contender.process)) / 1e6


def run(seconds: int, rounds: int, only: list[str], kind: str, bare: bool) -> dict[str, object]:
    """All figures."""
    with ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stellwerk-bench-")))
        engine, contenders = start_all(stack, place, only, kind, bare)
        direct = Contender("engine", engine, psutil.Process())
        for contender in contenders:
            load(contender.url, script(place, False), 32, 1)  # warm
        for _ in range(rounds):
            rate, p50, p99, _count = load(engine, script(place, False), 1, seconds)
            direct.latencies.setdefault(1, []).append((p50, p99))
            direct.rates.setdefault(1, []).append(rate)
            for contender in contenders:
                measure(contender, place, seconds)
    base_ms = statistics.median(p50 for p50, _ in direct.latencies[1])
    figures = {contender.name: summary(contender, base_ms) for contender in contenders}
    return {"engine": kind, "engine_p50_ms": base_ms, "seconds": seconds, "rounds": rounds, "figures": figures}


def summary(contender: Contender, base_ms: float) -> dict[str, object]:
    def middle(values: list[float]) -> float:
        return statistics.median(values)

    return {
        "rate": {c: middle(values) for c, values in contender.rates.items()},
        "p50_ms": {c: middle([p50 for p50, _ in values]) for c, values in contender.latencies.items()},
        "p99_ms": {c: middle([p99 for _, p99 in values]) for c, values in contender.latencies.items()},
        "added_p50_ms": middle([p50 for p50, _ in contender.latencies[1]]) - base_ms,
        "streams": {c: middle(values) for c, values in contender.streams.items()},
        "events_64": middle(contender.streams[64]) * (EVENTS + 2),
        "cpu_us": {c: middle(values) for c, values in contender.cpu_us.items()},
        "stream_cpu_us": {c: middle(values) for c, values in contender.stream_cpu_us.items()},
        "end_delay_ms": middle(contender.end_delay_ms),
        "rss_mb": contender.rss_mb,
    }


ROWS: list[tuple[str, Callable[[dict[str, object]], float], str]] = [
    *[(f"requests/s, {c} connections", lambda f, c=c: f["rate"][c], "more") for c in CONNECTIONS],  # type: ignore[misc,index]
    ("added latency p50 at 1, ms", lambda f: f["added_p50_ms"], "less"),  # type: ignore[return-value]
    *[(f"latency p99, {c} connections, ms", lambda f, c=c: f["p99_ms"][c], "less") for c in CONNECTIONS],  # type: ignore[misc,index]
    *[(f"streamed answers/s, {c} connections", lambda f, c=c: f["streams"][c], "more") for c in STREAM_CONNECTIONS],  # type: ignore[misc,index]
    ("events/s, 64 streams", lambda f: f["events_64"], "more"),  # type: ignore[return-value]
    ("stream end late by, ms", lambda f: f["end_delay_ms"], "less"),  # type: ignore[return-value]
    ("CPU per request at 32, µs", lambda f: f["cpu_us"][32], "less"),  # type: ignore[index]
    ("CPU per streamed answer at 32, µs", lambda f: f["stream_cpu_us"][32], "less"),  # type: ignore[index]
    ("resident memory, MB", lambda f: f["rss_mb"], "less"),  # type: ignore[return-value]
]


def table(result: dict[str, object]) -> str:
    """Figures and, per rival, ours over theirs."""
    figures = result["figures"]
    assert isinstance(figures, dict)
    names = list(figures)
    rivals = [name for name in names if name != "stellwerk"] if "stellwerk" in names else []
    lines = [f"{'':36}" + "".join(f"{name:>13}" for name in names) + "".join(f"{'x ' + name:>14}" for name in rivals)]
    for title, read, _ in ROWS:
        values = {name: read(figures[name]) for name in names}
        ratios = [
            f"{values['stellwerk'] / values[rival]:>13.2f}x" if values[rival] else f"{'-':>14}" for rival in rivals
        ]
        lines.append(f"{title:36}" + "".join(f"{values[name]:>13,.2f}" for name in names) + "".join(ratios))
    return "\n".join(lines)


# rival -> what is aimed at: (title, our figure over theirs, at least or at most)
AIMS: dict[str, list[tuple[str, Callable[[dict[str, object]], float], str, float]]] = {
    "switchyard": [
        *[(f"requests/s at {c}", lambda f, c=c: f["rate"][c], "at least", 2.0) for c in CONNECTIONS],  # type: ignore[misc,index]
        ("added latency p50 at 1", lambda f: f["added_p50_ms"], "at most", 0.6),  # type: ignore[return-value]
        ("streamed answers/s at 32", lambda f: f["streams"][32], "at least", 30.0),  # type: ignore[index]
        ("memory", lambda f: f["rss_mb"], "at most", 0.7),  # type: ignore[return-value]
    ],
    "litellm": [
        ("requests/s at 32", lambda f: f["rate"][32], "at least", 50.0),  # type: ignore[index]
        ("added latency p50 at 1", lambda f: f["added_p50_ms"], "at most", 0.02),  # type: ignore[return-value]
        ("memory", lambda f: f["rss_mb"], "at most", 0.1),  # type: ignore[return-value]
    ],
}


def aims(result: dict[str, object]) -> str:
    """Each aim, with what was reached in this run."""
    figures = result["figures"]
    assert isinstance(figures, dict)
    lines: list[str] = []
    for rival, wanted in AIMS.items():
        for title, read, bound, limit in wanted:
            if rival in figures and "stellwerk" in figures and read(figures[rival]):
                ratio = read(figures["stellwerk"]) / read(figures[rival])
                reached = ratio >= limit if bound == "at least" else ratio <= limit
                words = "reached" if reached else "NOT REACHED"
                lines.append(f"  {rival:12}{title:28}{bound} {limit:>5g}x {ratio:>9.3f}x  {words}")
    return "\n".join(["aims (ours over theirs):", *lines]) if lines else ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--install", action="store_true", help="make the rivals' environments and stop")
    parser.add_argument("--seconds", type=int, default=2, help="per load")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], choices=["stellwerk", *PACKAGES])
    parser.add_argument("--engine", choices=["native", "python"], default="native")
    parser.add_argument("--bare", action="store_true", help="with a proxy that only passes bytes on (bare_proxy.py)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.install:
        install()
        return
    if shutil.which("wrk") is None:
        raise SystemExit("This needs wrk (apt install wrk).")
    result = run(options.seconds, options.rounds, options.only, options.engine, options.bare)
    print(table(result))
    print(aims(result))
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
