"""*Machines may reach each other*: what is changed is shown first, one click sets it up, another takes it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QDialog, QScrollArea, QWidget

from stellwerk_gui import theme
from stellwerk_gui.language import local
from stellwerk_gui.widgets.controls import Button, Icon, Note, clear_layout, frame, hbox, label, sentence, vbox
from stellwerk_gui.widgets.words import Words

if TYPE_CHECKING:
    from stellwerk.setup.mesh import MeshReport
    from stellwerk_gui.changes import Changes

WIDTH_PX, MOST_PAIRS_PX = 560, 180


def translate(text: str) -> str:
    return QCoreApplication.translate("mesh", text)


def mesh_words() -> str:
    """What it is for, in one sentence."""
    return translate("Each node may then log in to the others by SSH: mpirun and the NCCL tests need that.")


class MeshDialog(QDialog):
    """What will be in ~/.ssh of every machine, and afterwards which pairs work."""

    def __init__(self, window: QWidget, changes: Changes) -> None:
        super().__init__(window)
        self.changes = changes
        self.setWindowTitle(self.tr("Nodes may reach each other"))
        self.setMinimumWidth(theme.current().px(WIDTH_PX))
        outer = vbox(self, margins=(20, 18, 20, 16), spacing=12)
        outer.addWidget(label(self.tr("Nodes may reach each other"), "title"))
        purpose = Words("muted")
        purpose.setText(mesh_words())
        outer.addWidget(purpose)
        outer.addWidget(self._what())
        self.state = Note("info")
        self.state.hide()
        outer.addWidget(self.state)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFixedHeight(theme.current().px(MOST_PAIRS_PX))
        inner = QWidget()
        self._pairs = vbox(inner, spacing=4)
        self._area.setWidget(inner)
        self._area.hide()
        outer.addWidget(self._area)
        row = hbox(spacing=8)
        self.take_out = Button(self.tr("Take it out"), "ghost", icon_name="trash", on_click=lambda: changes.mesh_off())
        self.verify = Button(self.tr("Try every pair"), icon_name="refresh", on_click=lambda: changes.mesh_verify())
        self.close_button = Button(self.tr("Close"), on_click=self.reject)
        self.set_up = Button(self.tr("Set it up"), "primary", icon_name="key", on_click=lambda: changes.mesh_on())
        row.addWidget(self.take_out)
        row.addStretch(1)
        for button in (self.verify, self.close_button, self.set_up):
            row.addWidget(button)
        outer.addLayout(row)
        changes.began.connect(self._show_state)
        changes.ended.connect(self._show_state)
        changes.mesh_done.connect(self.show_report)
        self._show_state()

    def _what(self) -> QWidget:
        card = frame("note-plain")
        column = vbox(card, margins=(14, 10, 14, 10), spacing=6)
        column.addWidget(label(self.tr("In ~/.ssh of every node there will be"), "second-muted"))
        for name, text in (
            ("stellwerk/", self.tr("a key of its own that never leaves it, the others' host keys, one alias each")),
            ("config", self.tr("one Include line at the top, marked")),
            ("authorized_keys", self.tr("the public keys of the others, marked")),
        ):
            row = hbox(spacing=10)
            left = label(name, "mono")
            left.setFixedWidth(theme.current().px(124))
            row.addWidget(left, 0, Qt.AlignmentFlag.AlignTop)
            words = Words("second")
            words.setText(text)
            row.addWidget(words, 1)
            column.addLayout(row)
        last = Words("second-muted")
        last.setText(self.tr("It is taken out again here, and when a node is un-paired."))
        column.addWidget(last)
        return card

    def _show_state(self) -> None:
        running, there = self.changes.running, self.changes.mesh
        self.take_out.setVisible(there)
        self.verify.setVisible(there)
        self.set_up.setVisible(not there)
        for button in (self.take_out, self.verify, self.set_up):
            button.setEnabled(not running)
        if running:
            self.state.show_text("info", "", self.tr("Working on all nodes"))
            self.state.show()
        elif self.state.isVisibleTo(self) and not self._area.isVisibleTo(self):
            self.state.hide()
        self.adjustSize()

    def show_report(self, report: MeshReport | None) -> None:
        """Which pairs work; None: it was taken out."""
        clear_layout(self._pairs)
        self._area.setVisible(report is not None and bool(report.tried))
        if report is None:
            self.state.show_text("good", "", self.tr("It was taken out of all nodes."))
        else:
            works = sum(not pair.error for pair in report.tried)
            text = self.tr("{n} of {all} pairs work").format(n=works, all=len(report.tried))
            notes = " ".join(sentence(local(note)) for note in report.notes)
            self.state.show_text("good" if report.works else "bad", text, notes)
            for pair in sorted(report.tried, key=lambda p: not p.error):
                row = hbox(spacing=8)
                row.addWidget(Icon("circle-x" if pair.error else "check", "bad" if pair.error else "good", 14))
                row.addWidget(label(f"{pair.source} → {pair.target}", "second"))
                row.addWidget(label(pair.address, "second-muted"))
                row.addWidget(label(local(pair.error), "bad", wrap=True), 1)
                self._pairs.addLayout(row)
            self._pairs.addStretch(1)
        self.state.show()
        self.adjustSize()
