"""Set up, apply, leave: the machine's network files are byte for byte as before."""

from __future__ import annotations

import asyncio
from pathlib import Path

from stellwerk.cli.prompting import KnownAnswers
from stellwerk.model.facts import NodeFacts
from stellwerk.remote import Target, UserIdentity
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.setup.planning import build_leave_plan, build_plan
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore
from stellwerk.virtual import VirtualCluster


def etc(root: str) -> dict[str, bytes]:
    base = Path(root) / "etc"
    places = ("netplan", "sysctl.d", "systemd")
    return {
        str(p.relative_to(base)): p.read_bytes() for place in places for p in (base / place).rglob("*") if p.is_file()
    }


async def settled(root: str, wanted: dict[str, bytes]) -> None:
    """The guard tidies up right after it has written its confirmation down: wait for that."""
    try:
        async with asyncio.timeout(10):
            while etc(root) != wanted:
                await asyncio.sleep(0.05)
    except TimeoutError:
        assert etc(root) == wanted


async def test_a_machine_that_leaves_has_its_old_network_and_no_key_or_agent(tmp_path: Path) -> None:
    async with VirtualCluster.start(
        nodes=2, topology="pair", faults=[{"kind": "foreign-netplan", "node": "spark-2"}]
    ) as cluster:
        before = {n.name: etc(n.root) for n in cluster.nodes}
        answers = KnownAnswers(
            {n.name: n.password for n in cluster.nodes},
            {n.name: n.sudo_password for n in cluster.nodes},
            frozenset(n.host_key_fingerprint for n in cluster.nodes),
        )
        folder, _ = ClusterStore(tmp_path).create("desk")
        async with ClusterSession.open(folder, identity=UserIdentity()) as session:
            for n in cluster.nodes:
                session.add(Target(n.host, n.port, n.user, n.name), n.name)
            assert set((await session.pair(answers)).values()) == {None}
            await session.unlock_sudo(answers)
            plan = build_plan(session.cluster, await take_look(session, hear_s=1.5))
            assert (await Apply(plan, session.links, folder.journal).run()).applied
            assert all(etc(n.root) != before[n.name] for n in cluster.nodes)
            leave = build_leave_plan(session.cluster, await take_look(session, hear_s=0.5), ["spark-1"])
            assert [n.node for n in leave.nodes] == ["spark-1"], "nobody else is touched"
            assert (await Apply(leave, session.links, folder.journal).run()).applied
            await settled(cluster.node("spark-1").root, before["spark-1"])
            facts: NodeFacts = (await session.facts())["spark-1"]
            fabric = [d for d in facts.netdevs if d.name.startswith(("enp1", "enP2"))]
            assert not any("." in a for d in fabric for a in d.addresses), "an address of ours is still live"
            report = await session.unpair("spark-1")
            assert report.left == ()
            assert [n.name for n in session.cluster.nodes] == ["spark-2"]
        home = Path(cluster.node("spark-1").home)
        left = [p for p in home.rglob("*") if p.is_file() and "stellwerk" in str(p.relative_to(home))]
        assert left == []
