"""What all graphs of a page share, and where their axes have labels."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from PySide6.QtCore import QCoreApplication, QObject, Signal
from PySide6.QtGui import QGuiApplication

LOG_FLOOR = 0.1  # the lowest value a logarithmic throughput axis shows, Gb/s
MIN_WINDOW_S, MAX_WINDOW_S = 10.0, 3600.0
STEPS_S = (2, 5, 10, 15, 30, 60, 120, 180, 300, 600, 900, 1800)


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a node has its colour everywhere, another thing has a line style."""

    name: str
    colour: str
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """Data of one series: desktop times in seconds and values, NaN where nothing was heard."""

    times: np.ndarray
    values: np.ndarray
    stale: bool = False


class GraphGroup(QObject):
    """What all graphs of a page share: the stretch of time, the crosshair, which series are shown."""

    changed = Signal()  # stretch or pause
    crosshair_moved = Signal()
    series_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.window_s = 300.0
        self.end_s: float | None = None  # None: live, the right edge is now
        self.wall_of_end = 0.0
        self.hidden: frozenset[str] = frozenset()
        self._toggled: tuple[str, float] = ("", 0.0)  # which was hidden or shown last, and when
        self.crosshair_s: float | None = None  # desktop time
        self.crosshair_from: QObject | None = None

    @property
    def paused(self) -> bool:
        return self.end_s is not None

    def set_window(self, seconds: float) -> None:
        self.window_s = min(MAX_WINDOW_S, max(MIN_WINDOW_S, seconds))
        self.changed.emit()

    def pause(self, now_s: float, wall_s: float) -> None:
        if self.end_s is None:
            self.end_s, self.wall_of_end = now_s, wall_s
            self.changed.emit()

    def live(self) -> None:
        self.end_s = None
        self.changed.emit()

    def pan(self, seconds: float, now_s: float) -> None:
        """Move a paused window; never beyond now."""
        if self.end_s is not None:
            end = min(now_s, self.end_s + seconds)
            self.wall_of_end += end - self.end_s
            self.end_s = end
            self.changed.emit()

    def point_at(self, time_s: float | None, source: QObject | None) -> None:
        self.crosshair_s, self.crosshair_from = time_s, source
        self.crosshair_moved.emit()

    def toggle(self, name: str) -> None:
        self.hidden = self.hidden ^ {name}
        self._toggled = (name, time.monotonic())
        self.series_changed.emit()

    def add(self, name: str, names: Sequence[str]) -> None:
        """Show `name` beside what was isolated; where all are shown it becomes the first of them."""
        if not self.hidden:
            self.isolate(name, names)
        elif name in self.hidden:
            self.toggle(name)

    def isolate(self, name: str, names: Sequence[str]) -> None:
        """Show only `name`; once more shows all again."""
        others = frozenset(n for n in names if n != name)
        # The first click of a double click has toggled it.
        toggled, at = self._toggled
        just_now = time.monotonic() - at < QGuiApplication.styleHints().mouseDoubleClickInterval() / 1000
        before = self.hidden ^ {name} if toggled == name and just_now else self.hidden
        self._toggled = ("", 0.0)
        self.hidden = frozenset() if before == others else others
        self.series_changed.emit()

    def wall(self, time_s: float, now_s: float, now_wall_s: float) -> float:
        """Wall clock (seconds since the epoch) at a desktop time."""
        return now_wall_s - (now_s - time_s)

    def longest_tick(self) -> str:
        """A label as long as they get: so many of them have room as fit beside each other."""
        return "00:00:00" if self.paused else "−00 min"

    def time_ticks(self, room: float = 6.0) -> list[tuple[float, str]]:
        """Labels of the time axis, at most `room`: seconds back from the right edge, or wall time when paused."""
        step = next((s for s in STEPS_S if self.window_s / s <= max(1.0, min(6.0, room - 1))), STEPS_S[-1])
        count = int(self.window_s // step)
        places = [-float(step * i) for i in range(count + 1)]
        if self.paused:
            return [(p, datetime.fromtimestamp(self.wall_of_end + p).strftime("%H:%M:%S")) for p in places]
        return [(p, self._relative(p, step, last=i == count)) for i, p in enumerate(places)]

    def _relative(self, place: float, step: float, last: bool) -> str:
        if place == 0:
            return QCoreApplication.translate("GraphGroup", "now")
        if step < 60:
            return f"−{-place:.0f} s"
        return f"−{-place / 60:.0f} min" if last else f"−{-place / 60:.0f}"


def y_ticks(top: float, log: bool) -> list[tuple[float, str]]:
    """Five labels on a linear axis; one per decade, and the top, on a logarithmic one."""
    if log:
        decades = [10.0**e for e in range(round(math.log10(LOG_FLOOR)), math.floor(math.log10(top)) + 1)]
        return [(math.log10(v), f"{v:g}") for v in ([*decades, top] if top / decades[-1] > 1.5 else decades)]
    return [(top * i / 4, f"{top * i / 4:g}") for i in range(5)]
