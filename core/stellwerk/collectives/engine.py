"""What executes schedules: the interface, and the engines of the native library."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from stellwerk.collectives import native_library as native
from stellwerk.collectives.algorithms import build
from stellwerk.collectives.kinds import Algorithm, DataType, Operation, ReduceOp, Transport
from stellwerk.collectives.roce import PORT, Routes
from stellwerk.collectives.writing import Call

DONE = native.OK
AGAIN = native.AGAIN
CLOSED = native.CLOSED
MISMATCH = native.MISMATCH
ABORTED = native.ABORTED
SLICE_NS = 50_000_000  # how long a call may stay in the library before Python looks for signals and deadlines


@dataclass(frozen=True, slots=True)
class Link:
    """An emulated link: messages are held back by `delay_us` plus their time on a wire of `gbps` (0: unlimited)."""

    delay_us: float = 0.0
    gbps: float = 0.0

    def __post_init__(self) -> None:
        if self.delay_us < 0 or self.gbps < 0:
            raise ValueError("an emulated link needs a delay and a rate that are not negative")

    @property
    def real(self) -> bool:
        """True if nothing is emulated."""
        return not self.delay_us and not self.gbps

    def to_native(self) -> native.CLink:
        """The library's form."""
        return native.CLink(int(self.delay_us * 1000), int(self.gbps * 1e9 / 8))


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the engine gave up. `peer` is -1 if no rank in particular is to blame."""

    status: int
    peer: int
    text: str


@dataclass(frozen=True, slots=True)
class EngineHealth:
    """Counters that any thread may read while a call is under way."""

    calls: int
    done: int
    messages_sent: int
    bytes_sent: int
    blocked: int
    waiting_on: int


class Engine(Protocol):
    """Executes calls, one at a time. `abort` and `health` may be called from any thread."""

    transport: Transport

    def prepare(self, call: Call, op: ReduceOp) -> Any:
        """Make a plan for a kind of call; it can be executed any number of times."""

    def execute(self, plan: Any, source: int, target: int) -> int:
        """Begin a call with input and output at these addresses; returns a status (DONE, AGAIN, or an error)."""

    def bind(self, plan: Any, source: int, target: int) -> Callable[[], int]:
        """`execute` with these arguments, as cheap as it gets."""

    def resume(self) -> int:
        """Go on with a call that returned AGAIN."""

    def failure(self) -> Failure:
        """Why the last call failed."""

    def health(self) -> EngineHealth:
        """Counters."""

    def abort(self) -> None:
        """Make the call under way, and all later ones, return ABORTED soon."""

    def close(self) -> None:
        """Give everything back."""


def describe_call(op: int, algorithm: int, count: int, dtype: int, redop: int, root: int, seq: int) -> str:
    """A call in words, for an error."""
    name = Operation(op).name.lower() if op in set(Operation) else f"operation {op}"
    kind = DataType(dtype).name.lower() if dtype in set(DataType) else f"type {dtype}"
    words = [f"{name} #{seq} of {count} {kind}"]
    if name in ("all_reduce", "reduce", "reduce_scatter") and redop in set(ReduceOp):
        words.append(ReduceOp(redop).name.lower())
    if name in ("broadcast", "reduce", "gather", "scatter"):
        words.append(f"root {root}")
    if algorithm in set(Algorithm):
        words.append(Algorithm(algorithm).name.lower())
    return ", ".join(words)


def _words(call: native.CCall) -> str:
    return describe_call(call.op, call.algorithm, call.count, call.dtype, call.redop, call.root, call.seq)


class NativeEngine:
    """A communicator of the native library. Subclasses say how it is opened and what it keeps."""

    transport = Transport.TCP

    def __init__(self, rank: int, pointer: int | None) -> None:
        if not pointer:
            raise MemoryError("the native library has no memory for a communicator")
        self._library = native.load()
        self._rank = rank
        self._pointer = pointer
        self._guard = threading.Lock()  # abort and health come from other threads, also while close runs
        self._execute = self._library.sw_execute
        self._closed = False

    def prepare(self, call: Call, op: ReduceOp) -> native.NativePlan:
        """See Engine."""
        count = 0 if call.sends else call.count  # an uneven all_to_all: every rank has its own count
        return native.native_plan(
            build(call),
            count=count,
            op=int(call.operation),
            algorithm=int(call.algorithm),
            dtype=call.dtype,
            redop=int(op),
            root=call.root,
            ranks=call.ranks,
        )

    def execute(self, plan: native.NativePlan, source: int, target: int) -> int:
        """See Engine."""
        status: int = self._execute(self._pointer, plan.address, source, target, SLICE_NS)
        return status

    def bind(self, plan: native.NativePlan, source: int, target: int) -> Callable[[], int]:
        """See Engine. The arguments are converted once: that alone saves half a microsecond per call."""
        addresses = [ctypes.c_void_p(a) for a in (self._pointer, plan.address, source, target)]
        return partial(self._execute, *addresses, ctypes.c_uint64(SLICE_NS))

    def resume(self) -> int:
        """See Engine."""
        return int(self._library.sw_resume(self._pointer, SLICE_NS))

    def set_waiting(self, pauses: int, spins: int) -> None:
        """How long to look for a message before sleeping; see `sw_set_waiting`."""
        self._library.sw_set_waiting(self._pointer, pauses, spins)

    def failure(self) -> Failure:
        """See Engine."""
        failure = native.CFailure()
        self._library.sw_failure(self._pointer, ctypes.byref(failure))
        if failure.status == MISMATCH:
            text = f"rank {failure.peer} is in {_words(failure.got)}, rank {self._rank} in {_words(failure.expected)}"
            if failure.got_bytes != failure.expected_bytes:
                text += f" (a message of {failure.got_bytes} bytes instead of {failure.expected_bytes})"
        else:
            text = failure.text.decode(errors="replace")
        return Failure(failure.status, failure.peer, text)

    def health(self) -> EngineHealth:
        """See Engine."""
        health = native.CHealth()
        with self._guard:
            if self._closed:
                return EngineHealth(0, 0, 0, 0, 0, -1)
            self._library.sw_health(self._pointer, ctypes.byref(health))
        return EngineHealth(health.calls, health.done, health.messages, health.bytes, health.blocked, health.waiting_on)

    def abort(self) -> None:
        """See Engine."""
        with self._guard:
            if not self._closed:
                self._library.sw_abort(self._pointer)

    def close(self) -> None:
        """See Engine."""
        with self._guard:
            if not self._closed:
                self._closed = True
                self._library.sw_close(self._pointer)


class TcpEngine(NativeEngine):
    """Over connected sockets, which it takes over."""

    transport = Transport.TCP

    def __init__(self, rank: int, ranks: int, sockets: Mapping[int, Any], link: Link) -> None:
        for sock in sockets.values():
            sock.setblocking(False)
        fds = [sockets[p].fileno() if p in sockets else -1 for p in range(ranks)]
        super().__init__(rank, native.load().sw_open_tcp(rank, ranks, native.tcp_config(fds, link.to_native())))
        self._sockets = dict(sockets)

    def close(self) -> None:
        """See Engine."""
        super().close()
        for sock in self._sockets.values():
            with contextlib.suppress(OSError):
                sock.close()


class VerbsEngine(NativeEngine):
    """Over RoCE queue pairs. It is opened, the addresses are exchanged among the ranks, then it is joined."""

    transport = Transport.VERBS

    def __init__(self, rank: int, routes: Routes, slot_bytes: int, library: str) -> None:
        self._ranks, self._rails = len(routes.by_peer), routes.rails
        ports = (native.CVerbsPort * len(routes.ports))()
        for place, rail in zip(ports, routes.ports, strict=True):
            place.device, place.number, place.gid_index = rail.device.encode(), PORT, rail.gid_index
        nowhere = (native.NO_PORT,) * routes.rails
        ways = bytes(way for peer in routes.by_peer for way in peer or nowhere)
        why = ctypes.create_string_buffer(200)
        pointer = native.load().sw_open_verbs(
            rank, self._ranks, ports, len(ports), ways, self._rails, slot_bytes, library.encode() or None, why
        )
        if not pointer:
            raise OSError(why.value.decode(errors="replace"))
        super().__init__(rank, pointer)

    def addresses(self) -> list[str]:
        """What each peer must know to join, one text per rank."""
        every = (native.CVerbsAddress * (self._ranks * self._rails))()
        self._library.sw_verbs_addresses(self._pointer, every)
        size = ctypes.sizeof(native.CVerbsAddress) * self._rails
        raw = bytes(every)
        return [raw[peer * size : (peer + 1) * size].hex() for peer in range(self._ranks)]

    def join(self, from_peers: Sequence[str]) -> None:
        """Connect to all peers with what each has said to this rank. OSError if one cannot be reached."""
        raw = b"".join(bytes.fromhex(text) for text in from_peers)
        every = (native.CVerbsAddress * (self._ranks * self._rails)).from_buffer_copy(raw)
        if self._library.sw_verbs_join(self._pointer, every) != DONE:
            raise OSError(self.failure().text)


NONCE_BYTES = 32


def shm_segment(ranks: int, ring_bytes: int, nonce: bytes) -> int:
    """Make the memory that all ranks of a machine share; returns its file descriptor.

    It has no name in any file system: it is gone when the last process lets go of it, however that process ends.
    """
    size = int(native.load().sw_shm_bytes(ranks, ring_bytes))
    fd = os.memfd_create("stellwerk-collectives", os.MFD_CLOEXEC)
    try:
        os.ftruncate(fd, size + NONCE_BYTES)
        os.pwrite(fd, nonce, size)
    except OSError:
        os.close(fd)
        raise
    return fd


class ShmEngine(NativeEngine):
    """Over the shared memory behind a file descriptor, which stays the caller's."""

    transport = Transport.SHM

    def __init__(self, rank: int, ranks: int, fd: int, ring_bytes: int, nonce: bytes, link: Link) -> None:
        size = int(native.load().sw_shm_bytes(ranks, ring_bytes))
        self._memory = mmap.mmap(fd, size + NONCE_BYTES)
        if self._memory[size:] != nonce:
            self._memory.close()
            raise OSError("the shared memory is not the one that rank 0 made")
        self._anchor: Any = ctypes.c_char.from_buffer(self._memory)
        config = native.CShmConfig(ctypes.addressof(self._anchor), ring_bytes, link.to_native())
        super().__init__(rank, native.load().sw_open_shm(rank, ranks, ctypes.byref(config)))

    def close(self) -> None:
        """See Engine."""
        super().close()
        self._anchor = None
        self._memory.close()
