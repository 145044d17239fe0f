"""A button that names its key."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import Button, tokens_colour
from stellwerk_gui.widgets.ink import RIGHT, write


class HintedButton(Button):
    """The key stands small behind the word, where both have room."""

    def __init__(self, text: str, hint: str, *, icon_name: str, on_click: object) -> None:
        super().__init__(text, icon_name=icon_name, on_click=on_click)  # type: ignore[arg-type]
        self._hint = hint
        self._make_room()

    def set_short(self, short: bool, text: str) -> None:
        super().set_short(short, text)
        self._make_room()

    def _make_room(self) -> None:
        width = theme.current().px(QFontMetricsF(theme.font(theme.SECOND_PT)).horizontalAdvance(self._hint) + 20)
        self.setStyleSheet(f"padding-right: {width}px;" if self.text() else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.text():
            return
        t = theme.current()
        painter = QPainter(self)
        painter.setFont(theme.font(theme.SECOND_PT * t.scale))
        painter.setPen(tokens_colour("muted"))
        write(painter, QRectF(self.rect()).adjusted(0, 0, -t.px(12), 0), RIGHT, self._hint)
        painter.end()
