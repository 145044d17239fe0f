"""What can be chosen before a measurement: where, how many ranks, which sizes, over which link, with rivals or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QWidget

from stellwerk_gui import theme
from stellwerk_gui.controller import Controller
from stellwerk_gui.widgets.controls import Check, Combo, Segments, clear_layout, hbox, label

if TYPE_CHECKING:
    from stellwerk.measure.cluster import ClusterPlan
    from stellwerk.measure.collectives import Plan

NARROW_PX = 1000  # below that not all choices fit in one line
KIB, MIB = 1 << 10, 1 << 20
LATENCY = (KIB, 2 * KIB, 4 * KIB, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB)
USUAL = (KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB)
ALL = (KIB, 4 * KIB, 8 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB)


@dataclass(frozen=True, slots=True)
class LinkChoice:
    """An emulated link, or none."""

    delay_us: float = 0.0
    gbps: float = 0.0


LINKS = (LinkChoice(), LinkChoice(20.0, 100.0), LinkChoice(1000.0, 0.0))


class Choices(QWidget):
    """A row of controls. `changed` when something else was chosen."""

    changed = Signal()

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self._controller = controller
        self._lines = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(theme.current().px(12))
        self._where_place = hbox()
        self._lines.addLayout(self._where_place)
        row = hbox(spacing=12)
        self._lines.addLayout(row, 1)
        self.where = Segments((("here", self.tr("This computer")),), "here")
        self._where_place.addWidget(self.where)
        self.ranks = self._combo(row, self.tr("Ranks"))
        self.sizes = self._combo(row, self.tr("Sizes"))
        for text, sizes in (
            (self.tr("1 KiB to 1 MiB"), USUAL),
            (self.tr("small, to 64 KiB"), LATENCY),
            (self.tr("1 KiB to 16 MiB"), ALL),
        ):
            self.sizes.addItem(text, sizes)
        self.link = self._combo(row, self.tr("Link"))
        for choice in LINKS:
            self.link.addItem(self._link_words(choice), choice)
        self.rivals = Check(self.tr("With Gloo and Open MPI"))
        self.rivals.setChecked(True)
        row.addWidget(self.rivals)
        row.addStretch(1)
        self.link.currentIndexChanged.connect(lambda: self._fit())
        controller.cluster_changed.connect(self.refresh)
        controller.nodes_changed.connect(self._machines_changed)
        self._names: tuple[str, int] = ("", 0)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a narrow window the place has a line of its own."""
        super().resizeEvent(event)
        ways = QBoxLayout.Direction
        self._lines.setDirection(ways.TopToBottom if self.width() < theme.current().px(NARROW_PX) else ways.LeftToRight)

    def _combo(self, row: QHBoxLayout, name: str) -> Combo:
        pair = hbox(spacing=6)
        pair.addWidget(label(name, "second-muted"))
        made = Combo(name)
        pair.addWidget(made)
        row.addLayout(pair)
        return made

    def _link_words(self, choice: LinkChoice) -> str:
        if not choice.delay_us:
            return self.tr("as it is")
        if not choice.gbps:
            return self.tr("emulated, {ms} ms").format(ms=f"{choice.delay_us / 1000:g}")
        return self.tr("emulated, {us} µs, {gbps} Gb/s").format(us=f"{choice.delay_us:g}", gbps=f"{choice.gbps:g}")

    # -- where ---------------------------------------------------------------------------------------------------

    @property
    def on_cluster(self) -> bool:
        return self.where.value == "cluster"

    def _machines(self) -> int:
        return sum(node.ready for node in self._controller.nodes)

    def _machines_changed(self) -> None:
        cluster = self._controller.cluster
        if (cluster.name if cluster else "", self._machines()) != self._names:
            self.refresh()

    def refresh(self) -> None:
        """The open cluster may be another one, or have other machines; what was chosen stays where it can."""
        cluster = self._controller.cluster
        self._names = (cluster.name if cluster else "", self._machines())
        keep = self.where.value
        offered = [("here", self.tr("This computer"))]
        if cluster is not None and self._machines() >= 2:
            offered.append(("cluster", self._names[0]))
        chosen = keep if keep in dict(offered) else "here"
        clear_layout(self._where_place)
        self.where = Segments(offered, chosen)
        self.where.setAccessibleName(self.tr("Where"))
        self.where.chosen.connect(lambda _: self._fit())
        self._where_place.addWidget(self.where, 0, Qt.AlignmentFlag.AlignLeft)
        self._fit()

    def choose_cluster(self) -> None:
        """For the command palette and tests."""
        self.where.choose("cluster")
        self._fit()

    def _fit(self) -> None:
        """Offer only what makes sense where it runs."""
        here = not self.on_cluster
        self.link.setEnabled(here)
        emulated = self.link.currentIndex() > 0
        self.rivals.setEnabled(here and not emulated)
        before = self.ranks.currentData()
        self.ranks.blockSignals(True)
        self.ranks.clear()
        if here:
            options: list[tuple[int, ...]] = [(2, 4, 8), (2,), (4,), (8,)]
        else:
            count = self._machines()
            options = [(), *((n,) for n in range(2, count + 1))]
        for ranks in options:
            text = ", ".join(map(str, ranks)) if ranks else self.tr("as fits")
            self.ranks.addItem(text, ranks)
        at = next((i for i, ranks in enumerate(options) if ranks == before), 0)
        self.ranks.setCurrentIndex(at)
        self.ranks.blockSignals(False)
        self.changed.emit()

    # -- plans ---------------------------------------------------------------------------------------------------

    def plan_here(self) -> Plan:
        """For this computer."""
        from stellwerk.collectives.engine import Link
        from stellwerk.measure.collectives import RIVALS, Plan

        choice: LinkChoice = self.link.currentData()
        link = Link(choice.delay_us, choice.gbps)
        rivals = RIVALS if self.rivals.isChecked() and link.real else ()
        transports = ("shm", "tcp") if link.real else ("tcp",)
        return Plan(
            ranks=tuple(self.ranks.currentData()),
            sizes=tuple(self.sizes.currentData()),
            transports=transports,
            rivals=rivals,
            link=link,
        )

    def plan_cluster(self) -> ClusterPlan:
        """For the open cluster."""
        from stellwerk.measure.cluster import ClusterPlan

        return ClusterPlan(ranks=tuple(self.ranks.currentData()), sizes=tuple(self.sizes.currentData()))
