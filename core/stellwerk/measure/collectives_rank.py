"""One rank of one contender of the collective benchmark: sleeps until it gets a command, runs it, reports.

`python -m stellwerk.measure.collectives_rank SOCKET CONTENDER [RANK]` is started by `measure.collectives`; what it
needs to know comes over the socket.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

FRAME = struct.Struct("!I")


def send(sock: socket.socket, value: Any) -> None:
    """A JSON value with its length before it."""
    data = json.dumps(value).encode()
    sock.sendall(FRAME.pack(len(data)) + data)


def receive(sock: socket.socket) -> Any:
    """The next JSON value. EOFError at the end of the stream."""

    def exactly(size: int) -> bytes:
        data = b""
        while len(data) < size:
            part = sock.recv(min(1 << 20, size - len(data)))
            if not part:
                raise EOFError("the measurement has ended")
            data += part
        return data

    (size,) = FRAME.unpack(exactly(4))
    return json.loads(exactly(size))


class Runner(Protocol):
    """What a contender must be able to do. `arrays` are float32."""

    def prepare(self, count: int, algorithm: str | None) -> Callable[[], None]:
        """One all_reduce of that many elements, to be called many times."""

    def check(self, count: int, algorithm: str | None) -> int:
        """The number of wrong elements in one all_reduce of known values."""

    def close(self) -> None:
        """Leave in good order."""


def known(rank: int, count: int) -> Any:
    """Values whose sums are exact in float32."""
    import numpy as np

    return ((np.arange(count, dtype=np.int64) * 7 + rank * 13) % 101).astype(np.float32)


def wrong(ranks: int, count: int, got: Any) -> int:
    """How many elements of a sum over all ranks are not what they must be."""
    import numpy as np

    return int(np.count_nonzero(got != sum(known(r, count).astype(np.float64) for r in range(ranks))))


class StellwerkRunner:
    """Our own communicator."""

    def __init__(self, config: dict[str, Any]) -> None:
        from stellwerk.collectives import Communicator, Link

        listener = socket.socket(fileno=config["listener"]) if config["rank"] == 0 else None
        self._comm = Communicator.connect(
            config["rank"],
            config["ranks"],
            config["rendezvous"],
            token=config["token"],
            listener=listener,
            transport=config["transport"],
            link=Link(config["delay_us"], config["gbps"]),
            topology=config["topology"],
            tuning=Path(config["tuning"]) if config["tuning"] else None,
            timeout_s=60.0,
        )

    @property
    def facts(self) -> dict[str, Any]:
        """What the communicator settled on."""
        return {"transport": str(self._comm.transport), "lines": self._comm.report.lines()}

    def prepare(self, count: int, algorithm: str | None) -> Callable[[], None]:
        """See Runner."""
        import numpy as np

        return self._comm.prepare_all_reduce(
            np.zeros(count, np.float32), out=np.zeros(count, np.float32), algorithm=algorithm
        )

    def check(self, count: int, algorithm: str | None) -> int:
        """See Runner."""
        data = known(self._comm.rank, count)
        self._comm.all_reduce(data, algorithm=algorithm)
        return wrong(self._comm.world_size, count, data)

    def close(self) -> None:
        """See Runner."""
        self._comm.close()


class GlooRunner:
    """torch.distributed over Gloo."""

    def __init__(self, config: dict[str, Any]) -> None:
        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        self._torch, self._dist = torch, dist
        store = torch._C._distributed_c10d.FileStore(config["store"], config["ranks"])
        dist.init_process_group("gloo", store=store, rank=config["rank"], world_size=config["ranks"])

    def prepare(self, count: int, algorithm: str | None) -> Callable[[], None]:
        """See Runner."""
        tensor = self._torch.zeros(count)
        all_reduce = self._dist.all_reduce
        return lambda: all_reduce(tensor)

    def check(self, count: int, algorithm: str | None) -> int:
        """See Runner."""
        data = known(self._dist.get_rank(), count)
        self._dist.all_reduce(self._torch.from_numpy(data))
        return wrong(self._dist.get_world_size(), count, data)

    def close(self) -> None:
        """See Runner."""
        self._dist.destroy_process_group()


class MpiRunner:
    """Open MPI through mpi4py; which transport is chosen on mpirun's command line."""

    def __init__(self, config: dict[str, Any]) -> None:
        from mpi4py import MPI

        self._comm = MPI.COMM_WORLD

    def prepare(self, count: int, algorithm: str | None) -> Callable[[], None]:
        """See Runner."""
        import numpy as np

        source, target = np.zeros(count, np.float32), np.zeros(count, np.float32)
        all_reduce = self._comm.Allreduce
        return lambda: all_reduce(source, target)

    def check(self, count: int, algorithm: str | None) -> int:
        """See Runner."""
        import numpy as np

        target = np.zeros(count, np.float32)
        self._comm.Allreduce(known(self._comm.Get_rank(), count), target)
        return wrong(self._comm.Get_size(), count, target)

    def close(self) -> None:
        """See Runner; mpi4py finalizes at exit."""


RUNNERS: dict[str, Callable[[dict[str, Any]], Runner]] = {
    "stellwerk": StellwerkRunner,
    "gloo": GlooRunner,
    "mpi": MpiRunner,
}


def measure(runner: Runner, command: dict[str, Any]) -> dict[str, Any]:
    """Time single calls; the first ones warm up and are not reported."""
    call = runner.prepare(command["count"], command["algorithm"])
    clock = time.perf_counter_ns
    times = []
    for _ in range(command["warm_up"]):
        call()
    for _ in range(command["calls"]):
        begun = clock()
        call()
        times.append(clock() - begun)
    return {"times_ns": times, "wrong": runner.check(command["count"], command["algorithm"])}


def serve(sock: socket.socket, contender: str, rank: int) -> None:
    """Say who we are, get the configuration, then obey until the other side closes."""
    send(sock, {"contender": contender, "rank": rank})
    config = receive(sock)
    runner: Runner | None = None
    try:
        runner = RUNNERS[config["kind"]](config)
        send(sock, {"ready": getattr(runner, "facts", {})})
        while True:
            command = receive(sock)
            send(sock, measure(runner, command))
    except EOFError:
        if runner is not None:
            runner.close()
    except Exception as error:  # noqa: BLE001 - whatever a rival throws is an answer for the table
        send(sock, {"failed": f"{type(error).__name__}: {error}"})


def main() -> None:
    """See the module."""
    path, contender = sys.argv[1:3]
    rank = int(sys.argv[3]) if len(sys.argv) > 3 else int(os.environ["OMPI_COMM_WORLD_RANK"])
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        serve(sock, contender, rank)


if __name__ == "__main__":
    main()
