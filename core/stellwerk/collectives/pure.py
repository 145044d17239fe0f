"""The engine without the native library: the same schedules, executed in Python over the same sockets.

Slow, but it works wherever Python does.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from stellwerk.collectives.algorithms import build
from stellwerk.collectives.buffers import view_of
from stellwerk.collectives.engine import (
    ABORTED,
    AGAIN,
    CLOSED,
    DONE,
    MISMATCH,
    SLICE_NS,
    EngineHealth,
    Failure,
    Link,
    describe_call,
)
from stellwerk.collectives.interpreter import Interpreter
from stellwerk.collectives.kinds import Operation, ReduceOp, Transport
from stellwerk.collectives.schedule import Schedule
from stellwerk.collectives.writing import Call

IO_ERROR = -4
MAGIC = 0x53545731
# magic, sender, bytes, time of sending, then the call: count, seq, op, algorithm, dtype, redop, root
HEADER = struct.Struct("<IIQQ QIHHBBH")
SPINS = 50  # looks before sleeping; a look costs some 5 µs here


@dataclass(frozen=True, slots=True)
class PurePlan:
    """A schedule and what it is about."""

    schedule: Schedule
    call: Call
    op: ReduceOp


class _Broken(Exception):
    """Ends a call; carries the failure to report."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class _Connection:
    """One pair: messages under way in both directions."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.outgoing: deque[memoryview] = deque()
        self.expected: deque[memoryview] = deque()
        self.complete: deque[tuple[memoryview, int]] = deque()  # the message, and when it may be seen
        self.header = memoryview(bytearray(HEADER.size))
        self.have = 0


class PythonEngine:
    """Implements Engine, and the interpreter's Carrier over its sockets."""

    transport = Transport.PYTHON

    def __init__(self, rank: int, ranks: int, sockets: Mapping[int, socket.socket], link: Link) -> None:
        self._rank, self._ranks, self._link = rank, ranks, link
        self._connections = {peer: _Connection(sock) for peer, sock in sockets.items()}
        for sock in sockets.values():
            sock.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._busy_until_ns = 0
        self._run: Interpreter | None = None
        self._call = b""
        self._words = ""
        self._seq = 0
        self._failure = Failure(DONE, -1, "")
        self._aborted = threading.Event()
        self._done = self._messages = self._bytes = self._blocked = 0

    # ---- Engine ----------------------------------------------------------------------------------------------------

    def prepare(self, call: Call, op: ReduceOp) -> PurePlan:
        """See Engine."""
        return PurePlan(build(call), call, op)

    def execute(self, plan: PurePlan, source: int, target: int) -> int:
        """See Engine."""
        if self._failure.status != DONE:
            return self._failure.status
        call, op = plan.call, plan.op
        self._seq += 1
        count = 0 if call.sends else call.count
        parts = (count, self._seq, int(call.operation), int(call.algorithm), int(call.dtype), int(op), call.root)
        self._call = struct.pack("<QIHHBBH", *parts)
        inputs, outputs = _sizes(call)
        self._run = Interpreter(
            plan.schedule, self, view_of(source, inputs), view_of(target, outputs), call.dtype, op, self._ranks
        )
        return self.resume()

    def bind(self, plan: PurePlan, source: int, target: int) -> Callable[[], int]:
        """See Engine."""
        return partial(self.execute, plan, source, target)

    def resume(self) -> int:
        """See Engine."""
        if self._failure.status != DONE:
            return self._failure.status
        assert self._run is not None
        deadline = time.monotonic_ns() + SLICE_NS
        spins = 0
        try:
            while True:
                if self._aborted.is_set():
                    raise _Broken(Failure(ABORTED, -1, "aborted"))
                if self._run.advance():
                    self._done += 1
                    self._run = None
                    return DONE
                self._move()
                spins += 1
                if spins > SPINS:
                    now = time.monotonic_ns()
                    if now >= deadline:
                        return AGAIN
                    self._sleep(deadline - now)
        except _Broken as broken:
            self._failure = broken.failure
            return self._failure.status

    def failure(self) -> Failure:
        """See Engine."""
        return self._failure

    def health(self) -> EngineHealth:
        """See Engine."""
        run = self._run
        waiting_on = run.waiting_on if run is not None else -1
        return EngineHealth(self._seq, self._done, self._messages, self._bytes, self._blocked, waiting_on)

    def abort(self) -> None:
        """See Engine."""
        self._aborted.set()

    def close(self) -> None:
        """See Engine."""
        self._aborted.set()
        self._selector.close()
        for connection in self._connections.values():
            with contextlib.suppress(OSError):
                connection.sock.close()

    # ---- Carrier ---------------------------------------------------------------------------------------------------

    def send(self, peer: int, data: memoryview) -> None:
        """See Carrier."""
        now = 0 if self._link.real else time.monotonic_ns()
        header = struct.pack("<IIQQ", MAGIC, self._rank, len(data), now) + self._call
        connection = self._connections[peer]
        connection.outgoing.append(memoryview(header))
        if len(data):
            connection.outgoing.append(data)
        self._messages += 1
        self._bytes += len(data)
        self._push(peer, connection)

    def expect(self, peer: int, place: memoryview) -> None:
        """See Carrier."""
        self._connections[peer].expected.append(place)

    def arrived(self, peer: int) -> memoryview | None:
        """See Carrier."""
        connection = self._connections[peer]
        if not connection.complete:
            self._pull(peer, connection)
        if not connection.complete:
            return None
        message, ready_ns = connection.complete[0]
        return message if ready_ns == 0 or time.monotonic_ns() >= ready_ns else None

    def release(self, peer: int) -> None:
        """See Carrier."""
        self._connections[peer].complete.popleft()

    def flushed(self) -> bool:
        """See Carrier."""
        return not any(connection.outgoing for connection in self._connections.values())

    # ---- sockets ---------------------------------------------------------------------------------------------------

    def _move(self) -> None:
        for peer, connection in self._connections.items():
            if connection.outgoing:
                self._push(peer, connection)
            if connection.expected:
                self._pull(peer, connection)

    def _push(self, peer: int, connection: _Connection) -> None:
        queue = connection.outgoing
        while queue:
            try:
                sent = connection.sock.sendmsg(list(queue)[:16])
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                raise _lost(peer, error) from error
            while queue and sent >= len(queue[0]):
                sent -= len(queue.popleft())
            if queue and sent:
                queue[0] = queue[0][sent:]

    def _pull(self, peer: int, connection: _Connection) -> None:
        while connection.expected:
            place = connection.expected[0]
            of_body = max(0, connection.have - HEADER.size)
            parts = [connection.header[connection.have :]] if connection.have < HEADER.size else []
            if len(place) > of_body:
                parts.append(place[of_body:])
            try:
                got = connection.sock.recvmsg_into(parts)[0]
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                raise _lost(peer, error) from error
            if not got:
                raise _lost(peer, None)
            had_header = connection.have >= HEADER.size
            connection.have += got
            if not had_header and connection.have >= HEADER.size:
                self._check(peer, connection.header, len(place))
            if connection.have == HEADER.size + len(place):
                connection.expected.popleft()
                connection.complete.append((place, self._ready_ns(connection.header)))
                connection.have = 0

    def _check(self, peer: int, header: memoryview, expected: int) -> None:
        magic, sender, size, _, *theirs = HEADER.unpack(header)
        if magic != MAGIC or sender != peer:
            text = f"the bytes from rank {peer} are not a message of this protocol"
            raise _Broken(Failure(IO_ERROR, peer, text))
        ours = struct.unpack("<QIHHBBH", self._call)
        if tuple(theirs) == ours and size == expected:
            return
        text = f"rank {peer} is in {_words(tuple(theirs))}, rank {self._rank} in {_words(ours)}"
        if size != expected:
            text += f" (a message of {size} bytes instead of {expected})"
        raise _Broken(Failure(MISMATCH, peer, text))

    def _ready_ns(self, header: memoryview) -> int:
        if self._link.real:
            return 0
        _, _, size, sent_ns, *_ = HEADER.unpack(header)
        wire_ns = int(size * 8 / self._link.gbps) if self._link.gbps else 0
        start = max(int(sent_ns + self._link.delay_us * 1000), self._busy_until_ns)
        self._busy_until_ns = start + wire_ns
        return self._busy_until_ns

    def _sleep(self, max_ns: int) -> None:
        """Until a socket can move, or a held-back message is due."""
        now = 0 if self._link.real else time.monotonic_ns()
        used = []
        for connection in self._connections.values():
            events = selectors.EVENT_READ if connection.expected else 0
            events |= selectors.EVENT_WRITE if connection.outgoing else 0
            if events:
                used.append(connection.sock)
                self._selector.register(connection.sock, events)
            if now and connection.complete and connection.complete[0][1] > now:
                max_ns = min(max_ns, connection.complete[0][1] - now)
        self._blocked += 1
        self._selector.select(max_ns / 1e9)
        for sock in used:
            self._selector.unregister(sock)


def _words(call: tuple[Any, ...]) -> str:
    count, seq, op, algorithm, dtype, redop, root = call
    return describe_call(op, algorithm, count, dtype, redop, root, seq)


def _lost(peer: int, error: OSError | None) -> _Broken:
    text = "closed its connection" if error is None else f"connection lost: {error.strerror or error}"
    return _Broken(Failure(CLOSED, peer, text))


def _sizes(call: Call) -> tuple[int, int]:
    """Bytes of the input and of the output of a call on this rank."""
    part, whole = call.count * call.dtype.bytes, call.count * call.dtype.bytes * call.ranks
    at_root = call.rank == call.root
    operation = call.operation
    if call.sends:
        return sum(call.sends) * call.dtype.bytes, sum(call.receives) * call.dtype.bytes
    if operation in (Operation.ALL_GATHER, Operation.GATHER):
        return part, whole if at_root or operation is Operation.ALL_GATHER else 0
    if operation is Operation.REDUCE_SCATTER:
        return whole, part
    if operation is Operation.SCATTER:
        return (whole if at_root else 0), part
    if operation is Operation.ALL_TO_ALL:
        return whole, whole
    return part, part
