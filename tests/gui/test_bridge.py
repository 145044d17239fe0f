"""The border between the two threads: one end for every task, errors in words, cancellation that arrives."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication

from fixtures.window import wait_until
from stellwerk.model.errors import StellwerkError
from stellwerk_gui.bridge import Bridge, Task


@pytest.fixture
def bridge(qapp: QApplication) -> Iterator[Bridge]:
    made = Bridge()
    yield made
    made.stop()


class Ends:
    """Counts which end signals came, and in which thread."""

    def __init__(self, task: Task) -> None:
        self.seen: list[str] = []
        self.threads: set[int] = set()
        task.done.connect(lambda _: self._take("done"))
        task.failed.connect(lambda _: self._take("failed"))
        task.cancelled.connect(lambda: self._take("cancelled"))
        self.over: list[bool] = []
        task.ended.connect(lambda: self.over.append(True))

    def _take(self, kind: str) -> None:
        self.seen.append(kind)
        self.threads.add(threading.get_ident())


async def _value() -> int:
    await asyncio.sleep(0)
    return 7


async def _error() -> None:
    raise StellwerkError("it does not work", node="spark-1", remedy="do this")


async def _bug() -> None:
    raise ZeroDivisionError("division by zero")


async def _for_ever() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("work", "end"), [(_value, "done"), (_error, "failed"), (_bug, "failed")], ids=["value", "error", "bug"]
)
def test_exactly_one_end_arrives_in_qts_thread(bridge: Bridge, work: Callable[[], Any], end: str) -> None:
    ends = Ends(bridge.submit(work(), failed=lambda error: None))
    wait_until(lambda: ends.over)
    assert ends.seen == [end]
    assert ends.threads == {threading.get_ident()}


def test_the_work_runs_in_another_thread(bridge: Bridge) -> None:
    async def where() -> int:
        return threading.get_ident()

    found: list[int] = []
    bridge.submit(where(), done=found.append)
    wait_until(lambda: found)
    assert found[0] != threading.get_ident()


def test_a_cancelled_task_says_so_and_nothing_else(bridge: Bridge) -> None:
    task = bridge.submit(_for_ever())
    ends = Ends(task)
    task.cancel()
    wait_until(lambda: ends.over)
    assert ends.seen == ["cancelled"]


def test_an_error_that_nobody_takes_goes_to_the_one_place(bridge: Bridge) -> None:
    shown: list[StellwerkError] = []
    bridge.unhandled.connect(shown.append)
    bridge.submit(_error())
    wait_until(lambda: shown)
    assert (shown[0].what, shown[0].node) == ("it does not work", "spark-1")


def test_a_bug_becomes_an_error_in_words_and_keeps_its_cause(bridge: Bridge) -> None:
    shown: list[StellwerkError] = []
    bridge.submit(_bug(), failed=shown.append)
    wait_until(lambda: shown)
    assert "inside Stellwerk" in shown[0].what
    assert isinstance(shown[0].__cause__, ZeroDivisionError)


def test_progress_arrives_in_order_and_before_the_end(bridge: Bridge) -> None:
    async def work(report: Callable[[Any], None]) -> str:
        for i in range(5):
            report(i)
        return "end"

    seen: list[Any] = []
    bridge.submit(lambda report: work(report), progress=seen.append, done=seen.append)
    wait_until(lambda: "end" in seen)
    assert seen == [0, 1, 2, 3, 4, "end"]


def test_stopping_ends_what_still_runs(qapp: QApplication) -> None:
    bridge = Bridge()
    bridge.submit(_for_ever())
    bridge.stop()
    assert not bridge._thread.is_alive()
