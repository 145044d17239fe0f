"""Step 5: per-node progress, the lease that runs, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QWidget

from stellwerk_gui.language import local
from stellwerk_gui.mesh import mesh_words
from stellwerk_gui.setup.view import StepPage
from stellwerk_gui.widgets.controls import (
    Button,
    Icon,
    Note,
    Swatch,
    clear_layout,
    frame,
    hbox,
    label,
    scroll_area,
    vbox,
)

if TYPE_CHECKING:
    from stellwerk.setup.outcome import ApplyEvent, ApplyOutcome
    from stellwerk_gui.controller import Controller


class NodeProgress(QFrame):
    """One node while a plan is applied."""

    def __init__(self, name: str, number: int) -> None:
        super().__init__()
        self.setProperty("kind", "card")
        row = hbox(self, margins=(16, 10, 16, 10), spacing=10)
        row.addWidget(Swatch(number))
        row.addWidget(label(name, "heading"))
        self.text = label("", "second-muted", wrap=True)
        row.addWidget(self.text, 1)
        self.lease = label("", "second-muted")
        row.addWidget(self.lease)
        self.icon = Icon("circle-minus", "muted")
        row.addWidget(self.icon)
        self.state = label("", "second-muted")
        row.addWidget(self.state)
        self.words = {
            "preparing": (self.tr("Preparing"), "refresh", "muted"),
            "applying": (self.tr("Changing"), "refresh", "muted"),
            "holding": (self.tr("Changed, not yet confirmed"), "clock", "warn"),
            "confirmed": (self.tr("Confirmed"), "circle-check", "good"),
            "reverting": (self.tr("Going back"), "history", "warn"),
            "reverted": (self.tr("Back as it was"), "history", "muted"),
            "failed": (self.tr("Needs attention"), "circle-x", "bad"),
            "waiting": (self.tr("Waiting for the node"), "clock", "warn"),
            "idle": (self.tr("Unchanged"), "circle-minus", "muted"),
        }

        self.steps = {
            "check": self.tr("Comparing with the plan"),
            "space": self.tr("Looking for free space"),
            "backup": self.tr("Copying what is there"),
            "judge": self.tr("netplan judges the new files"),
            "boot-unit": self.tr("Preparing the way back for a power cut"),
            "files": self.tr("Writing the files"),
            "generate": self.tr("netplan writes what the network reads"),
            "reconfigure": self.tr("Switching the interfaces over"),
            "addresses": self.tr("Waiting for the addresses"),
            "units": self.tr("Services"),
            "commands": self.tr("Commands"),
            "sysctls": self.tr("Setting the kernel"),
            "firewall": self.tr("Setting the firewall"),
            "checks": self.tr("Checking from the inside"),
        }

    def start(self) -> None:
        """Before the first word of the machine."""
        self.show_state("preparing")

    def show_state(self, state: str) -> None:
        word, icon, colour = self.words[state]
        self.state.setText(word)
        self.icon.set_icon(icon, colour)

    def end(self, configuration: str) -> None:
        """What it runs at last; what it said on the way there is past."""
        self.show_state({"new": "confirmed", "old": "reverted"}.get(configuration, "waiting"))
        self.text.setText("")
        self.lease.setText("")

    def show_event(self, event: ApplyEvent) -> None:
        word, icon, colour = self.words.get(event.state, (event.state, "refresh", "muted"))
        self.state.setText(word)
        self.icon.set_icon(icon, colour)
        self.text.setText(self.steps.get(event.text) or local(event.text))
        left = event.lease_left_s
        shown = event.state == "holding" and left is not None
        self.lease.setText(self.tr("goes back in {s} s").format(s=round(left)) if shown and left is not None else "")


class ApplyStep(StepPage):
    """Starts when it is entered with a plan; *Roll back* until the decision."""

    mesh_wanted = Signal()

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(
            self.tr("Apply"),
            self.tr(
                "Each node takes its own backup. Stellwerk confirms the change when all of them still answer; "
                "otherwise each one goes back by itself."
            ),
        )
        self.result = Note("info")
        self.result.hide()
        self.column.addWidget(self.result)
        inner = QWidget()
        self._list = vbox(inner, spacing=8)
        self.column.addWidget(scroll_area(inner), 1)
        self.mesh_card = self._mesh_card()
        self.column.addWidget(self.mesh_card)
        self.stop = Button(
            self.tr("Cancel and roll back"), "danger", icon_name="history", on_click=controller.cancel_apply
        )
        self.again = Button(self.tr("Try again"), icon_name="refresh", on_click=self._start)
        self._rows: dict[str, NodeProgress] = {}
        controller.apply_event.connect(self._event)
        controller.apply_done.connect(self._done)

    def _mesh_card(self) -> QWidget:
        """The step that nobody has to take."""
        card = frame("card")
        row = hbox(card, margins=(16, 12, 16, 12), spacing=12)
        row.addWidget(Icon("key", "muted", 18))
        words = vbox(spacing=2)
        words.addWidget(label(self.tr("Nodes may reach each other"), "heading"))
        words.addWidget(label(mesh_words(), "second-muted", wrap=True))
        row.addLayout(words, 1)
        row.addWidget(Button(self.tr("Look at it"), on_click=self.mesh_wanted.emit))
        card.hide()
        return card

    def entered(self) -> None:
        if self.controller.outcome is None and not self.controller.applying:
            self._start()

    def _start(self) -> None:
        plan = self.controller.plan
        if plan is None:
            return
        clear_layout(self._list)
        self._rows = {}
        for node in plan.nodes:
            if node.changes:
                row = NodeProgress(node.node, self.controller.number(node.node))
                row.start()
                self._rows[node.node] = row
                self._list.addWidget(row)
        self._list.addStretch(1)
        self.result.hide()
        self.controller.apply_plan()
        self.changed.emit()

    def _event(self, event: ApplyEvent) -> None:
        if event.node is not None and event.node in self._rows:
            self._rows[event.node].show_event(event)
        elif event.state == "checking":
            self.result.show_text("info", self.tr("Looking from node to node"), event.text)
            self.result.show()

    def _done(self, outcome: ApplyOutcome | None) -> None:
        if outcome is None:  # it ended before it began; the error says why
            for row in self._rows.values():
                row.show_state("idle")
        if outcome is not None:
            for node in outcome.nodes:
                if node.node in self._rows:
                    self._rows[node.node].end(node.configuration)
            lines = [f"{n.node}: {local(n.why)}" for n in outcome.nodes if n.configuration == "unknown"]
            if outcome.applied:
                self.result.show_text("good", self.tr("All nodes run the new network."), "")
            elif outcome.settled:
                self.result.show_text("bad", self.tr("Nothing was changed: every node is back as it was."), outcome.why)
            else:
                ends = self.tr("It is ended as soon as all of them answer again.")
                text = "\n".join([local(outcome.why), *lines, ends])
                self.result.show_text("warn", self.tr("Not every node has answered."), text)
            self.result.show()
        self.changed.emit()

    def note(self) -> str:
        outcome = self.controller.outcome
        if self.controller.applying:
            return self.tr("Running")
        if outcome is None:
            return ""
        return self.tr("Confirmed") if outcome.applied else self.tr("Rolled back")

    def footer_buttons(self) -> tuple[Button, ...]:
        self.stop.setVisible(self.controller.applying)
        outcome = self.controller.outcome
        many = len(self.controller.nodes) > 1
        self.mesh_card.setVisible(many and not self.controller.applying and outcome is not None and outcome.applied)
        applied = outcome is not None and outcome.applied
        self.again.setVisible(not self.controller.applying and not applied and self.controller.plan is not None)
        return (self.stop, self.again)
