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
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import psutil
from gateway_servers import BODY, EVENTS, PACKAGES, Contender, install, start_all

CONNECTIONS = (1, 32, 256)
STREAM_CONNECTIONS = (1, 8, 32, 64)
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
