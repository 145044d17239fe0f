"""The communicator: collectives among ranks that were tested before it was handed out, and that fail together.

    with Communicator.connect(rank, world_size, "tcp://10.0.0.1:29500", token=token) as comm:
        comm.all_reduce(gradients, op="avg")

Arrays are numpy arrays, torch CPU tensors, or anything with the buffer protocol; they must be contiguous. Every
operation exists in a blocking form and, with `async_op=True`, returns a `Work` to wait for. Calls of one communicator
are executed in the order in which they are made; all ranks must make the same calls in the same order.
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from stellwerk.collectives.buffers import Buffer, buffer_of
from stellwerk.collectives.calls import Calls
from stellwerk.collectives.connecting import Connected, Connector
from stellwerk.collectives.control import Control
from stellwerk.collectives.dispatch import Dispatch
from stellwerk.collectives.engine import Engine
from stellwerk.collectives.errors import Aborted, CollectiveError, SetupFailed
from stellwerk.collectives.kinds import Algorithm, DataType, Operation, ReduceOp, Transport
from stellwerk.collectives.options import Options
from stellwerk.collectives.pairwise import Lane, open_lanes
from stellwerk.collectives.rendezvous import (
    PeerExchange,
    Rendezvous,
    StoreRendezvous,
    TcpRendezvous,
    fresh_token,
    own_address,
    parse_address,
    token_without_one,
)
from stellwerk.collectives.report import Health, Report
from stellwerk.collectives.work import Work


class Communicator:
    """See the module. Made by `connect`; use it as a context manager or call `close`."""

    def __init__(self, connected: Connected, rank: int, options: Options, timeout_s: float, token: bytes) -> None:
        self.rank = rank
        self.world_size = len(connected.infos)
        self.report: Report = connected.report
        self.dispatch: Dispatch = connected.dispatch
        self.timeout_s = timeout_s
        self._options, self._token = options, token
        self._engine: Engine = connected.engine
        self._control: Control = connected.control
        self._lanes: dict[int, Lane] = open_lanes(rank, connected.lanes, connected.control, timeout_s)
        self._calls = Calls(rank, connected, timeout_s)
        self._subgroups: dict[tuple[int, ...], int] = {}
        engine = self._engine
        self._control.watch_fatal(lambda _: engine.abort())
        # A process that ends without close() still says goodbye, so that nobody takes it for a crash.
        self._finalizer = weakref.finalize(self, _shut_down, self._control, self._engine, list(self._lanes.values()))
        _OPEN.add(self)

    # ---- life ----------------------------------------------------------------------------

    @classmethod
    def connect(
        cls,
        rank: int,
        world_size: int,
        rendezvous: Any,
        *,
        token: bytes | str | None = None,
        listener: Any = None,
        options: Options | None = None,
        **more: Any,
    ) -> Communicator:
        """Meet the other ranks, test, and return a communicator.

        `rendezvous` is `tcp://host:port` (rank 0 listens there) or a torch `Store`. `token` is a secret that all ranks
        share; without one, ranks on the loopback address use a file that only this user can read, and ranks that meet
        in a store get one through it. Further keywords are the fields of `Options`: transport, timeout_s,
        setup_timeout_s, address, addresses, topology, link, tuning, self_test, dial, name.

        SetupFailed says which rank, which pair or which setting is at fault; it is raised on every rank.
        """
        if not 0 <= rank < world_size <= 32:
            raise ValueError(f"rank {rank} of {world_size}: ranks count from 0, and there are at most 32")
        options = options or Options(**more)
        deadline = time.monotonic() + options.setup_timeout_s
        secret = token.encode() if isinstance(token, str) else token
        meeting: Rendezvous
        if isinstance(rendezvous, str):
            address = parse_address(rendezvous)
            secret = secret or token_without_one(address[0])
            meeting = TcpRendezvous(rank, world_size, address, secret, deadline, listener)
            own = meeting.local_address
        else:
            meeting = StoreRendezvous(rendezvous, rank, world_size, f"stellwerk/{options.name}")
            own = own_address()
        try:
            if secret is None:
                secret = str(meeting.exchange(fresh_token(), deadline)[0]).encode()
            return cls._meet(meeting, rank, world_size, secret, _with_address(options, own))
        finally:
            meeting.close()

    @classmethod
    def _meet(cls, meeting: Rendezvous, rank: int, ranks: int, token: bytes, options: Options) -> Communicator:
        connector = Connector(rank, ranks, meeting, token, options)
        connected = connector.run()
        return cls(connected, rank, options, connector.timeout_s, token)

    def subgroup(self, ranks: Sequence[int]) -> Communicator | None:
        """A communicator of some of the ranks, in this order. All of them must call this; others get None."""
        members = list(ranks)
        if len(set(members)) != len(members) or not all(0 <= r < self.world_size for r in members) or not members:
            raise ValueError(f"a sub-group needs different ranks below {self.world_size}, not {members}")
        if self.rank not in members:
            return None
        self._calls.check_open()
        number = self._subgroups.get(tuple(members), 0)
        self._subgroups[tuple(members)] = number + 1
        group = f"{self._options.name}/{','.join(map(str, members))}#{number}"
        control = self._control

        def give(round_: int, value: Any) -> None:
            control.give(group, round_, members, value)

        def take(member: int, round_: int, deadline: float) -> Any:
            try:
                return control.take(group, round_, members[member], deadline)
            except TimeoutError as error:
                raise SetupFailed(f"rank {members[member]} did not join the sub-group {members} in time") from error

        meeting = PeerExchange(members.index(self.rank), len(members), give, take)
        addresses = {members.index(p): a for p, a in self._options.addresses.items() if p in members}
        options = replace(self._options, addresses=addresses, name=group)
        return type(self)._meet(meeting, members.index(self.rank), len(members), self._token, options)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and not isinstance(error, CollectiveError) and not self._calls.closed:
            self.abort(f"{type(error).__name__} in the program")
        self.close()

    def close(self) -> None:
        """Leave. Safe from any thread, more than once, and while another thread is blocked (it gets Aborted)."""
        if self._calls.end():
            self._finalizer()

    def abort(self, why: str = "abort was called") -> None:
        """End the communicator on every rank now. Safe from any thread; blocked calls raise Aborted."""
        self._control.give_up(Aborted(why))

    def health(self) -> Health:
        """The state now; never blocks."""
        engine = self._engine.health()
        fatal = self._control.fatal
        since = self._calls.blocked_since
        if self._calls.closed:
            state = "closed"
        elif fatal is not None:
            state = "failed"
        else:
            state = "busy" if engine.calls != engine.done else "ready"
        return Health(
            state=state,
            calls=engine.calls,
            done=engine.done,
            waiting_on=engine.waiting_on if engine.waiting_on >= 0 else None,
            waiting_s=time.monotonic() - since if since is not None else 0.0,
            messages_sent=engine.messages_sent,
            bytes_sent=engine.bytes_sent,
            error=str(fatal) if fatal is not None else None,
        )

    @property
    def transport(self) -> Transport:
        """What carries the bytes."""
        return self.report.transport

    # ---- collectives ---------------------------------------------------------------------

    def all_reduce(
        self,
        array: Any,
        op: str | ReduceOp = ReduceOp.SUM,
        *,
        out: Any = None,
        algorithm: str | Algorithm | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """Combine the arrays of all ranks element by element, in place or into `out`. All ranks get the same bits."""
        source = buffer_of(array, writable=out is None)
        target = source if out is None else buffer_of(out, writable=True)
        self._same(source, target, source.elements)
        if out is not None:
            self._apart(source, target)
        return self._calls.run(Operation.ALL_REDUCE, source, target, source.elements, op, algorithm, 0, async_op)

    def prepare_all_reduce(
        self, array: Any, op: str | ReduceOp = ReduceOp.SUM, *, out: Any = None, algorithm: str | None = None
    ) -> Callable[[], None]:
        """An all_reduce of this very array, to be called many times: everything that can be done once is done now."""
        source = buffer_of(array, writable=out is None)
        target = source if out is None else buffer_of(out, writable=True)
        self._same(source, target, source.elements)
        if out is not None:
            self._apart(source, target)
        return self._calls.prepared(Operation.ALL_REDUCE, source, target, op, algorithm)

    def all_gather(
        self, out: Any, array: Any, *, algorithm: str | Algorithm | None = None, async_op: bool = False
    ) -> Work | None:
        """Put the arrays of all ranks one after the other into `out` of world_size times the elements."""
        source, target = buffer_of(array, writable=False), buffer_of(out, writable=True)
        self._same(source, target, source.elements * self.world_size)
        return self._calls.run(
            Operation.ALL_GATHER, source, target, source.elements, ReduceOp.SUM, algorithm, 0, async_op
        )

    def reduce_scatter(
        self,
        out: Any,
        array: Any,
        op: str | ReduceOp = ReduceOp.SUM,
        *,
        algorithm: str | Algorithm | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """Combine arrays of world_size parts; each rank gets its part in `out`."""
        source, target = buffer_of(array, writable=False), buffer_of(out, writable=True)
        self._same(target, source, target.elements * self.world_size)
        return self._calls.run(Operation.REDUCE_SCATTER, source, target, target.elements, op, algorithm, 0, async_op)

    def broadcast(
        self, array: Any, root: int = 0, *, algorithm: str | Algorithm | None = None, async_op: bool = False
    ) -> Work | None:
        """Give every rank the array of `root`."""
        both = buffer_of(array, writable=True)
        return self._calls.run(Operation.BROADCAST, both, both, both.elements, ReduceOp.SUM, algorithm, root, async_op)

    def reduce(
        self, array: Any, root: int = 0, op: str | ReduceOp = ReduceOp.SUM, *, out: Any = None, async_op: bool = False
    ) -> Work | None:
        """Combine the arrays at `root`, in place or into `out`. Other ranks' arrays stay as they are."""
        source = buffer_of(array, writable=out is None and self.rank == root)
        target = source if out is None or self.rank != root else buffer_of(out, writable=True)
        self._same(source, target, source.elements)
        return self._calls.run(Operation.REDUCE, source, target, source.elements, op, None, root, async_op)

    def gather(self, array: Any, root: int = 0, *, out: Any = None, async_op: bool = False) -> Work | None:
        """Put the arrays of all ranks one after the other into `out` at `root`."""
        source = buffer_of(array, writable=False)
        target = source
        if self.rank == root:
            target = buffer_of(out, writable=True)
            self._same(source, target, source.elements * self.world_size)
        return self._calls.run(Operation.GATHER, source, target, source.elements, ReduceOp.SUM, None, root, async_op)

    def scatter(self, out: Any, root: int = 0, *, array: Any = None, async_op: bool = False) -> Work | None:
        """Deal the world_size parts of `array` at `root` out to the ranks."""
        target = buffer_of(out, writable=True)
        source = target
        if self.rank == root:
            source = buffer_of(array, writable=False)
            self._same(target, source, target.elements * self.world_size)
        return self._calls.run(Operation.SCATTER, source, target, target.elements, ReduceOp.SUM, None, root, async_op)

    def all_to_all(
        self,
        out: Any,
        array: Any,
        *,
        sends: Sequence[int] | None = None,
        receives: Sequence[int] | None = None,
        async_op: bool = False,
    ) -> Work | None:
        """Part r of `array` goes to rank r; `out` gets a part from every rank.

        Parts are equal, or `sends` and `receives` say how many elements go to and come from each rank.
        """
        source, target = buffer_of(array, writable=False), buffer_of(out, writable=True)
        if sends is None and receives is None:
            self._same(source, target, source.elements)
            if source.elements % self.world_size:
                raise ValueError(f"{source.elements} elements cannot be dealt out evenly to {self.world_size} ranks")
            count = source.elements // self.world_size
            return self._calls.run(Operation.ALL_TO_ALL, source, target, count, ReduceOp.SUM, None, 0, async_op)
        given = tuple(sends if sends is not None else _even(source.elements, self.world_size))
        taken = tuple(receives if receives is not None else _even(target.elements, self.world_size))
        if len(given) != self.world_size or len(taken) != self.world_size or min(*given, *taken, 0) < 0:
            raise ValueError(f"sends and receives need {self.world_size} counts that are not negative")
        if sum(given) != source.elements or sum(taken) != target.elements or source.dtype != target.dtype:
            raise ValueError("sends and receives must add up to the elements of the arrays, which must be of one type")
        return self._calls.run(
            Operation.ALL_TO_ALL, source, target, source.elements, ReduceOp.SUM, None, 0, async_op, given, taken
        )

    def barrier(self, *, async_op: bool = False) -> Work | None:
        """Return when every rank has called this."""
        nothing = Buffer(0, 0, DataType.UINT8, True, None)
        return self._calls.run(Operation.BARRIER, nothing, nothing, 0, ReduceOp.SUM, None, 0, async_op)

    # ---- pairs ---------------------------------------------------------------------------

    def send(self, array: Any, to: int, *, tag: int = 0, async_op: bool = False) -> Work | None:
        """Send an array to one rank, which must `recv` one of this size, type and tag."""
        self._calls.check_open()
        return self._lane(to).send(buffer_of(array, writable=False), tag, async_op)

    def recv(self, array: Any, source: int, *, tag: int = 0, async_op: bool = False) -> Work | None:
        """Receive an array of exactly this size and type from one rank."""
        self._calls.check_open()
        return self._lane(source).recv(buffer_of(array, writable=True), tag, async_op)

    def recv_any(self, array: Any, *, tag: int = 0) -> int:
        """Receive from whichever rank sends first; returns that rank."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            self._calls.check_open()
            for peer, lane in self._lanes.items():
                if lane.offers(tag):
                    lane.recv(buffer_of(array, writable=True), tag, False)
                    return peer
            if time.monotonic() >= deadline:
                raise TimeoutError(f"nobody sent anything for {self.timeout_s:g} s")
            time.sleep(0.0005)

    def _lane(self, peer: int) -> Lane:
        if peer == self.rank or peer not in self._lanes:
            raise ValueError(f"rank {peer} is not another rank of this communicator of {self.world_size}")
        return self._lanes[peer]

    @staticmethod
    def _same(small: Buffer, large: Buffer, count: int) -> None:
        if small.dtype is not large.dtype:
            raise ValueError(f"both arrays must be of one type, not {small.dtype.name} and {large.dtype.name}")
        if large.elements != count:
            raise ValueError(f"an array of {count} elements is needed, not of {large.elements}")

    @staticmethod
    def _apart(source: Buffer, target: Buffer) -> None:
        """The same place is in place; half over each other, what is written would be read again as input."""
        if source.address != target.address and abs(source.address - target.address) < source.nbytes:
            raise ValueError("array and out lie partly over each other; give the same memory or memory of its own")

    def _left_to_parent(self) -> None:
        self._calls.left_to_parent()
        self._finalizer.detach()
        self._control.left_to_parent()


_OPEN: weakref.WeakSet[Communicator] = weakref.WeakSet()


def _in_forked_process() -> None:
    for comm in list(_OPEN):
        comm._left_to_parent()


os.register_at_fork(after_in_child=_in_forked_process)


def _shut_down(control: Control, engine: Engine, lanes: list[Lane]) -> None:
    control.close()
    for lane in lanes:
        lane.close()
    engine.close()


def _even(count: int, ranks: int) -> list[int]:
    if count % ranks:
        raise ValueError(f"{count} elements cannot be dealt out evenly to {ranks} ranks")
    return [count // ranks] * ranks


def _with_address(options: Options, own: str) -> Options:
    return options if options.address else replace(options, address=own)
