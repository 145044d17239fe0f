"""The servers that gateway.py measures: null engine, gateway, rivals, and a proxy that decides nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from stellwerk.native import compiler
from stellwerk.serving.engines.simulated.null import prepared

ROOT = Path(__file__).resolve().parents[2]
RIVALS = ROOT / ".venv-bench"
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
