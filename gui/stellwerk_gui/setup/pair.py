"""Step 2: every machine on its way from *found* to *ready*, each with its own state and reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QWidget

from stellwerk_gui.cluster.views import state_word
from stellwerk_gui.language import local
from stellwerk_gui.prompts import ChangedKeyDialog
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.controls import Button, Icon, Swatch, clear_layout, hbox, label, restyle, scroll_area, vbox

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
        self.retry.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.head_actions.addWidget(self.retry)
        self.head_actions.addStretch(0)
        inner = QWidget()
        self._list = vbox(inner, spacing=8)
        self.column.addWidget(scroll_area(inner), 1)
        self._pairing = False
        self._rows: dict[str, PairRow] = {}
        self._shown: list[tuple[str, str, int]] = []
        controller.nodes_changed.connect(self._refresh)

    def entered(self) -> None:
        self._refresh()
        if any(n.state == "found" for n in self.controller.nodes):
            QTimer.singleShot(0, self, self._pair_all)  # the step is drawn before its work begins

    def _pair_all(self) -> None:
        names = tuple(n.name for n in self.controller.nodes if n.state in ("found", "needs attention", "closed"))
        if names:
            self._pair(names)

    def _pair(self, names: tuple[str, ...]) -> None:
        self._pairing = True
        self.retry.setEnabled(False)
        self.controller.pairing.pair(names).ended.connect(self._paired)

    def _paired(self) -> None:
        self._pairing = False
        self._refresh()

    def _refresh(self) -> None:
        if not self.isVisible():
            self.changed.emit()
            return
        shown = [(n.name, n.address, n.number) for n in self.controller.nodes]
        if shown != self._shown:  # another cluster's machines may have the same names
            self._shown = shown
            clear_layout(self._list)
            self._rows = {node.name: PairRow(node, self) for node in self.controller.nodes}
            for row in self._rows.values():
                self._list.addWidget(row)
            self._list.addStretch(1)
        for node in self.controller.nodes:
            self._rows[node.name].show_node(node)
        waiting = any(n.state in ("found", "needs attention", "closed") for n in self.controller.nodes)
        self.retry.setEnabled(waiting and not self._pairing)
        self.changed.emit()

    def ways_out(self, node: NodeSnapshot) -> QHBoxLayout:
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
            Button(
                self.tr("Take it off"),
                "small",
                icon_name="x",
                on_click=lambda: self.controller.pairing.remove(node.name),
            )
        )
        row.addStretch(1)
        return row

    def _changed_key(self, name: str) -> None:
        session = self.controller.session
        alarm = session.links[name].alarm if session is not None else None
        if alarm is None:
            return
        dialog = ChangedKeyDialog(self.window(), alarm)
        dialog.accepted.connect(lambda: self.controller.pairing.replace_trust(name))
        dialog.open()

    def note(self) -> str:
        nodes = self.controller.nodes
        ready = sum(n.ready for n in nodes)
        if nodes and ready == len(nodes):
            return self.tr("All ready")
        return self.tr("{ready} of {all} ready").format(ready=ready, all=len(nodes)) if ready else ""


class PairRow(QFrame):
    """One machine on its way. It changes its words many times a second, its widgets only when its state does."""

    def __init__(self, node: NodeSnapshot, page: PairStep) -> None:
        super().__init__()
        self._page = page
        self._acts_on: NodeSnapshot | None = None
        self.setProperty("kind", "card")
        outer = vbox(self, margins=(16, 10, 12, 10), spacing=6)
        row = hbox(spacing=10)
        row.addWidget(Swatch(node.number))
        row.addWidget(label(node.name, "heading"))
        row.addWidget(label(node.address, "second-muted"))
        row.addStretch(1)
        self._icon = Icon("refresh", "muted")
        self._word = label("", "second-muted")
        row.addWidget(self._icon)
        row.addWidget(self._word)
        outer.addLayout(row)
        self._reason = label("", "second-muted", wrap=True, selectable=True)
        outer.addWidget(self._reason)
        self._actions = hbox()
        outer.addLayout(self._actions)

    def show_node(self, node: NodeSnapshot) -> None:
        """How far it is, or what keeps it."""
        word = state_word(node.state)
        kind, icon = {"ready": ("good", "circle-check"), "needs attention": ("bad", "circle-x")}.get(
            node.state, ("second-muted", "refresh")
        )
        step = WAY.index(node.state) + 1 if node.state in WAY else 0
        text = f"{step}/{len(WAY)}  {word}" if step and kind == "second-muted" else word
        if kind != self._word.property("kind"):
            restyle(self._word, kind=kind)
            restyle(self._reason, kind="bad" if kind == "bad" else "second-muted")
        self._icon.set_icon(icon, "muted" if kind == "second-muted" else kind)
        self._word.setText(text)
        self._reason.setText(local(node.reason))
        self._reason.setVisible(bool(node.reason) and node.state != "ready")
        wanted = node if kind == "bad" else None
        if wanted != self._acts_on:
            self._acts_on = wanted
            clear_layout(self._actions)
            if wanted is not None:
                self._actions.addLayout(self._page.ways_out(wanted))
