"""The guard as real processes: the packed agent, a stand-in for sudo, simulated network commands in PATH."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from stellwerk.model.errors import Busy, PlanRefused
from stellwerk.model.guard import GuardState, GuardStatus
from stellwerk.model.plan import FileChange, NodePlan
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.client import GuardClient, read_netplan, remove_root_place
from stellwerk_agent.netguard.guard import Door
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.options import Options
from stellwerk_agent.selfrun import Self
from stellwerk_agent.sudo import Sudo
from unit.netguard import plans
from unit.netguard.machine import Machine, write_shims
from unit.netguard.standin import StandIn, packed_agent

PASSWORD = "s3cret-Wörd"
TEXT = "network: {version: 2, ethernets: {fab0: {addresses: [10.0.1.1/24], mtu: 9000}}}\n"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed_agent(tmp_path_factory.mktemp("agent"))


class Node:
    """One simulated machine with a daemon's view of it."""

    def __init__(self, base: Path) -> None:
        self.machine = Machine.make(base)
        self.standin = StandIn(base)
        write_shims(self.standin.bin, self.machine.root)
        self.options = Options(root=self.machine.root, state_dir=base / "state")
        self.sudo = Sudo(self.options)
        self.files, self.live = self.machine.tree(), self.machine.live()

    @property
    def client(self) -> GuardClient:
        """A client as a daemon has it that has just been started."""
        return GuardClient(self.options, self.sudo)

    def guards(self) -> list[psutil.Process]:
        """The guard's processes: supervisor first, then worker."""
        found = []
        for process in psutil.process_iter(["cmdline", "pid"]):
            line = process.info["cmdline"] or []
            if str(self.machine.root) in line and "guard" in line:
                found.append(process)
        return sorted(found, key=lambda p: p.ppid() in {q.pid for q in found})

    async def start(self, plan_id: str = "p1", lease_s: float = 60.0, **other: object) -> GuardStatus:
        return await self.client.start(one_file(), plan_id, lease_s=lease_s, settle_s=1.0, **other)  # type: ignore[arg-type]

    async def until(self, what: Callable[[GuardStatus], bool]) -> GuardStatus:
        async with asyncio.timeout(30):
            while True:
                status = await self.client.status()
                if what(status):
                    return status
                await asyncio.sleep(0.05)

    def is_as_before(self) -> bool:
        return self.machine.tree() == self.files and self.machine.live() == self.live


def one_file() -> NodePlan:
    return replace(
        plans.full_plan(),
        changes=(FileChange(plans.OURS, None, TEXT),),
        reconfigure=("fab0",),
        expect_addresses=(("fab0", "10.0.1.1/24"),),
        expect_mtu=(("fab0", 9000),),
    )


@pytest.fixture
async def node(fast_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    made = Node(fast_path)
    monkeypatch.setenv("PATH", str(made.standin.bin))
    monkeypatch.setattr("stellwerk_agent.sudo.find_self", lambda: Self(archive, (sys.executable, "-I"), None))
    yield made
    for process in made.guards():
        process.kill()
    psutil.wait_procs(made.guards(), timeout=5)


async def test_a_plan_is_held_found_again_by_a_new_daemon_and_confirmed(node: Node) -> None:
    steps: list[str] = []
    status = await node.start(on_progress=lambda s: steps.append(s.state.value))
    assert status.state is GuardState.HOLDING, status
    assert status.lease_left_s is not None and 0 < status.lease_left_s <= 60
    assert steps[0] in ("preparing", "applying") and steps[-1] == "holding"
    assert node.machine.tree()[plans.OURS[1:]] == (TEXT.encode(), 0o600)
    found = await node.client.status()
    assert (found.state, found.plan_id) == (GuardState.HOLDING, "p1")
    assert (await node.client.renew("p1")).state is GuardState.HOLDING
    assert (await node.start()).state is GuardState.HOLDING, "asked again, it answers with what is held"
    with pytest.raises(Busy, match="another network change is being held"):
        await node.start("p2")
    with pytest.raises(PlanRefused, match="holds p1, not p2"):
        await node.client.confirm("p2")
    confirmed = await node.client.confirm("p1")
    assert confirmed.state is GuardState.CONFIRMED
    assert (await node.client.confirm("p1")).state is GuardState.CONFIRMED
    assert (await node.client.status()).state is GuardState.CONFIRMED
    psutil.wait_procs(node.guards(), timeout=10)
    assert not (node.machine.root / f"run/stellwerk/guard-{os.getuid()}.sock").exists()
    assert (await node.start()).state is GuardState.CONFIRMED, "a confirmed plan is not applied twice"


async def test_a_confirmed_plan_is_taken_back_as_a_guarded_change_of_its_own(node: Node) -> None:
    await node.start()
    await node.client.confirm("p1")
    status = await node.client.undo("p1")
    assert (status.state, status.plan_id) == (GuardState.HOLDING, "p1.undo1")
    assert node.machine.tree().keys() - node.files.keys() == {"etc/systemd/system/stellwerk-restore.service"}
    assert (await node.client.confirm("p1.undo1")).state is GuardState.CONFIRMED
    psutil.wait_procs(node.guards(), timeout=10)
    assert node.is_as_before()
    with pytest.raises(PlanRefused, match="taken back already"):
        await node.client.undo("p1")
    with pytest.raises(PlanRefused, match="no confirmed change"):
        await node.client.undo("p9")


async def test_an_undo_that_is_not_confirmed_leaves_the_plan_in_force(node: Node) -> None:
    await node.start()
    await node.client.confirm("p1")
    psutil.wait_procs(node.guards(), timeout=10)
    files, live = node.machine.tree(), node.machine.live()
    await node.client.undo("p1")
    assert (await node.client.revert("p1.undo1", "changed my mind")).state is GuardState.REVERTED
    assert node.machine.tree() == files
    assert node.machine.live() == live


async def test_revert_waits_until_everything_is_back_and_gives_the_reason(node: Node) -> None:
    await node.start()
    status = await node.client.revert("p1", "the other node failed")
    assert (status.state, status.why) == (GuardState.REVERTED, "the other node failed")
    assert node.is_as_before()
    assert (await node.start()).state is GuardState.HOLDING, "a reverted plan can be tried again"
    await node.client.revert("p1", "done")


async def test_a_lost_lease_takes_the_change_back_without_anybody(node: Node) -> None:
    await node.start(lease_s=1.0)
    status = await node.until(lambda s: s.state is GuardState.REVERTED)
    assert status.why == "lease lost: nothing was heard from the desktop for 1 s"
    assert node.is_as_before()


@pytest.mark.parametrize("which", ["supervisor", "worker"])
async def test_being_told_to_end_takes_the_change_back(node: Node, which: str) -> None:
    await node.start()
    node.guards()[0 if which == "supervisor" else -1].send_signal(signal.SIGTERM)
    status = await node.until(lambda s: s.state is GuardState.REVERTED)
    assert "told to end (signal 15)" in status.why
    assert node.is_as_before()


async def test_a_killed_worker_is_cleaned_up_after_by_its_supervisor(node: Node) -> None:
    await node.start()
    worker = node.guards()[-1]
    node.standin.rules(mode="password")  # nobody could help through sudo
    worker.kill()
    status = await node.until(lambda s: s.state is GuardState.REVERTED)
    assert status.why == "the guard was killed by signal 9"
    assert node.is_as_before()


async def test_when_both_are_killed_the_next_question_goes_back_as_soon_as_root_can_be_had(node: Node) -> None:
    await node.start()
    node.standin.rules(mode="password")
    guards = node.guards()
    for process in guards:
        process.kill()
    psutil.wait_procs(guards, timeout=5)
    status = await node.client.status()
    assert status.state is GuardState.FAILED
    assert "taken back when root is available again, at the next boot at the latest" in status.why
    await node.sudo.unlock(PASSWORD)
    status = await node.client.status()
    assert (status.state, status.plan_id) == (GuardState.REVERTED, "p1")
    assert node.is_as_before()


async def test_the_boot_unit_restores_through_the_same_program(node: Node) -> None:
    await node.start()
    unit = (node.machine.root / "etc/systemd/system/stellwerk-restore.service").read_text()
    for process in (guards := node.guards()):
        process.kill()
    psutil.wait_procs(guards, timeout=5)
    node.machine.boot()
    command = next(line for line in unit.splitlines() if line.startswith("ExecStart=")).removeprefix("ExecStart=")
    argv = [word for word in command.split('"') if word.strip()]
    assert argv[0] == str(node.standin.bin / "python3") and argv[-1] == str(node.machine.root)
    process = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    assert json.loads(out)["why"] == "reverted at boot: unconfirmed"
    assert node.machine.tree() == node.files
    node.standin.rules(mode="stranger")  # telling the outcome needs no root
    assert (await node.client.status()).why == "reverted at boot: unconfirmed"


async def test_a_refusal_reaches_the_desktop_in_words(node: Node) -> None:
    node.machine.write(plans.OURS, "somebody else's")
    status = await node.start()
    assert status.state is GuardState.REVERTED
    assert "has changed since the plan was made" in status.why
    escaping = replace(one_file(), changes=(FileChange("/etc/shadow", None, "x"),))
    with pytest.raises(PlanRefused, match="may not write '/etc/shadow'"):
        await node.client.start(escaping, "p2")


async def test_other_users_are_not_served() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root: a process of another user must try")
    ask = (
        "import contextlib, socket, sys\n"
        "with socket.socket(socket.AF_UNIX) as s:\n"
        "    s.connect(sys.argv[1])\n"
        "    with contextlib.suppress(BrokenPipeError):  # the answer may be there before the question\n"
        '        s.sendall(b\'{"op":"revert"}\\n\')\n'
        "    print(s.recv(4096).decode())\n"
    )
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        layout, board = Layout(Path(name)), Board("p1")
        with Door(layout, 4242, board):
            path = layout.socket(4242)
            assert (path.stat().st_mode & 0o777, path.stat().st_uid) == (0o600, 4242)
            path.chmod(0o666)
            process = await asyncio.create_subprocess_exec(
                "/usr/bin/python3", "-c", ask, str(path), stdout=asyncio.subprocess.PIPE, user=65534
            )
            out, _ = await process.communicate()
    assert json.loads(out) == {"error": "this guard was started by another user"}
    assert board.wished() is None


async def test_netplan_files_are_read_and_everything_of_root_is_removed_at_the_end(node: Node) -> None:
    assert list(await read_netplan(node.sudo)) == ["/etc/netplan/01-home.yaml"]
    await node.start()
    with pytest.raises(Busy):
        await remove_root_place(node.sudo)
    await node.client.revert("p1", "end")
    psutil.wait_procs(node.guards(), timeout=10)
    await remove_root_place(node.sudo)
    assert not (node.machine.root / "var/lib/stellwerk").exists()
    assert not (node.machine.root / "run/stellwerk").exists()
    assert (await node.client.status()).state is GuardState.IDLE
