"""Step 3: what the machines are, and which cable goes where: the drawing and the words say the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QProgressBar, QScrollArea, QTableWidget, QTableWidgetItem, QWidget

from stellwerk.model.fabric import CableFinding, Movement, TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.units import gibibytes_from_kb, link_speed
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import cables_view, topology_word
from stellwerk_gui.language import local
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.controls import (
    Button,
    Combo,
    Icon,
    Note,
    Segments,
    clear_layout,
    frame,
    hbox,
    label,
    sentence,
    vbox,
)
from stellwerk_gui.widgets.fabricmap import FabricMap

if TYPE_CHECKING:
    from stellwerk.setup.look import Look
    from stellwerk_gui.controller import Controller

CHOICES = (TopologyKind.PAIR, TopologyKind.RING, TopologyKind.CHAIN, TopologyKind.SWITCH, TopologyKind.SINGLE)


class LookStep(StepPage):
    """Two views: cables and machines."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(
            self.tr("Cables"), self.tr("Read from the machines: each one calls on every port and hears who answers.")
        )
        self.tabs = Segments([("cables", self.tr("Cables")), ("machines", self.tr("Machines"))], "cables")
        self.tabs.chosen.connect(self._switch_tab)
        self.head_actions.addWidget(self.tabs)
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
        self.wanted.currentIndexChanged.connect(lambda: controller.want(self.wanted.currentData()))
        row.addWidget(self.wanted)
        row.addStretch(1)
        self.listening_icon = Icon("refresh", "muted", 14)
        row.addWidget(self.listening_icon)
        self.listening = label("", "second-muted")
        row.addWidget(self.listening)
        self.column.addLayout(row)
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(theme.current().px(2))
        self.column.addWidget(self.bar)
        self.map = FabricMap()
        self.column.addWidget(self.map, 1)
        self.table = MachineTable()
        self.table.hide()
        self.column.addWidget(self.table, 1)
        self.panel = CablePanel()
        self.panel.unlock = controller.unlock_sudo
        self.set_panel(self.panel, 376)
        controller.look_changed.connect(self._refresh)
        self._clock = QTimer(self)
        self._clock.setInterval(1000)
        self._clock.timeout.connect(self._show_age)

    def entered(self) -> None:
        self.controller.start_looking()
        self._clock.start()
        self._refresh()

    def left(self) -> None:
        self._clock.stop()
        self.controller.stop_looking()

    def show_tab(self, key: str) -> None:
        """Show `cables` or `machines`."""
        self.tabs.choose(key)
        self._switch_tab(key)

    def _switch_tab(self, key: str) -> None:
        self.map.setVisible(key == "cables")
        self.table.setVisible(key == "machines")
        self.panel.setVisible(key == "cables")
        self.heading.setText(self.tr("Cables") if key == "cables" else self.tr("Machines"))

    def _refresh(self) -> None:
        look = self.controller.look
        self.bar.setVisible(self.controller.looking)
        if look is not None:
            self.map.show_view(cables_view(look, self.controller.nodes))
            self.table.show_look(look)
        self.panel.show_look(look)
        self._show_age()
        self.changed.emit()

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


class CablePanel(QFrame):
    """What is wrong with the cables and which hand movement mends it."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("kind", "panel")
        outer = vbox(self, spacing=0)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        inner = QWidget()
        self._column = vbox(inner, margins=(16, 16, 16, 16), spacing=12)
        area.setWidget(inner)
        outer.addWidget(area)
        self._shown: object = None
        self.unlock: Callable[[], object] = lambda: None

    def show_look(self, look: Look | None) -> None:
        key = None if look is None else (look.cable_findings, look.notes, look.topology, look.wanted, needs_sudo(look))
        if key == self._shown and look is not None:
            return
        self._shown = key
        clear_layout(self._column)
        if look is None:
            self._column.addWidget(label(self.tr("Reading the machines"), "heading"))
            self._column.addWidget(label(self.tr("Nothing is changed on them."), "muted", wrap=True))
            self._column.addStretch(1)
            return
        bad = [f for f in look.cable_findings if f.severity is Severity.BAD]
        one = self.tr("1 thing to put right")
        many = self.tr("{n} things to put right").format(n=len(bad))
        title = (one if len(bad) == 1 else many) if bad else self.tr("The cables are right")
        self._column.addWidget(label(title, "heading"))
        if not bad:
            self._column.addWidget(Note("good", topology_words(look), sentence(look.recommendation.why)))
        self._sudo(look)
        for finding in look.cable_findings:
            self._add(finding)
        for note in (*look.notes, *look.topology.notes):
            self._column.addWidget(label(sentence(note), "second-muted", wrap=True, selectable=True))
        if bad:
            self._column.addWidget(
                label(
                    self.tr(
                        "The picture follows within a few seconds. Nothing has been changed on the machines so far."
                    ),
                    "second-muted",
                    wrap=True,
                )
            )
        self._column.addStretch(1)

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
        kind = {Severity.BAD: "bad", Severity.WARN: "warn", Severity.INFO: "info"}[finding.severity]
        self._column.addWidget(Note(kind, finding.title, finding.meaning))
        backs = [m for m in finding.movements if m.kind in ("move", "plug", "pull")]
        if backs:
            self._column.addWidget(label(self.tr("What to do"), "second-muted"))
            self._column.addWidget(BackOfMachine(backs[0]))
        for number, step in enumerate(finding.steps, 1):
            row = hbox(spacing=8)
            badge = label(str(number), "key")
            row.addWidget(badge, 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(label(local(step), wrap=True, selectable=True), 1)
            self._column.addLayout(row)
        line = frame("line")
        self._column.addWidget(line)


def needs_sudo(look: Look) -> list[str]:
    """The machines that keep something back until the sudo password is given."""
    names: list[str] = []
    for member in look.members:
        report = look.reports.get(member.name)
        deaf = report is not None and any(s.state == "needs-sudo" for s in report.states)
        unread = any(f.text is None for f in member.facts.netplan)
        if member.facts.sudo.state == "password" and (deaf or unread):
            names.append(member.name)
    return names


class BackOfMachine(QWidget):
    """The back of the very machine with the plug to move: RJ45, port 0, port 1."""

    def __init__(self, movement: Movement) -> None:
        super().__init__()
        self.movement = movement
        self.setFixedHeight(theme.current().px(112))
        self.setAccessibleName(self.words())

    def words(self) -> str:
        m = self.movement
        return f"Back of {m.plug.node}: {m.kind} port {m.plug.port}" + (f" to {m.to}" if m.to else "")

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        p.scale(t.scale, t.scale)
        width, height = self.width() / t.scale, self.height() / t.scale
        p.setPen(Qt.PenStyle.NoPen)
        p.setBrush(QColor(c.canvas))
        p.drawRoundedRect(QRectF(0, 0, width, height), 6, 6)
        body = QRectF(8, 24, width - 16, 54)
        p.setPen(QPen(QColor(c.line), 1))
        p.setBrush(QColor(c.raised))
        p.drawRoundedRect(body, 6, 6)
        p.setBrush(Qt.BrushStyle.NoBrush)
        p.setPen(QPen(QColor(c.outline), 1.3))
        for i in range(4):
            p.drawRoundedRect(QRectF(body.left() + 28 + i * 22, body.center().y() - 5, 16, 10), 5, 5)
        p.drawRect(QRectF(body.right() - 166, body.center().y() - 12, 24, 24))
        places = {
            0: QRectF(body.right() - 122, body.center().y() - 11, 50, 22),
            1: QRectF(body.right() - 60, body.center().y() - 11, 50, 22),
        }
        same = self.movement.to is not None and self.movement.to.node == self.movement.plug.node
        p.setFont(theme.font(theme.SECOND_PT))
        for number, box in places.items():
            here = number == self.movement.plug.port
            there = same and self.movement.to is not None and number == self.movement.to.port
            plugged = here and self.movement.kind in ("move", "pull")
            colour = c.bad if plugged else c.accent if there or here else c.outline
            pen = QPen(QColor(colour), 1.6)
            if there or (here and self.movement.kind == "plug"):
                pen.setStyle(Qt.PenStyle.DashLine)
            p.setPen(pen)
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawRoundedRect(box, 3, 3)
            if plugged:
                p.setPen(Qt.PenStyle.NoPen)
                p.setBrush(QColor(c.bad))
                p.drawRoundedRect(box.adjusted(7, 6, -7, -6), 2, 2)
            ink = c.bad_text if plugged else c.accent_text if there or here else c.muted
            p.setPen(QColor(ink))
            p.drawText(
                QRectF(box.left() - 10, body.bottom() + 6, box.width() + 20, 16),
                Qt.AlignmentFlag.AlignCenter,
                self.tr("Port {n}").format(n=number),
            )
        if same and self.movement.kind == "move":
            a, b = places[self.movement.plug.port], places[1 - self.movement.plug.port]
            path = QPainterPath(a.center() - _up(13))
            path.cubicTo(a.center() - _up(34), b.center() - _up(34), b.center() - _up(13))
            p.setPen(QPen(QColor(c.accent), 2))
            p.setBrush(Qt.BrushStyle.NoBrush)
            p.drawPath(path)
            tip = b.center() - _up(12)
            p.drawLine(tip, tip - _up(7) + _right(-4))
            p.drawLine(tip, tip - _up(7) + _right(4))
        p.setPen(QColor(c.muted))
        p.drawText(
            QRectF(10, body.bottom() + 6, width - 200, 16),
            Qt.AlignmentFlag.AlignLeft,
            self.tr("Back of {node}").format(node=self.movement.plug.node),
        )
        p.drawText(QRectF(body.right() - 176, body.bottom() + 6, 44, 16), Qt.AlignmentFlag.AlignCenter, "RJ45")
        p.end()


def _up(y: float) -> QPointF:
    return QPointF(0, y)


def _right(x: float) -> QPointF:
    return QPointF(x, 0)


class MachineTable(QTableWidget):
    """One row per machine with what it reported."""

    def __init__(self) -> None:
        heads = [self.tr("Machine"), self.tr("Product"), self.tr("System"), self.tr("Driver"), self.tr("Memory")]
        heads += [self.tr("Ports"), self.tr("Network by"), self.tr("Root")]
        super().__init__(0, len(heads))
        self.setHorizontalHeaderLabels(heads)
        self.verticalHeader().hide()
        self.setShowGrid(False)
        self.setEditTriggers(self.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(self.SelectionBehavior.SelectRows)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.horizontalHeader().setStretchLastSection(True)
        self.setAccessibleName(self.tr("Machines"))

    def show_look(self, look: Look) -> None:
        self.setRowCount(len(look.members))
        for row, member in enumerate(look.members):
            facts = member.facts
            na = self.tr("not available")
            gpu = facts.gpus[0] if facts.gpus else None
            cells = (
                member.name,
                facts.product or na,
                " ".join(p for p in (facts.os_name, facts.kernel) if p) or na,
                (gpu.driver or na) if gpu else local(facts.gpu_note or na),
                local(gibibytes_from_kb(facts.memory.total_kb)),
                ", ".join(f"P{p.number} {local(link_speed(p.halves[0].netdev.speed_mbps))}" for p in member.ports)
                or local(facts.rdma_note or "")
                or self.tr("none"),
                facts.network_owner or na,
                self._root(facts.sudo.state),
            )
            for column, text in enumerate(cells):
                self.setItem(row, column, QTableWidgetItem(text))
        self.resizeColumnsToContents()

    def _root(self, state: str) -> str:
        words = {
            "root": self.tr("yes"),
            "nopasswd": self.tr("yes"),
            "password": self.tr("with a password"),
            "none": self.tr("no"),
        }
        return words.get(state, self.tr("not known"))
