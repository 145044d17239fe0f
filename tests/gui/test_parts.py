"""Parts of the window on their own: palette, plain text, cells of the proof, axes, focus."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from stellwerk.model.errors import StellwerkError
from stellwerk.model.finding import Check, Verdict, Verification
from stellwerk.model.text import say
from stellwerk_gui import theme
from stellwerk_gui.app import Application
from stellwerk_gui.palette import Command, CommandPalette, matches
from stellwerk_gui.setup.proof_cells import columns_of, pass_mark, rows_of, sentences
from stellwerk_gui.widgets.controls import Button, Combo, Note, label, plain_tip
from stellwerk_gui.widgets.graph_group import GraphGroup, y_ticks

EVIL = "<img src=x><b>spark</b>\x1b[31m"


def check(kind: str, verdict: Verdict = Verdict.PASS, **more: object) -> Check:
    made = Check(kind, "spark-1", f"port 0 half {more.get('half', 'A')}", verdict, port=0, half="A", text="fine")
    return replace(made, **more)  # type: ignore[arg-type]


def proof(*checks: Check, simulated: bool = False) -> Verification:
    return Verification("r1", "c", "ring", "2026-01-01T00:00:00", 3.0, checks, simulated)


class TestPlainText:
    def test_a_label_shows_markup_as_it_is(self, themed: theme.Theme) -> None:
        made = label(EVIL)
        assert made.textFormat() is Qt.TextFormat.PlainText
        assert made.text() == EVIL

    def test_a_note_does_not_take_markup(self, themed: theme.Theme) -> None:
        note = Note("bad", EVIL, EVIL)
        assert all(x.textFormat() is Qt.TextFormat.PlainText for x in note.findChildren(QLabel) if x.text())

    def test_a_tool_tip_is_escaped(self) -> None:
        tip = plain_tip(EVIL)
        assert "<img" not in tip
        assert "&lt;img src=x&gt;" in tip


class TestPalette:
    @pytest.mark.parametrize(
        ("typed", "hit"), [("mon", True), ("MONITOR go", True), ("go x", False), ("", True), ("  ", True)]
    )
    def test_every_word_has_to_occur(self, typed: str, hit: bool) -> None:
        assert matches("Go to Monitor", typed) is hit

    def test_typing_narrows_and_enter_runs(self, qapp: QApplication, themed: theme.Theme, qtbot: object) -> None:
        ran: list[str] = []
        host = QLabel()
        palette = CommandPalette(host, [Command(t, lambda t=t: ran.append(t)) for t in ("Map", "Table", "Prove again")])
        QTest.keyClicks(palette.field, "ta")
        assert palette.list.count() == 1
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert ran == ["Table"]

    @pytest.mark.parametrize("way", ["Enter", "mouse"])
    def test_the_line_that_says_there_is_none_runs_nothing(
        self, qapp: QApplication, themed: theme.Theme, way: str
    ) -> None:
        host = QLabel()
        ran: list[str] = []
        palette = CommandPalette(host, [Command("Map", lambda: ran.append("Map"))])
        palette.open_centered()
        QTest.keyClicks(palette.field, "xyz")
        QTest.keyClick(palette.field, Qt.Key.Key_Down)
        if way == "mouse":
            place = palette.list.visualItemRect(palette.list.item(0)).center()
            QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
        else:
            QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert palette.isVisible()
        for _ in "xyz":
            QTest.keyClick(palette.field, Qt.Key.Key_Backspace)
        QTest.keyClick(palette.field, Qt.Key.Key_Return)
        assert ran == ["Map"]

    def test_the_window_offers_its_pages_and_what_belongs_to_none(self, window: Application) -> None:
        names = [c.text for c in window._commands()]
        assert "Try a virtual cluster" in names
        assert "Theme: light" in names


def test_an_error_that_begins_with_a_file_writes_its_name_as_it_is(window: Application) -> None:
    window.shell.show_error(StellwerkError(say("{path} could not be saved on this computer", path="plan.json")))
    said = [words.text() for words in window.shell.error_box.findChildren(QLabel)]
    assert "plan.json could not be saved on this computer" in said
    window.shell.error_box.hide()


def test_a_new_virtual_cluster_takes_back_that_the_last_one_ended_and_nothing_else(
    window: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[tuple[int, str]] = []
    monkeypatch.setattr(window.trial, "start", lambda *shape: started.append(shape))
    window.trial.problem.emit(StellwerkError(say("the virtual cluster has ended")))
    assert not window.shell.error_box.isHidden()
    window.life.begin(2, "pair")
    assert window.shell.error_box.isHidden()
    window.trial.problem.emit(StellwerkError(say("the virtual cluster has ended")))
    window.shell.show_error(StellwerkError(say("the report cannot be written")))
    window.life.begin(2, "pair")
    assert not window.shell.error_box.isHidden()
    assert started == [(2, "pair")] * 2


class TestProofCells:
    def test_what_concerns_the_machine_counts_in_its_first_row(self) -> None:
        whole = Check("connection", "spark-1", "SSH", Verdict.FAIL, text="no answer")
        found = proof(check("route"), whole)
        columns = columns_of(found)
        rows = rows_of(found, columns)
        assert len(rows) == 1
        assert [(c.text, c.verdict) for c in rows[0].cells] == [("no answer", Verdict.FAIL)]

    def test_one_bad_half_is_named(self) -> None:
        found = proof(check("mtu", text="9000"), check("mtu", Verdict.FAIL, half="B", text="1500"))
        assert rows_of(found, columns_of(found))[0].cells[0].text == "1500 on B"

    def test_the_halves_have_columns_of_their_own_with_the_mark_in_the_head(self) -> None:
        a = check("bandwidth", value=97.94, unit="Gb/s", pass_mark=92.0)
        found = proof(a, replace(a, half="B", value=13.0, verdict=Verdict.DEGRADED))
        columns = columns_of(found)
        assert [c.key for c in columns] == ["bandwidth-a", "bandwidth-b"]
        assert [c.text for c in rows_of(found, columns)[0].cells] == ["97.9", "13.0"]
        assert pass_mark(found, columns[0]) == "≥ 92.0 Gb/s"

    def test_not_yet_measured_is_a_dot_and_no_verdict(self) -> None:
        found = proof(check("speed"), check("speed", port=1), check("mtu"))
        rows = rows_of(found, columns_of(found))
        assert (rows[1].cells[1].text, rows[1].cells[1].verdict) == ("·", None)

    def test_what_is_measured_once_per_cable_is_shown_at_both_ends(self) -> None:
        here = check("latency", value=1.5, unit="µs", text="1.5 µs")
        there = replace(check("speed"), node="spark-2", port=1)
        found = proof(here, check("speed"), there)
        rows = rows_of(found, columns_of(found), ends={("spark-2", 1): ("spark-1", 0), ("spark-1", 0): ("spark-2", 1)})
        assert [r.cells[1].text for r in rows] == ["1.5 µs", "1.5 µs"]

    def test_an_old_value_is_shown_only_where_it_differs(self) -> None:
        new = proof(check("bandwidth", value=97.0), check("bandwidth", half="B", value=50.0))
        old = proof(check("bandwidth", value=96.0), check("bandwidth", half="B", value=97.0))
        cells = rows_of(new, columns_of(new), old)[0].cells
        assert [c.old for c in cells] == ["", "was 97.0"]

    def test_a_route_is_not_compared_by_its_time(self) -> None:
        new, old = proof(check("route", text="direct", value=171.4)), proof(check("route", text="direct", value=244.8))
        assert rows_of(new, columns_of(new), old)[0].cells[0].old == ""

    def test_both_halves_together_are_said_to_be_both(self) -> None:
        a = check("bandwidth", value=97.9, unit="Gb/s", pass_mark=92.0)
        both = replace(a, kind="bandwidth-port", half="A+B", value=111.0, verdict=Verdict.DEGRADED)
        found = proof(a, both)
        assert rows_of(found, columns_of(found))[0].cells[0].text == "A+B 111.0"

    @pytest.mark.parametrize(("bad", "texts"), [("A", ["13.0", "97.9"]), ("B", ["97.9", "13.0"])])
    def test_of_two_halves_the_bad_one_is_marked_and_not_the_other(self, bad: str, texts: list[str]) -> None:
        halves = [
            check("bandwidth", Verdict.FAIL if h == bad else Verdict.PASS, half=h, value=13.0 if h == bad else 97.9)
            for h in "AB"
        ]
        found = proof(check("bandwidth-port", Verdict.FAIL, half="A+B", value=110.9), *halves)
        cells = rows_of(found, columns_of(found))[0].cells
        assert [c.text for c in cells] == texts
        assert [c.verdict is Verdict.FAIL for c in cells] == [bad == "A", bad == "B"]

    def test_a_kind_that_is_not_known_is_not_swallowed(self) -> None:
        found = proof(check("moon", Verdict.FAIL, text="full"))
        assert rows_of(found, columns_of(found))[0].cells[0].text == "full"

    def test_a_lost_node_is_named_in_the_headline(self) -> None:
        lost = Check("connection", "spark-2", "SSH and agent", Verdict.FAIL, text="lost meanwhile")
        headline = sentences(proof(lost, check("mtu", Verdict.FAIL)), False, 1)[0]
        assert headline == "Something has to be put right: Connection of spark-2, MTU on 1 port."

    def test_not_available_is_never_called_fine(self) -> None:
        assert sentences(proof(check("gid", Verdict.NOT_AVAILABLE)), False, 1)[0] == "Not everything could be checked."

    def test_simulated_hardware_is_said(self) -> None:
        assert "Simulated" in sentences(proof(check("gid"), simulated=True), False, 1)[1]


class TestAxes:
    def test_both_ends_have_labels(self) -> None:
        assert [t for _, t in y_ticks(200.0, log=False)] == ["0", "50", "100", "150", "200"]
        assert [t for _, t in y_ticks(200.0, log=True)] == ["0.1", "1", "10", "100", "200"]

    def test_time_runs_back_from_now(self, qapp: QApplication) -> None:
        group = GraphGroup()
        assert [t for _, t in group.time_ticks()] == ["now", "−1", "−2", "−3", "−4", "−5 min"]

    def test_paused_shows_the_time_of_day(self, qapp: QApplication) -> None:
        group = GraphGroup()
        group.pause(100.0, 1_700_000_000.0)
        assert all(len(t) == 8 and t.count(":") == 2 for _, t in group.time_ticks())

    def test_isolating_twice_shows_all_again(self, qapp: QApplication) -> None:
        group = GraphGroup()
        group.isolate("a", ["a", "b", "c"])
        assert group.hidden == {"b", "c"}
        group.isolate("a", ["a", "b", "c"])
        assert group.hidden == frozenset()


def test_a_double_click_presses_once(themed: theme.Theme) -> None:
    """What *Next* leads to may be *Apply* at the same place, and its plan was not read then."""
    pressed: list[int] = []
    made = Button("Next", on_click=lambda: pressed.append(1))
    QTest.mouseClick(made, Qt.MouseButton.LeftButton)
    QTest.mouseDClick(made, Qt.MouseButton.LeftButton)  # its second half alone
    QTest.mouseRelease(made, Qt.MouseButton.LeftButton)
    assert pressed == [1]
    QTest.mouseClick(made, Qt.MouseButton.LeftButton)
    assert pressed == [1, 1]


def test_every_button_of_the_window_has_a_name_for_screen_readers(window: Application) -> None:
    assert [
        b for b in window.shell.findChildren(Button) if not b.accessibleName() and b is not window.shell.status.tag
    ] == []
    assert [c for c in window.shell.findChildren(Combo) if not c.accessibleName()] == []


def test_no_two_keys_of_a_page_collide(window: Application) -> None:
    for page in window.shell.pages.values():
        keys = [a.shortcut().toString() for a in page.findChildren(QAction) if not a.shortcut().isEmpty()]
        assert len(keys) == len(set(keys))
