"""The only border between Qt's thread and asyncio's: a coroutine goes over, signals come back."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Qt, QThread, Signal

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say

STOP_TIMEOUT_S = 10.0
CANCEL_AGAIN_S = 1.0


class Task(QObject):
    """A coroutine on its way. All signals arrive in Qt's thread; exactly one of done, failed, cancelled comes."""

    done = Signal(object)
    failed = Signal(object)  # StellwerkError
    cancelled = Signal()
    progress = Signal(object)
    ended = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._future: concurrent.futures.Future[Any] | None = None

    def cancel(self) -> None:
        """Ask the coroutine to end; `cancelled` follows when it has."""
        if self._future is not None:
            self._future.cancel()

    @property
    def running(self) -> bool:
        return self._future is not None and not self._future.done()

    def _deliver(self, kind: str, payload: object) -> None:
        if kind == "progress":
            self.progress.emit(payload)
            return
        if kind == "done":
            self.done.emit(payload)
        elif kind == "failed":
            self.failed.emit(payload)
        else:
            self.cancelled.emit()
        self.ended.emit()


class _Post(QObject):
    """Carries what happened to a task, by its number, from asyncio's thread to Qt's.

    The only object that both threads touch: a task that asyncio's thread held on to could be taken apart there.
    """

    arrived = Signal(int, str, object)


class Bridge(QObject):
    """Owns the asyncio thread. `submit` may be called from Qt's thread only."""

    # Nobody listened to a task's `failed`: the one place for errors shows it.
    unhandled = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stellwerk asyncio")
        self._tasks: dict[int, Task] = {}
        self._numbers = itertools.count(1)
        self._post = _Post(self)
        self._post.arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)
        self._thread.start()
        self._ready.wait()

    def submit(
        self,
        work: Coroutine[Any, Any, Any] | Callable[[Callable[[Any], None]], Coroutine[Any, Any, Any]],
        *,
        done: Callable[[Any], None] | None = None,
        failed: Callable[[StellwerkError], None] | None = None,
        progress: Callable[[Any], None] | None = None,
    ) -> Task:
        """Run `work` in asyncio's thread.

        `work` is a coroutine, or a function that takes a `report` callback and returns one. Without `failed`, an
        error goes to `unhandled`.
        """
        assert QThread.currentThread() is self.thread(), "submit belongs to Qt's thread"
        task = Task(self)
        # Never a builtin method (`list.append`, a signal's `emit`) as a slot: PySide mixes up receivers of those.
        give_up = failed if failed is not None else self.unhandled.emit
        if done is not None:
            task.done.connect(lambda value: done(value))
        if progress is not None:
            task.progress.connect(lambda data: progress(data))
        task.failed.connect(lambda error: give_up(error))
        number, post = next(self._numbers), self._post
        self._tasks[number] = task
        coroutine = work(lambda data: _tell(post, number, "progress", data)) if callable(work) else work
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        task._future = future
        future.add_done_callback(lambda f: _hand_over(post, number, f))
        return task

    def _deliver(self, number: int, kind: str, payload: object) -> None:
        task = self._tasks.get(number)
        if task is None:
            return
        if kind != "progress":
            del self._tasks[number]
        task._deliver(kind, payload)
        if kind != "progress":
            task.deleteLater()

    def call_soon(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Run a plain function in asyncio's thread, soon."""
        self._loop.call_soon_threadsafe(function, *arguments)

    def run(self, work: Coroutine[Any, Any, Any], timeout_s: float = STOP_TIMEOUT_S) -> Any:
        """Run `work` and wait for it: only while the window is closing, never from a page."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def wait(self, task: Task, timeout_s: float) -> None:
        """Until `task` has ended or time is up: only while the window is closing, never from a page."""
        if task._future is not None:
            concurrent.futures.wait([task._future], timeout_s)

    def stop(self) -> None:
        """Cancel everything, wait for it, end the thread."""
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(STOP_TIMEOUT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STOP_TIMEOUT_S)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.call_soon(self._ready.set)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


async def _cancel_all() -> None:
    """Again and again: a task that is cancelled may begin another one to clean up, and that one may wait for long."""
    own = asyncio.current_task()
    end = asyncio.get_running_loop().time() + STOP_TIMEOUT_S - CANCEL_AGAIN_S
    while tasks := [task for task in asyncio.all_tasks() if task is not own]:
        for task in tasks:
            task.cancel()
        done, _ = await asyncio.wait(tasks, timeout=CANCEL_AGAIN_S)
        await asyncio.gather(*done, return_exceptions=True)
        if asyncio.get_running_loop().time() > end:
            return


def _hand_over(post: _Post, number: int, future: concurrent.futures.Future[Any]) -> None:
    """In asyncio's thread (or in Qt's, for one cancelled before it began): send the end over the border."""
    if future.cancelled():
        _tell(post, number, "cancelled", None)
    elif (error := future.exception()) is None:
        _tell(post, number, "done", future.result())
    elif isinstance(error, (asyncio.CancelledError, concurrent.futures.CancelledError)):
        _tell(post, number, "cancelled", None)
    else:
        _tell(post, number, "failed", as_error(error))


def _tell(post: _Post, number: int, kind: str, payload: object) -> None:
    try:
        post.arrived.emit(number, kind, payload)
    except RuntimeError:
        # The window is gone and took the post along; there is no one left to tell.
        return


def as_error(error: BaseException) -> StellwerkError:
    """Any exception as one for people; a bug keeps its traceback for the report."""
    if isinstance(error, StellwerkError):
        return error
    wrapped = StellwerkError(
        "something went wrong inside Stellwerk",
        why=say("{kind}: {said}", kind=type(error).__name__, said=error),
        remedy="Save the report and send it to the developers; nothing on the nodes was changed by this",
    )
    wrapped.__cause__ = error
    return wrapped
