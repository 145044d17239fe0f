"""Ctrl+K: every action by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListWidget, QListWidgetItem, QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import vbox


@dataclass(frozen=True, slots=True)
class Command:
    """An action with a name that a person can type."""

    text: str
    run: Callable[[], object]


def matches(text: str, typed: str) -> bool:
    """Every typed word occurs in the text, in any order, whatever the case."""
    folded = text.casefold()
    return all(word in folded for word in typed.casefold().split())


class CommandPalette(QFrame):
    """A list that narrows while one types. Enter runs, Esc closes."""

    def __init__(self, window: QWidget, commands: Sequence[Command]) -> None:
        super().__init__(window, Qt.WindowType.Popup)
        self.setProperty("kind", "card")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._commands = commands
        column = vbox(self, margins=(8, 8, 8, 8), spacing=8)
        self.field = QLineEdit()
        self.field.setPlaceholderText(self.tr("Type a command"))
        self.field.setAccessibleName(self.tr("Type a command"))
        self.field.textChanged.connect(self._narrow)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setProperty("kind", "choices")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.itemClicked.connect(lambda item: self._run())
        column.addWidget(self.field)
        column.addWidget(self.list)
        self._narrow("")

    def open_centered(self) -> None:
        t = theme.current()
        window = self.parentWidget()
        assert window is not None
        self.resize(t.px(520), t.px(360))
        self.move(window.mapToGlobal(window.rect().topLeft()))
        self.move(self.x() + (window.width() - self.width()) // 2, self.y() + t.px(80))
        self.show()
        self.field.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()))
            if step is not None:
                self.list.setCurrentRow((self.list.currentRow() + step) % max(1, self.list.count()))
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run()
                return True
        return super().eventFilter(watched, event)

    def _narrow(self, typed: str) -> None:
        self.list.clear()
        for command in self._commands:
            if matches(command.text, typed):
                item = QListWidgetItem(command.text)
                item.setData(Qt.ItemDataRole.UserRole, command)
                self.list.addItem(item)
        if not self.list.count():
            nothing = QListWidgetItem(self.tr("No command has that name"))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.list.addItem(nothing)
            self.list.setCurrentRow(-1)
            return
        self.list.setCurrentRow(0)

    def _run(self) -> None:
        item = self.list.currentItem() if self.list.currentRow() >= 0 else None
        command = item.data(Qt.ItemDataRole.UserRole) if item is not None else None
        if command is None:  # that nothing has the name is a line, too: arrows and the mouse reach it
            return
        self.close()
        command.run()
