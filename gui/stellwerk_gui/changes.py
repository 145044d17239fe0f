"""What changes machines beside the wizard's plan: SSH between them, and taking the newest plan back.

Whatever another desktop holds is taken over only after a person said so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from stellwerk.model.errors import Busy, StellwerkError

if TYPE_CHECKING:
    from stellwerk.model.plan import Plan
    from stellwerk.setup.mesh import MeshReport
    from stellwerk_gui.controller import Controller


class Changes(QObject):
    """One change at a time; each ends with one of its signals."""

    mesh_done = Signal(object)  # MeshReport, or None after it was taken out
    undone = Signal(object)  # ApplyOutcome
    began = Signal()
    ended = Signal()

    def __init__(self, controller: Controller, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.controller = controller
        self.running = False

    # -- SSH between the machines --------------------------------------------------------------------------------

    @property
    def mesh(self) -> bool:
        """Whether the machines of the open cluster may reach each other."""
        cluster = self.controller.cluster
        return cluster is not None and cluster.mesh

    def mesh_on(self, force: bool = False) -> None:
        """Set it up on all machines and try every pair."""
        from stellwerk.setup.mesh import mesh_on

        self._run(lambda session: _held(session, force, mesh_on), self.mesh_done.emit, lambda: self.mesh_on(True))

    def mesh_verify(self) -> None:
        """Try every pair again; nothing is changed."""
        from stellwerk.setup.mesh import mesh_verify

        self._run(mesh_verify, self.mesh_done.emit, self.mesh_verify)

    def mesh_off(self, force: bool = False) -> None:
        """Take it out of all machines."""
        from stellwerk.setup.mesh import mesh_off

        def done(_: object) -> None:
            self.mesh_done.emit(None)

        self._run(lambda session: _held(session, force, mesh_off), done, lambda: self.mesh_off(True))

    # -- taking back ---------------------------------------------------------------------------------------------

    def newest_plan(self) -> Plan | None:
        """The newest plan that was applied and not taken back since."""
        return self.controller.applied_plan()

    def undo(self, plan: Plan, force: bool = False) -> None:
        """Bring all machines of `plan` back to what they had before it."""
        prompts = self.controller.pairing.prompts

        async def work(session: Any) -> Any:
            from stellwerk.setup.room import require_room
            from stellwerk.setup.root import nodes_changed_by, require_root
            from stellwerk.setup.undo import undo_plan

            await session.hold(force=force)
            try:
                await require_room(plan, session.links)
                touched = nodes_changed_by(plan)
                if asked := [name for name in session.ready if name in touched]:
                    await session.unlock_sudo(prompts, asked)
                await require_root(plan, session.links)
                return await undo_plan(plan.plan_id, session.links, session.folder.journal)
            finally:
                await session.forget_sudo()
                await session.let_go()

        def done(outcome: Any) -> None:
            self.controller.taken_back(outcome)
            self.undone.emit(outcome)

        self._run(work, done, lambda: self.undo(plan, True))

    # -- tools ---------------------------------------------------------------------------------------------------

    def _run(self, work: Callable[[Any], Any], done: Callable[[Any], None], again: Callable[[], object]) -> None:
        session = self.controller.session
        if session is None or self.running:
            return
        self.running = True
        self.began.emit()

        def finished() -> None:
            self.running = False
            self.ended.emit()

        def failed(error: StellwerkError) -> None:
            if isinstance(error, Busy):
                self.controller.held.emit(error, again)
            else:
                self.controller.problem.emit(error)

        self.controller.bridge.submit(work(session), done=done, failed=failed).ended.connect(finished)


async def _held(session: Any, force: bool, work: Callable[[Any], Any]) -> MeshReport | Any:
    """Do something to all machines while no other desktop does."""
    await session.hold(force=force)
    try:
        return await work(session)
    finally:
        await session.let_go()
