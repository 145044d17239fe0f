"""Graphs over time: fixed, meaningful axes, gaps that stay gaps, one crosshair for all of a group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import Elided, frame, hbox, label, vbox
from stellwerk_gui.widgets.graph_group import LOG_FLOOR, GraphGroup, Line, Series, y_ticks
from stellwerk_gui.widgets.readout import Readout

__all__ = ["Graph", "GraphGroup", "Line", "Series"]

PEN_WIDTH, DOT_PX = 1.5, 7
LEFT_AXIS_PX, BOTTOM_AXIS_PX, TOP_PX, RIGHT_PX = 44, 26, 8, 16
HEAD_PX = 34
LEAST_LABEL_GAP_PX = 14


class Plot(pg.PlotWidget):  # type: ignore[misc]
    """A plot without pyqtgraph's axes: grid and labels are painted behind it.

    Its own axes hide the labels at both ends and are painted anew with every change of data.
    """

    def __init__(self, group: GraphGroup) -> None:
        super().__init__(background=None)
        self._group = group
        self.y_labels: list[tuple[float, str]] = []
        self.hideAxis("left")
        self.hideAxis("bottom")
        self.setFrameShape(self.Shape.NoFrame)
        self.setStyleSheet("background: transparent; border: 0; border-radius: 0;")
        self.setMenuEnabled(False)
        self.hideButtons()
        self.setMouseEnabled(False, False)
        self.getViewBox().setDefaultPadding(0)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        px = theme.current().px
        self.plotItem.layout.setContentsMargins(px(LEFT_AXIS_PX), px(TOP_PX), px(RIGHT_PX), px(BOTTOM_AXIS_PX))

    def repaint_axes(self) -> None:
        self.resetCachedContent()
        self.viewport().update()

    def drawBackground(self, painter: QPainter, rect: QRectF) -> None:
        t = theme.current()
        c, px = t.tokens, t.px
        view = self.getViewBox()
        box = view.sceneBoundingRect()
        (x0, x1), (y0, y1) = view.viewRange()
        if x1 <= x0 or y1 <= y0:
            return
        painter.save()
        painter.setFont(theme.font(theme.SECOND_PT * t.scale))
        grid, ink = QColor(c.line), QColor(c.muted)
        grid.setAlphaF(0.7)
        for value, text in self.y_labels:
            y = box.bottom() - (value - y0) / (y1 - y0) * box.height()
            painter.setPen(QPen(grid, 1))
            painter.drawLine(QPointF(box.left(), round(y) + 0.5), QPointF(box.right(), round(y) + 0.5))
            painter.setPen(ink)
            place = QRectF(box.left() - px(LEFT_AXIS_PX), y - px(8), px(LEFT_AXIS_PX - 8), px(16))
            painter.drawText(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text)
        metrics = painter.fontMetrics()
        room = box.width() / (metrics.horizontalAdvance(self._group.longest_tick()) + px(LEAST_LABEL_GAP_PX))
        for value, text in self._group.time_ticks(room):
            x = box.right() - (x1 - value) / (x1 - x0) * box.width()
            painter.setPen(QPen(grid, 1))
            if value:
                painter.drawLine(QPointF(round(x) + 0.5, box.top()), QPointF(round(x) + 0.5, box.bottom()))
            painter.setPen(ink)
            wide = painter.fontMetrics().horizontalAdvance(text) + 4
            left = max(box.left(), min(x - wide / 2, box.right() - wide + 2))
            painter.drawText(QRectF(left, box.bottom() + px(6), wide, px(16)), Qt.AlignmentFlag.AlignCenter, text)
        painter.restore()


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
        column = vbox(card, margins=(1, 0, 1, 1), spacing=0)
        head = self._head = hbox(spacing=8)
        self.heading = label(self.title_text, "heading")
        head.addWidget(self.heading)
        self.unit_label = label(self.unit, "second-muted")
        head.addWidget(self.unit_label)
        self.summary = Elided("", "second-muted")
        self.summary.setAlignment(Qt.AlignmentFlag.AlignRight)
        self.summary.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        head.addWidget(self.summary, 1)
        column.addLayout(head)
        head.setContentsMargins(theme.current().px(13), 0, theme.current().px(13), 0)
        self.summary.setMinimumHeight(theme.current().px(HEAD_PX))
        self.plot = Plot(self.group)
        self.plot.setAntialiasing(True)
        self.plot.setAccessibleName(f"{self.title_text}, {self.unit}")
        column.addWidget(self.plot, 1)
        self.cross = pg.InfiniteLine(angle=90)
        self.cross.hide()
        self.plot.addItem(self.cross)
        self.dots = pg.ScatterPlotItem(size=theme.current().px(DOT_PX))
        self.dots.setZValue(10)
        self.plot.addItem(self.dots)
        self.limit_line = pg.InfiniteLine(
            angle=0, label="", labelOpts={"position": 0.9, "anchors": [(0.5, 0), (0.5, 0)]}
        )
        self.plot.addItem(self.limit_line)
        self.silence = pg.LinearRegionItem(movable=False, pen=pg.mkPen(None))
        self.silence.setZValue(-20)
        self.silence.hide()
        self.plot.addItem(self.silence)
        self.silence_text = pg.TextItem(anchor=(0, 0))
        self.silence_text.setZValue(5)  # above the lines
        self.silence_text.hide()
        self.plot.addItem(self.silence_text)
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
        self.plot.y_labels = y_ticks(self._top, log)
        self._place_limit()
        self.plot.repaint_axes()
        self._redraw()

    def set_top(self, top: float) -> None:
        """The upper end of the axis."""
        if top != self._top:
            self._top = top
            self.set_log(self.log)

    def set_limit(self, limit: tuple[float, str] | None) -> None:
        """A dashed line that cannot be passed, with its words; None takes it away."""
        if limit != self.limit:
            self.limit = limit
            self._place_limit()

    def _place_limit(self) -> None:
        self.limit_line.setVisible(self.limit is not None)
        if self.limit is not None:
            value, text = self.limit
            self.limit_line.setPos(math.log10(value) if self.log else value)
            self.limit_line.label.setText(text)

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
                self._ends[name] = pg.ScatterPlotItem(size=theme.current().px(DOT_PX), brush=None)
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
        shown = (self.group.window_s, self.group.wall_of_end if self.group.paused else None)
        if shown != self._shown_window:
            self._shown_window = shown
            self.plot.setXRange(-self.group.window_s, 0, padding=0)
            self.plot.repaint_axes()
        for name, curve in self._curves.items():
            line = self._lines.get(name)
            if line is None or name in self.group.hidden:
                continue
            values = np.maximum(line.values, LOG_FLOOR) if self.log else line.values
            curve.setData(line.times - end, values)
            self._show_end(name, line, end)
        self._show_silence(end)
        self._show_crosshair()

    def _show_silence(self, end: float) -> None:
        """From the last sample of a node that fell silent until now: shaded, with its name."""
        since: dict[str, float] = {}
        for name, line in self._lines.items():
            if line.stale and len(line.times) and name not in self.group.hidden:
                known = np.flatnonzero(~np.isnan(line.values))
                if len(known):
                    since[name] = float(line.times[known[-1]]) - end
        names = sorted(since, key=lambda n: since[n])
        self.silence.setVisible(bool(names))
        # In a graph with a limit the words would lie on its own.
        self.silence_text.setVisible(bool(names) and self.limit is None)
        if not names:
            return
        start = max(-self.group.window_s, min(since.values()))
        self.silence.setRegion((start, 0.0))
        no_data = QCoreApplication.translate("Graph", "no data")
        head = names[0] if len(names) == 1 else f"{names[0]} +{len(names) - 1}"
        self.silence_text.setPlainText(f"{head}\n{no_data}")
        # Right-bound where the shaded part is narrow, so that the words stay inside the plot.
        late = start > -0.12 * self.group.window_s
        self.silence_text.setAnchor((1, 0) if late else (0, 0))
        self.silence_text.setPos(start, math.log10(self._top) if self.log else self._top)

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
        shade = QColor(c.raised)
        shade.setAlphaF(0.55)
        self.silence.setBrush(shade)
        self.silence_text.setColor(c.muted)
        ground = QColor(c.surface)
        ground.setAlphaF(0.8)
        self.silence_text.fill = pg.mkBrush(ground)
        self.silence_text.setFont(theme.font(theme.SECOND_PT * t.scale))
        self.plot.repaint_axes()
        self.cross.setPen(pg.mkPen(c.text, width=t.scale))
        self.limit_line.setPen(pg.mkPen(c.bad, width=t.scale, style=Qt.PenStyle.DashLine))
        self.limit_line.label.setColor(c.bad_text)
        self.limit_line.label.setFont(theme.font(theme.SECOND_PT * t.scale))
        for name, series in self._series.items():
            style = Qt.PenStyle.DashLine if series.dashed else Qt.PenStyle.SolidLine
            self._curves[name].setPen(pg.mkPen(series.colour, width=PEN_WIDTH * t.scale, style=style))
            self._ends[name].setPen(pg.mkPen(series.colour, width=PEN_WIDTH * t.scale))
        self._redraw()

    def _show_crosshair(self) -> None:
        at = self.group.crosshair_s
        if at is None:
            self.cross.hide()
            self.dots.setData([], [])
            self.readout.hide()
            self._summary(None)
            return
        self.cross.setPos(at - self.end_s)
        self.cross.show()
        values = self.values_at(at)
        self._show_dots(at, values)
        self._summary(at)
        if self.group.crosshair_from is self:
            wall = datetime.fromtimestamp(self.group.wall(at, self._now_s, self._now_wall_s)).strftime("%H:%M:%S")
            ago = max(0.0, self.end_s - at)
            rows = [(self._series[n], self._text(values.get(n))) for n in self._series if n not in self.group.hidden]
            self.readout.show_rows(wall, self._ago(ago), rows)
            self._place_readout(at)
        else:
            self.readout.hide()

    def _show_dots(self, at: float, values: Mapping[str, float]) -> None:
        """Where the crosshair meets the lines."""
        heights = [math.log10(max(v, LOG_FLOOR)) if self.log else v for v in values.values()]
        colours = [pg.mkBrush(self._series[name].colour) for name in values]
        edge = pg.mkPen(theme.current().tokens.surface, width=1)
        self.dots.setData([at - self.end_s] * len(heights), heights, brush=colours, pen=edge)

    def _ago(self, ago: float) -> str:
        text = QCoreApplication.translate("Graph", "{s} s ago").format(s=f"{ago:.0f}")
        return f"{text}, {self.unit.split(' ')[0]}"

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
        words = QCoreApplication.translate("Graph", "at {time}  {low} to {high}, mean {mean} {unit}")
        unit = self.unit.split(" ")[0]
        self.summary.setText(words.format(time=wall, low=low, high=high, mean=self._text(mean), unit=unit))

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
    _shown_window: tuple[float, float | None] | None = None
