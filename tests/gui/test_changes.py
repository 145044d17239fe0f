"""SSH between the machines and taking over what another desktop holds: shown first, done only after a yes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton

import stellwerk.setup.mesh
from fixtures.window import wait_until
from stellwerk.model.errors import Busy, StellwerkError
from stellwerk.model.plan import FileChange, NodePlan, Plan
from stellwerk.setup.mesh import MeshReport, Tried
from stellwerk.setup.store import Cluster, ClusterFolder, NodeEntry
from stellwerk_gui.app import Application
from stellwerk_gui.mesh import MeshDialog

HELD = Busy("another desktop works with this machine", node="spark-2", why="held by ann@desk, cluster lab")
REPORT = MeshReport(
    (Tried("spark-1", "spark-2", "10.0.0.2", "fabric"), Tried("spark-2", "spark-1", "10.0.0.1", "fabric", "refused")),
    {"spark-1": ("config",)},
)


@dataclass
class HeldSession:
    """A session of which another desktop holds a machine, until it is forced."""

    cluster: Cluster
    forced: list[bool] = field(default_factory=list)
    let_go_of: int = 0
    asked: tuple[str, ...] = ()
    folder: ClusterFolder | None = None
    telemetry: Any = None
    ready: tuple[str, ...] = ()
    links: dict[str, object] = field(default_factory=dict)

    async def hold(self, *, force: bool = False) -> None:
        self.forced.append(force)
        if not force:
            raise HELD

    async def unlock_sudo(self, prompts: object, names: Sequence[str]) -> None:
        self.asked = tuple(names)

    async def forget_sudo(self) -> None:
        pass

    async def unpair(self, name: str, *, forget_unreachable: bool, take_over: bool) -> None:
        self.forced.append(take_over)
        if not take_over:
            raise HELD

    async def let_go(self) -> None:
        self.let_go_of += 1


@pytest.fixture
def held(window: Application, monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldSession]:
    folder, cluster = window.store.create("laboratory")
    session = HeldSession(cluster, folder=folder)
    window.controller.folder, window.controller.session = folder, session  # type: ignore[assignment]

    async def mesh_on(_: object) -> MeshReport:
        return REPORT

    monkeypatch.setattr(stellwerk.setup.mesh, "mesh_on", mesh_on)
    yield session
    window.controller.session = None


def question() -> QMessageBox | None:
    found = QApplication.activeModalWidget()
    return found if isinstance(found, QMessageBox) else None


def press(text: Callable[[str], bool]) -> None:
    box = question()
    assert box is not None
    (button,) = [b for b in box.findChildren(QPushButton) if text(b.text())]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


class TestTakeOver:
    def test_a_yes_takes_the_machines_over(self, window: Application, held: HeldSession) -> None:
        dialog = MeshDialog(window.shell, window.changes)
        QTest.mouseClick(dialog.set_up, Qt.MouseButton.LeftButton)
        wait_until(lambda: question() is not None, 10)
        box = question()
        assert box is not None
        assert "spark-2" in box.text()
        assert "ann@desk" in box.informativeText()
        assert held.forced == [False]
        press(lambda text: text == "Take over")
        wait_until(lambda: held.let_go_of == 1, 10)
        assert held.forced == [False, True]
        wait_until(lambda: any("1 of 2" in words.text() for words in dialog.findChildren(QLabel)), 10)
        dialog.deleteLater()

    def test_a_no_leaves_them_alone(self, window: Application, held: HeldSession) -> None:
        window.changes.mesh_on()
        wait_until(lambda: question() is not None, 10)
        box = question()
        assert box is not None
        QTest.keyClick(box, Qt.Key.Key_Escape)
        wait_until(lambda: question() is None, 10)
        assert held.forced == [False]
        assert not window.changes.running

    def test_applying_asks_as_well(self, window: Application, held: HeldSession) -> None:
        plan = Plan("p1", "2026-11-30T09:00:00", "laboratory", "pair", ())
        window.controller.plan = plan
        window.controller.apply_plan()
        wait_until(lambda: question() is not None, 10)
        assert not window.controller.applying
        box = question()
        assert box is not None
        QTest.keyClick(box, Qt.Key.Key_Escape)

    def test_a_node_is_taken_over_to_be_unpaired(self, window: Application, held: HeldSession) -> None:
        held.cluster = replace(held.cluster, nodes=(NodeEntry("spark-2", "10.0.0.2"),))
        said: list[str] = []
        window.controller.happened.connect(said.append)
        window.asking.unpair("spark-2")
        press(lambda text: text == "Un-pair")
        wait_until(lambda: held.forced == [False] and question() is not None, 10)
        press(lambda text: text == "Take over")
        wait_until(lambda: held.forced == [False, True] and said == ["spark-2 un-paired"], 10)


def test_only_nodes_that_change_are_asked_for_a_password(window: Application, held: HeldSession) -> None:
    file = FileChange("/etc/netplan/60-stellwerk.yaml", None, "network: {}")
    nodes = tuple(NodePlan(name, "", (), changes) for name, changes in (("spark-1", ()), ("spark-2", (file,))))
    window.controller.plan = Plan("p2", "2026-11-30T09:00:00", "laboratory", "pair", nodes)
    held.ready = ("spark-1", "spark-2")
    window.controller.apply_plan(force=True)
    wait_until(lambda: not window.controller.applying, 10)
    assert held.asked == ("spark-2",)
    window.changes.undo(window.controller.plan, force=True)
    wait_until(lambda: not window.changes.running, 10)
    assert held.asked == ("spark-2",)


def test_another_error_is_no_question(window: Application, held: HeldSession, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_: object) -> MeshReport:
        raise StellwerkError("one node alone has nobody to reach")

    monkeypatch.setattr(stellwerk.setup.mesh, "mesh_on", broken)
    window.changes.mesh_on(force=True)
    wait_until(lambda: window.shell.error_box.isVisible(), 10)
    assert question() is None


def test_the_pairs_that_fail_come_first(window: Application, held: HeldSession) -> None:
    dialog = MeshDialog(window.shell, window.changes)
    dialog.show_report(REPORT)
    texts = [w.text() for w in dialog.findChildren(QLabel) if "→" in w.text()]
    assert texts == ["spark-2 → spark-1", "spark-1 → spark-2"]
    dialog.deleteLater()
