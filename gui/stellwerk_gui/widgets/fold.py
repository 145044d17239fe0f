"""A line that opens: its details lie below it, and stay away until somebody wants them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.widgets.controls import label, scroll_area, vbox
from stellwerk_gui.widgets.ink import LEFT, RIGHT, scaled_painter, write
from stellwerk_gui.widgets.pressing import EnterPresses

MOST_PX = 160  # of the details: more than that scrolls


class Fold(QWidget):
    """`title` at the left, `note` in small type at the right, `lines` below once it is open."""

    def __init__(self, title: str, note: str, lines: Sequence[str], *, small: bool = False) -> None:
        super().__init__()
        column = vbox(self, spacing=2)
        self.head = FoldHead(title, note, small)
        column.addWidget(self.head)
        inner = QWidget()
        rows = vbox(inner, margins=(22, 2, 0, 4), spacing=2)
        for line in lines:
            rows.addWidget(label(line, "second-muted", wrap=True, selectable=True))
        rows.addStretch(1)
        self.details = scroll_area(inner, sideways=False)
        self.details.setFixedHeight(theme.current().px(min(MOST_PX, 8 + 19 * max(1, len(lines)))))
        self.details.hide()
        column.addWidget(self.details)
        self.head.toggled.connect(self.details.setVisible)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)


class FoldHead(EnterPresses, QAbstractButton):
    """The line itself."""

    def __init__(self, title: str, note: str, small: bool) -> None:
        super().__init__()
        self._title, self._note = title, note
        self._points = theme.SECOND_PT if small else theme.TEXT_PT
        self.setCheckable(True)
        self.setAccessibleName(f"{title}, {note}" if note else title)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(theme.current().px(28))

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(120), theme.current().px(28))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        box = QRectF(0, 0, self.width() / t.scale, self.height() / t.scale)
        if t.ringed(self):
            p.setPen(QPen(QColor(c.accent), 2))
            p.drawRoundedRect(box.adjusted(1, 1, -1, -1), 4, 4)
        icon = "chevron-down" if self.isChecked() else "chevron-right"
        paint_icon(p, icon, QRectF(0, 7, 14, 14), c.muted)
        note_w = QFontMetricsF(theme.font(theme.SECOND_PT)).horizontalAdvance(self._note)
        p.setFont(theme.font(self._points))
        p.setPen(QColor(c.text if self._points > theme.SECOND_PT else c.muted))
        used = write(p, QRectF(22, 0, box.width() - 22, box.height()), LEFT, self._title)
        if note_w and 22 + used + 12 + note_w <= box.width():
            p.setFont(theme.font(theme.SECOND_PT))
            p.setPen(QColor(c.muted))
            write(p, QRectF(box.right() - note_w, 0, note_w, box.height()), RIGHT, self._note)
        p.end()
