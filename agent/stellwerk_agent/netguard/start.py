"""Starts a guard that outlives whoever asked for it, and tells how things stand."""

from __future__ import annotations

import json
import os
import shutil
import sys
import threading
from dataclasses import replace

from stellwerk import wire
from stellwerk.model.errors import ApplyFailed, Busy, StellwerkError
from stellwerk.model.guard import GuardState, GuardStatus
from stellwerk.model.text import say
from stellwerk_agent.netguard import guard
from stellwerk_agent.netguard.journal import Journal, state_of
from stellwerk_agent.netguard.layout import Layout, now_s
from stellwerk_agent.netguard.request import Request, checked
from stellwerk_agent.netguard.rollback import last_status, recover, republish, status_of
from stellwerk_agent.netguard.transaction import Machine, save_request

KEPT_TRANSACTIONS = 20
_START_S = 15.0


def start(machine: Machine, request: Request, guard_argv: tuple[str, ...]) -> GuardStatus:
    """Write the request down and start its guard. Gives the status seen first.

    Asking again for what is running, or confirmed, is answered with its status; what was reverted begins anew.
    Raises `Busy` while another change is held, `PlanRefused` for what root must not do.
    """
    layout = machine.layout
    request = checked(request)
    layout.plan(request.plan_id)
    try:
        with guard.locked(layout, wait_s=0.5):
            recover(machine, why=say("the guard was killed before the change was confirmed"))
            known = status_of(layout, request.plan_id)
            if known.state is GuardState.CONFIRMED:
                return known
            left = last_status(layout)
            if left.state is GuardState.FAILED:
                raise ApplyFailed("an earlier change could not be taken back", why=left.why)
            _make_room(layout, request.plan_id)
            save_request(layout, request)
            Journal(layout.plan(request.plan_id) / "journal.jsonl", layout.boot_id()).append("created")
    except Busy:
        running = status_of(layout, request.plan_id)
        if running.plan_id is None or running.state in (GuardState.CONFIRMED, GuardState.REVERTED):
            raise
        return running
    _launch(machine, request.plan_id, guard_argv)
    return _wait_for_sign_of_life(layout, request.plan_id)


def _make_room(layout: Layout, plan_id: str) -> None:
    """Put an earlier attempt of this plan aside and forget what is long past; confirmed changes keep their undo."""
    directory = layout.plan(plan_id)
    if directory.exists():
        number = 1
        while directory.with_name(f"{directory.name}~{number}").exists():
            number += 1
        directory.rename(directory.with_name(f"{directory.name}~{number}"))
    past: list[tuple[str, str]] = []
    for path in layout.guard.glob("*/journal.jsonl"):
        entries = Journal(path, "").entries()
        undone = any(entry.event == "undone" for entry in entries)
        if entries and (state_of(entries) is GuardState.REVERTED or undone):
            past.append((entries[-1].at, path.parent.name))
    for _, name in sorted(past)[: -KEPT_TRANSACTIONS or None]:
        shutil.rmtree(layout.guard / name)


def _launch(machine: Machine, plan_id: str, guard_argv: tuple[str, ...]) -> None:
    """Through systemd where it runs, so that the guard belongs to no login session; else as a session of its own.

    Starting it twice does no harm: the second one finds the lock taken or its work begun.
    """
    argv = (*guard_argv, "--plan-id", plan_id)
    if machine.layout.has_systemd:
        unit = f"--unit=stellwerk-guard-{plan_id}"
        properties = ("--property=KillMode=mixed", "--property=TimeoutStopSec=180")
        done = machine.run(("systemd-run", "--quiet", "--collect", unit, *properties, "--", *argv))
        if done.ok:
            return
        # netplan makes /run/systemd/system even where no systemd runs, in containers for example.
        journal = Journal(machine.layout.plan(plan_id) / "journal.jsonl", machine.layout.boot_id())
        journal.append("note", text=f"{done.complaint}; the guard runs as a session of its own")
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            _become(argv)
        os._exit(0)
    os.waitpid(child, 0)


def _become(argv: tuple[str, ...]) -> None:
    """Leave everything of the caller behind and run the guard."""
    try:
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.chdir("/")
        os.execvp(argv[0], argv)
    finally:
        os._exit(127)


def _wait_for_sign_of_life(layout: Layout, plan_id: str) -> GuardStatus:
    end_s = now_s() + _START_S
    pause = threading.Event()
    while now_s() < end_s:
        status = status_of(layout, plan_id)
        if status.state is not GuardState.IDLE:
            return status
        pause.wait(0.05)
    raise ApplyFailed("the guard did not start, so nothing was changed", remedy="see the node's system log")


def status(machine: Machine) -> GuardStatus:
    """How things stand. A change whose guard is gone is taken back first."""
    try:
        with guard.locked(machine.layout, wait_s=0.5):
            recover(machine, why=say("the guard was killed before the change was confirmed"), retry_failed=False)
            return republish(machine.layout)
    except Busy:
        return last_status(machine.layout)


def revert_now(machine: Machine) -> GuardStatus:
    """Take back everything unfinished, what failed before included."""
    with guard.locked(machine.layout, wait_s=5.0):
        recover(machine, why=say("asked to go back"))
        return republish(machine.layout)


def boot_restore(machine: Machine) -> GuardStatus:
    """What the boot unit does: put unconfirmed files back before anything reads them."""
    with guard.locked(machine.layout, wait_s=5.0):
        recover(machine, why=say("reverted at boot: unconfirmed"), booting=True)
        return republish(machine.layout)


def remove_all(machine: Machine) -> None:
    """Un-pairing: remove what root keeps for the agent. Raises `Busy` while a change is held."""
    with guard.locked(machine.layout, wait_s=0.5):
        recover(machine, why=say("the guard was killed before the change was confirmed"))
        left = last_status(machine.layout)
        if left.state is GuardState.FAILED:
            raise ApplyFailed("an earlier change could not be taken back, its copies are kept", why=left.why)
        shutil.rmtree(machine.layout.base)
        shutil.rmtree(machine.layout.under("/run/stellwerk"), ignore_errors=True)


def print_error(error: StellwerkError) -> None:
    """One JSON object for the daemon."""
    sys.stdout.write(json.dumps({"error": wire.error_to_wire(0, error)["error"]["data"]}) + "\n")


def with_times(request: Request, lease_s: float, hard_limit_s: float) -> Request:
    """The request with the desktop's times."""
    return replace(request, lease_s=lease_s, hard_limit_s=hard_limit_s)
