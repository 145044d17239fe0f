"""The page *Measure* and the self-test's card, without a screen."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel
from pytestqt.qtbot import QtBot

from stellwerk.collectives.kinds import Topology
from stellwerk.measure import cluster as on_cluster
from stellwerk.measure.cluster import ClusterPlan, ClusterResult
from stellwerk.measure.collectives import Cell, Contender, Plan, Progress, Result
from stellwerk.model.errors import ConnectionFailed, StellwerkError
from stellwerk.model.finding import Verification
from stellwerk.model.selftest import SelfTest, SelfTestRow
from stellwerk.setup import history
from stellwerk.setup import look as looking
from stellwerk.setup.store import Cluster, ClusterFolder, ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.bridge import Bridge
from stellwerk_gui.controller import Controller
from stellwerk_gui.measure.page import MeasurePage
from stellwerk_gui.measure.runner import Shown
from stellwerk_gui.measure.selftest import SelfTestCard
from stellwerk_gui.node import NodeSnapshot

SIZES = (1024, 8192, 1 << 20)


@pytest.fixture
def controller(qapp: QApplication, tmp_path: Path) -> Iterator[Controller]:
    if qapp.findChild(theme.Theme) is None:
        theme.install(qapp)  # once: every time costs seconds
    bridge = Bridge()
    made = Controller(bridge, ClusterStore(tmp_path))
    yield made
    made.session = None
    bridge.stop()
    gc.collect()  # here, in Qt's thread: what the next test's asyncio thread would free else


@pytest.fixture
def page(controller: Controller, qtbot: QtBot) -> MeasurePage:
    made = MeasurePage(controller)
    qtbot.addWidget(made)
    made.resize(1368, 844)
    made.show()
    return made


@dataclass
class OpenCluster:
    """As much of a session as the page looks at."""

    cluster: Cluster
    folder: ClusterFolder | None = None


def open_cluster(controller: Controller, nodes: int = 2) -> None:
    folder, cluster = controller.store.create("workshop")
    controller.folder, controller.session = folder, OpenCluster(cluster, folder)  # type: ignore[assignment]
    controller.nodes = tuple(NodeSnapshot(f"spark-{i}", "", i, "ready") for i in range(1, nodes + 1))
    controller.cluster_changed.emit()


def figures(ranks: tuple[int, ...] = (2, 8), transport: str = "tcp", wrong: int = 0) -> Result:
    lines = {None: 24.0, "direct": 20.0, "two_shot": 40.0, "ring": 100.0}
    cells = [
        Cell(f"{transport} {a or 'auto'}", n, size, us * n * (1 + size / 1e5), us * n * 2, 500, wrong if a else 0)
        for n in ranks
        for a, us in lines.items()
        for size in SIZES
    ]
    contenders = [Contender(f"{transport} {a or 'auto'}", f"stellwerk-{transport}", a) for a in lines]
    contenders.append(Contender("gloo", "gloo", None, rival=True))
    cells += [Cell("gloo", n, size, 5000.0, 9000.0, 8, 0) for n in ranks for size in SIZES]
    return Result(Plan(ranks, SIZES, (transport,)), tuple(contenders), tuple(cells), ("ompi: not there",), (), 2)


def measured_on_cluster(cells: bool = True) -> ClusterResult:
    result = figures((2,))
    if not cells:
        result = Result(result.plan, (), (), (), (), 20)
    return ClusterResult(result, ("spark-1", "spark-2"), {2: Topology.MESH}, True, ("verbs is off on every rank: why",))


def show(page: MeasurePage, shown: Shown) -> None:
    page.runner.shown = shown
    page.runner.changed.emit()


def test_figures_are_lines_words_and_a_table_with_wrong_counts(page: MeasurePage) -> None:
    show(page, Shown(figures(), "this computer", complete=True))
    assert page.claim.text() == "TCP: direct is 5.0 times faster than ring at 8 KiB on 8 ranks."
    assert "Every sum was right." in page.words.text()
    assert "Not measured: ompi: not there." in page.words.text()
    names = [curve.series.name for curve in page.latency.curves]
    assert names == ["auto, TCP", "direct, TCP", "two-shot, TCP", "ring, TCP", "Gloo"]
    assert page.bandwidth.curves[1].points[1024] == pytest.approx(1024 / (20 * 8 * 1.01024) / 1e3 * 14 / 8)
    table = page.table
    heads = [table.horizontalHeaderItem(x).text() for x in range(table.columnCount())]  # type: ignore[union-attr]
    assert heads == ["Median / p99, µs", "1 KiB", "8 KiB", "1 MiB", "wrong"]
    column = [table.item(y, 4).text() for y in range(table.rowCount())]  # type: ignore[union-attr]
    assert column == ["0"] * 5
    best = [table.item(y, 1).font().bold() for y in range(table.rowCount())]  # type: ignore[union-attr]
    assert best == [False, True, False, False, False], "the fastest of a size is marked"
    assert not page.simulated.isVisible()


def test_wrong_sums_come_first_and_are_counted(page: MeasurePage) -> None:
    show(page, Shown(figures(wrong=2), "this computer", complete=True))
    assert page.claim.text() == "36 elements were wrong: do not use these figures."
    assert "Every sum was right" not in page.words.text()
    assert page.table.item(1, 4).text() == "6"  # type: ignore[union-attr]


def test_another_number_of_ranks_and_hidden_lines(page: MeasurePage, qtbot: QtBot) -> None:
    show(page, Shown(figures(), "this computer", complete=True))
    page._choose_ranks(2)
    assert "on 2 ranks" in page.claim.text()
    qtbot.mouseClick(page._chip_of["Gloo"], Qt.MouseButton.LeftButton)
    assert "Gloo" not in [c.series.name for c in page.latency.curves]
    assert page.table.rowCount() == 5, "the table keeps all"
    page._isolate("ring, TCP")
    assert [c.series.name for c in page.bandwidth.curves] == ["ring, TCP"]


def test_pointing_reads_all_lines_at_one_size_in_both_pictures(page: MeasurePage, qtbot: QtBot) -> None:
    show(page, Shown(figures(), "this computer", complete=True))
    qtbot.keyClick(page.latency, Qt.Key.Key_Right)
    qtbot.keyClick(page.latency, Qt.Key.Key_Right)
    assert page.latency.readout.isVisible()
    assert not page.bandwidth.readout.isVisible()
    assert page.bandwidth.cross.isVisible()
    rows = page.latency.rows_at(8192)
    assert [(series.name, text) for series, text in rows][:2] == [("direct, TCP", "173"), ("auto, TCP", "208")]
    assert page.bandwidth.rows_at(8192)[0][0].name == "direct, TCP", "the best first, here too"
    qtbot.keyClick(page.latency, Qt.Key.Key_Escape)
    assert not page.latency.cross.isVisible()


def test_numbers_and_picture_can_be_taken_along(
    page: MeasurePage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    show(page, Shown(measured_on_cluster().result, "workshop", measured_on_cluster(), complete=True))
    data = json.loads(page.json_text())
    assert data["cluster"]["simulated"] is True
    assert page.csv_text().splitlines()[0].startswith("contender,ranks,size")
    target = tmp_path / "out.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    page.export_png()
    assert target.read_bytes()[:4] == b"\x89PNG"


def test_a_short_real_measurement_on_this_computer(
    page: MeasurePage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = Plan((2,), (1024,), ("tcp",), ("direct", "ring"), (), 1, 0.01)
    monkeypatch.setattr(page.choices, "plan_here", lambda: plan)
    page.start.click()
    assert page.runner.running
    assert not page.start.isVisible()
    assert not page.choices.isEnabled()
    qtbot.waitUntil(lambda: not page.runner.running, timeout=60_000)
    shown = page.runner.shown
    assert shown is not None
    assert shown.complete
    assert {c.contender for c in shown.result.cells} == {"tcp auto", "tcp direct", "tcp ring"}
    assert page.table.rowCount() == 3
    assert page.state.text() == "Measured on this computer"


def test_the_choices_are_those_that_make_sense_where_it_runs(page: MeasurePage, controller: Controller) -> None:
    assert page.choices.plan_here().ranks == (2, 4, 8)
    assert page.choices.plan_here().transports == ("shm", "tcp")
    page.choices.link.setCurrentIndex(2)
    assert not page.choices.rivals.isEnabled(), "they cannot be held back"
    plan = page.choices.plan_here()
    assert (plan.link.delay_us, plan.rivals, plan.transports) == (1000.0, (), ("tcp",))
    assert not page.choices.on_cluster
    open_cluster(controller, nodes=3)
    page.choices.choose_cluster()
    assert page.choices.on_cluster
    assert [page.choices.ranks.itemText(i) for i in range(page.choices.ranks.count())] == ["as fits", "2", "3"]
    assert not page.choices.link.isEnabled()
    controller.session = None
    controller.cluster_changed.emit()
    assert not page.choices.on_cluster, "it is closed"


class PretendedBench:
    """Takes the place of a measurement on machines: two cells, then it waits to be cancelled (or fails)."""

    error: StellwerkError | None = None
    cancelled = False
    plan: ClusterPlan | None = None

    def __init__(self, session: Any, look: Any, plan: ClusterPlan, on_progress: Callable[[Progress], None]) -> None:
        type(self).plan = plan
        self._tell = on_progress

    def partial(self) -> ClusterResult:
        return measured_on_cluster()

    async def run(self) -> ClusterResult:
        self._tell(Progress(2, 10, "2 ranks"))
        if self.error is not None:
            raise self.error
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            type(self).cancelled = True
            raise
        raise AssertionError("unreachable")


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> type[PretendedBench]:
    class Bench(PretendedBench):
        pass

    async def no_look(session: Any, wanted: Any) -> object:
        return object()

    monkeypatch.setattr(on_cluster, "ClusterBench", Bench)
    monkeypatch.setattr(looking, "take_look", no_look)
    return Bench


def test_on_a_cluster_it_shows_what_there_is_and_stops_on_request(
    page: MeasurePage, controller: Controller, qtbot: QtBot, bench: type[PretendedBench]
) -> None:
    open_cluster(controller)
    page.choices.choose_cluster()
    page.measure()
    qtbot.waitUntil(lambda: page.runner.shown is not None, timeout=10_000)
    assert page.runner.running
    assert page.state.text() == "2 of 10 cells, 2 ranks"
    assert (page.bar.value(), page.bar.maximum()) == (2, 10)
    assert page.simulated.isVisible()
    assert "The machines are simulated" in page.words.text()
    assert "verbs is off on every rank: why" in page.words.text()
    assert not page.tune.isVisible()
    page.stop.click()
    qtbot.waitUntil(lambda: not page.runner.running, timeout=10_000)
    assert bench.cancelled
    assert page.state.text() == "Stopped; measured until then on workshop"
    assert page.table.rowCount() == 5
    assert not page.tune.isVisible(), "half a measurement makes no table"
    assert bench.plan is not None
    assert controller.folder is not None
    assert bench.plan.tuning == controller.folder.path / "collectives-tuning.json"


def test_a_failure_is_shown_in_the_one_place_for_errors(
    page: MeasurePage, controller: Controller, qtbot: QtBot, bench: type[PretendedBench]
) -> None:
    open_cluster(controller)
    bench.error = ConnectionFailed("there is no connection", node="spark-2")
    page.choices.choose_cluster()
    with qtbot.waitSignal(controller.problem, timeout=10_000) as caught:
        page.measure()
    assert caught.args == [bench.error]
    assert not page.runner.running
    assert page.start.isVisible()


def test_a_whole_measurement_can_become_the_clusters_table(page: MeasurePage, controller: Controller) -> None:
    open_cluster(controller)
    show(page, Shown(measured_on_cluster().result, "workshop", measured_on_cluster(), complete=True))
    assert page.tune.isVisible()
    page.tune.click()
    assert controller.folder is not None
    stored = json.loads((controller.folder.path / "collectives-tuning.json").read_text())
    assert list(stored["tables"]) == ["tcp/mesh/2"]
    assert not page.tune.isEnabled()
    controller.cluster_changed.emit()
    assert page.runner.shown is None, "figures of another cluster are not left standing"


# -- the card of Prove ---------------------------------------------------------------------------------------------


def self_test(wrong: int = 0, notes: tuple[str, ...] = ()) -> SelfTest:
    rows = (
        SelfTestRow("direct", (22.0, 61.0, 12_345.0), 0),
        SelfTestRow("two_shot", (34.1, 58.0, None), wrong),
    )
    return SelfTest(8, "tcp", 2226, (8192, 65536, 1 << 20), rows, ("direct", "two_shot", "direct"), notes, True)


@pytest.fixture
def card(controller: Controller, qtbot: QtBot) -> SelfTestCard:
    made = SelfTestCard(controller)
    qtbot.addWidget(made)
    made.show()
    return made


def texts(card: SelfTestCard) -> list[str]:
    QApplication.processEvents()  # what was put into a layout is shown by it
    return [w.text() for w in card.findChildren(QLabel) if w.text() and w.isVisible()]


def test_the_card_has_a_line_per_algorithm_and_marks_the_best(card: SelfTestCard) -> None:
    card.show_test(self_test())
    shown = texts(card)
    assert card.what.text() == "8 ranks, TCP, 2,226 calls"
    assert card.tag.text() == "exact"
    assert [t for t in shown if t in ("direct", "two-shot")] == ["direct", "two-shot"]
    assert {"22.0 µs", "58.0 µs", "12.3 ms", "–"} <= set(shown)
    assert "simulated" in card.note.text()
    best = [w.text() for w in card.findChildren(QLabel) if w.property("kind") == "accent"]
    assert best == ["22.0 µs", "12.3 ms", "58.0 µs"]


def test_a_wrong_sum_is_never_called_exact(card: SelfTestCard) -> None:
    card.show_test(self_test(wrong=7))
    assert card.tag.text() == "wrong sums"
    assert card.tag.property("kind") == "tag-bad"
    assert "7 wrong" in texts(card)


def test_a_transport_that_was_left_out_is_said_with_its_reason(card: SelfTestCard) -> None:
    card.show_test(self_test(notes=("verbs is off on every rank: rank 2 has no device",)))
    assert card.tag.text() == "TCP only"
    assert "rank 2 has no device." in card.note.text()


def test_the_card_runs_when_a_proof_has_ended_and_says_why_it_failed(
    card: SelfTestCard, controller: Controller, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Any] = [self_test(), ConnectionFailed("there is no connection", node="spark-2")]

    async def pretended(session: Any, look: Any, report: Any, tuning: Path) -> SelfTest:
        report(Progress(5, 15, "2 ranks"))
        answer = answers.pop(0)
        if isinstance(answer, StellwerkError):
            raise answer
        assert isinstance(answer, SelfTest)
        return answer

    monkeypatch.setattr(on_cluster, "collective_self_test", pretended)
    open_cluster(controller)
    controller.look = object()  # type: ignore[assignment]
    controller.proving = True
    controller.proof_changed.emit()
    assert len(answers) == 2, "not beside the proof: it would disturb it"
    controller.proving, controller.proof = False, Verification("r1", "desk", "pair", "2026-11-30T12:00:00Z", 1.0, ())
    controller.proof_changed.emit()
    qtbot.waitUntil(lambda: card.tag.text() == "exact", timeout=10_000)
    assert not card.running
    assert controller.folder is not None
    assert controller.proof.self_test is card.test, "part of the report that is saved"
    kept = history.load(controller.folder.reports, "r1")
    assert kept is not None
    assert kept.self_test == card.test
    card.again.click()
    qtbot.waitUntil(lambda: card.tag.text() == "failed", timeout=10_000)
    assert not card.running
    assert "spark-2: there is no connection" in card.note.text()
    controller.session = None
    controller.cluster_changed.emit()
    assert not card.tag.isVisible()


def test_a_proof_that_was_kept_with_its_self_test_shows_it_again(card: SelfTestCard, controller: Controller) -> None:
    kept = Verification("r1", "desk", "pair", "2026-11-30T12:00:00Z", 1.0, (), self_test=self_test())
    controller.proof = kept
    controller.proof_changed.emit()
    assert card.test is kept.self_test
    assert card.tag.text() == "exact"
