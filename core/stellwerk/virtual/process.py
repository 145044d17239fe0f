"""The cluster's end of a node's first process: start programs on the node, hear of their end, cut the power."""

from __future__ import annotations

import array
import asyncio
import json
import os
import resource
import secrets
import signal
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say

MAX_MESSAGE = 1024 * 1024


@dataclass(slots=True)
class NodeProcess:
    """A program that runs on a node."""

    pid: int
    ended: asyncio.Future[int]  # wait status
    argv: tuple[str, ...] = ()

    async def wait(self) -> int:
        """The exit code; minus the signal's number when a signal ended it."""
        return os.waitstatus_to_exitcode(await asyncio.shield(self.ended))


@dataclass(slots=True)
class NodeInit:
    """Process 1 of one power cycle of a node."""

    process: subprocess.Popen[bytes]
    channel: socket.socket
    loop: asyncio.AbstractEventLoop
    mark: int  # the resource limit that stands for being root
    processes: dict[int, NodeProcess] = field(default_factory=dict)
    _answers: dict[int, asyncio.Future[NodeProcess]] = field(default_factory=dict)
    _number: int = 0

    @classmethod
    def start(cls, python: Path, script: Path, node_dir: Path) -> NodeInit:
        """Start it. It ends, with all that it started, when the cluster ends."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for end in (ours, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MAX_MESSAGE)
        ours.setblocking(False)
        with theirs:
            process = subprocess.Popen(
                [str(python), "-IS", str(script), str(theirs.fileno()), str(node_dir)],
                pass_fds=(theirs.fileno(),),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                env={"PATH": "/usr/bin:/bin"},
                cwd="/",
                start_new_session=True,
            )
        init = cls(process, ours, asyncio.get_running_loop(), _choose_mark())
        init.loop.add_reader(ours.fileno(), init._receive)
        return init

    @property
    def running(self) -> bool:
        return self.channel.fileno() != -1

    async def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: Path,
        fds: tuple[int, int, int],
        *,
        root: bool = False,
        tty: bool = False,
    ) -> NodeProcess:
        """Run a program on the node with these three descriptors. Raises `StellwerkError` when the power is off."""
        self._number += 1
        answer: asyncio.Future[NodeProcess] = self.loop.create_future()
        message = {
            "op": "spawn",
            "id": self._number,
            "argv": list(argv),
            "env": dict(env),
            "cwd": str(cwd),
            "tty": tty,
            "mark": self.mark if root else 0,
        }
        number = self._number
        self._answers[number] = answer
        try:
            self._send(message, fds)
            process = await answer
        finally:
            self._answers.pop(number, None)
        process.argv = tuple(argv)
        return process

    def signal(self, pid: int, number: int, *, group: bool = False) -> None:
        """Send a signal to a program of the node."""
        self._send({"op": "signal", "pid": pid, "signal": number, "group": group})

    def limit_files(self, limit_bytes: int | None) -> None:
        """Bound the size of files for every program of the node, now and later."""
        self._send({"op": "limit", "fsize": limit_bytes})

    def is_root(self, pid: int) -> bool:
        """Whether that process was started by the simulated sudo (or by one that was)."""
        try:
            return resource.prlimit(pid, resource.RLIMIT_MSGQUEUE)[0] == self.mark
        except (ProcessLookupError, PermissionError):
            return False

    async def halt(self) -> None:
        """Power off: every process of the node dies at once."""
        if not self.running:
            return
        self._send({"op": "halt"})
        try:
            async with asyncio.timeout(10):
                await asyncio.to_thread(self.process.wait)
        except TimeoutError:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self._closed()

    def _send(self, message: Mapping[str, object], fds: Sequence[int] = ()) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        try:
            self.channel.sendmsg([json.dumps(message).encode("utf-8", "surrogateescape")], ancillary)
        except OSError as error:
            raise StellwerkError("the simulated machine has no power", why=error.strerror or str(error)) from None

    def _receive(self) -> None:
        while True:
            try:
                data = self.channel.recv(MAX_MESSAGE)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._closed()
                return
            self._take(json.loads(data))

    def _take(self, message: dict[str, int | str]) -> None:
        if "exit" in message:
            gone = self.processes.pop(int(message["exit"]), None)
            if gone is not None and not gone.ended.done():
                gone.ended.set_result(int(message["status"]))
            return
        answer = self._answers.get(int(message["id"]))
        if "pid" in message:
            pid = int(message["pid"])
            self.processes[pid] = process = NodeProcess(pid, self.loop.create_future())
            if answer is not None and not answer.done():
                answer.set_result(process)
        elif answer is not None and not answer.done():
            answer.set_exception(
                StellwerkError(say("the program could not be started: {said}", said=message.get("error")))
            )

    def _closed(self) -> None:
        if not self.running:
            return
        self.loop.remove_reader(self.channel.fileno())
        self.channel.close()
        for process in self.processes.values():
            if not process.ended.done():
                process.ended.set_result(signal.SIGKILL)
        self.processes.clear()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(StellwerkError("the simulated machine lost its power"))


def _choose_mark() -> int:
    """A limit that no process has by accident. It is below the hard limit, so anybody may set it."""
    hard = resource.getrlimit(resource.RLIMIT_MSGQUEUE)[1]
    top = 819_200 if hard == resource.RLIM_INFINITY else hard
    if top < 1000:
        raise StellwerkError(
            "simulated machines cannot be started",
            why="the limit of POSIX message queues (ulimit -q), which marks the simulated root, is too low here",
            remedy="raise it to 819200 bytes, the usual value",
        )
    return top - 1 - secrets.randbelow(top // 2)
