"""The whole way through the window with the mouse, read from what it shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from fixtures.person import Bench, click, reads, sees
from fixtures.window import opened, wait_until
from stellwerk_gui import theme
from stellwerk_gui.app import Application

EIGHT = [f"spark-{n}" for n in range(1, 9)]


def start_trial(window: Application, nodes: int, topology: str) -> None:
    """The third door; it opens eight machines on a switch, another shape is asked for by name."""
    if (nodes, topology) == (8, "switch"):
        click(window.start.virtual)
    else:
        window.try_virtual(nodes, topology)
    wait_until(lambda: window.shell.front == "setup" and len(window.controller.nodes) == nodes)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("topology", "looks"),
    # The keyboard's way leads over a switch in the light theme, too: the mouse's need not be gone every time.
    [("ring", "dark"), pytest.param("switch", "light", marks=pytest.mark.soak)],
)
def test_eight_machines_from_nothing_to_watched_with_the_mouse(
    qapp: QApplication, tmp_path: Path, topology: str, looks: str
) -> None:
    with opened(qapp, tmp_path / "data", theme=looks) as window:
        assert theme.current().dark is (looks == "dark")
        setup, shell = window.setup_page, window.shell
        start_trial(window, 8, topology)
        sees(setup, *EIGHT, "Set up")

        click(setup.next)
        sees(setup.stack, "Ready", *EIGHT, seconds=120)
        wait_until(setup.next.isEnabled, 120, lambda: reads(setup))
        assert reads(setup.stack, painted=False).count("Ready") == 8

        click(setup.next)
        said = sees(setup, "The cables are right", seconds=60)
        assert ("Ring of 8" if topology == "ring" else "Switch") in said
        if topology == "ring":
            assert "8 of 8" in reads(setup), "the cables are counted"
        wait_until(setup.next.isEnabled)

        click(setup.next)
        sees(setup, "Apply to 8 nodes")
        said = reads(setup)
        assert "Nothing has been changed so far." in said
        assert "spark-1" in said
        assert "Changes" in said

        click(setup.next)
        sees(setup, "Confirmed", seconds=120)
        sees(setup, "Everything works.", seconds=120)
        said = reads(setup)
        assert "Simulated hardware." in said
        assert "checks pass" in said
        wait_until(lambda: setup.next.text() == "Finish")

        click(setup.next)
        said = sees(window.cluster_page, "8 of 8 nodes connected", seconds=30)
        assert ("ring" if topology == "ring" else "switch") in said
        card = window.cluster_page.map.card("spark-3")
        click(card)
        sees(window.cluster_page.panel, "spark-3", "MTU 9000", "NVIDIA DGX Spark (simulated)")

        click(shell.rail.items["monitor"])
        bench = Bench(window)
        bench.load("spark-3")
        wait_until(lambda: most_gbps(window) > 100, 30, lambda: reads(window.monitor_page), 250)
        assert "8 of 8 nodes live" in reads(window.monitor_page, painted=False)


def most_gbps(window: Application) -> float:
    """The highest rate that Monitor's strip of links has in words."""
    said = reads(window.monitor_page.strip)
    return max((float(rate) for rate in re.findall(r"([\d.]+) Gb/s", said)), default=0.0)
