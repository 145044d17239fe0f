"""One run of a command on a simulated node: what it was asked, how it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stellwerk.virtual.machine import Machine

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster

MAX_LINE = 1024 * 1024


class Usage(Exception):
    """The command was called in a way that it refuses; `code` is its exit code, the text goes to stderr."""

    def __init__(self, message: str, code: int = 1) -> None:
        self.code = code
        super().__init__(message)


class Call:
    """A command while it runs."""

    def __init__(
        self,
        cluster: Cluster,
        machine: Machine,
        request: Mapping[str, Any],
        *,
        root: bool,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.cluster = cluster
        self.machine = machine
        self.name = str(request["name"])
        self.argv = [str(word) for word in request["argv"]]
        self.cwd = Path(str(request["cwd"]))
        self.env = {str(key): str(value) for key, value in dict(request["env"]).items()}
        self.pid = int(request["pid"])
        self.root = root
        self._reader = reader
        self._writer = writer
        self.replaced = False

    def _send(self, message: Mapping[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")

    def out(self, text: str) -> None:
        """Print on stdout, as it is."""
        if text:
            self._send({"out": text})

    def line(self, text: str = "") -> None:
        """Print one line on stdout."""
        self._send({"out": text + "\n"})

    def err(self, text: str) -> None:
        """Print one line on stderr."""
        self._send({"err": text + "\n"})

    def json(self, value: Any) -> None:
        """Print JSON as iproute2 does: compact, one line."""
        self.line(json.dumps(value, separators=(",", ":")))

    def exit(self, code: int) -> None:
        """Tell the exit code: the last thing that is said."""
        self._send({"exit": code})

    async def drain(self) -> None:
        """Wait until what was printed has left."""
        await self._writer.drain()

    async def ask(self, kind: str, *, program: str = "", prompt: str = "") -> tuple[str | None, str]:
        """A line from askpass, stdin or the terminal, and why there is none."""
        self._send({"ask": kind, "program": program, "prompt": prompt})
        line = await self._reader.readline()
        if not line:
            return None, "the command was ended"
        answer = json.loads(line)
        return answer.get("line"), str(answer.get("error") or "")

    def become(self, path: Path, argv: Sequence[str], env: Mapping[str, str], *, root: bool = False) -> None:
        """Replace the command by another program, as sudo does."""
        init = self.machine.init
        mark = init.mark if root and init is not None else 0
        self._send({"exec": [str(path)], "argv": list(argv), "env": dict(env), "mark": mark})
        self.replaced = True

    def connect(self, host: str, port: int) -> None:
        """Replace the command by a TCP connection between its stdin and stdout and that address."""
        self._send({"connect": [host, port]})
        self.replaced = True

    def gone(self) -> bool:
        """Whether the command was ended from outside."""
        return self._reader.at_eof()

    async def until_gone(self) -> None:
        """Wait until the command is ended from outside."""
        while await self._reader.read(1):
            pass

    def need_root(self, message: str, code: int) -> None:
        """Refuse what only root may do."""
        if not self.root:
            raise Usage(message, code)


Command = Callable[[Call], Awaitable[int]]


async def serve_call(call: Call, command: Command) -> None:
    """Run a command to its end and tell its exit code. The caller closes the connection."""
    try:
        code = await command(call)
    except Usage as refusal:
        if str(refusal):
            call.err(str(refusal))
        code = refusal.code
    if not call.replaced:
        call.exit(code)
    await call.drain()


class Words:
    """The words of a command line, taken one after the other."""

    def __init__(self, argv: Sequence[str]) -> None:
        self._words = list(argv)

    def __bool__(self) -> bool:
        return bool(self._words)

    @property
    def rest(self) -> list[str]:
        """What has not been taken yet."""
        return list(self._words)

    def peek(self) -> str | None:
        """The next word, left where it is."""
        return self._words[0] if self._words else None

    def take(self, *names: str) -> str | None:
        """The next word when it is one of `names` (or any, without names); else None."""
        if self._words and (not names or self._words[0] in names):
            return self._words.pop(0)
        return None

    def need(self, what: str, code: int = 255) -> str:
        """The next word, which has to be there."""
        if not self._words:
            raise Usage(what, code)
        return self._words.pop(0)
