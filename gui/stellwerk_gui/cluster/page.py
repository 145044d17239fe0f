"""*Cluster*: one look answers who is there, who is loaded, which cable carries what."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStackedWidget, QTableWidgetItem, QWidget

from stellwerk.model.fabric import PortRef
from stellwerk.model.units import link_speed
from stellwerk_gui import theme
from stellwerk_gui.cluster.cable_panel import CableHover, CablePanel
from stellwerk_gui.cluster.following import Follower
from stellwerk_gui.cluster.legend import Legend
from stellwerk_gui.cluster.panel import NodePanel
from stellwerk_gui.cluster.tiles import TileValue, tile_values
from stellwerk_gui.cluster.views import live_view, topology_in_words
from stellwerk_gui.controller import Controller
from stellwerk_gui.palette import Command
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.columns import spread_columns
from stellwerk_gui.widgets.controls import Button, Segments, clear_layout, frame, hbox, label, vbox
from stellwerk_gui.widgets.fabricmap import FabricMap, NodeView
from stellwerk_gui.widgets.motion import slide_in
from stellwerk_gui.widgets.rows import RowTable

if TYPE_CHECKING:
    from stellwerk.setup.look import Look
    from stellwerk_gui.widgets.fabricmap import CableView

REFRESH_MS = 500
PANEL_OVER_PX = 1200  # below this the panel lies over the map


class ClusterPage(Page):
    """Map or table, tiles above, a panel for one node at the right."""

    set_up = Signal()
    prove = Signal()
    add_node = Signal()
    open_logs = Signal(str)
    unpair = Signal(str)
    test_wanted = Signal(str)
    step_wanted = Signal(str)

    def __init__(self, controller: Controller) -> None:
        super().__init__("")
        self.title.setText(self.tr("Cluster"))
        self.controller = controller
        self.choice = Segments(
            [("map", self.tr("Map")), ("table", self.tr("Table"))], "map", icons=["cluster", "table"]
        )
        self.choice.chosen.connect(self._choose)
        self.add_action(self.choice)
        self.add_button = Button(self.tr("Add node"), icon_name="plus", on_click=self.add_node.emit)
        self.prove_button = Button(
            self.tr("Prove again"), "primary", icon_name="shield-check", on_click=self.prove.emit
        )
        self.add_action(self.add_button, short=True)
        self.add_action(self.prove_button)
        self.go_on_button = Button(
            self.tr("Go on with the set-up"), "primary", icon_name="plug-upright", on_click=self.set_up.emit
        )
        self.add_action(self.go_on_button)
        self._build()
        self._follower = Follower(controller, self)
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._tick)
        controller.nodes_changed.connect(self._heard)
        controller.look_changed.connect(self._heard)
        controller.cluster_changed.connect(self._cluster_changed)
        QShortcut(QKeySequence("Esc"), self, self.close_panel)

    def _build(self) -> None:
        outer = hbox(self.body, spacing=0)
        left = QWidget()
        outer.addWidget(left, 1)
        column = vbox(left, margins=(16, 0, 16, 8), spacing=12)
        self.strip = TileStrip()
        column.addWidget(self.strip)
        self.stack = QStackedWidget()
        self.map = FabricMap()
        self.map.node_opened.connect(self.open_node)
        self.map.cable_opened.connect(self._open_cable)
        self.map.cable_hovered.connect(self._hover_cable)
        self.map.background_clicked.connect(self.close_panel)
        self.table = NodeTable()
        self.table.opened.connect(self.open_node)
        self.empty = self._empty_card()
        for widget in (self.map, self.table, self.empty):
            self.stack.addWidget(widget)
        column.addWidget(self.stack, 1)
        self.legend = Legend()
        column.addWidget(self.legend)
        self.panel = NodePanel(self.controller)
        self.panel.closed.connect(self.close_panel)
        self.panel.logs.connect(self.open_logs)
        self.panel.unpair.connect(self.unpair)
        self.panel.test_wanted.connect(self.test_wanted)
        self.panel.step_wanted.connect(self.step_wanted)
        self.cable_panel = CablePanel(self.controller)
        self.cable_panel.closed.connect(self.close_panel)
        self.side: QWidget = self.panel  # the one of the two that is, or was, open
        for panel in (self.panel, self.cable_panel):
            panel.hide()
            panel.setParent(self.body)
        self.hover = CableHover(self.body, self.controller)
        self._outer = outer

    def _empty_card(self) -> QWidget:
        box = QWidget()
        outer = vbox(box)
        outer.addStretch(1)
        card = frame("dashed")
        card.setFixedWidth(theme.current().px(420))
        column = vbox(card, margins=(24, 40, 24, 40), spacing=16)
        text = label(self.tr("No node belongs to this cluster yet."), "muted", wrap=True)
        text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(text)
        button = Button(self.tr("Set up a cluster"), "primary", icon_name="plug-upright", on_click=self.set_up.emit)
        column.addWidget(button, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addWidget(card, 0, Qt.AlignmentFlag.AlignHCenter)
        outer.addStretch(1)
        return box

    def shown(self) -> None:
        self._timer.start()
        self._tick()

    def left(self) -> None:
        self._timer.stop()

    def _tick(self) -> None:
        self._follower.tick()
        self.refresh()

    def show_as(self, key: str) -> None:
        """Show the cluster as `map` or `table`."""
        self.choice.choose(key)
        self._choose(key)

    def _choose(self, key: str) -> None:
        self.refresh()
        self.stack.setCurrentWidget(self.map if key == "map" else self.table)

    def _cluster_changed(self) -> None:
        self.close_panel()
        self.refresh()

    def _heard(self) -> None:
        """Only in front: a hidden map is drawn anew when it is shown."""
        if self.isVisible():
            self.refresh()

    def refresh(self) -> None:
        """Show what is known now."""
        nodes = self.controller.nodes
        now = time.monotonic()
        self.legend.setVisible(bool(nodes) and self.choice.value == "map")
        for control in (self.choice, self.prove_button):
            control.setEnabled(bool(nodes))
        cluster = self.controller.cluster
        draft = cluster is not None and cluster.topology is None and self.controller.proof is None
        self.go_on_button.setVisible(draft)  # nothing was set up: there is nothing to prove again
        self.prove_button.setVisible(not draft)
        if not nodes:
            self.stack.setCurrentWidget(self.empty)
            self.strip.show_tiles(())
            self.set_state("")
            return
        self.stack.setCurrentWidget(self.map if self.choice.value == "map" else self.table)
        view = live_view(
            self.controller.look,
            nodes,
            self.controller.telemetry,
            now,
            self.controller.node_notes(),
            self.controller.bad_halves(),
        )
        if self.stack.currentWidget() is self.map:
            self.map.show_view(view)
        else:
            self.table.show_nodes(view.nodes)
        if not self.isVisible():
            return
        self.strip.show_tiles(tile_values(self.controller.telemetry, [n.name for n in nodes], now))
        self._say(nodes_ready=sum(n.ready for n in nodes), total=len(nodes))
        if self.panel.isVisible():
            self.panel.refresh()
        if self.cable_panel.isVisible():
            self.cable_panel.refresh()
        if self.hover.isVisible():
            self.hover.details.refresh()

    def _say(self, nodes_ready: int, total: int) -> None:
        look = self.controller.look
        text = self.tr("{ready} of {total} nodes connected").format(ready=nodes_ready, total=total)
        kind = "" if look is None else f"{topology_in_words(look.topology.kind)}{_speed(look)}"
        notes = self.controller.node_notes()
        bad = sum(note[0] == "bad" for note in notes.values())
        odd = ""
        if bad:
            one = self.tr("1 needs attention")
            odd = one if bad == 1 else self.tr("{n} need attention").format(n=bad)
        elif notes:
            odd = self.tr("1 degraded") if len(notes) == 1 else self.tr("{n} degraded").format(n=len(notes))
        elif nodes_ready < total:
            odd = text
        if odd and not notes:
            text, odd = "", text  # who is not there is said by the same words
        if not odd:
            self.set_state(" · ".join(part for part in (text, kind) if part))
            return
        rest = f"· {kind}" if kind else ""
        sign = ("circle-x", "bad") if bad else ("alert-triangle", "warn")
        self.set_state(rest, *sign, before=f"{text}," if text else "", odd=odd)

    def open_node(self, name: str) -> None:
        """Show one node in the panel."""
        self.panel.show_node(name)
        self.map.select(node=name)
        self._open_side(self.panel)

    def _open_cable(self, cable: CableView) -> None:
        self.cable_panel.show_cable(cable)
        self.map.select(cable=(cable.a, cable.b))
        self._open_side(self.cable_panel)

    def _hover_cable(self, cable: CableView | None, at: QPointF) -> None:
        """Both ends, both halves and five minutes of the cable under the mouse; a click keeps them in the panel."""
        open_now = self.cable_panel.isVisible() and cable is not None
        if cable is None or (open_now and self.map.selected_cable == (cable.a, cable.b)):
            self.hover.hide()
        else:
            self.hover.show_cable(cable, QPointF(self.map.mapTo(self.body, at.toPoint())))

    def _open_side(self, panel: QWidget) -> None:
        """Let one of the two panels slide in."""
        self.hover.hide()
        was_open = self.side.isVisible()
        if self.side is not panel:
            self._outer.removeWidget(self.side)
            self.side.hide()
            self.side = panel
        panel.show()
        self._place_panel()
        if not was_open:
            slide_in(panel)

    def close_panel(self) -> None:
        self.hover.hide()
        if self.side.isVisible():
            self._outer.removeWidget(self.side)
            self.side.hide()
            self._fit_legend()
        self.map.select()

    def _fit_legend(self) -> None:
        beside = self.side.width() if self.side.isVisible() and self._outer.indexOf(self.side) >= 0 else 0
        self.legend.fit(self.width() - beside - theme.current().px(32))

    def _place_panel(self) -> None:
        """Beside the map in a wide window, over it in a narrow one."""
        narrow = self.window().width() < theme.current().px(PANEL_OVER_PX)
        panel = self.side
        inside = self._outer.indexOf(panel) >= 0
        if narrow and inside:
            self._outer.removeWidget(panel)
        elif not narrow and not inside:
            self._outer.addWidget(panel)
        if narrow:
            panel.setGeometry(self.body.width() - panel.width(), 0, panel.width(), self.body.height())
            panel.raise_()
        self._fit_legend()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_legend()
        if self.side.isVisible():
            self._place_panel()

    def commands(self) -> list[Command]:
        opens = [
            Command(self.tr("Show {node}").format(node=n.name), partial(self.open_node, n.name))
            for n in self.controller.nodes
        ]
        opens += [
            Command(self.tr("Un-pair {node}").format(node=n.name), partial(self.unpair.emit, n.name))
            for n in self.controller.nodes
        ]
        return [
            Command(self.tr("Prove again"), self.prove.emit),
            Command(self.tr("Add node"), self.add_node.emit),
            Command(self.tr("Map"), partial(self.show_as, "map")),
            Command(self.tr("Table"), partial(self.show_as, "table")),
            *opens,
        ]


class TileStrip(QFrame):
    """One card with a cell per number."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        self._row: QHBoxLayout = hbox(self, margins=(0, 0, 0, 0), spacing=0)
        self._cells: dict[str, tuple[QLabel, QLabel]] = {}
        self.setFixedHeight(theme.current().px(56))

    def show_tiles(self, tiles: tuple[TileValue, ...]) -> None:
        self.setVisible(bool(tiles))
        if [t.key for t in tiles] != list(self._cells):
            clear_layout(self._row)
            self._cells = {}
            for i, tile in enumerate(tiles):
                if i:
                    self._row.addWidget(frame("vline"))
                self._row.addWidget(self._cell(tile.key), 1)
        for tile in tiles:
            value, unit = self._cells[tile.key]
            value.setText(tile.value)
            unit.setText(tile.unit)

    def _cell(self, key: str) -> QWidget:
        names = {
            "fabric": self.tr("Fabric"),
            "gpu": self.tr("GPU, mean"),
            "memory": self.tr("Unified memory"),
            "power": self.tr("Power"),
            "hottest": self.tr("Hottest"),
            "cpu": self.tr("CPU, mean"),
        }
        box = QWidget()
        column = vbox(box, margins=(16, 9, 8, 9), spacing=0)
        column.addWidget(label(names[key], "second-muted"))
        row = hbox(spacing=4)
        value, unit = label("", "heading"), label("", "muted")
        row.addWidget(value)
        row.addWidget(unit)
        row.addStretch(1)
        column.addLayout(row)
        self._cells[key] = (value, unit)
        return box


class NodeTable(RowTable):
    """The same as the map, in rows."""

    opened = Signal(str)

    def __init__(self) -> None:
        heads = [self.tr("Node"), self.tr("State"), "GPU", self.tr("Memory"), self.tr("Temperature")]
        heads += [self.tr("Power"), self.tr("Sent"), self.tr("Received")]
        super().__init__(heads, self.tr("Nodes"))
        self.horizontalHeader().setStretchLastSection(True)
        self.itemActivated.connect(self._activated)

    def _activated(self, item: QTableWidgetItem) -> None:
        name = self.item(item.row(), 0)
        if name is not None:
            self.opened.emit(name.text())

    def show_nodes(self, nodes: tuple[NodeView, ...]) -> None:
        self.setRowCount(len(nodes))
        for row, node in enumerate(nodes):
            cells = (
                node.name,
                node.state_text,
                _number(node.gpu_pct, "%", 0),
                "–" if node.mem_used_gib is None else f"{node.mem_used_gib:.1f} / {node.mem_total_gib or 0:.1f} GiB",
                _number(node.temp_c, "°C", 0),
                _number(node.power_w, "W", 0),
                _number(node.tx_gbps, "Gb/s", 1),
                _number(node.rx_gbps, "Gb/s", 1),
            )
            for column, text in enumerate(cells):
                found = self.item(row, column)
                if found is None:
                    self.setItem(row, column, QTableWidgetItem(text))
                elif found.text() != text:
                    found.setText(text)
        spread_columns(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        spread_columns(self)


def _speed(look: Look) -> str:
    """The speed of the slowest link in use, where it is known."""
    used = {ref for c in look.topology.cabling.cables for ref in (c.a, c.b)}
    used |= {link.port for link in look.topology.cabling.switch_links}
    speeds = [
        half.netdev.speed_mbps
        for member in look.members
        for port in member.ports
        if PortRef(member.name, port.number) in used
        for half in port.halves
        if half.netdev.speed_mbps
    ]
    return f", {link_speed(min(speeds))}" if speeds else ""


def _number(value: float | None, unit: str, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f} {unit}"
