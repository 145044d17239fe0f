"""The start page: three doors, what is on the network, and the clusters seen before."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import QAbstractButton, QLabel, QMenu, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from stellwerk import __version__
from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import ClusterFolder, ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.language import local
from stellwerk_gui.shell import Page
from stellwerk_gui.start.glyph import paint_glyph
from stellwerk_gui.widgets.controls import Button, Icon, clear_layout, frame, hbox, label, plain_tip, vbox
from stellwerk_gui.widgets.ink import CENTRE, LEFT, RIGHT, wrapped, write, write_lines
from stellwerk_gui.widgets.pressing import EnterPresses

CONTENT_W, MENU_W = 936, 40
FOUR_NAMES_PX = 1000  # a narrower page shows two names of what was found


@dataclass(frozen=True, slots=True)
class RecentEntry:
    """One line under *Recent*."""

    folder: ClusterFolder
    name: str
    shape: str
    kind: str
    nodes: int
    state: str
    icon: str
    colour: str
    seen: str
    seen_at: float
    tip: str = ""  # more about the state


class Door(EnterPresses, QAbstractButton):
    """A large card with a drawing, a title, a number key and one sentence."""

    def __init__(self, title: str, text: str, key: str, drawing: str) -> None:
        super().__init__()
        self.title, self.text_line, self.key, self.drawing = title, text, key, drawing
        self.setAccessibleName(title)
        self.setAccessibleDescription(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        t = theme.current()
        return QSize(t.px(302), t.px(252))

    def minimumSizeHint(self) -> QSize:
        t = theme.current()
        return QSize(t.px(230), t.px(252))

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        box = QRectF(0, 0, self.width() / t.scale, self.height() / t.scale).adjusted(1, 1, -1, -1)
        p.setPen(QPen(QColor(c.accent if t.ringed(self) else c.card_line), 2 if t.ringed(self) else 1))
        p.setBrush(QColor(c.raised if self.underMouse() else c.surface))
        p.drawRoundedRect(box, 12, 12)
        p.setPen(QColor(c.line))
        above = self.parentWidget()
        doors = above.findChildren(Door) if above is not None else [self]
        short = max(door.lines() for door in doors) <= 2  # all of them are parted at the same height
        split = box.top() + (148 if short else 128)
        p.drawLine(QPointF(box.left(), split), QPointF(box.right(), split))
        self._draw(p, QPointF(box.center().x(), (box.top() + split) / 2))
        p.setFont(theme.font(theme.TITLE_PT, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        write(p, QRectF(box.left() + 18, split + 18, box.width() - 60, 24), LEFT, self.title)
        p.setFont(theme.font(theme.TEXT_PT))
        p.setPen(QColor(c.muted))
        write_lines(p, QRectF(box.left() + 18, split + 45, box.width() - 36, 56), self.text_line, 20 if short else 18)
        hint = QRectF(box.right() - 37, split + 19, 18, 20)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.raised if not self.underMouse() else c.hover))
        p.drawRoundedRect(hint, 4, 4)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        write(p, hint, CENTRE, self.key)
        p.end()

    def lines(self) -> int:
        """How many lines its sentence takes."""
        width = self.width() / theme.current().scale - 38
        return len(wrapped(QFontMetricsF(theme.font(theme.TEXT_PT)), self.text_line, width))

    def _draw(self, p: QPainter, middle: QPointF) -> None:
        c = theme.current().tokens
        p.setBrush(Qt.BrushStyle.NoBrush)
        grey, green = QPen(QColor(c.outline), 1.6), QPen(QColor(c.accent), 1.8)
        if self.drawing == "pair":
            p.setPen(grey)
            for dx in (-72, 36):
                p.drawRoundedRect(QRectF(middle.x() + dx, middle.y() - 18, 36, 36), 7, 7)
            p.setPen(green)
            for dx in (-41, 31):
                p.drawRoundedRect(QRectF(middle.x() + dx, middle.y() - 8, 10, 16), 2, 2)
            wave = QPainterPath(middle + QPointF(-31, 0))
            wave.cubicTo(middle + QPointF(-12, 4), middle + QPointF(-16, -16), middle + QPointF(0, -16))
            wave.cubicTo(middle + QPointF(16, -16), middle + QPointF(12, 4), middle + QPointF(31, 0))
            p.drawPath(wave)
            return
        if self.drawing == "virtual":
            grey.setStyle(Qt.PenStyle.DashLine)
        for row in (-1, 1):
            for i in range(4):
                x = middle.x() - 72 + i * 39
                p.setPen(grey)
                p.drawRoundedRect(QRectF(x, middle.y() + row * 29 - 10, 26, 20), 5, 5)
                p.setPen(green if self.drawing == "open" else grey)
                p.drawLine(QPointF(x + 13, middle.y() + row * 19), QPointF(x + 13, middle.y() + row * 9))
        p.setPen(grey)
        p.drawRoundedRect(QRectF(middle.x() - 76, middle.y() - 9, 150, 18), 5, 5)
        if self.drawing == "virtual":
            p.setPen(green)
            p.setBrush(QColor(c.surface))
            p.drawPolygon(
                [
                    QPointF(middle.x() - 9, middle.y() - 10),
                    QPointF(middle.x() + 10, middle.y()),
                    QPointF(middle.x() - 9, middle.y() + 10),
                ]
            )


class RecentRow(EnterPresses, QAbstractButton):
    """One cluster seen before: Enter opens, Del forgets."""

    forget = Signal()

    def __init__(self, entry: RecentEntry, first: bool) -> None:
        super().__init__()
        self.entry = entry
        self._first = first
        self.setAccessibleName(", ".join(part for part in (entry.name, entry.shape, entry.state) if part))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(theme.current().px(48))
        self.setToolTip(plain_tip(entry.tip or entry.state))
        row = hbox(self, margins=(0, 0, 8, 0))
        row.addStretch(1)
        self.more = Button("", "icon", icon_name="dots", icon_colour="muted", on_click=self._menu)
        self.more.setAccessibleName(self.tr("More about {name}").format(name=entry.name))
        row.addWidget(self.more)

    def _menu(self) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("Open"), self.click)
        menu.addAction(self.tr("Forget …"), self.forget.emit)
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.forget.emit()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        box = QRectF(0, 0, self.width() / t.scale, self.height() / t.scale)
        if self.underMouse() or t.ringed(self):
            p.setPen(QPen(QColor(c.accent), 2) if t.ringed(self) else Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.raised))
            p.drawRoundedRect(box.adjusted(1, 1, -1, -1), 6, 6)
        elif not self._first:
            p.setPen(QColor(c.line))
            p.drawLine(QPointF(12, 0.5), QPointF(box.right() - 12, 0.5))
        paint_glyph(p, QRectF(14, 8, 40, 32), self.entry.kind, self.entry.nodes, c.muted)
        p.setFont(theme.font(theme.TEXT_PT, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        write(p, QRectF(72, 0, 124, 48), LEFT, self.entry.name, may_shorten=True)
        p.setFont(theme.font(theme.TEXT_PT))
        p.setPen(QColor(c.muted))
        write(p, QRectF(208, 0, 170, 48), LEFT, self.entry.shape)
        at = QFontMetricsF(theme.font(theme.SECOND_PT)).horizontalAdvance(self.entry.seen)
        right = box.right() - MENU_W - 8
        if self.entry.state:
            paint_icon(p, self.entry.icon, QRectF(392, 17, 14, 14), getattr(c, self.entry.colour))
            p.setPen(QColor(c.text if self.entry.colour != "muted" else c.muted))
            write(p, QRectF(412, 0, right - at - 424, 48), LEFT, self.entry.state, may_shorten=True)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        write(p, QRectF(right - at, 0, at, 48), RIGHT, self.entry.seen)
        p.end()


class StartPage(Page):
    """Where a session begins."""

    def __init__(self, store: ClusterStore) -> None:
        super().__init__("")
        self.title_bar.hide()
        self.store = store
        self._available = True
        self._wide = True
        self.set_up = Door(
            self.tr("Set up a cluster"),
            self.tr("Find machines, pair them, check the cables, prove the network."),
            "1",
            "pair",
        )
        self.open = Door(
            self.tr("Open a cluster"),
            self.tr("Connect to one that runs, or adopt one that was set up by hand or by Sync."),
            "2",
            "open",
        )
        self.virtual = Door(
            self.tr("Try a virtual cluster"),
            self.tr("Eight simulated Sparks on this computer. Nothing leaves it."),
            "3",
            "virtual",
        )
        self.opened: Callable[[ClusterFolder], None] = lambda folder: None
        self.forgotten: Callable[[ClusterFolder], None] = lambda folder: None
        self._build()
        for number, door in enumerate((self.set_up, self.open, self.virtual), 1):
            QShortcut(QKeySequence(str(number)), self, door.click)

    def _build(self) -> None:
        area = QScrollArea()  # a low window scrolls
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        vbox(self.body, spacing=0).addWidget(area)
        inner = QWidget()
        area.setWidget(inner)
        self._row = row = hbox(inner, margins=(24, 88, 24, 16), spacing=0)
        column_box = QWidget()
        column_box.setMaximumWidth(theme.current().px(CONTENT_W))
        row.addStretch(1)
        row.addWidget(column_box, 100)
        row.addStretch(1)
        column = vbox(column_box, spacing=0)
        head = hbox(spacing=12)
        head.addWidget(_Mark())
        name = label("Stellwerk", "big")
        head.addWidget(name)
        head.addWidget(label(self.tr("One to eight DGX Sparks, one cluster"), "muted"))
        head.addStretch(1)
        head.addWidget(label(__version__, "second-muted"))
        column.addLayout(head)
        column.addSpacing(theme.current().px(26))
        doors = hbox(spacing=16)
        for door in (self.set_up, self.open, self.virtual):
            doors.addWidget(door)
        column.addLayout(doors)
        column.addSpacing(theme.current().px(16))
        column.addWidget(self._network_card())
        column.addSpacing(theme.current().px(32))
        self._recent_head = hbox()
        self._recent_head.addWidget(label(self.tr("Recent"), "heading"))
        self._recent_head.addStretch(1)
        self._recent_hint = label(self.tr("Enter opens, Del forgets"), "second-muted")
        self._recent_head.addWidget(self._recent_hint)
        column.addLayout(self._recent_head)
        column.addSpacing(theme.current().px(6))
        self._recent: QVBoxLayout = vbox(spacing=0)
        column.addLayout(self._recent)
        column.addStretch(1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = theme.current().px
        wide = self.width() > px(FOUR_NAMES_PX)
        if wide is not self._wide:
            self._wide = wide
            self.show_found(self.found_names, self._available)
        left, _, right, bottom = (px(n) for n in (24, 0, 24, 16))
        self._row.setContentsMargins(left, px(88 if self.height() > px(700) else 20), right, bottom)

    def _network_card(self) -> QWidget:
        card = frame("card")
        row = hbox(card, margins=(18, 11, 18, 11), spacing=10)
        card.setFixedHeight(theme.current().px(56))
        self.network_icon = Icon("wifi", "muted", 18)
        row.addWidget(self.network_icon)
        self.network_text = label(self.tr("Listening for machines on this network"))
        row.addWidget(self.network_text)
        self.found_names: tuple[str, ...] = ()
        self.found_chips = hbox(spacing=8)
        row.addLayout(self.found_chips)
        row.addStretch(1)
        self.add_by_address = Button(self.tr("Add by address"), "ghost")
        row.addWidget(self.add_by_address)
        self.pair_found = Button(self.tr("Pair these"))
        self.pair_found.hide()
        row.addWidget(self.pair_found)
        return card

    def show_found(self, names: tuple[str, ...], available: bool = True) -> None:
        """The network line in its three states: listening, n machines found, no mDNS here."""
        self.found_names = names if available else ()
        self._available = available
        clear_layout(self.found_chips)
        self.pair_found.setVisible(bool(names))
        if not available:
            self.network_icon.set_icon("wifi", "muted")
            self.network_text.setText(self.tr("No mDNS here, add machines by address"))
            return
        self.network_icon.set_icon("wifi", "good" if names else "muted")
        if not names:
            self.network_text.setText(self.tr("Listening for machines on this network"))
            return
        self.network_text.setText(
            self.tr("1 machine found") if len(names) == 1 else self.tr("{n} machines found").format(n=len(names))
        )
        one = self.tr("Pair this one")
        self.pair_found.setText(one if len(names) == 1 else self.tr("Pair these {n}").format(n=len(names)))
        shown = names[: 4 if self.width() > theme.current().px(FOUR_NAMES_PX) else 2]
        for name in shown:
            self.found_chips.addWidget(_chip(name))
        if len(names) > len(shown):
            self.found_chips.addWidget(_chip(f"+{len(names) - len(shown)}"))

    def shown(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Read the list of recent clusters again."""
        clear_layout(self._recent)
        entries = sorted((_entry(f) for f in self.store.all()), key=lambda e: -e.seen_at)
        self._recent_hint.setVisible(bool(entries))
        if not entries:
            self._recent.addWidget(label(self.tr("No cluster yet. The first one takes about ten minutes."), "muted"))
        for i, entry in enumerate(entries[:6]):
            row = RecentRow(entry, i == 0)
            row.clicked.connect(lambda _=False, folder=entry.folder: self.opened(folder))
            row.forget.connect(lambda folder=entry.folder: self.forgotten(folder))
            self._recent.addWidget(row)


class _Mark(QWidget):
    """The program's mark: two tracks and a switch."""

    def __init__(self) -> None:
        super().__init__()
        side = theme.current().px(32)
        self.setFixedSize(side, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(t.tokens.raised))
        p.drawRoundedRect(QRectF(0, 0, 32, 32), 7, 7)
        for colour, points in (
            (t.tokens.outline, ((7, 21), (25, 21))),
            (t.tokens.accent, ((7, 21), (14, 21), (19, 11), (25, 11))),
        ):
            p.setPen(QPen(QColor(colour), 2.2, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
            for (x0, y0), (x1, y1) in itertools.pairwise(points):
                p.drawLine(QPointF(x0, y0), QPointF(x1, y1))
        p.setPen(Qt.PenStyle.NoPen)
        for x, y, colour in ((7, 21, t.tokens.accent), (25, 11, t.tokens.accent), (25, 21, t.tokens.outline)):
            p.setBrush(QColor(colour))
            p.drawEllipse(QPointF(x, y), 2.4, 2.4)
        p.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.ignore()


def _chip(text: str) -> QLabel:
    return label(text, "chip")


def _entry(folder: ClusterFolder) -> RecentEntry:
    seen = folder.cluster_file.stat().st_mtime
    at = when(seen)
    try:
        cluster = folder.load()
    except StellwerkError as error:
        broken, tip = translate("its file cannot be read"), local(str(error))
        return RecentEntry(folder, folder.path.name, "", "", 0, broken, "circle-x", "bad", at, seen, tip)
    count = len(cluster.nodes)
    kind = cluster.topology or ""
    shape = translate("1 Spark") if count == 1 else translate("{n} Sparks").format(n=count)
    shape += f", {kind_word(kind)}" if kind else ""
    if cluster.page not in ("prove", "done") and not kind:
        state = (translate("set-up not finished"), "circle-minus", "muted")
    else:
        state = _last_proof(folder)
    return RecentEntry(folder, cluster.name, shape, kind, count, *state, at, seen)


def _last_proof(folder: ClusterFolder) -> tuple[str, str, str]:
    """What the newest proof found: words, icon, colour."""
    from stellwerk.model.finding import Verdict
    from stellwerk.setup.history import newest

    proof = newest(folder.reports)
    if proof is None:
        return (translate("not proven yet"), "circle-minus", "muted")
    bad = sum(c.verdict in (Verdict.FAIL, Verdict.DEGRADED) for c in proof.checks)
    if not bad:
        return (translate("fine at last sight"), "circle-check", "good")
    words = translate("1 finding") if bad == 1 else translate("{n} findings").format(n=bad)
    failed = proof.verdict is Verdict.FAIL
    return (words, "circle-x" if failed else "alert-triangle", "bad" if failed else "warn")


def kind_word(kind: str) -> str:
    """A saved topology in the user's language, in the middle of a sentence."""
    words = {
        "single": translate("single"),
        "pair": translate("pair"),
        "ring": translate("ring"),
        "chain": translate("chain"),
        "switch": translate("switch"),
    }
    return words.get(kind, kind)


def when(at: float) -> str:
    """`today 13:41`, `yesterday 18:20`, `3 Nov`."""
    then, now = datetime.fromtimestamp(at), datetime.now()
    days = (now.date() - then.date()).days
    time = then.strftime("%H:%M")
    if days == 0:
        return translate("today {time}").format(time=time)
    if days == 1:
        return translate("yesterday {time}").format(time=time)
    return QLocale(translate("en")).toString(QDate(then.year, then.month, then.day), translate("d MMM"))


def translate(text: str) -> str:
    return QCoreApplication.translate("start", text)
