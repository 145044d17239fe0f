"""*Monitor*: tiles, a strip of the live links, four graphs with one crosshair."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPen, QShortcut
from PySide6.QtWidgets import QComboBox, QFileDialog, QGridLayout, QHBoxLayout, QLabel, QMenu, QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk.model.units import seconds
from stellwerk.setup.files import write_atomic
from stellwerk.telemetry import Freshness
from stellwerk_gui import theme
from stellwerk_gui.cluster.tiles import TileValue, tile_values
from stellwerk_gui.controller import Controller
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.monitor.metrics import QUANTITIES, line_of
from stellwerk_gui.palette import Command
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Segments, clear_layout, frame, hbox, label, restyle, vbox
from stellwerk_gui.widgets.graph import Graph, GraphGroup, Series

DRAW_MS = 100
STRETCHES = (("60", "1 min"), ("300", "5 min"), ("900", "15 min"), ("3600", "1 h"))
DEFAULT_GRAPHS = ("link", "gpu", "memory", "power")


class MonitorPage(Page):
    """Draws at most ten times a second, and only while it is in front."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller.tr("Monitor"))
        self.controller = controller
        self.group = GraphGroup(self)
        self.stretch = Segments(STRETCHES, "300")
        self.stretch.chosen.connect(lambda key: self.group.set_window(float(key)))
        self.add_action(self.stretch)
        self.log_axis = Button(self.tr("Log axis"), tip=self.tr("Linear or logarithmic axis of the link graph"))
        self.log_axis.setCheckable(True)
        self.log_axis.toggled.connect(self._toggle_log)
        self.add_action(self.log_axis)
        self.pause = Button(self.tr("Pause"), icon_name="player-pause", on_click=self.toggle_pause)
        self.add_action(self.pause)
        self.export = Button(
            "", icon_name="upload", on_click=self._export_menu, name=self.tr("Export"), tip=self.tr("Export")
        )
        self.add_action(self.export)
        self.graphs: list[Graph] = []
        self._chosen = list(DEFAULT_GRAPHS)
        self._build()
        self._timer = QTimer(self)
        self._timer.setInterval(DRAW_MS)
        self._timer.timeout.connect(self.draw)
        self.group.changed.connect(self._stretch_changed)
        self.group.series_changed.connect(self._show_chips)
        controller.nodes_changed.connect(self._nodes_changed)
        controller.cluster_changed.connect(self._nodes_changed)
        theme.current().changed.connect(self._nodes_changed)
        QShortcut(QKeySequence(Qt.Key.Key_Space), self, self.toggle_pause)
        self._names: tuple[str, ...] = ()
        self._last_drawn = 0.0

    def _build(self) -> None:
        column = vbox(self.body, margins=(16, 0, 16, 12), spacing=12)
        self.tiles = TileRow()
        column.addWidget(self.tiles)
        self.strip = LiveStrip(self.controller)
        column.addWidget(self.strip)
        row = hbox(spacing=8)
        self._chips: QHBoxLayout = hbox(spacing=8)
        row.addLayout(self._chips)
        row.addStretch(1)
        column.addLayout(row)
        grid = QGridLayout()
        grid.setSpacing(theme.current().px(12))
        for i in range(4):
            holder = QWidget()
            box = vbox(holder, spacing=0)
            graph = self._graph(self._chosen[i], i)
            box.addWidget(graph)
            self.graphs.append(graph)
            grid.addWidget(holder, i // 2, i % 2)
        column.addLayout(grid, 1)

    def _graph(self, key: str, place: int) -> Graph:
        q = QUANTITIES[key]
        graph = Graph(self.tr(q.title), q.unit, self.group, top=q.top, digits=q.digits)
        choice = QComboBox()
        choice.setAccessibleName(self.tr("Quantity of graph {n}").format(n=place + 1))
        for other in QUANTITIES.values():
            choice.addItem(self.tr(other.title), other.key)
        choice.setCurrentIndex(list(QUANTITIES).index(key))
        choice.currentIndexChanged.connect(lambda: self._choose(place, choice.currentData()))
        graph.replace_heading(choice)
        return graph

    def _choose(self, place: int, key: str) -> None:
        self._chosen[place] = key
        q = QUANTITIES[key]
        graph = self.graphs[place]
        graph.unit_label.setText(q.unit)
        graph.unit, graph.digits = q.unit, q.digits
        graph.set_top(q.top)
        graph.set_log(self.log_axis.isChecked() and q.key == "link")
        graph.set_series(self._series())
        self.draw(force=True)

    def shown(self) -> None:
        self._timer.start()
        self._nodes_changed()
        self.draw(force=True)

    def left(self) -> None:
        self._timer.stop()

    def _series(self) -> list[Series]:
        return [Series(n.name, theme.current().node_colour(n.number)) for n in self.controller.nodes]

    def _nodes_changed(self) -> None:
        names = tuple(n.name for n in self.controller.nodes)
        for graph in self.graphs:
            graph.set_series(self._series())
        if names != self._names:
            self._names = names
        self._show_chips()

    def _show_chips(self) -> None:
        clear_layout(self._chips)
        for node in self.controller.nodes:
            chip = NodeChip(node.name, theme.current().node_colour(node.number), node.name in self.group.hidden)
            chip.toggled_name = self.group.toggle
            chip.isolated = lambda name: self.group.isolate(name, self._names)
            self._chips.addWidget(chip)

    def toggle_pause(self) -> None:
        if self.group.paused:
            self.group.live()
        else:
            self.group.pause(time.monotonic(), time.time())

    def _stretch_changed(self) -> None:
        paused = self.group.paused
        self.pause.setText(self.tr("Live") if paused else self.tr("Pause"))
        self.pause.set_icon("player-play" if paused else "player-pause")
        self.draw(force=True)

    def _toggle_log(self, on: bool) -> None:
        for key, graph in zip(self._chosen, self.graphs, strict=True):
            if key == "link":
                graph.set_log(on)

    def draw(self, force: bool = False) -> None:
        """Read the stores and draw. While paused only when something was asked for."""
        store = self.controller.telemetry
        now = time.monotonic()
        names = [n.name for n in self.controller.nodes]
        if store is None:
            self.tiles.show_tiles(())
            self.set_state("")
            return
        # At one sample a second there is nothing new ten times a second.
        newest = max((store.latest_at(n) or 0.0 for n in names), default=0.0)
        if not force and (self.group.paused or (newest <= self._last_drawn and now - self._last_drawn < 1.0)):
            return
        self._last_drawn = now
        fresh = {n: store.freshness(n, now) for n in names}
        self._say(names, fresh)
        self.tiles.show_tiles(tile_values(store, names, now))
        self.strip.update()
        end = now if self.group.end_s is None else self.group.end_s
        back = now - end + self.group.window_s
        look = self.controller.look
        for key, graph in zip(self._chosen, self.graphs, strict=True):
            lines = {
                name: line_of(store, QUANTITIES[key], name, look, back, now, fresh[name].stale)
                for name in names
                if name not in self.group.hidden
            }
            graph.show_lines(lines, now, time.time())

    def _say(self, names: list[str], fresh: dict[str, Freshness]) -> None:
        stale = [(n, f) for n, f in fresh.items() if f.stale]
        live = len(names) - len(stale)
        text = self.tr("{live} of {all} nodes live").format(live=live, all=len(names))
        if stale:
            name, f = stale[0]
            age = f.age_s
            if age is not None:
                text += ", " + self.tr("{n} stale for {s}").format(n=name, s=seconds(age))
            else:
                text += ", " + self.tr("no data of {n}").format(n=name)
        rate = self.controller.rate_hz
        text += " · " + self.tr("{r} sample(s)/s").format(r=f"{rate:g}")
        self.set_state(text, "clock" if stale else "circle-check", "warn" if stale else "good")

    # -- export --------------------------------------------------------------------------------------------------

    def _export_menu(self) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("Picture (PNG)"), self.export_png)
        menu.addAction(self.tr("Numbers (CSV)"), self.export_csv)
        menu.popup(self.export.mapToGlobal(QPoint(0, self.export.height())))

    def export_png(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self.window(), self.tr("Save"), "monitor.png")
        if chosen and not self.body.grab().save(chosen, "PNG"):
            self.controller.problem.emit(StellwerkError(f"{chosen} could not be saved", remedy="Choose another place"))

    def export_csv(self) -> None:
        chosen, _ = QFileDialog.getSaveFileName(self.window(), self.tr("Save"), "monitor.csv")
        if not chosen:
            return
        try:
            write_atomic(Path(chosen), self.csv_text().encode(), 0o644)
        except StellwerkError as error:
            self.controller.problem.emit(error)

    def csv_text(self) -> str:
        """All shown quantities of the stretch as rows: seconds, node, quantity, value. A gap is an empty value."""
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        writer.writerow(["seconds_before_end", "node", "quantity", "unit", "value"])
        for key, graph in zip(self._chosen, self.graphs, strict=True):
            for name, line in graph.lines.items():
                for at, value in zip(line.times, line.values, strict=True):
                    if graph.end_s - at <= self.group.window_s:
                        shown = "" if np.isnan(value) else f"{value:.4g}"
                        writer.writerow([f"{graph.end_s - at:.2f}", name, key, QUANTITIES[key].unit, shown])
        return buffer.getvalue()

    def commands(self) -> list[Command]:
        return [
            Command(self.tr("Pause or live"), self.toggle_pause),
            Command(self.tr("Export as picture"), self.export_png),
            Command(self.tr("Export as CSV"), self.export_csv),
            Command(self.tr("Log axis on or off"), self.log_axis.toggle),
        ]


class NodeChip(Button):
    """A chip of the legend: click hides, double click isolates."""

    def __init__(self, name: str, colour: str, off: bool) -> None:
        super().__init__(f"    {name}", "chip", name=name)
        self._name, self._colour, self._off = name, colour, off
        self.toggled_name: Callable[[str], object] = lambda n: None
        self.isolated: Callable[[str], object] = lambda n: None
        restyle(self, off="true" if off else "false")
        self.clicked.connect(lambda: self.toggled_name(self._name))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.isolated(self._name)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        t = theme.current()
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(t.px(11), self.height() / 2 - t.px(5), t.px(10), t.px(10))
        p.setPen(QPen(QColor(self._colour), 1.5))
        p.setBrush(Qt.BrushStyle.NoBrush if self._off else QColor(self._colour))
        p.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3)
        p.end()


class TileRow(QWidget):
    """Cards with one big number each, and on how many nodes it rests."""

    def __init__(self) -> None:
        super().__init__()
        self._row = hbox(self, spacing=12)
        self._labels: dict[str, tuple[QLabel, QLabel, QLabel]] = {}
        self._keys: list[str] = []

    def show_tiles(self, tiles: tuple[TileValue, ...]) -> None:
        self.setVisible(bool(tiles))
        if [t.key for t in tiles] != self._keys:
            clear_layout(self._row)
            self._keys = [t.key for t in tiles]
            self._labels = {t.key: self._card(t.key) for t in tiles}
        for tile in tiles:
            value, unit, nodes = self._labels[tile.key]
            value.setText(tile.value)
            unit.setText(tile.unit)
            nodes.setText(
                self.tr("{live} of {all}").format(live=tile.live, all=tile.total) if tile.live < tile.total else ""
            )

    def _card(self, key: str) -> tuple[QLabel, QLabel, QLabel]:
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
        column.addLayout(row)
        self._row.addWidget(card, 1)
        return value, unit, nodes


class LiveStrip(QWidget):
    """All nodes in a row over the switch (or the ring), each with its GPU and its link's traffic."""

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self.setFixedHeight(theme.current().px(88))
        self.setAccessibleName(self.tr("Live links"))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        width, height = self.width() / t.scale, self.height() / t.scale
        p.setPen(QPen(QColor(c.card_line), 1))
        p.setBrush(QColor(c.surface))
        p.drawRoundedRect(QRectF(0.5, 0.5, width - 1, height - 1), 12, 12)
        nodes = self.controller.nodes
        if not nodes:
            p.end()
            return
        store = self.controller.telemetry
        now = time.monotonic()
        bar = QRectF(16, height - 24, width - 32, 16)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.raised))
        p.drawRoundedRect(bar, 4, 4)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        kind = self.controller.look.topology.kind.value.capitalize() if self.controller.look is not None else ""
        p.drawText(bar.adjusted(12, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, kind)
        step = (width - 32) / len(nodes)
        bad = {name for name, _ in self.controller.bad_halves()}
        for i, node in enumerate(nodes):
            latest = store.latest(node.name) if store is not None else {}
            fresh = store.freshness(node.name, now) if store is not None else None
            stale = fresh is None or fresh.stale or not node.ready
            box = QRectF(16 + i * step, 8, step - 12, 28)
            pen = QPen(QColor(c.line), 1, Qt.PenStyle.DashLine if stale else Qt.PenStyle.SolidLine)
            p.setPen(pen)
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRoundedRect(box, 6, 6)
            colour = t.node_colour(node.number)
            p.setPen(QPen(QColor(colour), 1.5))
            p.setBrush(Qt.BrushStyle.NoBrush if stale else QColor(colour))
            p.drawRoundedRect(QRectF(box.left() + 9.5, box.center().y() - 4.5, 9, 9), 3, 3)
            p.setFont(theme.font(theme.SECOND_PT, QFont.Weight.DemiBold))
            p.setPen(QColor(c.muted if stale else c.text))
            name = p.fontMetrics().elidedText(node.name, Qt.TextElideMode.ElideRight, int(box.width() - 78))
            p.drawText(box.adjusted(26, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
            gpu = latest.get("gpu.util")
            cpu = latest.get("cpu")
            load = gpu if gpu is not None else cpu
            age = fresh.age_s if fresh is not None else None
            text = (seconds(age) if age is not None else "") if stale else "" if load is None else f"{load:.0f} %"
            p.setFont(theme.font(theme.SECOND_PT))
            p.setPen(QColor(c.muted if stale else c.text))
            p.drawText(box.adjusted(0, 0, -10, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text)
            if node.name in bad:
                paint_icon(p, "alert-triangle", QRectF(box.right() - 58, box.center().y() - 7, 14, 14), c.warn)
            self._link(p, box, bar, latest, stale)
        p.end()

    def _link(self, p: QPainter, box: QRectF, bar: QRectF, latest: dict[str, float | None], stale: bool) -> None:
        from stellwerk_gui.widgets.fabricmap.cable import STRAND_WIDTHS, load_step

        c = theme.current().tokens
        sent = [v for k, v in latest.items() if k.startswith("half.") and k.endswith(".tx") and v is not None]
        total = sum(sent)
        x = box.left() + box.width() * 0.45
        for i in range(2):
            step = load_step(total / 2)
            pen = QPen(QColor(c.line if stale else c.load[step]), STRAND_WIDTHS[step])
            if stale:
                pen.setStyle(Qt.PenStyle.DotLine)
            p.setPen(pen)
            p.drawLine(int(x + i * 5), int(box.bottom()), int(x + i * 5), int(bar.top()))
        p.setPen(QColor(c.muted))
        words = self.tr("no data") if stale else f"{total:.1f} Gb/s" if sent else ""
        p.drawText(QRectF(x + 14, box.bottom(), 90, bar.top() - box.bottom()), Qt.AlignmentFlag.AlignVCenter, words)
