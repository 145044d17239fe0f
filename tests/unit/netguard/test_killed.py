"""SIGKILL at every moment: the machine ends on the old or on the new configuration, never between.

A child process carries out the whole change and kills itself at its n-th effect: before a file is made durable,
renamed or removed, a directory is touched, a command runs (so also after the effect before). Every n is walked
through. The faults live here, not in the product: the child replaces functions of `os` and the runner in its memory.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from stellwerk.model.guard import FINAL_STATES, GuardState
from stellwerk_agent.netguard import guard, start
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.commands import Done
from stellwerk_agent.netguard.rollback import last_status
from stellwerk_agent.netguard.transaction import Machine as Guarded
from stellwerk_agent.netguard.transaction import Transaction
from unit.netguard import plans
from unit.netguard.machine import Machine
from unit.netguard.plans import open_transaction

NOT_KILLED = 77

Work = Callable[[Guarded, "Killer"], None]


class Killer:
    """Ends the process like a power cut would, at its n-th effect."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.counts = True

    def effect(self) -> None:
        self.count += self.counts
        if self.counts and self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            self.effect()
            return function(*args, **kwargs)

        return call

    def runner(self, machine: Machine) -> Callable[..., Done]:
        def run(argv: Sequence[str], timeout_s: float = 30.0) -> Done:
            if "show" in argv or "is-enabled" in argv or "-C" in argv:
                return machine(argv, timeout_s)  # reading changes nothing: no moment of its own
            self.effect()
            return machine(argv, timeout_s)

        return run


def in_a_child_killed_at(at: int, machine: Machine, work: Work) -> int:
    """Run `work` in a fork; gives 0 when it was killed, else the number of effects it had."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        with contextlib.suppress(BaseException):
            killer = Killer(at)
            for name in ("fsync", "mkdir", "rmdir", "unlink", "replace", "rename", "fchmod"):
                setattr(os, name, killer.around(getattr(os, name)))
            real = plans.guarded(machine)
            work(Guarded(real.layout, killer.runner(machine), real.restore_argv), killer)
            os.write(writing, str(killer.count).encode())
            code = NOT_KILLED
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return 0
    assert os.WEXITSTATUS(status) == NOT_KILLED, "the child failed by itself"
    return int(told)


def carry_out(end: str, from_hold: bool = False) -> Work:
    """The whole change; with `from_hold` only what follows HOLDING counts as a moment."""

    def work(guarded: Guarded, killer: Killer) -> None:
        killer.counts = not from_hold
        transaction = Transaction(guarded, plans.request(), Board("p1"))
        hold = transaction.hold

        def hold_and_end() -> None:
            hold()
            killer.counts = True
            transaction.board.wish(end, "asked")

        transaction.hold = hold_and_end  # type: ignore[method-assign]
        guard.carry_out(transaction)

    return work


def every_moment(base: Path, work: Work) -> Iterator[tuple[Machine, Any, Any]]:
    """Machines on which `work` was killed at its 1st, 2nd, 3rd … effect, with files and live state of before."""
    at = 0
    while True:
        at += 1
        machine = plans.prepared(base / str(at))
        files, live = machine.tree(), machine.live()
        open_transaction(machine, plans.request())
        if in_a_child_killed_at(at, machine, work):
            assert at > 12, "the walk must meet all steps"
            return
        yield machine, files, live


def assert_old_or_new(machine: Machine, files: Any, live: Any, state: GuardState) -> None:
    if state is GuardState.CONFIRMED:
        assert machine.tree() == plans.new_tree(files)
        assert machine.live()["devices"]["fab0"] == (True, 9000, [("10.0.1.1/24", False)])
    else:
        assert state is GuardState.REVERTED, state
        assert machine.tree() == files
        assert machine.live() == live


def test_whatever_is_killed_the_next_question_or_the_next_boot_finishes(fast_path: Path) -> None:
    seen: set[tuple[GuardState, GuardState]] = set()
    for machine, files, live in every_moment(fast_path, carry_out("confirm")):
        rebooted = boot_a_twin(machine, files)
        state = start.status(plans.guarded(machine)).state
        assert_old_or_new(machine, files, live, state)
        assert start.status(plans.guarded(machine)).state is state
        seen.add((state, rebooted))
    both = {GuardState.CONFIRMED, GuardState.REVERTED}
    assert both == {state for state, _ in seen} and both <= {rebooted for _, rebooted in seen}


def boot_a_twin(machine: Machine, files: Any) -> GuardState:
    """The same moment as a power cut: what the boot makes of a copy of the machine."""
    shutil.copytree(machine.root.parent, machine.root.parent.with_name("twin"), symlinks=True)
    twin = Machine(machine.root.parent.with_name("twin") / "root")
    promised = last_status(plans.guarded(twin).layout).state
    twin.boot()
    if "stellwerk-restore.service" in twin.live()["enabled"]:
        state = start.boot_restore(plans.guarded(twin)).state
    else:
        state = promised
        assert state in (GuardState.CONFIRMED, GuardState.PREPARING, GuardState.IDLE), "nothing may have changed yet"
    expected = plans.new_tree(files) if state is GuardState.CONFIRMED else files
    unit = "stellwerk-restore.service"
    assert {name: file for name, file in twin.tree().items() if unit not in name} == expected
    twin(["netplan", "apply"])
    wanted = "10.0.1.1/24" if state is GuardState.CONFIRMED else "10.9.0.1/24"
    assert twin.live()["devices"]["fab0"][2] == [(wanted, False)]
    shutil.rmtree(twin.root.parent)
    return state


def test_a_revert_that_is_killed_is_finished_by_the_next_question(fast_path: Path) -> None:
    for machine, files, live in every_moment(fast_path, carry_out("revert", from_hold=True)):
        state = start.status(plans.guarded(machine)).state
        assert state is GuardState.REVERTED
        assert_old_or_new(machine, files, live, state)


@pytest.mark.parametrize(
    ("age_s", "same_boot", "left_alone"), [(1.0, True, True), (61.0, True, False), (1.0, False, False)]
)
def test_a_change_that_is_just_being_started_is_left_alone(
    tmp_path: Path, age_s: float, same_boot: bool, left_alone: bool
) -> None:
    machine = plans.prepared(tmp_path)
    transaction = open_transaction(machine, plans.request())
    transaction.journal.append("created")
    text = transaction.journal.path.read_text()
    written = json.loads(text)
    written["since_boot_s"] -= age_s
    if not same_boot:
        written["boot"] = "another"
    transaction.journal.path.write_text(json.dumps(written) + "\n")
    state = start.status(plans.guarded(machine)).state
    assert state is (GuardState.IDLE if left_alone else GuardState.REVERTED)


def ask(guarded: Guarded, _killer: Killer) -> None:
    start.status(guarded)


def test_going_back_can_be_killed_as_often_as_you_like(fast_path: Path) -> None:
    """Kill the way back at every effect too, then let a second one finish."""
    at = 0
    while True:
        at += 1
        machine = plans.prepared(fast_path / str(at))
        files, live = machine.tree(), machine.live()
        transaction = open_transaction(machine, plans.request())
        transaction.prepare()
        transaction.apply()
        transaction.hold()
        if in_a_child_killed_at(at, machine, ask):
            assert at > 20, "the walk must meet all steps"
            return
        status = start.status(plans.guarded(machine))
        assert status.state is GuardState.REVERTED
        assert "killed" in status.why
        assert machine.tree() == files
        assert machine.live() == live


def test_a_reboot_tells_why_the_change_is_gone(tmp_path: Path) -> None:
    machine = plans.prepared(tmp_path)
    transaction = open_transaction(machine, plans.request())
    transaction.prepare()
    transaction.apply()
    transaction.hold()
    machine.boot()
    start.boot_restore(plans.guarded(machine))
    status = start.status(plans.guarded(machine))
    assert (status.state, status.why) == (GuardState.REVERTED, "reverted at boot: unconfirmed")
    assert status.state in FINAL_STATES
    assert "stellwerk-restore.service" not in machine.live()["enabled"]
