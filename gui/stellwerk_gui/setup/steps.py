"""The list of steps at the left, with a tick, a number or a mark for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame

from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.widgets.controls import vbox
from stellwerk_gui.widgets.pressing import EnterPresses


@dataclass(frozen=True, slots=True)
class StepView:
    """One step: `state` is done | now | bad | ahead."""

    key: str
    title: str
    note: str = ""
    state: str = "ahead"
    reachable: bool = False


class StepItem(EnterPresses, QAbstractButton):
    """One line of the list."""

    def __init__(self, number: int, view: StepView) -> None:
        super().__init__()
        self.number, self.view = number, view
        self.setFixedHeight(theme.current().px(52 if view.note else 40))
        self.setEnabled(view.reachable)
        self.setAccessibleName(f"{number}. {view.title}" + (f", {view.note}" if view.note else ""))
        if view.reachable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(176), self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        width = self.width() / t.scale
        circle = QRectF(3, 6, 24, 24)
        ground, ink = {
            "done": (c.good_soft, c.good_text),
            "now": (c.accent, c.on_accent),
            "bad": (c.bad_soft, c.bad_text),
            "ahead": (c.raised, c.muted),
        }[self.view.state]
        p.setPen(QPen(QColor(c.accent), 2) if t.ringed(self) else Qt.PenStyle.NoPen)
        p.setBrush(QColor(ground))
        p.drawEllipse(circle)
        if self.view.state == "done":
            paint_icon(p, "check", circle.adjusted(4, 4, -4, -4), ink, 2.2)
        elif self.view.state == "bad":
            paint_icon(p, "x", circle.adjusted(5, 5, -5, -5), ink, 2.2)
        else:
            p.setFont(theme.font(theme.SECOND_PT, QFont.Weight.DemiBold))
            p.setPen(QColor(ink))
            p.drawText(circle, Qt.AlignmentFlag.AlignCenter, str(self.number))
        now = self.view.state in ("now", "bad")
        p.setFont(theme.font(theme.TEXT_PT, QFont.Weight.DemiBold if now else QFont.Weight.Medium))
        p.setPen(QColor(c.muted if self.view.state == "ahead" else c.text))
        room = int(width - 42)
        title = p.fontMetrics().elidedText(self.view.title, Qt.TextElideMode.ElideRight, room)
        p.drawText(QRectF(40, 6, room, 24), Qt.AlignmentFlag.AlignVCenter, title)
        if self.view.note:
            p.setFont(theme.font(theme.SECOND_PT))
            p.setPen(QColor(c.muted))
            note = p.fontMetrics().elidedText(self.view.note, Qt.TextElideMode.ElideRight, room)
            p.drawText(QRectF(40, 28, room, 18), Qt.AlignmentFlag.AlignVCenter, note)
        p.end()


class Steps(QFrame):
    """All steps; a click on one that was passed goes back to it."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme.current().px(208))
        self._column = vbox(self, margins=(16, 16, 16, 16), spacing=4)
        self._column.addStretch(1)
        self._items: list[StepItem] = []
        self._shown: tuple[StepView, ...] = ()

    def show_steps(self, views: Sequence[StepView]) -> None:
        if tuple(views) == self._shown:
            return
        self._shown = tuple(views)
        for item in self._items:
            item.hide()
            item.deleteLater()
        self._items = []
        for number, view in enumerate(views, 1):
            item = StepItem(number, view)
            item.clicked.connect(lambda _=False, key=view.key: self.chosen.emit(key))
            self._column.insertWidget(number - 1, item)
            self._items.append(item)
