"""Words that wrap."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel


class Words(QLabel):
    """Wrapped words that keep all of their lines: in a low window a layout would take the last for spare room."""

    def __init__(self, kind: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        if kind:
            self.setProperty("kind", kind)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )

    def setText(self, text: str) -> None:
        if text != self.text():
            super().setText(text)
            self._keep()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        before = self.minimumHeight()
        self._keep()
        if self.minimumHeight() != before:
            # A layout that is at work just now forgets what it is told meanwhile.
            QTimer.singleShot(0, self, self.updateGeometry)

    def _keep(self) -> None:
        self.setMinimumHeight(0)  # Qt's answer is never less than the minimum
        if self.testAttribute(Qt.WidgetAttribute.WA_WState_Polished) and self.width() > 1 and self.text():
            self.setMinimumHeight(self.heightForWidth(self.width()))
