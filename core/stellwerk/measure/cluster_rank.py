"""One rank of a measurement on a cluster: started by a node's agent from `runtime.pyz`, without numpy.

    python3 -I runtime.pyz stellwerk.measure.cluster_rank < CONFIG

The configuration, with the token, comes on standard input and is nowhere else. What the rank has to say are JSON lines
on standard output, each with the key `stellwerk`; the agent keeps them as the job's log, and the desktop follows that.
Rank 0 decides what is done next and tells the others by a broadcast.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import statistics
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from stellwerk.collectives import Communicator, Options, Topology
from stellwerk.collectives.errors import CollectiveError, PeerLost
from stellwerk.collectives.kinds import Algorithm, DataType, ReduceOp, Transport
from stellwerk.collectives.selftest import NativeReference, PythonReference, Reference

FIRST_CALLS = 3
PURE_BYTES_MAX = 1 << 20  # what pure Python can still check in reasonable time
STOP, MEASURE = 0, 1


def say(kind: str, **more: Any) -> None:
    """One line for the desktop."""
    sys.stdout.write(json.dumps({"stellwerk": kind, **more}) + "\n")
    sys.stdout.flush()


class Listeners:
    """Several listening sockets as one: on a ring or chain the others reach rank 0 by different addresses."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket] = []
        self._timeout_s: float | None = None
        self.ports: dict[str, int] = {}
        try:
            for address in addresses:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                listener = socket.create_server((address, 0), family=family, backlog=64)
                self._sockets.append(listener)
                self._selector.register(listener, selectors.EVENT_READ)
                self.ports[address] = listener.getsockname()[1]
        except OSError:
            self.close()
            raise

    def getsockname(self) -> Any:
        """The first address."""
        return self._sockets[0].getsockname()

    def settimeout(self, seconds: float | None) -> None:
        """For `accept`."""
        self._timeout_s = seconds

    def accept(self) -> tuple[socket.socket, Any]:
        """The next caller on any of the sockets; TimeoutError when none comes."""
        ready = self._selector.select(self._timeout_s)
        if not ready:
            raise TimeoutError("nobody called")
        listener = ready[0][0].fileobj
        assert isinstance(listener, socket.socket)
        return listener.accept()

    def shutdown(self, how: int) -> None:
        """Wake `accept`, which then raises OSError."""
        for listener in self._sockets:
            listener.shutdown(how)

    def close(self) -> None:
        """Stop listening."""
        self._selector.close()
        for listener in self._sockets:
            listener.close()

    def __enter__(self) -> Listeners:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def tuning_of(table: object) -> Iterator[Path]:
    """The cluster's tuning table as a file without a name: every rank has the same one, whatever lies on its disk."""
    descriptor = os.memfd_create("tuning")
    try:
        os.write(descriptor, json.dumps(table).encode())
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def connect(config: dict[str, Any], tuning: Path) -> Communicator:
    """Meet the other ranks. `config`: see `cluster.RankConfig`."""
    rank, dial = config["rank"], config["dial"]
    options = Options(
        transport=config["transport"],
        timeout_s=config["timeout_s"],
        setup_timeout_s=config["setup_timeout_s"],
        address=config["address"],
        addresses={int(peer): address for peer, address in config["addresses"].items()},
        topology=Topology(config["topology"]),
        tuning=tuning,
        rails=tuple(config["rails"]),
        dial=lambda address: dial.get(address, address),
    )
    listener: Listeners | None = None
    rendezvous = config["rendezvous"]
    if rank == 0:
        own = dict.fromkeys([config["address"], *config["addresses"].values()])
        listener = Listeners(list(dict.fromkeys(dial.get(address, address) for address in own)))
        say("listening", ports={a: listener.ports[dial.get(a, a)] for a in own})
        host, port = listener.getsockname()[:2]
        rendezvous = f"tcp://{host}:{port}"
    return Communicator.connect(
        rank, config["ranks"], rendezvous, token=config["token"], listener=listener, options=options
    )


class Bench:
    """Times calls and checks results; every rank makes the same calls."""

    def __init__(self, comm: Communicator) -> None:
        self.comm = comm
        self.pure = comm.transport is Transport.PYTHON
        self._reference: Reference = PythonReference() if self.pure else NativeReference()
        self._seed = 0

    def run(self, count: int, algorithm: str | None, calls: int, warm_up: int) -> tuple[array[int], int]:
        """Nanoseconds per call on this rank, and the wrong elements of one call with known data."""
        source, target = ((ctypes.c_float * count)() for _ in range(2))
        call = self.comm.prepare_all_reduce(source, out=target, algorithm=algorithm)
        clock = time.perf_counter_ns
        for _ in range(warm_up):
            call()
        times = array("q")
        for _ in range(calls):
            begun = clock()
            call()
            times.append(clock() - begun)
        self._seed += 1
        at, to = ctypes.addressof(source), ctypes.addressof(target)
        self._reference.fill(self._seed, self.comm.rank, DataType.FLOAT32, ReduceOp.SUM, at, count)
        call()
        ranks = self.comm.world_size
        return times, self._reference.wrong(self._seed, ranks, DataType.FLOAT32, ReduceOp.SUM, to, count)


def follow(bench: Bench) -> None:
    """What ranks other than 0 do: as they are told."""
    comm = bench.comm
    while True:
        order = array("q", [0] * 5)
        comm.broadcast(order)
        what, count, algorithm, calls, warm_up = order
        if what == STOP:
            return
        times, wrong = bench.run(count, Algorithm(algorithm).name.lower() if algorithm else None, calls, warm_up)
        comm.gather(times)
        comm.reduce(array("q", [wrong]))


class Leader:
    """Rank 0: chooses sizes and turns, collects, reports."""

    def __init__(self, bench: Bench, plan: dict[str, Any]) -> None:
        self._bench, self._comm, self._plan = bench, bench.comm, plan
        self._lines: list[str | None] = [None, *plan["algorithms"]]

    def _turn(self, size: int, algorithm: str | None, calls: int, warm_up: int) -> tuple[list[float], int]:
        """Slowest rank per call in µs, and the wrong elements on all ranks."""
        comm, count = self._comm, max(1, size // 4)
        number = int(Algorithm[algorithm.upper()]) if algorithm else 0
        comm.broadcast(array("q", [MEASURE, count, number, calls, warm_up]))
        times, wrong = self._bench.run(count, algorithm, calls, warm_up)
        everybody, bad = array("q", bytes(8 * calls * comm.world_size)), array("q", [wrong])
        comm.gather(times, out=everybody)
        comm.reduce(bad)
        slowest = [max(everybody[k::calls]) / 1e3 for k in range(calls)]
        return slowest, bad[0]

    def _size(self, size: int) -> list[dict[str, Any]]:
        times: list[list[float]] = [[] for _ in self._lines]
        wrong, calls = [0] * len(self._lines), [0] * len(self._lines)
        for i, algorithm in enumerate(self._lines):
            first, bad = self._turn(size, algorithm, FIRST_CALLS, 1)
            share = self._plan["seconds_per_cell"] * 1e6 / max(1.0, statistics.median(first))
            calls[i] = max(3, max(8, min(2000, int(share))) // self._plan["rounds"])
            wrong[i] += bad
        for turn in range(self._plan["rounds"]):
            # Forwards, then backwards: whoever comes first after a pause has cold caches.
            order = list(range(len(self._lines)))
            for i in order if turn % 2 == 0 else reversed(order):
                measured, bad = self._turn(size, self._lines[i], calls[i], 1 + calls[i] // 10)
                times[i] += measured
                wrong[i] += bad
        return [
            {
                "algorithm": algorithm,
                "size": size,
                "median_us": statistics.median(t),
                "p99_us": sorted(t)[len(t) * 99 // 100],
                "calls": len(t),
                "wrong": bad,
            }
            for algorithm, t, bad in zip(self._lines, times, wrong, strict=True)
        ]

    def run(self) -> None:
        """All sizes; each is reported as soon as it is done."""
        sizes = self._plan["sizes"]
        if self._bench.pure:
            sizes = [size for size in sizes if size <= PURE_BYTES_MAX]
        for size in sizes:
            say("cells", cells=self._size(size), left_out=len(self._plan["sizes"]) - len(sizes))
        self._comm.broadcast(array("q", [STOP, 0, 0, 0, 0]))


def _end(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)


def main() -> int:
    """See the module."""
    config = json.load(sys.stdin)
    signal.signal(signal.SIGTERM, _end)  # so that the communicator says goodbye
    try:
        with tuning_of(config["tuning"]) as tuning, connect(config, tuning) as comm:
            lines = [line.replace(str(tuning), "this cluster's") for line in comm.report.lines()]
            say("ready", transport=str(comm.transport), lines=lines, fallbacks=list(comm.report.fallbacks))
            bench = Bench(comm)
            if comm.rank == 0:
                Leader(bench, config["plan"]).run()
            else:
                follow(bench)
    except PeerLost as error:
        say("failed", error="PeerLost", text=error.why, lost=error.rank)
        return 1
    except (CollectiveError, OSError, ValueError) as error:
        say("failed", error=type(error).__name__, text=str(error))
        return 1
    say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
