"""Small building blocks with the look of the design; strings from machines are always plain text."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)

from stellwerk.model.text import Text
from stellwerk_gui import theme
from stellwerk_gui.icons import icon, paint_icon, pixmap
from stellwerk_gui.language import local
from stellwerk_gui.widgets.pressing import EnterPresses
from stellwerk_gui.widgets.words import Words

BIG_SPACING = 97.0  # percent


def label(text: str = "", kind: str = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """A plain-text label; `kind` chooses its style (see `sheet`)."""
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    if kind:
        made.setProperty("kind", kind)
    made.setWordWrap(wrap)
    if selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
    return made


def big(text: str = "") -> QLabel:
    """A big word or number. Inter is made for small sizes: at this one its letters stand too far apart."""
    made = label(text, "big")
    closer = made.font()
    closer.setLetterSpacing(QFont.SpacingType.PercentageSpacing, BIG_SPACING)
    made.setFont(closer)
    return made


class Elided(QLabel):
    """One line that is shortened where there is no room; the whole text is its tool tip."""

    def __init__(self, text: str = "", kind: str = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setProperty("elides", True)
        if kind:
            self.setProperty("kind", kind)
        self.setMinimumWidth(theme.current().px(24))
        self.setText(text)

    def minimumSizeHint(self) -> QSize:
        return QSize(self.minimumWidth(), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room = self.contentsRect()
        shown = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        self.setToolTip(plain_tip(self.text()) if shown != self.text() else "")
        painter = QPainter(self)
        painter.setPen(self.palette().color(self.foregroundRole()))
        painter.drawText(room, int(self.alignment() | Qt.AlignmentFlag.AlignVCenter), shown)
        painter.end()


def plain_tip(text: str) -> str:
    """A tool tip whose text comes from machines: Qt would take `<img …>` in it for markup."""
    return "<qt>" + html.escape(local(text)).replace("\n", "<br>") + "</qt>" if text else ""


def _begins_with_a_name(text: str) -> bool:
    """A machine's or a file's name is written as it is, also at the start of a sentence."""
    if not isinstance(text, Text):
        return False
    first = re.match(r"\{(\w+)\}", text.template)
    if first is None:
        return False
    name = first.group(1)
    begins = text.args.get(name)
    # What `joined` puts together are texts of ours, no names.
    return begins is not None and not isinstance(begins, Text) and not re.fullmatch(r"p\d+", name)


def sentence(text: str) -> str:
    """Words of a check or a finding as a sentence of their own, in the window's language."""
    words = local(text)
    shown = words if _begins_with_a_name(text) else words[:1].upper() + words[1:]
    return shown if not shown or shown.endswith((".", "!", "?")) else shown + "."


def restyle(widget: QWidget, **properties: object) -> None:
    """Set dynamic properties and let the style sheet look again."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
    widget.update()


def tokens_colour(name: str) -> str:
    """A token of the current theme by name (`muted`, `on_accent` ...)."""
    value = getattr(theme.current().tokens, name)
    assert isinstance(value, str)
    return value


class Button(EnterPresses, QPushButton):
    """A push button with an optional icon that follows the theme."""

    def __init__(
        self,
        text: str = "",
        kind: str = "",
        *,
        icon_name: str = "",
        icon_colour: str = "",
        on_click: Callable[[], object] | None = None,
        tip: str = "",
        name: str = "",
        icon_after: bool = False,
    ) -> None:
        super().__init__(text)
        self._icon_after = icon_after
        if icon_after:
            self.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
        self.setProperty("kind", kind)
        self._icon_name = icon_name
        self._icon_colour = icon_colour or {"primary": "on_accent", "ghost": "muted", "link": "accent_text"}.get(
            kind, "text"
        )
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAutoDefault(False)
        self.setToolTip(tip)
        self.setAccessibleName(name or text or tip)
        if on_click is not None:
            self.clicked.connect(lambda: on_click())
        theme.current().changed.connect(self._retint)
        self._retint()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """A double click is one click: the same place may mean something else by then (*Next*, then *Apply*)."""
        if self.isCheckable():
            super().mouseDoubleClickEvent(event)
        else:
            event.accept()

    def set_short(self, short: bool, text: str) -> None:
        """Show the icon alone; the text is then its tool tip."""
        if bool(self.text()) is not short:
            return
        self.setText("" if short else text)
        self.setToolTip(text if short else "")
        self._retint()

    def set_icon(self, name: str, colour: str = "") -> None:
        self._icon_name = name
        self._icon_colour = colour or self._icon_colour
        self._retint()

    def _retint(self) -> None:
        if self._icon_name:
            size = theme.current().px(16)
            room = theme.current().px(4) if self.text() else 0
            pad = (room, 0) if self._icon_after else (0, room)
            colour = tokens_colour(self._icon_colour)
            self.setIcon(icon(self._icon_name, colour, size, tokens_colour("disabled"), pad))
            self.setIconSize(QSize(size + room, size))


class Combo(QComboBox):
    """A choice with a small arrow; `heading` looks like a plain heading instead of a field."""

    def __init__(self, name: str = "", *, heading: bool = False) -> None:
        super().__init__()
        self._heading = heading
        if heading:
            self.setProperty("kind", "heading")
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(name)

    def sizeHint(self) -> QSize:
        """As wide as its longest entry; a heading as wide as the entry that is shown."""
        hint = super().sizeHint()
        if self._heading:
            px = theme.current().px
            hint.setWidth(self.fontMetrics().horizontalAdvance(self.currentText()) + px(30))
        return hint

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint() if self._heading else super().minimumSizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        px = theme.current().px
        painter = QPainter(self)
        size = px(14)
        x = self.fontMetrics().horizontalAdvance(self.currentText()) + px(9) if self._heading else self.width() - px(24)
        colour = tokens_colour("muted" if self.isEnabled() else "disabled")
        paint_icon(painter, "chevron-down", QRectF(x, (self.height() - size) / 2, size, size), colour, 2.0)
        painter.end()


class Check(QCheckBox):
    """A check box with a tick: a style sheet can only colour its square."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self.isChecked():
            return
        option = QStyleOptionButton()
        self.initStyleOption(option)
        box = self.style().subElementRect(QStyle.SubElement.SE_CheckBoxIndicator, option, self)
        inset = theme.current().px(2)
        painter = QPainter(self)
        paint_icon(painter, "check", QRectF(box.adjusted(inset, inset, -inset, -inset)), tokens_colour("on_accent"), 3)
        painter.end()


class Icon(QLabel):
    """A tinted icon that follows the theme."""

    def __init__(self, name: str, colour: str = "muted", size: int = 16) -> None:
        super().__init__()
        self._name, self._colour, self._size = name, colour, size
        theme.current().changed.connect(self._retint)
        self._retint()

    def set_icon(self, name: str, colour: str) -> None:
        self._name, self._colour = name, colour
        self._retint()

    def _retint(self) -> None:
        size = theme.current().px(self._size)
        self.setPixmap(pixmap(self._name, tokens_colour(self._colour), size, ratio=self.devicePixelRatioF()))
        self.setFixedSize(size, size)


TAG_ICONS: Mapping[str, str] = MappingProxyType({"good": "circle-check", "warn": "alert-triangle", "bad": "circle-x"})


class Tag(QLabel):
    """A word on a tinted ground, with the sign of what it says. kind: plain | good | warn | bad | accent | info."""

    def __init__(self, text: str = "", kind: str = "plain") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._kind = ""
        self.say(text, kind)

    def say(self, text: str, kind: str) -> None:
        self.setText(text)
        if kind != self._kind:
            self._kind = kind
            restyle(self, kind=f"tag-{kind}")
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        room = theme.current().px(18) if self._kind in TAG_ICONS else 0
        return super().sizeHint() + QSize(room, 0)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._kind not in TAG_ICONS:
            return
        px = theme.current().px
        painter = QPainter(self)
        box = QRectF(px(7), (self.height() - px(13)) / 2, px(13), px(13))
        paint_icon(painter, TAG_ICONS[self._kind], box, tokens_colour(self._kind))
        painter.end()


class Swatch(QFrame):
    """The 10 px square with a node's colour."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self._number = number
        theme.current().changed.connect(self._repaint)
        self._repaint()

    def _repaint(self) -> None:
        t = theme.current()
        self.setFixedSize(t.px(10), t.px(10))
        self.setStyleSheet(f"background: {t.node_colour(self._number)}; border-radius: {t.px(3)}px;")


class Segments(QFrame):
    """A row of choices of which exactly one is on."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], chosen: str, *, icons: Sequence[str] = ()) -> None:
        super().__init__()
        self.setProperty("kind", "segments")
        self._group = QButtonGroup(self)
        row = hbox(self, margins=(2, 2, 2, 2), spacing=2)
        self._keys: dict[QAbstractButton, str] = {}
        for i, (key, text) in enumerate(choices):
            button = Button(text, "segment", icon_name=icons[i] if icons else "", icon_colour="muted")
            button.setCheckable(True)
            button.setChecked(key == chosen)
            self._group.addButton(button)
            self._keys[button] = key
            row.addWidget(button)
        self._group.buttonClicked.connect(lambda button: self.chosen.emit(self._keys[button]))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    @property
    def value(self) -> str:
        button = self._group.checkedButton()
        assert button is not None, "one segment is always on"
        return self._keys[button]

    def choose(self, key: str) -> None:
        """Check the segment `key` without a signal."""
        next(b for b, k in self._keys.items() if k == key).setChecked(True)


NOTE_ICONS: Mapping[str, str] = MappingProxyType(
    {
        "good": "circle-check",
        "warn": "alert-triangle",
        "bad": "circle-x",
        "info": "info-circle",
        "plain": "info-circle",
    }
)


class Note(QFrame):
    """A tinted box: an icon, a sentence, what to do. kind: good | warn | bad | info | plain."""

    def __init__(
        self, kind: str, title: str = "", text: str = "", actions: Sequence[Button] = (), *, small: bool = False
    ) -> None:
        super().__init__()
        self._icon = Icon(NOTE_ICONS[kind], "muted" if kind == "plain" else kind)
        self._title, self._text = Words("heading"), Words("second" if small else "")
        row = hbox(self, margins=(12, 10, 12, 10), spacing=10)
        row.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        column = vbox(spacing=2)
        column.addWidget(self._title)
        column.addWidget(self._text)
        if actions:
            buttons = hbox(spacing=12)
            for button in actions:
                buttons.addWidget(button)
            buttons.addStretch()
            column.addLayout(buttons)
        row.addLayout(column, 1)
        self.show_text(kind, title, text)

    def show_text(self, kind: str, title: str, text: str) -> None:
        restyle(self, kind=f"note-{kind}")
        self._icon.set_icon(NOTE_ICONS[kind], "muted" if kind == "plain" else kind)
        self._title.setText(local(title))
        self._title.setVisible(bool(title))
        self._text.setText(local(text))
        self._text.setVisible(bool(text))


def hbox(
    parent: QWidget | None = None, *, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 8
) -> QHBoxLayout:
    """A row; lengths in design pixels."""
    made = QHBoxLayout(parent) if parent is not None else QHBoxLayout()
    _measure(made, margins, spacing)
    return made


def vbox(
    parent: QWidget | None = None, *, margins: tuple[int, int, int, int] = (0, 0, 0, 0), spacing: int = 8
) -> QVBoxLayout:
    """A column; lengths in design pixels."""
    made = QVBoxLayout(parent) if parent is not None else QVBoxLayout()
    _measure(made, margins, spacing)
    return made


def _measure(layout: QLayout, margins: tuple[int, int, int, int], spacing: int) -> None:
    px = theme.current().px
    layout.setContentsMargins(*(px(m) for m in margins))
    layout.setSpacing(px(spacing))


def scroll_area(inner: QWidget, *, sideways: bool = True) -> QScrollArea:
    """`inner` in an area that scrolls where the window is low; the keys go on to what lies in it."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    if not sideways:
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    area.setWidget(inner)
    return area


def frame(kind: str) -> QFrame:
    """A styled frame: card | panel | line | vline | footer ..."""
    made = QFrame()
    made.setProperty("kind", kind)
    return made


def clear_layout(layout: QLayout) -> None:
    """Remove and delete everything in `layout`."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear_layout(inner)
