"""A small process beside each job: collects its output, writes down how it ends, outlives daemon and session.

`agent keeper DIRECTORY` reads what to run from stdin (so that secrets in the environment appear in no argument list and
no file), detaches, starts it, and says on stdout how that went. Signals: SIGTERM asks the job to end, SIGUSR1 ends it.
It imports nothing later than at its start: the archive that it came from may be replaced at any time.
"""

from __future__ import annotations

import ctypes
import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SEGMENT_BYTES = 4 * 1024 * 1024
KEPT_SEGMENTS = 4
EXIT_ROOM_BYTES = 512
LINGER_S = 5.0  # for children that the job leaves behind: first asked, then ended

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(argv: Sequence[str]) -> int:
    """Start the job in DIRECTORY; the process that was called ends once it is known whether it runs."""
    directory = Path(argv[0])
    spec = json.load(sys.stdin)
    reading, writing = os.pipe()
    if os.fork():
        os.close(writing)
        with os.fdopen(reading) as answer:
            sys.stdout.write(answer.read())
        return 0
    os.close(reading)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    try:
        Keeper(directory, spec).run(writing)
    finally:
        os._exit(0)


def process_start(pid: int) -> int | None:
    """When a process was started, in clock ticks since the boot; with its pid it names it for good."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123  (Path is slower, and this is asked often)
            data = stream.read()
    except OSError:
        return None
    # The name in parentheses may hold blanks and parentheses of its own.
    words = data[data.rfind(b")") + 2 :].split()
    return int(words[19]) if len(words) > 19 and words[0] not in (b"Z", b"X") else None


class Keeper:
    """Runs one job. `spec`: {argv, env, cwd, lifetime_s, stdin}."""

    def __init__(self, directory: Path, spec: dict[str, Any]) -> None:
        self._directory = directory
        self._spec = spec
        self._child = 0
        self._code: int | None = None
        self._segment = -1
        self._offset = 0
        self._segment_start = 0
        self._signals: list[int] = []

    def run(self, answer: int) -> None:
        """Start, tell `answer` (a pipe) how that went, stay until the job has ended."""
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        # Room for the exit status is taken now: the disk may be full when the job ends.
        exit_file = os.open(self._directory / "exit.json", os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        os.pwrite(exit_file, b" " * EXIT_ROOM_BYTES, 0)
        wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD):
            signal.signal(number, lambda caught, _: self._signals.append(caught))
        output, why = self._start()
        if why:
            _tell(answer, {"error": why})
            return
        me = {"keeper": os.getpid(), "keeper_start": process_start(os.getpid()), "child": self._child}
        _write_file(self._directory / "keeper.json", json.dumps({**me, "child_start": process_start(self._child)}))
        _tell(answer, me)
        self._watch(output, wake_read)
        end = {"exit_code": self._code, "ended_at": time.time()}
        os.pwrite(exit_file, json.dumps(end).encode().ljust(EXIT_ROOM_BYTES), 0)
        os.fsync(exit_file)

    def _start(self) -> tuple[int, str]:
        """(the job's output, "") or (-1, why it cannot be started)."""
        output, output_write = os.pipe2(os.O_CLOEXEC)
        trouble, trouble_write = os.pipe2(os.O_CLOEXEC)
        self._child = os.fork()
        if not self._child:
            try:
                self._become(output_write)
            except OSError as error:
                where = f"{error.filename}: " if error.filename else ""
                os.write(trouble_write, f"{where}{error.strerror}".encode())
            finally:
                os._exit(127)
        os.close(output_write)
        os.close(trouble_write)
        with os.fdopen(trouble, "rb") as stream:
            why = stream.read().decode("utf-8", "replace")
        os.set_blocking(output, False)
        return (-1, why) if why else (output, "")

    def _become(self, output: int) -> None:
        os.setsid()
        # A job whose keeper was killed could never be found again.
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        if self._spec.get("stdin"):
            os.dup2(_in_memory(self._spec["stdin"]), 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.chdir(self._spec["cwd"])
        argv = self._spec["argv"]
        os.execvpe(argv[0], argv, self._spec["env"])

    def _watch(self, output: int, wake: int) -> None:
        """Copy output and handle signals until the job and its children have ended."""
        limit = self._spec.get("lifetime_s")
        deadline = time.monotonic() + limit if limit else None
        asked_at: float | None = None
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            while True:
                now = time.monotonic()
                patience = min((t - now for t in (deadline, asked_at and asked_at + LINGER_S) if t), default=None)
                for key, _ in selector.select(None if patience is None else max(0.0, patience)):
                    if key.fd == wake:
                        _drain(wake)
                    elif not self._copy(output):
                        selector.unregister(output)
                while self._signals:
                    self._handle(self._signals.pop(0))
                now = time.monotonic()
                if deadline is not None and now >= deadline:
                    self._kill_all(signal.SIGKILL)
                    deadline = None
                if self._code is None:
                    continue
                if not _children():
                    while self._copy(output):
                        pass  # what was still in the pipe
                    return
                if asked_at is None:
                    self._kill_all(signal.SIGTERM)
                    asked_at = now
                elif now >= asked_at + LINGER_S:
                    self._kill_all(signal.SIGKILL)
                    asked_at = now

    def _handle(self, number: int) -> None:
        if number == signal.SIGTERM:
            self._kill_all(signal.SIGTERM)
        elif number == signal.SIGUSR1:
            self._kill_all(signal.SIGKILL)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._child:
                self._code = os.waitstatus_to_exitcode(status)

    def _kill_all(self, number: int) -> None:
        """The job's whole group, and what has left it and came back to us as an orphan."""
        if self._code is None:
            _kill(lambda: os.killpg(self._child, number))
        for pid in _children():
            if pid != self._child or number == signal.SIGKILL:
                _kill(lambda pid=pid: os.kill(pid, number))

    def _copy(self, output: int) -> bool:
        """Move what the job wrote into the log; False when nothing is there, or nothing comes any more."""
        try:
            block = os.read(output, 65536)
        except BlockingIOError:
            return self._code is None
        except OSError:
            return False
        if block:
            self._log(block)
        return bool(block)

    def _log(self, block: bytes) -> None:
        try:
            if self._segment < 0 or self._offset - self._segment_start >= SEGMENT_BYTES:
                self._next_segment()
            view = memoryview(block)
            while view:
                view = view[os.write(self._segment, view) :]
            self._offset += len(block)
        except OSError:
            # No room for the log: the job goes on, its output is dropped, and the next block tries a new segment.
            if self._segment >= 0:
                self._offset = self._segment_start + os.fstat(self._segment).st_size
                os.close(self._segment)
                self._segment = -1

    def _next_segment(self) -> None:
        """Segments carry the offset of their first byte as their name; the oldest go."""
        if self._segment >= 0:
            os.close(self._segment)
            self._segment = -1
        name = f"log.{self._offset:016d}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._segment = os.open(self._directory / name, flags, 0o600)
        self._segment_start = self._offset
        old = sorted(n for n in os.listdir(self._directory) if n.startswith("log."))  # noqa: PTH208
        for name in old[:-KEPT_SEGMENTS]:
            (self._directory / name).unlink(missing_ok=True)


def _in_memory(text: str) -> int:
    """A file with `text` that has no name anywhere; unlike a pipe it takes any length at once."""
    descriptor = os.memfd_create("stdin", os.MFD_CLOEXEC)
    with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as stream:
        stream.write(text)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _children() -> list[int]:
    """Every process whose parent we are now."""
    me, found = os.getpid(), []
    try:
        with open(f"/proc/{me}/task/{me}/children", "rb") as stream:  # noqa: PTH123
            return [int(word) for word in stream.read().split()]
    except OSError:
        pass  # a kernel without CONFIG_PROC_CHILDREN: look at all processes
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdecimal() and _parent(int(name)) == me:
            found.append(int(name))
    return found


def _parent(pid: int) -> int | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:  # noqa: PTH123
            data = stream.read()
    except OSError:
        return None
    return int(data[data.rfind(b")") + 2 :].split()[1])


def _kill(action: Any) -> None:
    try:
        action()
    except (ProcessLookupError, PermissionError):
        pass  # ended meanwhile, or became another user's


def _drain(descriptor: int) -> None:
    try:
        while os.read(descriptor, 4096):
            pass
    except BlockingIOError:
        return


def _tell(descriptor: int, message: dict[str, Any]) -> None:
    try:
        os.write(descriptor, json.dumps(message).encode())
    except BrokenPipeError:
        pass  # the daemon went away while it waited; the next one reads keeper.json
    os.close(descriptor)


def _write_file(path: Path, text: str) -> None:
    temporary = path.with_suffix(".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
    temporary.replace(path)
