"""Keeps a gateway running: it runs in a child, and in another one when that dies. For nodes, where nobody looks on."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from types import FrameType

LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0  # who ran for so long starts again without a pause
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_BROKEN = 70  # EX_SOFTWARE


class _Told(Exception):
    """Told to end while nothing runs."""


class Keeping:
    """One child at a time. `run(again)` is what it does; its result is the exit code, and 0 or `refused` is the end.

    `refused` counts on the first start alone: what could be started once can be started again.
    """

    def __init__(self, run: Callable[[bool], int], refused: int, died: Callable[[str, float], None]) -> None:
        self._run = run
        self._refused = refused
        self._died = died
        self._child: int | None = None
        self._told = False

    def forever(self) -> int:
        """Returns the exit code of the last child, or 0 when told to end between two of them."""
        before = {number: signal.signal(number, self._pass_on) for number in _SIGNALS}
        try:
            return self._keep()
        except _Told:
            return 0
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _keep(self) -> int:
        again, pause_s = False, 0.5
        while True:
            begun_s = time.monotonic()
            code = self._once(again)
            if code == 0 or self._told or (code == self._refused and not again):
                return abs(code)
            if time.monotonic() - begun_s >= STEADY_S:
                pause_s = 0.5
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            self._died(how, pause_s)
            time.sleep(pause_s)
            again, pause_s = True, min(2 * pause_s, LONGEST_PAUSE_S)

    def _once(self, again: bool) -> int:
        sys.stdout.flush()
        sys.stderr.flush()
        # A signal that comes before the child is known would be passed on to nobody: it waits.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        child = os.fork()
        if child == 0:
            self._be_the_child(again, before)
        self._child = child
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        _, status = os.waitpid(child, 0)
        self._child = None
        return os.waitstatus_to_exitcode(status)

    def _be_the_child(self, again: bool, mask: set[int | signal.Signals]) -> None:
        code = _BROKEN
        try:
            # A group of its own: a signal to the job reaches it once, by way of its parent.
            os.setpgid(0, 0)
            for number in _SIGNALS:
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            code = self._run(again)
        except BaseException:  # noqa: BLE001 - whatever it is, this is a copy of the parent and must not go on as one
            traceback.print_exc()
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(code)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        if number != signal.SIGHUP:
            self._told = True
        if self._child is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._child, number)
        elif self._told:
            raise _Told
