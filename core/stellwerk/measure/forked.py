"""Ranks of one measurement as forked processes: a library that takes seconds to load is loaded once.

What a rank says comes to its parent over a pipe of its own; the end of the pipe is the end of the rank. All ranks end
when one fails, and when standard input of the parent ends: then whoever started the measurement is gone.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

Tell = Callable[[Any], None]
PR_SET_PDEATHSIG = 1


class RankDied(Exception):
    """A rank ended before it was done; the text says which one and why."""


class StarterGone(Exception):
    """Whoever started the measurement has ended, or wants it to end."""


def end_on_request() -> None:
    """Being told to end becomes an exception, so that the ranks are ended and waited for."""

    def told(*_: Any) -> NoReturn:
        raise StarterGone

    signal.signal(signal.SIGTERM, told)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever started the measurement: it tells us


def need_starter() -> None:
    """For long work in the parent itself: StarterGone if whoever started the measurement is gone."""
    if select.select([sys.stdin], [], [], 0)[0] and not os.read(sys.stdin.fileno(), 4096):
        raise StarterGone


def run_ranks(ranks: int, work: Callable[[int, Tell], Any], on_message: Callable[[int, Any], None]) -> list[Any]:
    """Run `work(rank, tell)` in so many processes; returns what it returned on each. RankDied if one fails."""
    results: dict[int, Any] = {}
    with _Family() as family:
        for rank in range(ranks):
            family.fork(rank, work)
        for rank, message in family.messages():
            if "failed" in message:
                raise RankDied(f"rank {rank} of {ranks}: {message['failed']}")
            if "result" in message:
                results[rank] = message["result"]
            elif "said" in message:
                on_message(rank, message["said"])
            elif rank not in results:
                raise RankDied(f"rank {rank} of {ranks} {family.end_of(rank)}")
    return [results[rank] for rank in range(ranks)]


class _Family:
    """The processes and their pipes. Leaving it ends those that still run and waits for all."""

    def __init__(self) -> None:
        self._pids: dict[int, int] = {}
        self._pipes: dict[int, int] = {}
        self._codes: dict[int, int] = {}

    def __enter__(self) -> _Family:
        return self

    def __exit__(self, *_: Any) -> None:
        # A second request to end must not come between: it would leave processes behind.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            for rank, pid in self._pids.items():
                if rank not in self._codes:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            for pipe in self._pipes.values():
                os.close(pipe)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def fork(self, rank: int, work: Callable[[int, Tell], Any]) -> None:
        """Start a rank."""
        sys.stdout.flush()
        sys.stderr.flush()
        reader, writer = os.pipe()
        parent = os.getpid()
        # Between the fork and the note that there is a child, nobody may ask us to end.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            pid = os.fork()
            if pid == 0:
                for other in (*self._pipes.values(), reader):
                    os.close(other)
                _be_rank(rank, work, writer, parent)
            self._pids[rank], self._pipes[rank] = pid, reader
        finally:
            os.close(writer)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})

    def messages(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """(rank, message) until all pipes have ended; the last message of a rank is empty."""
        with selectors.DefaultSelector() as selector:
            selector.register(sys.stdin, selectors.EVENT_READ, None)
            texts = dict.fromkeys(self._pipes, b"")
            for rank, pipe in self._pipes.items():
                selector.register(pipe, selectors.EVENT_READ, rank)
            while texts:
                for key, _ in selector.select():
                    rank = key.data
                    if rank is None:
                        need_starter()
                        continue
                    data = os.read(self._pipes[rank], 1 << 16)
                    if not data:
                        selector.unregister(key.fileobj)
                        del texts[rank]
                        yield rank, {}
                        continue
                    *lines, texts[rank] = (texts[rank] + data).split(b"\n")
                    for line in lines:
                        yield rank, json.loads(line)

    def end_of(self, rank: int) -> str:
        """How a rank that has closed its pipe ended."""
        code = os.waitstatus_to_exitcode(os.waitpid(self._pids[rank], 0)[1])
        self._codes[rank] = code
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _end_with(parent: int) -> None:
    """Where the system offers it: a rank is killed when its parent dies, however that dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _be_rank(rank: int, work: Callable[[int, Tell], Any], pipe: int, parent: int) -> NoReturn:
    """The life of a forked process; it never returns into its parent's code."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        _end_with(parent)
        os.dup2(2, 1)  # standard output is the parent's: its end must be seen, also while ranks are left
        with os.fdopen(pipe, "w", encoding="utf-8") as out:

            def write(message: Any) -> None:
                out.write(json.dumps(message) + "\n")
                out.flush()

            try:
                write({"result": work(rank, lambda said: write({"said": said}))})
                code = 0
            except Exception as error:  # noqa: BLE001 - it is reported to the parent
                traceback.print_exc()
                write({"failed": f"{type(error).__name__}: {error}"})
        sys.stderr.flush()
    finally:
        os._exit(code)


def serve(argument: str, work: Callable[[Any, Tell], Any]) -> int:
    """What the started module does: `work(plan, tell)`; every line on standard output is a message."""

    def tell(message: Any) -> None:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()

    end_on_request()
    try:
        tell({"result": work(json.loads(argument), tell)})
    except RankDied as error:
        tell({"failed": str(error)})
        return 1
    except (StarterGone, BrokenPipeError):
        return 1
    return 0


def same_for_all(values: Sequence[Any]) -> bool:
    """True if every rank gave the same."""
    return all(value == values[0] for value in values)
