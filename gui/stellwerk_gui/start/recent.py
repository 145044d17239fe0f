"""The clusters seen before: what is known of each, and its row on the start page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from PySide6.QtCore import QCoreApplication, QDate, QLocale, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QKeyEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QMenu

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import ClusterFolder
from stellwerk_gui import theme
from stellwerk_gui.icons import paint_icon
from stellwerk_gui.language import local
from stellwerk_gui.start.glyph import paint_glyph
from stellwerk_gui.trial.mark import has_ended
from stellwerk_gui.widgets.controls import Button, hbox, plain_tip
from stellwerk_gui.widgets.ink import LEFT, RIGHT, scaled_painter, write
from stellwerk_gui.widgets.pressing import EnterPresses

MENU_W = 40


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
        p = scaled_painter(self)
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


def recent_entry(folder: ClusterFolder) -> RecentEntry:
    seen = folder.cluster_file.stat().st_mtime
    at = when(seen)
    try:
        cluster = folder.load()
    except StellwerkError as error:
        broken, tip = translate("its file cannot be read"), local(str(error))
        return RecentEntry(folder, folder.path.name, "", "", 0, broken, "circle-x", "bad", at, seen, tip)
    count = len(cluster.nodes) + len(cluster.unpaired)
    kind = cluster.topology or ""
    shape = translate("1 Spark") if count == 1 else translate("{n} Sparks").format(n=count)
    shape += f", {kind_word(kind)}" if kind else ""
    if has_ended(folder):
        state = (translate("virtual, has ended"), "circle-minus", "muted")
    elif cluster.page not in ("prove", "done") and not kind:
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
