"""What every step of the wizard is: a view that is told when it comes and goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import Button, hbox, label, vbox

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller
    from stellwerk_gui.setup.steps import PartView


NARROW_PX, MAIN_PX, LEAST_PANEL_PX = 760, 440, 236


class StepPage(QWidget):
    """One step: a heading, a sentence, content, and at most one panel at the right."""

    changed = Signal()  # what the wizard knows may have changed: look at steps and footer again
    go_on = Signal()  # the step is done, go to the next one

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self._row = hbox(self, spacing=0)
        left = QWidget()
        self._row.addWidget(left, 1)
        self.column = vbox(left, margins=(16, 17, 16, 16), spacing=10)
        self._panel: QWidget | None = None
        self._panel_width = 0
        self.footer_note: QWidget | None = None  # shown left in the footer while the step is in front
        head = self._head = hbox(spacing=8)
        words = hbox(spacing=8)
        self.head_start = hbox(spacing=8)
        words.addLayout(self.head_start)
        text = vbox(spacing=3)
        self.heading = label("", "title", wrap=True)
        self.sentence = label("", "muted", wrap=True)
        text.addWidget(self.heading)
        text.addWidget(self.sentence)
        words.addLayout(text, 1)
        head.addLayout(words, 1)
        self.head_actions = hbox(spacing=8)
        head.addLayout(self.head_actions)
        self.column.addLayout(head)

    def say(self, heading: str, sentence: str) -> None:
        """The heading and the sentence below it."""
        self.heading.setText(heading)
        self.sentence.setText(sentence)

    def set_panel(self, panel: QWidget, width: int) -> None:
        """A panel of `width` design pixels at the right."""
        self._panel, self._panel_width = panel, theme.current().px(width)
        panel.setFixedWidth(self._panel_width)
        self._row.addWidget(panel)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the panel gives way, and the actions go below the heading."""
        super().resizeEvent(event)
        px = theme.current().px
        narrow = self.width() < px(NARROW_PX)
        ways = QBoxLayout.Direction
        self._head.setDirection(ways.TopToBottom if narrow else ways.LeftToRight)
        if self._panel is not None:
            self._panel.setFixedWidth(max(px(LEAST_PANEL_PX), min(self._panel_width, self.width() - px(MAIN_PX))))

    def entered(self) -> None:
        """The step comes to the front."""

    def left(self) -> None:
        """Another step or page comes to the front."""

    def note(self) -> str:
        """One short line below the step's name."""
        return ""

    def parts(self) -> tuple[PartView, ...]:
        """The views between which a person may choose, for the list of steps."""
        return ()

    def show_part(self, key: str) -> None:
        """Show one of `parts`."""

    def next_label(self) -> str:
        """The text of the button that goes on."""
        return self.tr("Next")

    def footer_buttons(self) -> tuple[Button, ...]:
        """Further buttons in the footer, left of Back; the step itself shows and hides them."""
        return ()

    def leave(self) -> bool:
        """Called for *Next*; False keeps the step in front (it goes on by itself later)."""
        return True
