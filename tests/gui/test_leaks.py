"""A closed window has ended everything that it began; and the check that says so can fail."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from fixtures.window import opened, still_running, wait_until
from stellwerk_gui.app import Application


@pytest.mark.parametrize("page", ["start", "setup", "cluster", "monitor", "measure", "logs", "settings"])
def test_closing_ends_what_the_page_in_front_began(qapp: QApplication, tmp_path: Path, page: str) -> None:
    with opened(qapp, tmp_path / "data") as window:
        window.new_cluster()
        wait_until(lambda: window.shell.front == "setup")
        window.shell.open_page(page)
        assert window.shell.front == page


def test_a_timer_and_a_task_that_go_on_are_found(window: Application) -> None:
    timer = QTimer(window.setup_page)
    timer.start(60_000)
    orphan = QTimer()
    orphan.start(70_000)
    window.bridge.submit(asyncio.Event().wait())
    found = "\n".join(still_running(window))
    assert "timer of SetupPage, every 60000 ms" in found
    assert "timer of nobody, every 70000 ms" in found
    assert "task " in found
    assert "the bridge's thread" in found
    timer.stop()
    orphan.stop()


def test_a_window_that_goes_on_fails_its_test(qapp: QApplication, tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="goes on"):
        with opened(qapp, tmp_path / "data") as window:
            QTimer(window.shell).start(60_000)
