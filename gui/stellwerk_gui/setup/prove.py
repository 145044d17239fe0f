"""Step 6: the sentence first, then the matrix, then why and what to do for the cell in hand."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from stellwerk.model.finding import Verdict
from stellwerk_gui import theme
from stellwerk_gui.measure.selftest import SelfTestCard
from stellwerk_gui.setup.proof_cells import Row, sentences
from stellwerk_gui.setup.proof_detail import CellDetail
from stellwerk_gui.setup.proof_matrix import HEAD_PX, ROW_PX, SIGN, ProofMatrix
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.start.recent import when
from stellwerk_gui.widgets.controls import Button, Combo, Icon, hbox, label, scroll_area, vbox

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller

BESIDE_FROM_PX = 900  # from here the cell in hand and the self-test lie beside each other
LEAST_MATRIX_PX = 220


class ProveStep(StepPage):
    """Runs the verification and shows it."""

    mesh_wanted = Signal()
    repair_wanted = Signal()  # the plan puts it right

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(self.tr("Prove"), self.tr("Nothing has been measured yet."))
        self.sign = Icon("circle-minus", "muted", 20)
        self.head_start.addWidget(self.sign)
        self.compare = Combo(self.tr("Compare with an earlier proof"))
        self.compare.setMaximumWidth(theme.current().px(272))
        self.compare.currentIndexChanged.connect(lambda: self._refresh())
        self.html = Button("HTML", icon_name="download", on_click=lambda: controller.save_report("html", self.window()))
        self.json = Button("JSON", icon_name="download", on_click=lambda: controller.save_report("json", self.window()))
        self.run = Button(self.tr("Prove again"), icon_name="refresh", on_click=controller.prove)
        self.stop = Button(self.tr("Stop"), icon_name="player-stop", on_click=controller.stop_proof)
        self.mesh = Button(self.tr("SSH between nodes"), "ghost", icon_name="key", on_click=self.mesh_wanted.emit)
        for widget in (self.compare, self.html, self.json, self.stop):
            widget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
            self.head_actions.addWidget(widget)
        self.head_actions.addStretch(0)
        self.matrix = ProofMatrix()
        self.matrix.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.matrix.chosen = self._show_cell
        inner = QWidget()
        column = vbox(inner, spacing=8)
        # In a low or narrow window all three keep their size and lie below each other.
        self.column.addWidget(scroll_area(inner), 1)
        column.addWidget(self.matrix, 3)
        below = self._below = hbox(spacing=12)
        self.detail = CellDetail()
        self.detail.repair.clicked.connect(lambda: self.repair_wanted.emit())
        below.addWidget(self.detail, 8)
        self.selftest = SelfTestCard(controller)
        below.addWidget(self.selftest, 7)
        column.addLayout(below, 2)
        self.footer_note = self._legend()
        controller.proof_changed.connect(self._refresh)

    def _legend(self) -> QWidget:
        box = QWidget()
        row = hbox(box, spacing=16)
        for verdict, kind, text in (
            (Verdict.PASS, "good", self.tr("pass")),
            (Verdict.DEGRADED, "warn", self.tr("degraded: works, below the mark")),
            (Verdict.FAIL, "bad", self.tr("fail: has to be put right")),
        ):
            pair = hbox(spacing=6)
            pair.addWidget(Icon(*SIGN[verdict], 14))
            pair.addWidget(label(text, kind))
            row.addLayout(pair)
        return box

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < theme.current().px(BESIDE_FROM_PX)
        ways = QBoxLayout.Direction
        self._below.setDirection(ways.TopToBottom if narrow else ways.LeftToRight)

    def entered(self) -> None:
        self._fill_history()
        self._refresh()
        if self.controller.proof is None and not self.controller.proving:
            self.controller.prove()

    def _fill_history(self) -> None:
        before = self.compare.currentData()
        self.compare.blockSignals(True)
        self.compare.clear()
        self.compare.addItem(self.tr("Compare with …"), "")
        for kept in self.controller.proof_history():
            passed = self.tr("{n} of {all} pass").format(n=kept.passed, all=kept.total)
            self.compare.addItem(f"{when(datetime.fromisoformat(kept.at).timestamp())}, {passed}", kept.run_id)
        at = self.compare.findData(before)
        self.compare.setCurrentIndex(max(0, at))
        self.compare.blockSignals(False)
        self.compare.setVisible(self.compare.count() > 1)

    def _refresh(self) -> None:
        proof, running = self.controller.proof, self.controller.proving
        for button in (self.html, self.json):
            button.setVisible(proof is not None and not running)
        self.stop.setVisible(running)
        if running and not self.controller.proof_began:
            self.say(self.tr("Measuring"), self.tr("First the nodes and their cables are read."))
            self.sign.set_icon("refresh", "muted")
            self._empty()
        elif proof is None:
            self.say(self.tr("Prove"), self.tr("Nothing has been measured yet."))
            self.sign.set_icon("circle-minus", "muted")
            self._empty()
        elif self.isVisible():
            if not running:
                self._fill_history()
            old = self.controller.old_proof(self.compare.currentData()) if self.compare.currentData() else None
            self.matrix.show_proof(proof, old, self.controller)
            self._fit()
            self.say(*sentences(proof, running, self.controller.proof_total))
            self.sign.set_icon(*SIGN[proof.verdict] if not running else ("refresh", "muted"))
        self.changed.emit()

    def _empty(self) -> None:
        """What an earlier proof found does not stand below the words of this one."""
        self.matrix.show_nothing()
        self.detail.show_nothing()

    def _fit(self) -> None:
        """As high as its rows, so that a pair does not leave an empty table."""
        px = theme.current().px
        high = px(HEAD_PX + len(self.matrix.rows) * ROW_PX + 6)
        self.matrix.setMaximumHeight(max(px(150), high + px(12)))
        self.matrix.setMinimumHeight(min(high + px(12), px(LEAST_MATRIX_PX)))

    def _show_cell(self, row: Row, at: int) -> None:
        column = self.matrix.columns[at]
        unit = next((c.unit for c in row.cells[at].checks if c.kind == column.main and c.unit), "")
        self.detail.show_cell(row, column, self.matrix.rows, at, self.controller.number(row.node), unit)

    def note(self) -> str:
        proof = self.controller.proof
        if proof is None or self.controller.proving:
            return self.tr("Running") if self.controller.proving else ""
        passed = sum(c.verdict is Verdict.PASS for c in proof.checks)
        return self.tr("{n} of {all} pass").format(n=passed, all=len(proof.checks))

    def next_label(self) -> str:
        return self.tr("Finish")

    def footer_buttons(self) -> tuple[Button, ...]:
        self.mesh.setVisible(len(self.controller.nodes) > 1)
        return (self.mesh,)
