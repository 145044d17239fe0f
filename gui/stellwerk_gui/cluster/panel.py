"""Details of one node, from the right."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal

from stellwerk.model.fabric import PortRef
from stellwerk.model.units import gibibytes_from_kb, link_speed
from stellwerk_gui import theme
from stellwerk_gui.cluster.halves import HalfChart, HalfRow
from stellwerk_gui.cluster.views import state_word
from stellwerk_gui.widgets.controls import (
    Button,
    Icon,
    Note,
    Swatch,
    Tag,
    clear_layout,
    frame,
    hbox,
    label,
    sentence,
)
from stellwerk_gui.widgets.side_panel import SidePanel

if TYPE_CHECKING:
    from stellwerk.fabric.members import Member
    from stellwerk.model.fabric import Port
    from stellwerk_gui.controller import Controller

PANEL_W = 360


class NodePanel(SidePanel):
    """Ports with their halves, five minutes of traffic, addresses, machine."""

    logs = Signal(str)
    unpair = Signal(str)
    test_wanted = Signal(str)  # show what was measured of this node
    step_wanted = Signal(str)  # open the step of the wizard that puts it right

    def __init__(self, controller: Controller) -> None:
        super().__init__(PANEL_W, spacing=10)
        self.controller = controller
        self.name = ""
        self._halves: list[HalfRow] = []
        self._charts: list[HalfChart] = []
        self._shown: object = None
        self._swatch = hbox()
        self.head.addLayout(self._swatch)
        self.title = label("", "title")
        self.head.addWidget(self.title)
        self.tag = Tag()
        self.head.addWidget(self.tag)
        foot = self.add_foot()
        foot.addWidget(Button(self.tr("Logs"), icon_name="align-left", on_click=lambda: self.logs.emit(self.name)))
        foot.addStretch(1)
        take_out = Button(self.tr("Un-pair"), "ghost", icon_name="trash", on_click=lambda: self.unpair.emit(self.name))
        foot.addWidget(take_out)

    def show_node(self, name: str) -> None:
        self.name = name
        self._shown = None
        self.refresh()

    def refresh(self) -> None:
        """Numbers every time; the structure only when it changed."""
        node = self.controller.node(self.name)
        member = self._member()
        note = self.controller.node_notes().get(self.name)
        key = (self.name, node, member.facts if member is not None else None, note)
        if key != self._shown:
            self._shown = key
            self._build(member)
        latest = self.controller.telemetry.latest(self.name) if self.controller.telemetry is not None else {}
        for half in self._halves:
            half.show_rates(latest)
        for chart in self._charts:
            chart.load(self.controller, self.name)

    def _member(self) -> Member | None:
        look = self.controller.look
        return next((m for m in look.members if m.name == self.name), None) if look is not None else None

    def _build(self, member: Member | None) -> None:
        node = self.controller.node(self.name)
        clear_layout(self.column)
        clear_layout(self._swatch)
        self._halves, self._charts = [], []
        self.title.setText(self.name)
        self._swatch.addWidget(Swatch(self.controller.number(self.name)))
        if node is None:
            return
        note = self.controller.node_notes().get(self.name)
        self._show_tag(node.state, note[0] if note is not None and node.ready else "")
        if not node.ready and node.reason:
            self.column.addWidget(Note("warn", "", node.reason, small=True))
        if note is not None:
            what_to_do, step = self.controller.remedy(self.name)
            checks = [c for c in self.controller.bad_checks() if c.node == self.name and not step]
            more = checks[0] if checks else None
            why = " ".join(sentence(p) for p in ((more.why, more.remedy) if more is not None else what_to_do) if p)
            actions = []
            if step:
                word = self.tr("Look at the cables") if step == "look" else self.tr("Plan the repair")
                actions.append(Button(word, "link", on_click=partial(self.step_wanted.emit, step)))
            if more is not None:
                show = Button(self.tr("Show the test"), "link", on_click=lambda: self.test_wanted.emit(self.name))
                actions.append(show)
            kind = "bad" if note[0] == "bad" else "warn"
            self.column.addWidget(Note(kind, "", f"{sentence(note[1])} {why}".strip(), actions, small=True))
        elif not node.ready and node.reason:
            self.column.addWidget(Note("warn", "", node.reason, small=True))
        if member is not None:
            for i, port in enumerate(member.ports):
                if i:
                    self.column.addWidget(frame("line"))
                self._port(port)
        na = self.tr("not available")
        self._section(self.tr("Addresses"))
        self._pair(self.tr("Management"), node.address)
        if member is not None:
            self._pair(self.tr("Network set by"), member.facts.network_owner or na)
        self._section(self.tr("Machine"))
        if member is not None:
            self._facts(member)
        self._pair(self.tr("Agent"), node.agent_version or na)
        self.column.addStretch(1)

    def _show_tag(self, state: str, finding: str) -> None:
        words = {"bad": self.tr("Needs attention"), "degraded": self.tr("Degraded")}
        kind = {"bad": "bad", "degraded": "warn"}.get(finding)
        self.tag.say(words.get(finding) or state_word(state), kind or ("good" if state == "ready" else "plain"))

    def _section(self, text: str) -> None:
        self.column.addWidget(frame("line"))
        self.column.addWidget(label(text, "heading"))

    def _pair(self, name: str, value: str) -> None:
        row = hbox(spacing=8)
        left = label(name, "second-muted")
        left.setFixedWidth(theme.current().px(108))
        row.addWidget(left, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(label(value, "second", wrap=True, selectable=True), 1)
        self.column.addLayout(row)

    def _port(self, port: Port) -> None:
        head = hbox(spacing=8)
        head.addWidget(label(self.tr("Port {n}").format(n=port.number), "heading"))
        wired = any(h.netdev.carrier for h in port.halves)
        speed = next((h.netdev.speed_mbps for h in port.halves if h.netdev.speed_mbps), None)
        words = " · ".join(w for w in (self._goes_to(port), link_speed(speed) if speed else "") if w)
        head.addWidget(label(words if wired else "", "second-muted"))
        head.addStretch(1)
        if wired:
            mtus = sorted({h.netdev.mtu for h in port.halves if h.netdev.mtu})
            head.addWidget(label("MTU " + ", ".join(map(str, mtus)), "second-muted"))
        else:
            head.addWidget(Icon("circle-minus", "muted", 14))
            head.addWidget(label(self.tr("No cable"), "second-muted"))
        self.column.addLayout(head)
        if not wired:
            return
        bad = self.controller.bad_halves()
        for half in port.halves:
            row = HalfRow(half, bad.get((self.name, half.netdev.name), "ok"))
            self._halves.append(row)
            self.column.addWidget(row)
        title = self.tr("Port {n}, sent").format(n=port.number)
        chart = HalfChart(title, [h.netdev.name for h in port.halves], [h.label for h in port.halves])
        self._charts.append(chart)
        self.column.addWidget(chart)

    def _goes_to(self, port: Port) -> str:
        look = self.controller.look
        own = PortRef(self.name, port.number)
        for cable in look.topology.cabling.cables if look is not None else ():
            for here, there in ((cable.a, cable.b), (cable.b, cable.a)):
                if here == own:
                    return self.tr("to {node} P{n}").format(node=there.node, n=there.port)
        for link in look.topology.cabling.switch_links if look is not None else ():
            if link.port == own:
                return self.tr("to the switch") + (f", {link.switch_port}" if link.switch_port else "")
        return ""

    def _facts(self, member: Member) -> None:
        facts = member.facts
        na = self.tr("not available")
        gpu = facts.gpus[0] if facts.gpus else None
        firmware = sorted({d.firmware for d in facts.rdma if d.firmware})
        self._pair(self.tr("Product"), f"{facts.product or na}, {gibibytes_from_kb(facts.memory.total_kb)}")
        self._pair(self.tr("System"), facts.os_name or na)
        self._pair(self.tr("Kernel"), facts.kernel or na)
        self._pair(
            self.tr("GPU"), f"{gpu.name}, {gpu.driver or na}, CUDA {gpu.cuda or na}" if gpu else facts.gpu_note or na
        )
        self._pair("ConnectX", ", ".join(firmware) or facts.rdma_note or na)
