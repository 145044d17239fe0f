"""Details of one cable: both ends, both halves, five minutes. The same in the panel and under the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QFrame, QWidget

from stellwerk.model.fabric import PortRef
from stellwerk.model.units import link_speed
from stellwerk_gui import theme
from stellwerk_gui.cluster.halves import HalfChart, HalfRow
from stellwerk_gui.widgets.controls import Note, Swatch, clear_layout, frame, hbox, label, sentence, vbox
from stellwerk_gui.widgets.side_panel import SidePanel

if TYPE_CHECKING:
    from stellwerk.fabric.members import Member
    from stellwerk.model.fabric import Port
    from stellwerk_gui.controller import Controller
    from stellwerk_gui.widgets.fabricmap import CableView

PANEL_W, HOVER_W = 376, 344


class CableDetails(QWidget):
    """Both ends with their halves and what they sent."""

    def __init__(self, controller: Controller, *, notes: bool) -> None:
        super().__init__()
        self.controller = controller
        self._notes = notes
        self._rows: list[tuple[str, HalfRow]] = []
        self._charts: list[tuple[str, HalfChart]] = []
        self._column = vbox(self, spacing=8)

    def show_cable(self, cable: CableView) -> None:
        clear_layout(self._column)
        self._rows, self._charts = [], []
        ends = [cable.a, *([cable.b] if cable.b is not None else [])]
        if self._notes:
            for check in self.controller.bad_checks():
                if any((check.node, check.port) == (end.node, end.port) for end in ends):
                    kind = "bad" if cable.state == "bad" else "warn"
                    words = " ".join(sentence(p) for p in (check.why, check.remedy) if p)
                    self._column.addWidget(Note(kind, "", words or sentence(check.text), small=True))
                    break
        for i, end in enumerate(ends):
            if i:
                self._column.addWidget(frame("line"))
            self._end(end)
        self.refresh()

    def _end(self, end: PortRef) -> None:
        head = hbox(spacing=8)
        head.addWidget(Swatch(self.controller.number(end.node)))
        head.addWidget(label(end.node, "heading"))
        head.addWidget(label(self.tr("port {n}").format(n=end.port), "muted"))
        head.addStretch(1)
        port = self._port(end)
        if port is not None:
            mtus = sorted({h.netdev.mtu for h in port.halves if h.netdev.mtu})
            head.addWidget(label("MTU " + ", ".join(map(str, mtus)), "second-muted"))
        self._column.addLayout(head)
        if port is None:
            return
        bad = self.controller.bad_halves()
        for half in port.halves:
            row = HalfRow(half, bad.get((end.node, half.netdev.name), "ok"))
            self._rows.append((end.node, row))
            self._column.addWidget(row)
        if self._charts and not self._notes:
            return  # beside the mouse one picture is enough: what one end sends the other receives
        title = self.tr("Port {n}, sent").format(n=end.port)
        chart = HalfChart(title, [h.netdev.name for h in port.halves], [h.label for h in port.halves])
        self._charts.append((end.node, chart))
        self._column.addWidget(chart)

    def _port(self, end: PortRef) -> Port | None:
        look = self.controller.look
        member: Member | None = (
            next((m for m in look.members if m.name == end.node), None) if look is not None else None
        )
        return next((p for p in member.ports if p.number == end.port), None) if member is not None else None

    def refresh(self) -> None:
        """The numbers of now."""
        store = self.controller.telemetry
        for node, row in self._rows:
            row.show_rates(store.latest(node) if store is not None else {})
        for node, chart in self._charts:
            chart.load(self.controller, node)

    def title(self, cable: CableView) -> str:
        """Which cable, and how fast it is."""
        port = self._port(cable.a)
        speed = next((h.netdev.speed_mbps for h in port.halves if h.netdev.speed_mbps), None) if port else None
        where = self.tr("Cable to the switch") if cable.b is None else self.tr("Cable")
        return f"{where}, {link_speed(speed)}" if speed else where


class CablePanel(SidePanel):
    """The details in the panel at the right."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(PANEL_W, spacing=8)
        self.title = label("", "title")
        self.head.addWidget(self.title)
        self.details = CableDetails(controller, notes=True)
        self.column.addWidget(self.details)
        self.column.addStretch(1)

    def show_cable(self, cable: CableView) -> None:
        self.details.show_cable(cable)
        self.title.setText(self.details.title(cable))

    def refresh(self) -> None:
        self.details.refresh()


class CableHover(QFrame):
    """The details beside the mouse, for as long as it rests on the cable."""

    def __init__(self, parent: QWidget, controller: Controller) -> None:
        super().__init__(parent)
        self._room = parent
        self.setProperty("kind", "hovercard")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFixedWidth(theme.current().px(HOVER_W))
        column = vbox(self, margins=(14, 12, 14, 12), spacing=8)
        self.title = label("", "heading")
        column.addWidget(self.title)
        self.details = CableDetails(controller, notes=False)
        column.addWidget(self.details)
        self.hide()

    def show_cable(self, cable: CableView, at: QPointF) -> None:
        """Beside `at` (in the parent's pixels), wholly inside the parent."""
        self.details.show_cable(cable)
        self.title.setText(self.details.title(cable))
        self.adjustSize()
        parent = self._room
        gap = theme.current().px(18)
        x = at.x() + gap if at.x() + gap + self.width() <= parent.width() else at.x() - gap - self.width()
        y = min(max(0.0, at.y() - self.height() / 2), max(0, parent.height() - self.height()))
        self.move(round(max(0.0, x)), round(y))
        self.show()
        self.raise_()
