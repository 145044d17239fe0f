"""A broken settings file and a crash: said once, nothing lost, no traceback for a person."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from stellwerk_gui.app import Application
from stellwerk_gui.crash import CrashHandler
from stellwerk_gui.logs.ring import clean
from stellwerk_gui.settings import Settings, SettingsFile


class TestSettings:
    def test_choices_come_back(self, qapp: QApplication, tmp_path: Path) -> None:
        path = tmp_path / "settings.json"
        SettingsFile(path).change(theme="light", scale=1.5, language="de")
        assert SettingsFile(path).value == Settings(theme="light", scale=1.5, language="de")

    @pytest.mark.parametrize("text", ["{", "\x00\x01", '{"theme": "li'])
    def test_a_broken_file_is_put_aside_and_said(self, qapp: QApplication, tmp_path: Path, text: str) -> None:
        path = tmp_path / "settings.json"
        path.write_text(text)
        file = SettingsFile(path)
        assert file.value == Settings()
        assert "put aside" in file.problem
        assert (tmp_path / "settings.broken.json").read_text() == text

    @pytest.mark.parametrize(
        "data", [[], {"theme": 5, "scale": "big"}, {"theme": "pink", "scale": 9.0, "sample_rate_hz": 0, "more": 1}]
    )
    def test_values_that_make_no_sense_are_defaults_or_limits(
        self, qapp: QApplication, tmp_path: Path, data: object
    ) -> None:
        path = tmp_path / "settings.json"
        path.write_text(json.dumps(data))
        value = SettingsFile(path).value
        assert value.theme == "dark"
        assert 1.0 <= value.scale <= 2.0
        assert 1.0 <= value.sample_rate_hz <= 10.0


@pytest.mark.qt_no_exception_capture
class TestCrash:
    def test_a_report_is_written_privately_and_without_a_dialog_of_tracebacks(
        self, qapp: QApplication, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        handler = CrashHandler(tmp_path / "crashes", lambda: ["a line of the log"])
        heard: list[str] = []
        handler.crashed.connect(heard.append)
        handler.install()
        try:
            raise ValueError("a bug")
        except ValueError:
            sys.excepthook(*sys.exc_info())
        finally:
            handler.uninstall()
        report = json.loads(Path(heard[0]).read_text())
        assert "ValueError: a bug" in "".join(report["error"])
        assert report["log"] == ["a line of the log"]
        assert stat.S_IMODE(Path(heard[0]).stat().st_mode) == 0o600
        assert handler.left_over() == [Path(heard[0])]
        capsys.readouterr()

    def test_a_second_handler_restores_the_first(self, qapp: QApplication, tmp_path: Path) -> None:
        before = sys.excepthook
        handler = CrashHandler(tmp_path, list)
        handler.install()
        handler.uninstall()
        assert sys.excepthook is before

    def test_the_window_says_it_in_words_and_goes_on(
        self, window: Application, capsys: pytest.CaptureFixture[str]
    ) -> None:
        try:
            raise ValueError("a bug")
        except ValueError:
            sys.excepthook(*sys.exc_info())
        box = window.shell.error_box
        assert box.isVisible()
        words = box._note._title.text() + box._note._text.text()
        assert "Something went wrong" in words
        assert "Traceback" not in words
        assert "crash-" in words
        capsys.readouterr()


def test_control_characters_of_machines_never_reach_the_log() -> None:
    assert clean("a\x1b[31mb\nc\x07") == "a [31mb c "
