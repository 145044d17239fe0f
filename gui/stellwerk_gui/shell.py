"""The frame: rail, pages, status line, command palette, the one place for errors."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QProgressBar,
    QSizePolicy,
    QStackedWidget,
    QWidget,
)

from stellwerk.model.errors import StellwerkError
from stellwerk_gui import theme
from stellwerk_gui.errorbox import ErrorBox
from stellwerk_gui.palette import Command, CommandPalette
from stellwerk_gui.rail import PageEntry, Rail
from stellwerk_gui.settings import SettingsFile
from stellwerk_gui.widgets.controls import Button, Elided, Icon, frame, hbox, label, restyle, vbox

WALKING = (
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
    Qt.Key.Key_Left,
    Qt.Key.Key_Right,
    Qt.Key.Key_Up,
    Qt.Key.Key_Down,
)
SMALLEST = QSize(960, 600)
USUAL = QSize(1440, 900)
FRAME_PX = 40  # of a window manager: title bar and borders
SHORT_BELOW_PX = 1040  # of a page: below that the title line has no room for every word


class Page(QWidget):
    """A page: a title line (title, one-line state, actions at the right), then content."""

    def __init__(self, title: str, *, line: bool = False) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        outer = vbox(self, spacing=0)
        self.title_bar = frame("titleline") if line else QFrame()
        self.title_bar.setFixedHeight(theme.current().px(theme.TITLE_PX))
        self._title_row = hbox(self.title_bar, margins=(16, 0, 16, 0))
        self.title = label(title, "title")
        self.state = Elided("", "muted")
        self._title_row.addWidget(self.title)
        self._title_row.addSpacing(theme.current().px(4))
        self.state_icon = Icon("circle-check", "good")
        self.before = Elided("", "muted")
        self.odd = label("", "muted")
        self.before.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        for widget in (self.before, self.state_icon, self.odd):
            widget.hide()
            self._title_row.addWidget(widget)
        self._title_row.addWidget(self.state, 1)
        self._short: dict[Button, str] = {}
        self._rest_words = ""
        outer.addWidget(self.title_bar)
        self.body = QWidget()
        outer.addWidget(self.body, 1)

    def add_action(self, widget: QWidget, *, short: bool = False) -> None:
        """Put a control at the right end of the title line. `short`: in a narrow window its icon is enough."""
        self._title_row.addWidget(widget)
        if short and isinstance(widget, Button):
            self._short[widget] = widget.text()

    def rename_action(self, button: Button, text: str) -> None:
        """Give an action another name; one that is short in a narrow window stays so."""
        if button.text():
            button.setText(text)
        else:
            button.setToolTip(text)
        button.setAccessibleName(text)
        if button in self._short:
            self._short[button] = text

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        narrow = self.width() < theme.current().px(SHORT_BELOW_PX)
        for button, text in self._short.items():
            button.set_short(narrow, text)
        self._fit_state()

    def _fit_state(self) -> None:
        """Where not all words of the line have room, the last of them go: what is odd is worth more."""
        row, words = self._title_row, (self.before, self.state_icon, self.odd, self.state)
        found = (row.itemAt(i) for i in range(row.count()))
        items = [item for item in found if item is not None]
        others = [item for item in items if not any(item.widget() is w for w in words) and not item.isEmpty()]
        taken = sum(item.sizeHint().width() for item in others)
        self.state.setText(self._rest_words)
        shown = [w for w in words if not w.isHidden()]
        gaps = row.spacing() * (sum(not i.isEmpty() for i in items) + 1)
        room = self.width() - taken - gaps - 2 * theme.current().px(16)
        wanted = sum(w.sizeHint().width() for w in shown)
        if wanted > room and self.odd.text():
            self.state.setText("")

    def set_state(
        self, text: str, icon_name: str = "", colour: str = "good", *, before: str = "", odd: str = ""
    ) -> None:
        """One line: what comes `before`, the `odd` part with its icon and colour, and the rest."""
        self.before.setText(before)
        self.before.setVisible(bool(before))
        self.odd.setVisible(bool(odd))
        if self.odd.text() != odd or self.odd.property("state_colour") != colour:
            self.odd.setText(odd)
            restyle(self.odd, kind=f"{colour}-words", state_colour=colour)
        self._rest_words = text
        self.state_icon.setVisible(bool(icon_name))
        if icon_name:
            self.state_icon.set_icon(icon_name, colour)
        self._fit_state()

    def shown(self) -> None:
        """Called whenever the page comes to the front."""

    def left(self) -> None:
        """Called when another page comes to the front."""

    def commands(self) -> list[Command]:
        """What the command palette offers while this page is open."""
        return []


class StatusLine(QFrame):
    """Connection, background work, last event."""

    def __init__(self, open_palette: Callable[[], object]) -> None:
        super().__init__()
        self.setProperty("kind", "status")
        self.setFixedHeight(theme.current().px(theme.STATUS_PX))
        row = hbox(self, margins=(12, 0, 12, 0), spacing=16)
        self._icon = Icon("circle-minus", "muted", 14)
        self.connection = label("", "second-muted")
        left = hbox(spacing=6)
        left.addWidget(self._icon)
        left.addWidget(self.connection)
        row.addLayout(left)
        self.work = label("", "second-muted")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(theme.current().px(120))
        row.addWidget(self.work)
        row.addWidget(self.bar)
        self.tag = Button("", "small", icon_name="bug", icon_colour="info")
        self.tag.hide()
        self._tag_run: Callable[[], object] = lambda: None
        self.tag.clicked.connect(lambda: self._tag_run())
        row.addWidget(self.tag)
        row.addStretch(0)
        self.event_text = Elided("", "second-muted")
        self.event_text.setAlignment(Qt.AlignmentFlag.AlignRight)
        row.addWidget(self.event_text, 1)
        right = hbox(spacing=6)
        right.addWidget(label("Ctrl K", "key"))
        commands = Button(self.tr("Commands"), "quiet", on_click=open_palette)
        commands.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        right.addWidget(commands)
        row.addLayout(right)
        self.set_work("", None)

    def set_connection(self, text: str, icon_name: str, colour: str) -> None:
        self.connection.setText(text)
        self._icon.set_icon(icon_name, colour)

    def show_tag(self, text: str, run: Callable[[], object]) -> None:
        """A small button that says what kind of machines these are."""
        self.tag.setText(text)
        self.tag.setAccessibleName(text)
        self._tag_run = run
        self.tag.show()

    def set_work(self, text: str, share: float | None) -> None:
        """Background work with its progress 0..1, or None where none can be told."""
        self.work.setText(text)
        self.work.setVisible(bool(text))
        self.bar.setVisible(bool(text))
        self.bar.setRange(0, 0 if share is None else 1000)
        if share is not None:
            self.bar.setValue(round(share * 1000))


class Shell(QMainWindow):
    """The window."""

    closing = Signal()
    opened = Signal(str)  # key of the page that came to the front

    def __init__(self, entries: list[PageEntry], settings: SettingsFile) -> None:
        super().__init__()
        self.setWindowTitle("Stellwerk")
        # What is drawn larger needs more room, as far as the screen has it.
        smallest = (SMALLEST * theme.current().scale).boundedTo(self._room()).expandedTo(SMALLEST)
        self.setMinimumSize(smallest)
        self.resize(USUAL.boundedTo(self._room()).expandedTo(smallest))
        self._settings = settings
        if settings.value.window:
            self.restoreGeometry(QByteArray(base64.b64decode(settings.value.window)))
        self.rail = Rail(entries)
        self.rail.chosen.connect(self.go)
        self.stack = QStackedWidget()
        self.status = StatusLine(self.open_palette)
        self.pages: dict[str, Page] = {}
        self._entries = entries
        self._front = ""
        self.way: Callable[[str], str] = lambda key: key  # the page that a person is led to who asks for another one
        self.more_commands: Callable[[], list[Command]] = lambda: []  # what belongs to no page
        self.error_box = ErrorBox(self)
        self._build()
        self._keys()

    def _room(self) -> QSize:
        """What a screen has left for a window when its title bar is taken off: the buttons below must be seen."""
        return self.screen().availableSize() - QSize(0, FRAME_PX)

    def _build(self) -> None:
        middle = QWidget()
        row = hbox(middle, spacing=0)
        row.addWidget(self.rail)
        row.addWidget(self.stack, 1)
        self._middle = row
        whole = QWidget()
        whole.setObjectName("page")
        column = vbox(whole, spacing=0)
        column.addWidget(middle, 1)
        column.addWidget(self.status)
        self.setCentralWidget(whole)

    def _keys(self) -> None:
        QShortcut(QKeySequence("Ctrl+K"), self, self.open_palette)
        QShortcut(QKeySequence("Ctrl+Q"), self, self.close)
        tops = [e for e in self._entries if not e.bottom]
        for number, entry in enumerate(tops, 1):
            QShortcut(QKeySequence(f"Ctrl+{number}"), self, partial(self.go, entry.key))

    def event(self, event: QEvent) -> bool:
        """Every key comes through here before anything else; the first Tab or arrow shows the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in WALKING:
            theme.current().show_focus()
        return super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """A text field keeps its keys to itself; that the focus leaves it is told here.

        Qt asks here, too, when what has the focus is hidden or shut: nobody pressed a key then.
        """
        focus = self.focusWidget()
        if isinstance(focus, (QLineEdit, QPlainTextEdit)) and focus.isVisibleTo(self):
            theme.current().show_focus()
        return super().focusNextPrevChild(forward)

    def add_side_panel(self, panel: QWidget) -> None:
        """A panel beside all pages (the virtual cluster's); hidden until it is asked for."""
        panel.hide()
        self._middle.addWidget(panel)

    def tag_trial(self, toggle: Callable[[], object]) -> None:
        """Say in the status line that the machines are simulated, and open their panel from there."""
        self.status.show_tag(self.tr("Simulated machines"), toggle)

    def add_page(self, key: str, page: Page) -> None:
        self.pages[key] = page
        self.stack.addWidget(page)

    @property
    def front(self) -> str:
        return self._front

    def go(self, key: str) -> None:
        """A person asks for a page."""
        self.open_page(self.way(key))

    def open_page(self, key: str) -> None:
        """Bring a page to the front; one that is not available stays where it is."""
        item = self.rail.items.get(key)
        if key not in self.pages or (item is not None and not item.isEnabled()):
            return
        if self._front != key:
            self.leave()
        self._front = key
        self.rail.select(key)
        self.stack.setCurrentWidget(self.pages[key])
        self.pages[key].shown()
        self.opened.emit(key)

    def leave(self) -> None:
        """Nothing is in front any more: another page comes, or the window closes."""
        front, self._front = self._front, ""
        if front in self.pages:
            self.pages[front].left()

    def open_palette(self) -> None:
        commands = [
            Command(self.tr("Go to {page}").format(page=entry.title), partial(self.go, entry.key))
            for entry in self._entries
            if self.rail.items[entry.key].isEnabled()
        ]
        front = self.pages.get(self._front)
        if front is not None:
            commands = [*front.commands(), *commands]
        commands += self.more_commands()
        CommandPalette(self, commands).open_centered()

    def show_error(self, error: StellwerkError) -> None:
        """The one place where errors are shown."""
        self.error_box.show_error(error)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.error_box.place()

    def closeEvent(self, event: QCloseEvent) -> None:
        geometry = base64.b64encode(self.saveGeometry().data()).decode()
        self._settings.change(window=geometry)
        self.closing.emit()
        super().closeEvent(event)
