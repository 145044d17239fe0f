"""Step 4: every half, now and then, as a table or a drawing; beside it the diff of the node in hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QStackedWidget

from stellwerk.model.fabric import TopologyKind
from stellwerk.model.plan import Plan
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import plan_view
from stellwerk_gui.setup.diff import DiffPane
from stellwerk_gui.setup.look import topology_words
from stellwerk_gui.setup.plan_table import PlanTable
from stellwerk_gui.setup.view import NARROW_PX, StepPage
from stellwerk_gui.widgets.controls import Button, Combo, Note, Segments, hbox, label, sentence
from stellwerk_gui.widgets.fabricmap import FabricMap, scrolling

if TYPE_CHECKING:
    from stellwerk_gui.controller import Controller

SAID_BY_ROW = "{member}: nothing to change, {source}."  # the row of the machine says it already
POOLS = ("10.100.0.0/16", "10.200.0.0/16", "172.30.0.0/16")  # what a person may choose instead of the automatic one


class PlanStep(StepPage):
    """The table of all nodes and the diff of one."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(self.tr("Plan"), self.tr("Nothing has been changed so far."))
        self._choices = hbox(spacing=8)
        self._choice_row = row = hbox(spacing=8)
        self._choices.addLayout(row, 1)
        row.addWidget(label(self.tr("Subnets from"), "second-muted"))
        self.pool = Combo(self.tr("Subnets from"))
        self.pool.addItem(self.tr("Automatic"), None)
        for pool in POOLS:
            self.pool.addItem(pool, pool)
        self.pool.currentIndexChanged.connect(lambda: self._replan())
        row.addWidget(self.pool)
        row.addSpacing(8)
        row.addWidget(label(self.tr("MTU"), "second-muted"))
        self.mtu = Combo(self.tr("MTU"))
        self.mtu.addItem("9000", 9000)
        self.mtu.addItem("1500", 1500)
        self.mtu.currentIndexChanged.connect(lambda: self._replan())
        row.addWidget(self.mtu)
        row.addStretch(1)
        self.choice = Segments([("table", self.tr("Table")), ("drawing", self.tr("Drawing"))], "table")
        self.choice.chosen.connect(self._choose_view)
        self._choices.addWidget(self.choice)
        self.column.addLayout(self._choices)
        self.problem = Note("bad")
        self.warning = Note("warn")
        for note in (self.problem, self.warning):
            note.hide()
            self.column.addWidget(note)
        self.views = QStackedWidget()
        self.table = PlanTable()
        self.table.node_chosen.connect(self._show_node)
        self.map = FabricMap()
        self.map.node_opened.connect(self._node_of_map)
        self.views.addWidget(self.table)
        self.map_area = scrolling(self.map)
        self.views.addWidget(self.map_area)
        self.column.addWidget(self.views, 1)
        self.notes = label("", "second-muted", wrap=True, selectable=True)
        self.notes.hide()
        self.column.addWidget(self.notes)
        self.pane = DiffPane()
        self.set_panel(self.pane, 416)
        self.save = Button(self.tr("Save plan"), "ghost", icon_name="upload", on_click=self._save)
        controller.plan_changed.connect(self._refresh)
        controller.look_changed.connect(self._look_arrived)
        self._wanted_plan = False

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        px = theme.current().px
        # The diff keeps its width longer than the table: what stands above the table has less room than the page tells.
        room = self.width() - self.pane.width() - 2 * px(theme.MARGIN_PX)
        wanted = self._choice_row.sizeHint().width() + self._choices.spacing() + self.choice.sizeHint().width()
        narrow = self.width() < px(NARROW_PX) or room < wanted
        ways = QBoxLayout.Direction
        self._choices.setDirection(ways.TopToBottom if narrow else ways.LeftToRight)

    def entered(self) -> None:
        self._take_pool()
        self._replan()

    def _take_pool(self) -> None:
        cluster = self.controller.cluster
        if cluster is None:
            return
        pool = cluster.address_pool
        self.pool.blockSignals(True)
        if pool and self.pool.findData(pool) < 0:
            self.pool.addItem(pool, pool)
        if self.controller.plan is None:
            self.pool.setCurrentIndex(self.pool.findData(pool) if pool else 0)
        self.pool.blockSignals(False)

    def show_as(self, key: str) -> None:
        """Show the plan as `table` or `drawing`."""
        self.choice.choose(key)
        self._choose_view(key)

    def _choose_view(self, key: str) -> None:
        self.views.setCurrentWidget(self.table if key == "table" else self.map_area)

    def _replan(self) -> None:
        if not self.isVisible():
            return
        if self.controller.look is None:
            self._wanted_plan = True
            self.controller.look_once()
            return
        self.problem.hide()
        self.controller.make_plan(mtu=self.mtu.currentData(), pool=self.pool.currentData(), failed=self._failed)

    def _look_arrived(self) -> None:
        if self._wanted_plan:
            self._wanted_plan = False
            self._replan()

    def _failed(self, error: object) -> None:
        self.problem.show_text("bad", self.tr("No plan can be made"), str(error))
        self.problem.show()

    def _refresh(self) -> None:
        plan, look = self.controller.plan, self.controller.look
        if plan is None:
            self.changed.emit()
            return
        self.table.show_plan(plan, self.controller)
        if look is not None:
            self.map.show_view(plan_view(plan, look, self.controller.nodes))
        self.warning.setVisible(bool(plan.warnings))
        self.warning.show_text("warn", "", "\n".join(sentence(w) for w in plan.warnings))
        self.sentence.setText(self._sentence(plan))
        notes = [sentence(n) for n in plan.notes if getattr(n, "template", "") != SAID_BY_ROW]
        self.notes.setText(" ".join(notes))
        self.notes.setVisible(bool(notes))
        changing = [n for n in plan.nodes if n.changes]
        chosen = self.table.chosen_node()
        if not any(n.node == chosen for n in changing) and changing:
            self._node_of_map(changing[0].node)
        elif chosen:
            self._show_node(chosen)
        self.changed.emit()

    def _sentence(self, plan: Plan) -> str:
        if plan.empty:
            return self.tr("Everything is right as it is.")
        look = self.controller.look
        kind = look.topology.kind if look is not None else TopologyKind.UNKNOWN
        shape, unchanged = "", self.tr("Nothing has been changed so far.")
        if look is not None and kind in (TopologyKind.RING, TopologyKind.CHAIN, TopologyKind.PAIR):
            shape = self.tr("{shape}, one subnet for each half of each cable.")
        elif kind is TopologyKind.SWITCH:
            shape = self.tr("{shape}, one subnet for each half.")
        if look is None or not shape:
            return unchanged
        return f"{shape.format(shape=topology_words(look))} {unchanged}"

    def _node_of_map(self, name: str) -> None:
        self.table._choose(name)
        self._show_node(name)
        self.map.select(node=name)

    def _show_node(self, name: str) -> None:
        plan = self.controller.plan
        node = next((n for n in plan.nodes if n.node == name), None) if plan is not None else None
        if node is not None:
            self.pane.show_node(node, self.controller.number(name))

    def _save(self) -> None:
        self.controller.save_plan(self.window())

    def note(self) -> str:
        plan = self.controller.plan
        if plan is None:
            return ""
        count = sum(bool(n.changes) for n in plan.nodes)
        if not count:
            return self.tr("Nothing to change")
        return self.tr("1 node changes") if count == 1 else self.tr("{n} nodes change").format(n=count)

    def next_label(self) -> str:
        plan = self.controller.plan
        count = sum(bool(n.changes) for n in plan.nodes) if plan is not None else 0
        if plan is not None and plan.empty:
            return self.tr("Go on, nothing to apply")
        return self.tr("Apply to 1 node") if count == 1 else self.tr("Apply to {n} nodes").format(n=count)

    def footer_buttons(self) -> tuple[Button, ...]:
        self.save.setVisible(self.controller.plan is not None)
        return (self.save,)
