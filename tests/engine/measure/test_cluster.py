"""Collectives on a cluster, with the real agents of two simulated Sparks starting the ranks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from e2e.support import Journey, journey, stellwerk
from stellwerk.measure import cluster_jobs
from stellwerk.measure.cluster import TUNING_FILE, ClusterBench, ClusterPlan, collective_self_test
from stellwerk.measure.cluster_jobs import MODULE, RankFailed
from stellwerk.measure.collectives import Progress
from stellwerk.model.errors import BadInput
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import Look, take_look
from stellwerk.setup.planning import build_plan

TOKEN = "f00d" * 16
SHORT = ClusterPlan(sizes=(1024, 65536), algorithms=("direct", "ring"), rounds=1, seconds_per_cell=0.01)
LONG = ClusterPlan(sizes=(8192,) * 100, algorithms=("direct",), rounds=1, seconds_per_cell=0.2)


def rank_processes(made: Journey) -> dict[str, psutil.Process]:
    """The running rank of each node."""
    found = {}
    for process in psutil.process_iter():
        try:
            if process.cmdline()[-1:] == [MODULE] and process.cmdline()[0] == "python3":
                homes = {str(made.home(n.name)): n.name for n in made.cluster.nodes}
                node = homes.get(process.environ().get("HOME", ""))
                if node is not None:
                    found[node] = process
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def when_measuring(action: Callable[[], None]) -> Callable[[Progress], None]:
    """Do something once, as soon as the ranks have met."""
    done: list[bool] = []

    def look_at(progress: Progress) -> None:
        if progress.what == "2 ranks" and not done:
            done.append(True)
            action()

    return look_at


async def none_left(made: Journey) -> None:
    async with asyncio.timeout(15):
        while rank_processes(made):
            await asyncio.sleep(0.05)


async def fabric(made: Journey) -> Look:
    """Set the network up and look at it."""
    session = made.session
    plan = build_plan(session.cluster, await take_look(session, hear_s=1.5))
    assert (await Apply(plan, session.links, made.folder.journal).run()).applied
    return await take_look(session, hear_s=1.0)


async def self_test(made: Journey, look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every algorithm over both machines; the token is nowhere but in the ranks' memory."""
    seen: dict[str, tuple[list[str], dict[str, str]]] = {}

    def spy() -> None:
        seen.update({n: (p.cmdline(), p.environ()) for n, p in rank_processes(made).items()})

    monkeypatch.setattr(cluster_jobs, "secrets", SimpleNamespace(token_hex=lambda n: TOKEN[: 2 * n]))
    test = await collective_self_test(made.session, look, when_measuring(spy))
    monkeypatch.undo()
    assert (test.ranks, test.transport, test.simulated) == (2, "tcp", True)
    assert test.notes[0].startswith("verbs is off on every rank: rank 0 (spark-1): "), "simulated devices carry nothing"
    assert test.exact
    assert [row.algorithm for row in test.rows] == ["direct", "two_shot", "recursive_doubling", "ring"]
    assert all(us and us > 0 for row in test.rows for us in row.median_us)
    assert len(test.best) == 3
    assert test.calls > 60
    assert set(seen) == {"spark-1", "spark-2"}
    for words, environment in seen.values():
        assert TOKEN not in " ".join(words) + json.dumps(environment)
        assert environment["NCCL_SOCKET_IFNAME"].startswith("=en"), "the node's own variables"
    for node in made.cluster.nodes:
        files = [p for p in Path(node.home).rglob("*") if p.is_file() and not p.is_socket()]
        assert any(p.name.startswith("runtime-") for p in files)
        assert [p for p in files if TOKEN.encode() in p.read_bytes()] == []
    await none_left(made)


async def killed(made: Journey, look: Look) -> None:
    """A rank that is killed ends the measurement with its machine's name."""
    bench = ClusterBench(made.session, look, LONG, when_measuring(lambda: rank_processes(made)["spark-2"].kill()))
    with pytest.raises(RankFailed) as caught:
        await bench.run()
    assert caught.value.node == "spark-2"
    await none_left(made)


async def cancelled(made: Journey, look: Look) -> None:
    """Cancelling ends all ranks; what was measured until then is kept."""
    under_way = asyncio.Event()

    def count(progress: Progress) -> None:
        if progress.done:
            under_way.set()

    bench = ClusterBench(made.session, look, LONG, count)
    run = asyncio.create_task(bench.run())
    await asyncio.wait_for(under_way.wait(), 60)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert rank_processes(made) == {}, "they have ended before the cancellation has"
    assert bench.partial().result.cells


async def by_command(made: Journey, base: Path) -> None:
    """The command line: table, JSON, and the tuning table in the cluster's folder, which the next run uses."""
    words = ("measure", "collectives", "--cluster", "--sizes", "1K,64K", "--algorithms", "direct,ring", "--rounds", "1")
    ran = await stellwerk(base, *words, "--seconds", "0.01", "--tune", "--json", str(base / "out.json"))
    assert ran.code == 0, ran.text
    assert "all_reduce, 2 ranks" in ran.text
    assert "Simulated machines" in ran.text
    assert "stored: tcp, mesh, 2 ranks" in ran.text
    data = json.loads((base / "out.json").read_text())
    assert data["cluster"]["nodes"] == ["spark-1", "spark-2"]
    assert {c["contender"] for c in data["cells"]} == {"tcp auto", "tcp direct", "tcp ring"}
    assert sum(c["wrong"] for c in data["cells"]) == 0
    assert (made.folder.path / TUNING_FILE).exists()


async def test_ranks_are_started_followed_and_ended_on_every_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with journey(tmp_path) as made:
        before = await take_look(made.session, hear_s=0.5)
        with pytest.raises(BadInput, match="has no fabric address"):
            await collective_self_test(made.session, before)
        look = await fabric(made)
        await self_test(made, look, monkeypatch)
        sent = {p: p.stat().st_mtime_ns for n in made.cluster.nodes for p in made.home(n.name).rglob("runtime-*.pyz")}
        assert len(sent) == 2
        await killed(made, look)
        await cancelled(made, look)
        await by_command(made, tmp_path)
        tuned = replace(SHORT, tuning=made.folder.path / TUNING_FILE)
        with pytest.raises(BadInput, match="3 ranks do not fit on 2 nodes"):
            await ClusterBench(made.session, look, replace(SHORT, ranks=(3,))).run()
        result = (await ClusterBench(made.session, look, tuned).run()).result
        assert any("dispatch table: this cluster's" in note for note in result.notes)
        assert {p: p.stat().st_mtime_ns for p in sent} == sent, "it was there: nothing was sent again"
        report = await made.session.unpair("spark-2")
        assert report.left == ()
        home = made.home("spark-2")
        assert [p for p in home.rglob("*") if "stellwerk" in str(p.relative_to(home))] == []
