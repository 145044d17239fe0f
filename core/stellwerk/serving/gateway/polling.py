"""Staying awake for a moment when the next event is about to come.

An event loop with nothing to do sleeps in the kernel. Being woken costs more than most requests do here: some 20 µs,
and as much again because caches have gone cold. Where an engine and its client answer each other within microseconds
(embeddings, rankers, short answers of small models), the loop therefore looks again and again instead of sleeping, as
network drivers do (Linux calls it busy polling), but only while that pays: engines that take milliseconds never start
it, a look that finds nothing ends after `WINDOW_S`, and a few of them in a row end the habit.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from time import perf_counter

WINDOW_S = 100e-6  # how long to look for the next event
NEAR_S = 250e-6  # events as near as this are worth looking for; what waking takes is a part of it
_PATIENCE = 4  # windows in a row in which nothing came


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class BusyPolling:
    """Keeps an event loop from sleeping by putting a callback into every turn of it."""

    __slots__ = ("_awake", "_clock", "_enabled", "_expected", "_last_s", "_loop", "_patience", "_until_s")

    def __init__(self, *, enabled: bool, clock: Callable[[], float] = perf_counter) -> None:
        """`enabled`: not with a single processor, where looking keeps the awaited from running."""
        self._enabled = enabled
        self._clock = clock
        self._loop: asyncio.AbstractEventLoop | None = None
        self._awake = False
        self._expected = False
        self._patience = 0
        self._last_s = self._until_s = 0.0

    @property
    def awake(self) -> bool:
        """Is the loop being kept from sleeping?"""
        return self._awake

    def expect(self) -> None:
        """Something has come, and an answer to what it led to may follow within microseconds."""
        if self._awake:
            self._expected = True
        elif self._enabled:
            now_s = self._clock()
            if now_s - self._last_s < NEAR_S:
                self._patience = _PATIENCE
            self._last_s = now_s
            if self._patience > 0:
                self._awake = True
                self._until_s = now_s + WINDOW_S
                if self._loop is None:
                    self._loop = asyncio.get_running_loop()
                self._loop.call_soon(self._look)

    def _look(self) -> None:
        assert self._loop is not None
        if self._expected:
            self._expected = False
            self._patience = _PATIENCE
            self._last_s = self._clock()
            self._until_s = self._last_s + WINDOW_S
        elif self._clock() >= self._until_s:
            self._awake = False
            self._patience -= 1
            return
        self._loop.call_soon(self._look)
