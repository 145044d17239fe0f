"""What only a person can answer: host keys, passwords; and what was left open when the window closed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from fixtures.person import Bench, answer, button, click, dialog, reads, sees
from fixtures.window import opened, wait_until
from stellwerk.setup.look import take_look
from stellwerk.setup.outcome import unfinished_plans
from stellwerk_gui.app import Application

pytestmark = pytest.mark.timeout(150)


@pytest.fixture
def pair(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Application]:
    """Two simulated machines in the wizard, whose questions the person answers."""
    monkeypatch.setattr("stellwerk.setup.look.take_look", partial(take_look, hear_s=0.8))
    with opened(qapp, tmp_path / "data") as window:
        window.try_virtual(2, "pair")
        wait_until(lambda: len(window.controller.nodes) == 2)
        window.answers.cluster = None
        yield window


def test_an_unknown_key_a_wrong_password_and_a_changed_key(pair: Application) -> None:
    window, setup, machines = pair, pair.setup_page, pair.trial.cluster
    click(setup.next)
    for _ in machines.nodes:
        asked = dialog("Is this")
        said = reads(asked)
        node = next(n for n in machines.nodes if n.name in said)
        assert node.host_key_fingerprint in said, "the fingerprint is there to be compared"
        assert "ssh-keygen -l" in said, "and the command that shows it on the machine itself"
        answer(node.name, press_="It is the same: trust it")
    refused = ""
    for _ in range(len(machines.nodes) + 1):
        said = reads(dialog("Password for"), painted=False)
        name = next(n.name for n in machines.nodes if n.name in said)
        if not refused:
            refused = name
            answer(name, typed="wrong")
            continue
        assert ("not accepted" in said) is (name == refused), said
        answer(name, typed=machines.node(name).password)
    wait_until(lambda: all(n.ready for n in window.controller.nodes), 60, lambda: reads(setup))

    # Installed anew: an alarm. It stays out until a person says otherwise.
    old = machines.node("spark-2").host_key_fingerprint
    Bench(window).break_("reinstall", "spark-2")
    row = setup.views["pair"]._rows["spark-2"]  # type: ignore[attr-defined]
    sees(row, "Needs attention", "host key", seconds=60)
    for keep in (True, False):
        click(button(row, "Compare the keys"))
        alarm = dialog("The host key of spark-2 has changed")
        said = reads(alarm)
        assert old in said
        assert machines.node("spark-2").host_key_fingerprint in said
        answer("has changed", press_="Keep it out" if keep else "Trust the new key")
        if keep:
            assert "Needs attention" in reads(row)
    answer("Password for spark-2", typed=machines.node("spark-2").password)
    sees(row, "Ready", seconds=60)


def test_a_question_that_is_open_when_the_window_closes(pair: Application) -> None:
    click(pair.setup_page.next)
    dialog("Is this")


@pytest.mark.parametrize("off", [False, True], ids=["all answer", "one is off"])
def test_closed_in_the_middle_of_apply_the_next_opening_settles_it(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, off: bool
) -> None:
    monkeypatch.setattr("stellwerk.setup.look.take_look", partial(take_look, hear_s=0.8))
    with opened(qapp, tmp_path / "machines") as machines:
        machines.try_virtual(2, "pair")
        wait_until(lambda: machines.trial.cluster is not None and len(machines.controller.nodes) == 2)
        targets = tuple(link.target for link in machines.controller.open_session().links.values())
        cluster = machines.trial.cluster
        with opened(qapp, tmp_path / "data", machines_elsewhere=True) as window:
            window.answers.cluster = cluster
            window.new_cluster()
            wait_until(lambda: window.shell.front == "setup")
            window.controller.pairing.add(targets)
            for step in ("pair", "look", "plan"):
                wait_until(window.setup_page.next.isEnabled, 60, lambda: reads(window.setup_page))
                click(window.setup_page.next)
                wait_until(lambda step=step: window.setup_page.step == step)
            wait_until(window.setup_page.next.isEnabled, 60)
            click(window.setup_page.next)
            apply = window.setup_page.views["apply"]
            sees(apply, "spark-2", "not yet confirmed" if off else "Changing", seconds=60)
            if off:
                machines.trial.set_fault("power-off", "spark-2")
                wait_until(lambda: not machines.trial.cluster.node("spark-2").powered)
            folder = window.controller.folder
            assert folder is not None
        assert bool(unfinished_plans(folder.journal)) is off, "what answers goes back before the window is gone"
        if off:
            machines.trial.set_fault("power-on", "spark-2")
            wait_until(lambda: machines.trial.cluster.node("spark-2").powered)
        with opened(qapp, tmp_path / "data", machines_elsewhere=True) as window:
            window.answers.cluster = cluster
            click(window.start.open)
            sees(window.setup_page, "spark-1", "spark-2", seconds=60)
            if off:
                box = window.shell.error_box
                sees(box, "The window closed while plan", "every node is back as it was", seconds=100)
            assert unfinished_plans(folder.journal) == []
            wait_until(lambda: window.setup_page.step == "look", 30, "as far as what was known before still holds")
            ours = [Path(n.root, "etc/netplan/60-stellwerk.yaml").exists() for n in cluster.nodes]
            assert ours == [False, False]
