"""The matrix of *Prove*: a row per port, a column per question, two lines of heads, painted cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableWidget
from PySide6.QtWidgets import QTableWidgetItem as Item

from stellwerk.model.finding import Verdict, Verification
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.language import local
from stellwerk_gui.setup.proof_cells import Cell, Column, Row, columns_of, head, pass_mark, rows_of, said, translate
from stellwerk_gui.widgets.controls import plain_tip
from stellwerk_gui.widgets.ink import LEFT, write

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller

CELL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
NUMBER_ROLE, WAY_ROLE = CELL_ROLE + 1, CELL_ROLE + 2
LINK_PX, LEAST_PX, ROW_PX, HEAD_PX = 196, 112, 38, 52
SIGN = {
    Verdict.PASS: ("check", "good"),
    Verdict.DEGRADED: ("alert-triangle", "warn"),
    Verdict.FAIL: ("circle-x", "bad"),
    Verdict.NOT_AVAILABLE: ("circle-minus", "muted"),
}


class ProofMatrix(QTableWidget):
    """Arrows move; the cell in hand is explained below."""

    def __init__(self) -> None:
        super().__init__(0, 0)
        self.rows: list[Row] = []
        self.columns: tuple[Column, ...] = ()
        self.verticalHeader().hide()
        self.header = TwoLineHeader(self)
        self.setHorizontalHeader(self.header)
        self.setShowGrid(False)
        self.setStyleSheet("QTableWidget::item:selected { background: transparent; }")
        self.setEditTriggers(self.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollMode(self.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(CellPainter(self))
        self.setTabKeyNavigation(False)
        self.setAccessibleName(self.tr("Results"))
        self.chosen: Callable[[Row, int], None] = lambda row, column: None
        self._hand: tuple[str, int | None, str] | None = None  # node, port, column of the cell that a person chose
        self.currentCellChanged.connect(lambda row, column, *_: self._taken(row, column))

    def show_proof(self, proof: Verification, old: Verification | None, controller: Controller) -> None:
        """Fill the cells; a cell that a person chose stays in hand, until then it is the worst one."""
        self.columns = columns_of(proof)
        self.rows = sorted(
            rows_of(proof, self.columns, old, _ends(controller)), key=lambda r: (controller.number(r.node), r.port or 0)
        )
        self.blockSignals(True)
        self.setColumnCount(len(self.columns) + 1)
        self.setRowCount(len(self.rows))
        for c, text in enumerate([self.tr("Link"), *(head(c) for c in self.columns)]):
            item = Item(text)
            item.setData(CELL_ROLE, pass_mark(proof, self.columns[c - 1]) if c else "")
            self.setHorizontalHeaderItem(c, item)
        ways = _ways(controller)
        for r, row in enumerate(self.rows):
            self.setRowHeight(r, theme.current().px(ROW_PX))
            first = Item(row.node)
            first.setData(NUMBER_ROLE, controller.number(row.node))
            way = ways.get((row.node, row.port), "") if row.port is not None else ""
            first.setData(WAY_ROLE, " ".join(p for p in (f"P{row.port}" if row.port is not None else "", way) if p))
            self.setItem(r, 0, first)
            for c, cell in enumerate(row.cells, 1):
                item = Item(cell.text)
                item.setData(CELL_ROLE, cell)
                item.setToolTip(plain_tip("\n".join(f"{local(x.subject)}: {said(x)}" for x in cell.checks)))
                self.setItem(r, c, item)
        self._widths()
        place = self._place_in_hand()
        self.setCurrentCell(*(place or self._worst()))
        self.blockSignals(False)
        if place is None and self._passed(self.currentRow(), self.currentColumn()):
            self.horizontalScrollBar().setValue(0)  # nothing has to be shown there: the names of the machines have
        self._choose(self.currentRow(), self.currentColumn())

    def show_nothing(self) -> None:
        """Before the first check."""
        self.rows, self.columns, self._hand = [], (), None
        self.blockSignals(True)
        self.setRowCount(0)
        self.setColumnCount(0)
        self.blockSignals(False)

    def choose_worst(self, node: str) -> None:
        """Put the worst cell of one node in hand."""
        self.setCurrentCell(*self._worst(node))

    def _place_in_hand(self) -> tuple[int, int] | None:
        for r, row in enumerate(self.rows):
            for c, column in enumerate(self.columns, 1):
                if (row.node, row.port, column.key) == self._hand:
                    return r, c
        return None

    def _worst(self, node: str = "") -> tuple[int, int]:
        """The place of the worst cell; of the first measured one where all are fine."""
        for r, row in enumerate(self.rows):  # a node that was lost explains whatever else failed with it
            for c, cell in enumerate(row.cells, 1):
                lost = any(k.kind == "connection" and k.verdict is Verdict.FAIL for k in cell.checks)
                if lost and node in ("", row.node):
                    return r, c
        for verdict in (Verdict.FAIL, Verdict.DEGRADED, Verdict.NOT_AVAILABLE, Verdict.PASS):
            for r, row in enumerate(self.rows):
                if node and row.node != node:
                    continue
                for c, cell in enumerate(row.cells, 1):
                    measured = verdict is not Verdict.PASS or self.columns[c - 1].main == "bandwidth"
                    if cell.verdict is verdict and measured:
                        return r, c
        return -1, -1

    def keyPressEvent(self, event: QKeyEvent) -> None:
        theme.current().show_focus()
        super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._widths()

    def _widths(self) -> None:
        px = theme.current().px
        count = self.columnCount() - 1
        if count < 1:
            return
        link = px(LINK_PX)
        each = max(px(LEAST_PX), (self.viewport().width() - link) // count)
        self.setColumnWidth(0, link)
        for c in range(1, count + 1):
            self.setColumnWidth(c, each)

    def _taken(self, row: int, column: int) -> None:
        """A person moved on to this cell."""
        if 0 <= row < len(self.rows) and 1 <= column <= len(self.columns):
            self._hand = (self.rows[row].node, self.rows[row].port, self.columns[column - 1].key)
        self._choose(row, column)

    def _passed(self, row: int, column: int) -> bool:
        inside = 0 <= row < len(self.rows) and 1 <= column <= len(self.columns)
        return inside and self.rows[row].cells[column - 1].verdict is Verdict.PASS

    def _choose(self, row: int, column: int) -> None:
        if 0 <= row < len(self.rows) and 1 <= column <= len(self.columns):
            self.chosen(self.rows[row], column - 1)


def _ends(controller: Controller) -> dict[tuple[str, int | None], tuple[str, int | None]]:
    look = controller.look
    ends: dict[tuple[str, int | None], tuple[str, int | None]] = {}
    for cable in look.topology.cabling.cables if look is not None else ():
        ends[cable.a.node, cable.a.port] = (cable.b.node, cable.b.port)
        ends[cable.b.node, cable.b.port] = (cable.a.node, cable.a.port)
    return ends


def _ways(controller: Controller) -> dict[tuple[str, int | None], str]:
    """(node, port) -> where its cable goes."""
    look = controller.look
    ways: dict[tuple[str, int | None], str] = {}
    for cable in look.topology.cabling.cables if look is not None else ():
        for a, b in ((cable.a, cable.b), (cable.b, cable.a)):
            ways[a.node, a.port] = f"→ {b.node} P{b.port}"
    for link in look.topology.cabling.switch_links if look is not None else ():
        ways[link.port.node, link.port.port] = f"→ {link.switch_port or translate('switch')}"
    return ways


class TwoLineHeader(QHeaderView):
    """A word, and below it the pass mark."""

    def __init__(self, parent: QTableWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setHighlightSections(False)
        self.setSectionsClickable(False)
        self.setMinimumSectionSize(theme.current().px(60))

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), theme.current().px(HEAD_PX))

    def paintSection(self, painter: QPainter, rect: QRect, index: int) -> None:
        t = theme.current()
        c, px = t.tokens, t.px
        model = self.model()
        text = str(model.headerData(index, Qt.Orientation.Horizontal) or "")
        mark = str(model.headerData(index, Qt.Orientation.Horizontal, CELL_ROLE) or "")
        box = QRectF(rect)
        painter.save()
        painter.setPen(QPen(QColor(c.line), 1))
        painter.drawLine(box.bottomLeft(), box.bottomRight())
        room = box.adjusted(px(14 if index == 0 else 12), 0, -px(4), 0)
        painter.setFont(theme.font(theme.SECOND_PT * t.scale, QFont.Weight.Medium))
        painter.setPen(QColor(c.muted))
        if not mark:
            write(painter, room, LEFT, text)
        else:
            write(painter, room.adjusted(0, px(8), 0, -px(26)), LEFT, text)
            painter.setFont(theme.font(theme.SECOND_PT * t.scale))
            write(painter, room.adjusted(0, px(26), 0, -px(8)), LEFT, mark)
        painter.restore()


class CellPainter(QStyledItemDelegate):
    """Pass is a thin tick and plain text; only degraded and fail have a ground."""

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(option.rect)
        painter.fillRect(area, QColor(theme.current().tokens.surface))  # over the view's own selection
        if index.column() == 0:
            self._link(painter, area, index)
        else:
            cell = index.data(CELL_ROLE)
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            if isinstance(cell, Cell):
                self._cell(painter, area, cell, selected)
        painter.restore()

    def _link(self, p: QPainter, area: QRectF, index: QModelIndex | QPersistentModelIndex) -> None:
        t = theme.current()
        c, px = t.tokens, t.px
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(t.node_colour(index.data(NUMBER_ROLE) or 1)))
        p.drawRoundedRect(QRectF(area.left() + px(14), area.center().y() - px(5), px(10), px(10)), 3, 3)
        p.setPen(QColor(c.text))
        p.setFont(theme.font(theme.TEXT_PT * t.scale, QFont.Weight.DemiBold))
        room = area.adjusted(px(32), 0, -px(4), 0)
        place = QRectF(room.left(), room.top(), room.width() * 0.6, room.height())
        room.setLeft(room.left() + write(p, place, LEFT, index.data(), may_shorten=True) + px(8))
        p.setFont(theme.font(theme.SECOND_PT * t.scale))
        p.setPen(QColor(c.muted))
        write(p, room, LEFT, index.data(WAY_ROLE) or "", may_shorten=True)

    def _cell(self, p: QPainter, area: QRectF, cell: Cell, selected: bool) -> None:
        t = theme.current()
        c, px = t.tokens, t.px
        verdict = cell.verdict
        ground = {Verdict.DEGRADED: c.warn_soft, Verdict.FAIL: c.bad_soft}.get(verdict) if verdict else None
        inner = area.adjusted(px(4), px(3), -px(4), -px(3))
        if selected or ground:
            p.setPen(QPen(QColor(c.accent), 2) if selected else Qt.PenStyle.NoPen)
            p.setBrush(QColor(ground) if ground else Qt.BrushStyle.NoBrush)
            p.drawRoundedRect(inner, px(6), px(6))
        inks = {Verdict.DEGRADED: c.warn_text, Verdict.FAIL: c.bad_text, Verdict.NOT_AVAILABLE: c.muted}
        ink = inks.get(verdict, c.text) if verdict else c.faint
        left = inner.left() + px(8)
        if verdict is not None:
            name, colour = SIGN[verdict]
            size = px(14)
            paint_icon(p, name, QRectF(left, inner.center().y() - size / 2, size, size), getattr(c, colour))
            left += size + px(6)
        p.setFont(theme.font(10.0 * t.scale, QFont.Weight.DemiBold if ground else QFont.Weight.Normal))
        p.setPen(QColor(ink))
        room = QRectF(left, inner.top(), inner.right() - left - px(4), inner.height())
        place = room.adjusted(0, -px(8), 0, -px(8)) if cell.old else room
        if QFontMetricsF(p.font()).horizontalAdvance(cell.text) > place.width():
            p.setFont(theme.font(theme.SECOND_PT * t.scale, QFont.Weight.DemiBold if ground else QFont.Weight.Normal))
        write(p, place, LEFT, cell.text, may_shorten=True)  # its tool tip has all of it
        if cell.old:
            p.setFont(theme.font(8.0 * t.scale))
            p.setPen(QColor(c.muted))
            write(p, room.adjusted(0, px(9), 0, px(9)), LEFT, cell.old, may_shorten=True)
