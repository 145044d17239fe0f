"""Questions before something is changed beside the wizard's plan: on the machines, or in what is known of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import joined
from stellwerk.setup.store import ClusterFolder
from stellwerk_gui.changes import Changes
from stellwerk_gui.controller import Controller
from stellwerk_gui.dialogs import choose, confirm
from stellwerk_gui.language import local
from stellwerk_gui.widgets.controls import sentence


class Asking(QObject):
    """Each asks, and only a yes does anything."""

    unpairing = Signal()  # a machine is being taken out

    def __init__(self, window: QWidget, controller: Controller, changes: Changes) -> None:
        super().__init__(window)
        self.window = window
        self.controller = controller
        self.changes = changes

    def take_over(self, error: StellwerkError, again: Callable[[], object]) -> None:
        """Another desktop holds machines: only a person can know whether somebody still works there."""
        what = local(error.what)
        title = f"{local(error.node)}: {what}" if error.node else sentence(what).removesuffix(".")
        parts = [sentence(local(p)) for p in (error.why,) if p]
        parts.append(self.tr("Taking over lets this window change the nodes. The other one is told so and cannot."))
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

    def unpair(self, name: str) -> None:
        """Take a machine out of the cluster, after a question."""
        node = self.controller.node(name)
        away = node is None or not node.ready
        text = self.tr(
            "The agent, what it kept and this cluster's key are removed from the node. Its network stays as it is."
        )
        if away:
            text = self.tr("The node does not answer: only this computer forgets it. Agent and key stay on it.")
        title = self.tr("Un-pair {name}?").format(name=name)
        confirm(self.window, title, text, self.tr("Un-pair"), partial(self._unpair, name, away))

    def _unpair(self, name: str, away: bool) -> None:
        self.unpairing.emit()
        self.controller.pairing.remove(name, forget_unreachable=away, done=partial(self._unpaired, name))

    def _unpaired(self, name: str, report: Any) -> None:
        left = tuple(getattr(report, "left", ()))
        self.controller.happened.emit(self.tr("{name} un-paired").format(name=name))
        if left:
            what = self.tr("{name} was un-paired, something stays on it").format(name=name)
            self.controller.problem.emit(StellwerkError(what, why=joined(left, "; ")))

    def leave(self, left: Callable[[], None]) -> None:
        """Out of the wizard without going on. What was only entered is kept or forgotten, as the person says."""
        controller, cluster, folder = self.controller, self.controller.cluster, self.controller.folder
        if cluster is None or folder is None:
            return

        def keep() -> None:
            controller.close_cluster(left)

        def forget() -> None:
            controller.close_cluster(removed)

        def removed() -> None:
            controller.store.remove(folder)
            left()

        if cluster.nodes or cluster.topology is not None:
            keep()
        elif not controller.nodes:
            forget()  # nothing was entered
        else:
            choose(
                self.window,
                self.tr("Leave the set-up?"),
                self.tr("Nothing has been changed on any machine. What was entered can be kept and opened again."),
                (self.tr("Keep it"), keep),
                (self.tr("Forget it"), forget),
            )

    def forget(self, folder: ClusterFolder, forgotten: Callable[[], object]) -> None:
        """Remove what this computer keeps of a cluster, after a question."""
        text = self.tr(
            "Its key and reports on this computer are removed. The nodes keep their network and agent: "
            "un-pair them first."
        )
        title = self.tr("Forget the cluster {name}?").format(name=folder.path.name)

        def remove() -> None:
            self.controller.store.remove(folder)
            forgotten()

        confirm(self.window, title, text, self.tr("Forget it"), remove)
