"""Step 2: every machine on its way from *found* to *ready*, each with its own state and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QWidget

from stellwerk_gui.cluster.views import state_word
from stellwerk_gui.prompts import ChangedKeyDialog
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.controls import Button, Icon, Swatch, clear_layout, frame, hbox, label, vbox

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller, NodeSnapshot

WAY = ("found", "checking key", "logging in", "installing agent", "ready")


class PairStep(StepPage):
    """One row per machine."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(
            self.tr("Pair"), self.tr("Trust each machine once, log in once; after that a key of this cluster is used.")
        )
        self.retry = Button(self.tr("Retry all"), icon_name="refresh", on_click=self._pair_all)
        self.head_actions.addWidget(self.retry)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        self._list = vbox(inner, spacing=8)
        area.setWidget(inner)
        self.column.addWidget(area, 1)
        self._pairing = False
        controller.nodes_changed.connect(self._refresh)

    def entered(self) -> None:
        self._refresh()
        if any(n.state == "found" for n in self.controller.nodes):
            self._pair_all()

    def _pair_all(self) -> None:
        names = tuple(n.name for n in self.controller.nodes if n.state in ("found", "needs attention", "closed"))
        if names:
            self._pair(names)

    def _pair(self, names: tuple[str, ...]) -> None:
        self._pairing = True
        self.retry.setEnabled(False)
        self.controller.pair(names).ended.connect(self._paired)

    def _paired(self) -> None:
        self._pairing = False
        self._refresh()

    def _refresh(self) -> None:
        if not self.isVisible():
            self.changed.emit()
            return
        clear_layout(self._list)
        for node in self.controller.nodes:
            self._list.addWidget(self._row_of(node))
        self._list.addStretch(1)
        waiting = any(n.state in ("found", "needs attention", "closed") for n in self.controller.nodes)
        self.retry.setEnabled(waiting and not self._pairing)
        self.changed.emit()

    def _row_of(self, node: NodeSnapshot) -> QFrame:
        card = frame("card")
        outer = vbox(card, margins=(16, 10, 12, 10), spacing=6)
        row = hbox(spacing=10)
        row.addWidget(Swatch(node.number))
        row.addWidget(label(node.name, "heading"))
        row.addWidget(label(node.address, "second-muted"))
        row.addStretch(1)
        outer.addLayout(row)
        for widget in self._state(node):
            row.addWidget(widget)
        if node.state == "needs attention":
            text = label(node.reason, "bad", wrap=True, selectable=True)
            outer.addWidget(text)
            outer.addLayout(self._actions(node))
        elif node.reason and node.state != "ready":
            outer.addWidget(label(node.reason, "second-muted", wrap=True))
        return card

    def _state(self, node: NodeSnapshot) -> list[QWidget]:
        word = state_word(node.state)
        if node.state == "ready":
            return [Icon("circle-check", "good"), label(word, "good")]
        if node.state == "needs attention":
            return [Icon("circle-x", "bad"), label(word, "bad")]
        step = WAY.index(node.state) + 1 if node.state in WAY else 0
        way = f"{step}/{len(WAY)}  " if step else ""
        return [Icon("refresh", "muted"), label(f"{way}{word}", "second-muted")]

    def _actions(self, node: NodeSnapshot) -> QHBoxLayout:
        row = hbox(spacing=8)
        if node.error is not None and node.error.code == "host-key-changed":
            row.addWidget(
                Button(
                    self.tr("Compare the keys"), "small", icon_name="key", on_click=lambda: self._changed_key(node.name)
                )
            )
        else:
            row.addWidget(
                Button(self.tr("Retry"), "small", icon_name="refresh", on_click=lambda: self._pair((node.name,)))
            )
        row.addWidget(
            Button(self.tr("Take it off"), "small", icon_name="x", on_click=lambda: self.controller.remove(node.name))
        )
        row.addStretch(1)
        return row

    def _changed_key(self, name: str) -> None:
        session = self.controller.session
        alarm = session.links[name].alarm if session is not None else None
        if alarm is None:
            return
        dialog = ChangedKeyDialog(self.window(), alarm)
        dialog.accepted.connect(lambda: self.controller.replace_trust(name))
        dialog.open()

    def note(self) -> str:
        nodes = self.controller.nodes
        ready = sum(n.ready for n in nodes)
        if nodes and ready == len(nodes):
            return self.tr("All ready")
        return self.tr("{ready} of {all} ready").format(ready=ready, all=len(nodes)) if ready else ""
