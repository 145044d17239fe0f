"""Pairing with OpenSSH as it comes: the same code that reaches a Spark."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
import platform
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from lab.sshd.conftest import Sshd, is_running
from stellwerk.model.errors import AgentRefused, ConnectionFailed, HostKeyChanged
from stellwerk.model.facts import NodeFacts
from stellwerk.remote import Artefact, HostKeyQuestion, LinkState, NodeLink, PasswordQuestion, build_agent, unpair
from stellwerk.remote.artefact import pack


def memory_total_kb() -> int:
    return int(Path("/proc/meminfo").read_text().split("MemTotal:")[1].split()[0])


class Person:
    """Trusts what is shown, and must never be asked for a password here."""

    def __init__(self) -> None:
        self.host_keys: list[HostKeyQuestion] = []

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        self.host_keys.append(question)
        return True

    async def password(self, question: PasswordQuestion) -> str | None:
        raise AssertionError("the user's key should have been enough")

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        raise AssertionError("nobody needs root here")


async def test_pair_read_real_facts_and_unpair_without_a_trace(sshd: Sshd, link: NodeLink) -> None:
    before = sshd.authorized_keys.read_bytes()
    person = Person()
    await link.pair(person)
    assert link.state is LinkState.READY
    shown = subprocess.run(
        ["ssh-keygen", "-lf", f"{sshd.host_key('ed25519')}.pub"], capture_output=True, text=True, check=True
    )
    assert [question.key.fingerprint for question in person.host_keys] == [shown.stdout.split()[1]]
    assert sshd.authorized_keys.read_bytes().endswith(before)

    facts = await link.call("facts", {}, cls=NodeFacts)
    assert facts.kernel == platform.release()
    assert facts.memory.total_kb == memory_total_kb()
    assert facts.cpu_count == len(os.sched_getaffinity(0)) or facts.cpu_count == os.cpu_count()
    if not Path("/dev/nvidiactl").exists():
        assert facts.gpus == ()
        assert "no NVIDIA GPU" in (facts.gpu_note or "")
    if not any(Path("/sys/class").glob("infiniband/*")):
        assert facts.rdma == ()
        assert facts.rdma_note

    assert link.hello is not None
    report = await unpair(link)
    assert report.left == ()
    assert "this cluster's key in ~/.ssh/authorized_keys" in report.removed
    assert not is_running(link.hello.pid)
    assert sshd.authorized_keys.read_bytes() == before
    assert sorted(path.name for path in sshd.home.iterdir()) == [".ssh"]


async def test_the_cluster_key_alone_is_enough_afterwards(sshd: Sshd, link: NodeLink) -> None:
    await link.pair(Person())
    await link.close()
    sshd.authorized_keys.write_bytes(sshd.authorized_keys.read_bytes().splitlines(keepends=True)[0])
    again = NodeLink("again", link.target, link.desktop)
    await again.connect()
    assert again.state is LinkState.READY
    await again.close()


async def test_a_reinstalled_machine_raises_the_alarm(sshd: Sshd, link: NodeLink) -> None:
    await link.pair(Person())
    await link.close()
    sshd.stop()
    sshd.new_host_key("ed25519")
    sshd.start()
    person = Person()
    again = NodeLink("again", link.target, link.desktop)
    with pytest.raises(HostKeyChanged):
        await again.pair(person)
    assert person.host_keys == []
    alarm = again.alarm
    assert alarm is not None
    again.replace_trust(alarm)
    await again.connect()
    await again.close()


async def test_a_second_type_of_host_key_is_learned_and_then_enough(sshd: Sshd, link: NodeLink) -> None:
    sshd.stop()
    sshd.new_host_key("ecdsa")
    sshd.host_keys = ["ed25519", "ecdsa"]
    sshd.start()
    await link.pair(Person())
    trust = link.desktop.trust
    async with asyncio.timeout(20):
        while len(trust.keys(link.target.host, link.target.port)) < 2:
            await link.call("hello", {"protocol": 1, "desktop": "lab"})
    await link.close()
    sshd.stop()
    sshd.host_keys = ["ecdsa"]
    sshd.start()
    again = NodeLink("again", link.target, link.desktop)
    await again.connect()
    await again.close()


async def test_a_dropped_connection_comes_back_to_the_same_agent(sshd: Sshd, link: NodeLink) -> None:
    await link.pair(Person())
    assert link.hello is not None
    pid = link.hello.pid
    reconnecting = asyncio.Event()
    link.on_state(lambda state, reason: reconnecting.set() if state is LinkState.RECONNECTING else None)
    sshd.drop()
    await asyncio.wait_for(reconnecting.wait(), 20)
    await link.ready(20)
    assert link.hello.pid == pid


async def test_a_killed_sshd_is_visible_and_its_return_is_noticed(sshd: Sshd, link: NodeLink) -> None:
    await link.pair(Person())
    refused = asyncio.Event()
    link.on_state(lambda state, reason: refused.set() if "refuses connections" in reason else None)
    sshd.stop()
    await asyncio.wait_for(refused.wait(), 20)
    assert link.state is LinkState.RECONNECTING
    with pytest.raises(ConnectionFailed, match="lab"):
        await link.call("hello", {"protocol": 1, "desktop": "lab"})
    sshd.start()
    await link.ready(20)


def other_build(version: str) -> Artefact:
    """This release's agent with another version in it, and so with another hash."""
    archive = zipfile.ZipFile(io.BytesIO(build_agent().data))
    members = {name: archive.read(name) for name in archive.namelist()}
    members["stellwerk/__init__.py"] = f'__version__ = "{version}"\n'.encode()
    data = pack(members)
    return Artefact(data, hashlib.sha256(data).hexdigest(), version)


async def test_an_older_agent_is_replaced_and_its_machine_stays_usable(sshd: Sshd, link: NodeLink) -> None:
    current = link.desktop
    link.desktop = replace(current, agent=other_build("0.0.1"))
    await link.pair(Person())
    assert link.hello is not None
    old = link.hello
    assert old.agent_version == "0.0.1"
    await link.close()
    link.desktop = current
    await link.connect()
    assert link.hello.agent_hash == current.agent.sha256
    assert not is_running(old.pid)


async def test_a_newer_agent_is_not_replaced(sshd: Sshd, link: NodeLink) -> None:
    current = link.desktop
    link.desktop = replace(current, agent=other_build("99.0"))
    await link.pair(Person())
    await link.close()
    older = NodeLink("older", link.target, current)
    with pytest.raises(AgentRefused, match=r"99\.0"):
        await older.connect()
    assert older.state is LinkState.NEEDS_ATTENTION
    assert link.hello is not None
    assert is_running(link.hello.pid)
