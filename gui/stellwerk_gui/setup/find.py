"""Step 1: machines on the network, or typed addresses."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QPlainTextEdit, QWidget

from stellwerk_gui import theme
from stellwerk_gui.language import local
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
    from stellwerk.remote.target import Target
    from stellwerk_gui.controller import Controller


class FindStep(StepPage):
    """A field for addresses, and the list of machines."""

    def __init__(self, controller: Controller) -> None:
        super().__init__(controller)
        self.say(
            self.tr("Find"), self.tr("Type the machines of the cluster, or take those that answer on the network.")
        )
        self.ssh_config: Path | None = Path.home() / ".ssh" / "config"
        self._found: tuple[Target, ...] = ()
        self._available = True
        self._build()
        self._shown: tuple[tuple[str, str, int], ...] | None = None
        controller.nodes_changed.connect(self._refresh)

    def _build(self) -> None:
        inner = QWidget()
        column = vbox(inner, spacing=8)
        self.column.addWidget(scroll_area(inner), 1)  # all of it: in a low window everything keeps its height
        card = frame("card")
        box = vbox(card, margins=(16, 12, 16, 12), spacing=8)
        box.addWidget(label(self.tr("Add by address"), "heading"))
        box.addWidget(
            label(
                self.tr("One a line: host, user@host:port, ssh://…, or a name from your SSH configuration"),
                "second-muted",
                wrap=True,
            )
        )
        self.field = QPlainTextEdit()
        self.field.setPlaceholderText("spark-1.local\nnvidia@192.168.178.41\nnvidia@10.0.0.7:2222")
        self.field.setFixedHeight(theme.current().px(84))
        self.field.setTabChangesFocus(True)
        self.field.setAccessibleName(self.tr("Addresses of machines"))
        box.addWidget(self.field)
        row = hbox()
        self.add = Button(self.tr("Add"), icon_name="plus", on_click=self.add_typed)
        row.addWidget(self.add)
        row.addStretch(1)
        box.addLayout(row)
        self.problem = Note("bad")
        self.problem.hide()
        box.addWidget(self.problem)
        column.addWidget(card)
        self.found_card = frame("card")
        found = vbox(self.found_card, margins=(16, 12, 16, 12), spacing=6)
        head = hbox(spacing=8)
        self.found_icon = Icon("wifi", "muted", 16)
        head.addWidget(self.found_icon)
        self.found_text = label(self.tr("Listening for machines on this network"))
        head.addWidget(self.found_text, 1)
        found.addLayout(head)
        self.found_list = vbox(spacing=4)
        found.addLayout(self.found_list)
        column.addWidget(self.found_card)
        column.addWidget(label(self.tr("Machines of this cluster"), "heading"))
        self._list = vbox(spacing=6)
        column.addLayout(self._list)
        column.addStretch(1)

    def add_typed(self) -> None:
        """Parse what was typed; good lines go on the list, bad ones stay in the field with the reason."""
        from stellwerk.remote.target import parse_targets

        text = self.field.toPlainText()
        config = self.ssh_config if self.ssh_config is not None and self.ssh_config.exists() else None
        targets, problems = parse_targets(text, config)
        self.problem.setVisible(bool(problems))
        if problems:
            self.problem.show_text("bad", "", "\n".join(local(str(p)) for p in problems))
        if targets:
            self.controller.pairing.add(targets)
        if not problems:
            self.field.clear()

    def show_found(self, machines: tuple[Target, ...], available: bool = True) -> None:
        """Machines that announced themselves. `available` False: no mDNS here."""
        self._found, self._available = machines, available
        clear_layout(self.found_list)
        if not available:
            self.found_text.setText(self.tr("No mDNS here, add machines by address"))
            return
        session = self.controller.session
        links = session.links.values() if session is not None else ()
        known = {(link.target.host.lower(), link.target.port) for link in links}
        new = [m for m in machines if (m.host.lower(), m.port) not in known]
        self.found_icon.set_icon("wifi", "good" if machines else "muted")
        self.found_text.setText(
            (
                self.tr("1 machine found")
                if len(machines) == 1
                else self.tr("{n} machines found").format(n=len(machines))
            )
            if machines
            else self.tr("Listening for machines on this network")
        )
        for target in new:
            row = hbox(spacing=8)
            row.addWidget(label(target.name, "second"))
            row.addWidget(label(target.address, "second-muted"), 1)
            name = self.tr("Add {n}").format(n=target.name)
            add = partial(self.controller.pairing.add, (target,))
            row.addWidget(Button(self.tr("Add"), "small", icon_name="plus", on_click=add, name=name))
            self.found_list.addLayout(row)

    def _refresh(self) -> None:
        shown = tuple((n.name, n.address, n.number) for n in self.controller.nodes)
        if shown == self._shown or not self.isVisible():
            self.changed.emit()
            return
        self._shown = shown
        clear_layout(self._list)
        for node in self.controller.nodes:
            row_frame = frame("card")
            row = hbox(row_frame, margins=(12, 4, 8, 4), spacing=10)
            row.addWidget(Swatch(node.number))
            row.addWidget(label(node.name, "heading"))
            row.addWidget(label(node.address, "second-muted"), 1)
            remove = Button(
                "", "icon", icon_name="x", icon_colour="muted", name=self.tr("Take {n} off").format(n=node.name)
            )
            remove.clicked.connect(lambda _=False, name=node.name: self.controller.pairing.remove(name))
            row.addWidget(remove)
            self._list.addWidget(row_frame)
        if not self.controller.nodes:
            self._list.addWidget(label(self.tr("No machine yet"), "muted"))

        self.show_found(self._found, self._available)
        self.changed.emit()

    def entered(self) -> None:
        self._refresh()
        self.field.setFocus()

    def note(self) -> str:
        count = len(self.controller.nodes)
        if not count:
            return ""
        return self.tr("1 machine") if count == 1 else self.tr("{n} machines").format(n=count)

    def leave(self) -> bool:
        if self.field.toPlainText().strip():
            self.add_typed()
            return not self.problem.isVisible()
        return True
