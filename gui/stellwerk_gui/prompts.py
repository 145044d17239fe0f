"""Questions that asyncio's side has for a person, as dialogs in Qt's thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QLineEdit, QWidget

from stellwerk.remote.prompts import PasswordQuestion
from stellwerk.remote.trust import HostKeyAlarm, HostKeyQuestion
from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import Button, Icon, Note, hbox, label, sentence, vbox


class GuiPrompts(QObject):
    """Implements `Prompts`: each question becomes a dialog, its answer goes back to the waiting coroutine."""

    _asked = Signal(str, object, object)  # kind, question, answer callback

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._asked.connect(self._show)
        self.open_dialog: QDialog | None = None

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """Did the person compare the fingerprint and find it right?"""
        return bool(await self._ask("host-key", question))

    async def password(self, question: PasswordQuestion) -> str | None:
        """The login password, or the answer to the machine's own prompt."""
        answer = await self._ask("password", question)
        return answer if isinstance(answer, str) else None

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        """The password for sudo on that machine."""
        answer = await self._ask("sudo", question)
        return answer if isinstance(answer, str) else None

    async def _ask(self, kind: str, question: object) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def answer(value: object) -> None:
            if not loop.is_closed():  # a dialog that the closing window took along
                loop.call_soon_threadsafe(lambda: None if future.done() else future.set_result(value))

        self._asked.emit(kind, question, answer)
        try:
            return await future
        except asyncio.CancelledError:
            self._asked.emit("withdraw", question, None)
            raise

    def _show(self, kind: str, question: Any, answer: Callable[[object], None]) -> None:
        if kind == "withdraw":
            if self.open_dialog is not None:
                self.open_dialog.reject()
            return
        dialog = self._host_key(question, answer) if kind == "host-key" else self._password(kind, question, answer)
        self.open_dialog = dialog
        dialog.finished.connect(self._closed)
        dialog.open()

    def _host_key(self, question: HostKeyQuestion, answer: Callable[[object], None]) -> QDialog:
        dialog = HostKeyDialog(self._window, question)
        dialog.accepted.connect(lambda: answer(True))
        dialog.rejected.connect(lambda: answer(False))
        return dialog

    def _password(self, kind: str, question: PasswordQuestion, answer: Callable[[object], None]) -> QDialog:
        dialog = PasswordDialog(self._window, question, sudo=kind == "sudo")
        dialog.accepted.connect(lambda: answer(dialog.text()))
        dialog.rejected.connect(lambda: answer(None))
        return dialog

    def _closed(self) -> None:
        self.open_dialog = None


class _Dialog(QDialog):
    """A dialog with a heading, content and buttons at the right."""

    def __init__(self, parent: QWidget, title: str, icon: str, colour: str) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(theme.current().px(520))
        self._outer = vbox(self, margins=(20, 20, 20, 16), spacing=12)
        head = hbox(spacing=10)
        head.addWidget(Icon(icon, colour, 20))
        self.heading = label(title, "title", wrap=True)
        head.addWidget(self.heading, 1)
        self._outer.addLayout(head)
        self.content = vbox(spacing=10)
        self._outer.addLayout(self.content)
        self.buttons = hbox(spacing=8)
        self.buttons.addStretch(1)
        self._outer.addSpacing(theme.current().px(4))
        self._outer.addLayout(self.buttons)

    def showEvent(self, event: QShowEvent) -> None:
        # A label that wraps asks for more height than it needs until its width is known.
        width = max(self.minimumWidth(), self.sizeHint().width())
        self.resize(width, self._outer.totalHeightForWidth(width))
        super().showEvent(event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride:
            theme.current().show_focus()
        return super().event(event)


class HostKeyDialog(_Dialog):
    """An unknown host key: the fingerprint, and the command that shows the same one on the machine."""

    def __init__(self, parent: QWidget, question: HostKeyQuestion) -> None:
        super().__init__(parent, self.tr("Is this {node}?").format(node=question.node), "key", "warn")
        self.content.addWidget(
            label(
                self.tr(
                    "This computer has never talked to {host}. Compare the fingerprint with the one that the machine "
                    "itself shows, so that nobody can put another machine in its place."
                ).format(host=question.host),
                wrap=True,
            )
        )
        self.content.addWidget(label(self.tr("Fingerprint ({kind})").format(kind=question.key.kind), "second-muted"))
        self.content.addWidget(_code(question.key.fingerprint))
        self.content.addWidget(label(self.tr("On the machine, this command shows the same:"), "second-muted"))
        self.content.addWidget(_code(question.command))
        refuse = Button(self.tr("Not the same"), on_click=self.reject)
        accept = Button(self.tr("It is the same: trust it"), "primary", on_click=self.accept)
        self.buttons.addWidget(refuse)
        self.buttons.addWidget(accept)
        # The safe answer is the one that Enter gives.
        refuse.setDefault(True)
        refuse.setFocus()


class ChangedKeyDialog(_Dialog):
    """A changed host key: an alarm. Trusting it takes a second, separate act."""

    def __init__(self, parent: QWidget, alarm: HostKeyAlarm) -> None:
        super().__init__(
            parent, self.tr("The host key of {node} has changed").format(node=alarm.node), "alert-triangle", "bad"
        )
        self.content.addWidget(
            Note(
                "bad",
                self.tr("Do not log in unless you know why."),
                self.tr(
                    "The machine was installed anew, or another machine answers in its place. Compare the new "
                    "fingerprint on the machine itself."
                ),
            )
        )
        for text, key in ((self.tr("Known until now"), alarm.trusted), (self.tr("Shown now"), (alarm.shown,))):
            self.content.addWidget(label(text, "second-muted"))
            self.content.addWidget(_code("\n".join(k.fingerprint for k in key)))
        self.content.addWidget(label(self.tr("On the machine, this command shows the right one:"), "second-muted"))
        self.content.addWidget(_code(alarm.command))
        self.buttons.addWidget(Button(self.tr("Trust the new key"), "danger", on_click=self.accept))
        keep = Button(self.tr("Keep it out"), "primary", on_click=self.reject)
        self.buttons.addWidget(keep)
        keep.setDefault(True)
        keep.setFocus()


class PasswordDialog(_Dialog):
    """A password, once. It is kept in memory only."""

    def __init__(self, parent: QWidget, question: PasswordQuestion, *, sudo: bool) -> None:
        title = self.tr("Password for changes on {node}") if sudo else self.tr("Password for {node}")
        super().__init__(parent, title.format(node=question.node), "lock", "muted")
        who = f"{question.user}@{question.host}"
        text = (
            self.tr("sudo on {who} asks for a password. It is kept in memory until the wizard ends, nowhere else.")
            if sudo
            else self.tr("Log in once as {who}. After that a key of this cluster is used; the password is not kept.")
        )
        self.content.addWidget(label(text.format(who=who), "muted", wrap=True))
        if question.why:
            self.content.addWidget(Note("bad", "", sentence(question.why)))
        if question.prompt:
            self.content.addWidget(label(question.prompt, "second"))
        self.field = QLineEdit()
        self.field.setEchoMode(QLineEdit.EchoMode.Normal if question.echo else QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(title.format(node=question.node))
        self.content.addWidget(self.field)
        self.buttons.addWidget(Button(self.tr("Cancel"), on_click=self.reject))
        self.go = Button(self.tr("Go on"), "primary", on_click=self.accept)
        self.go.setDefault(True)
        self.go.setEnabled(False)
        self.field.textChanged.connect(lambda typed: self.go.setEnabled(bool(typed)))
        self.buttons.addWidget(self.go)
        self.field.setFocus()

    def text(self) -> str:
        return self.field.text()


def _code(text: str) -> Note:
    """A line to compare or to copy."""
    note = Note("plain", "", "")
    note.show_text("plain", "", text)
    note.setAccessibleName(text)
    return note
