"""Every page and state, in real pictures of a virtual cluster: nothing in them is cut off or lies on something else."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QApplication, QWidget

from stellwerk_gui import theme
from stellwerk_gui.album import Album
from stellwerk_gui.camera import Wanted
from stellwerk_gui.eyes import faults

PATIENCE = 4.0
HARDEST = ("de", (960, 600))  # the longest words in the smallest window
OTHERS = [("en", (960, 600)), ("de", (1440, 900)), ("en", (1440, 900))]
CASES = [pytest.param(*HARDEST), *(pytest.param(*case, marks=pytest.mark.soak) for case in OTHERS)]


@pytest.mark.parametrize(("language", "size"), CASES)
def test_every_picture_can_be_read(language: str, size: tuple[int, int], qapp: QApplication, tmp_path: Path) -> None:
    theme.install(qapp).keys_used = False
    found: list[str] = []
    names: list[str] = []

    def look(what: str, widget: QWidget) -> None:
        names.append(what)
        found.extend(f"{what}: {fault}" for fault in faults(widget))

    wanted = Wanted(tmp_path, ("dark",), language, size, nodes=3, patience=PATIENCE, quick=True)
    album = Album(wanted, look=look)
    try:
        album.run()
    finally:
        for translator in qapp.findChildren(QTranslator):
            QCoreApplication.removeTranslator(translator)
            translator.deleteLater()
    assert album.missed == []
    assert found == [], "\n".join(found)
    assert len(names) > 50
