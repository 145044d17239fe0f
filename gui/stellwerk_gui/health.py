"""How the open cluster is: in the rail's head and in the status bar, on every page."""

from __future__ import annotations

from PySide6.QtCore import QObject

from stellwerk_gui.controller import Controller
from stellwerk_gui.shell import Shell


class Health(QObject):
    """Shown anew with every change of machines, cables and proofs."""

    def __init__(self, controller: Controller, shell: Shell) -> None:
        super().__init__(shell)
        self.controller = controller
        self.shell = shell
        controller.nodes_changed.connect(self.show)
        controller.look_changed.connect(self.show)
        controller.proof_changed.connect(self.show)
        controller.apply_done.connect(lambda _: self.show())

    def show(self) -> None:
        cluster = self.controller.cluster
        head, status = self.shell.rail.head, self.shell.status
        if cluster is None:
            head.show_cluster("", "", "circle-minus", "muted")
            status.set_connection(self.tr("No cluster open"), "circle-minus", "muted")
            return
        nodes = self.controller.nodes
        ready = sum(n.ready for n in nodes)
        notes = self.controller.node_notes()
        if cluster.page not in ("done", "prove") and cluster.topology is None:
            head.show_cluster(cluster.name, self.tr("draft"), "circle-minus", "muted")
        elif notes or ready < len(nodes):
            bad = any(s == "bad" for s, _ in notes.values())
            count = len(notes) + len(nodes) - ready
            sign = ("circle-x", "bad") if bad else ("alert-triangle", "warn")
            head.show_cluster(cluster.name, str(count), *sign)
        else:
            head.show_cluster(cluster.name, self.tr("fine"), "circle-check", "good")
        text = self.tr("Connected to {ready} of {all} agents").format(ready=ready, all=len(nodes))
        if ready == len(nodes) and ready:
            status.set_connection(text, "circle-check", "good")
        elif any(n.state in ("reconnecting", "needs attention") for n in nodes):
            status.set_connection(text, "alert-triangle", "warn")
        else:  # nobody has been called yet
            status.set_connection(text, "circle-minus", "muted")
