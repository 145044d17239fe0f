"""Every fault of the foundations is set by clicking in the trial's panel, read in the window, and goes when mended.

One window with one ring of three serves all of them: each test leaves it as it found it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QTreeWidgetItem, QWidget

from fixtures.person import Bench, answer, at, button, click, no_longer_sees, press, reads, sees
from fixtures.window import opened, wait_until
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.virtual.faults import KINDS
from stellwerk_gui.app import Application
from stellwerk_gui.setup.plan_table import NODE_ROLE
from stellwerk_gui.setup.steps import PartItem
from stellwerk_gui.trial.words import fault_word

pytestmark = pytest.mark.timeout(150)

# kind -> the words of the row while it is paired
PAIRING = {
    "power-off": ("did not answer", "It is off", "Check that the machine is on"),
    "disk-full": ("its disk is full", "Free some space"),
    "python-missing": ("python3", "install"),
}
# kind -> the words of the cable panel
LOOKING = {
    "cable-unplugged": ("1 thing to put right", "spark-2", "port 0"),
    "cable-wrong-port": ("plugs of spark-2 are in each other's port", "swap the plugs of port 0"),
    "link-100g": ("spark-2", "runs at 100 Gb/s, not at 200 Gb/s"),
    "clock-skew": ("The clock of spark-2 is", "ahead of the others"),
}
# kind -> the words of the plan
PLANNING = {
    "twins-one-subnet": ("one subnet for two links", "confuses routing"),
    "link-local-off": ("moves to 60-stellwerk.yaml; nothing else is in it",),
    "foreign-netplan": ("everything else in it stays",),
}
# kind -> the words of the proof
PROVING = {
    "half-13g": ("below its mark", "spark-2 port 0", "13.0"),
    "mtu-reset": ("spark-2", "1500"),
}
# kind -> the words of the card that is lost
ON_THE_MAP = ("ssh-drop", "agent-killed", "reboot")
ELSEWHERE = {"power-on", "sudo-nopasswd", "sudo-none", "sudo-wrong-password", "guard-killed", "switch-silent"}
ELSEWHERE |= {"reinstall"}  # tests/gui/test_questions.py: a person has to judge the new host key


def test_every_kind_of_fault_is_read_in_the_window() -> None:
    assert {*PAIRING, *LOOKING, *PLANNING, *PROVING, *ON_THE_MAP, *ELSEWHERE} == set(KINDS)


NODE = "spark-2"


def heads(item: QTreeWidgetItem) -> str:
    """The words of a row of the plan."""
    return " ".join(str(item.data(0, role)) for role in (Qt.ItemDataRole.DisplayRole, NODE_ROLE))


class Ring:
    """The window with its ring of three, and the ways to its pages."""

    def __init__(self, window: Application) -> None:
        self.window = window
        self.setup = window.setup_page
        self.bench = Bench(window)

    @property
    def rows(self) -> dict[str, QWidget]:
        """The machines of the step Pair."""
        return self.setup.views["pair"]._rows  # type: ignore[attr-defined,no-any-return]

    def part(self, name: str) -> QWidget:
        """A view of the step, in the list of steps."""
        return next(p for p in self.setup.steps.findChildren(PartItem) if p.isVisible() and p.view.title == name)

    def new_plan(self) -> QWidget:
        """Go to the plan, which is made for the latest look, with spark-2 in hand."""
        c, old = self.window.controller, self.window.controller.plan
        self.step("plan")
        wait_until(lambda: c.plan not in (None, old) and self.setup.next.isEnabled(), 30, lambda: reads(self.setup))
        plan = self.setup.views["plan"]
        table = plan.table  # type: ignore[attr-defined]
        row = next(i for i in map(table.topLevelItem, range(table.topLevelItemCount())) if NODE in heads(i))
        table.scrollToItem(row)
        at(table.viewport(), 100, table.visualItemRect(row).center().y())
        wait_until(lambda: table.chosen_node() == NODE, 5)
        return plan

    def paired(self) -> None:
        if not all(n.ready for n in self.window.controller.nodes):
            self.step("pair")
            wait_until(lambda: all(n.ready for n in self.window.controller.nodes), 90, lambda: reads(self.setup))

    def step(self, key: str) -> None:
        """By the list of steps at the left, or by Next."""
        if self.window.shell.front != "setup":
            click(self.window.shell.rail.items["setup"])
        while self.setup.step != key:
            now = self.setup.step
            wait_until(lambda: self._way_to(key) is not None, 60, lambda: reads(self.setup))
            way = self._way_to(key)
            assert way is not None
            click(way)
            wait_until(lambda now=now: self.setup.step != now, 30)

    def _way_to(self, key: str) -> QWidget | None:
        """The step in the list when it can be gone back to, or else Next."""
        back = [s for s in self.setup.steps._items if s.view.key == key and s.isEnabled()]
        return back[0] if back else self.setup.next if self.setup.next.isEnabled() else None

    def look(self) -> None:
        """At the cables, as they are from now on."""
        self.paired()
        self.step("look")
        wait_until(lambda: "are right" in reads(self.setup.views["look"].panel, painted=False), 60)  # type: ignore[attr-defined]
        self.give_root()

    def give_root(self) -> None:
        """Where a machine keeps something back without it, the panel says so and takes the password."""
        panel = self.setup.views["look"].panel  # type: ignore[attr-defined]
        if "sudo asks for a password" in reads(panel, painted=False):
            click(button(panel, "Give the sudo password"))
            no_longer_sees(panel, "sudo asks for a password")
            sees(panel, "are right")

    def fresh_look(self) -> None:
        """Wait for a look that began after now."""
        c = self.window.controller
        for _ in range(2):
            before = c.looked_at_s
            wait_until(lambda before=before: c.looked_at_s != before, 60)

    def applied(self) -> None:
        """The network is set up as planned."""
        outcome = self.window.controller.outcome
        if outcome is not None and outcome.applied:
            return
        self.look()
        self.new_plan()
        click(self.setup.next)
        wait_until(lambda: self.setup.step == "prove", 120, lambda: reads(self.setup))

    def map(self) -> None:
        self.paired()
        click(self.window.shell.rail.items["cluster"])
        sees(self.window.cluster_page, "3 of 3 nodes connected", seconds=60)


@pytest.fixture(autouse=True)
def nothing_outlives_the_test() -> None:
    """The machines of the module live on after a test; `opened` looks at what is left at the end."""


@pytest.fixture(scope="module")
def ring(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ring]:
    with pytest.MonkeyPatch.context() as patch:
        # A shorter listening: eight simulated machines answer within a fraction of it.
        patch.setattr("stellwerk.setup.look.take_look", partial(take_look, hear_s=0.8))
        patch.setattr("stellwerk_gui.cluster_controller.RELOOK_PAUSE_S", 0.2)
        with opened(qapp, tmp_path_factory.mktemp("ring") / "data") as window:
            window.try_virtual(3, "ring")
            wait_until(lambda: len(window.controller.nodes) == 3)
            yield Ring(window)


def test_while_pairing_each_machine_says_what_keeps_it_and_is_retried_alone(ring: Ring) -> None:
    for number, kind in enumerate(PAIRING, 1):
        ring.bench.break_(kind, f"spark-{number}")
    ring.step("pair")
    for number, words in enumerate(PAIRING.values(), 1):
        wait_until(lambda number=number: f"spark-{number}" in ring.rows, 10)
        sees(ring.rows[f"spark-{number}"], f"spark-{number}", "Needs attention", *words, seconds=60)
        assert not ring.setup.next.isEnabled()
    for number, kind in enumerate(PAIRING, 1):
        if kind == "power-off":
            ring.bench.break_("power-on", f"spark-{number}")
        else:
            ring.bench.mend(kind, f"spark-{number}")
        click(button(ring.rows[f"spark-{number}"], "Retry"))
        sees(ring.rows[f"spark-{number}"], "Ready", seconds=60)
    wait_until(ring.setup.next.isEnabled)


@pytest.mark.parametrize("kind", LOOKING)
def test_at_the_cables(ring: Ring, kind: str) -> None:
    ring.look()
    panel = ring.setup.views["look"].panel  # type: ignore[attr-defined]
    ring.bench.break_(kind, "spark-2")
    said = sees(panel, *LOOKING[kind], seconds=60)
    bad = kind.startswith("cable")
    assert ring.setup.next.isEnabled() is not bad
    if bad:
        assert "What to do" in said
        assert "cables of the ring are right" in ring.setup.why.text()
    ring.bench.mend(kind, "spark-2")
    no_longer_sees(panel, LOOKING[kind][-1], seconds=60)
    wait_until(ring.setup.next.isEnabled, 30)


def test_without_a_password_root_is_said_to_be_at_hand(ring: Ring) -> None:
    ring.look()
    ring.bench.break_("sudo-nopasswd", "spark-2")
    click(ring.part("Machines"))
    sees(ring.setup, "yes", "with a password", seconds=60)
    ring.bench.mend("sudo-nopasswd", "spark-2")
    no_longer_sees(ring.setup.views["look"], "yes", seconds=60)
    click(ring.part("Cables"))


@pytest.mark.parametrize("kind", PLANNING)
def test_in_the_plan(ring: Ring, kind: str) -> None:
    ring.look()
    ring.bench.break_(kind, "spark-2")
    wait_until(lambda: all(n.ready for n in ring.window.controller.nodes), 60)
    ring.fresh_look()
    ring.give_root()
    plan = ring.new_plan()
    sees(plan, *PLANNING[kind], painted=True, seconds=60)
    ring.bench.mend(kind, "spark-2")
    ring.step("look")
    ring.fresh_look()
    ring.new_plan()
    no_longer_sees(plan, PLANNING[kind][0], painted=True, seconds=60)


def start_apply(ring: Ring) -> None:
    """From the plan, with root still to be given."""
    ring.look()
    ring.new_plan()
    ring.window.controller.pairing.forget_sudo()
    wait_until(ring.setup.next.isEnabled)


def apply_failed(ring: Ring, *words: str) -> None:
    """The wizard says that nothing was changed, and why; *Try again* is offered."""
    sees(ring.setup.stack, "Nothing was changed: every node is back as it was.", *words, seconds=75)
    assert button(ring.setup, "Try again").isEnabled()
    assert "Rolled back" in reads(ring.setup)


def test_a_wrong_sudo_password_is_asked_again_with_the_reason(ring: Ring) -> None:
    start_apply(ring)
    ring.bench.break_("sudo-wrong-password", "spark-2")
    right = re.search(r"^sudo (\S+-root)$", reads(ring.bench.panel, painted=False), re.MULTILINE)
    assert right is not None, "the panel tells what sudo wants"
    click(ring.setup.next)
    said = answer("Password for changes on spark-2", typed="not this one")
    assert "spark-2" in said
    assert "sudo" in said
    again = answer("Password for changes on spark-2", typed=right[1])
    assert "password" in again
    assert again.count("not accepted") or "wrong" in again.lower(), again
    wait_until(lambda: ring.window.controller._apply is not None, 30, lambda: reads(ring.window.shell))
    click(button(ring.setup, "Cancel and roll back"))
    apply_failed(ring)
    ring.bench.mend("sudo-wrong-password", "spark-2")


def test_who_may_not_become_root_is_told_before_anything_changes(ring: Ring) -> None:
    start_apply(ring)
    ring.bench.break_("sudo-none", "spark-2")
    click(ring.setup.next)
    box = ring.window.shell.error_box
    sees(box, "root is needed on spark-2", "nothing was changed on any node", "sudoers", seconds=60)
    assert not ring.setup.next.isEnabled()
    assert button(ring.setup, "Try again").isEnabled()
    assert reads(ring.setup.views["apply"]).count("Unchanged") == 3
    ring.bench.mend("sudo-none", "spark-2")
    press(ring.window.shell, Qt.Key.Key_Escape)
    wait_until(lambda: not box.isVisible(), 5)


def break_at(ring: Ring, kind: str, step: str) -> None:
    """At a moment that no hand hits, and for which the panel has no trigger: a step of the change on spark-2."""
    ring.bench.show()
    ring.window.trial.set_fault(kind, NODE, on_step=step)
    sees(ring.bench.panel, f"{fault_word(kind)} {NODE}")


@pytest.mark.parametrize("kind", ["guard-killed", "power-off", "ssh-drop"])
def test_while_it_is_applied_all_go_back(ring: Ring, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    start_apply(ring)
    if kind == "ssh-drop":  # for longer than its lease: the node goes back by itself, and nobody hears of it
        monkeypatch.setitem(Apply.__init__.__kwdefaults__, "lease_s", 4.0)
        ring.window.trial.set_fault(kind, NODE, on_step='"state":"holding"', hold_s=9)
    else:
        break_at(ring, kind, '"state":"holding"')
    click(ring.setup.next)
    if kind == "power-off":
        sees(ring.setup.views["apply"], "Waiting for the node", seconds=60)
        ring.bench.mend(kind, NODE)
    if kind == "ssh-drop":
        sees(ring.setup.views["apply"], "Not every node has answered.", f"{NODE}: it cannot be reached", seconds=60)
        assert "It is ended as soon as all of them answer again." in reads(ring.setup.views["apply"])
    sees(ring.setup.views["apply"], "Nothing was changed: every node is back as it was.", seconds=75)
    assert NODE in reads(ring.setup.views["apply"].result)  # type: ignore[attr-defined]


def test_a_full_disk_is_named_and_trying_again_after_it_was_freed_ends_well(ring: Ring) -> None:
    start_apply(ring)
    ring.bench.break_("disk-full", NODE)
    click(ring.setup.next)
    box = ring.window.shell.error_box
    sees(box, f"Nothing can be written on {NODE}, so nothing was changed on any node", "Free some space", seconds=60)
    assert reads(ring.setup.views["apply"]).count("Unchanged") == 3
    ring.bench.mend("disk-full", NODE)
    press(ring.window.shell, Qt.Key.Key_Escape)
    # And in the middle of it: the others go back.
    start_apply(ring)
    break_at(ring, "disk-full", '"name":"backup"')
    click(ring.setup.next)
    sees(ring.setup.views["apply"], f"{NODE}: nothing can be written on this node: its disk is full", seconds=75)
    wait_until(lambda: not ring.window.controller.applying, 75)
    ring.bench.mend("disk-full", NODE)
    click(button(ring.setup, "Try again"))
    wait_until(lambda: ring.setup.step == "prove", 90, lambda: reads(ring.setup))


def test_applied_after_all_the_proof_and_the_self_test_are_read(ring: Ring) -> None:
    ring.applied()
    sees(ring.setup, "Everything works.", "Collective self-test", seconds=75)
    selftest = ring.setup.views["prove"].selftest  # type: ignore[attr-defined]
    wait_until(lambda: selftest.test is not None, 60)
    assert {row.wrong for row in selftest.test.rows} == {0}


@pytest.mark.parametrize("kind", PROVING)
def test_in_the_proof(ring: Ring, kind: str) -> None:
    ring.applied()
    wait_until(lambda: not ring.window.controller.proving, 60)
    ring.bench.break_(kind, "spark-2")
    click(button(ring.setup, "Prove again"))
    said = sees(ring.setup.views["prove"], *PROVING[kind], "What to do", seconds=60, painted=True)
    assert "Everything works." not in said
    ring.bench.mend(kind, "spark-2")
    wait_until(lambda: not ring.window.controller.proving, 60)
    click(button(ring.setup, "Prove again"))
    sees(ring.setup, "Everything works.", seconds=60)


@pytest.mark.parametrize("kind", ON_THE_MAP)
def test_a_machine_that_is_lost_is_seen_and_comes_back(ring: Ring, kind: str) -> None:
    ring.map()
    page = ring.window.cluster_page
    card = page.map.card("spark-2")
    lost: list[str] = []
    ring.window.controller.nodes_changed.connect(
        lambda: lost.append(reads(page)) if card.view.state == "unreachable" else None
    )
    ring.bench.break_(kind, "spark-2")
    wait_until(lambda: lost, 30)
    assert any("2 of 3 nodes connected" in said for said in lost)
    assert any("Reconnecting" in said for said in lost)
    sees(page, "3 of 3 nodes connected", seconds=60)
    wait_until(lambda: card.view.state != "unreachable", 30, lambda: reads(card))


def test_a_machine_that_is_off_has_a_dashed_card_with_its_age_and_comes_back(ring: Ring) -> None:
    ring.map()
    page = ring.window.cluster_page
    card = page.map.card("spark-2")
    ring.bench.break_("power-off", "spark-2")
    sees(card, "Reconnecting", " old", painted=True, seconds=60)
    sees(page, "2 of 3 nodes connected")
    click(card)
    sees(page.panel, "did not answer", seconds=60)
    click(ring.window.shell.rail.items["monitor"])
    sees(ring.window.monitor_page, "2 of 3 nodes live", "no data", seconds=60)
    click(ring.window.shell.rail.items["cluster"])
    ring.bench.break_("power-on", "spark-2")
    sees(page, "3 of 3 nodes connected", seconds=60)
    no_longer_sees(card, "Reconnecting", " old", painted=True, seconds=60)


def test_a_switch_that_does_not_name_itself(qapp: QApplication, tmp_path: Path) -> None:
    with opened(qapp, tmp_path / "data") as window:
        window.try_virtual(2, "switch")
        wait_until(lambda: len(window.controller.nodes) == 2)
        two = Ring(window)
        two.look()
        no_longer_sees(two.setup, "cannot be told apart", seconds=60)
        two.bench.break_("switch-silent", "spark-1")
        two.bench.break_("switch-silent", "spark-2")
        sees(two.setup, "cannot be told apart", seconds=60)
        two.bench.mend("switch-silent", "spark-1")
        two.bench.mend("switch-silent", "spark-2")
        no_longer_sees(two.setup, "cannot be told apart", seconds=60)
