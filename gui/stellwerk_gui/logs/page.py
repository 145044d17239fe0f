"""*Logs*: what the program did, to follow, filter and copy. Secrets never get here: the logger keeps them out."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit

from stellwerk_gui import theme
from stellwerk_gui.logs.ring import LogLine, LogRing
from stellwerk_gui.palette import Command
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Combo, hbox, label, vbox

SHOW_LINES = 2000
REFRESH_MS = 300


class LogsPage(Page):
    """A filter, a level, a list that follows."""

    def __init__(self, ring: LogRing) -> None:
        super().__init__("")
        self.title.setText(self.tr("Logs"))
        self.ring = ring
        self.follow = Button(self.tr("Follow"), icon_name="arrow-down")
        self.follow.setCheckable(True)
        self.follow.setChecked(True)
        self.add_action(self.follow)
        self.copy = Button(self.tr("Copy"), icon_name="copy", on_click=self.copy_shown)
        self.add_action(self.copy)
        column = vbox(self.body, margins=(16, 0, 16, 16), spacing=8)
        row = hbox(spacing=8)
        self.filter = QLineEdit()
        self.filter.setPlaceholderText(self.tr("Filter"))
        self.filter.setAccessibleName(self.tr("Filter"))
        self.filter.textChanged.connect(self.refresh)
        row.addWidget(self.filter, 1)
        self.level = Combo()
        self.level.setAccessibleName(self.tr("Level"))
        for text, value in (
            (self.tr("All"), 0),
            (self.tr("Information"), 20),
            (self.tr("Warnings"), 30),
            (self.tr("Errors"), 40),
        ):
            self.level.addItem(text, value)
        self.level.setCurrentIndex(1)
        self.level.currentIndexChanged.connect(lambda: self.refresh())
        row.addWidget(self.level)
        self.count = label("", "second-muted")
        row.addWidget(self.count)
        column.addLayout(row)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(SHOW_LINES)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setFont(theme.mono(theme.SECOND_PT * theme.current().scale))
        self.text.setAccessibleName(self.tr("Log"))
        column.addWidget(self.text, 1)
        self._seen, self._shown = -1, 0
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._tick)

    def shown(self) -> None:
        self._timer.start()
        self.refresh()

    def left(self) -> None:
        self._timer.stop()

    def only(self, text: str) -> None:
        """Show only the lines that hold `text` (a node's name)."""
        self.filter.setText(text)

    def _tick(self) -> None:
        if self.ring.count != self._seen:
            self._add()

    def _wanted(self, lines: Sequence[LogLine]) -> list[LogLine]:
        wanted, level = self.filter.text().casefold(), self.level.currentData()
        return [line for line in lines if line.level >= level and wanted in line.text.casefold()][-SHOW_LINES:]

    def shown_lines(self) -> list[LogLine]:
        return self._wanted(self.ring.lines())

    def _add(self) -> None:
        """New lines go to the end: what a person has selected above them stays selected, and in its place."""
        lines, self._seen = self.ring.since(self._seen)
        found = self._wanted(lines)
        if found:
            gone = max(0, self._shown + len(found) - SHOW_LINES)
            at = self.text.verticalScrollBar().value() - gone
            self.text.appendPlainText("\n".join(line.text for line in found))
            self._say(self._shown + len(found) - gone, at)

    def refresh(self) -> None:
        lines, self._seen = self.ring.since(0)
        found = self._wanted(lines)
        at = self.text.verticalScrollBar().value()
        self.text.setPlainText("\n".join(line.text for line in found))
        self._say(len(found), at)

    def _say(self, shown: int, at: int) -> None:
        self._shown = shown
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum() if self.follow.isChecked() else max(0, at))
        self.count.setText(self.tr("1 line") if shown == 1 else self.tr("{n} lines").format(n=shown))

    def copy_shown(self) -> None:
        QApplication.clipboard().setText("\n".join(line.text for line in self.shown_lines()) + "\n")

    def commands(self) -> list[Command]:
        return [Command(self.tr("Copy the log"), self.copy_shown)]
