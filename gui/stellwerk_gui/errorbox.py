"""The one place where errors are shown."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QFrame, QMainWindow

from stellwerk.model.errors import StellwerkError
from stellwerk_gui import theme
from stellwerk_gui.language import local
from stellwerk_gui.widgets.controls import Button, Note, hbox, sentence

FOOTER_PX = 56  # the wizard's buttons: an error must not keep a person from going on


class ErrorBox(QFrame):
    """An error over the page, at the bottom: says what, where, why, what to do; stays until it is closed."""

    def __init__(self, window: QMainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        row = hbox(self, margins=(0, 0, 0, 0), spacing=0)
        self._note = Note("bad")
        row.addWidget(self._note, 1)
        self._close = Button("", "icon", icon_name="x", icon_colour="text", on_click=self.hide, name=self.tr("Close"))
        inner = self._note.layout()
        assert inner is not None
        inner.addWidget(self._close)
        self.hide()
        self._error: StellwerkError | None = None
        window.installEventFilter(self)

    def withdraw(self, error: StellwerkError | None) -> None:
        """What `error` told is over; another one that came after it stays."""
        if error is not None and error is self._error:
            self.hide()

    def show_error(self, error: StellwerkError) -> None:
        self._error = error
        head = f"{local(error.node)}: {local(error.what)}" if error.node else sentence(error.what).removesuffix(".")
        self._note.show_text("bad", head, " ".join(sentence(p) for p in (error.why, error.remedy) if p))
        self.show()
        self.raise_()
        self.place()
        self._close.setFocus(Qt.FocusReason.OtherFocusReason)

    def place(self) -> None:
        t = theme.current()
        width = min(t.px(720), self._window.width() - t.px(theme.RAIL_PX + 32))
        self.setFixedWidth(width)
        height = self.heightForWidth(width) if self.hasHeightForWidth() else self.sizeHint().height()
        self.resize(width, height)
        left = t.px(theme.RAIL_PX) + (self._window.width() - t.px(theme.RAIL_PX) - width) // 2
        self.move(left, self._window.height() - t.px(theme.STATUS_PX + FOOTER_PX + 8) - height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.KeyPress
            and self.isVisible()
            and getattr(event, "key", int)() == Qt.Key.Key_Escape
        ):
            self.hide()
            return True
        return super().eventFilter(watched, event)
