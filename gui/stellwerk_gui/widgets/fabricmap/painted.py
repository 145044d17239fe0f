"""How a card looks: which of its lines have room, and how they are drawn."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from stellwerk.model.units import seconds
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.theme import Tokens
from stellwerk_gui.widgets.fabricmap.layout import Anchor
from stellwerk_gui.widgets.fabricmap.view import NodeView, PortView
from stellwerk_gui.widgets.ink import CENTRE, LEFT, RIGHT, wrapped, write

STATE_ICON = {
    "ready": ("circle-check", "good"),
    "degraded": ("alert-triangle", "warn"),
    "bad": ("circle-x", "bad"),
    "unreachable": ("clock", "muted"),
    "busy": ("refresh", "muted"),
}
TAB_FLAT, TAB_ALONE, TAB_UPRIGHT = (52.0, 23.0), (44.0, 24.0), (32.0, 44.0)
Tabs = tuple[tuple[PortView, Anchor], ...]


def translate(text: str) -> str:
    """A word on a card in the user's language."""
    return QCoreApplication.translate("card", text)


@dataclass(frozen=True, slots=True)
class Part:
    """One line of a card: how high it is with air, without, and how gladly it is left out (0: never)."""

    key: str
    high: float
    low: float
    give_up: int = 0


PARTS = {
    "subtitle": Part("subtitle", 18, 16, 3),
    "age": Part("age", 20, 18),
    "load": Part("load", 29, 23),
    "memory": Part("memory", 31, 24),
    "values": Part("values", 26, 20, 2),
    "foot": Part("foot", 26, 18, 1),
    "two_lines": Part("two_lines", 38, 36, 1),
    "three_lines": Part("three_lines", 53, 51, 1),
}
BAND_PAD, LINE = 7.0, 15.0


def parts_that_fit(keys: tuple[str, ...], room: float) -> tuple[tuple[str, float], ...]:
    """Which lines are drawn into `room` and how high each is; the least important ones go first."""
    kept = [PARTS[key] for key in keys]
    while sum(part.low for part in kept) > room and any(part.give_up for part in kept):
        kept.remove(max(kept, key=lambda part: part.give_up))
    low, high = sum(part.low for part in kept), sum(part.high for part in kept)
    air = 1.0 if high <= low else max(0.0, min(1.0, (room - low) / (high - low)))
    return tuple((part.key, part.low + air * (part.high - part.low)) for part in kept)


class Painted:
    """One painting of a card. Lengths are design pixels; the painter is scaled once."""

    def __init__(self, painter: QPainter, tokens: Tokens, view: NodeView, scale: float, words_room: float) -> None:
        self.p, self.c, self.v = painter, tokens, view
        self.scale, self.words_room = scale, words_room
        self.colour = theme.current().node_colour(view.number)
        self.away = view.state == "unreachable"
        self.ink = tokens.faint if self.away else tokens.text
        self.card, self.free = QRectF(), 0.0

    def paint(self, box: QRectF, words: bool, marked: bool, hovered: bool, tabs: Tabs) -> None:
        self.p.scale(self.scale, self.scale)
        box = QRectF(0, 0, box.width() / self.scale, box.height() / self.scale)
        self._ground(box, marked, hovered)
        sides = {at.side for _, at in tabs}
        # Everything keeps clear of a tab at the left; the head only of one at the right that reaches up to it.
        self.card = box
        # Below the tabs at the sides a line may have the whole width.
        self.free = max((at.y + TAB_UPRIGHT[1] / 2 for _, at in tabs if at.side in ("left", "right")), default=0.0)
        inner = box.adjusted(12, 10 + 22 * ("top" in sides), -12, -6 - 22 * ("bottom" in sides))
        inner.setLeft(inner.left() + 28 * ("left" in sides))
        reach = min((at.y - TAB_UPRIGHT[1] / 2 for _, at in tabs if at.side == "right"), default=box.bottom())
        y = self._head(inner.adjusted(0, 0, -26 if reach < inner.top() + 20 else 0, 0))
        below = inner.adjusted(0, 0, -26 * ("right" in sides), 0)
        if words:
            self._words(below, y + 6)
        else:
            self._live(below, y)
        for port, at in tabs:
            alone = sum(other.side == at.side for _, other in tabs) == 1
            upright = at.side in ("left", "right")
            self._tab(port, at, TAB_UPRIGHT if upright else TAB_ALONE if alone else TAB_FLAT)

    # -- ground, ports, head -------------------------------------------------------------------------------------

    def _tab(self, port: PortView, at: Anchor, size: tuple[float, float]) -> None:
        """A port inside the edge where its cable leaves, with a bar per half."""
        c = self.c
        upright = at.side in ("left", "right")
        w, h = size
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
        # Clear of the lights, which lie at the edge.
        shift = {"top": (0, 3, 0, 0), "bottom": (0, 0, 0, -3), "left": (4, 0, 0, 0), "right": (0, 0, -4, 0)}[at.side]
        write(self.p, box.adjusted(*shift), CENTRE, f"P{port.number}")
        self.p.setPen(Qt.PenStyle.NoPen)
        count = max(1, len(port.halves))
        for i, half in enumerate(port.halves):
            self.p.setBrush(QColor({"ok": c.good, "warn": c.warn, "bad": c.bad, "off": c.line}[half.state]))
            part = ((h if upright else w) - 12 - 3 * (count - 1)) / count
            along = 6 + i * (part + 3)
            if upright:
                x = box.right() - 4 if at.side == "right" else box.left() + 1
                self.p.drawRoundedRect(QRectF(x, box.top() + along, 3, part), 1.5, 1.5)
            else:
                y = box.bottom() - 4 if at.side == "bottom" else box.top() + 1
                self.p.drawRoundedRect(QRectF(box.left() + along, y, part, 3), 1.5, 1.5)

    def _ground(self, box: QRectF, marked: bool, hovered: bool) -> None:
        edge = self.c.accent if marked else self.c.line
        pen = QPen(QColor(edge), 2 if marked else 1)
        if self.away:
            pen.setStyle(Qt.PenStyle.DashLine)
        self.p.setPen(pen)
        self.p.setBrush(QColor(self.c.raised if hovered else self.c.surface))
        inset = 1.0 if marked else 0.5
        self.p.drawRoundedRect(box.adjusted(inset, inset, -inset, -inset), 12, 12)

    def _text(
        self,
        box: QRectF,
        text: str,
        colour: str,
        points: float = 9.0,
        bold: bool = False,
        right: bool = False,
        may_shorten: bool = False,
    ) -> float:
        self.p.setFont(theme.font(points, QFont.Weight.DemiBold if bold else QFont.Weight.Normal))
        self.p.setPen(QColor(colour))
        return write(self.p, box, RIGHT if right else LEFT, text, may_shorten=may_shorten)

    def _head(self, box: QRectF) -> float:
        """Swatch, name, state. The name is worth more than the word of the state, which has an icon as well."""
        v, c = self.v, self.c
        self.p.setPen(QPen(QColor(self.colour), 1.5) if self.away else Qt.PenStyle.NoPen)
        self.p.setBrush(Qt.BrushStyle.NoBrush if self.away else QColor(self.colour))
        self.p.drawRoundedRect(QRectF(box.left() + 0.5, box.top() + 5.5, 9, 9), 3, 3)
        name_font = theme.font(10.5, QFont.Weight.DemiBold)
        needed = QFontMetricsF(name_font).horizontalAdvance(v.name)
        name, colour = STATE_ICON[v.state]
        state_w = QFontMetricsF(theme.font(9)).horizontalAdvance(v.state_text)
        room = box.width() - 18 - needed - 8  # what the name leaves
        word = state_w + 20 <= room
        icon = v.state_icon and (word or room >= 14)
        used = 0.0
        if word:
            ink = {"good": c.muted, "warn": c.warn_text, "bad": c.bad_text}.get(colour, c.muted)
            self._text(QRectF(box.right() - state_w, box.top(), state_w, 20), v.state_text, ink, right=True)
            used = state_w + 5
        if icon:
            paint_icon(self.p, name, QRectF(box.right() - used - 15, box.top() + 2.5, 15, 15), getattr(c, colour))
            used += 15
        place = QRectF(box.left() + 18, box.top(), box.width() - 18 - used - (6 if used else 0), 20)
        self._text(place, v.name, c.muted if self.away else c.text, 10.5, bold=True, may_shorten=True)
        return box.top() + 20

    # -- the two kinds of cards ----------------------------------------------------------------------------------

    def _words(self, box: QRectF, y: float) -> None:
        for port in self.v.ports:
            name, colour = {
                "ok": ("circle-check", self.c.good),
                "warn": ("alert-triangle", self.c.warn),
                "bad": ("circle-x", self.c.bad),
                "off": ("circle-minus", self.c.muted),
            }[port.state]
            paint_icon(self.p, name, QRectF(box.left(), y + 1.5, 14, 14), colour)
            head, words = translate("Port {n}").format(n=port.number), port.words
            metrics = QFontMetricsF(theme.font(9))
            if 30 + metrics.horizontalAdvance(head) + metrics.horizontalAdvance(words) > box.width() and port.short:
                head, words = f"P{port.number}", port.short
            left = 20 + self._text(QRectF(box.left() + 20, y, 60, 17), head, self.c.muted) + 10
            ink = {"ok": self.c.text, "bad": self.c.bad_text, "warn": self.c.warn_text, "off": self.c.muted}[port.state]
            self._text(QRectF(box.left() + left, y, box.width() - left, 17), words, ink, may_shorten=True)
            y += 22

    def _live(self, box: QRectF, y: float) -> None:
        v = self.v
        keys = []
        if v.subtitle:
            keys.append("subtitle")
        if self.away and v.age_s is not None:
            keys.append("age")
        if v.gpu_pct is not None or v.cpu_pct is not None:
            keys.append("load")
        if v.mem_used_gib is not None and v.mem_total_gib:
            keys.append("memory")
        if v.temp_c is not None or v.power_w is not None:
            keys.append("values")
        if v.note or v.tx_gbps is not None or v.rx_gbps is not None:
            keys.append("foot")
        room = box.bottom() - y
        parts = parts_that_fit(tuple(keys), room)
        if v.note:
            # A note that is cut says nothing: it gets its lines before anything else gets its air.
            lines = len(self._note_lines(self._band(box.adjusted(0, room - 20, 0, 0))))
            for key in ("three_lines", "two_lines")[0 if lines > 2 else 1 if lines > 1 else 2 :]:
                longer = parts_that_fit((*keys[:-1], key), room)
                if longer[-1][0] == key and sum(height for _, height in longer) <= room:
                    parts = longer
                    break
        for key, height in parts:
            # The air of a line lies above it.
            getattr(self, f"_{key}")(QRectF(box.left(), y, box.width(), height))
            y += height

    def _subtitle(self, box: QRectF) -> None:
        place = QRectF(box.left() + 18, box.top(), box.width() - 18, 16)
        metrics = QFontMetricsF(theme.font(9))
        fitting = (text for text in _shorter(self.v.subtitle) if metrics.horizontalAdvance(text) <= self.words_room)
        self._text(place, next(fitting, self.v.subtitle), self.c.muted, may_shorten=True)

    def _age(self, box: QRectF) -> None:
        age = translate("{s} old").format(s=seconds(self.v.age_s or 0.0))
        self._text(QRectF(box.left(), box.bottom() - 17, box.width(), 16), age, self.c.faint)

    def _load(self, box: QRectF) -> None:
        gpu = self.v.gpu_pct
        share = gpu if gpu is not None else self.v.cpu_pct or 0.0
        self._meter(box, "GPU" if gpu is not None else "CPU", f"{share:.0f} %", share / 100)

    def _memory(self, box: QRectF) -> None:
        used, total = self.v.mem_used_gib or 0.0, self.v.mem_total_gib or 1.0
        name = translate("Memory")
        metrics = QFontMetricsF(theme.font(9))
        for text in (f"{used:.1f} / {total:.1f} GiB", f"{used:.0f} / {total:.0f} GiB", f"{used:.0f} GiB"):
            if metrics.horizontalAdvance(name + text) + 10 <= box.width():
                break
        self._meter(box, name, text, used / total)

    def _meter(self, box: QRectF, name: str, value: str, share: float) -> None:
        line = QRectF(box.left(), box.bottom() - 22, box.width(), 16)
        width = self._text(line, name, self.c.muted)
        self._text(line.adjusted(width + 6, 0, 0, 0), value, self.ink, right=True)
        bar = QRectF(box.left(), box.bottom() - 4.5, box.width(), 4)
        self.p.setPen(Qt.PenStyle.NoPen)
        self.p.setBrush(QColor(self.c.raised))
        self.p.drawRoundedRect(bar, 2, 2)
        if share > 0:
            self.p.setBrush(QColor(self.c.faint if self.away else self.colour))
            self.p.drawRoundedRect(QRectF(bar.left(), bar.top(), max(4.0, bar.width() * min(1.0, share)), 4), 2, 2)

    def _values(self, box: QRectF) -> None:
        x, y = box.left(), box.bottom() - 17
        for name, value in (
            ("temperature", None if self.v.temp_c is None else f"{self.v.temp_c:.0f} °C"),
            ("bolt", None if self.v.power_w is None else f"{self.v.power_w:.0f} W"),
        ):
            width = QFontMetricsF(theme.font(9)).horizontalAdvance(value or "")
            if value is None or x + 15 + width > box.right() + 1:
                continue
            paint_icon(self.p, name, QRectF(x - 1, y + 1, 14, 14), self.c.muted)
            x += 15 + self._text(QRectF(x + 15, y, width, 16), value, self.ink) + (14 if box.width() > 140 else 7)

    def _foot(self, box: QRectF) -> None:
        """What is wrong; where nothing is, what the fabric carries."""
        if self.v.note:
            self._note(box, 1)
            return
        line = QRectF(box.left(), box.bottom() - 17, box.width(), 16)
        metrics = QFontMetricsF(theme.font(9))
        fabric = translate("Fabric")
        for digits, name, unit in ((1, fabric, " Gb/s"), (0, fabric, " Gb/s"), (0, "", " Gb/s"), (0, "", "")):
            tx, rx = ("–" if x is None else f"{x:.{digits}f}" for x in (self.v.tx_gbps, self.v.rx_gbps))
            text = f"↑ {tx}  ↓ {rx}{unit}"
            if metrics.horizontalAdvance(name + text) + 10 <= box.width():
                break
        width = self._text(line, name, self.c.muted) + 6 if name else 0.0
        self._text(line.adjusted(width, 0, 0, 0), text, self.ink, right=bool(name))

    def _two_lines(self, box: QRectF) -> None:
        self._note(box, 2)

    def _three_lines(self, box: QRectF) -> None:
        self._note(box, 3)

    def _note(self, box: QRectF, most: int) -> None:
        """What is wrong, on a band of one line or two."""
        bad = self.v.state == "bad"
        band = self._band(box)
        lines = self._note_lines(band)
        if len(lines) > most:
            lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
        self.p.setPen(Qt.PenStyle.NoPen)
        self.p.setBrush(QColor(self.c.bad_soft if bad else self.c.warn_soft))
        band.setTop(band.bottom() - (LINE * len(lines) + 5))
        self.p.drawRoundedRect(band, 4, 4)
        ink = self.c.bad_text if bad else self.c.warn_text
        for i, line in enumerate(lines):
            place = QRectF(band.left() + BAND_PAD, band.top() + 2.5 + i * LINE, band.width() - 2 * BAND_PAD, LINE)
            self._text(place, line, ink, may_shorten=True)

    def _band(self, box: QRectF) -> QRectF:
        """Where the note lies: as wide as the card where no tab is in its way."""
        band = QRectF(box.left() - 4, box.bottom() - 19, box.width() + 8, 20)
        if box.bottom() - 2 * LINE - 5 >= self.free:
            band.setLeft(self.card.left() + 8)
            band.setRight(self.card.right() - 8)
        return band

    def _note_lines(self, band: QRectF) -> list[str]:
        return wrapped(QFontMetricsF(theme.font(9)), self.v.note, band.width() - 2 * BAND_PAD)


def _shorter(text: str) -> tuple[str, ...]:
    """What a machine is, in ever fewer words: without its maker, then what stands in brackets alone."""
    short = text.removeprefix("NVIDIA ")
    bracket = short.partition("(")[2].partition(")")[0]
    bracket = translate("simulated") if bracket == "simulated" else bracket
    return tuple(way for way in (text, short, bracket) if way)
