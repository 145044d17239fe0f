"""One node's card: a real widget with focus and an accessible name, painted by hand."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import plain_tip
from stellwerk_gui.widgets.fabricmap.layout import Anchor
from stellwerk_gui.widgets.fabricmap.painted import Painted
from stellwerk_gui.widgets.fabricmap.view import NodeView, PortView


class NodeCard(QWidget):
    """Shows a `NodeView`. Enter or a click opens the node."""

    opened = Signal(str)
    moved = Signal(int, int)  # arrow keys

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.view = NodeView("", 1)
        self.words = False
        self.words_room = 0.0  # below the name, on the narrowest card of the map
        self.selected = False
        self.tabs: tuple[tuple[PortView, Anchor], ...] = ()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def show_view(
        self, view: NodeView, words: bool, selected: bool, tabs: tuple[tuple[PortView, Anchor], ...] = ()
    ) -> None:
        """`tabs`: the ports with their place, relative to the card."""
        if (view, words, selected, tabs) == (self.view, self.words, self.selected, self.tabs):
            return
        self.view, self.words, self.selected, self.tabs = view, words, selected, tabs
        self.setAccessibleName(f"{view.name}, {view.state_text}")
        self.setAccessibleDescription(view.note)
        self.setToolTip(plain_tip("\n".join(line for line in (view.name, view.subtitle, view.note) if line)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(232, 196)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: (-1, 0), Qt.Key.Key_Right: (1, 0), Qt.Key.Key_Up: (0, -1), Qt.Key.Key_Down: (0, 1)}
        move = step.get(Qt.Key(event.key()))
        if move is not None:
            self.moved.emit(*move)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.opened.emit(self.view.name)
        else:
            super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.opened.emit(self.view.name)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        Painted(painter, t.tokens, self.view, t.scale, self.words_room).paint(
            QRectF(self.rect()), self.words, self.selected or t.ringed(self), self.underMouse(), self.tabs
        )
        painter.end()
