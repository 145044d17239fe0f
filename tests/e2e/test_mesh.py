"""Machines may reach each other: every pair by a real ssh, and afterwards as if nothing had been."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from e2e.support import Journey, journey, stellwerk
from stellwerk.model.errors import BadInput, ConnectionFailed
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.setup.mesh import FABRIC, MANAGEMENT, mesh_off, mesh_on, mesh_verify
from stellwerk.setup.planning import build_plan

USER_CONFIG = b"Host old\n  HostName 10.9.9.9\n\nHost *\n  ServerAliveInterval 30"


def ssh_files(made: Journey, node: str) -> dict[str, tuple[int, str]]:
    """Mode and content of everything below the user's ~/.ssh."""
    folder = made.home(node) / ".ssh"
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in folder.rglob("*")
        if path.is_file()
    }


async def test_a_pair_reaches_each_other_over_the_fabric_and_forgets_it_without_a_trace(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        session = made.session
        config = made.home("spark-1") / ".ssh" / "config"
        config.write_bytes(USER_CONFIG)
        before = {name: ssh_files(made, name) for name in session.links}
        report = await mesh_on(session)
        assert report.works, report
        # Nothing is planned yet, so there is only the management network.
        assert {(p.source, p.target, p.over) for p in report.tried} == {
            ("spark-1", "spark-2", MANAGEMENT),
            ("spark-2", "spark-1", MANAGEMENT),
        }
        assert config.read_bytes().endswith(USER_CONFIG)
        assert b"Host *" not in (made.home("spark-1") / ".ssh/stellwerk/config").read_bytes()
        private = [(made.home(n) / ".ssh/stellwerk/id_ed25519").read_text() for n in session.links]
        assert len(set(private)) == 2, "each machine has a key of its own"

        outcome = await Apply(
            build_plan(session.cluster, await take_look(session)), session.links, made.folder.journal
        ).run()
        assert outcome.applied
        report = await mesh_on(session)
        assert report.works, report
        assert {p.over for p in report.tried} == {FABRIC}
        assert (await mesh_verify(session)).works
        await made.cluster.set_fault("cable-unplugged", node="spark-1")
        broken = await mesh_verify(session)
        assert all(pair.error for pair in broken.tried), "the aliases lead over the cable that is out"
        await made.cluster.clear_fault("cable-unplugged", node="spark-1")

        removed = await mesh_off(session)
        assert set(removed) == {"spark-1", "spark-2"}
        assert {name: ssh_files(made, name) for name in session.links} == before
        with pytest.raises(BadInput, match="do not know each other"):
            await mesh_verify(session)


async def test_in_a_ring_of_three_one_leaves_and_the_others_forget_it(tmp_path: Path) -> None:
    async with journey(tmp_path, 3, "ring") as made:
        session = made.session
        await session.close()
        ran = await stellwerk(tmp_path, "mesh", "on", "--yes")
        assert ran.code == 0, ran.text
        assert "6 of 6 pairs work" in ran.text
        assert "never leaves it" in ran.text
        assert await made.reopen() == dict.fromkeys(session.links)
        session = made.session
        keys = made.home("spark-1") / ".ssh/authorized_keys"
        assert "spark-3" in keys.read_text()
        await session.unpair("spark-3")
        assert not (made.home("spark-3") / ".ssh/stellwerk").exists()
        assert "spark-3" not in keys.read_text()
        assert "spark-2" in keys.read_text()
        assert [(p.source, p.target, p.error) for p in (await mesh_verify(session)).tried] == [
            ("spark-1", "spark-2", ""),
            ("spark-2", "spark-1", ""),
        ]
        await made.cluster.set_fault("power-off", node="spark-2")
        await made.cluster.set_fault("ssh-drop", node="spark-1")
        while "spark-2" in session.ready:
            await session.ask_all("sudo.state", {}, None, 10.0)
        with pytest.raises(ConnectionFailed, match="not connected"):
            await mesh_off(session)
