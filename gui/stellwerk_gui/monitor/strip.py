"""The strip of the live links, and the chips of the legend."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from stellwerk.model.units import seconds
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import topology_word
from stellwerk_gui.controller import Controller
from stellwerk_gui.icons import paint_icon, swatch
from stellwerk_gui.widgets.controls import Button, restyle
from stellwerk_gui.widgets.fabricmap.cable import STRAND_WIDTHS, load_step

NARROW_BOX_PX = 150  # below that the words beside a link need most of the width


class NodeChip(Button):
    """A chip of the legend: click hides, double click isolates."""

    def __init__(self, name: str, colour: str, off: bool = False, stale: bool = False) -> None:
        super().__init__(name, "chip", name=name)
        if stale:
            self.setText(name + "  " + self.tr("no data"))
            self.setAccessibleName(self.text())
        self._name, self._colour, self._off = name, colour, off
        self.toggled_name: Callable[[str], object] = lambda n: None
        self.isolated: Callable[[str], object] = lambda n: None
        restyle(self, off="true" if off else "false")
        px = theme.current().px
        self.setIcon(swatch(colour, px(10), hollow=off or stale, pad=px(5)))
        self.setIconSize(QSize(px(15), px(10)))
        self.clicked.connect(lambda: self.toggled_name(self._name))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.isolated(self._name)


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
        kind = topology_word(self.controller.look.topology.kind) if self.controller.look is not None else ""
        p.drawText(bar.adjusted(12, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, kind)
        step = (width - 32) / len(nodes)
        bad = {name for name, _ in self.controller.bad_halves()}
        for i, node in enumerate(nodes):
            latest = store.latest(node.name) if store is not None else {}
            fresh = store.freshness(node.name, now) if store is not None else None
            stale = fresh is None or fresh.stale or not node.ready
            box = QRectF(16 + i * step + (6 if i else 0), 8, step - (6 if i in (0, len(nodes) - 1) else 12), 28)
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
            tight = p.fontMetrics().horizontalAdvance(node.name) > box.width() - 78
            room = int(box.width() - (36 if tight else 78))  # where both do not fit, the name is worth more
            name = p.fontMetrics().elidedText(node.name, Qt.TextElideMode.ElideRight, room)
            p.drawText(box.adjusted(26, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, name)
            gpu = latest.get("gpu.util")
            cpu = latest.get("cpu")
            load = gpu if gpu is not None else cpu
            age = fresh.age_s if fresh is not None else None
            text = (seconds(age) if age is not None else "") if stale else "" if load is None else f"{load:.0f} %"
            p.setFont(theme.font(theme.SECOND_PT))
            p.setPen(QColor(c.muted if stale else c.text))
            if not tight:
                p.drawText(
                    box.adjusted(0, 0, -10, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, text
                )
            if node.name in bad:
                paint_icon(p, "alert-triangle", QRectF(box.right() - 58, box.center().y() - 7, 14, 14), c.warn)
            self._link(p, box, bar, latest, stale)
        p.end()

    def _link(self, p: QPainter, box: QRectF, bar: QRectF, latest: dict[str, float | None], stale: bool) -> None:
        c = theme.current().tokens
        sent = [v for k, v in latest.items() if k.startswith("half.") and k.endswith(".tx") and v is not None]
        total = sum(sent)
        x = box.left() + (box.width() * 0.45 if box.width() >= NARROW_BOX_PX else 12)
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
