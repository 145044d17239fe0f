"""A window of its own for every test that wants one; what it started ends with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from fixtures.window import opened, patient
from stellwerk_gui import theme
from stellwerk_gui.app import Application


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Deadlines for a busy computer, in every window of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patient(patch)
        yield


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
    with opened(qapp, tmp_path / "data") as made:
        yield made
