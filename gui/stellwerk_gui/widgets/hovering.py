"""Telling that the mouse is over a widget, without a class of its own for each."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class _Over(QObject):
    def __init__(self, widget: QWidget, tell: Callable[[bool], object]) -> None:
        super().__init__(widget)
        self._tell = tell
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self._tell(event.type() is QEvent.Type.Enter)
        return super().eventFilter(watched, event)


def lights(widget: QWidget, tell: Callable[[bool], object]) -> None:
    """Call `tell(True)` when the mouse comes onto `widget`, `tell(False)` when it leaves."""
    _Over(widget, tell)
