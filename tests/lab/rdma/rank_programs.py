"""What the ranks run in the emulated machine, beyond the programs of the engine tests."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import resource
from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.collectives import programs
from stellwerk.collectives import Communicator

SIZES = (0, 1, 3, 7, 63, 1000, 4095, 4097, 16_384, 65_537, 300_001)
TYPES = (np.float32, np.float64, np.float16, np.int32, np.int64)
RING = 4
logging.getLogger("stellwerk").addHandler(logging.NullHandler())  # what a rank has to say stands in the table


def on_verbs(comm: Communicator, name: str, *arguments: Any) -> Any:
    """Run a program of this file if verbs is really what carries it."""
    assert str(comm.transport) == "verbs", comm.report.fallbacks
    assert comm.report.self_test_calls > 100
    return globals()[name](comm, *arguments)


def everything(comm: Communicator) -> str:
    """The programs of the engine tests, one after the other on one communicator, and groups within it."""
    for program in (programs.every_operation, programs.other_memory, programs.pairs, programs.asynchronous):
        program(comm)
    alone = comm.world_size - 1
    group = comm.subgroup([alone] if comm.rank == alone else range(alone))
    assert group is not None
    with group:
        assert str(group.transport) == "verbs", group.report.fallbacks
        mine = np.full(1000, comm.rank, np.float32)
        group.all_reduce(mine)
        assert (mine == (alone if comm.rank == alone else sum(range(alone)))).all()
    return "fine"


def exact(comm: Communicator, algorithms: Sequence[str | None]) -> str:
    """Sums of whole numbers, which leave no room for rounding; then `rounded`."""
    for algorithm in algorithms:
        for dtype in TYPES:
            for count in SIZES if dtype is np.float32 else SIZES[:-2]:
                mine = ((np.arange(count) * 7 + comm.rank * 3) % 61).astype(dtype)
                want = sum(((np.arange(count) * 7 + rank * 3) % 61).astype(np.int64) for rank in range(comm.world_size))
                comm.all_reduce(mine, algorithm=algorithm)
                np.testing.assert_array_equal(mine, want)
    return rounded(comm, algorithms)


def rounded(comm: Communicator, algorithms: Sequence[str | None]) -> str:
    """A digest of sums whose bits depend on the order in which they are made."""
    digest = hashlib.sha256()
    for algorithm in algorithms:
        for count in (5003, 70_001):
            noise = programs.vector(comm.rank, count, count)
            comm.all_reduce(noise, algorithm=algorithm)
            digest.update(noise.tobytes())
    return digest.hexdigest()


def until_it_fails(comm: Communicator, count: int) -> None:
    """All_reduce for ever; a wrong sum ends it with another error than a lost peer does."""
    data = (np.arange(count) % 97 + comm.rank).astype(np.float32)
    want = (np.arange(count) % 97 * comm.world_size + sum(range(comm.world_size))).astype(np.float32)
    out = np.empty_like(data)
    while True:
        out.fill(-1)
        comm.all_reduce(data, out=out)
        np.testing.assert_array_equal(out, want)


# ---- who is where: changes of the options per rank -------------------------------------------------------------------


def third_has_no_gid(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """The third rank is told a device whose interface has no IPv4 address."""
    return options | {"rails": ("bare",) if rank == 2 else ("half-a",)}


def second_names_no_device(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """The second rank is told a device that is not there."""
    return options | {"rails": ("nosuch",) if rank == 1 else ("half-a",)}


def other_subnets(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """The ranks are told devices that no cable joins."""
    return options | {"rails": ("half-a",) if rank == 0 else ("half-b",)}


def wrong_cable(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """Both ranks have an address in one subnet, and yet nothing gets through."""
    return options | {"rails": (f"twin-{rank}",)}


def second_may_lock_little(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """The second rank is as a user whose limit of locked memory is small: root has none, so it gives that up."""
    if rank == 1:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (1 << 20, 1 << 20))
        libc = ctypes.CDLL(None, use_errno=True)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # the interface's version, this thread
        sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; twice 32 bits
        if libc.capget(header, sets):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        sets[0] &= ~(1 << 14)  # CAP_IPC_LOCK
        if libc.capset(header, sets):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return options


def on_the_ring(rank: int, options: dict[str, Any]) -> dict[str, Any]:
    """Both halves of the cables to both neighbours, in no particular order."""
    rails = [f"cable-{cable}{half}" for half in "ba" for cable in (rank, (rank - 1) % RING)]
    return options | {"rails": tuple(rails)}
