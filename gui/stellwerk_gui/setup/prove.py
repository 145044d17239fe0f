"""Step 6: the sentence first, then the matrix, then why and what to do for the cell in hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen
from PySide6.QtWidgets import (
    QComboBox,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from stellwerk.model.finding import Check, Verdict, Verification
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.controls import Button, Icon, Swatch, frame, hbox, label, restyle, vbox

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller

CHECK_ROLE = int(Qt.ItemDataRole.UserRole) + 1
OLD_ROLE = CHECK_ROLE + 1
COMPARE_OVER = 0.03  # a measured value that differs by more than this is shown beside the old one

SIGN = {
    Verdict.PASS: ("check", "good"),
    Verdict.DEGRADED: ("alert-triangle", "warn"),
    Verdict.FAIL: ("circle-x", "bad"),
    Verdict.NOT_AVAILABLE: ("circle-minus", "muted"),
}


class ProveStep(StepPage):
    """Runs the verification and shows it."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller, controller.tr("Prove"), controller.tr("Nothing has been measured yet."))
        self.sign = Icon("circle-minus", "muted", 20)
        self.compare = QComboBox()
        self.compare.setAccessibleName(self.tr("Compare with an earlier proof"))
        self.compare.currentIndexChanged.connect(lambda: self._refresh())
        self.html = Button("HTML", icon_name="download", on_click=lambda: controller.save_report("html", self.window()))
        self.json = Button("JSON", icon_name="download", on_click=lambda: controller.save_report("json", self.window()))
        self.run = Button(self.tr("Prove again"), icon_name="refresh", on_click=controller.prove)
        self.stop = Button(self.tr("Stop"), icon_name="player-stop", on_click=controller.stop_proof)
        for widget in (self.sign, self.compare, self.html, self.json, self.run, self.stop):
            self.head_actions.addWidget(widget)
        self.matrix = ProofMatrix()
        self.matrix.chosen = self._show_cell
        self.column.addWidget(self.matrix, 3)
        self.detail = CellDetail()
        self.column.addWidget(self.detail, 2)
        controller.proof_changed.connect(self._refresh)

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
        for run_id, text in self.controller.proof_history():
            self.compare.addItem(text, run_id)
        at = self.compare.findData(before)
        self.compare.setCurrentIndex(max(0, at))
        self.compare.blockSignals(False)
        self.compare.setVisible(self.compare.count() > 1)

    def _refresh(self) -> None:
        proof, running = self.controller.proof, self.controller.proving
        for button in (self.html, self.json):
            button.setVisible(proof is not None and not running)
        self.run.setVisible(not running)
        self.stop.setVisible(running)
        if proof is not None:
            if not running:
                self._fill_history()
            old = self.controller.old_proof(self.compare.currentData()) if self.compare.currentData() else None
            self.matrix.show_proof(proof, old, self.controller)
            text, detail = sentences(proof, running, self.controller.proof_total)
            self.heading.setText(text)
            self.sentence.setText(detail)
            self.sign.set_icon(*SIGN[proof.verdict] if not running else ("refresh", "muted"))
        self.changed.emit()

    def _show_cell(self, checks: list[Check]) -> None:
        self.detail.show_checks(checks, self.controller)

    def note(self) -> str:
        proof = self.controller.proof
        if proof is None or self.controller.proving:
            return self.tr("Running") if self.controller.proving else ""
        passed = sum(c.verdict is Verdict.PASS for c in proof.checks)
        return self.tr("{n} of {all} pass").format(n=passed, all=len(proof.checks))

    def next_label(self) -> str:
        return self.tr("Finish")


def sentences(proof: Verification, running: bool, total: int) -> tuple[str, str]:
    """The verdict in one sentence, and the counts in another."""
    count = Counter(c.verdict for c in proof.checks)
    done = len(proof.checks)
    if running:
        return "Measuring", f"{done} of {max(total, done)} checks are done."
    words = {
        Verdict.PASS: "Everything works.",
        Verdict.DEGRADED: "The cluster works, below its mark in places.",
        Verdict.FAIL: "Something has to be put right.",
        Verdict.NOT_AVAILABLE: "Not everything could be checked.",
    }
    parts = [f"{count[Verdict.PASS]} of {done} checks pass"]
    for verdict, word in (
        (Verdict.DEGRADED, "degraded"),
        (Verdict.FAIL, "failed"),
        (Verdict.NOT_AVAILABLE, "not available"),
    ):
        if count[verdict]:
            parts.append(f"{count[verdict]} {word}")
    where = " Simulated hardware." if proof.simulated else ""
    return words[proof.verdict], ", ".join(parts) + f". Measured in {proof.seconds:.0f} s.{where}"


HEADS = {
    "carrier": "Carrier",
    "speed": "Link speed",
    "pcie": "PCIe",
    "rdma": "RDMA link",
    "address": "Address",
    "mtu": "MTU both ways",
    "ping": "Ping",
    "route": "Route",
    "neighbour": "Neighbour",
    "gid": "GID",
    "bandwidth": "RDMA bandwidth",
    "latency": "Latency",
}


class ProofMatrix(QTableWidget):
    """A row per port of a machine, a column per kind of check; the worst check of a cell speaks for it."""

    def __init__(self) -> None:
        super().__init__(0, 0)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setEditTriggers(self.EditTrigger.NoEditTriggers)
        self.setItemDelegate(CellPainter(self))
        self.setAccessibleName(self.tr("Results"))
        self.chosen: Callable[[list[Check]], None] = lambda checks: None
        self.currentCellChanged.connect(lambda row, column, *_: self._choose(row, column))

    def show_proof(self, proof: Verification, old: Verification | None, controller: Controller) -> None:
        columns = [k for k in HEADS if any(c.kind == k for c in proof.checks)]
        columns += sorted({c.kind for c in proof.checks} - set(columns))
        rows = sorted(
            {(c.node, -1 if c.port is None else c.port) for c in proof.checks},
            key=lambda r: (controller.number(r[0]), r),
        )
        at = (self.currentRow(), self.currentColumn())
        self.blockSignals(True)
        self.setColumnCount(len(columns) + 1)
        self.setRowCount(len(rows))
        self.setHorizontalHeaderLabels([self.tr("Link"), *(HEADS.get(k, k) for k in columns)])
        earlier = {_key(c): c for c in old.checks} if old is not None else {}
        for r, (node, port) in enumerate(rows):
            self.setRowHeight(r, theme.current().px(38))
            head = QTableWidgetItem(node if port < 0 else f"{node}  P{port}")
            head.setData(int(Qt.ItemDataRole.UserRole), controller.number(node))
            self.setItem(r, 0, head)
            for c, kind in enumerate(columns, 1):
                checks = [
                    x
                    for x in proof.checks
                    if x.kind == kind and x.node == node and (-1 if x.port is None else x.port) == port
                ]
                item = QTableWidgetItem(cell_text(checks))
                item.setData(CHECK_ROLE, checks)
                item.setData(OLD_ROLE, old_text(checks, earlier))
                item.setToolTip("\n".join(f"{x.subject}: {x.text}" for x in checks))
                self.setItem(r, c, item)
        for c in range(len(columns) + 1):
            self.setColumnWidth(c, theme.current().px(118 if c else 130))
        self.horizontalHeader().setStretchLastSection(True)
        self.blockSignals(False)
        if at[0] >= 0:
            self.setCurrentCell(*at)
        else:
            self._choose_worst(proof)

    def _choose_worst(self, proof: Verification) -> None:
        order = [Verdict.FAIL, Verdict.DEGRADED, Verdict.NOT_AVAILABLE]
        for verdict in order:
            for row in range(self.rowCount()):
                for column in range(1, self.columnCount()):
                    item = self.item(row, column)
                    checks = item.data(CHECK_ROLE) or [] if item is not None else []
                    if any(c.verdict is verdict for c in checks):
                        self.setCurrentCell(row, column)
                        return

    def _choose(self, row: int, column: int) -> None:
        item = self.item(row, column) if row >= 0 and column >= 0 else None
        checks = item.data(CHECK_ROLE) if item is not None else None
        if checks:
            self.chosen(checks)


def _key(check: Check) -> tuple[str, str, str]:
    return (check.kind, check.node, check.subject)


def worst(checks: list[Check]) -> Verdict:
    """The verdict that speaks for a cell."""
    for verdict in (Verdict.FAIL, Verdict.NOT_AVAILABLE, Verdict.DEGRADED):
        if any(c.verdict is verdict for c in checks):
            return verdict
    return Verdict.PASS


def cell_text(checks: list[Check]) -> str:
    """The value of the worst check; "·" while there is none."""
    if not checks:
        return "·"
    speaking = next(c for c in checks if c.verdict is worst(checks))
    if speaking.value is not None:
        lowest = min((c for c in checks if c.value is not None), key=lambda c: c.value or 0.0)
        shown = lowest if speaking.verdict is Verdict.PASS and speaking.unit == "Gb/s" else speaking
        digits = 0 if shown.value == int(shown.value or 0) else 1
        return f"{shown.value:.{digits}f} {shown.unit}".strip()
    return speaking.text or speaking.verdict.value


def old_text(checks: list[Check], earlier: dict[tuple[str, str, str], Check]) -> str:
    """The earlier value, where it differs enough to be worth reading."""
    for check in checks:
        old = earlier.get(_key(check))
        if old is None:
            continue
        if old.verdict is not check.verdict:
            return f"was {old.value:.1f} {old.unit}".strip() if old.value is not None else f"was {old.verdict.value}"
        if old.value and check.value is not None and abs(check.value - old.value) / abs(old.value) > COMPARE_OVER:
            return f"was {old.value:.1f}"
    return ""


class CellPainter(QStyledItemDelegate):
    """Pass is a thin tick and plain text; only degraded and fail have a ground."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        t = theme.current()
        c = t.tokens
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box: QRect = option.rect
        state: QStyle.StateFlag = option.state
        area = QRectF(box)
        if index.column() == 0:
            number = index.data(int(Qt.ItemDataRole.UserRole)) or 1
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(t.node_colour(number)))
            painter.drawRoundedRect(QRectF(area.left() + t.px(12), area.center().y() - 5, 10, 10), 3, 3)
            painter.setPen(QColor(c.text))
            painter.setFont(theme.font(theme.TEXT_PT * t.scale, QFont.Weight.DemiBold))
            room = area.adjusted(t.px(30), 0, 0, 0)
            text = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideRight, int(room.width()))
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()
            return
        checks: list[Check] = index.data(CHECK_ROLE) or []
        verdict = worst(checks) if checks else None
        grounds = {Verdict.DEGRADED: c.warn_soft, Verdict.FAIL: c.bad_soft}
        inner = area.adjusted(4, 3, -4, -3)
        selected = bool(state & QStyle.StateFlag.State_Selected)
        painter.setPen(QPen(QColor(c.accent), 2) if selected else Qt.PenStyle.NoPen)
        painter.setBrush(QColor(grounds[verdict]) if verdict in grounds else Qt.BrushStyle.NoBrush)
        if selected or verdict in grounds:
            painter.drawRoundedRect(inner, 6, 6)
        inks = {Verdict.DEGRADED: c.warn_text, Verdict.FAIL: c.bad_text, Verdict.NOT_AVAILABLE: c.muted}
        ink = inks.get(verdict, c.text if verdict else c.faint) if verdict else c.faint
        left = inner.left() + t.px(8)
        if verdict is not None:
            name, colour = SIGN[verdict]
            size = t.px(14)
            paint_icon(painter, name, QRectF(left, inner.center().y() - size / 2, size, size), getattr(c, colour))
            left += size + t.px(6)
        bold = verdict in grounds
        painter.setFont(theme.font(theme.TEXT_PT * t.scale, QFont.Weight.DemiBold if bold else QFont.Weight.Normal))
        painter.setPen(QColor(ink))
        old = index.data(OLD_ROLE)
        room = QRectF(left, inner.top(), inner.right() - left - 4, inner.height())
        text = painter.fontMetrics().elidedText(index.data(), Qt.TextElideMode.ElideRight, int(room.width()))
        if old:
            painter.drawText(room.adjusted(0, -7, 0, -7), Qt.AlignmentFlag.AlignVCenter, text)
            painter.setFont(theme.font(theme.SECOND_PT * t.scale * 0.9))
            painter.setPen(QColor(c.muted))
            painter.drawText(room.adjusted(0, 9, 0, 9), Qt.AlignmentFlag.AlignVCenter, old)
        else:
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()


class CellDetail(QWidget):
    """Why a cell is as it is, and what to do."""

    def __init__(self) -> None:
        super().__init__()
        outer = vbox(self, spacing=0)
        card = frame("card")
        outer.addWidget(card)
        self._box = vbox(card, margins=(16, 12, 16, 12), spacing=6)
        row = hbox(spacing=8)
        self._swatch_place = hbox()
        row.addLayout(self._swatch_place)
        self._title = label("", "heading")
        row.addWidget(self._title)
        self._tag = label("", "tag-plain")
        row.addWidget(self._tag)
        row.addStretch(1)
        self._box.addLayout(row)
        self._text = label(self.tr("Choose a cell to see what was measured."), "muted", wrap=True, selectable=True)
        self._box.addWidget(self._text)
        self._what = label("", wrap=True, selectable=True)
        self._box.addWidget(self._what)
        self._box.addStretch(1)
        self._tag.hide()

    def show_checks(self, checks: list[Check], controller: Controller) -> None:
        verdict = worst(checks)
        speaking = next(c for c in checks if c.verdict is verdict)
        while (item := self._swatch_place.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        self._swatch_place.addWidget(Swatch(controller.number(speaking.node)))
        self._title.setText(f"{speaking.node}, {HEADS.get(speaking.kind, speaking.kind)}: {cell_text(checks)}")
        self._tag.setText(verdict.value.capitalize())
        kinds = {
            Verdict.PASS: "tag-good",
            Verdict.DEGRADED: "tag-warn",
            Verdict.FAIL: "tag-bad",
            Verdict.NOT_AVAILABLE: "tag-plain",
        }
        restyle(self._tag, kind=kinds[verdict])
        self._tag.show()
        lines = [f"{c.subject}: {c.text or c.verdict.value}" for c in checks]
        self._text.setText("\n".join(lines[:8]))
        self._what.setText(" ".join(p for p in (speaking.why, speaking.remedy) if p))
