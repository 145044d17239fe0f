"""The frame: rail, pages, status line, command palette, the one place for errors."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QByteArray, QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QAbstractButton, QFrame, QLabel, QMainWindow, QProgressBar, QStackedWidget, QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.palette import Command, CommandPalette
from stellwerk_gui.settings import SettingsFile
from stellwerk_gui.widgets.controls import Button, Icon, Note, frame, hbox, label, plain_tip, vbox

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


@dataclass(frozen=True, slots=True)
class PageEntry:
    """One item of the rail."""

    key: str
    title: str
    icon: str
    bottom: bool = False


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
        self.state = label("", "muted")
        self._title_row.addWidget(self.title)
        self._title_row.addSpacing(theme.current().px(4))
        self.state_icon = Icon("circle-check", "good")
        self.state_icon.hide()
        self._title_row.addWidget(self.state_icon)
        self._title_row.addWidget(self.state, 1)
        outer.addWidget(self.title_bar)
        self.body = QWidget()
        outer.addWidget(self.body, 1)

    def add_action(self, widget: QWidget) -> None:
        """Put a control at the right end of the title line."""
        self._title_row.addWidget(widget)

    def set_state(self, text: str, icon_name: str = "", colour: str = "good") -> None:
        self.state.setText(text)
        self.state_icon.setVisible(bool(icon_name))
        if icon_name:
            self.state_icon.set_icon(icon_name, colour)

    def shown(self) -> None:
        """Called whenever the page comes to the front."""

    def left(self) -> None:
        """Called when another page comes to the front."""

    def commands(self) -> list[Command]:
        """What the command palette offers while this page is open."""
        return []


class RailItem(QAbstractButton):
    """Icon over a short word; an accent bar marks the page in front, a dot says that something waits there."""

    def __init__(self, entry: PageEntry, key_hint: str) -> None:
        super().__init__()
        self.entry = entry
        self.setCheckable(True)
        self.setAutoExclusive(False)
        self.setAccessibleName(entry.title)
        self.setToolTip(f"{entry.title}  {key_hint}" if key_hint else entry.title)
        self._tip = self.toolTip()
        self.badge = ""
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_available(self, available: bool, why: str = "") -> None:
        self.setEnabled(available)
        self.setToolTip(self._tip if available else f"{self.entry.title}: {why}")

    def set_badge(self, severity: str) -> None:
        """ "" | warn | bad."""
        self.badge = severity
        self.update()

    def sizeHint(self) -> QSize:
        t = theme.current()
        low = self.window().height() < t.px(640)
        return QSize(t.px(56), t.px(44 if low else 54))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect())
        if not self.isEnabled():
            painter.setOpacity(0.42)
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(c.raised))
            painter.drawRoundedRect(box, t.px(6), t.px(6))
        if t.ringed(self):
            painter.setPen(QPen(QColor(c.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(1, 1, -1, -1), t.px(6), t.px(6))
        size = t.px(20)
        word = t.px(14)
        top = (box.height() - size - t.px(4) - word) / 2
        place = QRectF((box.width() - size) / 2, top, size, size)
        paint_icon(painter, self.entry.icon, place, c.accent_text if self.isChecked() else c.muted, 1.75)
        painter.setFont(theme.font(theme.SECOND_PT * t.scale))
        painter.setPen(QColor(c.text if self.isChecked() else c.muted))
        text_box = QRectF(0, top + size + t.px(4), box.width(), word)
        shown = painter.fontMetrics().elidedText(self.entry.title, Qt.TextElideMode.ElideRight, round(box.width()))
        painter.drawText(text_box, Qt.AlignmentFlag.AlignCenter, shown)
        if self.badge:
            painter.setPen(QColor(c.canvas))
            painter.setBrush(QColor(c.warn if self.badge == "warn" else c.bad))
            painter.drawEllipse(QRectF(box.width() - t.px(18), t.px(5), t.px(8), t.px(8)))
        painter.end()


class Rail(QFrame):
    """The narrow column at the left."""

    chosen = Signal(str)

    def __init__(self, entries: list[PageEntry]) -> None:
        super().__init__()
        self.setProperty("kind", "rail")
        self.setFixedWidth(theme.current().px(theme.RAIL_PX))
        column = vbox(self, margins=(0, 0, 0, 8), spacing=2)
        self.head = RailHead()
        column.addWidget(self.head)
        column.addSpacing(theme.current().px(8))
        self.items: dict[str, RailItem] = {}
        number = 0
        stretched = False
        for entry in entries:
            if entry.bottom and not stretched:
                column.addStretch(1)
                stretched = True
            number += 0 if entry.bottom else 1
            item = RailItem(entry, "" if entry.bottom else f"Ctrl+{number}")
            item.clicked.connect(lambda _=False, key=entry.key: self.chosen.emit(key))
            column.addWidget(item, 0, Qt.AlignmentFlag.AlignHCenter)
            self.items[entry.key] = item
        if not stretched:
            column.addStretch(1)

    def select(self, key: str) -> None:
        for name, item in self.items.items():
            item.setChecked(name == key)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        t = theme.current()
        for item in self.items.values():
            if item.isChecked():
                painter = QPainter(self)
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(QColor(t.tokens.accent))
                middle = item.geometry().center().y()
                painter.drawRoundedRect(QRectF(-2, middle - t.px(14), t.px(5), t.px(28)), 2, 2)
                painter.end()


class RailHead(QFrame):
    """The cluster's name and health."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(theme.current().px(theme.TITLE_PX))
        column = vbox(self, margins=(2, 8, 2, 8), spacing=2)
        self._name = label("", "strong")
        self._name.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._name)
        row = hbox(spacing=4)
        row.addStretch()
        self._icon = Icon("circle-minus", "muted", 14)
        self._health = label("", "second-muted")
        row.addWidget(self._icon)
        row.addWidget(self._health)
        row.addStretch()
        column.addLayout(row)
        self.show_cluster("", "", "circle-minus", "muted")

    def show_cluster(self, name: str, health: str, icon_name: str, colour: str) -> None:
        width = theme.current().px(theme.RAIL_PX - 6)
        self._name.setText(self._name.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, width))
        self._name.setToolTip(plain_tip(name))
        self._health.setText(health)
        self._icon.set_icon(icon_name, colour)
        self._icon.setVisible(bool(name))


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
        row.addStretch(1)
        self.event_text = label("", "second-muted")
        row.addWidget(self.event_text)
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

    def __init__(self, entries: list[PageEntry], settings: SettingsFile) -> None:
        super().__init__()
        self.setWindowTitle("Stellwerk")
        self.setMinimumSize(SMALLEST)
        self.resize(USUAL)
        self._settings = settings
        if settings.value.window:
            self.restoreGeometry(QByteArray(base64.b64decode(settings.value.window)))
        self.rail = Rail(entries)
        self.rail.chosen.connect(self.open_page)
        self.stack = QStackedWidget()
        self.status = StatusLine(self.open_palette)
        self.pages: dict[str, Page] = {}
        self._entries = entries
        self._front = ""
        self.error_box = ErrorBox(self)
        self._build()
        self._keys()

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
        tops = [e for e in self._entries if not e.bottom]
        for number, entry in enumerate(tops, 1):
            QShortcut(QKeySequence(f"Ctrl+{number}"), self, partial(self.open_page, entry.key))

    def event(self, event: QEvent) -> bool:
        """Every key comes through here before anything else; the first Tab or arrow shows the focus."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and event.key() in WALKING:
            theme.current().show_focus()
        return super().event(event)

    def add_side_panel(self, panel: QWidget) -> None:
        """A panel beside all pages (the virtual cluster's); hidden until it is asked for."""
        panel.hide()
        self._middle.addWidget(panel)

    def tag_trial(self, panel: QWidget) -> None:
        """Say in the status line that the machines are simulated, and open their panel from there."""
        self.status.show_tag(self.tr("Simulated machines"), lambda: panel.setVisible(not panel.isVisible()))

    def add_page(self, key: str, page: Page) -> None:
        self.pages[key] = page
        self.stack.addWidget(page)

    @property
    def front(self) -> str:
        return self._front

    def open_page(self, key: str) -> None:
        """Bring a page to the front; one that is not available stays where it is."""
        item = self.rail.items.get(key)
        if key not in self.pages or (item is not None and not item.isEnabled()):
            return
        if self._front in self.pages and self._front != key:
            self.pages[self._front].left()
        self._front = key
        self.rail.select(key)
        self.stack.setCurrentWidget(self.pages[key])
        self.pages[key].shown()

    def open_palette(self) -> None:
        commands = [
            Command(self.tr("Go to {page}").format(page=entry.title), partial(self.open_page, entry.key))
            for entry in self._entries
            if self.rail.items[entry.key].isEnabled()
        ]
        front = self.pages.get(self._front)
        if front is not None:
            commands = [*front.commands(), *commands]
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
        window.installEventFilter(self)

    def show_error(self, error: StellwerkError) -> None:
        head = f"{error.node}: {error.what}" if error.node else error.what
        self._note.show_text(
            "bad", head, " ".join(p if p.endswith(".") else p + "." for p in (error.why, error.remedy) if p)
        )
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
        self.move(left, self._window.height() - t.px(theme.STATUS_PX + 16) - height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            event.type() == QEvent.Type.KeyPress
            and self.isVisible()
            and getattr(event, "key", int)() == Qt.Key.Key_Escape
        ):
            self.hide()
            return True
        return super().eventFilter(watched, event)


def text_of(widget: QLabel) -> str:
    """What a label shows (for tests that read the screen)."""
    return widget.text()
