"""What changes on one node: its files with their differences, then everything else in words."""

from __future__ import annotations

import difflib
import re

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QSyntaxHighlighter
from PySide6.QtWidgets import QAbstractButton, QApplication, QFrame, QPlainTextEdit, QVBoxLayout

from stellwerk.model.plan import Change, FileChange, FirewallChange, NodePlan, SysctlChange, UnitChange
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.widgets.controls import (
    Button,
    Elided,
    Icon,
    Note,
    Swatch,
    clear_layout,
    hbox,
    label,
    plain_tip,
    sentence,
    vbox,
)
from stellwerk_gui.widgets.fold import Fold
from stellwerk_gui.widgets.ink import LEFT, scaled_painter, write
from stellwerk_gui.widgets.pressing import EnterPresses

MAX_REASONS = 4  # above the files; more would hide them
MARGIN_PX = 46  # line number and mark, left of the text


class DiffPane(QFrame):
    """All changes of one node: a list of files, the diff of the chosen one, then the other changes in words."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self._column = vbox(self, margins=(1, 14, 0, 14), spacing=8)
        self._node: NodePlan | None = None

    def show_node(self, node: NodePlan, number: int) -> None:
        if node == self._node:
            return
        self._node = node
        clear_layout(self._column)
        head = hbox(spacing=8, margins=(16, 0, 12, 0))
        head.addWidget(Swatch(number))
        head.addWidget(label(node.node, "heading"))
        head.addWidget(Elided(self.tr("what would change"), "second-muted"), 1)
        copy = Button("", "icon", icon_name="copy", icon_colour="muted", name=self.tr("Copy the changes"))
        copy.clicked.connect(lambda: QApplication.clipboard().setText(changes_text(node)))
        head.addWidget(copy)
        self._column.addLayout(head)
        reasons = [row.why for row in node.rows if row.changed]
        reasons += [change.why for change in node.changes if isinstance(change, FileChange)]
        said = list(dict.fromkeys(sentence(why) for why in reasons if why))
        if said:
            wrap = hbox(margins=(15, 0, 16, 0))
            wrap.addWidget(Note("info", "", small=True, text=" ".join(said[:MAX_REASONS])))
            self._column.addLayout(wrap)
        if not node.changes:
            wrap = hbox(margins=(16, 0, 16, 0))
            wrap.addWidget(label(self.tr("Nothing changes on this node."), "muted", wrap=True))
            self._column.addLayout(wrap)
        files = [c for c in node.changes if isinstance(c, FileChange)]
        self._diff = DiffView()
        self._files(files)
        if files:
            self._diff.show_change(files[0])
            self._column.addWidget(self._diff, 1)
        self._others([c for c in node.changes if not isinstance(c, FileChange)])
        if not files:
            self._column.addStretch(1)
        if node.changes:
            text = self.tr(
                "A backup is taken first. If Stellwerk cannot reach the node afterwards, it goes back by itself "
                "within 90 s."
            )
            self._line("history", text)

    def _others(self, changes: list[Change]) -> None:
        """Everything that is no file: one line per kind, the rest of it behind that line."""
        kinds = (
            (SysctlChange, self.tr("then 1 kernel setting"), self.tr("then {n} kernel settings")),
            (FirewallChange, self.tr("then 1 firewall rule"), self.tr("then {n} firewall rules")),
        )
        left = list(changes)
        for kind, one, many in kinds:
            of_kind = [c for c in left if isinstance(c, kind)]
            left = [c for c in left if not isinstance(c, kind)]
            if of_kind:
                title = one if len(of_kind) == 1 else many.format(n=len(of_kind))
                self._fold(title, [words(c) for c in of_kind])
        for change in left:
            self._line("player-play", self.tr("then {what}").format(what=words(change)))

    def _fold(self, title: str, lines: list[str]) -> None:
        wrap = hbox(margins=(14, 0, 16, 0))
        wrap.addWidget(Fold(title, "", lines, small=True))
        self._column.addLayout(wrap)

    def _line(self, icon_name: str, text: str) -> None:
        row = hbox(spacing=8, margins=(16, 0, 16, 0))
        row.addWidget(Icon(icon_name, "muted", 14), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(text, "second-muted", wrap=True, selectable=True), 1)
        self._column.addLayout(row)

    def _files(self, files: list[FileChange]) -> None:
        rows: QVBoxLayout = vbox(spacing=2, margins=(8, 0, 8, 0))
        for change in files:
            row = FileRow(change, self.tr("new"), self.tr("gone"))
            row.setChecked(change is files[0])
            row.clicked.connect(lambda _=False, c=change: self._diff.show_change(c))
            rows.addWidget(row)
        self._column.addLayout(rows)


class FileRow(EnterPresses, QAbstractButton):
    """One file: its path, and how many lines come and go."""

    def __init__(self, change: FileChange, new: str, gone: str) -> None:
        super().__init__()
        self.change = change
        plus, minus = counts(change)
        self._new = new if change.before is None else gone if change.after is None else ""
        self._plus, self._minus = f"+{plus}", f"−{minus}"
        self.setCheckable(True)
        self.setAutoExclusive(True)
        self.setFixedHeight(theme.current().px(30))
        self.setToolTip(plain_tip(change.why))
        self.setAccessibleName(f"{change.path}, {self._new or f'{self._plus} {self._minus}'}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        box = QRectF(0, 0, self.width() / t.scale, self.height() / t.scale)
        if self.isChecked() or self.underMouse() or t.ringed(self):
            p.setPen(QColor(c.accent) if t.ringed(self) else Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.raised))
            p.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)
        paint_icon(p, "file", QRectF(8, 8, 14, 14), c.text)
        p.setFont(theme.font(theme.SECOND_PT))
        right = box.right() - 10
        marks = [(self._new, c.good_text)] if self._new else [(self._minus, c.bad_text), (self._plus, c.good_text)]
        for text, ink in marks:
            width = p.fontMetrics().horizontalAdvance(text)
            p.setPen(QColor(ink))
            write(p, QRectF(right - width, 0, width + 1, box.height()), LEFT, text)
            right -= width + 6
        p.setFont(theme.mono())
        p.setPen(QColor(c.text))
        place, middle = QRectF(28, 0, right - 36, box.height()), Qt.TextElideMode.ElideMiddle
        write(p, place, LEFT, self.change.path, may_shorten=True, mode=middle)
        p.end()


class DiffView(QPlainTextEdit):
    """A diff with line numbers, and + and − in the margin, not colour alone."""

    def __init__(self) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        t = theme.current()
        self.setFont(theme.mono(theme.SECOND_PT * t.scale))
        self.setStyleSheet("border-radius: 0; padding: 0; background: transparent;")
        self.setViewportMargins(t.px(MARGIN_PX), 0, 0, 0)
        self.setAccessibleName(self.tr("Difference"))
        self._marks: list[tuple[str, int]] = []
        self._colours = Colours(self)
        self._margin = _Margin(self)
        self.updateRequest.connect(lambda *_: self._margin.update())

    def show_change(self, change: FileChange) -> None:
        lines = diff_lines(change)
        before = after = 0
        self._marks = []
        for mark, _ in lines:
            before += mark != "+"
            after += mark != "-"
            self._marks.append((mark, before if mark == "-" else after))
        self.setPlainText("\n".join(text for _, text in lines))
        self._margin.update()

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        inner = self.contentsRect()
        self._margin.setGeometry(inner.left(), inner.top(), theme.current().px(MARGIN_PX), inner.height())

    def _grounds(self, painter: QPainter, width: float) -> list[tuple[QRectF, str, int]]:
        c = theme.current().tokens
        rows: list[tuple[QRectF, str, int]] = []
        block = self.firstVisibleBlock()
        while block.isValid() and block.blockNumber() < len(self._marks):
            box = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if box.top() > self.viewport().height():
                break
            mark, number = self._marks[block.blockNumber()]
            box = QRectF(0, box.top(), width, box.height())
            if mark in "+-":
                painter.fillRect(box, QColor(c.add_bg if mark == "+" else c.del_bg))
            rows.append((box, mark, number))
            block = block.next()
        return rows

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground of added and removed lines, below the text."""
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), QColor(theme.current().tokens.canvas))
        self._grounds(painter, self.viewport().width())
        painter.end()
        super().paintEvent(event)

    def paint_margin(self, widget: QFrame) -> None:
        t = theme.current()
        c = t.tokens
        painter = QPainter(widget)
        painter.fillRect(widget.rect(), QColor(c.canvas))
        painter.setFont(self.font())
        for box, mark, number in self._grounds(painter, widget.width()):
            painter.setPen(QColor(c.muted))
            right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(box.adjusted(0, 0, -t.px(20), 0), right, str(number))
            painter.setPen(QColor(c.good_text if mark == "+" else c.bad_text))
            painter.drawText(box.adjusted(0, 0, -t.px(4), 0), right, "−" if mark == "-" else mark)
        painter.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Tab:
            self.focusNextPrevChild(True)
            return
        super().keyPressEvent(event)


class Colours(QSyntaxHighlighter):
    """Keys, values and comments of YAML and of sysctl's files."""

    LINE = re.compile(r"^\s*(?:- )?(?:(?P<key>[\w./-]+)(?=\s*[:=]))?[:=]?(?P<rest>.*)$")

    def __init__(self, view: DiffView) -> None:
        super().__init__(view.document())
        theme.current().changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        c = theme.current().tokens
        if text.lstrip().startswith("#"):
            self.setFormat(0, len(text), QColor(c.code_com))
            return
        found = self.LINE.match(text)
        if found is None:
            return
        if found["key"] is not None:
            self.setFormat(found.start("key"), len(found["key"]), QColor(c.code_key))
        self.setFormat(found.start("rest"), len(found["rest"]), QColor(c.code_str))


class _Margin(QFrame):
    """Line numbers and marks."""

    def __init__(self, view: DiffView) -> None:
        super().__init__(view)
        self._view = view

    def paintEvent(self, event: QPaintEvent) -> None:
        self._view.paint_margin(self)


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
