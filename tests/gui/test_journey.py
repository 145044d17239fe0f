"""The whole way through the window with mouse and keyboard, on one virtual cluster."""

from __future__ import annotations

import psutil
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLabel, QWidget

from fixtures.window import wait_until
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Verdict
from stellwerk_gui.app import Application
from stellwerk_gui.setup.proof_matrix import all_cells


def click(button: QAbstractButton) -> None:
    assert button.isEnabled(), f"{button.text()} is shut"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def words(widget: QWidget) -> str:
    """Everything that a page says in labels."""
    return "\n".join(x.text() for x in widget.findChildren(QLabel) if x.isVisibleTo(widget) and x.text())


def set_up(window: Application) -> None:
    """Find, pair and look at a ring of three."""
    c, setup = window.controller, window.setup_page
    window.try_virtual(3, "ring")
    wait_until(lambda: len(c.nodes) == 3)
    click(setup.next)
    wait_until(lambda: all(n.ready for n in c.nodes), 90)
    click(setup.next)
    wait_until(lambda: c.look is not None and c.look.topology.kind is TopologyKind.RING, 60)


def test_a_ring_is_set_up_broken_and_mended_in_the_window(window: Application) -> None:
    c, setup, shell = window.controller, window.setup_page, window.shell
    before = psutil.Process().children(recursive=True)
    set_up(window)
    assert setup.next.isEnabled()

    # A plug in the wrong port is seen, named, shuts Next, and goes away by itself when it is put right.
    window.trial.set_fault("cable-wrong-port", "spark-3")
    wait_until(lambda: c.look is not None and bool(c.look.cable_findings))
    wait_until(lambda: "spark-3" in words(setup), 10)
    assert not setup.next.isEnabled()
    assert setup.why.text()
    window.trial.clear_fault("cable-wrong-port", "spark-3")
    wait_until(lambda: c.look is not None and not c.look.cable_findings)
    wait_until(setup.next.isEnabled)

    click(setup.next)
    wait_until(lambda: c.plan is not None)
    assert setup.next.text() == "Apply to 3 nodes"

    # Cancelled while it runs: every machine is back as it was.
    click(setup.next)
    wait_until(lambda: c._apply is not None)
    apply = setup.views["apply"]
    click(apply.stop)  # type: ignore[attr-defined]
    wait_until(lambda: c.outcome is not None, 120)
    assert c.outcome is not None
    assert c.outcome.settled
    assert not c.outcome.applied
    click(apply.again)  # type: ignore[attr-defined]
    wait_until(lambda: c.outcome is not None and c.outcome.applied, 120)
    wait_until(lambda: setup.step == "prove" and c.proof is not None and not c.proving, 120)
    prove = setup.views["prove"]
    cells = all_cells(prove.matrix.rows)  # type: ignore[attr-defined]
    assert {cell.verdict for cell in cells} == {Verdict.PASS}
    # The collective self-test follows the proof by itself.
    selftest = prove.selftest  # type: ignore[attr-defined]
    wait_until(lambda: selftest.test is not None, 60)
    assert selftest.test.ranks == 3
    assert {row.wrong for row in selftest.test.rows} == {0}

    # Keyboard: Enter on a card opens its panel.
    click(setup.next)
    wait_until(lambda: shell.front == "cluster")
    card = window.cluster_page.map.card("spark-1")
    card.setFocus()
    QTest.keyClick(card, Qt.Key.Key_Return)
    assert window.cluster_page.panel.isVisibleTo(window.cluster_page)

    # Closed in the middle of a self-test: nothing that it started is left.
    selftest.run()
    assert selftest.running
    window.close()
    assert psutil.Process().children(recursive=True) == before
