"""Cards with one big number each."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from stellwerk_gui import theme
from stellwerk_gui.cluster.tiles import TileValue
from stellwerk_gui.widgets.controls import big, clear_layout, frame, hbox, label, vbox

SPARK_POINTS = 60
NARROW_PX = 1080  # of the row: below that six cards with their small lines do not fit beside each other


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
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(theme.current().px(12))
        self._cards: list[QFrame] = []
        self._placed = (0, 0)  # columns and cards as they lie now
        self._labels: dict[str, tuple[QLabel, QLabel, QLabel, Spark]] = {}
        self._keys: list[str] = []

    def show_tiles(self, tiles: tuple[TileValue, ...], now_s: float = 0.0) -> None:
        self.setVisible(bool(tiles))
        if [t.key for t in tiles] != self._keys:
            clear_layout(self._grid)
            self._cards, self._placed = [], (0, 0)
            self._keys = [t.key for t in tiles]
            self._labels = {t.key: self._card(t.key) for t in tiles}
            self._place()
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        """All in one row; in two rows where the figures would not fit."""
        px = theme.current().px
        narrow = self.width() < px(NARROW_PX)
        columns = (len(self._cards) + 1) // 2 if narrow else len(self._cards)
        if not columns or (columns, len(self._cards)) == self._placed:
            return
        self._placed = (columns, len(self._cards))
        self._grid.setSpacing(px(8 if narrow else 12))
        for i, card in enumerate(self._cards):
            self._grid.addWidget(card, i // columns, i % columns)
            inside = card.layout()
            assert inside is not None, "every card has a column"
            inside.setContentsMargins(px(12), px(4 if narrow else 10), px(12), px(3 if narrow else 14))
        for x in range(len(self._cards)):
            self._grid.setColumnStretch(x, 1 if x < columns else 0)

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
        value, unit = big(), label("", "muted")
        unit.setContentsMargins(0, 0, 0, theme.current().px(3))  # on the line of the number
        row.addWidget(value)
        row.addWidget(unit, 0, Qt.AlignmentFlag.AlignBottom)
        row.addStretch(1)
        spark = Spark()
        row.addWidget(spark)
        column.addLayout(row)
        self._cards.append(card)
        return value, unit, nodes, spark
