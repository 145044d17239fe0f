"""One quantity by message size: logarithmic axes, a line per contender, a read-out of all lines at a size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from stellwerk.model.units import size_text
from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import Elided, frame, hbox, label, vbox
from stellwerk_gui.widgets.graph_group import Series
from stellwerk_gui.widgets.readout import Readout

PEN_WIDTH = 1.5
DOT_PX = 5
LEFT_AXIS_PX, BOTTOM_AXIS_PX, TICK_ROOM_PX = 52, 26, 50


@dataclass(frozen=True, slots=True)
class Curve:
    """One line: value by size in bytes; sizes that were not measured are left out."""

    series: Series
    points: Mapping[int, float]


class SizePlot(QWidget):
    """A card with a title and a plot. `pointed` carries the size under the pointer, 0 for none.

    The crosshair may stand in several plots at the same size; the read-out is only where the pointer is.
    """

    pointed = Signal(int)

    def __init__(self, title: str, unit: str, words: str, *, upward: bool = False) -> None:
        super().__init__()
        self._upward = upward  # more is better
        self._unit, self._words = unit, words
        self._curves: tuple[Curve, ...] = ()
        self._sizes: tuple[int, ...] = ()
        self._at = 0
        self._mine = False  # the pointer, or the keys, are here
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(f"{title}, {unit}")
        self._build(title)
        theme.current().changed.connect(self._draw)

    def _build(self, title: str) -> None:
        card = frame("card")
        outer = vbox(self, spacing=0)
        outer.addWidget(card)
        column = vbox(card, margins=(12, 10, 12, 6), spacing=4)
        head = hbox(spacing=8)
        head.addWidget(label(title, "heading"))
        head.addWidget(Elided(f"{self._unit}, {self._words}", "second-muted"), 1)
        column.addLayout(head)
        self.plot = pg.PlotWidget(background=None)
        self.plot.setFrameShape(self.plot.Shape.NoFrame)
        self.plot.setStyleSheet("background: transparent; border: 0; border-radius: 0;")
        self.plot.setAntialiasing(True)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setMouseEnabled(False, False)
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.plot.getViewBox().setDefaultPadding(0)
        self.plot.getAxis("left").setWidth(LEFT_AXIS_PX)
        self.plot.getAxis("bottom").setHeight(BOTTOM_AXIS_PX)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setStyle(tickLength=0, autoExpandTextSpace=False)
        column.addWidget(self.plot, 1)
        self._items: list[pg.PlotDataItem] = []
        self.cross = pg.InfiniteLine(angle=90)
        self.plot.addItem(self.cross, ignoreBounds=True)
        self.readout = Readout(self.plot.viewport())
        self.readout.COLUMNS = 1  # names are long here
        self.plot.viewport().setMouseTracking(True)
        self.plot.viewport().installEventFilter(self)

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Draw these lines, and only these."""
        self._curves = tuple(curves)
        self._sizes = tuple(sorted({size for curve in curves for size in curve.points}))
        self._draw()

    @property
    def curves(self) -> tuple[Curve, ...]:
        return self._curves

    def point_at(self, size: int) -> None:
        """Put the crosshair at a size; 0 takes it away."""
        self._at = size if size in self._sizes else 0
        self._show_cross()

    def _draw(self) -> None:
        t = theme.current()
        c = t.tokens
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(None))
            axis.setTextPen(pg.mkPen(c.muted))
            axis.setTickFont(theme.font(theme.SECOND_PT * t.scale))
            axis.setTickPen(pg.mkPen(c.line, width=1))
        self.plot.showGrid(x=True, y=True, alpha=0.35)
        self.cross.setPen(pg.mkPen(c.text, width=1))
        values = [value for curve in self._curves for value in curve.points.values() if value > 0]
        if values:
            self._axes(values)
        for place, curve in enumerate(self._curves):
            self._draw_line(place, curve)
        for item in self._items[len(self._curves) :]:
            item.setData([], [])
        self._show_cross()

    def _draw_line(self, place: int, curve: Curve) -> None:
        """Items are kept and used again: one that Python frees in another thread takes the window down."""
        if place == len(self._items):
            self._items.append(pg.PlotDataItem())
            self.plot.addItem(self._items[place])
        at = [(size, value) for size, value in sorted(curve.points.items()) if value > 0]
        style = Qt.PenStyle.DashLine if curve.series.dashed else Qt.PenStyle.SolidLine
        self._items[place].setData(
            [math.log2(size) for size, _ in at],
            [math.log10(value) for _, value in at],
            pen=pg.mkPen(curve.series.colour, width=PEN_WIDTH * theme.current().scale, style=style),
            symbol="o",
            symbolSize=DOT_PX,
            symbolPen=None,
            symbolBrush=curve.series.colour,
        )

    def _axes(self, values: Sequence[float]) -> None:
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        high = max(high, low + 1)
        self.plot.setYRange(low, high, padding=0.02)
        self.plot.getAxis("left").setTicks([[(e, _decade(e)) for e in range(low, high + 1)]])
        first, last = math.log2(self._sizes[0]), math.log2(self._sizes[-1])
        self.plot.setXRange(first - 0.4, max(last, first + 1) + 0.4, padding=0)
        self._size_ticks()

    def _size_ticks(self) -> None:
        """As many sizes as have room, the first and then each that does not touch the one before."""
        if not self._sizes:
            return
        first, last = math.log2(self._sizes[0]), math.log2(self._sizes[-1])
        room = max(1.0, self.plot.width() - LEFT_AXIS_PX) / (max(last - first, 1) + 0.8)
        ticks: list[tuple[float, str]] = []
        for size in self._sizes:
            at = math.log2(size)
            if not ticks or (at - ticks[-1][0]) * room >= theme.current().px(TICK_ROOM_PX):
                ticks.append((at, size_text(size)))
        self.plot.getAxis("bottom").setTicks([ticks])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._size_ticks()
        self._show_cross()

    def _show_cross(self) -> None:
        self.cross.setVisible(self._at > 0)
        if self._at:
            self.cross.setPos(math.log2(self._at))
        if not self._at or not self._mine:
            self.readout.hide()
            return
        self.readout.show_rows(size_text(self._at), self._unit, self.rows_at(self._at)[: self._rows_that_fit()])
        self._place_readout()

    def rows_at(self, size: int) -> list[tuple[Series, str]]:
        """The read-out's lines: the best first."""
        known = [(c.points[size], c.series) for c in self._curves if size in c.points]
        return [(series, _value(value)) for value, series in sorted(known, key=lambda p: p[0], reverse=self._upward)]

    def _rows_that_fit(self) -> int:
        px = theme.current().px
        room = int(self.plot.height()) - px(BOTTOM_AXIS_PX + Readout.HEAD + 16)
        return max(1, room // px(Readout.ROW))

    def _place_readout(self) -> None:
        view = self.plot.getViewBox().sceneBoundingRect()
        x = self.plot.mapFromScene(self.plot.getViewBox().mapViewToScene(QPointF(math.log2(self._at), 0))).x()
        size = self.readout.size()
        left = x - size.width() - 10 if x - view.left() > 0.55 * view.width() else x + 10
        left = max(view.left(), min(left, view.right() - size.width()))
        self.readout.move(round(left), round(view.top()) + 4)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseMove and self._sizes:
            at = self.plot.getViewBox().mapSceneToView(self.plot.mapToScene(event.position().toPoint())).x()
            self._mine = True
            self.pointed.emit(min(self._sizes, key=lambda size: abs(math.log2(size) - at)))
        elif event.type() == QEvent.Type.Leave:
            self._mine = False
            self.pointed.emit(0)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows walk from size to size."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if step and self._sizes:
            self._mine = True
            here = self._sizes.index(self._at) + step if self._at else 0
            self.pointed.emit(self._sizes[max(0, min(here, len(self._sizes) - 1))])
        elif event.key() == Qt.Key.Key_Escape:
            self.pointed.emit(0)
        else:
            super().keyPressEvent(event)


def _decade(exponent: int) -> str:
    return f"{10.0**exponent:g}" if exponent < 4 else f"{10 ** (exponent - 3):g} k"


def _value(value: float) -> str:
    """Three sensible digits."""
    if value >= 10_000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
