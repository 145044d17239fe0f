"""When something breaks that should not: save what is known, say it once, offer the report at the next start."""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import platform
import sys
import threading
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TextIO

from PySide6.QtCore import QObject, Signal

from stellwerk import __version__
from stellwerk.model.errors import StellwerkError
from stellwerk.setup.files import write_atomic

MAX_REPORT_LINES = 200
LOG = logging.getLogger(__name__)


class CrashHandler(QObject):
    """Installed once. A second crash while one is shown is only written down."""

    crashed = Signal(str)  # path of the report, in Qt's thread
    failed = Signal(object)  # StellwerkError

    def __init__(self, folder: Path, recent_log: Callable[[], list[str]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder = folder
        self._recent_log = recent_log
        self._native: TextIO | None = None
        self._before = sys.excepthook
        self._before_threads = threading.excepthook

    def install(self) -> None:
        sys.excepthook = self._handle
        threading.excepthook = self._handle_thread
        self._watch_native()

    def _watch_native(self) -> None:
        """A crash below Python leaves its stack in a file: nothing else could write it then."""
        if faulthandler.is_enabled():
            return  # somebody else's, with a place of its own
        path = self._folder / f"crash-native-{datetime.now(UTC):%Y%m%d-%H%M%S}-{os.getpid()}.txt"
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._native = path.open("x")
        except OSError as error:
            LOG.warning("a crash below Python would leave no report: %s", error)
            return
        faulthandler.enable(self._native)

    def _unwatch_native(self) -> None:
        native, self._native = self._native, None
        if native is not None:
            faulthandler.disable()
            native.close()
            Path(native.name).unlink(missing_ok=True)

    def uninstall(self) -> None:
        self._unwatch_native()
        sys.excepthook = self._before
        threading.excepthook = self._before_threads

    def _handle(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before(kind, error, trace)
            return
        if isinstance(error, StellwerkError):  # it says itself what happened and what to do: no crash
            LOG.warning("not caught: %s", error, exc_info=(kind, error, trace))
            self.failed.emit(error)
            return
        path = self.write(kind, error, trace)
        self._before(kind, error, trace)
        self.crashed.emit(str(path) if path else "")

    def _handle_thread(self, args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None:
            self._handle(args.exc_type, args.exc_value, args.exc_traceback)

    def write(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> Path | None:
        """Write the report; None when even that is impossible (a full disk)."""
        report = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "version": __version__,
            "python": platform.python_version(),
            "system": platform.platform(),
            "error": traceback.format_exception(kind, error, trace)[-MAX_REPORT_LINES:],
            "log": self._recent_log()[-MAX_REPORT_LINES:],
        }
        now = datetime.now(UTC)  # with its microseconds: the first of two in a second is the one that explains both
        path = self._folder / f"crash-{now:%Y%m%d-%H%M%S-%f}.json"
        try:
            write_atomic(path, json.dumps(report, indent=2).encode())
        except Exception as problem:  # noqa: BLE001 the report must not become a second crash
            print(f"the crash report could not be written: {problem}", file=sys.stderr)
            return None
        return path

    def left_over(self) -> list[Path]:
        """Reports of earlier runs that nobody has looked at."""
        if not self._folder.is_dir():
            return []
        native = []
        for path in self._folder.glob("crash-native-*.txt"):
            if path.stat().st_size:
                native.append(path)
            elif not Path("/proc", path.stem.rpartition("-")[2]).exists():
                path.unlink()  # that window was killed: there is nothing to read
        return sorted([*self._folder.glob("crash-*.json"), *native])
