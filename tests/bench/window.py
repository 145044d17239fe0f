"""What the window costs: first paint, Monitor with eight nodes, its event loop while agents are pushed, memory.

    python tests/bench/window.py [--nodes 8] [--rate HZ] [--seconds S] [--json FILE]

Draws without a screen (Qt's offscreen platform), so what a graphics driver adds is not in these figures. The machines
of a cluster have processors of their own, so the simulated ones leave one of this computer's to the window;
`--together` leaves that to the kernel. Prints, asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

STARTED = time.monotonic()  # before Qt is loaded: a person waits for that, too

import psutil  # noqa: E402
from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer  # noqa: E402
from PySide6.QtWidgets import QApplication  # noqa: E402

from stellwerk.setup.store import ClusterStore  # noqa: E402
from stellwerk_gui.app import Application  # noqa: E402
from stellwerk_gui.lean import settle  # noqa: E402
from stellwerk_gui.settings import SettingsFile  # noqa: E402

TURN_MS = 5
GOALS = {"first_paint_s": 0.6, "monitor_cpu_percent": 40.0, "longest_turn_ms": 50.0, "pss_mb": 220.0}


class Turns(QObject):
    """The longest time between two turns of Qt's event loop."""

    def __init__(self) -> None:
        super().__init__()
        self.longest_ms = 0.0
        self.over: int = 0
        self.own_ms = self.process_ms = 0.0  # processor time of Qt's thread, of all threads, in the longest turn
        self._last = 0.0
        self._last_own = self._last_process = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TURN_MS)
        self._timer.timeout.connect(self._turn)

    def start(self) -> None:
        self.longest_ms, self.over, self._last = 0.0, 0, time.perf_counter()
        self._last_own, self._last_process = time.thread_time(), time.process_time()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _turn(self) -> None:
        now = time.perf_counter()
        took = (now - self._last) * 1000
        self._last = now
        own, process = time.thread_time(), time.process_time()
        if took > self.longest_ms:
            self.longest_ms = took
            self.own_ms, self.process_ms = (own - self._last_own) * 1000, (process - self._last_process) * 1000
        self._last_own, self._last_process = own, process
        self.over += took > GOALS["longest_turn_ms"]


def until(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Let the window live until `condition` holds."""
    loop, poll = QEventLoop(), QTimer()
    end = time.monotonic() + seconds
    poll.timeout.connect(lambda: loop.quit() if condition() or time.monotonic() > end else None)
    poll.start(25)
    loop.exec()
    poll.stop()
    if not condition():
        raise SystemExit(f"{what} did not come within {seconds:.0f} s")


def apart(process: psutil.Process) -> None:
    """Leave the first processor to the window: the simulated machines, and all that they start, go to the others."""
    others = sorted(os.sched_getaffinity(0))[1:]
    if others:
        for machine in process.children(recursive=True):
            machine.cpu_affinity(others)


def live(seconds: float) -> None:
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def measure(nodes: int, rate_hz: float, seconds: float, together: bool, base: Path) -> dict[str, float]:
    app = QApplication([sys.argv[0]])
    store = ClusterStore(base)
    SettingsFile(store.base / "settings.json").change(sample_rate_hz=rate_hz)
    window = Application(app, store, STARTED, search=False)
    process = psutil.Process()
    found: dict[str, float] = {}
    try:
        window.show(after=settle)  # as `stellwerk_gui.app.run` does
        until(lambda: window.first_paint_s is not None and window._pages_built, 30, "the window")
        assert window.first_paint_s is not None
        found["first_paint_s"] = window.first_paint_s
        c = window.controller
        window.try_virtual(nodes, "switch")
        until(lambda: len(c.nodes) == nodes, 60, "the machines")
        if not together:
            apart(process)
        turns = Turns()
        turns.start()
        window.setup_page.go_next()
        until(lambda: all(n.ready for n in c.nodes), 120, "pairing")
        turns.stop()
        found["longest_turn_ms"], found["turns_over_50_ms"] = turns.longest_ms, turns.over
        found["turn_own_ms"], found["turn_process_ms"] = turns.own_ms, turns.process_ms
        window.setup_page.go_next()
        until(lambda: c.look is not None, 60, "the look")
        for i, node in enumerate(c.nodes):
            window.trial.load(node.name, (95.0, 30.0, 60.0, 12.0)[i % 4], gpu_pct=20.0 + 10 * i)
        window.shell.open_page("monitor")
        live(5.0)  # the history that the agents kept comes first
        cpu, began = process.cpu_times(), time.monotonic()
        turns.start()
        live(seconds)
        turns.stop()
        spent, after = time.monotonic() - began, process.cpu_times()
        found["monitor_cpu_percent"] = (after.user - cpu.user + after.system - cpu.system) / spent * 100
        found["monitor_longest_turn_ms"] = turns.longest_ms
        memory = process.memory_full_info()
        found["rss_mb"], found["pss_mb"] = memory.rss / 1e6, memory.pss / 1e6
    finally:
        window.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=8)
    parser.add_argument("--rate", type=float, default=10.0)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--together", action="store_true", help="window and machines on the same processors")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="stellwerk-bench-") as base:
        found = measure(asked.nodes, asked.rate, asked.seconds, asked.together, Path(base))
    words = {
        "first_paint_s": ("first paint, from before Qt is loaded", "s", 2),
        "longest_turn_ms": (f"longest turn of the event loop while {asked.nodes} agents are pushed", "ms", 0),
        "turn_own_ms": ("in it, processor time of the window's thread", "ms", 0),
        "turn_process_ms": ("in it, processor time of all its threads", "ms", 0),
        "turns_over_50_ms": ("turns over 50 ms meanwhile", "", 0),
        "monitor_cpu_percent": (f"Monitor, {asked.nodes} nodes, 4 graphs, {asked.rate:g} Hz", "% of one core", 1),
        "monitor_longest_turn_ms": ("longest turn of the event loop meanwhile", "ms", 0),
        "pss_mb": ("memory of the window's process, proportional (PSS)", "MB", 0),
        "rss_mb": ("the same, resident (RSS)", "MB", 0),
    }
    for key, (text, unit, digits) in words.items():
        goal = f"  (wanted: under {GOALS[key]:g})" if key in GOALS else ""
        print(f"{text}: {found[key]:.{digits}f} {unit}".rstrip() + goal)
    print(f"(load of this computer before: {load:.1f} on {os.cpu_count()} cores)")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=2), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
