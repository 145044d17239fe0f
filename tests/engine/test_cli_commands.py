"""The commands on a virtual pair, as a person types them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from pathlib import Path

import pytest

from fixtures.quick import COMMAND
from stellwerk.virtual import VirtualCluster, VirtualNode


def run(*words: str, home: Path, ok: tuple[int, ...] = (0,)) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "STELLWERK_HOME": str(home), "COLUMNS": "160", "HOME": str(home)}
    argv = [*COMMAND, *words]
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL, timeout=100)
    assert done.returncode in ok, f"{words}: rc {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done


def pair_words(node: VirtualNode, home: Path) -> list[str]:
    secret = home / f"{node.name}.password"
    secret.touch(0o600)
    secret.write_text(node.password + "\n")
    where = f"{node.user}@{node.host}:{node.port}"
    return [where, "--password-file", str(secret), "--accept-host-key", node.host_key_fingerprint]


async def test_pair_facts_cables_plan_env_doctor_monitor_and_unpair_in_a_terminal(tmp_path: Path) -> None:
    async with VirtualCluster.start(nodes=1, topology="single") as cluster:
        [node] = cluster.nodes
        home = tmp_path

        def story() -> None:
            run("pair", *pair_words(node, home), "--name", "desk", home=home)
            facts = run("facts", "--json", "-", home=home)
            [found] = json.loads(facts.stdout)["nodes"].values()
            assert found["product"] == "NVIDIA DGX Spark (simulated)"
            assert json.loads(run("cables", "--seconds", "1", "--json", "-", home=home).stdout)["wanted"] == "single"
            assert "nothing to change" in run("plan", home=home).stdout
            assert run("env", "--why", home=home).stdout
            assert "checks are fine" in run("doctor", home=home, ok=(0, 1)).stdout
            assert "GiB" in run("monitor", "--seconds", "2.5", home=home).stdout
            verified = json.loads(run("verify", "--json", "-", home=home).stdout)
            assert [c["verdict"] for c in verified["checks"]] == ["pass"]
            page = home / "report.html"
            run("report", "--html", str(page), home=home)
            assert "simulated" in page.read_text()
            run("unpair", "--all", home=home)
            assert "no cluster is set up" in run("facts", home=home, ok=(2,)).stderr

        await asyncio.to_thread(story)
        assert not list(Path(node.home).rglob("*.pyz")), "the agent is still there"


def test_without_a_terminal_an_unknown_host_key_is_not_trusted(tmp_path: Path) -> None:
    async def story() -> None:
        async with VirtualCluster.start(nodes=1, topology="single") as cluster:
            [node] = cluster.nodes
            where = f"{node.user}@{node.host}:{node.port}"
            done = await asyncio.to_thread(run, "pair", where, "--name", "desk", home=tmp_path, ok=(2,))
            assert node.host_key_fingerprint in done.stderr
            assert "ssh-keygen -lf" in done.stderr

    asyncio.run(story())


@pytest.mark.parametrize("words", [("facts",), ("apply", "--yes"), ("report",), ("verify",)])
def test_without_a_cluster_every_command_says_what_to_do(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run(*words, home=tmp_path, ok=(2,))
    assert "stellwerk setup" in done.stderr


def test_garbage_in_the_cluster_file_is_one_message_and_the_file_stays(tmp_path: Path) -> None:
    folder = tmp_path / "clusters" / "desk"
    folder.mkdir(parents=True)
    (folder / "cluster.yaml").write_text("nodes: [")
    done = run("facts", home=tmp_path, ok=(2,))
    assert "is not readable YAML" in done.stderr
    assert (folder / "cluster.yaml").read_text() == "nodes: ["
