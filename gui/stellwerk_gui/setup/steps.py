"""The list of steps at the left, with a tick, a number or a mark for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame

from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.widgets.controls import vbox
from stellwerk_gui.widgets.ink import CENTRE, LEFT, RIGHT, scaled_painter, write
from stellwerk_gui.widgets.pressing import EnterPresses


@dataclass(frozen=True, slots=True)
class PartView:
    """One view of the step in front: its name, how far it is, whether it is the one shown."""

    key: str
    title: str
    note: str
    good: bool
    shown: bool


@dataclass(frozen=True, slots=True)
class StepView:
    """One step: `state` is done | now | bad | ahead."""

    key: str
    title: str
    note: str = ""
    state: str = "ahead"
    reachable: bool = False
    parts: tuple[PartView, ...] = ()


class PartItem(EnterPresses, QAbstractButton):
    """One view of a step, below it."""

    def __init__(self, view: PartView) -> None:
        super().__init__()
        self.view = view
        self.setFixedHeight(theme.current().px(32))
        self.setAccessibleName(f"{view.title}, {view.note}")
        self.setCheckable(True)
        self.setChecked(view.shown)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(176), self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        box = QRectF(36, 0, self.width() / t.scale - 36, self.height() / t.scale)
        if self.view.shown or self.underMouse() or t.ringed(self):
            p.setPen(QPen(QColor(c.accent), 2) if t.ringed(self) else Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.raised if self.view.shown else c.surface))
            p.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)
        name, colour = ("circle-check", c.good) if self.view.good else ("circle-x", c.bad)
        paint_icon(p, name, QRectF(box.left() + 9, box.center().y() - 7, 14, 14), colour)
        p.setFont(theme.font(theme.SECOND_PT))
        note_w = p.fontMetrics().horizontalAdvance(self.view.note)
        p.setPen(QColor(c.text))
        write(p, QRectF(box.right() - 10 - note_w, 0, note_w + 1, box.height()), RIGHT, self.view.note)
        p.setFont(theme.font(theme.TEXT_PT))
        p.setPen(QColor(c.text if self.view.shown else c.muted))
        write(p, QRectF(box.left() + 32, 0, box.width() - 48 - note_w, box.height()), LEFT, self.view.title)
        p.end()


class StepItem(EnterPresses, QAbstractButton):
    """One line of the list."""

    def __init__(self, number: int, view: StepView) -> None:
        super().__init__()
        self.number, self.view = number, view
        self.setFixedHeight(theme.current().px(54 if view.note else 38))
        self.setEnabled(view.reachable)
        self.setAccessibleName(f"{number}. {view.title}" + (f", {view.note}" if view.note else ""))
        if view.reachable:
            self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(176), self.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
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
            write(p, circle, CENTRE, str(self.number))
        now = self.view.state in ("now", "bad")
        p.setFont(theme.font(theme.TEXT_PT, QFont.Weight.DemiBold if now else QFont.Weight.Medium))
        p.setPen(QColor(c.muted if self.view.state == "ahead" else c.text))
        room = int(width - 42)
        write(p, QRectF(40, 6, room, 24), LEFT, self.view.title)
        if self.view.note:
            p.setFont(theme.font(theme.SECOND_PT))
            p.setPen(QColor(c.muted))
            write(p, QRectF(40, 29, room, 18), LEFT, self.view.note)
        p.end()


class Steps(QFrame):
    """All steps; a click on one that was passed goes back to it."""

    chosen = Signal(str)
    part_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setFixedWidth(theme.current().px(208))
        self._column = vbox(self, margins=(16, 19, 16, 16), spacing=4)
        self._column.addStretch(1)
        self._items: list[QAbstractButton] = []
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
            self._items.append(item)
            for part in view.parts:
                below = PartItem(part)
                below.clicked.connect(lambda _=False, key=part.key: self.part_chosen.emit(key))
                self._items.append(below)
        for place, made in enumerate(self._items):
            self._column.insertWidget(place, made)
