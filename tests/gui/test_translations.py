"""German is complete, up to date and fits the placeholders."""

from __future__ import annotations

import re

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtWidgets import QApplication

from fixtures.messages import QM, Message, NotLiteral, messages, messages_of, translations

HOLES = re.compile(r"\{\w+\}")


def test_every_text_of_the_window_has_a_finished_german_one() -> None:
    known = translations()
    assert sorted(m for m in messages() if not known.get(m)) == []


def test_no_text_is_translated_that_is_not_there_any_more() -> None:
    assert sorted(set(translations()) - messages()) == []


def test_placeholders_survive_the_translation() -> None:
    wrong = {m.text: t for m, t in translations().items() if sorted(HOLES.findall(m.text)) != sorted(HOLES.findall(t))}
    assert wrong == {}


def test_the_compiled_file_says_what_the_source_file_says(qapp: QApplication) -> None:
    translator = QTranslator()
    assert translator.load(str(QM))
    differs = {m: t for m, t in translations().items() if translator.translate(m.context, m.text) != t}
    assert differs == {}


def test_a_text_is_found_under_the_class_that_asks_for_it() -> None:
    source = (
        "class A:\n    def f(self):\n        return self.tr('one'), QCoreApplication.translate('B', 'two' ' three')\n"
    )
    assert set(messages_of(source)) == {Message("A", "one"), Message("B", "two three")}


def test_a_text_that_is_put_together_at_run_time_is_refused() -> None:
    with pytest.raises(NotLiteral):
        list(messages_of("class A:\n    def f(self, x):\n        return self.tr(f'{x} nodes')\n"))
