"""The journey's own code on this very computer: one real machine behind OpenSSH's sshd, without any simulation."""

from __future__ import annotations

import getpass
from pathlib import Path

from lab.sshd.conftest import Sshd, is_running
from lab.sshd.test_real_sshd import Person
from stellwerk.cli.nodes import facts_table
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Verdict
from stellwerk.remote import Target, UserIdentity
from stellwerk.setup.look import take_look
from stellwerk.setup.planning import build_plan
from stellwerk.setup.prove import prove
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore


async def test_one_real_machine_is_paired_read_proven_and_left_without_a_trace(
    sshd: Sshd, user_key: UserIdentity, tmp_path: Path
) -> None:
    before = sshd.authorized_keys.read_bytes()
    folder, _ = ClusterStore(tmp_path).create("desk")
    async with ClusterSession.open(folder, identity=user_key) as session:
        session.add(Target("127.0.0.1", sshd.port, getpass.getuser(), "desk"), "desk")
        assert await session.pair(Person()) == {"desk": None}
        hello = session.links["desk"].hello
        assert hello is not None
        facts = (await session.facts())["desk"]
        assert "simulated" not in (facts.product or "")
        cards = any(Path("/sys/class").glob("infiniband/*"))
        if not Path("/dev/nvidiactl").exists():
            # What is not there is said in words, never shown as zero.
            assert (facts.gpus, bool(facts.gpu_note)) == ((), True)
            assert "no NVIDIA GPU" in (facts.gpu_note or "")
        if not cards:
            assert facts.rdma == ()
            assert "no ConnectX" in (facts.rdma_note or "")
        shown = facts_table({"desk": facts})
        words = " ".join(str(cell) for column in shown.columns for cell in column.cells)
        if not cards:
            assert "no ConnectX" in words
        look = await take_look(session, hear_s=0.5)
        assert look.topology.kind is TopologyKind.SINGLE
        assert look.cable_findings == ()
        plan = build_plan(session.cluster, look)
        assert plan.empty, "nothing is to be changed on a machine that stands alone"
        proof = await prove(session, look)
        assert [(c.kind, c.verdict) for c in proof.checks] == [("connection", Verdict.PASS)]
        assert not proof.simulated
        report = await session.unpair("desk")
        assert report.left == ()
        assert session.cluster.nodes == ()
    assert not is_running(hello.pid)
    assert sshd.authorized_keys.read_bytes() == before
    assert sorted(path.name for path in sshd.home.iterdir()) == [".ssh"]
