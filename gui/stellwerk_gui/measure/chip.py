"""A chip of the legend: click hides a line, double click shows it alone."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QMouseEvent

from stellwerk_gui import theme
from stellwerk_gui.icons import stroke
from stellwerk_gui.widgets.controls import Button, restyle


class LineChip(Button):
    """Named like its line, with a piece of it; thin while the line is hidden."""

    isolated = Signal(str)

    def __init__(self, name: str, colour: str, off: bool, *, dashed: bool = False) -> None:
        super().__init__(name, "chip", name=name)
        self._name, self._dashed = name, dashed
        self.show_off(colour, off)

    def show_off(self, colour: str, off: bool) -> None:
        """In place, so that the keyboard's focus stays."""
        restyle(self, off="true" if off else "false")
        px = theme.current().px
        self.setIcon(stroke(colour, px(20), px(10), dashed=self._dashed, hollow=off, pad=px(5)))
        self.setIconSize(QSize(px(25), px(10)))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.isolated.emit(self._name)
