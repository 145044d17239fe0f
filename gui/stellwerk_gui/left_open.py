"""What a window that closed in the middle of an apply left open is ended when its cluster is opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from stellwerk.model.errors import StellwerkError

if TYPE_CHECKING:
    from stellwerk.setup.outcome import ApplyOutcome
    from stellwerk.setup.session import ClusterSession
    from stellwerk_gui.controller import Controller


class LeftOpen(QObject):
    """Settles all machines on one side, and says which."""

    def __init__(self, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._late: ApplyOutcome | None = None  # the one that has been seen to already
        controller.connected.connect(self._settle)
        controller.nodes_changed.connect(self._settle_late)

    def _settle(self) -> None:
        session = self._controller.session
        if session is not None:
            self._controller.bridge.submit(_settle(session), done=self._say, failed=self._controller.problem.emit)

    def _settle_late(self) -> None:
        """An apply ended without an answer of every node: now that all of them answer, that is ended, too."""
        c = self._controller
        outcome, session = c.outcome, c.session
        open_still = outcome is not None and not outcome.settled and outcome is not self._late and not c.applying
        if open_still and session is not None and c.nodes and all(n.ready for n in c.nodes):
            self._late = outcome
            c.bridge.submit(_settle(session), done=self._ended_late, failed=c.problem.emit)

    def _ended_late(self, outcomes: Any) -> None:
        if outcomes:
            self._controller.ended_late(outcomes[-1])

    def _say(self, outcomes: Any) -> None:
        for outcome in outcomes:
            if not outcome.settled:
                how = self.tr("Not every node has answered; it is ended when the cluster is opened again")
            elif outcome.applied:
                how = self.tr("That is ended now: all nodes run the new network")
            else:
                how = self.tr("That is ended now: every node is back as it was")
            what = self.tr("The window closed while plan {id} was being applied").format(id=outcome.plan_id)
            self._controller.problem.emit(StellwerkError(what, why=how))


async def _settle(session: ClusterSession) -> list[ApplyOutcome]:
    from stellwerk.setup.outcome import unfinished_plans
    from stellwerk.setup.resume import Resume

    plans = unfinished_plans(session.folder.journal)
    if not plans:
        return []
    await session.hold()
    try:
        return [await Resume(plan, session.links, session.folder.journal).run() for plan in plans]
    finally:
        await session.let_go()
