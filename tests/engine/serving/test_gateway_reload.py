"""Another policy comes into service while requests run: nothing is lost, and a broken one changes nothing."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from engine.serving.kit import Yard, chat, policy, until
from stellwerk.serving.engines.simulated.settings import SimulatedSettings
from stellwerk.serving.gateway.deployment import DeployError
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy

STREAMING = SimulatedSettings(model="tiny", ttft_s=0.001, rate=40, answer_tokens=20, batch=256, batch_share=1.0)
WIDE = "    max_running: 256"


async def test_running_streams_finish_on_the_old_policy(yard: Yard) -> None:
    old, old_port = await yard.engine(STREAMING)
    new, new_port = await yard.engine()
    gateway = await yard.gateway(policy(old_port))
    running = asyncio.create_task(yard.ask(body=chat(stream=True)))
    await until(lambda: old.tokens_made > 1)
    assert gateway.deploy(load_policy(policy(new_port))) == 2
    assert (await yard.ask()).status == 200
    assert new.served == 1
    assert (await running).events[-1] == "[DONE]"
    assert old.served == 1


async def test_200_streams_survive_reloads_to_broken_and_to_good_files(yard: Yard, tmp_path: Path) -> None:
    slow = SimulatedSettings(model="tiny", ttft_s=0.001, rate=1, answer_tokens=12, batch=256)
    engine, port = await yard.engine(slow)
    path = tmp_path / "policy.yaml"
    path.write_text(policy(port, pool=WIDE))
    gateway = await yard.gateway(path.read_text(), policy_path=path)
    running = [asyncio.create_task(yard.ask(body=chat(f"{number}", stream=True))) for number in range(200)]
    await until(lambda: len(engine.running) == 200)
    for broken in ("pools: [", "version: 1\nmodels: {auto: nowhere}\n", "", "\x00", "version: 99"):
        with pytest.raises(PolicyErrors):
            await gateway.reload_text(broken)
        assert gateway.deployment.version == 1
    assert gateway.last_reload_error
    await gateway.reload_text(policy(port, pool=WIDE + "\n    max_waiting: 1"))
    assert gateway.deployment.version == 2
    assert gateway.last_reload_error is None
    engine.settings = replace(slow, rate=200)
    answers = await asyncio.gather(*running)
    assert all(answer.complete and answer.events[-1] == "[DONE]" for answer in answers)
    assert gateway.counters.reloads == {"refused": 5, "accepted": 1}


async def test_a_changed_file_is_taken_up_and_a_broken_one_is_not(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    path = tmp_path / "policy.yaml"
    path.write_text(policy(port))
    gateway = await yard.gateway(path.read_text(), policy_path=path)
    path.write_text("steps: {broken")
    await until(lambda: gateway.last_reload_error is not None)
    assert gateway.deployment.version == 1
    assert (await yard.ask()).status == 200
    draft = tmp_path / "draft"
    draft.write_text(policy(port).replace("auto: only", "{auto: only, fast: small}".strip("{}")))
    draft.replace(path)
    await until(lambda: gateway.deployment.version == 2)
    assert (await yard.ask(body={**chat(), "model": "fast"})).headers["x-stellwerk-path"] == "small"


async def test_a_file_that_is_no_text_or_no_file_is_refused_in_words(yard: Yard, tmp_path: Path) -> None:
    _, port = await yard.engine()
    path = tmp_path / "policy.yaml"
    path.write_text(policy(port))
    gateway = await yard.gateway(path.read_text(), policy_path=path)
    path.write_bytes(b"version: 1 # \xff\n")
    await until(lambda: gateway.last_reload_error is not None)
    assert "UTF-8" in str(gateway.last_reload_error)
    bad = ((path.mkdir, "cannot be read"), (lambda: os.mkfifo(path), "not a file"), (lambda: None, "No such"))
    for make, word in bad:
        path.rmdir() if path.is_dir() else path.unlink()
        make()
        answer = await asyncio.wait_for(yard.ask("/stellwerk/reload", b""), 10)
        assert answer.status == 422
        assert word in answer.json()["error"]["message"]
        assert "Errno" not in answer.json()["error"]["message"]
        path.touch()
    assert gateway.deployment.version == 1


async def test_reading_the_same_policy_again_leaves_the_way_back_open(yard: Yard) -> None:
    _, port = await yard.engine()
    _, other_port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    gateway.deploy(load_policy(policy(other_port)))
    gateway.deploy(load_policy(policy(other_port)))
    gateway.roll_back()
    assert gateway.deployment.policy.revision == load_policy(policy(port)).revision


async def test_limits_of_the_new_policy_hold_at_once(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    gateway.deploy(load_policy(policy(port, gateway="gateway: {max_body: 1024, max_connections: 7}")))
    assert gateway.server.limits.connections == 7
    assert (await yard.ask(body=chat("x" * 2000))).status == 413


async def test_few_descriptors_bound_the_connections_so_that_engines_can_still_be_reached(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, pool="    max_running: 20"), descriptors=164)
    assert gateway.server.limits.connections == 80
    gateway.deploy(load_policy(policy(port, pool="    max_running: 4000")))
    assert gateway.server.limits.connections == 50


async def test_rolling_back_brings_the_previous_policy_as_a_new_version(yard: Yard) -> None:
    first, first_port = await yard.engine()
    second, second_port = await yard.engine()
    gateway = await yard.gateway(policy(first_port))
    with pytest.raises(DeployError):
        gateway.roll_back()
    gateway.deploy(load_policy(policy(second_port)))
    answer = await yard.ask("/stellwerk/rollback", b" ")
    assert answer.json()["version"] == 3
    await yard.ask()
    assert (first.served, second.served) == (1, 0)
    assert (await yard.ask("/stellwerk/rollback", b" ")).status == 409


async def test_a_policy_sent_as_a_body_is_checked_and_its_problems_have_places(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    answer = await yard.ask("/stellwerk/reload", policy(port).replace("try:", "tri:").encode())
    assert answer.status == 422
    problem = answer.json()["problems"][0]
    assert problem["line"] > 1
    assert "try" in problem["remedy"]
    assert gateway.deployment.version == 1
    answer = await yard.ask("/stellwerk/reload", policy(port, model="other").encode())
    assert answer.json()["version"] == 2


async def test_changes_over_http_can_be_switched_off(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port), admin=False)
    for path in ("/stellwerk/reload", "/stellwerk/rollback", "/stellwerk/drain"):
        assert (await yard.ask(path, policy(port).encode())).status == 403
    assert gateway.deployment.version == 1


async def test_a_policy_that_needs_a_missing_key_is_refused_and_names_it(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    text = policy(port).replace('/v1"}', '/v1", key_env: STELLWERK_TEST_KEY_THAT_IS_NOT_SET}')
    answer = await yard.ask("/stellwerk/reload", text.encode())
    assert answer.status == 422
    assert "STELLWERK_TEST_KEY_THAT_IS_NOT_SET" in answer.json()["error"]["message"]
    assert gateway.deployment.version == 1


async def test_the_key_of_an_outside_replica_is_sent_to_it(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    engine, port = await yard.engine()
    monkeypatch.setitem(os.environ, "STELLWERK_TEST_KEY", "outside-secret")
    await yard.gateway(policy(port).replace('/v1"}', '/v1", key_env: STELLWERK_TEST_KEY}'))
    assert (await yard.ask(authorization="Bearer mine")).status == 200
    assert dict(engine.heads[-1])[b"authorization"] == b"Bearer outside-secret"


async def test_what_is_known_about_replicas_stays_over_a_reload(yard: Yard) -> None:
    _, port = await yard.engine()
    dead, dead_port = await yard.engine()
    await dead.stop()
    gateway = await yard.gateway(policy(port, dead_port))
    pool = gateway.deployment.pools["small"]
    await until(lambda: pool.ready == 1)
    gateway.deploy(load_policy(policy(port, dead_port, pool="    max_waiting: 3")))
    assert gateway.deployment.pools["small"] is pool
    assert pool.ready == 1
    assert pool.spec.max_waiting == 3


async def test_requests_in_the_queue_are_served_after_a_reload_that_makes_room(yard: Yard) -> None:
    engine, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=0.3, rate=2000, answer_tokens=4))
    gateway = await yard.gateway(policy(port, pool="    max_running: 1"))
    tasks = [asyncio.create_task(yard.ask(body=chat(f"{number}"))) for number in range(4)]
    await until(lambda: gateway.deployment.pools["small"].waiting == 3)
    gateway.deploy(load_policy(policy(port, pool="    max_running: 8")))
    await until(lambda: len(engine.running) == 4)
    assert {(await task).status for task in tasks} == {200}


async def test_requests_in_the_queue_of_a_pool_that_goes_are_decided_anew(yard: Yard) -> None:
    _, port = await yard.engine(SimulatedSettings(model="tiny", ttft_s=30))
    other, other_port = await yard.engine()
    gateway = await yard.gateway(policy(port, pool="    max_running: 1"))
    tasks = [asyncio.create_task(yard.ask(body=chat(f"{number}"))) for number in range(4)]
    await until(lambda: gateway.deployment.pools["small"].waiting == 3)
    gateway.deploy(load_policy(policy(other_port).replace("small", "fresh")))
    await until(lambda: other.served == 3)
    done = [task for task in tasks if task.done() or await _soon(task)]
    assert {(await task).headers["x-stellwerk-pool"] for task in done} == {"fresh"}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _soon(task: asyncio.Task[object]) -> bool:
    await asyncio.wait((task,), timeout=0.2)
    return task.done()
