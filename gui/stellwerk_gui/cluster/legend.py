"""The legend below the map: small samples of what the lines mean."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import hbox, label
from stellwerk_gui.widgets.fabricmap.cable import STRAND_WIDTHS
from stellwerk_gui.widgets.ink import scaled_painter


class Legend(QWidget):
    """One line; what does not fit into a narrow window is left out from the right."""

    def __init__(self) -> None:
        super().__init__()
        row = hbox(self, spacing=16)
        self._pairs: list[tuple[QWidget, QWidget]] = []
        for key, text in (
            ("cable", self.tr("one cable, two halves")),
            ("load", self.tr("idle to 100 Gb/s a half")),
            ("degraded", self.tr("degraded")),
            ("broken", self.tr("broken")),
            ("traffic", self.tr("traffic")),
        ):
            pair = hbox(spacing=6)
            sample = Sample(key)
            words = label(text, "second-muted")
            pair.addWidget(sample)
            pair.addWidget(words)
            row.addLayout(pair)
            self._pairs.append((sample, words))
        row.addStretch(1)

    def fit(self, width: int) -> None:
        """Show as many samples as fit into `width`."""
        used = 0
        gap = theme.current().px(22)
        for sample, words in self._pairs:
            used += sample.width() + words.sizeHint().width() + gap
            for widget in (sample, words):
                widget.setVisible(used <= width)


class Sample(QWidget):
    """Drawn with the colours and widths of the map."""

    def __init__(self, key: str) -> None:
        super().__init__()
        self._key = key
        px = theme.current().px
        self.setFixedSize(px(58 if key == "load" else 27), px(12))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        middle, width = 6.0, self.width() / t.scale
        if self._key == "load":
            for i, colour in enumerate(c.load):
                p.fillRect(QRectF(i * 11.8, middle - 2, 10.8, 4), QColor(colour))
        elif self._key in ("cable", "traffic"):
            pen_w = STRAND_WIDTHS[1 if self._key == "cable" else 3]
            for y in (middle - 2.4, middle + 2.4) if self._key == "cable" else (middle,):
                p.setPen(QPen(QColor(c.load[2]), pen_w))
                p.drawLine(QPointF(0, y), QPointF(width, y))
            if self._key == "traffic":
                pen = QPen(QColor(c.dash), pen_w, Qt.PenStyle.CustomDashLine, Qt.PenCapStyle.FlatCap)
                pen.setDashPattern([5 / pen_w, 8 / pen_w])
                p.setPen(pen)
                p.drawLine(QPointF(4, middle), QPointF(width, middle))
        else:
            broken = self._key == "broken"
            pen = QPen(QColor(c.bad if broken else c.warn), 2.5, Qt.PenStyle.SolidLine, Qt.PenCapStyle.FlatCap)
            if broken:
                pen.setStyle(Qt.PenStyle.CustomDashLine)
                pen.setDashPattern([2.4, 1.6])
            p.setPen(pen)
            p.drawLine(QPointF(0, middle), QPointF(width, middle))
        p.end()
