"""The panel at the right of a page: a head with a way to close it, and what it shows, which scrolls in a low window."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import Button, frame, hbox, scroll_area, vbox


class SidePanel(QFrame):
    """`head` holds what the panel is about, `column` what it says; `add_foot` gives a row that stays in sight."""

    closed = Signal()

    def __init__(self, width: int, *, spacing: int) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedWidth(theme.current().px(width))
        self._outer = vbox(self, spacing=0)
        line = hbox(margins=(16, 8, 12, 6), spacing=8)
        self.head = hbox(spacing=8)
        line.addLayout(self.head)
        line.addStretch(1)
        line.addWidget(
            Button("", "icon", icon_name="x", icon_colour="muted", on_click=self.closed.emit, name=self.tr("Close"))
        )
        self._outer.addLayout(line)
        inner = QWidget()
        self.column = vbox(inner, margins=(16, 4, 16, 16), spacing=spacing)
        self._outer.addWidget(scroll_area(inner, sideways=False), 1)

    def add_foot(self) -> QHBoxLayout:
        """A row below what scrolls."""
        self._outer.addWidget(frame("line"))
        foot = hbox(margins=(16, 10, 16, 10), spacing=8)
        self._outer.addLayout(foot)
        return foot
