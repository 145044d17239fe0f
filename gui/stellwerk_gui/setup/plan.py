"""Step 4: every half, now and then; beside it the diff of the node in hand."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QKeyEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFrame,
    QPlainTextEdit,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
)

from stellwerk.model.plan import Change, FileChange, FirewallChange, NodePlan, Plan, SysctlChange, UnitChange
from stellwerk_gui import theme
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.controls import Button, Note, Swatch, clear_layout, hbox, label, vbox

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller

COLUMNS = ("", "Port", "Half", "Interface", "To", "Address now", "Planned", "MTU")


class PlanStep(StepPage):
    """The table of all nodes and the diff of one."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(
            controller, controller.tr("Plan"), controller.tr("What would be changed. Nothing has been changed so far.")
        )
        row = hbox(spacing=8)
        row.addWidget(label(self.tr("MTU"), "second-muted"))
        self.mtu = QComboBox()
        self.mtu.setAccessibleName(self.tr("MTU"))
        self.mtu.addItem("9000", 9000)
        self.mtu.addItem("1500", 1500)
        self.mtu.currentIndexChanged.connect(lambda: self._replan())
        row.addWidget(self.mtu)
        self.notes = label("", "second-muted", wrap=True)
        row.addWidget(self.notes, 1)
        self.column.addLayout(row)
        self.problem = Note("bad")
        self.problem.hide()
        self.column.addWidget(self.problem)
        self.table = PlanTable()
        self.table.node_chosen.connect(self._show_node)
        self.column.addWidget(self.table, 1)
        self.pane = DiffPane()
        self.set_panel(self.pane, 416)
        self.save = Button(self.tr("Save plan"), "ghost", icon_name="upload", on_click=self._save)
        controller.plan_changed.connect(self._refresh)
        controller.look_changed.connect(self._look_arrived)
        self._wanted_plan = False

    def entered(self) -> None:
        self._replan()

    def _replan(self) -> None:
        if not self.isVisible():
            return
        if self.controller.look is None:
            self._wanted_plan = True
            self.controller.look_once()
            return
        self.problem.hide()
        self.controller.make_plan(mtu=self.mtu.currentData(), failed=self._failed)

    def _look_arrived(self) -> None:
        if self._wanted_plan:
            self._wanted_plan = False
            self._replan()

    def _failed(self, error: object) -> None:
        self.problem.show_text("bad", self.tr("No plan can be made"), str(error))
        self.problem.show()

    def _refresh(self) -> None:
        plan = self.controller.plan
        if plan is None:
            return
        self.table.show_plan(plan, self.controller)
        self.notes.setText("  ".join((*plan.warnings, *plan.notes)))
        changing = [n for n in plan.nodes if n.changes]
        first = changing[0] if changing else (plan.nodes[0] if plan.nodes else None)
        if first is not None:
            self._show_node(first.node)
        self.changed.emit()

    def _show_node(self, name: str) -> None:
        plan = self.controller.plan
        node = next((n for n in plan.nodes if n.node == name), None) if plan is not None else None
        if node is not None:
            self.pane.show_node(node, self.controller.number(name))

    def _save(self) -> None:
        self.controller.save_plan(self.window())

    def note(self) -> str:
        plan = self.controller.plan
        if plan is None:
            return ""
        count = sum(bool(n.changes) for n in plan.nodes)
        return self.tr("%n node(s) change", "", count) if count else self.tr("Nothing to change")

    def next_label(self) -> str:
        plan = self.controller.plan
        count = sum(bool(n.changes) for n in plan.nodes) if plan is not None else 0
        if plan is not None and plan.empty:
            return self.tr("Go on, nothing to apply")
        return self.tr("Apply to %n node(s)", "", count)

    def footer_buttons(self) -> tuple[Button, ...]:
        return (self.save,)


class PlanTable(QTreeWidget):
    """Nodes with their halves. Up and Down move, Right and Left fold, the pane follows."""

    node_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setColumnCount(len(COLUMNS))
        self.setHeaderLabels(list(COLUMNS))
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(False)
        self.setAccessibleName(self.tr("Plan"))
        self.setIndentation(theme.current().px(12))
        self.currentItemChanged.connect(self._moved)

    def show_plan(self, plan: Plan, controller: Controller) -> None:
        self.clear()
        t = theme.current()
        for node in plan.nodes:
            top = QTreeWidgetItem()
            self.addTopLevelItem(top)
            top.setFirstColumnSpanned(True)
            top.setData(0, Qt.ItemDataRole.UserRole, node.node)
            top.setText(0, f"    {node.node}    {self._summary(node)}")
            top.setFont(0, theme.font(theme.TEXT_PT * t.scale, QFont.Weight.DemiBold))
            top.setIcon(0, _swatch(controller.number(node.node)))
            for row in node.rows:
                mtu = "" if row.mtu_now is None else str(row.mtu_now)
                if row.mtu_then is not None and row.mtu_then != row.mtu_now:
                    mtu = f"{mtu or '–'} → {row.mtu_then}"
                cells = (
                    "",
                    str(row.port),
                    row.half,
                    row.netdev,
                    row.peer or "",
                    ", ".join(row.now) or self.tr("no address"),
                    (row.then or "") if row.changed else self.tr("as it is"),
                    mtu,
                )
                item = QTreeWidgetItem(list(cells))
                item.setData(0, Qt.ItemDataRole.UserRole, node.node)
                item.setFont(3, theme.mono(theme.SECOND_PT * t.scale))
                item.setToolTip(6, row.why)
                if not row.changed:
                    for column in range(len(cells)):
                        item.setForeground(column, QColor(t.tokens.muted))
                top.addChild(item)
            top.setExpanded(True)
        for column in range(1, len(COLUMNS)):
            self.resizeColumnToContents(column)
        self.setColumnWidth(0, t.px(28))

    def _summary(self, node: NodePlan) -> str:
        if not node.changes:
            return self.tr("Nothing to change, adopted as it is")
        files = sum(isinstance(c, FileChange) for c in node.changes)
        return self.tr("%n file(s) change", "", files) if files else self.tr("settings change")

    def _moved(self, item: QTreeWidgetItem | None) -> None:
        if item is not None:
            self.node_chosen.emit(item.data(0, Qt.ItemDataRole.UserRole))


def _swatch(number: int) -> QIcon:
    t = theme.current()
    side = t.px(10)
    image = QPixmap(side, side)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(t.node_colour(number)))
    painter.drawRoundedRect(0, 0, side, side, 3, 3)
    painter.end()
    return QIcon(image)


class DiffPane(QFrame):
    """All changes of one node: a list of files, the diff of the chosen one, then the other changes in words."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self._column = vbox(self, margins=(16, 16, 0, 16), spacing=8)
        self._node: NodePlan | None = None

    def show_node(self, node: NodePlan, number: int) -> None:
        if node == self._node:
            return
        self._node = node
        clear_layout(self._column)
        head = hbox(spacing=8, margins=(0, 0, 16, 0))
        head.addWidget(Swatch(number))
        head.addWidget(label(node.node, "heading"))
        head.addWidget(label(self.tr("what would change"), "second-muted"))
        head.addStretch(1)
        copy = Button("", "icon", icon_name="copy", icon_colour="muted", name=self.tr("Copy the changes"))
        copy.clicked.connect(lambda: QApplication.clipboard().setText(changes_text(node)))
        head.addWidget(copy)
        self._column.addLayout(head)
        reasons = [row.why for row in node.rows if row.changed and row.why]
        if reasons:
            note = Note("info", "", reasons[0])
            wrap = hbox(margins=(0, 0, 16, 0))
            wrap.addWidget(note)
            self._column.addLayout(wrap)
        if not node.changes:
            self._column.addWidget(label(self.tr("Nothing changes on this machine."), "muted", wrap=True))
        files = [c for c in node.changes if isinstance(c, FileChange)]
        self._diff = DiffView()
        self._files(files, self._column)
        if files:
            self._diff.show_change(files[0])
            self._column.addWidget(self._diff, 1)
        for text in [words(c) for c in node.changes if not isinstance(c, FileChange)][:12]:
            self._column.addWidget(label(text, "second-muted", wrap=True))
        if not files:
            self._column.addStretch(1)
        if node.changes:
            self._column.addWidget(
                label(
                    self.tr("A backup is taken first. Without confirmation the node goes back by itself after 90 s."),
                    "second-muted",
                    wrap=True,
                )
            )

    def _files(self, files: list[FileChange], column: QVBoxLayout) -> None:
        for change in files:
            plus, minus = counts(change)
            mark = self.tr("new") if change.before is None else f"+{plus} −{minus}"
            row = Button(f"{change.path}    {mark}", "row", icon_name="file", icon_colour="muted")
            row.setCheckable(True)
            row.setAutoExclusive(True)
            row.setChecked(change is files[0])
            row.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
            row.setToolTip(change.why)
            row.clicked.connect(lambda _=False, c=change: self._diff.show_change(c))
            column.addWidget(row)


class DiffView(QPlainTextEdit):
    """A diff with + and − in the margin, not colour alone."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setFont(theme.mono(theme.SECOND_PT * theme.current().scale))
        self.setAccessibleName(self.tr("Difference"))
        self._marks: list[str] = []

    def show_change(self, change: FileChange) -> None:
        lines = diff_lines(change)
        self._marks = [mark for mark, _ in lines]
        self.setPlainText("\n".join(f"{mark} {text}" for mark, text in lines))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground of added and removed lines, below the text."""
        c = theme.current().tokens
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), QColor(c.canvas))
        block = self.firstVisibleBlock()
        while block.isValid():
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > self.viewport().height():
                break
            mark = self._marks[block.blockNumber()] if block.blockNumber() < len(self._marks) else " "
            if mark in "+-":
                box.setWidth(self.viewport().width())
                box.setLeft(0)
                painter.fillRect(box, QColor(c.add_bg if mark == "+" else c.del_bg))
            block = block.next()
        painter.end()
        super().paintEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Tab:
            self.focusNextChild()
            return
        super().keyPressEvent(event)


def diff_lines(change: FileChange) -> list[tuple[str, str]]:
    """Lines with their mark: " ", "+" or "-"."""
    before = (change.before or "").splitlines()
    after = (change.after or "").splitlines()
    return [(line[0], line[2:]) for line in difflib.ndiff(before, after) if line[0] in " +-"]


def counts(change: FileChange) -> tuple[int, int]:
    """Added and removed lines."""
    lines = diff_lines(change)
    return sum(mark == "+" for mark, _ in lines), sum(mark == "-" for mark, _ in lines)


def words(change: Change) -> str:
    """A change that is no file, in one line."""
    if isinstance(change, SysctlChange):
        return f"sysctl {change.key} = {change.after}"
    if isinstance(change, FirewallChange):
        return f"iptables -t {change.table} -I {change.chain} {' '.join(change.rule)}"
    if isinstance(change, UnitChange):
        return f"systemd unit {change.name}"
    if isinstance(change, FileChange):
        return f"file {change.path}"
    return " ".join(change.argv)


def changes_text(node: NodePlan) -> str:
    """Everything that changes on a node, for the clipboard."""
    parts: list[str] = []
    for change in node.changes:
        if isinstance(change, FileChange):
            parts.append(f"--- {change.path}")
            parts += [f"{mark} {text}" for mark, text in diff_lines(change)]
        else:
            parts.append(words(change))
    return "\n".join(parts) + "\n"
