"""The desktop's half of the conversation with one agent: calls with deadlines, progress, cancel; notifications."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, overload

from stellwerk import wire
from stellwerk.model.errors import ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.text import say
from stellwerk.remote.failures import cleaned, lost

log = logging.getLogger("stellwerk.remote.rpc")

T = TypeVar("T")
_READ_BYTES = 256 * 1024
# The agent ends a call at the deadline itself and says so; only when not even that arrives is it ended here.
_GRACE_S = 2.0


class Pipe(Protocol):
    """Both directions of a byte stream to an agent."""

    async def read(self, size: int) -> bytes:
        """At least one byte, or none at the end."""
        ...

    def write(self, data: bytes) -> None:
        """Queue bytes."""
        ...

    async def drain(self) -> None:
        """Wait until the queue is short."""
        ...


class Inbox:
    """Notifications that wait for a reader: when it is slow the oldest are dropped, and counted."""

    def __init__(self, limit: int) -> None:
        self._queue: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue(limit)
        self.dropped = 0

    def put(self, item: dict[str, Any] | None) -> None:
        """Add one; `None` means that nothing more comes."""
        while self._queue.full():
            self._queue.get_nowait()
            self.dropped += 1
        self._queue.put_nowait(item)

    async def get(self) -> dict[str, Any] | None:
        """The next one, or `None` at the end."""
        return await self._queue.get()


@dataclass(slots=True)
class _Pending:
    answer: asyncio.Future[Any]
    on_progress: Callable[[Any], None] | None


class RpcClient:
    """One attached agent. `run` reads until the connection ends; every other method may be called meanwhile."""

    def __init__(self, pipe: Pipe, node: str) -> None:
        self._pipe = pipe
        self._node = node
        self._ids = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._inboxes: dict[str, set[Inbox]] = {}
        self._ended: ConnectionFailed | None = None

    async def run(self, already_read: bytes = b"") -> ConnectionFailed:
        """Read until the end and give the reason; pending calls have failed with it then."""
        try:
            self._ended = await self._read_all(already_read)
        except (OSError, EOFError, wire.WireError) as error:
            self._ended = lost(self._node, cleaned(str(error)))
        except asyncio.CancelledError:
            self._ended = ConnectionFailed("the connection was closed", node=self._node)
            raise
        finally:
            self._fail_all(self._ended or lost(self._node))
        return self._ended

    async def _read_all(self, buffered: bytes) -> ConnectionFailed:
        buffer = bytearray(buffered)
        while True:
            start = 0
            while (end := buffer.find(b"\n", start)) >= 0:
                self._take(bytes(buffer[start:end]))
                start = end + 1
            del buffer[:start]
            if len(buffer) > wire.MAX_LINE_BYTES:
                raise wire.WireError(f"the agent sent a line of more than {wire.MAX_LINE_BYTES} bytes")
            block = await self._pipe.read(_READ_BYTES)
            if not block:
                return lost(self._node)
            buffer += block

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        message = wire.decode(line)
        request_id = message.get("id")
        if isinstance(request_id, int):
            self._take_answer(request_id, message)
        elif isinstance(message.get("method"), str):
            params = message.get("params")
            self._take_notification(message["method"], params if isinstance(params, dict) else {})
        elif "error" in message:
            log.warning(
                "%s: the agent could not read a message of ours: %s", self._node, cleaned(str(message["error"]))
            )

    def _take_answer(self, request_id: int, message: dict[str, Any]) -> None:
        pending = self._pending.pop(request_id, None)
        if pending is None or pending.answer.done():
            return  # cancelled or out of time here; the answer comes too late
        error = message.get("error")
        if isinstance(error, dict):
            pending.answer.set_exception(self._named(wire.error_from_wire(error)))
        else:
            pending.answer.set_result(message.get("result"))

    def _named(self, error: StellwerkError) -> StellwerkError:
        error.node = error.node or self._node
        return error

    def _take_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "progress":
            pending = self._pending.get(params.get("id", -1))
            if pending is not None and pending.on_progress is not None:
                # Not called from here: an error in it is the caller's, and must not end the conversation.
                asyncio.get_running_loop().call_soon(pending.on_progress, params.get("data"))
            return
        for inbox in self._inboxes.get(method, ()):
            inbox.put(params)

    def _fail_all(self, reason: ConnectionFailed) -> None:
        pending, self._pending = self._pending, {}
        for call in pending.values():
            if not call.answer.done():
                call.answer.set_exception(_again(reason))
        for inboxes in self._inboxes.values():
            for inbox in inboxes:
                inbox.put(None)

    @overload
    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: None = None,
        *,
        deadline_s: float,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any: ...
    @overload
    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        cls: type[T],
        deadline_s: float,
        on_progress: Callable[[Any], None] | None = None,
    ) -> T: ...
    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: type[T] | None = None,
        *,
        deadline_s: float,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        """Call `method` and give its result, as a `cls` when one is named.

        Cancelling the awaiting task, or the deadline, cancels the call on the node too. Raises the error that the
        agent named, `DeadlineExceeded`, `ConnectionFailed` when the connection ends, `StellwerkError` for an answer
        that is not a `cls`.
        """
        if self._ended is not None:
            raise _again(self._ended)
        request_id = next(self._ids)
        pending = _Pending(asyncio.get_running_loop().create_future(), on_progress)
        self._pending[request_id] = pending
        arguments = {**wire.to_wire(params or {}), "deadline_s": deadline_s}
        try:
            self._write(wire.request(request_id, method, arguments))
            async with asyncio.timeout(deadline_s + _GRACE_S):
                await self._pipe.drain()
                value = await pending.answer
        except TimeoutError:
            raise DeadlineExceeded(
                say("{method} did not answer within {deadline_s} s", method=method, deadline_s=f"{deadline_s:g}"),
                node=self._node,
                remedy="The machine may be overloaded; try again",
            ) from None
        except OSError as error:
            raise lost(self._node, cleaned(str(error))) from None
        finally:
            if self._pending.pop(request_id, None) is not None:
                self._cancel(request_id)
            if pending.answer.done() and not pending.answer.cancelled():
                pending.answer.exception()  # read, whether or not somebody still waits for it
        return value if cls is None else self._built(cls, value, method)

    def _built(self, cls: type[T], value: Any, method: str) -> T:
        try:
            return wire.from_wire(cls, value)
        except wire.WireError as error:
            raise StellwerkError(
                say("the agent's answer to {method} has another form than agreed", method=method),
                node=self._node,
                why=cleaned(str(error)),
                remedy="Connect again: the agent is then replaced by the one of this release",
            ) from None

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send something that needs no answer."""
        if self._ended is None:
            self._write(wire.notification(method, params))

    def open_inbox(self, method: str, limit: int) -> Inbox:
        """Collect the notifications of `method`, at most `limit` at a time."""
        inbox = Inbox(limit)
        self._inboxes.setdefault(method, set()).add(inbox)
        if self._ended is not None:
            inbox.put(None)
        return inbox

    def close_inbox(self, method: str, inbox: Inbox) -> None:
        """Collect no more."""
        self._inboxes.get(method, set()).discard(inbox)

    def _cancel(self, request_id: int) -> None:
        try:
            self.notify("cancel", {"id": request_id})
        except OSError:
            log.debug("%s: the connection ended before a call could be cancelled", self._node)

    def _write(self, message: Mapping[str, Any]) -> None:
        self._pipe.write(wire.encode(message))


def _again(reason: ConnectionFailed) -> ConnectionFailed:
    """A copy: one exception object raised in several tasks would collect all their tracebacks."""
    return ConnectionFailed(reason.what, node=reason.node, why=reason.why, remedy=reason.remedy)
