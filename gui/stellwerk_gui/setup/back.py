"""The back of the machine, for the one movement of a hand that mends a cable."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from stellwerk.model.fabric import Movement
from stellwerk_gui import theme
from stellwerk_gui.language import local
from stellwerk_gui.widgets.ink import CENTRE, LEFT, scaled_painter, write


class BackOfMachine(QWidget):
    """The back of the very machine with the plug to move: RJ45, port 0, port 1."""

    def __init__(self, movement: Movement) -> None:
        super().__init__()
        self.movement = movement
        self.setFixedHeight(theme.current().px(112))
        self.setAccessibleName(self.words())

    def words(self) -> str:
        m = self.movement
        back = self.tr("Back of {node}").format(node=m.plug.node)
        port = self.tr("Port {n}").format(n=m.plug.port)
        return f"{back}: {port}" + (f" → {local(str(m.to))}" if m.to else "")

    def _plain_ports(self, p: QPainter, body: QRectF) -> None:
        """Power, four USB-C, HDMI and the RJ45 beside port 0, to know the machine by."""
        y = body.center().y()
        if body.left() + 21 < body.right() - 176:
            p.drawEllipse(QPointF(body.left() + 16, y), 5, 5)
        for i in range(4):
            if body.left() + 32 + i * 21 + 15 > body.right() - 176:
                break
            p.drawRoundedRect(QRectF(body.left() + 32 + i * 21, y - 5, 15, 10), 5, 5)
        left = body.left() + 122
        if left + 24 < body.right() - 172:
            hdmi = [(0, -6), (22, -6), (22, 1), (17, 6), (5, 6), (0, 1)]
            p.drawPolygon(QPolygonF([QPointF(left + dx, y + dy) for dx, dy in hdmi]))
        jack = QRectF(body.right() - 168, y - 13, 28, 26)
        p.drawRoundedRect(jack, 2, 2)
        x, low = jack.center().x(), jack.bottom()
        notch = [(-9, 0), (-9, -7), (-4, -7), (-4, -11), (4, -11), (4, -7), (9, -7), (9, 0)]
        p.drawPolyline(QPolygonF([QPointF(x + dx, low + dy) for dx, dy in notch]))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        width, height = self.width() / t.scale, self.height() / t.scale
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.canvas))
        p.drawRoundedRect(QRectF(0, 0, width, height), 6, 6)
        body = QRectF(8, 24, width - 16, 54)
        p.setPen(QPen(QColor(c.line), 1))
        p.setBrush(QColor(c.raised))
        p.drawRoundedRect(body, 6, 6)
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(c.outline), 1.3))
        self._plain_ports(p, body)
        places = {
            0: QRectF(body.right() - 122, body.center().y() - 11, 50, 22),
            1: QRectF(body.right() - 60, body.center().y() - 11, 50, 22),
        }
        same = self.movement.to is not None and self.movement.to.node == self.movement.plug.node
        p.setFont(theme.font(theme.SECOND_PT))
        for number, box in places.items():
            here = number == self.movement.plug.port
            there = same and self.movement.to is not None and number == self.movement.to.port
            swap = self.movement.kind == "swap"
            plugged = (here and self.movement.kind in ("move", "pull", "swap")) or (there and swap)
            colour = c.bad if plugged else c.accent if there or here else c.outline
            pen = QPen(QColor(colour), 1.6)
            if (there and not swap) or (here and self.movement.kind == "plug"):
                pen.setStyle(Qt.PenStyle.DashLine)
            p.setPen(pen)
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRoundedRect(box, 3, 3)
            if plugged:
                p.setPen(Qt.PenStyle.NoPen)
                p.setBrush(QColor(c.bad))
                p.drawRoundedRect(box.adjusted(7, 6, -7, -6), 2, 2)
            ink = c.bad_text if plugged else c.accent_text if there or here else c.muted
            p.setPen(QColor(ink))
            words = self.tr("Port {n}").format(n=number)
            write(p, QRectF(box.left() - 5, body.bottom() + 6, box.width() + 10, 16), CENTRE, words)
        if same and self.movement.kind in ("move", "swap"):
            a, b = places[self.movement.plug.port], places[1 - self.movement.plug.port]
            path = QPainterPath(a.center() - _up(13))
            path.cubicTo(a.center() - _up(34), b.center() - _up(34), b.center() - _up(13))
            p.setPen(QPen(QColor(c.accent), 2))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawPath(path)
            for end in (a, b) if self.movement.kind == "swap" else (b,):
                tip = end.center() - _up(12)
                p.drawLine(tip, tip - _up(7) + _right(-4))
                p.drawLine(tip, tip - _up(7) + _right(4))
        p.setPen(QColor(c.muted))
        words = self.tr("Back of {node}").format(node=self.movement.plug.node)
        low = QRectF(10, body.bottom() + 6, body.right() - 190, 16)
        # In a narrow panel the words go above the machine, left of the arrow.
        place = low if low.width() > 110 else QRectF(10, 4, width - 20, 16)
        write(p, place, LEFT, words, may_shorten=True)
        write(p, QRectF(body.right() - 176, body.bottom() + 6, 44, 16), CENTRE, "RJ45")
        p.end()


def _up(y: float) -> QPointF:
    return QPointF(0, y)


def _right(x: float) -> QPointF:
    return QPointF(x, 0)
