"""One guarded change of one node: prepare, apply, check, confirm. Going back is in `rollback.py`.

Every step is announced in the journal before it begins, and may be begun again: whoever finds a journal without a
final state goes back from it, whatever moment its process died at.

    PREPARING   check, space, backup, judge, boot-unit         nothing live has changed
    APPLYING    units that go, files, generate, reconfigure, addresses, sysctls, units, firewall, commands, checks
    HOLDING     the lease runs
"""

from __future__ import annotations

import contextlib
import errno
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stellwerk import wire
from stellwerk.model.errors import ApplyFailed, PlanRefused, StellwerkError
from stellwerk.model.guard import GuardState, GuardStatus
from stellwerk.model.plan import CommandChange, FirewallChange, SysctlChange, UnitChange
from stellwerk.model.text import joined, say
from stellwerk_agent.netguard import backup, bootunit, files, inside, judge, live, verbs
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.commands import Runner
from stellwerk_agent.netguard.journal import Journal, state_of
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.request import Request
from stellwerk_agent.netguard.snapshot import read_links, read_live

LINK_LOCAL_S = 3.0  # how long the network service may take to make a link-local address again


class Interrupted(StellwerkError):
    """Somebody wants to go back, or the process must end."""

    code = "cancelled"


@dataclass(frozen=True, slots=True)
class Machine:
    """What a transaction acts on."""

    layout: Layout
    run: Runner
    restore_argv: tuple[str, ...]  # what the boot unit starts


def save_request(layout: Layout, request: Request) -> None:
    """Keep what is asked for beside the journal."""
    directory = layout.plan(request.plan_id)
    files.make_directory(directory, 0o700)
    files.place(directory / "request.json", json.dumps(wire.to_wire(request)).encode(), 0o600)


def load_request(layout: Layout, plan_id: str) -> Request | None:
    """What was asked for under this name; None when there is nothing whole."""
    data = files.read(layout.plan(plan_id) / "request.json")
    return None if data is None else wire.from_wire(Request, json.loads(data))


class Transaction:
    """The forward way. All methods raise `StellwerkError` or `OSError`; the caller then goes back."""

    def __init__(self, machine: Machine, request: Request, board: Board) -> None:
        self.machine = machine
        self.request = request
        self.board = board
        self.directory: Path = machine.layout.plan(request.plan_id)
        self.journal = Journal(self.directory / "journal.jsonl", machine.layout.boot_id())
        self.backup: backup.Backup | None = None
        # What the machine was like before the change that is taken back.
        self.first = backup.load(machine.layout.plan(request.undo_of)) if request.undo_of is not None else None

    # -- the record ------------------------------------------------------------------------------------------------

    def enter(self, state: GuardState, why: str = "") -> None:
        """Write a state, then publish it. Only the journal counts after a crash."""
        self.journal.append("state", state=state.value, why=why)
        at = self.journal.entries()[-1].at
        self.board.show(state, why, at)
        self.board.note(f"{state.value}: {why}" if why else state.value)
        publish(self.machine.layout, self.board.status())

    def note(self, text: str) -> None:
        """Write something that people should know."""
        self.journal.append("note", text=text)
        self.board.note(text)

    @contextlib.contextmanager
    def step(self, name: str, text: str) -> Iterator[None]:
        """Announce a step, then do it; says which one failed."""
        self._stop()
        self.board.step(name)
        self.journal.append("step", name=name, text=text)
        self.board.note(text)
        try:
            yield
        except OSError as error:
            full = error.errno == errno.ENOSPC
            raise ApplyFailed(
                say("{text}: failed", text=text),
                why=error.strerror or str(error),
                remedy="free some space on this node and try again" if full else "",
            ) from error

    def _stop(self) -> None:
        wish = self.board.wished()
        if wish is not None and wish[0] == "revert":
            raise Interrupted(wish[1])

    # -- preparing -------------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Everything before the first live change. Raises `PlanRefused` when the plan does not fit the machine."""
        layout, run, request = self.machine.layout, self.machine.run, self.request
        self.enter(GuardState.PREPARING)
        with self.step("check", "compare the node with the plan"):
            backup.check_before(layout, request)
        with self.step("space", "look for free space"):
            backup.check_space(layout, request)
        with self.step("backup", "copy the files and note the live addresses, routes and settings"):
            self.backup = self._take_backup()
        with self.step("judge", "let netplan judge the merged files"):
            judge.judge(layout, request, self.directory / "staging", run)
        with self.step("boot-unit", "prepare the way back for a power cut"):
            bootunit.install(layout, self.machine.restore_argv, run)

    def _take_backup(self) -> backup.Backup:
        layout, run, request = self.machine.layout, self.machine.run, self.request
        devices = request.plan.reconfigure
        owners = {device: live.owner(layout.root, device) for device in devices}
        profiles = {device: live.active_profile(device, run) for device in devices}
        taken = backup.Backup(
            boot_id=layout.boot_id(),
            files=backup.take_files(layout, request, self.directory / "files"),
            units=backup.take_units(request, run),
            sysctls=backup.take_sysctls(layout, request),
            live=read_live(run),
            owners={device: who for device, who in owners.items() if who is not None},
            profiles={device: profile for device, profile in profiles.items() if profile is not None},
        )
        absent = [device for device in devices if device not in taken.live.up]
        if absent:
            raise PlanRefused(
                say("this node has no interface {absent}", absent=", ".join(absent)), remedy="make the plan again"
            )
        files.place(self.directory / "reserve", b"\0" * backup.RESERVE_BYTES, 0o600)
        backup.save(taken, self.directory)
        return taken

    # -- applying --------------------------------------------------------------------------------------------------

    def apply(self) -> None:
        """Everything live, then the checks from the inside. Raises `ApplyFailed`."""
        assert self.backup is not None
        self.enter(GuardState.APPLYING)
        self._files()
        self._network(self.backup)
        self._settings()
        self._check(self.backup)

    def hold(self) -> None:
        """The change is in and good; from now on only the lease keeps it."""
        self.board.hold(self.request.lease_s, self.request.hard_limit_s)
        self.enter(GuardState.HOLDING)

    def _files(self) -> None:
        layout, run = self.machine.layout, self.machine.run
        gone = [c.name for c in self.request.plan.changes if isinstance(c, UnitChange) and c.after is None]
        if gone:
            # While their files are there: disabling reads the [Install] section.
            with self.step("units", say("disable {units}", units=", ".join(gone))):
                for name in gone:
                    done = run(("systemctl", "disable", name))
                    must(done.ok, done.complaint)
        for path, _, after, mode in backup.targets(self.request):
            target = layout.under(path)
            if after is None:
                with self.step("files", say("remove {path}", path=path)):
                    files.remove(target)
            else:
                with self.step("files", say("write {path}", path=path)):
                    files.make_directory(target.parent, 0o755)
                    files.place(target, backup.encode(after), mode, (0, 0) if layout.root == Path("/") else None)

    def _network(self, taken: backup.Backup) -> None:
        layout, run, plan = self.machine.layout, self.machine.run, self.request.plan
        if judge.touches_netplan(self.request):
            with self.step("generate", "have netplan generate what the network service reads"):
                live.generate(layout, run)
        owners = {device: live.owner(layout.root, device) for device in plan.reconfigure}
        self.journal.append("owners", owners=owners)
        if plan.reconfigure:
            with self.step("reconfigure", say("reconfigure {names}", names=", ".join(plan.reconfigure))):
                # What is taken back ran before the first change: the profile of today goes with its file.
                profiles = self.first.profiles if self.first is not None else taken.profiles
                for note in live.reconfigure(layout, plan.reconfigure, run, taken.owners, profiles):
                    self.note(note)
            self._by_hand([device for device, who in owners.items() if who is None])
        with self.step("addresses", "wait for the planned addresses and remove what was left behind"):
            self._settle()
            for device, cidr in inside.stale(self.request, taken.live, read_links(run)):
                self.note(f"remove {cidr}, left behind on {device}")
                verbs.run_verb(("address-remove", device, cidr), run)
            # Without promote_secondaries, a second address of the same subnet goes with the first.
            now = read_links(run)
            for device, cidr in plan.expect_addresses:
                if not now.has(device, cidr):
                    verbs.run_verb(("address-add", device, cidr), run)
            if self.first is not None:
                limit_s = min(LINK_LOCAL_S, self.request.settle_s)
                inside.bring_back_link_local(self.first.live, plan.reconfigure, run, limit_s, self._stop)

    def _by_hand(self, unowned: list[str]) -> None:
        """What no network service will do: only taking back asks for it.

        An interface of which no netplan file speaks any more gets its old addresses directly; and networkd leaves the
        MTU as it is when its file names none.
        """
        run, plan = self.machine.run, self.request.plan
        now = read_links(run)
        for device, mtu in plan.expect_mtu:
            if (device in unowned or self.request.undo_of is not None) and now.mtu.get(device) != mtu:
                done = run(("ip", "link", "set", "dev", device, "mtu", str(mtu)))
                must(done.ok, done.complaint)
        for device, cidr in plan.expect_addresses:
            if device in unowned and not now.has(device, cidr):
                verbs.run_verb(("address-add", device, cidr), run)

    def _settings(self) -> None:
        layout, run = self.machine.layout, self.machine.run
        changes = self.request.plan.changes
        for change in changes:
            if isinstance(change, SysctlChange):
                with self.step("sysctls", say("set {key} = {value}", key=change.key, value=change.after)):
                    backup.write_sysctl(layout, change.key, change.after)
        units = [change for change in changes if isinstance(change, UnitChange)]
        if units:
            with self.step("units", say("take up {units}", units=", ".join(unit.name for unit in units))):
                must(run(("systemctl", "daemon-reload")).ok, "systemd does not read its units again")
                for unit in units:
                    if unit.after is not None:
                        done = run(("systemctl", "enable", unit.name))
                        must(done.ok, done.complaint)
        for number, change in enumerate(changes):
            if isinstance(change, FirewallChange):
                rule = " ".join((change.table, change.chain, *change.rule))
                with self.step("firewall", say("firewall rule {rule}", rule=rule)):
                    there = verbs.rule_is_there(change.table, change.chain, change.rule, run)
                    self.journal.append("firewall", number=number, there=there)
                    verbs.run_verb(("firewall-insert", change.table, change.chain, *change.rule), run)
            elif isinstance(change, CommandChange):
                with self.step("commands", say("run {command}", command=" ".join(change.argv))):
                    self.journal.append("command", number=number)
                    verbs.run_verb(change.argv, run)

    def _settle(self) -> None:
        layout, run, request = self.machine.layout, self.machine.run, self.request
        left = inside.wait_until_fine(lambda: inside.missing(layout, request, run), request.settle_s, self._stop)
        if left:
            raise ApplyFailed("the change did not take effect", why=joined(left, "; "))

    def _check(self, taken: backup.Backup) -> None:
        run, request = self.machine.run, self.request
        with self.step("checks", "check from the inside"):
            self._settle()
            gone = inside.wait_until_fine(
                lambda: inside.lost(request, taken.live, read_links(run)), request.settle_s, self._stop
            )
            if gone:
                raise ApplyFailed("the change cut this node off", why=joined(gone, "; "))
            if request.ping_peers:
                silent = inside.wait_until_fine(lambda: inside.silent_peers(request, run), request.settle_s, self._stop)
                if silent:
                    raise ApplyFailed("the other nodes do not answer", why=joined(silent, "; "))

    # -- confirming ------------------------------------------------------------------------------------------------

    def confirm(self) -> None:
        """Keep the change. The undo stays; the way back at boot goes."""
        bootunit.sync(self.machine.layout)
        self.enter(GuardState.CONFIRMED)
        self.clean_up()
        if self.request.undo_of is not None:
            first = self.machine.layout.plan(self.request.undo_of)
            Journal(first / "journal.jsonl", self.journal.boot_id).append("undone", by=self.request.plan_id)

    def clean_up(self) -> None:
        """Remove what only an unfinished change needs."""
        shutil.rmtree(self.directory / "staging", ignore_errors=True)
        files.remove(self.directory / "reserve")
        bootunit.remove(self.machine.layout, self.machine.run)

    @property
    def state(self) -> GuardState:
        """The state by the journal."""
        return state_of(self.journal.entries())


def publish(layout: Layout, status: GuardStatus) -> None:
    """Let everybody on the machine read the status, so that it can be told without root after a reboot."""
    with contextlib.suppress(OSError):  # the journal is what counts; a full disk must not stop the way back
        files.place(layout.outcome, json.dumps(wire.to_wire(status, texts=True)).encode(), 0o644)


def must(fine: bool, complaint: str, fail: Callable[[str], StellwerkError] = ApplyFailed) -> None:
    """Raise when a command did not do its job."""
    if not fine:
        raise fail(complaint)
