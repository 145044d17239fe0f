"""Goes back from a journal: files byte for byte, then the live state. Can be begun again at any point."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable

from stellwerk import wire
from stellwerk.model.errors import StellwerkError
from stellwerk.model.guard import FINAL_STATES, GuardState, GuardStatus
from stellwerk.model.plan import CommandChange, FirewallChange
from stellwerk.model.text import joined, say, whole
from stellwerk_agent.netguard import backup, bootunit, files, inside, live, verbs
from stellwerk_agent.netguard.backup import Backup
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.journal import Entry, Journal, log_of, state_of, why_of
from stellwerk_agent.netguard.layout import Layout, now_s
from stellwerk_agent.netguard.snapshot import Address, read_links, read_live
from stellwerk_agent.netguard.transaction import Machine, Transaction, load_request, publish

START_LIMIT_S = 60.0  # how long a guard may take to begin
LIVE_SETTLE_S = 10.0  # how long the network service may take to bring back what it owned


class Rollback:
    """The way back of one transaction. Collects what could not be done instead of stopping at it."""

    def __init__(self, transaction: Transaction, why: str, *, booting: bool = False) -> None:
        self.transaction = transaction
        self.why: str = whole(why)
        self.booting = booting
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.machine = transaction.machine
        self.request = transaction.request
        self.directory = transaction.directory
        entries = transaction.journal.entries()
        self.applied = any(e.event == "state" and e.values.get("state") == "applying" for e in entries)
        self.entries = entries

    def run(self) -> GuardState:
        """Go back. REVERTED, or FAILED with what is left to do in the reason."""
        self._try(say("make room"), lambda: files.remove(self.directory / "reserve"))
        self._try(say("write the journal"), lambda: self.transaction.enter(GuardState.REVERTING, self.why))
        if self.applied:
            taken = backup.load(self.directory)
            if taken is None:
                self.problems.append(
                    say("the copies in {path} are gone; put the files back by hand", path=self.directory)
                )
            else:
                self._go_back(taken)
        if not self.problems:
            self._try(say("remove the unit that goes back at boot"), self.transaction.clean_up)
        state, why = GuardState.REVERTED, self.why
        if self.problems:
            # The boot unit stays: the next boot tries the files again.
            state, why = GuardState.FAILED, _not_complete(self.why, self.problems)
        elif self.notes:
            why = say("{why} ({notes})", why=self.why, notes=joined(self.notes, "; "))
        try:
            self.transaction.enter(state, why)
        except OSError as error:
            self.transaction.board.show(state, _not_written(why, error), "")
        return state

    def _try(self, what: str, action: Callable[[], None]) -> None:
        try:
            action()
        except StellwerkError as error:
            self.problems.append(say("{what}: {why}", what=what, why=error))
        except OSError as error:
            self.problems.append(say("{what}: {why}", what=what, why=error.strerror or error))

    def _go_back(self, taken: Backup) -> None:
        same_boot = not self.booting and taken.boot_id == self.machine.layout.boot_id()
        self._units(taken)
        self._files(taken)
        if any(unit for unit in taken.units):
            self._try(say("read the units again"), lambda: self._command(("systemctl", "daemon-reload")))
            self._enable(taken)
        if same_boot:
            self._rules()
        self._sysctls(taken)
        if any(path.startswith("/etc/netplan/") for path, *_ in backup.targets(self.request)):
            self._try(say("generate from the old files"), lambda: live.generate(self.machine.layout, self.machine.run))
        if not self.booting and self.request.plan.reconfigure:
            self._try(say("reconfigure"), lambda: self._reconfigure(taken))
            if same_boot:
                self._try(say("put the addresses back"), lambda: self._live(taken))

    def _command(self, argv: tuple[str, ...]) -> None:
        done = self.machine.run(argv)
        if not done.ok:
            raise OSError(done.complaint)

    def _files(self, taken: Backup) -> None:
        after = {
            path: None if text is None else backup.encode(text) for path, _, text, _ in backup.targets(self.request)
        }
        for item in taken.files:
            self._try(say("put {path} back", path=item.path), lambda item=item: self._file(item, after.get(item.path)))  # type: ignore[misc]

    def _file(self, item: backup.FileBackup, after: bytes | None) -> None:
        note = backup.restore_file(self.machine.layout, item, self.directory / "files", after)
        if note:
            self.notes.append(note)

    def _units(self, taken: Backup) -> None:
        # Disabling needs the unit's [Install] section, so it comes before its file goes.
        for unit in taken.units:
            path = self.machine.layout.under(backup.unit_path(unit.name))
            if not unit.enabled and path.exists():
                self._try(f"disable {unit.name}", lambda name=unit.name: self._command(("systemctl", "disable", name)))  # type: ignore[misc]

    def _enable(self, taken: Backup) -> None:
        for unit in taken.units:
            if unit.enabled:
                self._try(f"enable {unit.name}", lambda name=unit.name: self._command(("systemctl", "enable", name)))  # type: ignore[misc]
        self._try(say("make the units durable"), lambda: bootunit.sync(self.machine.layout))

    def _rules(self) -> None:
        """Firewall rules and commands that were begun, newest first. A boot has forgotten them by itself."""
        changes = self.request.plan.changes
        for entry in reversed(self.entries):
            number = entry.values.get("number")
            change = changes[number] if isinstance(number, int) and 0 <= number < len(changes) else None
            if entry.event == "firewall" and isinstance(change, FirewallChange) and not entry.values.get("there"):
                argv = ("firewall-delete", change.table, change.chain, *change.rule)
                self._try(say("remove a firewall rule"), lambda argv=argv: verbs.run_verb(argv, self.machine.run))  # type: ignore[misc]
            elif entry.event == "command" and isinstance(change, CommandChange) and change.undo:
                undo = change.undo
                self._try(f"run {' '.join(undo)}", lambda undo=undo: verbs.run_verb(undo, self.machine.run))  # type: ignore[misc]

    def _sysctls(self, taken: Backup) -> None:
        for key, value in taken.sysctls.items():
            if backup.read_sysctl(self.machine.layout, key) not in (None, value):
                self._try(f"set {key}", lambda k=key, v=value: backup.write_sysctl(self.machine.layout, k, v))  # type: ignore[misc]

    # -- live ------------------------------------------------------------------------------------------------------

    def _reconfigure(self, taken: Backup) -> None:
        there = read_links(self.machine.run).up
        devices = [device for device in self.request.plan.reconfigure if device in there]
        # What the change made the owner counts too: it must let go of an interface that has no file any more.
        made = next((e.values.get("owners") for e in reversed(self.entries) if e.event == "owners"), None)
        owners = {d: str(who) for d, who in (made if isinstance(made, dict) else {}).items() if who}
        owners.update(taken.owners)
        self.notes += live.reconfigure(self.machine.layout, devices, self.machine.run, owners, taken.profiles)

    def _live(self, taken: Backup) -> None:
        """Addresses, MTUs, routes and up/down of the changed interfaces as they were."""
        run = self.machine.run
        devices = self.request.plan.reconfigure
        wanted = [a for a in taken.live.addresses if a.device in devices]
        owned = [a for a in wanted if a.device in taken.owners or a.device in taken.profiles]

        def not_yet() -> list[str]:
            now = read_links(run)
            return [a.cidr for a in owned if not now.has(a.device, a.cidr)]

        inside.wait_until_fine(not_yet, min(LIVE_SETTLE_S, self.request.settle_s), lambda: None)
        now = read_links(run)
        for device in devices:
            if device in now.mtu and device in taken.live.mtu and now.mtu[device] != taken.live.mtu[device]:
                self._command(("ip", "link", "set", "dev", device, "mtu", str(taken.live.mtu[device])))
        for extra in now.addresses:
            known = taken.live.has(extra.device, extra.cidr)
            if extra.device in devices and not known and not extra.dynamic and not extra.is_link_local6:
                verbs.run_verb(("address-remove", extra.device, extra.cidr), run)
        self._add_missing(wanted)
        inside.bring_back_link_local(taken.live, devices, run, 0.0, lambda: None)
        self._routes(taken, devices)
        for device in devices:
            if not taken.live.up.get(device, True) and now.up.get(device):
                verbs.run_verb(("link-down", device), run)

    def _add_missing(self, wanted: list[Address]) -> None:
        run = self.machine.run
        now = read_links(run)
        for address in wanted:
            if address.device not in now.up or now.has(address.device, address.cidr):
                continue
            if address.dynamic:
                self.notes.append(
                    say(
                        "{cidr} of {device} came from DHCP and has not come back yet",
                        cidr=address.cidr,
                        device=address.device,
                    )
                )
            elif not address.is_link_local6:
                verbs.run_verb(("address-add", address.device, address.cidr), run)

    def _routes(self, taken: Backup, devices: tuple[str, ...]) -> None:
        now = read_live(self.machine.run)
        for route in taken.live.routes:
            if route.device not in devices or route.protocol == "dhcp" or route in now.routes:
                continue
            via = ("via", route.via) if route.via else ()
            source = ("src", route.source) if route.source else ()
            metric = ("metric", str(route.metric)) if route.metric is not None else ()
            self._command(("ip", "route", "replace", route.destination, *via, "dev", route.device, *source, *metric))


def _not_complete(why: str, problems: list[str]) -> str:
    return say("{why}; going back is not complete: {problems}", why=why, problems=joined(problems, "; "))


def _not_written(why: str, error: OSError) -> str:
    return say("{why}; the journal cannot be written: {said}", why=why, said=error.strerror or error)


def unfinished(layout: Layout) -> list[str]:
    """The transactions whose journal has no final state, oldest first; one that failed to go back counts."""
    found: list[tuple[str, str]] = []
    for path in layout.guard.glob("*/journal.jsonl"):
        entries = Journal(path, "").entries()
        if entries and state_of(entries) not in (GuardState.CONFIRMED, GuardState.REVERTED):
            found.append((entries[0].at, path.parent.name))
    return [name for _, name in sorted(found)]


def recover(machine: Machine, *, why: str, booting: bool = False, retry_failed: bool = True) -> None:
    """Finish every transaction that nobody holds any more. The caller holds the lock."""
    for name in unfinished(machine.layout):
        request = load_request(machine.layout, name)
        if request is None:
            continue
        transaction = Transaction(machine, request, Board(name))
        entries = transaction.journal.entries()
        state = state_of(entries)
        if (state is GuardState.FAILED and not retry_failed) or (not booting and _is_starting(entries, machine.layout)):
            continue
        Rollback(transaction, why_of(entries) if state is GuardState.REVERTING else why, booting=booting).run()
    finish_confirmed(machine)


def _is_starting(entries: tuple[Entry, ...], layout: Layout) -> bool:
    """Written down a moment ago by somebody who is about to start the guard; nothing has been done yet."""
    last = entries[-1]
    return (
        state_of(entries) is GuardState.IDLE
        and last.boot == layout.boot_id()
        and 0 <= now_s() - last.since_boot_s < START_LIMIT_S
    )


def finish_confirmed(machine: Machine) -> None:
    """A crash between the confirmation and its cleaning up leaves the boot unit; nothing unfinished needs it."""
    if not unfinished(machine.layout):
        with contextlib.suppress(OSError):  # the unit is harmless then: it finds nothing to take back
            bootunit.remove(machine.layout, machine.run)


def status_of(layout: Layout, plan_id: str) -> GuardStatus:
    """The status of one transaction by its journal; IDLE when there is none."""
    entries = Journal(layout.plan(plan_id) / "journal.jsonl", "").entries()
    last = next((e for e in reversed(entries) if e.event == "state"), None)
    return GuardStatus(
        state_of(entries),
        plan_id if entries else None,
        why_of(entries),
        changed_at=last.at if last else None,
        log=log_of(entries),
    )


def last_status(layout: Layout) -> GuardStatus:
    """The status of the transaction that was touched last."""
    names = unfinished(layout)
    if names:
        return status_of(layout, names[-1])
    shown = read_outcome(layout)
    if shown is not None and shown.plan_id is not None and layout.plan(shown.plan_id).is_dir():
        return status_of(layout, shown.plan_id)
    found = [status_of(layout, path.parent.name) for path in layout.guard.glob("*/journal.jsonl")]
    return max(found, key=lambda status: status.changed_at or "", default=GuardStatus(GuardState.IDLE))


def read_outcome(layout: Layout) -> GuardStatus | None:
    """What was last published; None when nothing readable was."""
    try:
        data = files.read(layout.outcome)
        return None if data is None else wire.from_wire(GuardStatus, json.loads(data))
    except (OSError, ValueError):
        return None


def republish(layout: Layout) -> GuardStatus:
    """Tell the last outcome to those who cannot read the journal."""
    status = last_status(layout)
    if status.state in FINAL_STATES:
        publish(layout, status)
    return status
