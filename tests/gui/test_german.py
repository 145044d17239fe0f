"""What the core says stands in the window in German, down to the last hole of the last sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QApplication, QLabel, QMainWindow, QWidget

from fixtures.wires import cable, chain, hear, ring, sparks
from stellwerk.fabric.plan import make_plan
from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.finding import Check, Verdict
from stellwerk.model.text import say
from stellwerk.remote.target import parse_targets
from stellwerk.setup.look import Look, judge
from stellwerk.wire import decode, encode, error_from_wire, error_to_wire, from_wire, to_wire
from stellwerk_agent.rpc import refused_by_system
from stellwerk_gui import theme
from stellwerk_gui.errorbox import ErrorBox
from stellwerk_gui.language import install_language, local
from stellwerk_gui.setup.look import CableAdvice
from stellwerk_gui.setup.proof_cells import said
from stellwerk_gui.widgets.controls import sentence

ENGLISH = re.compile(r"\b(the|is|are|of|to|with|from|cannot|not|this|that|has|have|does|machines?|cables?|goes|its)\b")
WRONG = {
    "a missing cable": chain(4),
    "a cable in the wrong port": [cable((1, 0), (2, 1)), cable((2, 0), (3, 0)), cable((1, 1), (3, 1))],
    "two cables between two machines": [cable((1, 0), (2, 0)), cable((1, 1), (2, 1)), cable((3, 0), (4, 1))],
    "a cable from a machine to itself": [*chain(3), cable((4, 0), (4, 1))],
    "a wrong machine": [cable((1, 0), (2, 1)), cable((2, 0), (4, 1)), cable((3, 0), (4, 0)), cable((1, 1), (3, 1))],
}


@pytest.fixture
def german(qapp: QApplication, themed: theme.Theme) -> Iterator[None]:
    """The window's German, for one test."""
    before = set(qapp.findChildren(QTranslator))
    assert install_language(qapp, "de") == "de"
    yield
    for made in set(qapp.findChildren(QTranslator)) - before:
        QCoreApplication.removeTranslator(made)
        made.deleteLater()


def look_at(count: int, wiring: list[object]) -> Look:
    members = sparks(count, wiring)  # type: ignore[arg-type]
    numbers = {m.name: m.number for m in members}
    return judge({m.name: m.facts for m in members}, hear(count, wiring), numbers, None)  # type: ignore[arg-type]


def shown(widget: QWidget) -> list[str]:
    return [label.text() for label in widget.findChildren(QLabel) if label.text()]


@pytest.mark.parametrize("wiring", WRONG.values(), ids=WRONG)
def test_the_findings_of_the_cables_are_german(german: None, wiring: list[object]) -> None:
    look = look_at(4, wiring)
    assert look.cable_findings
    panel = CableAdvice()
    panel.show_look(look)
    assert [text for text in shown(panel) if ENGLISH.search(text)] == []
    assert any("Port" in text and "spark-" in text for text in shown(panel))
    panel.deleteLater()


def test_notes_and_reasons_of_a_plan_are_german(german: None) -> None:
    look = look_at(4, ring(4))  # type: ignore[arg-type]
    plan = make_plan(look.members, look.topology, cluster="c", plan_id="p", created_at="now")
    reasons = {row.why for node in plan.nodes for row in node.rows}
    reasons |= {change.why for node in plan.nodes for change in node.changes}
    texts = [sentence(text) for text in (*reasons, *plan.notes, *plan.warnings) if text]
    assert len(texts) > 3
    assert [text for text in texts if ENGLISH.search(text)] == []


def test_an_error_of_an_agent_is_german_in_the_box(german: None) -> None:
    line = encode(error_to_wire(1, refused_by_system(OSError(28, "No space left on device", "/var/x"))))
    error = error_from_wire(decode(line)["error"])
    window = QMainWindow()
    box = ErrorBox(window)
    box.show_error(error)
    assert shown(box) == [
        "Auf diesem Knoten lässt sich nichts schreiben",
        "/var/x: die Platte ist voll. Darauf Platz schaffen und nochmals versuchen.",
    ]
    window.deleteLater()


def test_what_was_typed_wrong_is_said_in_german_and_stays_as_it_was_typed(german: None) -> None:
    _, problems = parse_targets("nvidia@{host}:99999", None)
    text = local(str(problems[0]))
    assert "{host}" in text and text.endswith("Einen Hostnamen oder eine Adresse eintippen, etwa spark-1.local.")
    assert local(str(BadInput("{x}", why="{0}", remedy="{y.z}"))) == "{x}. {0}. {y.z}."


def test_a_stored_check_is_german_after_it_was_read_again(german: None) -> None:
    check = Check("mtu", "n", say("port {port} half {half} -> {peer}", port=1, half="A", peer="m"), Verdict.FAIL)
    check = replace(check, text="no answer", why=say("{lost} lost", lost=3))
    again = from_wire(Check, json.loads(json.dumps(to_wire(check, texts=True))))
    assert local(again.subject) == "Port 1 Hälfte A -> m" and local(again.why) == "3 verloren"
    assert said(again) == "stumm"


def test_without_german_everything_stays_as_it_was_said(themed: theme.Theme) -> None:
    error = StellwerkError(say("{lost} lost", lost=3), why="the disk is full")
    assert local(str(error)) == str(error) == "3 lost: the disk is full."
    assert local("") == ""
