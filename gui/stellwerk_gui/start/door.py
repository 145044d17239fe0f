"""One of the start page's three doors, and the program's mark above them."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.ink import CENTRE, LEFT, scaled_painter, wrapped, write, write_lines
from stellwerk_gui.widgets.pressing import EnterPresses


class Door(EnterPresses, QAbstractButton):
    """A large card with a drawing, a title, a number key and one sentence."""

    def __init__(self, title: str, text: str, key: str, drawing: str) -> None:
        super().__init__()
        self.title, self.text_line, self.key, self.drawing = title, text, key, drawing
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        t = theme.current()
        return QSize(t.px(302), t.px(252))

    def minimumSizeHint(self) -> QSize:
        t = theme.current()
        return QSize(t.px(230), t.px(252))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        box = QRectF(0, 0, self.width() / t.scale, self.height() / t.scale).adjusted(1, 1, -1, -1)
        p.setPen(QPen(QColor(c.accent if t.ringed(self) else c.card_line), 2 if t.ringed(self) else 1))
        p.setBrush(QColor(c.raised if self.underMouse() else c.surface))
        p.drawRoundedRect(box, 12, 12)
        p.setPen(QColor(c.line))
        above = self.parentWidget()
        doors = above.findChildren(Door) if above is not None else [self]
        short = max(door.lines() for door in doors) <= 2  # all of them are parted at the same height
        split = box.top() + (148 if short else 128)
        p.drawLine(QPointF(box.left(), split), QPointF(box.right(), split))
        self._draw(p, QPointF(box.center().x(), (box.top() + split) / 2))
        p.setFont(theme.font(theme.TITLE_PT, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        write(p, QRectF(box.left() + 18, split + 18, box.width() - 60, 24), LEFT, self.title)
        p.setFont(theme.font(theme.TEXT_PT))
        p.setPen(QColor(c.muted))
        write_lines(p, QRectF(box.left() + 18, split + 45, box.width() - 36, 56), self.text_line, 20 if short else 18)
        hint = QRectF(box.right() - 37, split + 19, 18, 20)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.raised if not self.underMouse() else c.hover))
        p.drawRoundedRect(hint, 4, 4)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        write(p, hint, CENTRE, self.key)
        p.end()

    def lines(self) -> int:
        """How many lines its sentence takes."""
        width = self.width() / theme.current().scale - 38
        return len(wrapped(QFontMetricsF(theme.font(theme.TEXT_PT)), self.text_line, width))

    def _draw(self, p: QPainter, middle: QPointF) -> None:
        c = theme.current().tokens
        p.setBrush(Qt.BrushStyle.NoBrush)
        grey, green = QPen(QColor(c.outline), 1.6), QPen(QColor(c.accent), 1.8)
        if self.drawing == "pair":
            p.setPen(grey)
            for dx in (-72, 36):
                p.drawRoundedRect(QRectF(middle.x() + dx, middle.y() - 18, 36, 36), 7, 7)
            p.setPen(green)
            for dx in (-41, 31):
                p.drawRoundedRect(QRectF(middle.x() + dx, middle.y() - 8, 10, 16), 2, 2)
            wave = QPainterPath(middle + QPointF(-31, 0))
            wave.cubicTo(middle + QPointF(-12, 4), middle + QPointF(-16, -16), middle + QPointF(0, -16))
            wave.cubicTo(middle + QPointF(16, -16), middle + QPointF(12, 4), middle + QPointF(31, 0))
            p.drawPath(wave)
            return
        if self.drawing == "virtual":
            grey.setStyle(Qt.PenStyle.DashLine)
        for row in (-1, 1):
            for i in range(4):
                x = middle.x() - 72 + i * 39
                p.setPen(grey)
                p.drawRoundedRect(QRectF(x, middle.y() + row * 29 - 10, 26, 20), 5, 5)
                p.setPen(green if self.drawing == "open" else grey)
                p.drawLine(QPointF(x + 13, middle.y() + row * 19), QPointF(x + 13, middle.y() + row * 9))
        p.setPen(grey)
        p.drawRoundedRect(QRectF(middle.x() - 76, middle.y() - 9, 150, 18), 5, 5)
        if self.drawing == "virtual":
            p.setPen(green)
            p.setBrush(QColor(c.surface))
            p.drawPolygon(
                [
                    QPointF(middle.x() - 9, middle.y() - 10),
                    QPointF(middle.x() + 10, middle.y()),
                    QPointF(middle.x() - 9, middle.y() + 10),
                ]
            )


class Mark(QWidget):
    """The program's mark: two tracks and a switch."""

    def __init__(self) -> None:
        super().__init__()
        side = theme.current().px(32)
        self.setFixedSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        p = scaled_painter(self)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(t.tokens.raised))
        p.drawRoundedRect(QRectF(0, 0, 32, 32), 7, 7)
        p.setPen(QPen(QColor(t.tokens.outline), 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        p.drawLine(QPointF(7, 21), QPointF(25, 21))
        way = QPainterPath(QPointF(7, 21))
        way.cubicTo(QPointF(15, 20.5), QPointF(16, 11.5), QPointF(25, 11))
        p.strokePath(way, QPen(QColor(t.tokens.accent), 2.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        p.setPen(Qt.PenStyle.NoPen)
        for x, y, colour in ((7, 21, t.tokens.accent), (25, 11, t.tokens.accent), (25, 21, t.tokens.outline)):
            p.setBrush(QColor(colour))
            p.drawEllipse(QPointF(x, y), 2.4, 2.4)
        p.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.ignore()
