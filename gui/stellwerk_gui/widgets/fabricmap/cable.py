"""Paints one cable: a casing for capacity, a strand per half for load, dashes for direction."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.theme import Tokens
from stellwerk_gui.widgets.fabricmap.layout import Anchor
from stellwerk_gui.widgets.fabricmap.view import CableView, HalfView

LOAD_STEPS_GBPS = (1.0, 8.0, 30.0, 70.0)
STRAND_WIDTHS = (1.5, 2.0, 2.5, 3.0, 3.5)
CASING_W, STRAND_APART = 11.0, 4.8
DASH_ON, DASH_OFF = 5.0, 19.0


def load_step(gbps: float) -> int:
    """0..4: how bright and wide a strand is at this traffic."""
    return sum(gbps >= limit for limit in LOAD_STEPS_GBPS)


def cable_path(a: Anchor, b: Anchor, shift: float = 0.0) -> QPainterPath:
    """A smooth line from edge to edge, moved sideways by `shift`."""
    distance = ((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5
    pull = max(24.0, min(160.0, distance * 0.45))
    (anx, any_), (bnx, bny) = a.normal, b.normal
    # Sideways of the direction in which the cable leaves; the far end is mirrored, so that strands do not cross.
    ax, ay = a.x - any_ * shift, a.y + anx * shift
    bx, by = b.x + bny * shift, b.y - bnx * shift
    path = QPainterPath(QPointF(ax, ay))
    path.cubicTo(QPointF(ax + anx * pull, ay + any_ * pull), QPointF(bx + bnx * pull, by + bny * pull), QPointF(bx, by))
    return path


def paint_cable(painter: QPainter, cable: CableView, a: Anchor, b: Anchor, phase: float, selected: bool) -> None:
    """Draw the line; `phase` 0..1 moves the traffic dashes, a negative one leaves them out."""
    t = theme.current()
    c = t.tokens
    path = cable_path(a, b)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    if cable.state in ("missing", "belongs"):
        pen = QPen(QColor(c.outline), 2.0, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.RoundCap)
        pen.setDashPattern([0.1, 2.6])
        painter.strokePath(path, pen)
        return
    casing = c.bad_soft if cable.state == "bad" else c.accent if selected else c.casing
    painter.strokePath(path, QPen(QColor(casing), CASING_W, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    if selected:
        painter.strokePath(path, QPen(QColor(c.casing), CASING_W - 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    if cable.state == "bad":
        pen = QPen(QColor(c.bad), 3.0, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([3.0, 2.0])
        painter.strokePath(path, pen)
        return
    _strands(painter, cable, a, b, phase, c)


def _strands(painter: QPainter, cable: CableView, a: Anchor, b: Anchor, phase: float, c: Tokens) -> None:
    halves = cable.halves or (HalfView("A", "ok"),)
    middle = (len(halves) - 1) / 2
    for i, half in enumerate(halves):
        shift = (i - middle) * STRAND_APART
        path = cable_path(a, b, shift)
        step = load_step(half.load_gbps)
        colour = c.warn if half.state == "warn" else c.bad if half.state == "bad" else c.load[step]
        if half.state == "off":
            colour = c.line
        painter.strokePath(
            path, QPen(QColor(colour), STRAND_WIDTHS[step], Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
        )
        if phase < 0 or half.state == "off":
            continue
        for rate, forward in ((half.tx_gbps, True), (half.rx_gbps, False)):
            if rate is None or rate < LOAD_STEPS_GBPS[1]:
                continue
            pen = QPen(QColor(c.dash), STRAND_WIDTHS[step], Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
            width = STRAND_WIDTHS[step]
            pen.setDashPattern([DASH_ON / width, DASH_OFF / width])
            length = (DASH_ON + DASH_OFF) / width
            pen.setDashOffset((1 - phase if forward else phase) * length)
            painter.strokePath(path, pen)


def label_box(cable: CableView, a: Anchor, b: Anchor, metrics: QFontMetricsF) -> QRectF:
    """Where the cable's label goes: its middle."""
    at = cable_path(a, b).pointAtPercent(0.5)
    width = metrics.horizontalAdvance(cable.label) + 18 + (20 if cable.label_state != "plain" else 0)
    return QRectF(at.x() - width / 2, at.y() - 11, width, 22)


def paint_label(painter: QPainter, cable: CableView, box: QRectF, sign_only: bool = False) -> None:
    """The label on its ground, with an icon where it says more than a number."""
    t = theme.current()
    c = t.tokens
    ink, edge, sign, colour = {
        "plain": (c.text, c.line, "", ""),
        "ok": (c.text, c.line, "circle-check", c.good),
        "warn": (c.warn_text, c.warn, "alert-triangle", c.warn),
        "bad": (c.bad_text, c.bad, "circle-x", c.bad),
    }[cable.label_state]
    if sign_only:
        if not sign:
            return
        box = QRectF(box.center().x() - 11, box.center().y() - 11, 22, 22)
    painter.setPen(QPen(QColor(edge), 1))
    painter.setBrush(QColor(c.canvas))
    painter.drawRoundedRect(box, 6, 6)
    if sign:
        left = box.center().x() - 7 if sign_only else box.left() + 7
        paint_icon(painter, sign, QRectF(left, box.center().y() - 7, 14, 14), colour)
    if not sign_only:
        painter.setPen(QColor(ink))
        text_box = box.adjusted(22, 0, -4, 0) if sign else box
        painter.drawText(text_box, Qt.AlignmentFlag.AlignCenter, cable.label)
