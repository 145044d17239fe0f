"""Cards with one big number each."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QLabel, QWidget

from stellwerk_gui import theme
from stellwerk_gui.cluster.tiles import TileValue
from stellwerk_gui.widgets.controls import clear_layout, frame, hbox, label, vbox

SPARK_POINTS = 60


class Spark(QWidget):
    """The last values of a tile as a small line: only its shape, at most one point a second."""

    def __init__(self) -> None:
        super().__init__()
        self._values: deque[float] = deque(maxlen=SPARK_POINTS)
        self._last_s = float("-inf")
        px = theme.current().px
        self.setFixedSize(px(52), px(24))

    def add(self, value: float, now_s: float) -> None:
        if now_s - self._last_s >= 1.0:
            self._last_s = now_s
            self._values.append(value)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if len(self._values) < 2:
            return
        t = theme.current()
        low, high = min(self._values), max(self._values)
        reach = (high - low) or 1.0
        step = (self.width() - 2) / (SPARK_POINTS - 1)
        start = self.width() - 1 - step * (len(self._values) - 1)
        tall = self.height() - 4
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.setPen(QPen(QColor(t.tokens.muted), 1.2))
        # A flat line lies in the middle: the shape says nothing then.
        flat = high - low < 1e-9
        points = [
            QPointF(start + i * step, self.height() / 2 if flat else 2 + tall * (1 - (v - low) / reach))
            for i, v in enumerate(self._values)
        ]
        p.drawPolyline(QPolygonF(points))
        p.end()


class TileRow(QWidget):
    """Cards with one big number each, and on how many nodes it rests."""

    def __init__(self) -> None:
        super().__init__()
        self._row = hbox(self, spacing=12)
        self._labels: dict[str, tuple[QLabel, QLabel, QLabel, Spark]] = {}
        self._keys: list[str] = []

    def show_tiles(self, tiles: tuple[TileValue, ...], now_s: float = 0.0) -> None:
        self.setVisible(bool(tiles))
        if [t.key for t in tiles] != self._keys:
            clear_layout(self._row)
            self._keys = [t.key for t in tiles]
            self._labels = {t.key: self._card(t.key) for t in tiles}
        for tile in tiles:
            value, unit, nodes, spark = self._labels[tile.key]
            spark.add(tile.number, now_s)
            value.setText(tile.value)
            unit.setText(tile.unit)
            nodes.setText(
                self.tr("{live} of {all} nodes").format(live=tile.live, all=tile.total)
                if tile.live < tile.total
                else ""
            )

    def _card(self, key: str) -> tuple[QLabel, QLabel, QLabel, Spark]:
        names = {
            "fabric": self.tr("Fabric, sent"),
            "gpu": self.tr("GPU, mean"),
            "memory": self.tr("Unified memory"),
            "power": self.tr("Power"),
            "hottest": self.tr("Hottest"),
            "cpu": self.tr("CPU, mean"),
        }
        card = frame("card")
        column = vbox(card, margins=(12, 10, 12, 8), spacing=0)
        head = hbox()
        head.addWidget(label(names[key], "second-muted"))
        head.addStretch(1)
        nodes = label("", "second-muted")
        head.addWidget(nodes)
        column.addLayout(head)
        row = hbox(spacing=6)
        value, unit = label("", "big"), label("", "muted")
        row.addWidget(value)
        row.addWidget(unit, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        spark = Spark()
        row.addWidget(spark)
        column.addLayout(row)
        self._row.addWidget(card, 1)
        return value, unit, nodes, spark
