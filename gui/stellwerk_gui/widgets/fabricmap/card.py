"""One node's card: a real widget with focus and an accessible name, painted by hand."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from stellwerk.model.units import seconds
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.theme import Tokens
from stellwerk_gui.widgets.controls import plain_tip
from stellwerk_gui.widgets.fabricmap.layout import Anchor
from stellwerk_gui.widgets.fabricmap.view import NodeView, PortView


def translate(text: str) -> str:
    """A word on a card in the user's language."""
    return QCoreApplication.translate("card", text)


STATE_ICON = {
    "ready": ("circle-check", "good"),
    "degraded": ("alert-triangle", "warn"),
    "bad": ("circle-x", "bad"),
    "unreachable": ("clock", "muted"),
    "busy": ("refresh", "muted"),
}


TAB_FLAT, TAB_UPRIGHT = (48.0, 21.0), (30.0, 42.0)


class NodeCard(QWidget):
    """Shows a `NodeView`. Enter or a click opens the node."""

    opened = Signal(str)
    moved = Signal(int, int)  # arrow keys

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.view = NodeView("", 1)
        self.words = False
        self.selected = False
        self.tabs: tuple[tuple[PortView, Anchor], ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_view(
        self, view: NodeView, words: bool, selected: bool, tabs: tuple[tuple[PortView, Anchor], ...] = ()
    ) -> None:
        """`tabs`: the ports with their place, relative to the card."""
        if (view, words, selected, tabs) == (self.view, self.words, self.selected, self.tabs):
            return
        self.view, self.words, self.selected, self.tabs = view, words, selected, tabs
        self.setAccessibleName(f"{view.name}, {view.state_text}")
        self.setAccessibleDescription(view.note)
        self.setToolTip(plain_tip(view.note))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(232, 196)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        move = step.get(Qt.Key(event.key()))
        if move is not None:
            self.moved.emit(*move)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit(self.view.name)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit(self.view.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        Painted(painter, t.tokens, self.view, t.scale).paint(
            QRectF(self.rect()), self.words, self.selected or t.ringed(self), self.underMouse(), self.tabs
        )
        painter.end()


class Painted:
    """One painting of a card. Lengths are design pixels; the painter is scaled once."""

    def __init__(self, painter: QPainter, tokens: Tokens, view: NodeView, scale: float) -> None:
        self.p, self.c, self.v = painter, tokens, view
        self.scale = scale
        self.colour = theme.current().node_colour(view.number)
        self.away = view.state == "unreachable"

    def paint(
        self, box: QRectF, words: bool, marked: bool, hovered: bool, tabs: tuple[tuple[PortView, Anchor], ...]
    ) -> None:
        self.p.scale(self.scale, self.scale)
        box = QRectF(0, 0, box.width() / self.scale, box.height() / self.scale)
        self._ground(box, marked, hovered)
        sides = {at.side for _, at in tabs}
        # Everything keeps clear of a tab at the left; the head only of one at the right that reaches up to it.
        inner = box.adjusted(12, 10 + 22 * ("top" in sides), -12, -8 - 18 * ("bottom" in sides))
        inner.setLeft(inner.left() + 28 * ("left" in sides))
        reach = min((at.y - TAB_UPRIGHT[1] / 2 for _, at in tabs if at.side == "right"), default=box.bottom())
        y = self._head(inner.adjusted(0, 0, -26 if reach < inner.top() + 20 else 0, 0))
        below = inner.adjusted(0, 0, -26 * ("right" in sides), 0)
        if words:
            self._words(below, y)
        else:
            self._meters(below, y)
        for port, at in tabs:
            self._tab(port, at)

    def _tab(self, port: PortView, at: Anchor) -> None:
        """A port inside the edge where its cable leaves, with a bar per half."""
        c = self.c
        upright = at.side in ("left", "right")
        w, h = TAB_UPRIGHT if upright else TAB_FLAT
        left = {"left": at.x, "right": at.x - w}.get(at.side, at.x - w / 2)
        top = {"top": at.y, "bottom": at.y - h}.get(at.side, at.y - h / 2)
        box = QRectF(left, top, w, h).adjusted(0.5, 0.5, -0.5, -0.5)
        wired = any(half.state != "off" for half in port.halves)
        bad = port.state == "bad"
        self.p.setPen(QPen(QColor(c.bad if bad else c.line), 1))
        self.p.setBrush(QColor(c.bad_soft if bad else c.raised if wired else c.surface))
        self.p.drawRoundedRect(box, 4, 4)
        self.p.setFont(theme.font(theme.SECOND_PT))
        self.p.setPen(QColor(c.bad_text if bad else c.text if wired else c.faint))
        self.p.drawText(box, Qt.AlignmentFlag.AlignCenter, f"P{port.number}")
        self.p.setPen(Qt.PenStyle.NoPen)
        count = max(1, len(port.halves))
        for i, half in enumerate(port.halves):
            self.p.setBrush(QColor({"ok": c.good, "warn": c.warn, "bad": c.bad, "off": c.line}[half.state]))
            part = ((h if upright else w) - 8 - 2 * (count - 1)) / count
            along = 4 + i * (part + 2)
            if upright:
                self.p.drawRect(
                    QRectF(box.right() - 3 if at.side == "right" else box.left(), box.top() + along, 3, part)
                )
            else:
                self.p.drawRect(
                    QRectF(box.left() + along, box.bottom() - 3 if at.side == "bottom" else box.top(), part, 3)
                )

    def _ground(self, box: QRectF, marked: bool, hovered: bool) -> None:
        edge = self.c.accent if marked else self.c.line
        pen = QPen(QColor(edge), 2 if marked else 1)
        if self.away:
            pen.setStyle(Qt.PenStyle.DashLine)
        self.p.setPen(pen)
        self.p.setBrush(QColor(self.c.raised if hovered else self.c.surface))
        self.p.drawRoundedRect(box.adjusted(1, 1, -1, -1), 12, 12)

    def _text(
        self, box: QRectF, text: str, colour: str, points: float = 9.0, bold: bool = False, right: bool = False
    ) -> float:
        font = theme.font(points, QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
        self.p.setFont(font)
        self.p.setPen(QColor(colour))
        metrics = self.p.fontMetrics()
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, int(box.width()) + 1)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        self.p.drawText(box, side | Qt.AlignmentFlag.AlignVCenter, shown)
        return float(metrics.horizontalAdvance(shown))

    def _head(self, box: QRectF) -> float:
        v, c = self.v, self.c
        self.p.setPen(Qt.PenStyle.NoPen)
        if self.away:
            self.p.setPen(QPen(QColor(self.colour), 1.5))
            self.p.setBrush(Qt.BrushStyle.NoBrush)
        else:
            self.p.setBrush(QColor(self.colour))
        self.p.drawRoundedRect(QRectF(box.left() + 0.5, box.top() + 4.5, 9, 9), 3, 3)
        name, colour = STATE_ICON[v.state]
        text = v.state_text
        ink = {"good": c.muted, "warn": c.warn_text, "bad": c.bad_text}.get(colour, c.muted)
        self.p.setFont(theme.font(9))
        width = min(float(self.p.fontMetrics().horizontalAdvance(text)), box.width() * 0.5)
        self._text(QRectF(box.right() - width, box.top(), width, 18), text, ink, right=True)
        icon_colour = getattr(c, colour)
        paint_icon(self.p, name, QRectF(box.right() - width - 18, box.top() + 2, 14, 14), icon_colour)
        room = box.width() - width - 18 - 20
        self._text(
            QRectF(box.left() + 17, box.top(), room, 18), v.name, c.muted if self.away else c.text, 10.5, bold=True
        )
        y = box.top() + 18
        if v.subtitle:
            self._text(QRectF(box.left() + 17, y, box.width() - 17, 16), v.subtitle, c.muted)
            y += 16
        return y + 6

    def _words(self, box: QRectF, y: float) -> None:
        for port in self.v.ports:
            name, colour = {
                "ok": ("circle-check", self.c.good),
                "warn": ("alert-triangle", self.c.warn),
                "bad": ("circle-x", self.c.bad),
                "off": ("circle-minus", self.c.muted),
            }[port.state]
            paint_icon(self.p, name, QRectF(box.left(), y + 2, 13, 13), colour)
            self._text(QRectF(box.left() + 20, y, 46, 17), translate("Port {n}").format(n=port.number), self.c.muted)
            ink = {"ok": self.c.text, "bad": self.c.bad_text, "warn": self.c.warn_text, "off": self.c.muted}[port.state]
            self._text(QRectF(box.left() + 68, y, box.width() - 68, 17), port.words, ink)
            y += 22

    def _meters(self, box: QRectF, y: float) -> None:
        v, c = self.v, self.c
        room = box.bottom() - y
        gap = 28 if room >= 118 else 25
        if self.away:
            age = "" if v.age_s is None else translate("{s} old").format(s=seconds(v.age_s))
            self._text(QRectF(box.left(), y, box.width(), 16), age, c.faint)
            y += 18
        if v.gpu_pct is not None:
            y = self._meter(box, y, "GPU", f"{v.gpu_pct:.0f} %", v.gpu_pct / 100, gap)
        if v.mem_used_gib is not None and v.mem_total_gib:
            text = f"{v.mem_used_gib:.1f} / {v.mem_total_gib:.1f} GiB"
            y = self._meter(box, y, translate("Memory"), text, v.mem_used_gib / v.mem_total_gib, gap)
        if room >= 90 and (v.temp_c is not None or v.power_w is not None):
            y = self._small_values(box, y + (4 if gap > 25 else 0))
        if y + 16 <= box.bottom() and v.note:
            self._band(box, y, v.note)
            y += 24
        if y + 14 <= box.bottom() and (v.tx_gbps is not None or v.rx_gbps is not None):
            self._text(QRectF(box.left(), y, 60, 16), translate("Fabric"), c.muted)
            ink = c.faint if self.away else c.text
            self._text(
                QRectF(box.left() + 50, y, box.width() - 50, 16), self._traffic(box.width() - 50), ink, right=True
            )

    def _traffic(self, room: float) -> str:
        """Sent and received; without the digit after the point where a narrow card has no room for it."""
        text = ""
        for digits in (1, 0):
            tx, rx = ("–" if x is None else f"{x:.{digits}f}" for x in (self.v.tx_gbps, self.v.rx_gbps))
            text = f"↑ {tx}  ↓ {rx} Gb/s"
            self.p.setFont(theme.font(9.0))
            if self.p.fontMetrics().horizontalAdvance(text) <= room:
                break
        return text

    def _meter(self, box: QRectF, y: float, name: str, value: str, share: float, gap: float) -> float:
        self._text(QRectF(box.left(), y, 70, 16), name, self.c.muted)
        ink = self.c.faint if self.away else self.c.text
        self._text(QRectF(box.left() + 60, y, box.width() - 60, 16), value, ink, right=True)
        bar = QRectF(box.left(), y + 18, box.width(), 4)
        self.p.setPen(Qt.PenStyle.NoPen)
        self.p.setBrush(QColor(self.c.raised))
        self.p.drawRoundedRect(bar, 2, 2)
        if share > 0:
            self.p.setBrush(QColor(self.c.faint if self.away else self.colour))
            self.p.drawRoundedRect(QRectF(bar.left(), bar.top(), max(4.0, bar.width() * min(1.0, share)), 4), 2, 2)
        return y + gap

    def _small_values(self, box: QRectF, y: float) -> float:
        x = box.left()
        ink = self.c.faint if self.away else self.c.text
        for name, value in (
            ("temperature", None if self.v.temp_c is None else f"{self.v.temp_c:.0f} °C"),
            ("bolt", None if self.v.power_w is None else f"{self.v.power_w:.0f} W"),
        ):
            if value is None:
                continue
            paint_icon(self.p, name, QRectF(x, y + 2, 13, 13), self.c.muted)
            x += 17 + self._text(QRectF(x + 16, y, 80, 17), value, ink) + 14
        return y + 22

    def _band(self, box: QRectF, y: float, text: str) -> None:
        bad = self.v.state == "bad"
        band = QRectF(box.left() - 4, y, box.width() + 8, 20)
        self.p.setPen(Qt.PenStyle.NoPen)
        self.p.setBrush(QColor(self.c.bad_soft if bad else self.c.warn_soft))
        self.p.drawRoundedRect(band, 4, 4)
        self._text(band.adjusted(6, 0, -6, 0), text, self.c.bad_text if bad else self.c.warn_text)
