"""Paints one cable: a casing for capacity, a strand per half for load, dashes for direction."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.theme import Tokens
from stellwerk_gui.widgets.fabricmap.layout import Anchor
from stellwerk_gui.widgets.fabricmap.view import CableView, HalfView
from stellwerk_gui.widgets.ink import CENTRE, write

LOAD_STEPS_GBPS = (1.0, 8.0, 30.0, 70.0)
STRAND_WIDTHS = (1.5, 2.0, 2.5, 3.0, 3.5)
CASING_W, STRAND_APART = 11.0, 4.8
DASH_ON, DASH_OFF = 5.0, 19.0
PIECES = 32  # of a strand that runs beside the middle of its cable


def load_step(gbps: float) -> int:
    """0..4: how bright and wide a strand is at this traffic."""
    return sum(gbps >= limit for limit in LOAD_STEPS_GBPS)


@lru_cache(maxsize=256)
def cable_path(a: Anchor, b: Anchor, shift: float = 0.0) -> QPainterPath:
    """A smooth line from edge to edge; with `shift` the line that runs beside it at that distance all the way."""
    distance = ((a.x - b.x) ** 2 + (a.y - b.y) ** 2) ** 0.5
    pull = max(24.0, min(160.0, distance * 0.45))
    (anx, any_), (bnx, bny) = a.normal, b.normal
    xs = (a.x, a.x + anx * pull, b.x + bnx * pull, b.x)
    ys = (a.y, a.y + any_ * pull, b.y + bny * pull, b.y)
    path = QPainterPath()
    if not shift:
        path.moveTo(xs[0], ys[0])
        path.cubicTo(xs[1], ys[1], xs[2], ys[2], xs[3], ys[3])
        return path
    for i in range(PIECES + 1):
        at = i / PIECES
        dx, dy = _slope(xs, at), _slope(ys, at)
        length = (dx * dx + dy * dy) ** 0.5 or 1.0
        x, y = _on(xs, at) - dy / length * shift, _on(ys, at) + dx / length * shift
        if i:
            path.lineTo(x, y)
        else:
            path.moveTo(x, y)
    return path


def _on(p: tuple[float, ...], at: float) -> float:
    """One coordinate of a cubic Bézier curve."""
    rest = 1 - at
    return rest**3 * p[0] + 3 * rest**2 * at * p[1] + 3 * rest * at**2 * p[2] + at**3 * p[3]


def _slope(p: tuple[float, ...], at: float) -> float:
    rest = 1 - at
    return rest**2 * (p[1] - p[0]) + 2 * rest * at * (p[2] - p[1]) + at**2 * (p[3] - p[2])


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
        if cable.state == "belongs":
            _arrow(painter, b, QColor(c.outline))
        return
    bad = cable.state == "bad"
    casing = (c.bad if bad else c.accent) if selected else c.bad_soft if bad else c.casing
    painter.strokePath(path, QPen(QColor(casing), CASING_W, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    if selected:
        inner = QColor(c.bad_soft if bad else c.casing)
        painter.strokePath(path, QPen(inner, CASING_W - 3, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap))
    if cable.state == "bad":
        pen = QPen(QColor(c.bad), 3.0, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([3.0, 2.0])
        painter.strokePath(path, pen)
        return
    _strands(painter, cable, a, b, phase, c)


def _arrow(painter: QPainter, at: Anchor, colour: QColor) -> None:
    """The tip of a dotted line, just outside the port where the plug belongs."""
    nx, ny = at.normal
    tip = QPointF(at.x + nx * 5, at.y + ny * 5)
    painter.setPen(QPen(colour, 1.6, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    for side in (-1, 1):
        painter.drawLine(tip, QPointF(tip.x() + nx * 7 - ny * 4.5 * side, tip.y() + ny * 7 + nx * 4.5 * side))


def _strands(painter: QPainter, cable: CableView, a: Anchor, b: Anchor, phase: float, c: Tokens) -> None:
    halves = cable.halves or (HalfView("A", "ok"),)
    middle = (len(halves) - 1) / 2
    for i, half in enumerate(halves):
        shift = (i - middle) * STRAND_APART
        path = cable_path(a, b, shift)
        # Where cables themselves are looked at, one that is right is blue although nothing flows yet.
        step = 2 if cable.label_state == "ok" else load_step(half.load_gbps)
        colour = c.warn if half.state == "warn" else c.bad if half.state == "bad" else c.load[step]
        if half.state == "off":
            colour = c.line
        painter.strokePath(
            path, QPen(QColor(colour), STRAND_WIDTHS[step], Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
        )
        forward = direction(half, i)
        if forward is None:
            continue
        width = STRAND_WIDTHS[step]
        pen = QPen(QColor(c.dash), width, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
        pen.setDashPattern([DASH_ON / width, DASH_OFF / width])
        length = (DASH_ON + DASH_OFF) / width
        at = 0.5 if phase < 0 else phase  # who wants no motion sees them stand still
        pen.setDashOffset((1 - at if forward else at) * length)
        painter.strokePath(path, pen)


def direction(half: HalfView, place: int) -> bool | None:
    """Where the dashes of a strand run: True away from `a`, None where hardly anything flows.

    Where both ways carry about the same, the strands of a cable show one each: dashes of two directions on one
    strand are read by nobody.
    """
    tx, rx = half.tx_gbps or 0.0, half.rx_gbps or 0.0
    if half.state == "off" or max(tx, rx) < LOAD_STEPS_GBPS[1]:
        return None
    if min(tx, rx) > 0.7 * max(tx, rx):
        return place % 2 == 0
    return tx > rx


def label_box(cable: CableView, a: Anchor, b: Anchor, metrics: QFontMetricsF) -> QRectF:
    """Where the cable's label goes: its middle."""
    at = cable_path(a, b).pointAtPercent(0.5)
    width = metrics.horizontalAdvance(cable.label) + 22 + (18 if cable.label_state != "plain" else 0)
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
        write(painter, box.adjusted(23, 0, -5, 0) if sign else box, CENTRE, cable.label)
