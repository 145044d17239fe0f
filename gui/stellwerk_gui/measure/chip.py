"""A chip of the legend: click hides a line, double click shows it alone."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QMouseEvent

from stellwerk_gui import theme
from stellwerk_gui.icons import swatch
from stellwerk_gui.widgets.controls import Button, restyle


class LineChip(Button):
    """Named like its line, with its colour; hollow while the line is hidden."""

    isolated = Signal(str)

    def __init__(self, name: str, colour: str, off: bool) -> None:
        super().__init__(name, "chip", name=name)
        self._name = name
        self.show_off(colour, off)

    def show_off(self, colour: str, off: bool) -> None:
        """In place, so that the keyboard's focus stays."""
        restyle(self, off="true" if off else "false")
        px = theme.current().px
        self.setIcon(swatch(colour, px(10), hollow=off, pad=px(5)))
        self.setIconSize(QSize(px(15), px(10)))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.isolated.emit(self._name)
