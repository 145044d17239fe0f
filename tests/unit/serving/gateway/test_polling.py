"""The event loop is kept from sleeping while events follow each other closely, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from stellwerk.serving.gateway.polling import NEAR_S, WINDOW_S, BusyPolling


class Loop:
    """Turns that the test makes, on a clock that it moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1000.0
        self.soon: list[Callable[[], None]] = []
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: self)

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.soon.append(callback)

    def turn(self) -> None:
        due, self.soon = self.soon, []
        for callback in due:
            callback()

    def polling(self, *, enabled: bool = True) -> BusyPolling:
        return BusyPolling(enabled=enabled, clock=lambda: self.now_s)

    def wait_for_nothing(self, polling: BusyPolling) -> float:
        """Let time pass until the loop may sleep; how long that took."""
        begun_s = self.now_s
        while polling.awake:
            self.now_s += WINDOW_S / 10
            self.turn()
        return self.now_s - begun_s


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Loop:
    return Loop(monkeypatch)


def close_events(loop: Loop, polling: BusyPolling) -> None:
    for _ in range(3):
        loop.now_s += NEAR_S / 2
        polling.expect()
        loop.turn()


def test_events_that_follow_closely_keep_the_loop_awake(loop: Loop) -> None:
    polling = loop.polling()
    polling.expect()
    assert not polling.awake  # the first says nothing about the next
    close_events(loop, polling)
    assert polling.awake
    assert len(loop.soon) == 1  # one callback a turn, however many events


def test_an_engine_that_takes_milliseconds_never_keeps_it_awake(loop: Loop) -> None:
    polling = loop.polling()
    for _ in range(100):
        loop.now_s += 0.003
        polling.expect()
        assert not polling.awake
    assert not loop.soon


def test_when_nothing_follows_the_loop_sleeps_after_one_window(loop: Loop) -> None:
    polling = loop.polling()
    close_events(loop, polling)
    assert loop.wait_for_nothing(polling) <= 2.2 * WINDOW_S  # what came last, and then one window
    assert not loop.soon


def test_the_habit_ends_after_a_few_looks_in_vain(loop: Loop) -> None:
    polling = loop.polling()
    close_events(loop, polling)
    looks = 0
    for _ in range(20):
        loop.wait_for_nothing(polling)
        loop.now_s += 0.01
        polling.expect()
        looks += polling.awake
    assert 0 < looks < 5
    close_events(loop, polling)
    assert polling.awake  # and begins again when it pays again


def test_on_a_single_processor_the_loop_always_sleeps(loop: Loop) -> None:
    polling = loop.polling(enabled=False)
    close_events(loop, polling)
    assert not polling.awake
    assert not loop.soon
