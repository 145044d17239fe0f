"""The narrow column at the left: the cluster's name and health, and the pages."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame

from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.widgets.controls import Icon, hbox, label, plain_tip, restyle, vbox
from stellwerk_gui.widgets.ink import CENTRE, write
from stellwerk_gui.widgets.pressing import EnterPresses

LEAST_SHARE = 0.8  # of the small type: below that a word is no longer easy to read


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One item of the rail."""

    key: str
    title: str
    icon: str
    bottom: bool = False


class RailItem(EnterPresses, QAbstractButton):
    """Icon over a short word; an accent bar marks the page in front."""

    def __init__(self, entry: PageEntry, key_hint: str) -> None:
        super().__init__()
        self.entry = entry
        self.setCheckable(True)
        self.setAutoExclusive(False)
        self.setAccessibleName(entry.title)
        self.setToolTip(f"{entry.title}  {key_hint}" if key_hint else entry.title)
        self._tip = self.toolTip()
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_available(self, available: bool, why: str = "") -> None:
        self.setEnabled(available)
        self.setToolTip(self._tip if available else f"{self.entry.title}: {why}")

    def sizeHint(self) -> QSize:
        t = theme.current()
        low = self.window().height() < t.px(640)
        return QSize(t.px(56), t.px(44 if low else 54))

    def word_font(self) -> QFont:
        """The usual small type, narrower by as much as a long word needs to stay whole."""
        t = theme.current()
        font = theme.font(theme.SECOND_PT * t.scale)
        needed, room = QFontMetricsF(font).horizontalAdvance(self.entry.title), t.px(56) - 2.0
        if needed > room:
            font.setPointSizeF(font.pointSizeF() * max(room / needed, LEAST_SHARE))
        return font

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if not self.isEnabled():
            painter.setOpacity(0.42)
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(c.raised))
            painter.drawRoundedRect(box, t.px(6), t.px(6))
        if t.ringed(self):
            painter.setPen(QPen(QColor(c.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), t.px(6), t.px(6))
        size = t.px(20)
        word = t.px(14)
        top = (box.height() - size - t.px(4) - word) / 2
        place = QRectF((box.width() - size) / 2, top, size, size)
        paint_icon(painter, self.entry.icon, place, c.accent_text if self.isChecked() else c.muted, 1.75)
        painter.setFont(self.word_font())
        painter.setPen(QColor(c.text if self.isChecked() else c.muted))
        text_box = QRectF(0, top + size + t.px(4), box.width(), word)
        write(painter, text_box, CENTRE, self.entry.title)
        painter.end()


class Rail(QFrame):
    """The narrow column at the left."""

    chosen = Signal(str)

    def __init__(self, entries: list[PageEntry]) -> None:
        super().__init__()
        self.setProperty("kind", "rail")
        self.setFixedWidth(theme.current().px(theme.RAIL_PX))
        column = vbox(self, margins=(0, 0, 1, 8), spacing=2)  # the line at the right stays to be seen
        self.head = RailHead()
        column.addWidget(self.head)
        column.addSpacing(theme.current().px(6))
        self.items: dict[str, RailItem] = {}
        number = 0
        stretched = False
        for entry in entries:
            if entry.bottom and not stretched:
                column.addStretch(1)
                stretched = True
            number += 0 if entry.bottom else 1
            item = RailItem(entry, "" if entry.bottom else f"Ctrl+{number}")
            item.clicked.connect(lambda _=False, key=entry.key: self.chosen.emit(key))
            column.addWidget(item, 0, Qt.AlignmentFlag.AlignHCenter)
            self.items[entry.key] = item
        if not stretched:
            column.addStretch(1)

    def select(self, key: str) -> None:
        for name, item in self.items.items():
            item.setChecked(name == key)
        self.update()  # the bar beside the item in front is the rail's own

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        t = theme.current()
        for item in self.items.values():
            if item.isChecked():
                painter = QPainter(self)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(t.tokens.accent))
                middle = item.geometry().center().y()
                painter.drawRoundedRect(QRectF(-2, middle - t.px(14), t.px(5), t.px(28)), 2, 2)
                painter.end()


class RailHead(QFrame):
    """The cluster's name and health."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(theme.current().px(theme.TITLE_PX))
        column = vbox(self, margins=(2, 10, 2, 10), spacing=0)
        self._name = label("", "strong")
        self._name.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._name)
        row = hbox(spacing=4)
        row.addStretch()
        self._icon = Icon("circle-minus", "muted", 14)
        self._health = label("", "second-muted")
        row.addWidget(self._icon)
        row.addWidget(self._health)
        row.addStretch()
        column.addLayout(row)
        self.show_cluster("", "", "circle-minus", "muted")

    def show_cluster(self, name: str, health: str, icon_name: str, colour: str) -> None:
        width = theme.current().px(theme.RAIL_PX - 6)
        self._name.setText(self._name.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, width))
        self._name.setToolTip(plain_tip(name))
        self._health.setText(health)
        self._icon.set_icon(icon_name, colour)
        self._icon.setVisible(bool(name))
        words = colour if colour in ("warn", "bad") else "second-muted"  # healthy is quiet
        if self._health.property("kind") != words:
            restyle(self._health, kind=words)
        kind = "titleline" if name else ""
        if self.property("kind") != kind:
            restyle(self, kind=kind)
