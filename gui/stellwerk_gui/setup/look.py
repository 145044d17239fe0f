"""Step 3: what the machines are, and which cable goes where: the drawing and the words say the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QFrame,
    QListView,
    QProgressBar,
    QSizePolicy,
    QTableWidgetItem,
    QWidget,
)

from stellwerk.model.fabric import CableFinding, PortRef, TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.units import gibibytes_from_kb, link_speed
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import cables_right, cables_view, topology_word
from stellwerk_gui.language import local
from stellwerk_gui.setup.back import BackOfMachine
from stellwerk_gui.setup.steps import PartView
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.columns import spread_columns
from stellwerk_gui.widgets.controls import (
    Button,
    Combo,
    Elided,
    Icon,
    Note,
    clear_layout,
    frame,
    hbox,
    label,
    plain_tip,
    scroll_area,
    sentence,
    vbox,
)
from stellwerk_gui.widgets.fabricmap import FabricMap, scrolling
from stellwerk_gui.widgets.fold import Fold
from stellwerk_gui.widgets.hovering import lights
from stellwerk_gui.widgets.rows import RowTable

if TYPE_CHECKING:
    from stellwerk.fabric.members import Member
    from stellwerk.setup.look import Look
    from stellwerk_gui.controller import Controller

NOTE_KINDS: Mapping[Severity, str] = MappingProxyType(
    {Severity.BAD: "bad", Severity.WARN: "warn", Severity.INFO: "info"}
)
SYSTEM_COLUMN = 2
MOST = 8
CHOICES: Mapping[TopologyKind, range] = MappingProxyType(  # and how many nodes can have that shape
    {
        TopologyKind.PAIR: range(2, 3),
        TopologyKind.RING: range(3, MOST + 1),
        TopologyKind.CHAIN: range(3, MOST + 1),
        TopologyKind.SWITCH: range(2, MOST + 1),
        TopologyKind.SINGLE: range(1, 2),
    }
)


class LookStep(StepPage):
    """Two views: cables and machines."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(self.tr("Cables"), self.tr("Read from the nodes: each one calls on every port and hears who answers."))
        self.tab = "cables"
        row = hbox(spacing=8)
        row.addWidget(label(self.tr("Wanted"), "second-muted"))
        self.wanted = Combo(self.tr("Wanted topology"))
        self.wanted.addItem(self.tr("As recommended"), None)
        names = {
            TopologyKind.PAIR: self.tr("Pair"),
            TopologyKind.RING: self.tr("Ring"),
            TopologyKind.CHAIN: self.tr("Chain"),
            TopologyKind.SWITCH: self.tr("Switch"),
            TopologyKind.SINGLE: self.tr("Single"),
        }
        for kind in CHOICES:
            self.wanted.addItem(names[kind], kind)
        self.wanted.currentIndexChanged.connect(lambda: controller.want(self._chosen()))
        self.wanted.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        row.addWidget(self.wanted)
        row.addStretch(1)
        self.listening_icon = Icon("refresh", "muted", 14)
        row.addWidget(self.listening_icon)
        self.listening = Elided("", "second-muted")
        row.addWidget(self.listening)
        self.column.addLayout(row)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.current().px(2))
        self.column.addWidget(self.bar)
        self.map = FabricMap()
        self.map_area = scrolling(self.map)
        self.column.addWidget(self.map_area, 1)
        self.table = MachineTable()
        self.table.hide()
        self.column.addWidget(self.table, 1)
        self.panel = CableAdvice()
        self.panel.unlock = controller.pairing.unlock_sudo
        self.panel.use_chain = self._use_chain
        self.panel.lit = self._light
        self._lit: frozenset[tuple[PortRef, PortRef | None]] = frozenset()
        self.set_panel(self.panel, 376)
        controller.look_changed.connect(self._refresh)
        controller.nodes_changed.connect(self._refresh)
        controller.cluster_changed.connect(self._take_wanted)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._show_age)

    def _chosen(self) -> TopologyKind | None:
        kind = self.wanted.currentData()  # Qt hands a word back as plain text
        return TopologyKind(kind) if kind is not None else None

    def _offer(self) -> None:
        """Only the shapes that so many nodes can have; what was chosen before stays to be seen."""
        count = len(self.controller.nodes)
        model, view = self.wanted.model(), self.wanted.view()
        assert isinstance(model, QStandardItemModel)
        assert isinstance(view, QListView)
        for at, (kind, fitting) in enumerate(CHOICES.items(), 1):
            fits = count in fitting or kind is self.controller.wanted
            model.item(at).setEnabled(fits)
            view.setRowHidden(at, not fits)

    def _take_wanted(self) -> None:
        """Another cluster was opened: what was chosen for it."""
        self.wanted.blockSignals(True)
        self.wanted.setCurrentIndex(max(0, self.wanted.findData(self.controller.wanted)))
        self.wanted.blockSignals(False)

    def entered(self) -> None:
        self.controller.start_looking()
        self._clock.start()
        self._offer()
        self._refresh()

    def left(self) -> None:
        self._clock.stop()
        self.controller.stop_looking()

    def show_tab(self, key: str) -> None:
        """Show `cables` or `machines`."""
        self.show_part(key)

    def parts(self) -> tuple[PartView, ...]:
        look = self.controller.look
        if look is None:
            return ()
        right, needed = cables_right(look)
        count, fine = len(look.members), look.worst is not Severity.BAD
        cables = self.tr("{n} of {all}").format(n=right, all=needed)
        return (
            PartView("machines", self.tr("Machines"), str(count), True, self.tab == "machines"),
            PartView("cables", self.tr("Cables"), cables, fine and not self._away(), self.tab == "cables"),
        )

    def show_part(self, key: str) -> None:
        self.tab = key
        self.map_area.setVisible(key == "cables")
        self.table.setVisible(key == "machines")
        self.panel.setVisible(key == "cables")
        self.heading.setText(self.tr("Cables") if key == "cables" else self.tr("Machines"))
        self.changed.emit()

    def _refresh(self) -> None:
        look = self.controller.look
        self.bar.setVisible(self.controller.looking)
        if look is not None:
            self._show_map(look)
            self.table.show_look(look)
        self.panel.show_look(look, self._chain_instead(look), self._away())
        self._show_age()
        self.changed.emit()

    def _away(self) -> tuple[str, ...]:
        """Nodes that are not in the picture because they do not answer."""
        return tuple(n.name for n in self.controller.nodes if not n.ready)

    def _show_map(self, look: Look) -> None:
        view = cables_view(look, self.controller.nodes)
        cables = tuple(replace(c, highlight=(c.a, c.b) in self._lit) for c in view.cables)
        self.map.show_view(replace(view, cables=cables))

    def _light(self, finding: CableFinding | None) -> None:
        """The mouse is on a finding: its cables light up in the drawing."""
        found = [finding.cable, finding.belongs, *finding.missing] if finding is not None else []
        self._lit = frozenset((c.a, c.b) for c in found if c is not None)
        if self.controller.look is not None:
            self._show_map(self.controller.look)

    def _chain_instead(self, look: Look | None) -> bool:
        """Whether machines whose ring is not closed would do as a chain as they are."""
        if look is None or look.worst is not Severity.BAD or look.wanted is not TopologyKind.RING:
            return False
        from stellwerk.setup.look import judge

        facts = {m.name: m.facts for m in look.members}
        numbers = {m.name: m.number for m in look.members}
        other = judge(facts, look.reports, numbers, TopologyKind.CHAIN, look.notes)
        return other.worst is not Severity.BAD

    def _use_chain(self) -> None:
        self.wanted.setCurrentIndex(self.wanted.findData(TopologyKind.CHAIN))

    def _show_age(self) -> None:
        at = self.controller.looked_at_s
        if at is None:
            self.listening.setText(self.tr("Listening"))
        else:
            age = max(0, round(time.monotonic() - at))
            self.listening.setText(self.tr("Listening, last heard {s} s ago").format(s=age))

    def note(self) -> str:
        look = self.controller.look
        if look is None:
            return ""
        return topology_words(look)


def topology_words(look: Look) -> str:
    """`Ring of 4`, `Pair`, `Switch` ..."""
    kind = look.topology.kind
    count = len(look.members)
    if kind is TopologyKind.RING:
        return QCoreApplication.translate("look", "Ring of {n}").format(n=count)
    if kind is TopologyKind.CHAIN:
        return QCoreApplication.translate("look", "Chain of {n}").format(n=count)
    return topology_word(kind)


class CableAdvice(QFrame):
    """What is wrong with the cables and which hand movement mends it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        outer = vbox(self, spacing=0)
        inner = QWidget()
        self._column = vbox(inner, margins=(16, 16, 16, 16), spacing=12)
        outer.addWidget(scroll_area(inner), 1)
        self._instead = QWidget()
        foot = hbox(self._instead, margins=(16, 8, 16, 16), spacing=10)
        foot.addWidget(Icon("info-circle", "muted", 16), 0, Qt.AlignmentFlag.AlignTop)
        words = vbox(spacing=2)
        text = self.tr("Cannot move it now? The nodes also work as a chain.")
        words.addWidget(label(text, "second-muted", wrap=True))
        words.addWidget(Button(self.tr("Use them as a chain"), "link", on_click=lambda: self.use_chain()))
        foot.addLayout(words, 1)
        outer.addWidget(self._instead)
        self._shown: object = None
        self.unlock: Callable[[], object] = lambda: None
        self.use_chain: Callable[[], object] = lambda: None
        self.lit: Callable[[CableFinding | None], object] = lambda finding: None

    def show_look(self, look: Look | None, chain: bool = False, away: tuple[str, ...] = ()) -> None:
        """`chain`: the machines would do as a chain as they are. `away`: those that do not answer."""
        self._instead.setVisible(chain)
        parts = None if look is None else (look.cable_findings, look.findings, look.notes, look.topology, look.wanted)
        key = None if look is None else (parts, needs_sudo(look), away)
        if key == self._shown and look is not None:
            return
        self._shown = key
        clear_layout(self._column)
        if look is None:
            self._column.addWidget(label(self.tr("Reading the nodes"), "heading"))
            self._column.addWidget(label(self.tr("Nothing is changed on them."), "muted", wrap=True))
            self._column.addStretch(1)
            return
        bad = [f for f in look.cable_findings if f.severity is Severity.BAD]
        one = self.tr("1 thing to put right")
        many = self.tr("{n} things to put right").format(n=len(bad))
        title = (one if len(bad) == 1 else many) if bad else self.tr("The cables are right")
        if look.cable_findings and not bad:
            title = self.tr("The cables will do, with a remark")
        if away:
            title = self.tr("Not every node answers")
        self._column.addWidget(label(title, "heading"))
        if away:
            names = self.tr("No answer from {names}").format(names=", ".join(away))
            text = self.tr(
                "The picture is of the others. Wait until all answer, or take off under Pair what is not to come."
            )
            self._column.addWidget(Note("bad", names, text))
        elif not bad:
            self._column.addWidget(Note("good", topology_words(look), sentence(look.recommendation.why)))
        self._sudo(look)
        for finding in look.cable_findings:
            self._add(finding)
        for other in look.findings:
            self._column.addWidget(Note(NOTE_KINDS[other.severity], other.title, other.meaning))
            self._steps(other.remedy)
        for note in (*look.notes, *look.topology.notes):
            self._column.addWidget(label(sentence(note), "second-muted", wrap=True, selectable=True))
        if bad:
            self._column.addWidget(
                label(
                    self.tr("The picture follows within a few seconds. Nothing has been changed on the nodes so far."),
                    "second-muted",
                    wrap=True,
                )
            )
        self._folds(look)
        self._column.addStretch(1)

    def _folds(self, look: Look) -> None:
        """What the picture rests on, and what is right; both closed."""
        heard: list[str] = []
        wired = 0
        for node in cables_view(look, ()).nodes:
            for port in node.ports:
                wired += port.state in ("ok", "bad")
                words = self.tr("{node} port {n}: {words}")
                heard.append(words.format(node=node.name, n=port.number, words=port.words))
        note = self.tr("{n} of {all} ports heard a neighbour").format(n=wired, all=len(heard))
        self._column.addWidget(Fold(self.tr("Evidence"), note, heard))
        right = [c for c in cables_view(look, ()).cables if c.state == "ok" and c.b is not None]
        if right and any(f.severity is Severity.BAD for f in look.cable_findings):
            one = self.tr("1 cable is right")
            title = one if len(right) == 1 else self.tr("{n} cables are right").format(n=len(right))
            lines = [f"{c.a.node} P{c.a.port} – {c.b.node} P{c.b.port}, {c.label}" for c in right if c.b is not None]
            self._column.addWidget(Fold(title, "", lines))

    def _sudo(self, look: Look) -> None:
        """What cannot be read or heard without root, and the way to allow it."""
        names = needs_sudo(look)
        if not names:
            return
        give = Button(self.tr("Give the sudo password"), "link", on_click=lambda: self.unlock())
        text = self.tr(
            "Without it their network files cannot be read and some ports cannot listen, so an existing set-up may "
            "not be recognised. It is kept in memory until the wizard is left."
        )
        title = self.tr("{names}: sudo asks for a password").format(names=", ".join(names))
        self._column.addWidget(Note("info", title, text, [give]))

    def _add(self, finding: CableFinding) -> None:
        note = Note(NOTE_KINDS[finding.severity], finding.title, finding.meaning)
        lights(note, lambda over: self.lit(finding if over else None))
        self._column.addWidget(note)
        backs = [m for m in finding.movements if m.kind in ("move", "swap", "plug", "pull")]
        if backs:
            self._column.addWidget(label(self.tr("What to do"), "second-muted"))
            self._column.addWidget(BackOfMachine(backs[0]))
        self._steps(finding.steps)

    def _steps(self, steps: Sequence[str]) -> None:
        """What to do, in its order."""
        for number, step in enumerate(steps, 1):
            row = hbox(spacing=8)
            badge = label(str(number), "number")
            badge.setAlignment(Qt.AlignmentFlag.AlignCenter)
            row.addWidget(badge, 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(label(local(step), wrap=True, selectable=True), 1)
            self._column.addLayout(row)
        self._column.addWidget(frame("line"))


def needs_sudo(look: Look) -> list[str]:
    """The machines that keep something back until the sudo password is given."""
    names: list[str] = []
    # Only root hears a switch name itself; without that a pair may be one on a switch.
    unsure = look.topology.kind is TopologyKind.PAIR and not look.topology.direct_certain
    for member in look.members:
        report = look.reports.get(member.name)
        deaf = report is not None and any(s.state == "needs-sudo" for s in report.states)
        unread = any(f.text is None for f in member.facts.netplan)
        locked = member.facts.sudo.state == "password"
        if locked and (deaf or unread or (unsure and not member.facts.sudo.unlocked)):
            names.append(member.name)
    return names


class MachineTable(RowTable):
    """One row per machine with what it reported."""

    def __init__(self) -> None:
        heads = [self.tr("Machine"), self.tr("Product"), self.tr("System"), self.tr("Driver"), self.tr("Memory")]
        heads += [self.tr("Ports"), self.tr("Network by"), self.tr("Root")]
        super().__init__(heads, self.tr("Machines"))
        self.setHorizontalScrollMode(self.ScrollMode.ScrollPerPixel)

    def show_look(self, look: Look) -> None:
        self.setRowCount(len(look.members))
        for row, member in enumerate(look.members):
            facts = member.facts
            na = self.tr("not available")
            gpu = facts.gpus[0] if facts.gpus else None
            cells = (
                member.name,
                facts.product or na,
                facts.os_name or facts.kernel or na,
                (gpu.driver or na) if gpu else local(facts.gpu_note or na),
                local(gibibytes_from_kb(facts.memory.total_kb)),
                _ports(member) or local(facts.rdma_note or "") or self.tr("none"),
                facts.network_owner or na,
                self._root(facts.sudo.state),
            )
            for column, text in enumerate(cells):
                item = QTableWidgetItem(text)
                self.setItem(row, column, item)
                if column == SYSTEM_COLUMN:
                    item.setToolTip(plain_tip(" ".join(p for p in (facts.os_name, facts.kernel) if p)))
        spread_columns(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        spread_columns(self)

    def _root(self, state: str) -> str:
        words = {
            "root": self.tr("yes"),
            "nopasswd": self.tr("yes"),
            "password": self.tr("with a password"),
            "none": self.tr("no"),
        }
        return words.get(state, self.tr("not known"))


def _ports(member: Member) -> str:
    """`2 × 200 Gb/s`, or each by name where they differ."""
    speeds = [local(link_speed(p.halves[0].netdev.speed_mbps)) for p in member.ports]
    if len(speeds) > 1 and len(set(speeds)) == 1:
        return f"{len(speeds)} × {speeds[0]}"
    return ", ".join(f"P{p.number} {s}" for p, s in zip(member.ports, speeds, strict=True))
