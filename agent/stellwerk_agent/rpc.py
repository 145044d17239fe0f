"""JSON-RPC on the node: a registry of methods, and one connection per attached desktop.

Every call runs as a task of its own with a deadline, can report progress and can be cancelled. What goes out waits in
a bounded queue per connection, so that a desktop that does not read costs memory within limits and delays nobody else.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from stellwerk import wire
from stellwerk.model.errors import Cancelled, DeadlineExceeded, StellwerkError
from stellwerk.model.text import say

log = logging.getLogger("stellwerk.rpc")

MAX_CALLS = 64  # at once, per connection
MAX_WAITING_BYTES = 48 * 1024 * 1024  # answers that the desktop has not read; beyond it the connection ends
MAX_WAITING_NOTES_BYTES = 1024 * 1024  # beyond it progress and samples are left out; history fills such holes
LONGEST_DEADLINE_S = 24 * 3600.0

P = TypeVar("P")
Handler = Callable[["Call", Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Nothing:
    """Parameters of a method that has none."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method: what it takes, how long it may run unless the caller says so."""

    name: str
    params: type
    handler: Handler
    deadline_s: float


class Registry:
    """All methods by name."""

    def __init__(self) -> None:
        self._methods: dict[str, Method] = {}

    def add(
        self, name: str, params: type[P], handler: Callable[[Call, P], Awaitable[Any]], deadline_s: float = 30.0
    ) -> None:
        """Make `handler` answer calls of `name`; its parameters arrive as a `params` dataclass."""
        if name in self._methods:
            raise ValueError(f"the method {name} is there twice")
        self._methods[name] = Method(name, params, handler, deadline_s)

    def find(self, name: str) -> Method | None:
        """The method of that name, if there is one."""
        return self._methods.get(name)

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._methods)


@dataclass(slots=True)
class Call:
    """One running request, as its handler sees it."""

    request_id: int
    method: str
    connection: Connection
    when_answered: Callable[[], None] | None = None  # called once the answer waits to be sent

    def progress(self, data: Any) -> None:
        """Tell the desktop how far the call is. Left out when the desktop does not keep up."""
        self.connection.notify("progress", {"id": self.request_id, "data": wire.to_wire(data, texts=True)})


@dataclass(slots=True)
class Context:
    """What is known about the other side of a connection."""

    ssh_connection: str | None = None  # SSH_CONNECTION of the session that attached
    desktop: str | None = None
    on_close: list[Callable[[], None]] = field(default_factory=list)


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def refused_by_system(error: OSError) -> StellwerkError:
    """What the operating system refused, in words for a person."""
    full = error.errno in FULL
    said = say("its disk is full") if full else error.strerror or type(error).__name__
    return StellwerkError(
        "nothing can be written on this node" if full else "the node refused a part of this",
        why=say("{path}: {said}", path=error.filename, said=said) if error.filename else said,
        remedy="free some space on it and try again" if full else "see to what it names, then try again",
    )


class Connection:
    """One attached desktop: reads requests, runs them, writes answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, registry: Registry) -> None:
        self.context = Context()
        self._reader = reader
        self._writer = writer
        self._registry = registry
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._wake = asyncio.Event()
        self._closing = False

    async def run(self) -> None:
        """Serve until the desktop goes, `close` is called, or the desktop breaks the rules."""
        sender = asyncio.create_task(self._send_all())
        try:
            while not self._closing:
                line = await self._read_line()
                if line is None:
                    break
                if line.strip():
                    self._take(line)
        finally:
            self._closing = True
            for call in self._calls.values():
                call.cancel()
            if self._calls:
                await asyncio.wait(list(self._calls.values()))
            await asyncio.sleep(0)  # lets the calls' own callbacks put their last answers
            self._wake.set()
            # What was already answered gets a moment to leave; a desktop that reads no more must not hold us.
            await asyncio.wait([sender], timeout=2.0)
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)
            self._writer.close()
            for action in self.context.on_close:
                action()

    def close(self) -> None:
        """End the connection once what waits has been written."""
        self._closing = True
        self._wake.set()
        self._reader.feed_eof()

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification, unless too much waits already."""
        if self._waiting_bytes < MAX_WAITING_NOTES_BYTES:
            self._put(wire.notification(method, params))

    async def _read_line(self) -> bytes | None:
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError:
            return None  # the end; an unfinished line is no message
        except asyncio.LimitOverrunError as error:
            self._put(wire.failure(None, wire.PARSE_ERROR, f"a line is longer than {wire.MAX_LINE_BYTES} bytes"))
            return await self._skip_line(error.consumed)
        except ConnectionError:
            return None

    async def _skip_line(self, size: int) -> bytes | None:
        """Drop the rest of a line that is too long, without keeping it; an empty line, or None at the end."""
        while True:
            if not await self._reader.read(size):
                return None
            try:
                await self._reader.readuntil(b"\n")
                return b"\n"
            except asyncio.LimitOverrunError as error:
                size = error.consumed
            except (asyncio.IncompleteReadError, ConnectionError):
                return None

    def _take(self, line: bytes) -> None:
        try:
            message = wire.decode(line)
        except wire.WireError as error:
            self._put(wire.failure(None, wire.PARSE_ERROR, str(error)))
            return
        name, params, request_id = message.get("method"), message.get("params", {}), message.get("id")
        if not isinstance(name, str) or not isinstance(params, dict):
            known = request_id if isinstance(request_id, int) else None
            self._put(wire.failure(known, wire.INVALID_REQUEST, "a request needs a method and an object as params"))
        elif "id" not in message:
            self._take_notification(name, params)
        elif not isinstance(request_id, int) or isinstance(request_id, bool):
            self._put(wire.failure(None, wire.INVALID_REQUEST, "the id of a request is an integer"))
        elif request_id in self._calls:
            self._put(wire.failure(request_id, wire.INVALID_REQUEST, f"a call {request_id} is running already"))
        elif len(self._calls) >= MAX_CALLS:
            self._put(wire.failure(request_id, wire.INVALID_REQUEST, f"more than {MAX_CALLS} calls at once"))
        else:
            self._start(request_id, name, params)

    def _take_notification(self, name: str, params: dict[str, Any]) -> None:
        if name == "cancel":
            call = self._calls.get(params.get("id", -1))
            if call is not None:
                call.cancel()
        elif name == "attach.context":
            value = params.get("ssh_connection")
            self.context.ssh_connection = value if isinstance(value, str) else None
        # Other notifications are for a later protocol: JSON-RPC wants them ignored.

    def _start(self, request_id: int, name: str, params: dict[str, Any]) -> None:
        method = self._registry.find(name)
        if method is None:
            self._put(wire.failure(request_id, wire.METHOD_NOT_FOUND, f"the agent has no method {name}"))
            return
        wanted = params.pop("deadline_s", None)
        if wanted is not None and (isinstance(wanted, bool) or not isinstance(wanted, (int, float)) or wanted <= 0):
            self._put(wire.failure(request_id, wire.INVALID_PARAMS, "deadline_s is a number of seconds above 0"))
            return
        deadline_s = min(float(wanted), LONGEST_DEADLINE_S) if wanted is not None else method.deadline_s
        task = asyncio.create_task(self._answer(request_id, method, params, deadline_s), name=name)
        self._calls[request_id] = task
        task.add_done_callback(lambda done: self._ended(request_id, method, done))

    def _ended(self, request_id: int, method: Method, task: asyncio.Task[None]) -> None:
        del self._calls[request_id]
        if task.cancelled():  # before its first step, so that it could not answer itself
            self._put(wire.error_to_wire(request_id, Cancelled(say("{method} was cancelled", method=method.name))))

    async def _answer(self, request_id: int, method: Method, params: dict[str, Any], deadline_s: float) -> None:
        call = Call(request_id, method.name, self)
        try:
            value: Any = wire.from_wire(method.params, params)
            self._put(wire.result(request_id, await asyncio.wait_for(method.handler(call, value), deadline_s)))
            if call.when_answered is not None:
                call.when_answered()
        except wire.WireError as error:
            self._put(wire.failure(request_id, wire.INVALID_PARAMS, str(error)))
        except StellwerkError as error:
            self._put(wire.error_to_wire(request_id, error))
        except asyncio.TimeoutError:
            late = DeadlineExceeded(
                say("{method} did not end within {deadline_s} s", method=method.name, deadline_s=f"{deadline_s:g}")
            )
            self._put(wire.error_to_wire(request_id, late))
        except asyncio.CancelledError:
            # Nobody awaits this task's result: a cancelled call ends with an answer, not with an exception.
            self._put(wire.error_to_wire(request_id, Cancelled(say("{method} was cancelled", method=method.name))))
        except OSError as error:
            log.exception("%s failed", method.name)
            self._put(wire.error_to_wire(request_id, refused_by_system(error)))
        except Exception as error:
            log.exception("%s failed", method.name)
            text = f"{method.name} failed inside the agent: {type(error).__name__}"
            self._put(wire.failure(request_id, wire.INTERNAL_ERROR, text))

    def _put(self, message: Mapping[str, Any]) -> None:
        try:
            line = wire.encode(message)
        except wire.WireError as error:
            line = wire.encode(wire.failure(message.get("id"), wire.INTERNAL_ERROR, f"the answer is too long: {error}"))
        if self._waiting_bytes + len(line) > MAX_WAITING_BYTES:
            log.warning("a desktop does not read its answers: connection ended")
            self._writer.transport.abort()
            self.close()
            return
        self._waiting.append(line)
        self._waiting_bytes += len(line)
        self._wake.set()

    async def _send_all(self) -> None:
        try:
            while True:
                while self._waiting:
                    line = self._waiting.popleft()
                    self._writer.write(line)
                    await self._writer.drain()
                    self._waiting_bytes -= len(line)
                if self._closing and not self._calls:
                    return
                self._wake.clear()
                await self._wake.wait()
        except ConnectionError:
            self.close()  # the desktop went away while we wrote
