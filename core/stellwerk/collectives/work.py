"""Calls in order: at once in the caller's thread when nothing is queued, else in a worker thread."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable


class Work:
    """A call under way. `wait()` raises what the call raised."""

    def __init__(self) -> None:
        self._finished = threading.Event()
        self._error: BaseException | None = None
        self._then: Callable[[BaseException | None], None] | None = None
        self._guard = threading.Lock()

    def done(self) -> bool:
        """True once the call has ended, well or not."""
        return self._finished.is_set()

    def exception(self) -> BaseException | None:
        """What the call raised, if it has ended and raised something."""
        return self._error if self._finished.is_set() else None

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait for the end of the call. TimeoutError if it has not ended by then; the call itself goes on."""
        if not self._finished.wait(timeout_s):
            raise TimeoutError(f"the call has not ended within {timeout_s} s; it goes on")
        if self._error is not None:
            raise self._error

    def when_done(self, callback: Callable[[BaseException | None], None]) -> None:
        """Call back once with what the call raised, or None: in the worker's thread, or at once if it has ended."""
        with self._guard:
            if not self._finished.is_set():
                self._then = callback
                return
        callback(self._error)

    def run(self, task: Callable[[], None]) -> None:
        """Execute the task and remember how it ended."""
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - it is raised again by wait(), in the thread that cares
            self._error = error
        with self._guard:
            self._finished.set()
            then = self._then
        if then is not None:
            then(self._error)


class Sequencer:
    """Runs tasks strictly one after the other, in the order in which they were given."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._turn = threading.Lock()
        self.leave = self._turn.release
        self._news = threading.Condition()
        self._queue: deque[tuple[Work, Callable[[], None]]] = deque()
        self._pending = 0
        self._thread: threading.Thread | None = None
        self._closing = False

    def enter(self) -> bool:
        """Take the turn if nothing is queued; then the caller runs its task itself and calls `leave()`."""
        return not self._pending and self._turn.acquire(False)

    @property
    def idle(self) -> bool:
        """Whether no task runs or waits. Only a snapshot: another thread may begin one at once."""
        return not self._pending and not self._turn.locked()

    def turn(self) -> threading.Lock:
        """The turn itself, for whoever must wait for it."""
        return self._turn

    def run(self, task: Callable[[], None]) -> None:
        """Run a task now, or after what is queued; returns when it has ended."""
        if self.enter():
            try:
                task()
            finally:
                self.leave()
        else:
            self.submit(task).wait()

    def submit(self, task: Callable[[], None]) -> Work:
        """Queue a task for the worker thread, which is started with the first one."""
        work = Work()
        with self._news:
            if self._closing:
                raise RuntimeError("it is closed")
            self._queue.append((work, task))
            self._pending += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._loop, name=self._name, daemon=True)
                self._thread.start()
            self._news.notify()
        return work

    def _loop(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._queue or self._closing)
                if not self._queue:
                    return
                work, task = self._queue.popleft()
            with self._turn:
                work.run(task)
            with self._news:
                self._pending -= 1

    def close(self) -> None:
        """Let the queued tasks end, then stop the thread. Whoever closes makes sure that they do end."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
