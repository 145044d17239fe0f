"""The window with a real machine: OpenSSH's own sshd on this very computer, without any simulation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QWidget

from fixtures.person import answer, button, choose, click, dialog, reads, sees, write
from fixtures.window import opened, wait_until
from lab.sshd.conftest import Sshd
from stellwerk.remote import UserIdentity
from stellwerk_gui.setup.steps import PartItem
from stellwerk_gui.widgets.controls import Combo


@pytest.mark.timeout(120)
def test_a_real_machine_is_paired_read_and_watched(
    qapp: QApplication, sshd: Sshd, user_key: UserIdentity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(user_key.agent_path))
    public = sshd.host_key("ed25519").with_suffix(".pub")
    shown = subprocess.run(["ssh-keygen", "-lf", str(public)], check=True, capture_output=True, text=True).stdout
    with opened(qapp, tmp_path / "data") as window:
        shell, setup = window.shell, window.setup_page
        click(window.start.set_up)
        wait_until(lambda: shell.front == "setup")
        click(setup.find_step.field)
        write(shell, f"127.0.0.1:{sshd.port}")
        click(setup.find_step.add)
        sees(setup, f"127.0.0.1:{sshd.port}")
        click(setup.next)
        assert shown.split()[1] in reads(dialog("Is this")), "the fingerprint that the machine itself shows"
        answer("Is this", press_="It is the same: trust it")
        wait_until(setup.next.isEnabled, 60, lambda: reads(setup))
        click(setup.next)
        wait_until(lambda: window.controller.look is not None, 30)
        wait_until(lambda: _parts(setup.steps, "Machines"))
        click(_parts(setup.steps, "Machines")[0])
        said = sees(setup, "GiB")
        assert "simulated" not in said
        if not Path("/dev/nvidiactl").exists():
            assert "no NVIDIA GPU" in said
        click(shell.rail.items["monitor"])
        page = window.monitor_page
        for place, quantity in enumerate(("CPU", "Unified memory", "Link throughput, sent"), 1):
            choose(_choice(page, place), quantity)
        wait_until(lambda: all(_drawn(graph) for graph in page.graphs[:3]), 30, lambda: reads(page))
        assert "1 of 1 nodes live" in reads(page)
        name = window.controller.nodes[0].name
        click(shell.rail.items["cluster"])
        card = window.cluster_page.map.card(name)
        click(card)
        said = sees(window.cluster_page.panel, name, "GPU")
        if not Path("/dev/nvidiactl").exists():
            assert "no NVIDIA GPU" in said.replace("No NVIDIA", "no NVIDIA")
        click(button(window.cluster_page.panel, "Un-pair"))
        answer(f"Un-pair {name}?", press_="Un-pair")
        wait_until(lambda: not window.controller.nodes, 30)
    assert sorted(path.name for path in sshd.home.iterdir()) == [".ssh"]


def _parts(steps: QWidget, title: str) -> list[PartItem]:
    return [p for p in steps.findChildren(PartItem) if p.isVisible() and p.view.title == title]


def _choice(page: QWidget, place: int) -> Combo:
    return next(c for c in page.findChildren(Combo) if c.accessibleName() == f"Quantity of graph {place}")


def _drawn(graph: object) -> bool:
    """At least two real values."""
    lines = graph.lines.values()  # type: ignore[attr-defined]
    return any(np.isfinite(line.values).sum() >= 2 for line in lines)
