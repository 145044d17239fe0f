"""*Monitor*: tiles, a strip of the live links, four graphs with one crosshair."""

from __future__ import annotations

import csv
import io
import time

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QMenu, QWidget

from stellwerk.telemetry import Freshness, TelemetryStore
from stellwerk_gui import theme
from stellwerk_gui.cluster.tiles import tile_values
from stellwerk_gui.cluster.views import whole_seconds
from stellwerk_gui.controller import Controller
from stellwerk_gui.exporting import export, picture_of
from stellwerk_gui.monitor.metrics import QUANTITIES, line_of
from stellwerk_gui.monitor.strip import LiveStrip, NodeChip
from stellwerk_gui.monitor.tiles import TileRow
from stellwerk_gui.palette import Command
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Combo, Segments, clear_layout, hbox, scroll_area, vbox
from stellwerk_gui.widgets.graph import Graph, GraphGroup, Series
from stellwerk_gui.widgets.hinted import HintedButton

DRAW_MS = 100
LEAST_GRAPH_PX = 176
STRETCHES = (("60", "1 min"), ("300", "5 min"), ("900", "15 min"), ("3600", "1 h"))
DEFAULT_GRAPHS = ("link", "gpu", "memory", "power")


class MonitorPage(Page):
    """Draws at most ten times a second, and only while it is in front."""

    def __init__(self, controller: Controller) -> None:
        super().__init__("")
        self.title.setText(self.tr("Monitor"))
        self.controller = controller
        self.group = GraphGroup(self)
        self.stretch = Segments(STRETCHES, "300")
        self.stretch.chosen.connect(lambda key: self.group.set_window(float(key)))
        self.add_action(self.stretch)
        self.log_axis = Button(self.tr("Log axis"), tip=self.tr("Linear or logarithmic axis of the link graph"))
        self.log_axis.setCheckable(True)
        self.log_axis.toggled.connect(self._toggle_log)
        self.add_action(self.log_axis)
        self.pause = HintedButton(
            self.tr("Pause"), self.tr("Space"), icon_name="player-pause", on_click=self.toggle_pause
        )
        self.add_action(self.pause, short=True)
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
        self._stale_chips: dict[str, NodeChip] = {}
        self._silent: frozenset[str] = frozenset()
        self._last_drawn = 0.0

    def _build(self) -> None:
        outer = vbox(self.body, spacing=0)
        inner = QWidget()
        column = vbox(inner, margins=(16, 0, 16, 12), spacing=12)
        outer.addWidget(scroll_area(inner))  # a low window scrolls; graphs of a few pixels tell nothing
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
            holder.setMinimumHeight(theme.current().px(LEAST_GRAPH_PX))
            self.graphs.append(graph)
            grid.addWidget(holder, i // 2, i % 2)
        column.addLayout(grid, 1)

    def _graph(self, key: str, place: int) -> Graph:
        q = QUANTITIES[key]
        graph = Graph(q.name, q.unit_words, self.group, top=q.top, digits=q.digits)
        choice = Combo(self.tr("Quantity of graph {n}").format(n=place + 1), heading=True)
        for other in QUANTITIES.values():
            choice.addItem(other.name, other.key)
        choice.setCurrentIndex(list(QUANTITIES).index(key))
        choice.currentIndexChanged.connect(lambda: self._choose(place, choice.currentData()))
        choice.currentIndexChanged.connect(lambda: choice.updateGeometry())
        graph.replace_heading(choice)
        return graph

    def _choose(self, place: int, key: str) -> None:
        self._chosen[place] = key
        q = QUANTITIES[key]
        graph = self.graphs[place]
        graph.unit_label.setText(q.unit_words)
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
        if not self.isVisible():
            return  # `shown` asks again
        names = tuple(n.name for n in self.controller.nodes)
        for graph in self.graphs:
            graph.set_series(self._series())
        if names != self._names:
            self._names = names
        self._show_chips()

    def _show_chips(self) -> None:
        clear_layout(self._chips)
        self._stale_chips = {}
        for node in self.controller.nodes:
            stale = node.name in self._silent
            hidden = node.name in self.group.hidden
            chip = NodeChip(node.name, theme.current().node_colour(node.number), off=hidden, stale=stale)
            chip.toggled_name = self.group.toggle
            chip.added = lambda name: self.group.add(name, self._names)
            chip.isolated = lambda name: self.group.isolate(name, self._names)
            self._chips.addWidget(chip)
            if stale:
                self._stale_chips[node.name] = chip

    def toggle_pause(self) -> None:
        if self.group.paused:
            self.group.live()
        else:
            self.group.pause(time.monotonic(), time.time())

    def _stretch_changed(self) -> None:
        paused = self.group.paused
        self.rename_action(self.pause, self.tr("Live") if paused else self.tr("Pause"))
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
        self.strip.setVisible(bool(names))
        silent = frozenset(n for n in names if store.freshness(n, now).stale)
        if silent != self._silent:
            self._silent = silent
            self._show_chips()
        fresh = {n: store.freshness(n, now) for n in names}
        for name, chip in self._stale_chips.items():
            chip.show_age(fresh[name].age_s)
        self._say(names, fresh)
        self.tiles.show_tiles(tile_values(store, names, now), now)
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
            graph.set_limit(self._limit(key, store, names))
            graph.set_top(self._top(key))
            graph.show_lines(lines, now, time.time())

    def _top(self, key: str) -> float:
        """The end of an axis: for links as many times 200 Gb/s as the busiest machine has ports in use."""
        top = QUANTITIES[key].top
        if QUANTITIES[key].metric or self.controller.look is None:
            return top
        ports = [sum(any(h.netdev.carrier for h in p.halves) for p in m.ports) for m in self.controller.look.members]
        return top * max([1, *ports])

    def _limit(self, key: str, store: TelemetryStore, names: list[str]) -> tuple[float, str] | None:
        """What the memory of the smallest machine allows."""
        if key != "memory":
            return None
        totals = [v for v in (store.latest(n).get("mem.total") for n in names) if v is not None]
        return (min(totals), self.tr("{n} usable").format(n=f"{min(totals):.1f}")) if totals else None

    def _say(self, names: list[str], fresh: dict[str, Freshness]) -> None:
        if not names:
            self.set_state(self.tr("No node yet"))
            return
        stale = [(n, f) for n, f in fresh.items() if f.stale]
        live = len(names) - len(stale)
        text = self.tr("{live} of {all} nodes live").format(live=live, all=len(names))
        rate = self.controller.rate_hz
        once = self.tr("1 sample/s")
        often = once if rate == 1 else self.tr("{r} samples/s").format(r=f"{rate:g}")
        if not stale:
            self.set_state(f"{text} · {often}")
            return
        name, f = stale[0]
        odd = (
            self.tr("no data of {n}").format(n=name)
            if f.age_s is None
            else self.tr("{n} stale for {s}").format(n=name, s=whole_seconds(f.age_s))
        )
        self.set_state(f"· {often}", "clock", "muted", before=f"{text},", odd=odd)

    def _export_menu(self) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("Picture (PNG)"), self.export_png)
        menu.addAction(self.tr("Numbers (CSV)"), self.export_csv)
        menu.popup(self.export.mapToGlobal(QPoint(0, self.export.height())))

    def export_png(self) -> None:
        export(self.controller, self.window(), "monitor.png", picture_of(self.body))

    def export_csv(self) -> None:
        export(self.controller, self.window(), "monitor.csv", self.csv_text().encode())

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
