"""The start page: three doors, what is on the network, and the clusters seen before."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from stellwerk import __version__
from stellwerk.setup.store import ClusterFolder, ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.shell import Page
from stellwerk_gui.start.door import Door, Mark
from stellwerk_gui.start.recent import RecentRow, recent_entry
from stellwerk_gui.widgets.controls import (
    Button,
    Icon,
    big,
    clear_layout,
    frame,
    hbox,
    label,
    restyle,
    scroll_area,
    vbox,
)

CONTENT_W = 936
FOUR_NAMES_PX = 1000  # a narrower page shows two names of what was found


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
        inner = QWidget()
        vbox(self.body, spacing=0).addWidget(scroll_area(inner))
        self._row = row = hbox(inner, margins=(24, 88, 24, 16), spacing=0)
        column_box = QWidget()
        column_box.setMaximumWidth(theme.current().px(CONTENT_W))
        row.addStretch(1)
        row.addWidget(column_box, 100)
        row.addStretch(1)
        column = vbox(column_box, spacing=0)
        head = hbox(spacing=12)
        head.addWidget(Mark())
        name = big("Stellwerk")
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
            restyle(self.network_text, kind="")
            self.network_icon.set_icon("wifi", "muted")
            self.network_text.setText(self.tr("No mDNS here, add machines by address"))
            return
        restyle(self.network_text, kind="heading" if names else "")
        self.network_icon.set_icon("wifi", "good" if names else "muted")
        if not names:
            self.network_text.setText(self.tr("Listening for machines on this network"))
            return
        self.network_text.setText(
            self.tr("1 machine found") if len(names) == 1 else self.tr("{n} machines found").format(n=len(names))
        )
        one = self.tr("Pair this one")
        self.pair_found.setText(one if len(names) == 1 else self.tr("Pair these {n}").format(n=len(names)))
        chips = [_chip(name) for name in names[: 4 if self.width() > theme.current().px(FOUR_NAMES_PX) else 2]]
        while len(chips) > 1 and self._too_wide([*chips, _chip("+8")]):
            chips.pop()
        if len(names) > len(chips):
            chips.append(_chip(f"+{len(names) - len(chips)}"))
        for chip in chips:
            self.found_chips.addWidget(chip)

    def _too_wide(self, chips: list[QLabel]) -> bool:
        """Whether so many names leave no room for the rest of the line."""
        px = theme.current().px
        beside = (self.network_icon, self.network_text, self.add_by_address, self.pair_found)
        taken = sum(w.sizeHint().width() + px(10) for w in beside) + px(2 * 18 + 10)
        room = min(px(CONTENT_W), self.width() - px(2 * 24)) - taken
        for chip in chips:
            chip.ensurePolished()
        return sum(chip.sizeHint().width() + px(8) for chip in chips) > room

    def shown(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Read the list of recent clusters again."""
        clear_layout(self._recent)
        entries = sorted((recent_entry(f) for f in self.store.all()), key=lambda e: -e.seen_at)
        self._recent_hint.setVisible(bool(entries))
        if not entries:
            self._recent.addWidget(label(self.tr("No cluster yet. The first one takes about ten minutes."), "muted"))
        for i, entry in enumerate(entries[:6]):
            row = RecentRow(entry, i == 0)
            row.clicked.connect(lambda _=False, folder=entry.folder: self.opened(folder))
            row.forget.connect(lambda folder=entry.folder: self.forgotten(folder))
            self._recent.addWidget(row)


def _chip(text: str) -> QLabel:
    return label(text, "chip")
