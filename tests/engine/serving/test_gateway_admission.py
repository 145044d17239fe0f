"""Keys, hosts and origins: who gets in, and what is never said or stored."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from engine.serving.kit import Wire, Yard, chat, policy, request, until
from stellwerk.serving.classifier.data import BadData
from stellwerk.serving.decision.log import read_log
from stellwerk.serving.gateway.deployment import DeployError
from stellwerk.serving.gateway.keys import create_key, load_keys, revoke_key

KEYS = "gateway: {require_keys: true}"


async def test_keys_cover_every_path_but_health(yard: Yard, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key = create_key(path, "team-a")
    _, port = await yard.engine()
    await yard.gateway(policy(port, gateway=KEYS), keys_path=str(path))
    for refused in ("/v1/models", "/ready", "/metrics", "/stellwerk/stats", "/nowhere"):
        answer = await yard.get(refused)
        assert answer.status == 401, refused
        assert answer.headers["www-authenticate"] == "Bearer"
    assert (await yard.ask()).status == 401
    assert (await yard.ask("/v1/messages")).json()["type"] == "error"
    assert (await yard.get("/health")).status == 200
    assert (await yard.ask(authorization=f"Bearer {key}")).status == 200
    assert (await yard.ask(x_api_key=key)).status == 200
    assert (await yard.ask(authorization=f"Bearer {key[:-1]}x")).status == 401
    assert (await yard.ask(authorization="Bearer sk-nothing")).status == 401
    assert (await yard.ask(authorization=f"Basic {key}")).status == 401


async def test_a_revoked_key_is_worthless_within_seconds(yard: Yard, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key, other = create_key(path, "team-a"), create_key(path, "team-b")
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway=KEYS), keys_path=str(path))
    assert (await yard.ask(authorization=f"Bearer {key}")).status == 200
    epoch = gateway._keys.epoch
    revoke_key(path, "team-a")
    await until(lambda: gateway._keys.epoch is not epoch)
    assert (await yard.ask(authorization=f"Bearer {key}")).status == 401
    assert (await yard.ask(authorization=f"Bearer {other}")).status == 200


async def test_the_key_file_holds_no_key_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "keys.json"
    key = create_key(path, "team-a")
    assert key.rpartition("-")[2] not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in load_keys(path)] == ["team-a"]


async def test_guessing_secrets_is_slowed_down(yard: Yard, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    key = create_key(path, "team-a")
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway=KEYS), keys_path=str(path))
    stem = key[:12]
    for number in range(7):
        wrong = stem + f"{number:043d}"
        assert (await yard.ask(authorization=f"Bearer {wrong}")).status == 401
    # Only the first five were worth a hash.
    assert len(gateway._keys._known) == 5


async def test_keys_that_are_required_and_missing_stop_the_start(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    with pytest.raises(DeployError, match="stellwerk key create"):
        await yard.gateway(policy(port, gateway=KEYS), keys_path=str(tmp_path / "none.json"))


async def test_changing_the_policy_needs_an_admin_key_where_there_are_keys(yard: Yard, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    user, admin = create_key(path, "user"), create_key(path, "boss", admin=True)
    _, port = await yard.engine()
    text = policy(port, gateway=KEYS)
    await yard.gateway(text, keys_path=str(path))
    assert (await yard.ask("/stellwerk/reload", text.encode(), authorization=f"Bearer {user}")).status == 403
    assert (await yard.ask("/stellwerk/reload", text.encode(), authorization=f"Bearer {admin}")).status == 200


async def test_the_policy_sees_the_name_of_the_key(yard: Yard, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    vip, other = create_key(path, "vip"), create_key(path, "other")
    _, port = await yard.engine()
    text = f"""version: 1
models: {{auto: who}}
pools:
  small: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{port}/v1"}}]}}
  large: {{model: tiny, replicas: [{{url: "http://127.0.0.1:{port}/v1"}}]}}
steps:
  who: {{when: [{{if: {{api_key: vip}}, to: large}}], else: small}}
gateway: {{require_keys: true, override: [vip]}}
"""
    await yard.gateway(text, keys_path=str(path))
    assert (await yard.ask(authorization=f"Bearer {vip}")).headers["x-stellwerk-pool"] == "large"
    assert (await yard.ask(authorization=f"Bearer {other}")).headers["x-stellwerk-pool"] == "small"
    answer = await yard.ask(authorization=f"Bearer {vip}", x_stellwerk_pool="small")
    assert answer.headers["x-stellwerk-pool"] == "small"
    assert (await yard.ask(authorization=f"Bearer {other}", x_stellwerk_pool="large")).status == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [("localhost", 200), ("LOCALHOST:1234", 200), ("127.0.0.1:80", 200), ("[::1]:80", 200), ("evil.example", 421),
     ("localhost.evil.example", 421), ("127.0.0.1.evil.example", 421), ("", 421), ("a b", 421), ("10.0.0.1", 421),
     ("gate.example:8080", 200), ("xn--bcher-kva.example:8080", 200)],
)  # fmt: skip
async def test_only_known_hosts_are_answered(yard: Yard, host: str, status: int) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port, gateway="gateway: {allowed_hosts: [gate.example, Bücher.example]}"))
    assert (await yard.get("/v1/models", host=host)).status == status


async def test_web_pages_are_refused_unless_allowed(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(
        policy(port, gateway='gateway: {allowed_origins: ["https://app.example", "https://Bücher.example/"]}')
    )
    assert (await yard.ask(origin="https://xn--bcher-kva.example")).status == 200
    refused = await yard.ask(origin="https://evil.example")
    assert refused.status == 403
    assert "access-control-allow-origin" not in refused.headers
    assert (await yard.ask(origin="null")).status == 403
    allowed = await yard.ask(origin="https://app.example")
    assert allowed.status == 200
    assert allowed.headers["access-control-allow-origin"] == "https://app.example"
    preflight = await yard.ask(
        body=b"", method="OPTIONS", origin="https://app.example", access_control_request_method="POST",
        access_control_request_headers="authorization, x-stainless-os",
    )  # fmt: skip
    assert preflight.status == 204
    assert "x-stainless-os" in preflight.headers["access-control-allow-headers"]
    assert "authorization" in preflight.headers["access-control-allow-headers"]
    wrong = await yard.get("/v1/chat/completions", origin="https://app.example")
    assert (wrong.status, wrong.headers["access-control-allow-origin"]) == (405, "https://app.example")
    listed = await yard.get("/v1/models", origin="https://app.example")
    assert listed.headers["access-control-allow-origin"] == "https://app.example"


async def test_the_log_has_one_line_per_request_and_no_secret_or_prompt(yard: Yard, tmp_path: Path) -> None:
    keys, log = tmp_path / "keys.json", tmp_path / "log.jsonl"
    key = create_key(keys, "team-a")
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway=KEYS), keys_path=str(keys), log_path=str(log))
    await yard.ask(body=chat("a very private prompt"), authorization=f"Bearer {key}")
    await yard.ask(body=chat("a very private prompt", stream=True), authorization=f"Bearer {key}")
    await gateway.stop(0)
    text = log.read_text()
    lines = [line for line in text.splitlines() if '"api"' in line]
    assert len(lines) == 2
    assert '"key":"team-a"' in lines[0]
    assert "private" not in text
    assert key not in text
    assert key.rpartition("-")[2] not in text


async def test_refusals_and_own_pages_leave_a_line_each_too(yard: Yard, tmp_path: Path) -> None:
    keys, log = tmp_path / "keys.json", tmp_path / "log.jsonl"
    key = create_key(keys, "team-a")
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway=KEYS), keys_path=str(keys), log_path=str(log))
    shown = {"authorization": f"Bearer {key}"}
    await yard.ask()
    await yard.get("/health")
    await yard.get('/no"where', **shown)
    await yard.get("/v1/chat/completions", **shown)
    await yard.ask("/v1/chat/completions", b"", method="OPTIONS", **shown)
    await yard.ask("/stellwerk/explain", b"{}", **shown)
    await yard.get("/v1/models", host="evil.example")
    wire = await Wire.open(yard.port)
    await wire.send(b"nonsense\r\n\r\n")
    await wire.answer()
    await wire.close()
    await gateway.stop(0)
    lines = [json.loads(line) for line in log.read_text().splitlines() if '"api"' in line]
    assert [(line["api"], line["status"], line["error"], line["key"]) for line in lines] == [
        ("/v1/chat/completions", 401, "invalid_api_key", None),
        ("/health", 200, None, None),
        ('/no"where', 404, "not_found", "team-a"),
        ("/v1/chat/completions", 405, "method_not_allowed", "team-a"),
        ("/v1/chat/completions", 204, None, "team-a"),
        ("/stellwerk/explain", 400, "invalid_body", "team-a"),
        ("/v1/models", 421, "unknown_host", None),
        (None, 400, "bad_request", None),
    ]
    assert len({line["id"] for line in lines}) == len(lines)


async def test_prompts_are_logged_when_the_policy_asks_for_it(yard: Yard, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, gateway="gateway: {log_prompts: true}"), log_path=str(log))
    wire = await Wire.open(yard.port)
    for body in (b"{", chat("a public prompt"), {"messages": []}):
        await wire.send(request("/v1/chat/completions", body))
        assert (await wire.answer()).status in (200, 400)
    await wire.close()
    await yard.get("/nowhere")
    await gateway.stop(0)
    assert '"prompt":"a public prompt"' in log.read_text()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    prompts = [line["prompt"] for line in lines if line.get("api") == "/v1/chat/completions"]
    assert prompts == ["", "a public prompt", ""]
    # What the gateway has written can be run through a policy.
    replayed = list(read_log(log, model="auto"))
    assert [entry.request.last_user for entry in replayed] == ["a public prompt"]
    assert replayed[0].prompt_tokens and replayed[0].answer_tokens
    written = log.read_text()
    without = written.replace(',"prompt":"a public prompt"', "")
    log.write_text(without + written)  # prompts were asked for while it was being written
    assert [entry.request.last_user for entry in read_log(log, model="auto")] == ["a public prompt"]
    log.write_text(without)
    with pytest.raises(BadData, match="log_prompts"):
        list(read_log(log, model="auto"))
