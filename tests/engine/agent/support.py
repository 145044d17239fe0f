"""Runs the real agent as its own processes and talks to it the way the desktop does."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil

REPOSITORY = Path(__file__).resolve().parents[3]
# Nodes have other versions of Python than the desktop.
AGENT_PYTHON = os.environ.get("STELLWERK_TEST_AGENT_PYTHON", sys.executable)
SOURCES = f"{REPOSITORY / 'agent'}:{REPOSITORY / 'core'}"


class Failed(Exception):
    """The agent answered with an error."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body["message"])
        self.code = body["code"]
        self.data = body.get("data") or {}


class Node:
    """A home, a root tree and a PATH of its own: what the agent sees as its machine."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.root = base / "root"
        self.bin = base / "bin"
        for directory in (self.home, self.root, self.bin):
            directory.mkdir(exist_ok=True)
        self.command = [AGENT_PYTHON, "-m", "stellwerk_agent"]
        self.extra_environment: dict[str, str] = {"PYTHONPATH": SOURCES}
        self.options = ["--root", str(self.root)]
        self.desktops: list[Desktop] = []
        # Never the test machine's own: it might let us through.
        self.program("sudo", "import sys; sys.exit('sudo: a password is required')")

    @property
    def state_dir(self) -> Path:
        return self.home / ".local/state/stellwerk"

    def environment(self) -> dict[str, str]:
        return {
            "HOME": str(self.home),
            "LOGNAME": "nvidia",
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "SSH_CONNECTION": "192.168.1.50 50000 192.168.1.20 22",
            **self.extra_environment,
        }

    def program(self, name: str, text: str) -> Path:
        """Put a Python program into the node's PATH."""
        path = self.bin / name
        path.write_text(f"#!{sys.executable} -I\n{text}")
        path.chmod(0o755)
        return path

    def everything(self) -> list[psutil.Process]:
        """Every process with this node's home, whoever started it."""
        mark = f"\0HOME={self.home}\0".encode()
        found = []
        for directory in Path("/proc").iterdir():
            try:
                if directory.name.isdecimal() and mark in b"\0" + (directory / "environ").read_bytes():
                    found.append(psutil.Process(int(directory.name)))
            except (OSError, psutil.NoSuchProcess):
                continue  # it ended meanwhile
        return found

    def daemons(self, word: str = "daemon") -> list[psutil.Process]:
        """This node's processes that run as the agent's sub command `word`."""
        return [process for process in self.everything() if word in process.cmdline()]

    def end(self) -> None:
        """End every process of this node."""
        left = self.everything()
        for process in left:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        # Orphans wait as zombies until init gets to them: those have ended, too.
        until = time.monotonic() + 5
        while any(is_alive(process) for process in left):
            assert time.monotonic() < until, "a process does not end"
            time.sleep(0.01)


def is_alive(process: psutil.Process) -> bool:
    """Whether the process still runs; a zombie does not."""
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class Desktop:
    """One attached desktop: sends requests and collects answers and notifications."""

    def __init__(self, process: asyncio.subprocess.Process, banner: dict[str, Any]) -> None:
        self.process = process
        self.banner = banner
        self.notifications: list[dict[str, Any]] = []
        self.answers: dict[int | None, dict[str, Any]] = {}
        self._id = 0
        self._ended = False
        self._news = asyncio.Condition()
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def attach(cls, node: Node, *options: str) -> Desktop:
        process = await asyncio.create_subprocess_exec(
            *node.command,
            "attach",
            *node.options,
            *options,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=node.environment(),
            limit=32 * 1024 * 1024,
        )
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), 30)
        desktop = cls(process, json.loads(line))
        node.desktops.append(desktop)
        return desktop

    async def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        await self.process.stdin.drain()

    async def start(self, method: str, params: dict[str, Any] | None = None) -> int:
        self._id += 1
        message = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": params or {}}
        await self.send(json.dumps(message).encode() + b"\n")
        return self._id

    async def note(self, method: str, params: dict[str, Any]) -> None:
        await self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    async def answer(self, request_id: int | None, timeout_s: float = 30) -> Any:
        await self.until(lambda: request_id in self.answers, timeout_s)
        message = self.answers.pop(request_id)
        if "error" in message:
            raise Failed(message["error"])
        return message["result"]

    async def call(self, method: str, params: dict[str, Any] | None = None, timeout_s: float = 30) -> Any:
        return await self.answer(await self.start(method, params), timeout_s)

    async def until(self, condition: Callable[[], bool], timeout_s: float = 30) -> None:
        async def wait() -> None:
            async with self._news:
                await self._news.wait_for(lambda: condition() or self._ended)
                assert condition(), f"attach ended; it began with {self.banner}"

        await asyncio.wait_for(wait(), timeout_s)

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            message = json.loads(line)
            async with self._news:
                if "method" in message:
                    self.notifications.append(message)
                else:
                    self.answers[message["id"]] = message
                self._news.notify_all()
        async with self._news:
            self._ended = True
            self._news.notify_all()

    async def close(self) -> int:
        """Hang up; gives the exit code of attach."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = await asyncio.wait_for(self.process.wait(), 10)
        await self._reader
        return code

    async def drop(self) -> None:
        """Vanish without a word, when the test has not hung up."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()
        await self._reader
        self.process._transport.close()  # type: ignore[attr-defined]


async def eventually(condition: Callable[[], bool | Awaitable[bool]], timeout_s: float = 15) -> None:
    """Wait until `condition` holds; fails after the limit."""

    async def poll() -> None:
        while True:
            value = condition()
            if (await value) if isinstance(value, Awaitable) else value:
                return
            await asyncio.sleep(0.02)

    await asyncio.wait_for(poll(), timeout_s)
