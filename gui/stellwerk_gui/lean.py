"""What the window's process need not do: read every module's source, and look through objects that stay.

Measured by `tests/bench/window.py`.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

_SOME = (10_000, 20, 20)  # objects until a collection of the youngest; ten times Python's, for fewer pauses


def no_feature_scan() -> None:
    """Let PySide not read the source of each module that is imported after it.

    Its import hook reads them (and `linecache` keeps them: 18 MB, a quarter of the imports' time) to see whether one
    asks for `from __feature__ import snake_case`. None here does. What the hook does then stays the same, and a PySide
    without this function is left as it is.
    """
    import PySide6.QtCore  # noqa: F401  (the hook comes with it)

    feature: Any = sys.modules.get("PySide6.support.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda module: True


def settle_collector() -> None:
    """What has been built by now stays until the end: the garbage collector passes over it from here on.

    A full collection of the finished window takes 40 ms and more, in the middle of whatever the window draws.
    """
    gc.freeze()
    gc.set_threshold(*_SOME)
