"""The window's process does not keep what it does not need, and clears up when nothing is in the way."""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from stellwerk_gui import theme
from stellwerk_gui.lean import Collector

KEPT = "import stellwerk_gui.app, pyqtgraph, linecache; print(sum(size for size, *_ in linecache.cache.values()))"


def test_the_window_s_imports_leave_no_source_text_in_memory() -> None:
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) < 100_000  # bytes; with PySide's own import hook it is more than ten million


class Forgotten(QWidget):
    """A widget that nobody holds but itself: garbage for the collector alone."""

    living = 0

    def __init__(self) -> None:
        super().__init__()
        self.itself = self
        Forgotten.living += 1
        self.destroyed.connect(Forgotten.died)

    @staticmethod
    def died() -> None:
        Forgotten.living -= 1


class Wasteful(QWidget):
    """Makes widgets that nobody keeps when its style changes, and objects enough for the collector to look for them."""

    def __init__(self) -> None:
        super().__init__()
        self.armed = False
        self.left: list[int] = []

    def changeEvent(self, event: QEvent) -> None:
        if self.armed and event.type() is QEvent.Type.StyleChange:
            self.armed = False
            for _ in range(5):
                Forgotten()
            kept: list[list[int]] = []
            kept.extend([] for _ in range(1000))
            self.left.append(Forgotten.living)
        super().changeEvent(event)


@contextmanager
def eager() -> Iterator[None]:
    """A collector that looks at everything whenever ten objects were made."""
    usual = gc.get_threshold()
    gc.set_threshold(10, 1, 1)
    try:
        yield
    finally:
        gc.set_threshold(*usual)


@pytest.mark.parametrize(
    "restyle", [lambda t: t.show_focus(), lambda t: t.apply("light")], ids=["first key", "another theme"]
)
def test_no_widget_is_collected_while_qt_walks_over_all_of_them(
    themed: theme.Theme, restyle: Callable[[theme.Theme], None]
) -> None:
    """Qt holds bare pointers to the widgets while it tells them of a new style; if one goes then, the program ends."""
    wasteful = Wasteful()
    wasteful.show()
    wasteful.armed = True
    with eager():
        restyle(themed)
    assert wasteful.left == [5]
    assert gc.isenabled()
    wasteful.close()
    gc.collect()
    assert Forgotten.living == 0


def test_garbage_goes_between_two_turns_of_the_event_loop_and_at_no_other_time(qtbot: QtBot) -> None:
    collector = Collector()
    collector.start()
    try:
        before = Forgotten.living
        Forgotten()
        kept: list[list[int]] = []
        kept.extend([] for _ in range(2 * collector.MADE[0]))
        assert Forgotten.living == before + 1  # Python's own collector would have run long ago
        qtbot.waitUntil(lambda: Forgotten.living == before)
    finally:
        collector.stop()
    assert gc.isenabled()
