"""What the window's process need not do: read every module's source, and collect garbage while it draws.

Measured by `tests/bench/window.py`.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

from PySide6.QtCore import QObject, QTimer


def no_feature_scan() -> None:
    """Let PySide not read the source of each module that is imported after it.

    Its import hook reads them (and `linecache` keeps them: 18 MB, a quarter of the imports' time) to see whether one
    asks for `from __feature__ import snake_case`. None here does. What the hook does then stays the same, and a PySide
    without this function is left as it is.
    """
    feature: Any = sys.modules.get("PySide6.support.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: True


def settle() -> None:
    """What has been built by now stays until the end: the garbage collector passes over it from here on.

    Looking through the finished window takes 40 ms and more.
    """
    gc.freeze()


class Collector(QObject):
    """Collects garbage between two turns of Qt's event loop, and at no other time, from `start` to `stop`.

    Python's own collector runs when enough objects were made: in the middle of a picture, or in another thread. It may
    then take a widget away of which Qt, which is just walking over all of them, holds a bare pointer.
    """

    LOOK_MS = 250
    MADE = (10_000, 20, 20)  # objects until the youngest are looked through, and rounds until the older ones are

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._timer = QTimer(self)
        self._timer.setInterval(self.LOOK_MS)
        self._timer.timeout.connect(self.look)

    def start(self) -> None:
        gc.disable()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()
        gc.enable()

    def look(self) -> None:
        """Collect the oldest generation that is due; it takes the younger ones along."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > self.MADE[generation]:
                gc.collect(generation)
                return
