"""The gateway as a job of a simulated Spark's real agent: started, used, shown, reloaded, ended."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import ssl
import stat
import tempfile
import urllib.request
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from e2e.support import Journey, journey, stellwerk
from engine.serving.test_gateway_tls import certificate
from stellwerk.hosting import gateway as hosting
from stellwerk.hosting.gateway import MODULE, GatewayJob
from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.serving.engines.simulated.engine import SimulatedEngine
from stellwerk.serving.engines.simulated.settings import SimulatedSettings
from stellwerk.serving.gateway.keys import create_key
from stellwerk.serving.gateway.on_node import FOLDER, Order
from stellwerk.serving.policy.load import load_policy

SECRET = "secret-of-an-outside-engine"
OTHER_SECRET = "secret-of-another-engine"


def policy(port: int, *, models: str = "auto: ask") -> str:
    return f"""version: 1
models: {{{models}}}
pools:
  small: {{model: tiny, replicas: [{{node: spark-2, port: {port}}}]}}
  away: {{model: tiny, health: {{path: none}}, replicas: [{{url: "http://127.0.0.1:{port}/v1", key_env: AWAY_KEY}}]}}
classifiers: {{difficulty: {{kind: embedded}}}}
steps:
  ask: {{classify: difficulty, to: {{simple: small, complex: away}}, threshold: 1.0}}
gateway: {{require_keys: true, override: true}}
"""


async def fetch(
    job: GatewayJob, path: str, key: str, body: object = None, more: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """One request from this computer, which is also the simulated machine's."""

    def ask() -> tuple[int, dict[str, str], bytes]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"authorization": f"Bearer {key}", **(more or {})}
        request = urllib.request.Request(job.url.removesuffix("/v1") + path, data, headers)
        trusting = ssl.create_default_context(cadata=made_certificate()[0])
        with urllib.request.urlopen(request, timeout=20, context=trusting) as answer:
            return answer.status, {k.lower(): v for k, v in answer.headers.items()}, answer.read()

    return await asyncio.to_thread(ask)


@functools.cache
def made_certificate() -> tuple[str, str]:
    """Certificate and private key for 127.0.0.1 as PEM texts."""
    with tempfile.TemporaryDirectory() as folder:
        certificate(Path(folder) / "gate")
        return (Path(folder) / "gate.crt").read_text(), (Path(folder) / "gate.key").read_text()


def processes(made: Journey) -> list[psutil.Process]:
    """Gateways that run on the simulated machines."""
    homes = {str(made.home(node.name)) for node in made.cluster.nodes}
    found = []
    for process in psutil.process_iter():
        try:
            words = process.cmdline()
            if MODULE in words and words[0] == "python3" and process.environ().get("HOME") in homes:
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


async def models(job: GatewayJob, key: str) -> list[str]:
    return [entry["id"] for entry in json.loads((await fetch(job, "/v1/models", key))[2])["data"]]


async def answers(made: Journey, job: GatewayJob, key: str) -> None:
    """It answers over the other machine's engine, and neither arguments nor other people's files hold a secret."""
    chat = {"model": "auto", "messages": [{"role": "user", "content": "hi"}]}
    status, headers, body = await fetch(job, "/v1/chat/completions", key, chat)
    assert (status, headers["x-stellwerk-path"]) == (200, "ask>small")
    assert b"[simulated]" in body
    assert b"stellwerk_requests_total" in (await fetch(job, "/metrics", key))[2]
    process = processes(made)[0]
    assert SECRET not in " ".join(process.cmdline()) + json.dumps(process.environ())
    kept = [path for path in (made.home("spark-1") / FOLDER).rglob("*") if path.is_file()]
    assert {path.name for path in kept} == {
        "policy.yaml", "api-keys.json", "port", "0.lock", "certificate.pem", "certificate-key.pem",
    }  # fmt: skip
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in kept)
    assert [
        path for path in made.home("spark-1").rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()
    ] == []


async def outlives_the_desktop(made: Journey, job: GatewayJob) -> None:
    """It goes on when the desktop closes, and the next one finds it, with its port and its log."""
    await made.reopen()
    link = made.session.links["spark-1"]
    (found,) = await hosting.running(link)
    assert (found.job_id, found.port, found.host) == (job.job_id, job.port, "127.0.0.1")
    assert any('"status":200' in line for line in await hosting.last_words(link, found))
    assert await hosting.running(made.session.links["spark-2"]) == []


async def comes_back(made: Journey, job: GatewayJob, key: str) -> None:
    """A gateway that is killed is started again, on its port and with the policy it had last."""
    (child,) = [process for process in processes(made) if process.parent() in processes(made)]
    child.kill()
    async with asyncio.timeout(20):
        while True:
            try:
                assert await models(job, key) == ["auto", "fast"]
            except OSError:
                await asyncio.sleep(0.05)
            else:
                break
    link = made.session.links["spark-1"]
    assert any("SIGKILL" in line for line in await hosting.last_words(link, job, 100))


async def reloads(made: Journey, job: GatewayJob, order: Order, engine: int, key: str) -> None:
    """Another policy comes into service without a restart; a broken one does not, and says why."""
    link = made.session.links["spark-1"]
    with pytest.raises(StellwerkError, match="There is no step or pool"):
        await hosting.update(link, job, Order(policy(engine, models="auto: nowhere")))
    with pytest.raises(StellwerkError, match="No gateway runs on port 9"):
        await hosting.update(link, replace(job, asked_port=9), order)
    with pytest.raises(StellwerkError, match="OTHER_KEY"):
        await hosting.update(link, job, Order(policy(engine).replace("AWAY_KEY", "OTHER_KEY")))
    assert await models(job, key) == ["auto"]
    with pytest.raises(StellwerkError, match="holds no certificate"):
        await hosting.update(link, job, replace(order, tls_cert=order.tls_key))
    with pytest.raises(StellwerkError, match="is damaged"):
        await hosting.update(link, job, replace(order, keys="{"))
    assert await models(job, key) == ["auto"]
    # Another engine's key comes with the policy, and both hold over a crash.
    text = policy(engine, models="auto: ask, fast: small").replace("AWAY_KEY", "OTHER_KEY")
    await hosting.update(link, job, Order(text, secrets={"OTHER_KEY": OTHER_SECRET}))
    assert await models(job, key) == ["auto", "fast"]


async def keeps_the_secret(made: Journey, job: GatewayJob, engine: SimulatedEngine, key: str) -> None:
    """What came with the last order goes to the engine, and lies in no file and no environment."""
    chat = {"model": "auto", "messages": [{"role": "user", "content": "hi"}]}
    status, headers, _ = await fetch(job, "/v1/chat/completions", key, chat, {"x-stellwerk-pool": "away"})
    assert (status, headers["x-stellwerk-pool"]) == (200, "away")
    assert (b"authorization", b"Bearer " + OTHER_SECRET.encode()) in engine.heads[-1]
    for process in processes(made):
        assert OTHER_SECRET not in " ".join(process.cmdline()) + json.dumps(process.environ())
    files = [path for path in made.home("spark-1").rglob("*") if path.is_file()]
    assert [path for path in files if OTHER_SECRET.encode() in path.read_bytes()] == []


async def test_a_gateway_runs_on_a_machine_under_its_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "AWAY_KEY", SECRET)
    key = create_key(tmp_path / "keys.json", "team", admin=True)
    async with AsyncExitStack() as stack:
        made = await stack.enter_async_context(journey(tmp_path))
        engine = SimulatedEngine(SimulatedSettings("tiny", ttft_s=0.001, rate=2000))
        port = await engine.start()
        stack.push_async_callback(engine.stop)
        text = policy(port)
        order = Order(
            text,
            keys=(tmp_path / "keys.json").read_text(),
            places={"spark-2": "127.0.0.1"},
            secrets=hosting.secrets_of(load_policy(text)),
            drain_s=1.0,
            tls_cert=made_certificate()[0],
            tls_key=made_certificate()[1],
        )
        link = made.session.links["spark-1"]
        with pytest.raises(StellwerkError, match="there are none"):
            await hosting.start(link, Order(text, secrets=order.secrets), 0)
        job = await hosting.start(link, order, 0)
        await answers(made, job, key)
        with pytest.raises(StellwerkError, match="runs on port 0 of this node already"):
            await hosting.start(link, order, 0)
        await outlives_the_desktop(made, job)
        await reloads(made, job, order, port, key)
        await comes_back(made, job, key)
        await keeps_the_secret(made, job, engine, key)
        link = made.session.links["spark-1"]
        await hosting.stop(link, job, 1.0)
        assert await hosting.running(link) == []
        assert processes(made) == []
        assert [path.name for path in (made.home("spark-1") / FOLDER).rglob("*")] == ["0.lock"], "its files are gone"
        await by_command(made, tmp_path, port, key)


async def by_command(made: Journey, base: Path, engine: int, key: str) -> None:
    path = base / "policy.yaml"
    path.write_text(policy(engine))
    there = ("serve", "--node", "spark-1")
    certificate(base / "gate")
    starting = (
        *there, "--policy", str(path), "--port", "0", "--keys", str(base / "keys.json"),
        "--tls-cert", str(base / "gate.crt"), "--tls-key", str(base / "gate.key"),
    )  # fmt: skip
    for secret in ("keys.json", "gate.key"):
        (base / secret).chmod(0o644)
        refused = await stellwerk(base, *starting)
        assert refused.code == 2
        assert f"{secret} can be read by other users" in " ".join(refused.text.split())
        (base / secret).chmod(0o600)
    started = await stellwerk(base, *starting)
    assert started.code == 0, started.text
    assert "Gateway on spark-1: https://127.0.0.1:" in started.text
    assert "Only programs on spark-1 reach it" in started.text
    shown = await stellwerk(base, *there, "--show")
    assert shown.code == 0, shown.text
    (job,) = await hosting.running(made.session.links["spark-1"])
    assert job.url in shown.text
    path.write_text("models: [")
    broken = await stellwerk(base, *there, "--policy", str(path), "--reload")
    assert broken.code == 1
    assert "policy.yaml: line 1" in broken.text
    ended = await stellwerk(base, *there, "--stop", "--drain", "1")
    assert ended.code == 0, ended.text
    assert processes(made) == []
    none = await stellwerk(base, *there, "--stop")
    assert none.code == 2
    assert "no gateway runs there" in none.text
    unknown = await stellwerk(base, "serve", "--node", "spark-9", "--show")
    assert "spark-1, spark-2" in unknown.text


def test_a_missing_key_of_an_outside_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWAY_KEY", raising=False)
    with pytest.raises(BadInput, match="AWAY_KEY"):
        hosting.secrets_of(load_policy(policy(1)))
