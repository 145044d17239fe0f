"""The controller's second half: plan, apply, prove, and the problems that pages mark."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from stellwerk.model.errors import Busy, StellwerkError
from stellwerk.model.finding import Check, Finding, Severity, Verdict, Verification
from stellwerk.model.plan import Plan
from stellwerk.model.redact import redact
from stellwerk.setup.store import ClusterStore
from stellwerk.wire import to_wire
from stellwerk_gui.bridge import Bridge, Task
from stellwerk_gui.cluster_controller import ClusterController, data_folder
from stellwerk_gui.exporting import export
from stellwerk_gui.language import local
from stellwerk_gui.node import NodeSnapshot
from stellwerk_gui.setup.proof_cells import BOTH, short_words

if TYPE_CHECKING:
    from stellwerk.model.selftest import SelfTest
    from stellwerk.setup.apply import Apply
    from stellwerk.setup.history import Kept
    from stellwerk.setup.outcome import ApplyOutcome

__all__ = ["Controller", "NodeSnapshot", "data_folder"]


ROLL_BACK_S = 10.0


class Controller(ClusterController):
    """Everything that the pages work on."""

    plan_changed = Signal()
    apply_event = Signal(object)  # ApplyEvent
    apply_done = Signal(object)  # ApplyOutcome | None
    proof_changed = Signal()

    def __init__(self, bridge: Bridge, store: ClusterStore, parent: QObject | None = None) -> None:
        super().__init__(bridge, store, parent)
        self.plan: Plan | None = None
        self.outcome: ApplyOutcome | None = None
        self.applying = False
        self.proof: Verification | None = None
        self.proving = False
        self.proof_total = 0
        self.proof_began = False  # of the proof that runs: `proof` is its own, no longer the one before
        self._apply: Apply | None = None
        self._apply_task: Task | None = None
        self._journal_stamp: tuple[str, int] = ("", 0)
        self._newest_plan: Plan | None = None
        self._proof_task: Task | None = None
        self.cluster_changed.connect(self._forget)

    def _forget(self) -> None:
        self.plan, self.outcome, self.proof = None, None, None
        self.applying = self.proving = False
        self._apply = None
        if self.folder is not None:
            self.proof = self._kept_proof()

    def _kept_proof(self) -> Verification | None:
        """The newest proof that ran to its end."""
        if self.folder is None:
            return None
        from stellwerk.setup.history import newest

        return newest(self.folder.reports)

    # -- plan ----------------------------------------------------------------------------------------------------

    def make_plan(
        self,
        *,
        mtu: int | None = None,
        pool: str | None = None,
        failed: Callable[[StellwerkError], None] | None = None,
    ) -> None:
        """Plan for the latest look."""
        session, look = self.open_session(), self.look
        if look is None:
            return
        self.plan, self.outcome = None, None
        self.plan_changed.emit()

        async def work() -> Plan:
            from stellwerk.setup.planning import build_plan

            return build_plan(session.cluster, look, mtu=mtu, pool=pool)

        def made(plan: Any) -> None:
            self.plan, self.outcome = plan, None
            self.plan_changed.emit()

        self.bridge.submit(work(), done=made, failed=failed)

    def save_plan(self, window: QWidget) -> None:
        """Write the plan to a file that a person chooses."""
        if self.plan is not None:
            text = json.dumps(redact(to_wire(self.plan)), indent=2)
            export(self, window, f"plan-{self.plan.plan_id}.json", text.encode())

    # -- apply ---------------------------------------------------------------------------------------------------

    def apply_plan(self, force: bool = False) -> None:
        """Apply the plan to all machines or to none. `force`: also to those that another desktop holds."""
        session, plan = self.open_session(), self.plan
        if plan is None or self.applying:
            return
        prompts = self.pairing.prompts
        self.applying, self.outcome = True, None

        def work(report: Callable[[Any], None]) -> Any:
            return self._run_apply(session, plan, prompts, report, force)

        task = self.bridge.submit(work, progress=self.apply_event.emit, done=self._applied, failed=self._apply_failed)
        self._apply_task = task
        task.cancelled.connect(lambda: self._applied(None))

    async def _run_apply(
        self, session: Any, plan: Plan, prompts: Any, report: Callable[[Any], None], force: bool
    ) -> Any:
        from stellwerk.setup.apply import Apply
        from stellwerk.setup.outcome import unfinished_plans
        from stellwerk.setup.resume import Resume
        from stellwerk.setup.room import require_room
        from stellwerk.setup.root import nodes_changed_by, require_root

        await session.hold(force=force)
        try:
            # Root first: a machine whose agent or guard died needs it to end what was left open.
            await require_room(plan, session.links)
            unfinished = unfinished_plans(session.folder.journal)
            touched = nodes_changed_by(plan, *unfinished)
            if asked := [name for name in session.ready if name in touched]:
                await session.unlock_sudo(prompts, asked)
            for left in unfinished:
                ended = await Resume(left, session.links, session.folder.journal, report).run()
                if not ended.consistent:
                    return ended
            await require_root(plan, session.links)
            self._apply = Apply(plan, session.links, session.folder.journal, report)
            return await self._apply.run()
        finally:
            await session.forget_sudo()
            await session.let_go()

    def shutdown(self) -> None:
        """The window closes: what is being applied goes back first. What cannot is ended at the next opening."""
        if self._apply is not None and self._apply_task is not None:
            self.cancel_apply()
            self.bridge.wait(self._apply_task, ROLL_BACK_S)
        super().shutdown()

    def cancel_apply(self) -> None:
        """Roll back; after the decision it changes nothing."""
        running = self._apply
        if running is not None:
            self.bridge.call_soon(running.cancel)

    def _applied(self, outcome: Any) -> None:
        self.applying, self._apply, self.outcome = False, None, outcome
        if outcome is not None and outcome.applied and self.plan is not None and self.session is not None:
            self.keep(topology=self.plan.topology)
            if self.look is not None:
                self.look = replace(self.look, strayed=())  # it was taken before, and this has put it right
            self.forget_proof()
            self.happened.emit(self.tr("plan {id} confirmed").format(id=outcome.plan_id))
        self.apply_done.emit(outcome)

    def ended_late(self, outcome: ApplyOutcome) -> None:
        """What had to wait for a node has ended."""
        self._applied(outcome)

    def _apply_failed(self, error: StellwerkError) -> None:
        self.applying, self._apply = False, None
        if isinstance(error, Busy):
            self.held.emit(error, partial(self.apply_plan, force=True))
        else:
            self.problem.emit(error)
        self.apply_done.emit(None)

    def applied_plan(self) -> Plan | None:
        """The newest plan of this cluster that stands; read anew only when plans came or went."""
        if self.folder is None:
            return None
        from stellwerk.setup.undo import applied_plans

        file = self.folder.journal.path
        stamp = (str(file), file.stat().st_mtime_ns if file.exists() else 0)
        if stamp != self._journal_stamp:
            plans = applied_plans(self.folder.journal)
            self._journal_stamp, self._newest_plan = stamp, plans[0] if plans else None
        return self._newest_plan

    def taken_back(self, outcome: Any) -> None:
        """The newest plan was taken back: what was known about the network is old."""
        self.plan, self.outcome, self.proof = None, None, None
        if outcome.settled:
            if self.applied_plan() is None:
                self.keep(topology=None)
            self.happened.emit(self.tr("plan {id} taken back").format(id=outcome.plan_id))
        self.plan_changed.emit()
        self.proof_changed.emit()

    # -- prove ---------------------------------------------------------------------------------------------------

    def prove(self) -> None:
        """Run the verification; cells arrive one by one."""
        if self.proving or self.session is None:
            return
        session = self.session
        self.proving, self.proof_began, self.proof_total = True, False, 0
        self.proof_changed.emit()

        def work(report: Callable[[Any], None]) -> Any:
            return self._run_proof(session, report)

        task = self.bridge.submit(work, progress=self._proof_progress, done=self._proven, failed=self._proof_failed)
        task.cancelled.connect(self._proof_stopped)
        self._proof_task = task

    async def _run_proof(self, session: Any, report: Callable[[Any], None]) -> Any:
        from stellwerk.setup.history import save
        from stellwerk.setup.look import take_look
        from stellwerk.setup.prove import prove

        look = await take_look(session, self.wanted)
        report(("look", look))
        proof = await prove(session, look, lambda so_far, total: report(("proof", so_far, total)))
        save(session.folder.reports, proof)
        return proof

    def _proof_progress(self, data: Any) -> None:
        if data[0] == "look":
            self._looked(data[1])
            return
        self.proof, self.proof_total, self.proof_began = data[1], data[2], True
        self.proof_changed.emit()

    def _proven(self, proof: Any) -> None:
        self.proving, self.proof, self._proof_task = False, proof, None
        self.happened.emit(self.tr("proof finished"))
        self.proof_changed.emit()

    def self_tested(self, test: SelfTest) -> None:
        """The self-test of the proof that is shown has ended; it is part of its report."""
        if self.proof is not None and not self.proving:
            self.proof = replace(self.proof, self_test=test)
            self.proof_changed.emit()

    def _proof_failed(self, error: StellwerkError) -> None:
        self._proof_ended_early()
        self.problem.emit(error)

    def _proof_stopped(self) -> None:
        self._proof_ended_early()
        self.happened.emit(self.tr("proof stopped"))

    def _proof_ended_early(self) -> None:
        """The checks that were done say nothing about the rest: what was proven last counts again."""
        self.proving, self._proof_task = False, None
        if self.proof_began:
            self.proof = self._kept_proof()
        self.proof_changed.emit()

    def forget_proof(self) -> None:
        """The network is another one now: what was proven before says nothing about it."""
        if not self.proving:
            self.proof = None
            self.proof_changed.emit()

    def stop_proof(self) -> None:
        if self._proof_task is not None:
            self._proof_task.cancel()

    def proof_history(self) -> list[Kept]:
        """Earlier proofs, newest first, without the one shown."""
        if self.folder is None:
            return []
        from stellwerk.setup.history import listing

        shown = self.proof.run_id if self.proof is not None else ""
        return [kept for kept in listing(self.folder.reports) if kept.run_id != shown]

    def old_proof(self, run_id: str) -> Verification | None:
        if self.folder is None:
            return None
        from stellwerk.setup.history import load

        return load(self.folder.reports, run_id)

    def save_report(self, kind: str, window: QWidget) -> None:
        """Write the report of the shown proof as `html` or `json`."""
        if self.proof is None:
            return
        from stellwerk.report import render_html

        text = render_html(self.proof) if kind == "html" else json.dumps(to_wire(self.proof), indent=2)
        export(self, window, f"report-{self.proof.run_id}.{kind}", text.encode())

    # -- what is marked ------------------------------------------------------------------------------------------

    def bad_checks(self) -> list[Check]:
        """Checks of the latest proof that did not pass, worst first."""
        if self.proof is None:
            return []
        order = {Verdict.FAIL: 0, Verdict.DEGRADED: 1}
        found = (c for c in self.proof.checks if c.verdict in order)
        # Of a port whose one half is bad that half is said, not what both carry together.
        return sorted(found, key=lambda c: (order[c.verdict], c.half == BOTH))

    def node_notes(self) -> dict[str, tuple[str, str]]:
        """Node -> (state, sentence) for cards: cable findings first, then the proof."""
        notes: dict[str, tuple[str, str]] = {}
        for check in reversed(self.bad_checks()):
            state = "bad" if check.verdict is Verdict.FAIL else "degraded"
            notes[check.node] = (state, short_words(check))
        for strayed in reversed(self._strayed()):
            if strayed.node is not None:
                notes[strayed.node] = ("bad" if strayed.severity is Severity.BAD else "degraded", local(strayed.title))
        for finding in self.look.cable_findings if self.look is not None else ():
            if finding.severity is not Severity.INFO:
                state = "bad" if finding.severity is Severity.BAD else "degraded"
                for ref in finding.ports[:1]:
                    notes[ref.node] = (state, local(finding.title))
        return notes

    def remedy(self, name: str) -> tuple[tuple[str, ...], str]:
        """What to do about a note that a look made, and the step of the wizard that does it; nothing for a proof's."""
        if self.look is None:
            return (), ""
        for finding in self.look.cable_findings:
            if finding.severity is not Severity.INFO and finding.ports[:1] and finding.ports[0].node == name:
                return finding.steps, "look"
        return (), "plan" if any(f.node == name for f in self._strayed()) else ""

    def _strayed(self) -> tuple[Finding, ...]:
        """What is no longer as it was set up; a cluster that never was has nothing to stray from."""
        set_up = self.cluster is not None and self.cluster.topology is not None and not self.applying
        return self.look.strayed if self.look is not None and set_up else ()

    def bad_halves(self) -> dict[tuple[str, str], str]:
        """(node, netdev) -> warn | bad, from the proof."""
        found: dict[tuple[str, str], str] = {}
        if self.look is None:
            return found
        for check in reversed(self.bad_checks()):
            member = next((m for m in self.look.members if m.name == check.node), None)
            port = member.node_ports.port(check.port) if member is not None and check.port is not None else None
            for half in port.halves if port is not None else ():
                if check.half in (None, half.label):
                    found[check.node, half.netdev.name] = "bad" if check.verdict is Verdict.FAIL else "warn"
        return found
