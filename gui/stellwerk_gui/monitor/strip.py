"""The strip of the live links, and the chips of the legend."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QWidget

from stellwerk.telemetry import Freshness
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import topology_word, whole_seconds
from stellwerk_gui.controller import Controller
from stellwerk_gui.icons import paint_icon, swatch
from stellwerk_gui.widgets.controls import Button, restyle
from stellwerk_gui.widgets.fabricmap.cable import STRAND_WIDTHS, load_step
from stellwerk_gui.widgets.ink import LEFT, RIGHT, scaled_painter, write

NARROW_BOX_PX = 150  # below that the words beside a link need most of the width


class NodeChip(Button):
    """A chip of the legend: click hides, double click isolates."""

    def __init__(self, name: str, colour: str, off: bool = False, stale: bool = False) -> None:
        super().__init__(name, "chip", name=name)
        self._name, self._colour = name, colour
        self.toggled_name: Callable[[str], object] = lambda n: None
        self.added: Callable[[str], object] = lambda n: None
        self.isolated: Callable[[str], object] = lambda n: None
        if stale:
            self.show_age(None)
        restyle(self, off="true" if off else "false")
        px = theme.current().px
        self.setIcon(swatch(colour, px(10), hollow=off or stale, pad=px(5)))
        self.setIconSize(QSize(px(15), px(10)))
        self.setToolTip(self.tr("Click hides, double click shows it alone, Ctrl+click adds it"))
        self.clicked.connect(self._clicked)

    def _clicked(self) -> None:
        if QApplication.keyboardModifiers() & Qt.KeyboardModifier.ControlModifier:
            self.added(self._name)
        else:
            self.toggled_name(self._name)

    def show_age(self, age_s: float | None) -> None:
        """How long a node that fell silent has been so."""
        words = self.tr("no data") if age_s is None else self.tr("stale {s}").format(s=whole_seconds(age_s))
        text = f"{self._name}  {words}"
        if text != self.text():
            self.setText(text)
            self.setAccessibleName(text)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.isolated(self._name)


class LiveStrip(QWidget):
    """All nodes in a row over the switch (or the ring), each with its GPU and its link's traffic."""

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self.setFixedHeight(theme.current().px(91))
        self.setAccessibleName(self.tr("Live links"))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
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
        bar = QRectF(16, height - 25, width - 32, 17)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.raised))
        p.drawRoundedRect(bar, 4, 4)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        kind = topology_word(self.controller.look.topology.kind) if self.controller.look is not None else ""
        step = (width - 32) / len(nodes)
        # Beside the first link, which ends on the bar.
        write(p, bar.adjusted(12 if step >= NARROW_BOX_PX + 12 else 26, 0, 0, 0), LEFT, kind)
        bad = {name for name, _ in self.controller.bad_halves()}
        for i, node in enumerate(nodes):
            latest = store.latest(node.name) if store is not None else {}
            fresh = store.freshness(node.name, now) if store is not None else None
            stale = fresh is None or fresh.stale or not node.ready
            box = QRectF(16 + i * step + (6 if i else 0), 8, step - (6 if i in (0, len(nodes) - 1) else 12), 30)
            pen = QPen(QColor(c.line), 1, Qt.PenStyle.DashLine if stale else Qt.PenStyle.SolidLine)
            p.setPen(pen)
            p.setBrush(Qt.BrushStyle.NoBrush if stale else QColor(c.raised))
            p.drawRoundedRect(box, 6, 6)
            colour = t.node_colour(node.number)
            p.setPen(QPen(QColor(colour), 1.5))
            p.setBrush(Qt.BrushStyle.NoBrush if stale else QColor(colour))
            p.drawRoundedRect(QRectF(box.left() + 9.5, box.center().y() - 4.5, 9, 9), 3, 3)
            self._words(p, box, node.name, self._load_words(latest, fresh, stale), stale, node.name in bad)
            self._link(p, box, bar, latest, stale)
        p.end()

    def _load_words(self, latest: Mapping[str, float | None], fresh: Freshness | None, stale: bool) -> str:
        if stale:
            return whole_seconds(fresh.age_s) if fresh is not None and fresh.age_s is not None else ""
        load = latest.get("gpu.util")
        load = load if load is not None else latest.get("cpu")
        return "" if load is None else f"{load:.0f} %"

    def _words(self, p: QPainter, box: QRectF, name: str, load: str, stale: bool, bad: bool) -> None:
        """The name, at the right its load or its age; where both do not fit, the name is worth more."""
        c = theme.current().tokens
        p.setPen(QColor(c.muted if stale else c.text))
        p.setFont(theme.font(theme.SECOND_PT))
        width = QFontMetricsF(p.font()).horizontalAdvance(load)
        bold = theme.font(theme.SECOND_PT, QFont.Weight.DemiBold)
        room = box.width() - 26 - 10 - QFontMetricsF(bold).horizontalAdvance(name) - 6
        right = box.right() - 10
        if load and width <= room:
            write(p, QRectF(right - width, box.top(), width, box.height()), RIGHT, load)
            right, room = right - width - 4, room - width - 4
        icon = "clock" if stale else "alert-triangle" if bad else ""
        if icon and room >= 16:
            paint_icon(p, icon, QRectF(right - 15, box.center().y() - 7, 14, 14), c.muted if stale else c.warn)
            right -= 18
        p.setFont(bold)
        place = QRectF(box.left() + 26, box.top(), right - box.left() - 26, box.height())
        write(p, place, LEFT, name, may_shorten=True)

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
        p.setFont(theme.font(theme.SECOND_PT))
        words = self.tr("no data") if stale else f"{total:.1f} Gb/s" if sent else ""
        write(p, QRectF(x + 14, box.bottom(), 90, bar.top() - box.bottom()), LEFT, words)
