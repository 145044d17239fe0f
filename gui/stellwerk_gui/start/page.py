"""The start page: three doors, what is on the network, and the clusters seen before."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QShortcut,
)
from PySide6.QtWidgets import QAbstractButton, QLabel, QSizePolicy, QVBoxLayout, QWidget

from stellwerk import __version__
from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import ClusterFolder, ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.language import local
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Icon, clear_layout, frame, hbox, label, vbox
from stellwerk_gui.widgets.pressing import EnterPresses

CONTENT_W = 936


@dataclass(frozen=True, slots=True)
class RecentEntry:
    """One line under *Recent*."""

    folder: ClusterFolder
    name: str
    shape: str
    kind: str
    nodes: int
    problem: str
    seen_at: float


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
        split = box.top() + 148
        p.drawLine(QPointF(box.left(), split), QPointF(box.right(), split))
        self._draw(p, QPointF(box.center().x(), box.top() + 74))
        p.setFont(theme.font(theme.TITLE_PT, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        p.drawText(QRectF(box.left() + 18, split + 16, box.width() - 60, 24), Qt.AlignmentFlag.AlignLeft, self.title)
        p.setFont(theme.font(theme.TEXT_PT))
        p.setPen(QColor(c.muted))
        flags = Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
        p.drawText(QRectF(box.left() + 18, split + 44, box.width() - 36, 60), flags, self.text_line)
        hint = QRectF(box.right() - 38, split + 18, 18, 20)
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.raised if not self.underMouse() else c.hover))
        p.drawRoundedRect(hint, 4, 4)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        p.drawText(hint, Qt.AlignmentFlag.AlignCenter, self.key)
        p.end()

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
        self.setAccessibleName(f"{entry.name}, {entry.shape}")
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(theme.current().px(48))

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
        paint_icon(p, "cluster", QRectF(20, 13, 22, 22), c.muted)
        middle = Qt.AlignmentFlag.AlignVCenter
        p.setFont(theme.font(theme.TEXT_PT, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        name = p.fontMetrics().elidedText(self.entry.name, Qt.TextElideMode.ElideRight, 124)
        p.drawText(QRectF(72, 0, 128, 48), middle, name)
        p.setFont(theme.font(theme.TEXT_PT))
        p.setPen(QColor(c.muted))
        p.drawText(QRectF(208, 0, 180, 48), middle, self.entry.shape)
        if self.entry.problem:
            paint_icon(p, "alert-triangle", QRectF(394, 17, 14, 14), c.warn)
            p.setPen(QColor(c.text))
            room = int(box.width() - 394 - 150)
            text = p.fontMetrics().elidedText(local(self.entry.problem), Qt.TextElideMode.ElideRight, room)
            p.drawText(QRectF(414, 0, room, 48), middle, text)
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        at = datetime.fromtimestamp(self.entry.seen_at).strftime("%d %b %H:%M")
        p.drawText(QRectF(box.right() - 140, 0, 128, 48), middle | Qt.AlignmentFlag.AlignRight, at)
        p.end()


class StartPage(Page):
    """Where a session begins."""

    def __init__(self, store: ClusterStore) -> None:
        super().__init__("")
        self.title_bar.hide()
        self.store = store
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
        row = hbox(self.body, margins=(24, 76, 24, 16), spacing=0)
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

    def _network_card(self) -> QWidget:
        card = frame("card")
        row = hbox(card, margins=(18, 11, 18, 11), spacing=10)
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
        shown = names[:4]
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
    made = label(text, "tag-plain")
    return made


def _entry(folder: ClusterFolder) -> RecentEntry:
    seen = folder.cluster_file.stat().st_mtime
    try:
        cluster = folder.load()
    except StellwerkError as error:
        return RecentEntry(folder, folder.path.name, "", "", 0, error.what, seen)
    count = len(cluster.nodes)
    shape = f"{count} Spark{'s' if count != 1 else ''}" + (f", {cluster.topology}" if cluster.topology else "")
    unfinished = "set-up not finished" if cluster.page not in ("prove", "done") else ""
    return RecentEntry(folder, cluster.name, shape, cluster.topology or "", count, unfinished, seen)
