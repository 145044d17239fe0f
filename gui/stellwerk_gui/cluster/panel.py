"""Details of one node, from the right."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QWidget

from stellwerk.model.units import gibibytes_from_kb, link_speed
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import state_word
from stellwerk_gui.widgets.controls import Button, Icon, Note, Swatch, clear_layout, frame, hbox, label, sentence, vbox

if TYPE_CHECKING:
    from stellwerk.fabric.members import Member
    from stellwerk.model.fabric import Port
    from stellwerk_gui.controller import Controller

SPARK_SECONDS = 300.0


class NodePanel(QFrame):
    """Ports with their halves, five minutes of traffic, addresses, machine."""

    closed = Signal()
    logs = Signal(str)
    unpair = Signal(str)

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.controller = controller
        self.name = ""
        self._rates: list[tuple[QLabel, str]] = []
        self._charts: list[HalfChart] = []
        self._shown: object = None
        outer = vbox(self, spacing=0)
        head = hbox(margins=(16, 12, 12, 8), spacing=8)
        self._swatch = hbox()
        head.addLayout(self._swatch)
        self.title = label("", "title")
        head.addWidget(self.title)
        self.tag = label("", "tag-plain")
        head.addWidget(self.tag)
        head.addStretch(1)
        head.addWidget(
            Button("", "icon", icon_name="x", icon_colour="muted", on_click=self.closed.emit, name=self.tr("Close"))
        )
        outer.addLayout(head)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        inner = QWidget()
        self._column = vbox(inner, margins=(16, 4, 16, 16), spacing=10)
        area.setWidget(inner)
        outer.addWidget(area, 1)
        outer.addWidget(frame("line"))
        foot = hbox(margins=(16, 10, 16, 10), spacing=8)
        foot.addWidget(Button(self.tr("Logs"), icon_name="align-left", on_click=lambda: self.logs.emit(self.name)))
        foot.addStretch(1)
        take_out = Button(self.tr("Un-pair"), "ghost", icon_name="trash", on_click=lambda: self.unpair.emit(self.name))
        foot.addWidget(take_out)
        outer.addLayout(foot)

    def show_node(self, name: str) -> None:
        self.name = name
        self._shown = None
        self.refresh()

    def refresh(self) -> None:
        """Numbers every time; the structure only when it changed."""
        node = self.controller.node(self.name)
        member = self._member()
        note = self.controller.node_notes().get(self.name)
        key = (self.name, node, member.facts if member is not None else None, note)
        if key != self._shown:
            self._shown = key
            self._build(member)
        latest = self.controller.telemetry.latest(self.name) if self.controller.telemetry is not None else {}
        for text, netdev in self._rates:
            tx, rx = latest.get(f"half.{netdev}.tx"), latest.get(f"half.{netdev}.rx")
            text.setText("–" if tx is None and rx is None else f"↑ {tx or 0:.1f}  ↓ {rx or 0:.1f} Gb/s")
        for chart in self._charts:
            chart.load(self.controller, self.name)

    def _member(self) -> Member | None:
        look = self.controller.look
        return next((m for m in look.members if m.name == self.name), None) if look is not None else None

    def _build(self, member: Member | None) -> None:
        node = self.controller.node(self.name)
        clear_layout(self._column)
        clear_layout(self._swatch)
        self._rates, self._charts = [], []
        self.title.setText(self.name)
        self._swatch.addWidget(Swatch(self.controller.number(self.name)))
        if node is None:
            return
        self.tag.setText(state_word(node.state))
        note = self.controller.node_notes().get(self.name)
        if note is not None:
            more = next((c for c in self.controller.bad_checks() if c.node == self.name), None)
            why = " ".join(sentence(p) for p in ((more.why, more.remedy) if more is not None else ()) if p)
            self._column.addWidget(Note("bad" if note[0] == "bad" else "warn", sentence(note[1]), why))
        elif not node.ready and node.reason:
            self._column.addWidget(Note("warn", "", node.reason))
        if member is not None:
            for port in member.ports:
                self._port(port)
            self._facts(member)
        self._section(self.tr("Connection"))
        self._pair(self.tr("Address"), node.address)
        self._pair(self.tr("Agent"), node.agent_version or self.tr("not available"))
        self._column.addStretch(1)

    def _section(self, text: str) -> None:
        self._column.addWidget(frame("line"))
        self._column.addWidget(label(text, "heading"))

    def _pair(self, name: str, value: str) -> None:
        row = hbox(spacing=8)
        left = label(name, "second-muted")
        left.setFixedWidth(theme.current().px(108))
        row.addWidget(left, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(value, "second", wrap=True, selectable=True), 1)
        self._column.addLayout(row)

    def _port(self, port: Port) -> None:
        head = hbox(spacing=8)
        head.addWidget(label(self.tr("Port {n}").format(n=port.number), "heading"))
        wired = any(h.netdev.carrier for h in port.halves)
        speed = next((h.netdev.speed_mbps for h in port.halves if h.netdev.speed_mbps), None)
        head.addWidget(label(link_speed(speed) if wired else "", "second-muted"))
        head.addStretch(1)
        if wired:
            mtus = sorted({h.netdev.mtu for h in port.halves if h.netdev.mtu})
            head.addWidget(label("MTU " + ", ".join(map(str, mtus)), "second-muted"))
        else:
            head.addWidget(Icon("circle-minus", "muted", 14))
            head.addWidget(label(self.tr("No cable"), "second-muted"))
        self._column.addLayout(head)
        if not wired:
            return
        for half in port.halves:
            row = hbox(spacing=8)
            row.addWidget(label(half.label, "key"))
            row.addWidget(label(half.netdev.name, "mono"))
            row.addStretch(1)
            rate = label("", "second")
            row.addWidget(rate)
            self._rates.append((rate, half.netdev.name))
            self._column.addLayout(row)
            under = hbox(spacing=8, margins=(26, 0, 0, 0))
            v4 = [a for a in half.netdev.addresses if ":" not in a]
            under.addWidget(label(", ".join(v4) or self.tr("no address"), "second-muted"))
            under.addStretch(1)
            under.addWidget(label(half.rdma.name if half.rdma else "", "second-muted"))
            self._column.addLayout(under)
        chart = HalfChart([h.netdev.name for h in port.halves], [h.label for h in port.halves])
        self._charts.append(chart)
        self._column.addWidget(chart)

    def _facts(self, member: Member) -> None:
        facts = member.facts
        self._section(self.tr("Machine"))
        na = self.tr("not available")
        gpu = facts.gpus[0] if facts.gpus else None
        firmware = sorted({d.firmware for d in facts.rdma if d.firmware})
        self._pair(self.tr("Product"), f"{facts.product or na}, {gibibytes_from_kb(facts.memory.total_kb)}")
        self._pair(self.tr("System"), facts.os_name or na)
        self._pair(self.tr("Kernel"), facts.kernel or na)
        self._pair(
            self.tr("GPU"), f"{gpu.name}, {gpu.driver or na}, CUDA {gpu.cuda or na}" if gpu else facts.gpu_note or na
        )
        self._pair("ConnectX", ", ".join(firmware) or facts.rdma_note or na)
        self._pair(self.tr("Network set by"), facts.network_owner or na)


class HalfChart(QWidget):
    """Five minutes of what a port sent, one line per half."""

    def __init__(self, netdevs: list[str], labels: list[str]) -> None:
        super().__init__()
        self._netdevs, self._labels = netdevs, labels
        self._lines: list[tuple[np.ndarray, np.ndarray]] = []
        self._end = 0.0
        self.setFixedHeight(theme.current().px(96))
        self.setAccessibleName(self.tr("Sent in the last five minutes"))

    def load(self, controller: Controller, node: str) -> None:
        store = controller.telemetry
        if store is None:
            return
        self._end = time.monotonic()
        windows = [store.window(node, f"half.{d}.tx", SPARK_SECONDS, self._end) for d in self._netdevs]
        self._lines = [(np.asarray(w.times), np.asarray(w.values)) for w in windows]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        box = QRectF(0, 18, self.width() / t.scale, self.height() / t.scale - 36)
        p.setFont(theme.font(theme.SECOND_PT))
        top = self._top()
        p.setPen(QColor(c.muted))
        p.drawText(QRectF(0, 0, box.width(), 16), Qt.AlignmentFlag.AlignLeft, self.tr("Sent"))
        p.drawText(QRectF(0, 0, box.width(), 16), Qt.AlignmentFlag.AlignRight, f"{top:g} Gb/s")
        below = QRectF(0, box.bottom() + 2, box.width(), 16)
        p.drawText(below, Qt.AlignmentFlag.AlignLeft, "−5 min")
        p.drawText(below, Qt.AlignmentFlag.AlignRight, self.tr("now"))
        p.setPen(QPen(QColor(c.line), 1))
        p.drawLine(box.topLeft(), box.topRight())
        p.drawLine(box.bottomLeft(), box.bottomRight())
        colours = (c.load[3], c.warn)
        x_legend = 14.0 + p.fontMetrics().horizontalAdvance(self.tr("Sent"))
        for i, (times, values) in enumerate(self._lines):
            p.setPen(QPen(QColor(colours[i % 2]), 1.5))
            p.drawPath(self._path(times, values, box, top))
            p.drawLine(int(x_legend), 8, int(x_legend) + 10, 8)
            p.setPen(QColor(c.muted))
            p.drawText(
                QRectF(x_legend + 14, 0, 50, 16),
                Qt.AlignmentFlag.AlignLeft,
                self.tr("half {n}").format(n=self._labels[i]),
            )
            x_legend += 66
        p.end()

    def _top(self) -> float:
        peak = max((float(np.nanmax(v)) for _, v in self._lines if len(v) and not np.all(np.isnan(v))), default=0.0)
        return next((s for s in (1, 5, 10, 25, 50, 100) if peak <= s), 200)

    def _path(self, times: np.ndarray, values: np.ndarray, box: QRectF, top: float) -> QPainterPath:
        path = QPainterPath()
        draw = False
        for at, value in zip(times, values, strict=True):
            if np.isnan(value):
                draw = False
                continue
            x = box.right() - (self._end - float(at)) / SPARK_SECONDS * box.width()
            y = box.bottom() - min(1.0, float(value) / top) * box.height()
            if draw:
                path.lineTo(x, y)
            else:
                path.moveTo(x, y)
            draw = True
        return path
