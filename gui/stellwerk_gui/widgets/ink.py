"""Text that widgets paint by hand.

All of it goes through `write` and `write_lines`, which shorten what has no room and, while somebody listens, tell what
was drawn where: so a test sees painted text as it sees labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme

LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
CENTRE = Qt.AlignmentFlag.AlignCenter
SLACK = 1.0  # rounding of font metrics


@dataclass(frozen=True, slots=True)
class Written:
    """One piece of text as it was painted, in the pixels of its widget."""

    widget: QWidget
    text: str
    shown: str
    box: QRectF
    may_shorten: bool
    cut: bool = False  # lines that had no room

    @property
    def shortened(self) -> bool:
        return self.shown != self.text


_listeners: list[list[Written]] = []


@contextmanager
def listening() -> Iterator[list[Written]]:
    """Everything that is painted inside the `with`."""
    heard: list[Written] = []
    _listeners.append(heard)
    try:
        yield heard
    finally:
        _listeners.remove(heard)


def scaled_painter(widget: QWidget) -> QPainter:
    """A painter on `widget` that counts in the lengths of the theme, whatever size was chosen for the window."""
    scale = theme.current().scale
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.scale(scale, scale)
    return painter


def write(
    painter: QPainter,
    box: QRectF,
    align: Qt.AlignmentFlag,
    text: str,
    *,
    may_shorten: bool = False,
    mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> float:
    """One line; returns its width. `may_shorten`: where it has no room, its whole text is found elsewhere."""
    metrics = QFontMetricsF(painter.font())
    shown = text
    if metrics.horizontalAdvance(text) > box.width() + SLACK:
        shown = metrics.elidedText(text, mode, box.width() + SLACK)
    painter.drawText(box, align, shown)
    width = metrics.horizontalAdvance(shown)
    if _listeners and text:
        _tell(painter, text, shown, _aligned(box, align, width, metrics.height()), may_shorten)
    return width


def wrapped(metrics: QFontMetricsF, text: str, width: float) -> list[str]:
    """`text` in lines of at most `width`, parted between words."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and metrics.horizontalAdvance(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def write_lines(painter: QPainter, box: QRectF, text: str, line_px: float) -> float:
    """Lines of `line_px`, wrapped between words; returns their height."""
    metrics = QFontMetricsF(painter.font())
    lines = wrapped(metrics, text, box.width())
    for i, line in enumerate(lines):
        place = QRectF(box.left(), box.top() + i * line_px, box.width(), line_px)
        painter.drawText(place, LEFT, line)
        if _listeners:
            width = metrics.horizontalAdvance(line)
            fits = place.bottom() <= box.bottom() + SLACK and width <= box.width() + SLACK
            _tell(painter, line, line, _aligned(place, LEFT, width, metrics.height()), False, not fits)
    return len(lines) * line_px


def _aligned(box: QRectF, align: Qt.AlignmentFlag, width: float, height: float) -> QRectF:
    x, y = box.left(), box.top()
    if align & Qt.AlignmentFlag.AlignRight:
        x = box.right() - width
    elif align & Qt.AlignmentFlag.AlignHCenter:
        x = box.center().x() - width / 2
    if align & Qt.AlignmentFlag.AlignVCenter:
        y = box.center().y() - height / 2
    return QRectF(x, y, width, height)


def _tell(painter: QPainter, text: str, shown: str, box: QRectF, may_shorten: bool, cut: bool = False) -> None:
    widget = painter.device()
    if not isinstance(widget, QWidget):
        return  # a pixmap that is kept, as for the axes of a graph
    place = painter.worldTransform().mapRect(box)
    for heard in _listeners:
        heard.append(Written(widget, text, shown, place, may_shorten, cut))
