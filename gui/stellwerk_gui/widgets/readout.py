"""The box beside a crosshair."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.graph_group import Series
from stellwerk_gui.widgets.ink import LEFT, RIGHT, scaled_painter, write

READOUT_W = 252


class Readout(QWidget):
    """The box beside the crosshair: time, and every series with its value."""

    ROW, HEAD, FOOT, COLUMNS = 16, 26, 8, 2

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._time, self._age = "", ""
        self._rows: list[tuple[Series, str]] = []
        self.hide()

    def show_rows(self, time: str, age: str, rows: list[tuple[Series, str]]) -> None:
        self._time, self._age, self._rows = time, age, rows
        t = theme.current()
        lines = -(-len(rows) // self.COLUMNS)
        self.setFixedSize(t.px(READOUT_W), t.px(self.HEAD + lines * self.ROW + self.FOOT))
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        painter = scaled_painter(self)
        width, height = self.width() / t.scale, self.height() / t.scale
        painter.setPen(QPen(QColor(c.line), 1))
        painter.setBrush(QColor(c.canvas))
        painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 6, 6)
        painter.setFont(theme.font(theme.SECOND_PT, QFont.Weight.DemiBold))
        painter.setPen(QColor(c.text))
        head = QRectF(12, 6, width - 24, 18)
        write(painter, head, LEFT, self._time)
        painter.setFont(theme.font(theme.SECOND_PT))
        painter.setPen(QColor(c.muted))
        write(painter, head, RIGHT, self._age)
        lines = -(-len(self._rows) // self.COLUMNS)
        column_w = (width - 24) / self.COLUMNS
        for i, (series, text) in enumerate(self._rows):
            x = 12 + (i // lines) * column_w
            row = QRectF(x, self.HEAD + (i % lines) * self.ROW, column_w - 10, self.ROW)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(series.colour))
            painter.drawRoundedRect(QRectF(row.left(), row.center().y() - 4, 8, 8), 2, 2)
            painter.setPen(QColor(c.text))
            used = write(painter, row, RIGHT, text)
            write(painter, row.adjusted(14, 0, -used - 6, 0), LEFT, series.name, may_shorten=True)
        painter.end()
