"""*Set up*: the wizard as a page. Which step follows which is decided in `stellwerk.setup.wizard`."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from stellwerk.model.finding import Severity
from stellwerk.setup import wizard
from stellwerk_gui import theme
from stellwerk_gui.cluster.views import topology_in_words
from stellwerk_gui.controller import Controller
from stellwerk_gui.language import local
from stellwerk_gui.palette import Command
from stellwerk_gui.setup.apply import ApplyStep
from stellwerk_gui.setup.find import FindStep
from stellwerk_gui.setup.look import LookStep
from stellwerk_gui.setup.pair import PairStep
from stellwerk_gui.setup.plan import PlanStep
from stellwerk_gui.setup.prove import ProveStep
from stellwerk_gui.setup.steps import Steps, StepView
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Elided, frame, hbox, vbox

AWAY = ("reconnecting", "needs attention", "closed")  # it was paired, or a person knows why not
LEGEND_FROM_PX = 1150  # a narrower window has no room for a legend beside the buttons


class SetupPage(Page):
    """Steps at the left, the step in the middle, Back and Next below."""

    finished = Signal()
    closed = Signal()
    cancelled = Signal()
    step_opened = Signal(str)
    mesh_wanted = Signal()
    undo_wanted = Signal()

    def __init__(self, controller: Controller) -> None:
        super().__init__("", line=True)
        self.title.setText(self.tr("Set up"))
        self.controller = controller
        self.step: str = "find"
        self.steps = Steps()
        self.steps.chosen.connect(self.open_step)
        self.steps.part_chosen.connect(lambda key: self.views[self.step].show_part(key))
        self.stack = QStackedWidget()
        self.find_step = FindStep(controller)
        self.views: dict[str, StepPage] = {
            "find": self.find_step,
            "pair": PairStep(controller),
            "look": LookStep(controller),
            "plan": PlanStep(controller),
            "apply": ApplyStep(controller),
            "prove": ProveStep(controller),
        }
        self._visible_now = False
        self._resumed_from = ""
        self._build()
        for view in self.views.values():
            self.stack.addWidget(view)
            view.changed.connect(self.refresh)
            view.go_on.connect(self.go_next)
        for view in (self.views["apply"], self.views["prove"]):
            view.mesh_wanted.connect(self.mesh_wanted)  # type: ignore[attr-defined]
        prove = self.views["prove"]
        prove.repair_wanted.connect(partial(self.open_step, "plan"))  # type: ignore[attr-defined]
        controller.nodes_changed.connect(self.refresh)
        controller.connected.connect(self._connected)
        controller.cluster_changed.connect(self._cluster_changed)
        controller.apply_done.connect(self._applied)

    def _build(self) -> None:
        self.start_over = Button(
            self.tr("Start over"), "ghost", icon_name="history", on_click=partial(self.open_step, "find")
        )
        self.add_action(self.start_over)
        self.undo_button = Button(
            self.tr("Undo the plan"), "ghost", icon_name="history", on_click=self.undo_wanted.emit
        )
        self.add_action(self.undo_button)
        self.close_button = Button(self.tr("Save and close"), on_click=self.closed.emit)
        self.add_action(self.close_button)
        self.prove_button = self.views["prove"].run  # type: ignore[attr-defined]
        self.add_action(self.prove_button)
        row = hbox(self.body, spacing=0)
        row.addWidget(self.steps)
        row.addWidget(frame("vline"))
        right = QWidget()
        row.addWidget(right, 1)
        column = vbox(right, spacing=0)
        column.addWidget(self.stack, 1)
        footer = frame("footer")
        footer.setFixedHeight(theme.current().px(56))
        self._footer = hbox(footer, margins=(16, 0, 16, 0), spacing=8)
        self.cancel = Button(self.tr("Cancel"), "ghost", on_click=self.cancelled.emit)
        self._footer.addWidget(self.cancel)
        self.why = Elided("", "second-muted")
        for view in self.views.values():
            if view.footer_note is not None:
                self._footer.addWidget(view.footer_note)
            for button in view.footer_buttons():
                button.setParent(footer)  # shown without a parent it would be a window, and take the keys along
                button.hide()
        self._footer.addStretch(1)
        self._footer.addWidget(self.why)
        self._extra: tuple[Button, ...] = ()
        self.back = Button(self.tr("Back"), icon_name="chevron-left", on_click=self.go_back)
        self.next = Button(
            self.tr("Next"), "primary", icon_name="chevron-right", on_click=self.go_next, icon_after=True
        )
        self._footer.addWidget(self.back)
        self._footer.addWidget(self.next)
        column.addWidget(footer)

    # -- state ---------------------------------------------------------------------------------------------------

    def wizard_state(self) -> wizard.WizardState:
        """What the wizard knows now."""
        c = self.controller
        look, plan, outcome = c.look, c.plan, c.outcome
        return wizard.WizardState(
            page=self.step,
            machines=len(c.nodes),
            paired=sum(n.ready for n in c.nodes),
            looked=look is not None,
            worst_cable=look.worst if look is not None else None,
            chosen_topology=look.wanted.value if look is not None else None,
            plan_ready=plan is not None,
            plan_empty=plan is not None and plan.empty,
            applied=outcome is not None and outcome.applied,
            away=tuple(n.name for n in c.nodes if n.state in AWAY),
        )

    def open_step(self, key: str) -> None:
        """Bring a step to the front."""
        if key != self.step:
            self.views[self.step].left()
            self.step = key
            # The step is drawn first: the cluster's file is written beside this thread, but by the same interpreter.
            QTimer.singleShot(0, self, partial(self.controller.save_page, key))
        self.stack.setCurrentWidget(self.views[key])
        if self._visible_now:
            self.views[key].entered()
        self.step_opened.emit(key)
        self.refresh()

    def resume(self) -> None:
        """Open the step at which the saved cluster stands."""
        cluster = self.controller.cluster
        saved = cluster.page if cluster is not None else "find"
        self.open_step(wizard.resume_page(replace(self.wizard_state(), page=saved)))
        self._resumed_from = saved if self.step != saved else ""

    def _connected(self) -> None:
        """When it was opened no node had answered yet: go on to where it stood, unless a person went on meanwhile."""
        saved, self._resumed_from = self._resumed_from, ""
        if saved and self.step == "pair":
            self.open_step(wizard.resume_page(replace(self.wizard_state(), page=saved)))

    def go_next(self) -> None:
        if wizard.why_shut(self.wizard_state()) and self.step != "find":
            return
        if not self.views[self.step].leave():
            return
        if wizard.why_shut(self.wizard_state()):
            return
        following = wizard.next_page(self.wizard_state())
        if following is None:
            self.controller.save_page("done")
            self.controller.pairing.forget_sudo()
            self.finished.emit()
        else:
            if following == "prove" and self.step == "plan":
                self.controller.forget_proof()  # nothing had to be changed: prove what is there now
            self.open_step(following)

    def go_back(self) -> None:
        before = wizard.back_page(self.wizard_state())
        if before is not None:
            self.open_step(before)

    def _applied(self, outcome: object) -> None:
        if self.step == "apply" and self.controller.outcome is not None and self.controller.outcome.applied:
            self.open_step("prove")

    def _cluster_changed(self) -> None:
        self.step = "find"
        self.stack.setCurrentWidget(self.views["find"])
        self.refresh()

    # -- showing -------------------------------------------------------------------------------------------------

    def shown(self) -> None:
        self._visible_now = True
        self.views[self.step].entered()
        self.refresh()

    def left(self) -> None:
        self._visible_now = False
        self.views[self.step].left()

    def refresh(self) -> None:
        """Steps, footer and title line from what is known."""
        state = self.wizard_state()
        at = wizard.KEYS.index(self.step)
        steps: list[StepView] = []
        for i, spec in enumerate(wizard.PAGES):
            done = wizard.done(state, spec.key)
            now = spec.key == self.step
            bad = now and spec.key == "look" and state.worst_cable is Severity.BAD
            kind = "bad" if bad else "now" if now else "done" if done else "ahead"
            steps.append(
                StepView(
                    spec.key,
                    _title(self, spec.key),
                    self.views[spec.key].note(),
                    kind,
                    i < at and not self.controller.applying,
                    self.views[spec.key].parts() if now else (),
                )
            )
        self.steps.show_steps(steps)
        shut = wizard.why_shut(state)
        if self.controller.applying:
            shut = ""  # the machines' own words tell it
        if self.step == "find" and self.find_step.field.toPlainText().strip():
            shut = ""
        self.why.setText(local(shut))
        self._open_next(not shut and not self.controller.applying)
        self.next.setText(self.views[self.step].next_label())
        self.next.setAccessibleName(self.next.text())
        self.back.setEnabled(wizard.back_page(state) is not None and not self.controller.applying)
        self.start_over.setEnabled(self.step != "find" and not self.controller.applying)
        self._show_extra()
        for key, view in self.views.items():
            if view.footer_note is not None:
                view.footer_note.setVisible(key == self.step and self.width() >= theme.current().px(LEGEND_FROM_PX))
        last = self.step == wizard.KEYS[-1]
        self.next.set_icon("check" if last else "chevron-right")
        self._say()
        proving = self.step == "prove"
        plan = self.controller.applied_plan() if proving else None
        self.cancel.setVisible(not proving)
        self.cancel.setEnabled(not self.controller.applying)
        self.start_over.setVisible(not proving)
        self.close_button.setVisible(not proving)
        self.prove_button.setVisible(proving and not self.controller.proving)
        self.undo_button.setVisible(plan is not None)

    def _open_next(self, open_now: bool) -> None:
        """A shut *Next* would hand the focus on to the rail: who goes through with the keyboard gets it back."""
        if self.next.hasFocus() and not open_now:
            self.stack.setFocus()
        self.next.setEnabled(open_now)
        if open_now and self.stack.hasFocus():
            self.next.setFocus()

    def focusNextPrevChild(self, forward: bool) -> bool:
        """What a step shows later than the page was built comes before the buttons below it, for Tab as for the eye."""
        view = self.views[self.step]
        last: QWidget = view
        at = view.nextInFocusChain()
        while at is not None and at is not view:
            if view.isAncestorOf(at) and at.focusPolicy() & Qt.FocusPolicy.TabFocus:
                last = at
            at = at.nextInFocusChain()
        for button in (self.cancel, *self._extra, self.back, self.next):
            QWidget.setTabOrder(last, button)
            last = button
        return super().focusNextPrevChild(forward)

    def _say(self) -> None:
        """Which cluster, how many machines, how they are cabled."""
        cluster, look = self.controller.cluster, self.controller.look
        if cluster is None:
            self.set_state("")
            return
        parts = [self.tr("Cluster “{name}”").format(name=cluster.name)]
        count = len(self.controller.nodes)
        if count:
            parts.append(self.tr("1 node") if count == 1 else self.tr("{n} nodes").format(n=count))
        if look is not None and count > 1:
            parts.append(topology_in_words(look.topology.kind))
        self.set_state(", ".join(parts))

    def show_test_of(self, node: str) -> None:
        """Bring the worst cell of one machine to hand."""
        self.views["prove"].matrix.choose_worst(node)  # type: ignore[attr-defined]

    def _show_extra(self) -> None:
        wanted = self.views[self.step].footer_buttons()
        if wanted == self._extra:
            return
        for button in self._extra:
            self._footer.removeWidget(button)
            button.hide()
        for i, button in enumerate(wanted):
            self._footer.insertWidget(self._footer.indexOf(self.why) + 1 + i, button)
        self._extra = wanted

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.refresh()

    def commands(self) -> list[Command]:
        ways = [Command(b.text(), b.click) for b in (self.next, self.back) if b.isEnabled()]
        return ways + [
            Command(self.tr("Set up: {step}").format(step=_title(self, k)), partial(self.open_step, k))
            for k in wizard.KEYS[: wizard.KEYS.index(self.step)]
        ]


def _title(page: SetupPage, key: str) -> str:
    return {
        "find": page.tr("Find"),
        "pair": page.tr("Pair"),
        "look": page.tr("Look"),
        "plan": page.tr("Plan"),
        "apply": page.tr("Apply"),
        "prove": page.tr("Prove"),
    }[key]
