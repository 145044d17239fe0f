"""Graphs over time: fixed, meaningful axes, gaps that stay gaps, one crosshair for all of a group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import frame, hbox, label, vbox

PEN_WIDTH = 1.5
LEFT_AXIS_PX, BOTTOM_AXIS_PX, HEADER_PX = 44, 26, 42
READOUT_W = 252
LOG_FLOOR = 0.1  # the lowest value a logarithmic throughput axis shows, Gb/s
MIN_WINDOW_S, MAX_WINDOW_S = 10.0, 3600.0


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a node has its colour everywhere, another thing has a line style."""

    name: str
    colour: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Data of one series: desktop times in seconds and values, NaN where nothing was heard."""

    times: np.ndarray
    values: np.ndarray
    stale: bool = False


class GraphGroup(QObject):
    """What all graphs of a page share: the stretch of time, the crosshair, which series are shown."""

    changed = Signal()  # stretch or pause
    crosshair_moved = Signal()
    series_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.window_s = 300.0
        self.end_s: float | None = None  # None: live, the right edge is now
        self.wall_of_end = 0.0
        self.hidden: frozenset[str] = frozenset()
        self.crosshair_s: float | None = None  # desktop time
        self.crosshair_from: QObject | None = None

    @property
    def paused(self) -> bool:
        return self.end_s is not None

    def set_window(self, seconds: float) -> None:
        self.window_s = min(MAX_WINDOW_S, max(MIN_WINDOW_S, seconds))
        self.changed.emit()

    def pause(self, now_s: float, wall_s: float) -> None:
        if self.end_s is None:
            self.end_s, self.wall_of_end = now_s, wall_s
            self.changed.emit()

    def live(self) -> None:
        self.end_s = None
        self.changed.emit()

    def pan(self, seconds: float, now_s: float) -> None:
        """Move a paused window; never beyond now."""
        if self.end_s is not None:
            end = min(now_s, self.end_s + seconds)
            self.wall_of_end += end - self.end_s
            self.end_s = end
            self.changed.emit()

    def point_at(self, time_s: float | None, source: QObject | None) -> None:
        self.crosshair_s, self.crosshair_from = time_s, source
        self.crosshair_moved.emit()

    def toggle(self, name: str) -> None:
        self.hidden = self.hidden ^ {name}
        self.series_changed.emit()

    def isolate(self, name: str, names: Sequence[str]) -> None:
        """Show only `name`; once more shows all again."""
        others = frozenset(n for n in names if n != name)
        self.hidden = frozenset() if self.hidden == others else others
        self.series_changed.emit()

    def wall(self, time_s: float, now_s: float, now_wall_s: float) -> float:
        """Wall clock (seconds since the epoch) at a desktop time."""
        return now_wall_s - (now_s - time_s)


class TimeAxis(pg.AxisItem):  # type: ignore[misc]
    """Seconds back from now, or wall time when paused."""

    def __init__(self, group: GraphGroup) -> None:
        super().__init__("bottom")
        self._group = group
        self.setStyle(tickLength=0, autoExpandTextSpace=False, hideOverlappingLabels=False)
        self.setHeight(BOTTOM_AXIS_PX)

    def tickValues(self, minimum: float, maximum: float, size: int) -> list[tuple[float, list[float]]]:
        window = self._group.window_s
        step = next((s for s in (2, 5, 10, 15, 30, 60, 120, 180, 300, 600) if window / s <= 6), 900)
        count = int(window // step)
        return [(float(step), [-float(step * i) for i in range(count + 1)])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self._group.paused:
            end = self._group.wall_of_end
            return [datetime.fromtimestamp(end + value).strftime("%H:%M:%S") for value in values]
        return [self._relative(value, spacing) for value in values]

    def _relative(self, value: float, spacing: float) -> str:
        if value == 0:
            return QCoreApplication.translate("TimeAxis", "now")
        if spacing >= 60:
            minutes = -value / 60
            last = -value + spacing > self._group.window_s
            return f"−{minutes:.0f} min" if last else f"−{minutes:.0f}"
        return f"−{-value:.0f} s"


class Graph(QWidget):
    """A card with a title, one plot and a read-out."""

    def __init__(
        self,
        title: str,
        unit: str,
        group: GraphGroup,
        *,
        top: float = 100.0,
        digits: int = 0,
        log: bool = False,
        limit: tuple[float, str] | None = None,
    ) -> None:
        super().__init__()
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.title_text, self.unit, self.digits = title, unit, digits
        self.group = group
        self.log = log
        self.limit = limit
        self._top = top
        self._series: dict[str, Series] = {}
        self._curves: dict[str, pg.PlotDataItem] = {}
        self._ends: dict[str, pg.ScatterPlotItem] = {}
        self._lines: dict[str, Line] = {}
        self._now_s = 0.0
        self._now_wall_s = 0.0
        self._build()
        self._restyle()
        group.crosshair_moved.connect(self._show_crosshair)
        group.series_changed.connect(self._apply_hidden)
        theme.current().changed.connect(self._restyle)

    def _build(self) -> None:
        card = frame("card")
        outer = vbox(self, spacing=0)
        outer.addWidget(card)
        column = vbox(card, margins=(12, 0, 12, 4), spacing=0)
        head = self._head = hbox(spacing=8)
        self.heading = label(self.title_text, "heading")
        head.addWidget(self.heading)
        self.unit_label = label(self.unit, "second-muted")
        head.addWidget(self.unit_label)
        head.addStretch(1)
        self.summary = label("", "second-muted")
        head.addWidget(self.summary)
        column.addLayout(head)
        head.setContentsMargins(0, theme.current().px(12), 0, theme.current().px(6))
        self.plot = pg.PlotWidget(background=None, axisItems={"bottom": TimeAxis(self.group)})
        self.plot.setFrameShape(self.plot.Shape.NoFrame)
        self.plot.setStyleSheet("background: transparent; border: 0; border-radius: 0;")
        self.plot.setAntialiasing(True)
        self.plot.setMenuEnabled(False)
        self.plot.hideButtons()
        self.plot.setMouseEnabled(False, False)
        self.plot.getViewBox().setDefaultPadding(0)
        self.plot.getAxis("left").setWidth(LEFT_AXIS_PX)
        self.plot.getAxis("left").setStyle(tickLength=0, autoExpandTextSpace=False, hideOverlappingLabels=False)
        self.plot.setAccessibleName(f"{self.title_text}, {self.unit}")
        self.plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        column.addWidget(self.plot, 1)
        self.cross = pg.InfiniteLine(angle=90)
        self.cross.hide()
        self.plot.addItem(self.cross)
        self.limit_line = pg.InfiniteLine(angle=0, label=self.limit[1] if self.limit else None)
        self.limit_line.setVisible(self.limit is not None)
        if self.limit is not None:
            self.limit_line.setPos(self.limit[0])
            self.limit_line.label.setPosition(0.92)
        self.plot.addItem(self.limit_line)
        self.readout = Readout(self.plot.viewport())
        self.plot.viewport().setMouseTracking(True)
        self.plot.viewport().installEventFilter(self)
        self.set_log(self.log)

    def set_log(self, log: bool) -> None:
        """Linear from 0, or logarithmic from 0.1 so that little traffic is visible beside much."""
        self.log = log
        self.plot.setLogMode(y=log)
        low = math.log10(LOG_FLOOR) if log else 0.0
        high = math.log10(self._top) if log else self._top
        self.plot.setYRange(low, high, padding=0)
        self.plot.getAxis("left").setTicks([_y_ticks(self._top, log)])
        self._redraw()

    def set_top(self, top: float) -> None:
        """The upper end of the axis."""
        if top != self._top:
            self._top = top
            self.set_log(self.log)

    def set_series(self, series: Sequence[Series]) -> None:
        """Which lines there are; unchanged ones keep their place."""
        wanted = {s.name: s for s in series}
        for name in set(self._curves) - set(wanted):
            self.plot.removeItem(self._curves.pop(name))
            self.plot.removeItem(self._ends.pop(name))
            self._lines.pop(name, None)
        self._series = wanted
        for name in wanted:
            if name not in self._curves:
                curve = pg.PlotDataItem(connect="finite", skipFiniteCheck=False)
                curve.curve.setSegmentedLineMode("on")
                self._curves[name] = curve
                self._ends[name] = pg.ScatterPlotItem(size=7, brush=None)
                self.plot.addItem(curve)
                self.plot.addItem(self._ends[name])
        self._restyle()
        self._apply_hidden()

    def replace_heading(self, widget: QWidget) -> None:
        """Put a control in the place of the title (the monitor's choice of quantity)."""
        self._head.insertWidget(0, widget)
        self.heading.hide()

    @property
    def lines(self) -> dict[str, Line]:
        """The data that is drawn now."""
        return dict(self._lines)

    def show_lines(self, lines: Mapping[str, Line], now_s: float, now_wall_s: float) -> None:
        """Draw new data; `now_s` is the right edge while live."""
        self._lines = dict(lines)
        self._now_s, self._now_wall_s = now_s, now_wall_s
        self._redraw()

    def values_at(self, time_s: float) -> dict[str, float]:
        """The value of every shown series nearest to `time_s`, within two seconds."""
        found: dict[str, float] = {}
        for name, line in self._lines.items():
            if name in self.group.hidden or len(line.times) == 0:
                continue
            index = int(np.clip(np.searchsorted(line.times, time_s), 0, len(line.times) - 1))
            if index > 0 and abs(line.times[index - 1] - time_s) < abs(line.times[index] - time_s):
                index -= 1
            value = float(line.values[index])
            if abs(float(line.times[index]) - time_s) <= 2.0 and not math.isnan(value):
                found[name] = value
        return found

    @property
    def end_s(self) -> float:
        return self._now_s if self.group.end_s is None else self.group.end_s

    def _redraw(self) -> None:
        end = self.end_s
        self.plot.setXRange(-self.group.window_s, 0, padding=0)
        for name, curve in self._curves.items():
            line = self._lines.get(name)
            if line is None or name in self.group.hidden:
                continue
            values = np.maximum(line.values, LOG_FLOOR) if self.log else line.values
            curve.setData(line.times - end, values)
            self._show_end(name, line, end)
        self._show_crosshair()

    def _show_end(self, name: str, line: Line, end: float) -> None:
        """The last sample of a node that fell silent: an open circle."""
        dot = self._ends[name]
        known = np.flatnonzero(~np.isnan(line.values))
        if not line.stale or len(known) == 0:
            dot.setData([], [])
            return
        last = known[-1]
        y = float(line.values[last])
        dot.setData([float(line.times[last]) - end], [math.log10(max(y, LOG_FLOOR)) if self.log else y])

    def _apply_hidden(self) -> None:
        for name, curve in self._curves.items():
            curve.setVisible(name not in self.group.hidden)
            self._ends[name].setVisible(name not in self.group.hidden)
        self._redraw()

    def _restyle(self) -> None:
        t = theme.current()
        c = t.tokens
        for side in ("left", "bottom"):
            axis = self.plot.getAxis(side)
            axis.setPen(pg.mkPen(None))
            axis.setTextPen(pg.mkPen(c.muted))
            axis.setTickFont(theme.font(theme.SECOND_PT * t.scale))
        grid = pg.mkPen(c.line, width=1)
        self.plot.showGrid(x=True, y=True, alpha=0.35)
        self.plot.getAxis("left").setTickPen(grid)
        self.plot.getAxis("bottom").setTickPen(grid)
        self.cross.setPen(pg.mkPen(c.text, width=1))
        self.limit_line.setPen(pg.mkPen(c.bad, width=1, style=Qt.PenStyle.DashLine))
        if self.limit is not None:
            self.limit_line.label.setColor(c.bad_text)
            self.limit_line.label.setFont(theme.font(theme.SECOND_PT * t.scale))
        for name, series in self._series.items():
            style = Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine
            self._curves[name].setPen(pg.mkPen(series.colour, width=PEN_WIDTH, style=style))
            self._ends[name].setPen(pg.mkPen(series.colour, width=1.5))
        self._redraw()

    def _show_crosshair(self) -> None:
        at = self.group.crosshair_s
        if at is None:
            self.cross.hide()
            self.readout.hide()
            self._summary(None)
            return
        self.cross.setPos(at - self.end_s)
        self.cross.show()
        values = self.values_at(at)
        self._summary(at)
        if self.group.crosshair_from is self:
            wall = datetime.fromtimestamp(self.group.wall(at, self._now_s, self._now_wall_s)).strftime("%H:%M:%S")
            ago = max(0.0, self.end_s - at)
            rows = [(self._series[n], self._text(values.get(n))) for n in self._series if n not in self.group.hidden]
            self.readout.show_rows(wall, f"{ago:.0f} s ago, {self.unit.split(' ')[0]}", rows)
            self._place_readout(at)
        else:
            self.readout.hide()

    def _text(self, value: float | None) -> str:
        return "–" if value is None else f"{value:.{self.digits}f}"

    def _summary(self, at: float | None) -> None:
        if at is None or self.group.crosshair_from is self:
            self.summary.setText("")
            return
        values = list(self.values_at(at).values())
        if not values:
            self.summary.setText("")
            return
        wall = datetime.fromtimestamp(self.group.wall(at, self._now_s, self._now_wall_s)).strftime("%H:%M:%S")
        mean = sum(values) / len(values)
        low, high = self._text(min(values)), self._text(max(values))
        self.summary.setText(f"at {wall}  {low} to {high}, mean {self._text(mean)} {self.unit.split(' ')[0]}")

    def _place_readout(self, at: float) -> None:
        view = self.plot.getViewBox().sceneBoundingRect()
        x = self.plot.mapFromScene(self.plot.getViewBox().mapViewToScene(QPointF(at - self.end_s, 0))).x()
        size = self.readout.size()
        flip = x - view.left() > 0.6 * view.width()
        left = x - size.width() - 10 if flip else x + 10
        left = max(view.left(), min(left, view.right() - size.width()))
        self.readout.move(round(left), round(view.top()) + 4)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if isinstance(event, QMouseEvent) and kind == QEvent.Type.MouseMove:
            at = self.plot.getViewBox().mapSceneToView(self.plot.mapToScene(event.position().toPoint())).x()
            inside = -self.group.window_s <= at <= 0
            self.group.point_at(self.end_s + at if inside else None, self)
            if event.buttons() & Qt.MouseButton.LeftButton and self._drag_from is not None:
                self.group.pan(self._drag_from - at, self._now_s)
        elif isinstance(event, QMouseEvent) and kind == QEvent.Type.MouseButtonPress:
            self._drag_from = (
                self.plot.getViewBox().mapSceneToView(self.plot.mapToScene(event.position().toPoint())).x()
            )
            self.group.pause(self._now_s, self._now_wall_s)
        elif kind == QEvent.Type.MouseButtonRelease:
            self._drag_from = None
        elif kind == QEvent.Type.Leave:
            self.group.point_at(None, None)
        elif isinstance(event, QWheelEvent):
            self.group.pause(self._now_s, self._now_wall_s)
            self.group.set_window(self.group.window_s * (0.8 if event.angleDelta().y() > 0 else 1.25))
            return True
        return super().eventFilter(watched, event)

    _drag_from: float | None = None


def _y_ticks(top: float, log: bool) -> list[tuple[float, str]]:
    """Five labels on a linear axis; one per decade, and the top, on a logarithmic one."""
    if log:
        decades = [10.0**e for e in range(round(math.log10(LOG_FLOOR)), math.floor(math.log10(top)) + 1)]
        return [(math.log10(v), f"{v:g}") for v in ([*decades, top] if top / decades[-1] > 1.5 else decades)]
    return [(top * i / 4, f"{top * i / 4:g}") for i in range(5)]


class Readout(QWidget):
    """The box beside the crosshair: time, and every series with its value."""

    ROW, HEAD, COLUMNS = 18, 28, 2

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._time, self._age = "", ""
        self._rows: list[tuple[Series, str]] = []
        self.hide()

    def show_rows(self, time: str, age: str, rows: list[tuple[Series, str]]) -> None:
        self._time, self._age, self._rows = time, age, rows
        t = theme.current()
        lines = -(-len(rows) // self.COLUMNS)
        self.setFixedSize(t.px(READOUT_W), t.px(self.HEAD + lines * self.ROW + 8))
        self.show()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(t.scale, t.scale)
        width, height = self.width() / t.scale, self.height() / t.scale
        painter.setPen(QPen(QColor(c.line), 1))
        painter.setBrush(QColor(c.canvas))
        painter.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 6, 6)
        painter.setFont(theme.font(theme.SECOND_PT, QFont.Weight.DemiBold))
        painter.setPen(QColor(c.text))
        head = QRectF(12, 6, width - 24, 18)
        painter.drawText(head, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, self._time)
        painter.setFont(theme.font(theme.SECOND_PT))
        painter.setPen(QColor(c.muted))
        painter.drawText(head, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, self._age)
        lines = -(-len(self._rows) // self.COLUMNS)
        column_w = (width - 24) / self.COLUMNS
        for i, (series, text) in enumerate(self._rows):
            x = 12 + (i // lines) * column_w
            row = QRectF(x, self.HEAD + (i % lines) * self.ROW, column_w - 10, self.ROW)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(series.colour))
            painter.drawRoundedRect(QRectF(row.left(), row.center().y() - 4, 8, 8), 2, 2)
            painter.setPen(QColor(c.text))
            name = painter.fontMetrics().elidedText(series.name, Qt.TextElideMode.ElideRight, round(column_w - 60))
            painter.drawText(
                row.adjusted(14, 0, 0, 0), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, name
            )
            painter.drawText(row, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        painter.end()
