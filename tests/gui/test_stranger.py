"""What misled a person who used the window for the first time."""

from __future__ import annotations

import logging
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog

from fixtures.person import answer, choose, click, dialog, press, reads, sees
from fixtures.window import opened, wait_until
from fixtures.wires import hear, sparks, switch
from gui.test_layout import open_eight
from stellwerk.model.errors import StellwerkError
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Check, Verdict, Verification
from stellwerk.model.plan import Plan
from stellwerk.model.sample import NetCounters, Sample
from stellwerk.model.text import joined, say
from stellwerk.remote.target import parse_targets
from stellwerk.setup.look import judge
from stellwerk.setup.store import ClusterLock
from stellwerk.telemetry import TelemetryStore
from stellwerk_gui import shell, theme
from stellwerk_gui.app import Application
from stellwerk_gui.crash import CrashHandler
from stellwerk_gui.logs.page import SHOW_LINES
from stellwerk_gui.logs.ring import MAX_LINES
from stellwerk_gui.start.recent import RecentRow
from stellwerk_gui.trial.mark import set_mark
from stellwerk_gui.widgets.controls import sentence


def proof_of(*checks: Check) -> Verification:
    return Verification("run", "c", "switch", "2026-01-01T00:00:00+00:00", 1.0, checks)


FINE = Check("speed", "spark-1", "port 1 half A", Verdict.PASS, 200.0, port=1, half="A")
SLOW = Check("bandwidth", "spark-2", "port 1 half A", Verdict.FAIL, 13.0, "Gb/s", 92.0, port=1, half="A")


def test_the_window_fits_on_its_screen_with_its_title_bar(window: Application) -> None:
    room = window.shell.screen().availableSize() - QSize(0, shell.FRAME_PX)
    assert shell.USUAL.boundedTo(room).expandedTo(shell.SMALLEST) == window.shell.size()


def test_who_wants_to_set_up_without_a_cluster_is_led_to_the_doors(window: Application) -> None:
    window.shell.go("settings")
    click(window.shell.rail.items["setup"])
    assert window.shell.front == "start"
    window.shell.go("settings")
    press(window.shell, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert window.shell.front == "start"


def test_tab_out_of_a_text_field_shows_where_the_focus_is(window: Application) -> None:
    window.shell.open_page("setup")
    field = window.setup_page.find_step.field
    field.setFocus()
    theme.current().keys_used = False
    QTest.keyClick(field, Qt.Key.Key_Tab)
    assert theme.current().keys_used and not field.hasFocus()


def test_a_next_that_shuts_keeps_the_focus_for_when_it_opens(window: Application) -> None:
    window.shell.open_page("setup")
    page = window.setup_page
    page.find_step.field.setPlainText("spark-1")
    page.refresh()
    page.next.setFocus()
    page.find_step.field.setPlainText("")
    page.refresh()
    assert not page.next.isEnabled() and not any(i.hasFocus() for i in window.shell.rail.items.values())
    page.find_step.field.setPlainText("spark-1")
    page.refresh()
    assert page.next.hasFocus()


def test_a_proof_that_was_stopped_is_not_taken_for_one_that_passed(window: Application) -> None:
    c = window.controller
    c.proving, c.proof_began, c.proof = True, True, proof_of(FINE)  # half way, and nothing failed yet
    c._proof_stopped()
    assert c.proof is None
    before = proof_of(SLOW)
    c.proving, c.proof_began, c.proof = True, False, before  # stopped before its own first check
    c._proof_stopped()
    assert c.proof is before


def test_until_the_first_check_nothing_of_an_earlier_proof_is_shown(window: Application) -> None:
    c, step = window.controller, window.setup_page.views["prove"]
    window.shell.open_page("setup")
    window.setup_page.stack.setCurrentWidget(step)
    c.proof = proof_of(FINE, SLOW)
    c.proof_changed.emit()
    assert step.matrix.rowCount() == 2
    c.proving, c.proof_began = True, False
    c.proof_changed.emit()
    assert step.matrix.rowCount() == 0
    assert "spark" not in step.detail.text()
    c.proving = False
    c.proof_changed.emit()
    assert "spark-2" in step.detail.text(), "the worst cell is in hand again"


def test_the_worst_cell_comes_to_hand_unless_a_person_chose_another(window: Application) -> None:
    c, matrix = window.controller, window.setup_page.views["prove"].matrix
    matrix.show_proof(proof_of(FINE), None, c)
    matrix.show_proof(proof_of(FINE, SLOW), None, c)
    assert matrix.currentRow() == 1
    matrix.setCurrentCell(0, 1)
    matrix.show_proof(proof_of(SLOW, FINE), None, c)
    assert (matrix.rows[matrix.currentRow()].node, matrix.currentColumn()) == ("spark-1", 1)


def test_a_node_that_was_lost_comes_to_hand_first_and_what_the_plan_mends_leads_to_it(window: Application) -> None:
    c, step = window.controller, window.setup_page.views["prove"]
    open_eight(window)
    window.shell.open_page("setup")
    window.setup_page.open_step("prove")
    mtu = Check("mtu", "spark-1", "port 1 half A", Verdict.FAIL, 1500.0, port=1, half="A", remedy="plan it")
    c.proof = proof_of(mtu)
    c.proof_changed.emit()
    wait_until(step.detail.repair.isVisible, 5)
    c.proof = proof_of(mtu, Check("connection", "spark-2", "SSH", Verdict.FAIL, remedy="switch it on"))
    step.matrix._hand = None
    c.proof_changed.emit()
    assert "spark-2" in step.detail.text() and not step.detail.repair.isVisible()


def test_while_a_node_does_not_answer_the_cables_of_the_others_are_not_called_right(window: Application) -> None:
    open_eight(window)  # spark-8 is lost
    window.shell.open_page("setup")
    window.setup_page.open_step("look")
    sees(window.setup_page, "Not every node answers", "No answer from spark-8")
    assert not window.setup_page.next.isEnabled()
    assert "No answer from spark-8" in window.setup_page.why.text()


def test_after_a_change_is_applied_the_proof_of_before_is_gone(window: Application) -> None:
    c = window.controller
    c.proof = proof_of(FINE)
    c.forget_proof()
    assert c.proof is None


def test_a_name_keeps_its_letters_at_the_start_of_a_sentence() -> None:
    assert sentence(say("{member}: it has no iptables", member="spark-1")) == "spark-1: it has no iptables."
    assert sentence(joined(("the address is wrong", say("{n} is not", n="x")), "; "))[0] == "T"
    assert sentence("the file is right") == "The file is right."


def test_a_topology_that_a_person_picks_is_taken_and_judged(window: Application) -> None:
    open_eight(window)
    window.shell.open_page("setup")
    window.setup_page.open_step("look")
    wanted = window.setup_page.views["look"].wanted  # type: ignore[attr-defined]
    offered = [wanted.itemText(i) for i in range(wanted.count()) if wanted.model().item(i).isEnabled()]
    assert offered == ["As recommended", "Ring", "Chain", "Switch"], "eight are neither a pair nor alone"
    choose(wanted, "Chain")
    assert window.controller.wanted is TopologyKind.CHAIN
    assert window.controller.look is not None and window.controller.look.wanted is TopologyKind.CHAIN
    sees(window.setup_page, "Chain")


def test_a_theme_that_was_chosen_by_its_name_is_the_one_that_settings_show(window: Application) -> None:
    window.settings.change(theme="light")
    assert window.settings_page.theme_choice.value == "light"


def test_what_strayed_from_the_plan_is_known_after_one_look() -> None:
    members = sparks(3, switch(3), addresses={"enp1s0f1np1": "10.100.0.1/24"})
    facts = {m.name: m.facts for m in members}
    look = judge(facts, hear(3, switch(3)), {m.name: m.number for m in members}, None)
    assert look.strayed and all(f.fix == "plan" for f in look.strayed)
    assert not set(look.strayed) & set(look.findings)


def test_the_store_tells_which_ports_have_a_signal() -> None:
    store = TelemetryStore()
    net = {name: NetCounters(0, 0, 0, 0, carrier=signal) for name, signal in (("a", True), ("b", False), ("c", None))}
    store.configure("spark-1", {})
    store.add("spark-1", Sample(1, 1_000_000_000, 0.0, "boot", net=net), 1.0)
    assert store.carriers("spark-1") == {"a": True, "b": False}
    assert store.carriers("spark-2") == {}


def test_a_data_folder_that_is_none_is_said_in_a_window_that_opens(qapp: QApplication, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")
    with opened(qapp, tmp_path / "data") as window:
        sees(window.shell.error_box, "could not be saved on this computer")
        window.settings.change(theme="light")
        window.new_cluster()
        assert window.controller.session is None
        sees(window.shell.error_box, "cluster.yaml")


def test_a_cluster_whose_file_is_broken_says_so_in_its_row(qapp: QApplication, tmp_path: Path) -> None:
    file = tmp_path / "clusters" / "c-1" / "cluster.yaml"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"\x00\xff: [")
    with opened(qapp, tmp_path) as window:
        assert any("its file cannot be read" in r.accessibleName() for r in window.start.findChildren(RecentRow))


def test_addresses_that_were_typed_are_there_when_the_cluster_is_opened_again(window: Application) -> None:
    window.new_cluster()
    wait_until(lambda: window.shell.front == "setup")
    window.setup_page.find_step.field.setPlainText("ann@10.9.9.1:2222\n10.9.9.2")
    click(window.setup_page.find_step.add)
    wait_until(lambda: len(window.controller.nodes) == 2)
    click(window.setup_page.close_button)
    wait_until(lambda: len([r for r in window.start.findChildren(RecentRow) if r.isVisible()]) == 1)
    (row,) = [r for r in window.start.findChildren(RecentRow) if r.isVisible()]
    assert "2 Sparks" in row.accessibleName()
    click(row)
    wait_until(lambda: [n.address for n in window.controller.nodes][:1] == ["ann@10.9.9.1:2222"])
    window.controller.pairing.remove("10.9.9.1")
    wait_until(lambda: len(window.controller.nodes) == 1)
    assert window.controller.folder is not None
    assert [n.host for n in window.controller.folder.load().unpaired] == ["10.9.9.2"]


def test_a_ninth_machine_is_refused_and_eight_stay(window: Application) -> None:
    window.new_cluster()
    wait_until(lambda: window.shell.front == "setup")
    window.setup_page.find_step.field.setPlainText("\n".join(f"10.9.9.{n}" for n in range(1, 10)))
    click(window.setup_page.find_step.add)
    sees(window.shell.error_box, "10.9.9.9 does not fit in", "one to eight nodes", seconds=60)
    assert len(window.controller.nodes) == 8
    assert window.controller.folder is not None
    assert len(window.controller.folder.load().unpaired) == 8


def test_cancel_leaves_the_wizard_and_asks_what_becomes_of_what_was_entered(window: Application) -> None:
    page = window.setup_page
    window.new_cluster()
    wait_until(lambda: window.shell.front == "setup")
    click(page.cancel)
    wait_until(lambda: window.shell.front == "start" and window.store.all() == [], 5, "an empty draft is no draft")
    window.new_cluster()
    wait_until(lambda: window.shell.front == "setup")
    page.find_step.field.setPlainText("10.9.9.1\n10.9.9.2")
    click(page.find_step.add)
    wait_until(lambda: len(window.controller.nodes) == 2)
    sees(page.find_step, "10.9.9.2")
    page.find_step.add.setFocus()
    passed = []
    for _ in range(4):
        QTest.keyClick(window.shell.windowHandle(), Qt.Key.Key_Tab)
        passed.append(QApplication.focusWidget().accessibleName())
    assert passed == ["Take 10.9.9.1 off", "Take 10.9.9.2 off", "Cancel", "Next"], "by Tab as by the eye"
    click(window.shell.rail.items["cluster"])
    sees(window.cluster_page, "Go on with the set-up")
    assert not window.cluster_page.prove_button.isVisible(), "nothing was set up that could be proven again"
    click(window.cluster_page.go_on_button)
    click(page.cancel)
    answer("Leave the set-up?", press_="Keep it")
    wait_until(lambda: window.shell.front == "start")
    assert len(window.store.all()) == 1


def test_a_lock_that_cannot_be_made_is_an_error_for_people(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StellwerkError, match="could not be saved"), ClusterLock(tmp_path / "file" / "lock"):
        pass


def test_an_error_that_explains_itself_is_no_crash(window: Application) -> None:
    error = StellwerkError("cluster.yaml could not be saved on this computer", why="disk is full")
    window.crash._handle(type(error), error, None)
    sees(window.shell.error_box, "Disk is full")
    assert not window.crash.left_over()


@pytest.mark.parametrize("what", ["report", "plan", "picture", "numbers"])
def test_what_cannot_be_saved_where_a_person_wants_it_is_said(
    window: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    (tmp_path / "taken").mkdir()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "taken"), ""))
    c = window.controller
    c.proof = proof_of(FINE)
    c.plan = Plan("p", "2026-11-30T09:00:00", "c", "pair", ())
    {
        "report": lambda: c.save_report("html", window.shell),
        "plan": lambda: c.save_plan(window.shell),
        "picture": window.monitor_page.export_png,
        "numbers": window.monitor_page.export_csv,
    }[what]()
    sees(window.shell.error_box, "could not be saved on this computer", "Is a directory", seconds=5)
    assert [p.name for p in tmp_path.iterdir() if p.name != "data"] == ["taken"], "nothing half written stays"


def test_the_window_follows_the_system_s_theme_while_it_runs(
    window: Application, qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.settings.change(theme="system")
    for tokens in (theme.LIGHT, theme.DARK):
        monkeypatch.setattr(theme, "_resolve", lambda choice, tokens=tokens: tokens)
        qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
        assert theme.current().tokens is tokens
        assert window.shell.grab().toImage().pixelColor(200, 4).name() == tokens.canvas
    window.settings.change(theme="dark")
    monkeypatch.setattr(theme, "_resolve", lambda choice: theme.LIGHT)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Light)
    assert theme.current().tokens is theme.DARK, "who has chosen one keeps it"


def test_a_flood_of_log_lines_is_bounded_and_leaves_what_is_selected_alone(window: Application) -> None:
    page, log = window.logs_page, logging.getLogger("stellwerk.flood")
    window.shell.open_page("logs")
    for number in range(8000):
        log.info("line %d", number)
    wait_until(lambda: page.text.toPlainText().endswith("line 7999"), 5)
    assert page.text.blockCount() == SHOW_LINES
    assert len(page.ring.lines()) == MAX_LINES
    page.follow.setChecked(False)
    cursor = page.text.textCursor()
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.movePosition(QTextCursor.MoveOperation.PreviousBlock)
    cursor.select(QTextCursor.SelectionType.LineUnderCursor)
    page.text.setTextCursor(cursor)
    log.info("one more")
    wait_until(lambda: page.text.toPlainText().endswith("one more"), 5)
    assert page.text.textCursor().selectedText().endswith("line 7998")
    assert page.text.blockCount() == SHOW_LINES
    page.filter.setText("one more")
    assert page.count.text() == "1 line"


def test_on_a_full_disk_the_wizard_goes_on_and_says_so(window: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, _ = window.store.create("c")
    window.open_cluster(folder)
    wait_until(lambda: window.controller.session is not None and window.shell.front == "setup")

    def full(*_: object) -> None:
        raise StellwerkError("cluster.yaml could not be saved on this computer", why="disk is full")

    monkeypatch.setattr(window.controller.session, "save", full)
    window.setup_page.open_step("pair")
    sees(window.shell.error_box, "Disk is full")
    assert window.setup_page.step == "pair"


def test_a_virtual_cluster_that_died_is_said_and_its_panel_and_draft_go(window: Application) -> None:
    window.try_virtual(1, "single")
    window.try_virtual(2, "pair")  # a second click while the first one starts
    wait_until(lambda: len(window.controller.nodes) == 1 and window.shell.front == "setup", 40)
    click(window.shell.status.tag)
    assert window.trial_panel.isVisible()
    window.trial.cluster._process.kill()
    sees(window.shell.error_box, "The virtual cluster has ended")
    assert not window.trial_panel.isVisible() and not window.shell.status.tag.isVisible()
    wait_until(lambda: window.shell.front == "start", 10)
    assert window.store.all() == [], "a draft of nodes that are gone is of no use"


def test_a_virtual_cluster_that_ended_is_not_opened_as_nodes_that_are_lost(window: Application, tmp_path: Path) -> None:
    folder, cluster = window.store.create("old")
    folder.save(replace(cluster, topology="ring", page="done"))
    set_mark(folder, tmp_path / "gone")
    window.start.refresh()
    (row,) = window.start.findChildren(RecentRow)
    assert "virtual, has ended" in row.accessibleName()
    wait_until(row.isVisible)
    click(row)
    assert "Start a new one" in reads(dialog("This virtual cluster has ended."))
    answer("has ended", press_="Forget it")
    wait_until(lambda: window.store.all() == [], 5)
    assert window.shell.front == "start"


def test_what_was_typed_is_quoted_no_longer_than_a_sentence_holds() -> None:
    _, problems = parse_targets("a" * 300)
    assert len(str(problems[0])) < 200


DIES = """
import ctypes, sys
from pathlib import Path
from stellwerk_gui.crash import CrashHandler
handler = CrashHandler(Path(sys.argv[1]), list)
handler.install()
if sys.argv[2] == "die":
    ctypes.string_at(0)
handler.uninstall()
"""


@pytest.mark.parametrize(("way", "reports"), [("die", 1), ("end", 0)])
def test_a_crash_below_python_leaves_a_report_that_the_next_start_offers(
    tmp_path: Path, way: str, reports: int
) -> None:
    subprocess.run([sys.executable, "-c", DIES, str(tmp_path), way], check=False)
    left = CrashHandler(tmp_path, list).left_over()
    assert len(left) == reports
    assert all("Segmentation fault" in path.read_text() for path in left)
    assert len(list(tmp_path.iterdir())) == reports, "nothing empty stays"
