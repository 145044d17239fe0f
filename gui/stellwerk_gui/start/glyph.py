"""A cluster's shape as a small drawing: machines as squares, cables as lines."""

from __future__ import annotations

import itertools

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

SIDE, GAP = 7.0, 3.0


def paint_glyph(painter: QPainter, box: QRectF, kind: str, count: int, colour: str) -> None:
    """`kind`: switch, ring, chain, pair, single or "" where it is not known yet."""
    painter.save()
    painter.setPen(QPen(QColor(colour), 1.2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    middle = box.center()
    if kind == "switch":
        _switch(painter, middle, max(2, count))
    elif kind == "ring" and count > 2:
        _ring(painter, middle, count)
    else:
        _row(painter, middle, max(1, min(count, 4)), cabled=kind in ("pair", "chain", "ring"))
    painter.restore()


def _square(painter: QPainter, centre: QPointF) -> None:
    painter.drawRoundedRect(QRectF(centre.x() - SIDE / 2, centre.y() - SIDE / 2, SIDE, SIDE), 2, 2)


def _switch(painter: QPainter, middle: QPointF, count: int) -> None:
    top = min(4, -(-count // 2))
    bottom = min(4, count - top)
    wide = 4 * SIDE + 3 * GAP - 4
    painter.setBrush(painter.pen().color())
    painter.drawRoundedRect(QRectF(middle.x() - wide / 2, middle.y() - 1.0, wide, 2), 1, 1)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for number, side in ((top, -1), (bottom, 1)):
        for i in range(number):
            x = middle.x() + (i - (number - 1) / 2) * (SIDE + 2)
            painter.drawLine(QLineF(x, middle.y() + side * 1.5, x, middle.y() + side * 4.5))
            _square(painter, QPointF(x, middle.y() + side * 8))


def _ring(painter: QPainter, middle: QPointF, count: int) -> None:
    columns = min(4, -(-count // 2))
    step = SIDE + 6
    places = [
        QPointF(middle.x() + (i - (columns - 1) / 2) * step, middle.y() + side * 8)
        for side in (-1, 1)
        for i in (range(columns) if side < 0 else reversed(range(columns)))
    ]
    if count == 3:
        places = [places[0], places[1], QPointF(middle.x(), middle.y() + 8)]
    for here, there in zip(places, [*places[1:], places[0]], strict=True):
        line = QLineF(here, there)
        cut = (SIDE / 2 + 0.5) / line.length()
        painter.drawLine(QLineF(line.pointAt(cut), line.pointAt(1 - cut)))
    for place in places:
        _square(painter, place)


def _row(painter: QPainter, middle: QPointF, count: int, cabled: bool) -> None:
    step = SIDE + 10
    xs = [middle.x() + (i - (count - 1) / 2) * step for i in range(count)]
    for x in xs:
        _square(painter, QPointF(x, middle.y()))
    for left, right in itertools.pairwise(xs) if cabled else ():
        painter.drawLine(QLineF(left + SIDE / 2, middle.y(), right - SIDE / 2, middle.y()))
