"""One run of a command on a simulated node: what it was asked, how it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stellwerk.virtual.machine import Machine

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster

MAX_MESSAGE = 4 * 1024 * 1024


class BadMessage(ValueError):
    """Something on the node's socket that no command of ours sends."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a command says of itself when it starts."""

    name: str
    cwd: str
    argv: tuple[str, ...]
    env: dict[str, str]


def pack(texts: Sequence[str]) -> bytes:
    """A message as `onnode/shim.py` reads it: its length, then every text with its own."""
    fields = [text.encode("utf-8", "surrogateescape") for text in texts]
    body = b"".join(len(field).to_bytes(4, "big") + field for field in fields)
    return len(body).to_bytes(4, "big") + body


async def receive(reader: asyncio.StreamReader) -> list[str]:
    """The next message; empty when the other end has gone. Raises `BadMessage`."""
    try:
        size = int.from_bytes(await reader.readexactly(4), "big")
        if size > MAX_MESSAGE:
            raise BadMessage(f"a message of {size} bytes")
        body = await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        return []
    texts, at = [], 0
    while at < len(body):
        length = int.from_bytes(body[at : at + 4], "big")
        if at + 4 + length > len(body):
            raise BadMessage("a text longer than its message")
        texts.append(body[at + 4 : at + 4 + length].decode("utf-8", "surrogateescape"))
        at += 4 + length
    return texts


def parse_request(texts: Sequence[str]) -> Request:
    """The first message of a command. Raises `BadMessage`."""
    try:
        name, cwd, count = texts[0], texts[1], int(texts[2])
        words, env = texts[3 : 3 + count], texts[3 + count :]
        if count < 0 or len(words) != count:
            raise BadMessage("fewer arguments than announced")
        return Request(name, cwd, tuple(words), dict(pair.split("=", 1) for pair in env))
    except (IndexError, ValueError) as error:
        raise BadMessage(str(error)) from None


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
        request: Request,
        *,
        pid: int,
        root: bool,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        self.cluster = cluster
        self.machine = machine
        self.name = request.name
        self.argv = list(request.argv)
        self.cwd = Path(request.cwd)
        self.env = request.env
        self.pid = pid
        self.root = root
        self._reader = reader
        self._writer = writer
        self.replaced = False

    def _send(self, *texts: str) -> None:
        self._writer.write(pack(texts))

    def out(self, text: str) -> None:
        """Print on stdout, as it is."""
        if text:
            self._send("out", text)

    def line(self, text: str = "") -> None:
        """Print one line on stdout."""
        self._send("out", text + "\n")

    def err(self, text: str) -> None:
        """Print one line on stderr."""
        self._send("err", text + "\n")

    def prompt(self, text: str) -> None:
        """Print on stderr, as it is."""
        self._send("err", text)

    def json(self, value: Any) -> None:
        """Print JSON as iproute2 does: compact, one line."""
        self.line(json.dumps(value, separators=(",", ":")))

    def exit(self, code: int) -> None:
        """Tell the exit code: the last thing that is said."""
        self._send("exit", str(code))

    async def drain(self) -> None:
        """Wait until what was printed has left."""
        await self._writer.drain()

    async def ask(self, kind: str, *, program: str = "", prompt: str = "") -> tuple[str | None, str]:
        """A line from askpass, stdin or the terminal, and why there is none."""
        self._send("ask", kind, program, prompt)
        answer = await receive(self._reader)
        if not answer:
            return None, "the command was ended"
        return (answer[1], "") if answer[0] == "line" else (None, answer[1])

    def become(self, path: Path, argv: Sequence[str], env: Mapping[str, str], *, root: bool = False) -> None:
        """Replace the command by another program, as sudo does."""
        init = self.machine.init
        mark = init.mark if root and init is not None else 0
        pairs = [f"{name}={value}" for name, value in env.items()]
        self._send("exec", str(path), str(mark), str(len(argv)), *argv, *pairs)
        self.replaced = True

    def connect(self, host: str, port: int) -> None:
        """Replace the command by a TCP connection between its stdin and stdout and that address."""
        self._send("connect", host, str(port))
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
