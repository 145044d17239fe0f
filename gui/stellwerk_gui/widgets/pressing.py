"""Enter does what Space does: Qt lets it press a button only inside a dialog."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractButton

ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class EnterPresses:
    """Goes before the button's own class."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        assert isinstance(self, QAbstractButton), "mixed into buttons only"
        if event.key() not in ENTER:
            super().keyPressEvent(event)  # type: ignore[misc]
        elif not event.isAutoRepeat():
            self.click()
