"""The commands around the gateway say what is wrong and leave no traceback."""

from __future__ import annotations

import json
import resource
import signal
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner

from stellwerk.cli.serve import engine, key, serve
from stellwerk.serving.gateway.keys import create_key, load_keys

POLICY = 'version: 1\nmodels: {auto: small}\npools:\n  small: {model: m, replicas: [{url: "http://127.0.0.1:1/v1"}]}\n'


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    path = str(tmp_path / "keys.json")
    runner = CliRunner()
    made = runner.invoke(key, ["create", "team-a", "--keys", path])
    assert made.exit_code == 0
    secret = made.stdout.strip()
    assert secret.startswith("sw-")
    listed = runner.invoke(key, ["list", "--keys", path])
    assert "team-a" in listed.output
    assert secret[12:] not in listed.output
    again = runner.invoke(key, ["create", "team-a", "--keys", path])
    assert again.exit_code == 2
    assert "Revoke it first" in again.output
    assert runner.invoke(key, ["revoke", "team-a", "--keys", path]).exit_code == 0
    assert "revoked" in runner.invoke(key, ["list", "--keys", path]).output
    assert runner.invoke(key, ["revoke", "team-a", "--keys", path]).exit_code == 2


def test_keys_that_are_made_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    names = [f"team-{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: create_key(path, name), names))
    assert {key.name for key in load_keys(path)} == set(names)


def test_a_damaged_key_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.touch(0o600)
    path.write_text("{")
    result = CliRunner().invoke(key, ["list", "--keys", str(path)])
    assert result.exit_code == 2
    assert f"{path} is damaged" in result.output


@pytest.mark.parametrize(("mode", "can"), [(0o644, "read"), (0o640, "read"), (0o620, "changed"), (0o602, "changed")])
def test_a_secret_that_others_can_reach_is_refused_with_the_remedy(tmp_path: Path, mode: int, can: str) -> None:
    path, policy, pem = tmp_path / "keys.json", tmp_path / "policy.yaml", tmp_path / "key.pem"
    policy.write_text(POLICY)
    pem.write_text("-----BEGIN PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\n")
    pem.chmod(mode)
    runner = CliRunner()
    runner.invoke(key, ["create", "team", "--keys", str(path)])
    path.chmod(mode)
    serving = ["--policy", str(policy), "--port", "0", "--log", "none"]
    for command, arguments, secret in (
        (key, ["list", "--keys", str(path)], path),
        (key, ["create", "more", "--keys", str(path)], path),
        (serve, [*serving, "--keys", str(path)], path),
        (serve, [*serving, "--tls-cert", str(pem)], pem),
    ):
        result = runner.invoke(command, arguments)
        assert result.exit_code == 2, arguments
        assert f"{secret} can be {can} by other users of this computer (mode {mode:04o})" in result.output
        assert f"chmod 600 {secret}" in result.output


def test_a_wrong_policy_stops_the_start_with_places(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY.replace("replicas", "replica"))
    result = CliRunner().invoke(serve, ["--policy", str(path), "--port", "0"])
    assert result.exit_code == 2
    assert "line 4" in result.output
    assert "replicas" in result.output
    assert "Traceback" not in result.output
    missing = CliRunner().invoke(serve, ["--policy", str(tmp_path / "none.yaml"), "--port", "0"])
    assert missing.exit_code == 2
    assert "none.yaml" in missing.output
    endless = CliRunner().invoke(serve, ["--policy", "/dev/zero", "--port", "0"])
    assert (endless.exit_code, endless.output) == (2, "/dev/zero is larger than 4 MB. Name another file.\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tls-key", "policy.yaml"], "--tls-cert"),
        (["--tls-cert", "policy.yaml", "--tls-key", "policy.yaml"], "certificate"),
        (["--keys", "nowhere.json"], "no key file nowhere.json"),
        (["--drain", "-1"], "--drain"),
        (["--policy", "none.yaml"], "The policy none.yaml cannot be read"),
        (["--log", "none/log"], "The request log none/log cannot be written"),
        (["--host", "192.0.2.7"], "this computer has no such address"),
        (["--node", "spark-1=host:port"], "is not NAME=HOST"),
    ],
)
def test_options_that_would_serve_less_safely_than_meant_stop_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "policy.yaml").touch(0o600)  # it is taken for a private key, too
    (tmp_path / "policy.yaml").write_text(POLICY)
    result = CliRunner().invoke(serve, ["--policy", "policy.yaml", "--port", "0", "--log", "none", *arguments])
    assert result.exit_code == 2
    assert said in result.output


@pytest.mark.parametrize("wrong", ["--rate 0", "--batch 0", "--ttft -1", "--batch-share 0", "--queue -1", "--port -1"])
def test_an_engine_that_could_not_answer_does_not_start(wrong: str) -> None:
    result = CliRunner().invoke(engine, ["simulated", "--port", "0", *wrong.split()])
    assert result.exit_code == 2
    assert "is not in the range" in result.output


def test_a_port_in_use_is_said(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = CliRunner().invoke(serve, ["--policy", str(path), "--port", port, "--log", "none"])
    assert result.exit_code == 2
    assert port in result.output


def test_ten_thousand_connections_are_held_and_others_are_served(tmp_path: Path) -> None:
    wanted = 10_000
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < wanted + 200:
        pytest.skip("this system gives a process too few open files")
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    program = str(Path(sys.executable).parent / "stellwerk")
    # As a login shell starts it: the limit is low, and the program may raise it.
    limited = ["bash", "-c", 'ulimit -Sn 1024; exec "$@"', "bash", program]
    command = [*limited, "serve", "--policy", str(path), "--port", "0", "--log", "none", "--no-watch", "--drain", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process, ExitStack() as clients:
        try:
            assert process.stderr is not None
            port = int(process.stderr.readline().split()[2].rpartition(":")[2].partition("/")[0])
            before = psutil.Process(process.pid).memory_info().rss
            for _ in range(wanted - 2):
                clients.enter_context(socket.create_connection(("127.0.0.1", port)))
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/stellwerk/stats", timeout=20) as answer:
                assert json.load(answer)["connections"] == wanted - 1
            assert psutil.Process(process.pid).memory_info().rss - before < wanted * 15_000
            process.send_signal(signal.SIGTERM)
            assert process.wait(20) == 0
        finally:
            process.kill()


def test_serve_answers_reloads_on_hangup_and_ends_on_terminate(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    program = str(Path(sys.executable).parent / "stellwerk")
    command = [program, "serve", "--policy", str(path), "--port", "0", "--log", "none", "--no-watch", "--drain", "1"]
    command += ["--node", "spark-9=192.0.2.9"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            url = line.split()[2].removesuffix(",").removesuffix("/v1")

            def models() -> list[str]:
                with urllib.request.urlopen(f"{url}/v1/models", timeout=5) as answer:
                    return [entry["id"] for entry in json.load(answer)["data"]]

            assert models() == ["auto"]
            path.write_text(POLICY.replace("auto: small", "auto: small, fast: small"))
            process.send_signal(signal.SIGHUP)
            for _ in range(500):
                if models() == ["auto", "fast"]:
                    break
            else:
                raise AssertionError("the new policy never came into service")
            process.send_signal(signal.SIGTERM)
            assert process.wait(10) == 0
            said = process.stderr.read()
            assert "Traceback" not in said
            assert "--node spark-9=… is not used" in said
        finally:
            process.kill()
