"""A small panel to break and to mend the virtual cluster while everything else runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QSlider

from stellwerk_gui.language import local
from stellwerk_gui.trial.runner import Trial
from stellwerk_gui.trial.words import fault_word, shape_word
from stellwerk_gui.widgets.controls import Button, Combo, Note, clear_layout, frame, hbox, label, vbox
from stellwerk_gui.widgets.side_panel import SidePanel

PANEL_W = 320
SHAPES = ((8, "switch"), (8, "ring"), (4, "ring"), (4, "chain"), (3, "ring"), (2, "pair"), (1, "single"))


class TrialPanel(SidePanel):
    """Faults to set and clear, load to raise, secrets to read; other nodes instead of these."""

    instead = Signal(int, str)  # how many nodes are wanted instead, and how they are cabled

    def __init__(self, trial: Trial) -> None:
        super().__init__(PANEL_W, spacing=10)
        self.trial = trial
        self.head.addWidget(label(self.tr("Virtual cluster"), "heading"))
        self.head.addWidget(label(self.tr("simulated"), "tag-info"))
        column = self.column
        column.addWidget(label(self.tr("Node"), "second-muted"))
        self.node = Combo()
        self.node.setAccessibleName(self.tr("Node"))
        column.addWidget(self.node)
        column.addWidget(label(self.tr("What goes wrong"), "second-muted"))
        self.fault = Combo()
        self.fault.setAccessibleName(self.tr("What goes wrong"))
        self.fault.currentIndexChanged.connect(lambda: self._explain())
        column.addWidget(self.fault)
        self.explanation = label("", "second-muted", wrap=True)
        self.explanation.setMinimumHeight(2 * self.explanation.fontMetrics().lineSpacing())
        self.explanation.setAlignment(Qt.AlignmentFlag.AlignTop)
        column.addWidget(self.explanation)
        self.set_button = Button(self.tr("Break it"), icon_name="bug", on_click=self._set)
        column.addWidget(self.set_button)
        column.addWidget(frame("line"))
        column.addWidget(label(self.tr("What you broke"), "second-muted"))
        self._faults = vbox(spacing=4)
        column.addLayout(self._faults)
        column.addWidget(frame("line"))
        column.addWidget(label(self.tr("Load on this node's links"), "second-muted"))
        self.load_text = label("0 Gb/s", "second")
        self.load = QSlider(Qt.Orientation.Horizontal)
        self.load.setRange(0, 180)
        self.load.setAccessibleName(self.tr("Load on this node's links"))
        self.load.valueChanged.connect(self._load_chosen)
        self.load.sliderReleased.connect(self._load)
        column.addWidget(self.load)
        column.addWidget(self.load_text)
        column.addWidget(frame("line"))
        self.secrets = Note("plain", self.tr("If you are asked to log in"), "")
        column.addWidget(self.secrets)
        column.addWidget(frame("line"))
        column.addWidget(label(self.tr("Other nodes and cables"), "second-muted"))
        self.shape = Combo(self.tr("Other nodes and cables"))
        for shape in SHAPES:
            self.shape.addItem(shape_word(*shape), shape)
        column.addWidget(self.shape)
        column.addWidget(Button(self.tr("Start these instead"), icon_name="refresh", on_click=self._instead))
        column.addStretch(1)
        self.node.currentIndexChanged.connect(lambda: self._show_secrets())
        trial.started.connect(self._started)
        trial.changed.connect(self._changed)
        self._kinds: tuple[Any, ...] = ()

    def _started(self, cluster: Any) -> None:
        from stellwerk.virtual.faults import KINDS

        self.node.clear()
        for node in cluster.nodes:
            self.node.addItem(node.name)
        self._kinds = tuple(KINDS.values())
        self.fault.clear()
        for kind in self._kinds:
            self.fault.addItem(fault_word(kind.name), kind)
        self._show_secrets()

    def _explain(self) -> None:
        kind = self.fault.currentData()
        self.explanation.setText(local(kind.text) if kind is not None else "")

    def _set(self) -> None:
        kind = self.fault.currentData()
        if kind is not None:
            self.trial.set_fault(kind.name, self.node.currentText())

    def _instead(self) -> None:
        nodes, topology = self.shape.currentData()
        self.instead.emit(nodes, topology)

    def _load_chosen(self, value: int) -> None:
        """Keys and clicks beside the handle count at once; what is dragged, when it is let go."""
        self.load_text.setText(f"{value} Gb/s")
        if not self.load.isSliderDown():
            self._load()

    def _load(self) -> None:
        self.trial.load(self.node.currentText(), float(self.load.value()))

    def _changed(self, state: dict[str, Any]) -> None:
        self._show_secrets()  # a fault may have changed them
        clear_layout(self._faults)
        faults = state.get("faults", [])
        for fault in faults:
            row = hbox(spacing=8)
            where = fault.get("node") or ""
            what = f"{fault_word(fault['kind'])} {where}".strip()
            row.addWidget(label(what, "second"), 1)
            mend = partial(self.trial.clear_fault, fault["kind"], fault.get("node"))
            row.addWidget(Button(self.tr("Mend"), "small", on_click=mend, name=f"{self.tr('Mend')} {what}"))
            self._faults.addLayout(row)
        if not faults:
            self._faults.addWidget(label(self.tr("Nothing"), "second-muted"))

    def _show_secrets(self) -> None:
        cluster = self.trial.cluster
        for node in cluster.nodes if cluster is not None else ():
            if node.name == self.node.currentText():
                words = (f"{node.user}@{node.host}:{node.port}", f"{self.tr('password')} {node.password}")
                text = "\n".join((*words, f"sudo {node.sudo_password}"))
                self.secrets.show_text("plain", self.tr("If you are asked to log in"), text)
