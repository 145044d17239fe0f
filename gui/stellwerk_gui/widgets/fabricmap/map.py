"""The map as a widget: cards on top, cables below, arrows walk, Enter opens."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QHideEvent,
    QMouseEvent,
    QPainter,
    QPainterPathStroker,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import QScrollArea, QWidget

from stellwerk.model.fabric import PortRef, TopologyKind
from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import scroll_area
from stellwerk_gui.widgets.fabricmap.cable import cable_path, label_box, paint_cable, paint_label
from stellwerk_gui.widgets.fabricmap.card import NodeCard
from stellwerk_gui.widgets.fabricmap.layout import Anchor, Box, MapLayout, lay_out, least_size
from stellwerk_gui.widgets.fabricmap.view import CableView, MapView, NodeView
from stellwerk_gui.widgets.ink import CENTRE, LEFT, RIGHT, scaled_painter, write

FRAME_MS = 100  # ten pictures a second are enough for moving dashes
DASH_SPEED = 0.08  # of one dash period per picture
LOW_BAR = 60.0


class FabricMap(QWidget):
    """Shows a `MapView`."""

    node_opened = Signal(str)
    cable_opened = Signal(object)  # CableView
    cable_hovered = Signal(object, QPointF)  # CableView | None, where the mouse is
    background_clicked = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = MapView(TopologyKind.UNKNOWN)
        self.layout_now = MapLayout({}, {})
        self.scrolls = False  # inside a scroll area it asks for the room that its cards need
        self.selected_node = ""
        self.selected_cable: tuple[PortRef, PortRef | None] | None = None
        self._cards: dict[str, NodeCard] = {}
        self._words_room = 0.0
        self._phase = 0.0
        self._hovered: CableView | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.timeout.connect(self._tick)
        self.setMouseTracking(True)
        self.setMinimumSize(320, 240)
        self.setAccessibleName(self.tr("Map of the cluster"))
        theme.current().changed.connect(self._restyled)

    def show_view(self, view: MapView) -> None:
        """Show new data; cards are kept, so that focus and hover stay."""
        places = {n.name: tuple(p.number for p in n.ports) for n in view.nodes}
        before = {n.name: tuple(p.number for p in n.ports) for n in self.view.nodes}
        lines = [(c.a, c.b, c.state) for c in view.cables]
        moved = (
            places != before
            or view.kind != self.view.kind
            or view.words != self.view.words
            or view.order != self.view.order
            or lines != [(c.a, c.b, c.state) for c in self.view.cables]
        )
        self.view = view
        if moved:
            self._ask_for_room()
            self._place()
        for node in view.nodes:
            self._show_card(node)
        self.update()

    def select(self, node: str = "", cable: tuple[PortRef, PortRef | None] | None = None) -> None:
        """Mark one node or one cable."""
        self.selected_node, self.selected_cable = node, cable
        for view in self.view.nodes:
            self._show_card(view)
        self.update()

    def card(self, name: str) -> NodeCard:
        return self._cards[name]

    def sizeHint(self) -> QSize:
        return QSize(980, 700)

    def _restyled(self) -> None:
        self._ask_for_room()
        self._place()
        self.update()

    def _ask_for_room(self) -> None:
        if self.scrolls:
            px, scale = theme.current().px, theme.current().scale
            width, height = least_size(self.view, self.width() / scale)
            self.setMinimumSize(px(width), px(height))

    def _place(self) -> None:
        scale = theme.current().scale
        self.layout_now = lay_out(self.view, self.width() / scale, self.height() / scale)
        self._words_room = self._least_words()
        for name in set(self._cards) - set(self.layout_now.nodes):
            card = self._cards.pop(name)
            card.hide()
            card.deleteLater()
        for view in self.view.nodes:
            if view.name not in self._cards:
                card = NodeCard(self)
                card.opened.connect(self.node_opened)
                card.moved.connect(lambda dx, dy, name=view.name: self._walk(name, dx, dy))
                self._cards[view.name] = card
            box = self.layout_now.nodes[view.name]
            card = self._cards[view.name]
            card.setGeometry(round(box.x * scale), round(box.y * scale), round(box.w * scale), round(box.h * scale))
            self._show_card(view)
            card.show()

    def _least_words(self) -> float:
        """The room that every card has below its name: what does not fit on one is shortened on all."""
        sides: dict[str, set[str]] = {}
        for ref, at in self.layout_now.ports.items():
            sides.setdefault(ref.node, set()).add(at.side)
        rooms = [
            b.w - 42 - 28 * ("left" in s) - 26 * ("right" in s)
            for n, b in self.layout_now.nodes.items()
            for s in [sides.get(n, set())]
        ]
        return min(rooms, default=0.0)

    def _show_card(self, node: NodeView) -> None:
        box = self.layout_now.nodes[node.name]
        tabs = []
        for port in node.ports:
            at = self.layout_now.ports.get(PortRef(node.name, port.number))
            if at is not None:
                tabs.append((port, Anchor(at.x - box.x, at.y - box.y, at.side)))
        self._cards[node.name].words_room = self._words_room
        self._cards[node.name].show_view(node, self.view.words, node.name == self.selected_node, tuple(tabs))

    def _walk(self, name: str, dx: int, dy: int) -> None:
        """Focus the nearest card in the direction of an arrow key."""
        own = self.layout_now.nodes[name]

        def cost(box: Box) -> float:
            along = (box.cx - own.cx) * dx + (box.cy - own.cy) * dy
            across = abs((box.cx - own.cx) * dy) + abs((box.cy - own.cy) * dx)
            return along + 2 * across if along > 1 else float("inf")

        best = min(
            (n for n in self.layout_now.nodes if n != name), key=lambda n: cost(self.layout_now.nodes[n]), default=""
        )
        if best and cost(self.layout_now.nodes[best]) < float("inf"):
            theme.current().show_focus()
            self._cards[best].setFocus(Qt.FocusReason.OtherFocusReason)

    def _ends(self, cable: CableView) -> tuple[Anchor, Anchor] | None:
        a = self.layout_now.ports.get(cable.a)
        b = (self.layout_now.switch_ports or {}).get(cable.a) if cable.b is None else self.layout_now.ports.get(cable.b)
        return (a, b) if a is not None and b is not None else None

    def cable_at(self, x: float, y: float) -> CableView | None:
        """The cable under a point in widget pixels."""
        scale = theme.current().scale
        point = QPointF(x / scale, y / scale)
        for cable in self.view.cables:
            ends = self._ends(cable)
            if ends is None or cable.state in ("missing", "belongs"):
                continue
            stroker = QPainterPathStroker()
            stroker.setWidth(16)
            if stroker.createStroke(cable_path(*ends)).contains(point):
                return cable
        return None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cable = self.cable_at(event.position().x(), event.position().y())
        self.setCursor(Qt.CursorShape.PointingHandCursor if cable else Qt.CursorShape.ArrowCursor)
        if cable is not self._hovered:
            self._hovered = cable
            self.cable_hovered.emit(cable, event.position())

    def leaveEvent(self, event: QEvent) -> None:
        if self._hovered is not None:
            self._hovered = None
            self.cable_hovered.emit(None, QPointF())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        cable = self.cable_at(event.position().x(), event.position().y())
        if cable is not None:
            self.cable_opened.emit(cable)
        else:
            self.background_clicked.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self._ask_for_room()  # a narrower one is higher
        self._place()

    def showEvent(self, event: QShowEvent) -> None:
        self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()

    def _tick(self) -> None:
        moving = any((h.tx_gbps or 0) + (h.rx_gbps or 0) >= 1 for c in self.view.cables for h in c.halves)
        if moving and not theme.current().reduce_motion:
            self._phase = (self._phase + DASH_SPEED) % 1.0
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        painter = scaled_painter(self)
        self._paint_switch(painter)
        phase = -1.0 if t.reduce_motion else self._phase
        for cable in self.view.cables:
            ends = self._ends(cable)
            if ends is not None:
                marked = cable.highlight or self.selected_cable == (cable.a, cable.b)
                paint_cable(painter, cable, *ends, phase, marked)
        painter.setFont(theme.font(theme.SECOND_PT, QFont.Weight.Medium))
        drawn: list[QRectF] = []
        # What is wrong is said first: where two labels would lie on each other, the other one gives way.
        for cable in sorted(self.view.cables, key=lambda c: c.label_state not in ("bad", "warn")):
            ends = self._ends(cable)
            if ends is None or not cable.label:
                continue
            box = label_box(cable, *ends, QFontMetricsF(painter.font()))
            a, b = ends
            # Between narrow cards a label of words would cover both ports: only its sign is left.
            level = a.side in ("left", "right") and b.side in ("left", "right")
            upright = a.side in ("top", "bottom") and b.side in ("top", "bottom")
            short = level and abs(a.x - b.x) < box.width() + 8
            clear = self._clear(box)
            crowded = any(clear.intersects(other) for other in drawn)
            if short or crowded or (upright and abs(a.y - b.y) < box.height() + 8):
                paint_label(painter, cable, box, sign_only=True)
            else:
                paint_label(painter, cable, clear)
                drawn.append(clear)
        self._paint_centre(painter)
        painter.end()

    def _clear(self, box: QRectF) -> QRectF:
        """A label moved off the cards and the switch, which would cover it."""
        solid = [*self.layout_now.nodes.values(), *([self.layout_now.switch] if self.layout_now.switch else [])]
        for other in (QRectF(b.x, b.y, b.w, b.h) for b in solid):
            shared = box.intersected(other)
            if shared.isEmpty():
                continue
            up = box.center().y() < other.center().y()
            box = box.translated(0, -shared.height() - 2 if up else shared.height() + 2)
        return box

    def _paint_switch(self, painter: QPainter) -> None:
        box, switch = self.layout_now.switch, self.view.switch
        if box is None or switch is None:
            return
        c = theme.current().tokens
        bar = QRectF(box.x, box.y, box.w, box.h)
        painter.setPen(QPen(QColor(c.line), 1))
        painter.setBrush(QColor(c.surface))
        painter.drawRoundedRect(bar, 12, 12)
        if bar.height() > bar.width():
            self._paint_upright(painter, bar, switch.name)
            return
        inner = bar.adjusted(20, 0, -20, 0)
        side_font = theme.font(theme.SECOND_PT)
        painter.setFont(theme.font(theme.TEXT_PT, QFont.Weight.DemiBold))
        painter.setPen(QColor(c.text))
        third = inner.width() * 0.3
        write(painter, QRectF(inner.center().x() - third / 2, inner.top(), third, inner.height()), CENTRE, switch.name)
        painter.setFont(side_font)
        painter.setPen(QColor(c.muted))
        if bar.height() < LOW_BAR:  # between ports at both edges there is room for the name alone
            switch = replace(switch, left="", right="")
        room = inner.width() * 0.42
        metrics, right = QFontMetricsF(side_font), switch.right
        while " · " in right and metrics.horizontalAdvance(right) > room:
            right = right.rpartition(" · ")[0]
        write(painter, QRectF(inner.left(), inner.top(), room, inner.height()), LEFT, switch.left, may_shorten=True)
        write(painter, QRectF(inner.right() - room, inner.top(), room, inner.height()), RIGHT, right)
        names = dict(switch.port_names)
        for ref, at in (self.layout_now.switch_ports or {}).items():
            high = 22.0 if bar.height() >= LOW_BAR else 20.0
            tab = QRectF(at.x - 26, at.y if at.side == "top" else at.y - high, 52, high)
            painter.setPen(QPen(QColor(c.line), 1))
            painter.setBrush(QColor(c.raised))
            painter.drawRoundedRect(tab, 4, 4)
            self._paint_light(painter, tab, ref, at.side)
            painter.setPen(QColor(c.muted))
            place = tab.adjusted(2, 4, -2, 0) if at.side == "top" else tab.adjusted(2, 0, -2, -4)
            write(painter, place, CENTRE, names.get(ref, ""), may_shorten=True)

    def _paint_upright(self, painter: QPainter, bar: QRectF, name: str) -> None:
        """A switch between two columns: its name at the top, its ports without theirs."""
        c = theme.current().tokens
        painter.setFont(theme.font(theme.SECOND_PT, QFont.Weight.DemiBold))
        painter.setPen(QColor(c.text))
        write(painter, QRectF(bar.left() + 2, bar.top() + 6, bar.width() - 4, 18), CENTRE, name)
        for ref, at in (self.layout_now.switch_ports or {}).items():
            left = at.side == "left"
            tab = QRectF(at.x if left else at.x - 18, at.y - 22, 18, 44)
            painter.setPen(QPen(QColor(c.line), 1))
            painter.setBrush(QColor(c.raised))
            painter.drawRoundedRect(tab, 4, 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._light(ref)))
            painter.drawRoundedRect(QRectF(tab.left() + 2 if left else tab.right() - 5, tab.top() + 6, 3, 32), 1.5, 1.5)

    def _light(self, ref: PortRef) -> str:
        """The colour of the light of a switch port, so that a port without a name is one all the same."""
        c = theme.current().tokens
        cable = next((x for x in self.view.cables if x.a == ref and x.b is None), None)
        state = cable.state if cable is not None else "off"
        return {"ok": c.good, "warn": c.warn, "bad": c.bad}.get(state, c.line)

    def _paint_light(self, painter: QPainter, tab: QRectF, ref: PortRef, side: str) -> None:
        y = tab.top() + 2 if side == "top" else tab.bottom() - 5
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self._light(ref)))
        painter.drawRoundedRect(QRectF(tab.left() + 6, y, tab.width() - 12, 3), 1.5, 1.5)

    def _paint_centre(self, painter: QPainter) -> None:
        if not self.view.centre_big:
            return
        t = theme.current()
        middle = QRectF(0, 0, self.width() / t.scale, self.height() / t.scale)
        words = QRectF(middle.center().x() - 70, middle.center().y() - 32, 140, 64)
        if any(words.intersects(QRectF(b.x, b.y, b.w, b.h)) for b in self.layout_now.nodes.values()):
            return  # the list of the steps says it as well
        painter.setFont(theme.font(theme.BIG_PT, QFont.Weight.DemiBold))
        painter.setPen(QColor(t.tokens.text))
        write(painter, middle.translated(0, -14), CENTRE, self.view.centre_big)
        painter.setFont(theme.font(theme.TEXT_PT))
        painter.setPen(QColor(t.tokens.muted))
        write(painter, middle.translated(0, 18), CENTRE, self.view.centre_small)


def scrolling(shown: FabricMap) -> QScrollArea:
    """A map that scrolls where its cards would become too small to be read."""
    shown.scrolls = True
    return scroll_area(shown)
