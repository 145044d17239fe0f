"""What machines say is shown as it is: never as markup, however long."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QWidget

from fixtures.person import reads
from gui.test_layout import PAGES, eight_proven, look_at_eight, open_eight
from stellwerk.model.errors import StellwerkError
from stellwerk.setup.look import Look, judge
from stellwerk_gui.app import Application
from stellwerk_gui.dialogs import confirm

EVIL = "<b>DGX</b> & <img src=x> &amp;"
LONG = EVIL + "x" * 300


def labels_that_read_markup(*tops: QWidget) -> list[str]:
    """Texts of labels to which Qt would give rich text if it looked like it."""
    found = [label for top in tops for label in (*top.findChildren(QLabel), top) if isinstance(label, QLabel)]
    return [label.text() for label in found if label.text() and label.textFormat() is not Qt.TextFormat.PlainText]


def evil_look() -> Look:
    look = look_at_eight()
    facts = {
        m.name: replace(m.facts, product=LONG, os_name=EVIL, kernel=EVIL, network_owner=EVIL, gpus=(), gpu_note=EVIL)
        for m in look.members
    }
    return judge(facts, look.reports, {m.name: m.number for m in look.members}, None, (f"spark-1: {EVIL}",))


def test_every_label_of_every_page_takes_text_as_it_is(window: Application) -> None:
    open_eight(window)
    c = window.controller
    c.look = evil_look()
    c.look_changed.emit()
    c.proof = eight_proven()
    c.happened.emit(EVIL)
    c.problem.emit(StellwerkError(EVIL, node=EVIL, why=EVIL, remedy=EVIL))
    assert EVIL in reads(window.shell.error_box)
    shell = window.shell
    for page in PAGES:
        shell.open_page(page)
        QApplication.processEvents()
        assert labels_that_read_markup(shell) == [], page
    shell.open_page("setup")
    for step in ("pair", "look", "plan", "prove"):
        window.setup_page.open_step(step)
        QApplication.processEvents()
        assert labels_that_read_markup(shell) == [], step
    window.setup_page.open_step("look")
    assert EVIL in reads(window.setup_page)
    shell.open_page("cluster")
    window.cluster_page.open_node("spark-2")
    said = reads(window.cluster_page.panel)
    assert LONG in said
    assert said.count(EVIL) >= 3
    assert any("<b>DGX</b>" in line for line in reads(window.cluster_page.map).splitlines()), "the card paints it"
    assert labels_that_read_markup(shell) == []


@pytest.mark.parametrize("words", [EVIL, LONG])
def test_a_question_takes_text_as_it_is(window: Application, words: str) -> None:
    box = confirm(window.shell, words, words, "Do it", lambda: None)
    QApplication.processEvents()
    assert isinstance(box, QMessageBox)
    shown = [label.text() for label in box.findChildren(QLabel)]
    assert shown.count(words) == 2
    assert labels_that_read_markup(box) == []
    box.reject()
