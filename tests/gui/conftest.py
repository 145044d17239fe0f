"""A window of its own for every test that wants one; what it started ends with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from fixtures.window import wait_until
from stellwerk.setup.store import ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.app import Application


@pytest.fixture
def themed(qapp: QApplication) -> theme.Theme:
    """The theme, dark, at 100 %, nobody has used the keyboard."""
    made = theme.install(qapp, "dark")
    made.keys_used = False
    made.apply("dark")
    return made


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path) -> Iterator[Application]:
    """The program on a data folder of its own, with all pages; it never listens on the network."""
    theme.install(qapp).keys_used = False
    made = Application(qapp, ClusterStore(tmp_path / "data"), time.monotonic(), search=False)
    made.show()
    wait_until(lambda: made._pages_built, 30)
    yield made
    made.close()
    made.shell.hide()
    made.shell.deleteLater()
    made.deleteLater()
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.processEvents()
