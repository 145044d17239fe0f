"""The window's process does not keep what it does not need."""

from __future__ import annotations

import subprocess
import sys

KEPT = "import stellwerk_gui.app, pyqtgraph, linecache; print(sum(size for size, *_ in linecache.cache.values()))"


def test_the_window_s_imports_leave_no_source_text_in_memory() -> None:
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True, timeout=120)
    assert int(done.stdout) < 100_000  # bytes; with PySide's own import hook it is more than ten million
