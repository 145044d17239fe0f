"""The plan as a table: a head per node, a line per half, now and then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeWidget,
    QTreeWidgetItem,
)

from stellwerk.model.plan import FileChange, NodePlan, Plan
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.widgets.controls import plain_tip
from stellwerk_gui.widgets.ink import CENTRE, LEFT, RIGHT, write

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller

ROW_PX, HEAD_PX = 28, 31
NODE_ROLE = int(Qt.ItemDataRole.UserRole)
SUMMARY_ROLE, NUMBER_ROLE, ADOPTED_ROLE, CHANGED_ROLE, OLD_ROLE = (NODE_ROLE + i for i in range(1, 6))
WIDTHS = (24, 46, 56, 118, 88, 126, 122, 104)
PORT, HALF, INTERFACE, TO, NOW, THEN, MTU = range(1, 8)
AnyIndex = QModelIndex | QPersistentModelIndex


class PlanTable(QTreeWidget):
    """Nodes with their halves. Up and Down move, Right and Left fold, the pane follows."""

    node_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        heads = ["", self.tr("Port"), self.tr("Half"), self.tr("Interface"), self.tr("To")]
        heads += [self.tr("Address now"), self.tr("Planned"), self.tr("MTU")]
        self.setColumnCount(len(heads))
        self.setHeaderLabels(heads)
        self.headerItem().setTextAlignment(MTU, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(False)
        self.setIndentation(0)
        self.setAccessibleName(self.tr("Plan"))
        self.setStyleSheet("QTreeWidget::item:selected { background: transparent; }")
        self.setHorizontalScrollMode(self.ScrollMode.ScrollPerPixel)
        self.setItemDelegate(PlanPainter(self))
        header = self.header()
        header.setSectionsMovable(False)
        header.setMinimumSectionSize(theme.current().px(28))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.currentItemChanged.connect(self._moved)
        self.itemClicked.connect(self._clicked)

    def show_plan(self, plan: Plan, controller: Controller) -> None:
        """Build the rows anew; the node in hand stays in hand."""
        current = self.currentItem()
        chosen = current.data(0, NODE_ROLE) if current is not None else None
        self.blockSignals(True)
        self.clear()
        for node in plan.nodes:
            top = self._head(node, controller.number(node.node))
            self.addTopLevelItem(top)
            top.setFirstColumnSpanned(True)
            shown_port: int | None = None
            for row in node.rows:
                mtu = "–" if row.mtu_now is None else str(row.mtu_now)
                changes = row.mtu_then is not None and row.mtu_then != row.mtu_now
                cells = (
                    "",
                    str(row.port) if row.port != shown_port else "",
                    row.half,
                    row.netdev,
                    (row.peer or "").replace(" port ", " P") if row.port != shown_port else "",
                    ", ".join(row.now) or self.tr("no address"),
                    (row.then or "") if row.changed else self.tr("as it is"),
                    str(row.mtu_then) if changes else mtu,
                )
                shown_port = row.port
                item = QTreeWidgetItem(list(cells))
                item.setData(0, NODE_ROLE, node.node)
                item.setData(0, CHANGED_ROLE, row.changed)
                item.setData(0, OLD_ROLE, mtu if changes else "")
                item.setToolTip(THEN, plain_tip(row.why))
                item.setToolTip(NOW, plain_tip("\n".join(row.now)))
                item.setToolTip(TO, plain_tip(row.peer or ""))
                top.addChild(item)
            top.setExpanded(True)
        self._fit()
        self.blockSignals(False)
        self._choose(chosen)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """The last column takes what is left; a stretched one would shrink, too, and cut its numbers off."""
        widths = [theme.current().px(width) for width in WIDTHS]
        widths[MTU] = max(widths[MTU], self.viewport().width() - sum(widths[:MTU]))
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)

    def _choose(self, name: str | None) -> None:
        for i in range(self.topLevelItemCount()):
            item = self.topLevelItem(i)
            if item is not None and (name is None or item.data(0, NODE_ROLE) == name):
                self.setCurrentItem(item)
                return

    def _head(self, node: NodePlan, number: int) -> QTreeWidgetItem:
        top = QTreeWidgetItem()
        top.setData(0, NODE_ROLE, node.node)
        top.setData(0, SUMMARY_ROLE, self._summary(node))
        top.setData(0, NUMBER_ROLE, number)
        top.setData(0, ADOPTED_ROLE, self.tr("Changes") if node.changes else self.tr("Adopted"))
        top.setData(0, CHANGED_ROLE, bool(node.changes))
        top.setText(0, node.node)
        top.setData(0, int(Qt.ItemDataRole.AccessibleTextRole), f"{node.node}, {self._summary(node)}")
        return top

    def _summary(self, node: NodePlan) -> str:
        if not node.changes:
            return self.tr("Nothing to change: it is right as it is")
        files = [c for c in node.changes if isinstance(c, FileChange)]
        if not files:
            return self.tr("settings change")
        if all(c.before == c.after for c in files):
            one = self.tr("1 file is put into effect again")
            return one if len(files) == 1 else self.tr("{n} files are put into effect again").format(n=len(files))
        if all(c.before is None for c in files):
            one = self.tr("1 file is new")
            return one if len(files) == 1 else self.tr("{n} files are new").format(n=len(files))
        return self.tr("1 file changes") if len(files) == 1 else self.tr("{n} files change").format(n=len(files))

    def _moved(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.node_chosen.emit(item.data(0, NODE_ROLE))
            self.viewport().update()

    def _clicked(self, item: QTreeWidgetItem, column: int) -> None:
        # A click on the arrow folds; anywhere else it only chooses.
        x = self.viewport().mapFromGlobal(self.cursor().pos()).x()
        if item.parent() is None and 0 <= x < theme.current().px(28):
            item.setExpanded(not item.isExpanded())

    def chosen_node(self) -> str:
        item = self.currentItem()
        return str(item.data(0, NODE_ROLE)) if item is not None else ""


class PlanPainter(QStyledItemDelegate):
    """Heads of 31 px with swatch, name, summary and tag; lines of 28 px."""

    def __init__(self, table: PlanTable) -> None:
        super().__init__(table)
        self._table = table

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        head = not index.parent().isValid()
        return QSize(theme.current().px(40), theme.current().px(HEAD_PX if head else ROW_PX))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(option.rect)
        painter.fillRect(box, QColor(theme.current().tokens.surface))  # over the view's own selection
        if not index.parent().isValid():
            if index.column() == 0:
                self._head(painter, box, index)
        else:
            selected = bool(option.state & QStyle.StateFlag.State_Selected)
            self._cell(painter, box, index, selected)
        painter.restore()

    def _head(self, p: QPainter, box: QRectF, index: AnyIndex) -> None:
        t = theme.current()
        c, px = t.tokens, t.px
        chosen = index.data(NODE_ROLE) == self._table.chosen_node()
        if chosen:
            p.fillRect(box, QColor(c.accent_soft))
        p.setPen(QPen(QColor(c.line), 1))
        p.drawLine(box.bottomLeft(), box.bottomRight())
        middle = box.center().y()
        item = self._table.itemFromIndex(index)
        arrow = "chevron-down" if item is not None and item.isExpanded() else "chevron-right"
        paint_icon(p, arrow, QRectF(box.left() + px(11), middle - px(7), px(14), px(14)), c.muted)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(t.node_colour(index.data(NUMBER_ROLE))))
        p.drawRoundedRect(QRectF(box.left() + px(34), middle - px(5), px(10), px(10)), 3, 3)
        p.setFont(theme.font(theme.TEXT_PT * t.scale, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        left = box.left() + px(54)
        place = QRectF(left, box.top(), px(180), box.height())
        left += write(p, place, LEFT, index.data(), may_shorten=True) + px(10)
        p.setFont(theme.font(theme.SECOND_PT * t.scale))
        tag = index.data(ADOPTED_ROLE)
        changes = bool(index.data(CHANGED_ROLE))
        width = p.fontMetrics().horizontalAdvance(tag) + px(14 if changes else 34)
        place = QRectF(box.right() - px(10) - width, middle - px(10), width, px(20))
        p.setPen(QColor(c.muted))
        room = place.left() - left - px(8)
        write(p, QRectF(left, box.top(), room, box.height()), LEFT, index.data(SUMMARY_ROLE), may_shorten=True)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.raised if changes else c.good_soft))
        p.drawRoundedRect(place, 4, 4)
        p.setPen(QColor(c.muted if changes else c.good_text))
        if not changes:
            paint_icon(p, "check", QRectF(place.left() + px(8), middle - px(7), px(14), px(14)), c.good_text)
            place.setLeft(place.left() + px(20))
        write(p, place, CENTRE, tag)

    def _cell(self, p: QPainter, box: QRectF, index: AnyIndex, selected: bool) -> None:
        t = theme.current()
        c, px = t.tokens, t.px
        if selected:
            p.fillRect(box, QColor(c.accent_soft))
        first = index.sibling(index.row(), 0)
        changed = bool(first.data(CHANGED_ROLE))
        column = index.column()
        p.setFont(theme.mono(theme.SECOND_PT * t.scale) if column == INTERFACE else theme.font(10.0 * t.scale))
        quiet = not changed or column in (TO, NOW)
        p.setPen(QColor(c.muted if quiet else c.text))
        room = box.adjusted(px(12), 0, -px(4), 0)
        if column == THEN and changed:
            p.setFont(theme.font(10.0 * t.scale, QFont.Weight.Medium))
        if column == MTU:
            self._mtu(p, room.adjusted(-px(12), 0, -px(8), 0), str(index.data() or ""), first.data(OLD_ROLE))
            return
        write(p, room, LEFT, str(index.data() or ""), may_shorten=column in (TO, NOW))  # the tool tip has it whole

    def _mtu(self, p: QPainter, room: QRectF, text: str, old: str) -> None:
        write(p, room, RIGHT, text)
        if old:
            p.setPen(QColor(theme.current().tokens.muted))
            left = room.adjusted(0, 0, -p.fontMetrics().horizontalAdvance(text), 0)
            write(p, left, RIGHT, f"{old} → ")
