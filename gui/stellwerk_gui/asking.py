"""Questions before something on the machines is changed beside the wizard's plan."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk_gui.changes import Changes
from stellwerk_gui.dialogs import confirm
from stellwerk_gui.language import local
from stellwerk_gui.widgets.controls import sentence


class Asking(QObject):
    """Each asks, and only a yes does anything."""

    def __init__(self, window: QWidget, changes: Changes) -> None:
        super().__init__(window)
        self.window = window
        self.changes = changes

    def take_over(self, error: StellwerkError, again: Callable[[], object]) -> None:
        """Another desktop holds machines: only a person can know whether somebody still works there."""
        what = local(error.what)
        title = f"{local(error.node)}: {what}" if error.node else sentence(what).removesuffix(".")
        parts = [sentence(local(p)) for p in (error.why,) if p]
        parts.append(self.tr("Taking over lets this window change the machines. The other one is told so and cannot."))
        confirm(self.window, title, " ".join(parts), self.tr("Take over"), again)

    def open_mesh(self) -> None:
        """Let the machines reach each other: what is changed, then one click."""
        from stellwerk_gui.mesh import MeshDialog

        MeshDialog(self.window, self.changes).open()

    def undo(self) -> None:
        """Take the newest plan back, after a question."""
        plan = self.changes.newest_plan()
        if plan is None:
            return
        names = ", ".join(n.node for n in plan.nodes if n.changes)
        text = self.tr("{names} get back the network that they had before. Nothing else is changed.")
        title = self.tr("Take plan {id} back?").format(id=plan.plan_id)
        confirm(self.window, title, text.format(names=names), self.tr("Take it back"), partial(self.changes.undo, plan))
