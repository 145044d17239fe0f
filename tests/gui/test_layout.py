"""No page cuts off or overlaps its texts: both languages, a usual and the smallest window."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QLabel, QWidget

from fixtures.eyes import faults
from fixtures.machines import netdev_of
from fixtures.person import reads
from fixtures.window import opened, wait_until
from fixtures.wires import hear, sparks, switch
from stellwerk.model.errors import ConnectionFailed
from stellwerk.model.finding import Check, Verdict, Verification
from stellwerk.model.sample import GpuSample, NetCounters, Sample
from stellwerk.model.selftest import SelfTest, SelfTestRow
from stellwerk.setup.look import Look, judge
from stellwerk.setup.store import Cluster
from stellwerk.telemetry import TelemetryStore
from stellwerk_gui import theme
from stellwerk_gui.app import Application
from stellwerk_gui.node import NodeSnapshot
from stellwerk_gui.widgets.ink import LEFT, write

NODES, SECONDS = 8, 20
PAGES = ("start", "setup", "cluster", "monitor", "measure", "logs", "settings")
SIZES = [(1440, 900), (960, 600)]


@dataclass
class OpenCluster:
    """As much of a session as the pages look at while nothing is asked of the machines."""

    cluster: Cluster
    telemetry: TelemetryStore = field(default_factory=TelemetryStore)
    ready: tuple[str, ...] = ()
    links: dict[str, object] = field(default_factory=dict)

    def save(self, cluster: Cluster) -> None:
        self.cluster = cluster

    async def close(self) -> None:
        """There is nothing to end."""


def look_at_eight() -> Look:
    wiring = switch(NODES)
    members = sparks(NODES, wiring)
    return judge({m.name: m.facts for m in members}, hear(NODES, wiring), {m.name: m.number for m in members}, None)


def fill(telemetry: TelemetryStore) -> None:
    """Some seconds of every machine, with figures as wide as they become."""
    now = time.monotonic()
    for second in range(SECONDS):
        for n in range(1, NODES + 1):
            moved = second * 23_600_000_000 // 2  # two halves carry 188.8 Gb/s together
            count = NetCounters(moved, moved, second, second, carrier=True)
            sample = Sample(
                sequence=second,
                monotonic_ns=second * 1_000_000_000,
                wall_s=1_780_000_000.0 + second,
                boot_id="one",
                cpu_busy_ticks=second * 1998,
                cpu_total_ticks=second * 2000,
                mem_total_kb=125_829_120,
                mem_available_kb=1_048_576,
                gpus=(GpuSample(utilisation_pct=100.0, temperature_c=88.0, power_w=140.0),),
                net={netdev_of(1, half): count for half in "AB"},
            )
            telemetry.add(f"spark-{n}", sample, now - SECONDS + second + 1)


def eight_proven() -> Verification:
    """All of it right, but for one half at 13 Gb/s."""
    checks = []
    for n in range(1, NODES + 1):
        for half in "AB":
            subject = f"port 1 half {half} -> spark-{n % NODES + 1}"
            slow = n == 2 and half == "B"
            verdict = Verdict.DEGRADED if slow else Verdict.PASS
            why = "half B carries 13 Gb/s where 92 are wanted: the cable, the port or the machine needs a cold start"
            remedy = "Take the power from spark-2 for a minute, then prove again" if slow else ""
            plain = Check("mtu", f"spark-{n}", subject, Verdict.PASS, text="9000", port=1, half=half)
            fast = dataclasses.replace(plain, kind="bandwidth", verdict=verdict, value=13.0 if slow else 98.1)
            fast = dataclasses.replace(fast, unit="Gb/s", pass_mark=92.0, text="13.0" if slow else "98.1")
            checks += [plain, dataclasses.replace(fast, why=why if slow else "", remedy=remedy)]
    return Verification("r1", "laboratory", "switch", "2026-11-30T09:00:00", 6.0, tuple(checks), simulated=True)


SELF_TESTED = SelfTest(
    ranks=NODES,
    transport="tcp",
    calls=850,
    sizes=(8192, 65536, 1 << 20),
    rows=tuple(
        SelfTestRow(name, (2911.0, 3530.0, 56_400.0), 0)
        for name in ("direct", "two_shot", "recursive_doubling", "ring")
    ),
    best=("ring", "ring", "direct"),
    notes=("verbs is off on every rank: rank 0 (spark-1): there is no RDMA device",),
    simulated=True,
)


def open_eight(window: Application) -> None:
    """Eight machines, one of them lost, with a look and live figures; no process stands behind them."""
    c = window.controller
    folder, cluster = window.store.create("laboratory")
    session = OpenCluster(cluster)
    fill(session.telemetry)
    c.folder, c.session = folder, session  # type: ignore[assignment]
    gone = ConnectionFailed("spark-8 does not answer", why="the connection was refused", remedy="Switch it on")
    c.nodes = tuple(
        NodeSnapshot(f"spark-{n}", f"nvidia@192.168.50.{10 + n}", n, "ready")
        if n < NODES
        else NodeSnapshot(f"spark-{n}", f"nvidia@192.168.50.{10 + n}", n, "needs attention", str(gone), gone)
        for n in range(1, NODES + 1)
    )
    c.cluster_changed.emit()
    c.look, c.looked_at_s = look_at_eight(), time.monotonic()
    c.nodes_changed.emit()
    c.look_changed.emit()


@pytest.fixture(params=["en", "de"])
def spoken(request: pytest.FixtureRequest, qapp: QApplication, tmp_path: Path) -> Iterator[Application]:
    """The window in each language."""
    with opened(qapp, tmp_path / "data", language=request.param) as made:
        yield made


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_no_text_is_cut_off_or_lies_on_another(spoken: Application, size: tuple[int, int], qapp: QApplication) -> None:
    shell = spoken.shell
    shell.resize(QSize(*size))
    found: list[str] = []

    def look(what: str) -> None:
        for _ in range(3):  # a layout that answers to its own width needs more than one turn
            qapp.sendPostedEvents()
            qapp.processEvents()
        found.extend(f"{what}: {fault}" for fault in faults(shell))

    look("first start")
    open_eight(spoken)
    for page in PAGES:
        shell.open_page(page)
        assert shell.front == page
        look(page)
    spoken.controller.proof = eight_proven()
    shell.open_page("setup")
    spoken.setup_page.open_step("prove")
    prove = spoken.setup_page.views["prove"]
    prove.selftest.show_test(SELF_TESTED)  # type: ignore[attr-defined]
    look("the proof")
    shell.open_page("cluster")
    spoken.cluster_page.show_as("table")
    look("cluster as a table")
    spoken.cluster_page.show_as("map")
    spoken.cluster_page.open_node("spark-2")
    look("a machine's panel")
    assert (shell.width(), shell.height()) == size
    assert found == []


def test_machines_of_the_same_names_are_shown_with_their_own_addresses(window: Application) -> None:
    open_eight(window)
    window.shell.open_page("setup")
    window.setup_page.open_step("pair")
    seen = window.setup_page.views["pair"]
    wait_until(lambda: "192.168.50.12" in reads(seen))
    controller = window.controller
    controller.nodes = tuple(dataclasses.replace(n, address=f"nvidia@10.0.0.{n.number}") for n in controller.nodes)
    controller.nodes_changed.emit()
    wait_until(lambda: "10.0.0.2" in reads(seen))
    assert "192.168.50" not in reads(seen)


def test_a_proof_that_passes_shows_whose_rows_they_are_in_a_narrow_window(
    window: Application, qapp: QApplication
) -> None:
    """The first measured cell comes to hand; that it lies far to the right does not scroll the names away."""
    window.shell.resize(*SIZES[1])
    open_eight(window)
    proven = eight_proven()
    passed = [dataclasses.replace(check, verdict=Verdict.PASS) for check in proven.checks]
    for kind in ("speed", "pcie", "route", "gid", "latency"):  # as many columns as a whole proof has
        passed += [dataclasses.replace(check, kind=kind) for check in passed if check.kind == "mtu"]
    window.controller.proof = dataclasses.replace(proven, checks=tuple(passed))
    window.shell.open_page("setup")
    window.setup_page.open_step("prove")
    matrix = window.setup_page.views["prove"].matrix  # type: ignore[attr-defined]
    qapp.processEvents()
    matrix.setCurrentCell(-1, -1)
    window.setup_page.views["prove"]._refresh()  # type: ignore[attr-defined]  # it arrives while the page is open
    qapp.processEvents()
    assert matrix.horizontalScrollBar().maximum() > 0
    assert matrix.columns[matrix.currentColumn() - 1].main == "bandwidth"
    assert matrix.horizontalScrollBar().value() == 0


def test_what_stands_above_the_plan_is_whole_at_every_width(spoken: Application, qapp: QApplication) -> None:
    """The diff beside it, or the virtual cluster's panel, takes its room long before the page is a narrow one."""
    shell, setup = spoken.shell, spoken.setup_page
    open_eight(spoken)
    shell.open_page("setup")
    setup.open_step("plan")
    found: dict[int, list[str]] = {}
    for width in range(SIZES[1][0], SIZES[0][0], 80):
        shell.resize(width, 900)
        for _ in range(3):
            qapp.sendPostedEvents()
            qapp.processEvents()
        if cut := faults(setup.views["plan"]):
            found[width] = cut
    assert found == {}


def test_the_words_of_the_rail_are_whole(spoken: Application) -> None:
    for item in spoken.shell.rail.items.values():
        assert QFontMetrics(item.word_font()).horizontalAdvance(item.entry.title) <= item.sizeHint().width()


def test_the_eyes_see_a_cut_and_an_overlap(themed: theme.Theme) -> None:
    box = QWidget()
    for x, words in ((0, "one that is far too long"), (20, "two")):
        text = QLabel(words, box)
        text.setGeometry(x, 0, 60, 20)
    box.show()
    found = faults(box)
    assert any("cut off" in fault for fault in found)
    assert any("lie on each other" in fault for fault in found)
    box.hide()


class Badly(QWidget):
    """Paints what must not be painted."""

    def paintEvent(self, event: object) -> None:
        painter = QPainter(self)
        write(painter, QRectF(0, 0, 60, 20), LEFT, "much too long for this")
        write(painter, QRectF(0, 30, 90, 20), LEFT, "on")
        write(painter, QRectF(4, 30, 90, 20), LEFT, "top")
        write(painter, QRectF(0, 60, 90, 20), LEFT, "behind")
        write(painter, QRectF(0, 95, 90, 20), LEFT, "outside")
        painter.end()


def test_the_eyes_see_what_is_painted(themed: theme.Theme) -> None:
    box = Badly()
    box.resize(100, 100)
    card = QWidget(box)
    card.setGeometry(0, 60, 50, 20)
    box.show()
    found = faults(box)
    for kind in ("shortened", "lie on each other", "is covered", "leaves its widget"):
        assert any(kind in fault for fault in found), kind
    box.hide()
