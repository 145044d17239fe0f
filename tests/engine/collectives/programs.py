"""What the ranks of the tests run. Each program gets its communicator first."""

from __future__ import annotations

import array
import ctypes
import hashlib
import os
import select
import signal
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from stellwerk.collectives import Aborted, Algorithm, Communicator, Operation


def vector(rank: int, count: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng([seed, rank]).standard_normal(count).astype(np.float32)


def report(comm: Communicator) -> dict[str, Any]:
    return {
        "transport": str(comm.transport),
        "fallbacks": comm.report.fallbacks,
        "notes": comm.report.notes,
        "calls": comm.report.self_test_calls,
        "latency_us": comm.report.latency_us,
        "topology": str(comm.report.topology),
        "source": comm.report.dispatch_source,
        "lines": comm.report.lines(),
    }


def tested_calls(comm: Communicator) -> list[tuple[int, int, int]]:
    """Operation, algorithm and count of the calls of the start-up tests; see saboteurs."""
    from engine.collectives import saboteurs

    return saboteurs.NOTED


def chosen(comm: Communicator, operation: Operation, nbytes: int) -> Algorithm:
    return comm.dispatch.choose(operation, nbytes)


def sums(comm: Communicator, counts: list[int], algorithms: list[str | None]) -> list[str]:
    """all_reduce of many sizes; the digest of all results, which must be equal on all ranks."""
    digests = []
    for algorithm in algorithms:
        digest = hashlib.sha256()
        for count in counts:
            mine = vector(comm.rank, count, count)
            want = np.sum([vector(r, count, count).astype(np.float64) for r in range(comm.world_size)], axis=0)
            got = np.empty_like(mine)
            comm.all_reduce(mine, out=got, algorithm=algorithm)
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)
            comm.all_reduce(mine, algorithm=algorithm)
            assert mine.tobytes() == got.tobytes()
            digest.update(got.tobytes())
        digests.append(digest.hexdigest())
    return digests


def mixture(comm: Communicator, calls: int) -> str:
    """Calls of all sizes and algorithms in a random order that is the same on all ranks."""
    chance = np.random.default_rng(5)
    names = ["direct", "two_shot", "ring", "recursive_doubling", "relay"]
    digest = hashlib.sha256()
    for _ in range(calls):
        count = int(2 ** chance.uniform(0, 18))
        data = (np.arange(count) % 89 + comm.rank).astype(np.float32)
        want = data[0] * comm.world_size + sum(range(comm.world_size)) - comm.rank * comm.world_size
        comm.all_reduce(data, algorithm=names[chance.integers(len(names))])
        assert data[0] == want
        digest.update(data.tobytes())
    return digest.hexdigest()


def every_operation(comm: Communicator) -> str:
    rank, n = comm.rank, comm.world_size
    whole = np.arange(n * 5, dtype=np.float32)
    out = np.zeros(n * 5, np.float32)
    comm.all_gather(out, whole[rank * 5 : rank * 5 + 5].copy())
    np.testing.assert_array_equal(out, whole)
    part = np.zeros(5, np.float32)
    comm.reduce_scatter(part, whole, "avg")
    np.testing.assert_array_equal(part, whole[rank * 5 : rank * 5 + 5])
    for root in range(n):
        data = np.full(1000, rank, np.int64)
        comm.broadcast(data, root)
        assert (data == root).all()
        total = np.array([rank, 1], np.float64)
        comm.reduce(total, root)
        assert total.tolist() == ([n * (n - 1) / 2, n] if rank == root else [rank, 1])
        gathered = np.zeros(n, np.int32)
        comm.gather(np.array([rank], np.int32), root, out=gathered if rank == root else None)
        assert gathered.tolist() == (list(range(n)) if rank == root else [0] * n)
        dealt = np.zeros(2, np.int32)
        comm.scatter(dealt, root, array=np.arange(2 * n, dtype=np.int32) if rank == root else None)
        assert dealt.tolist() == [2 * rank, 2 * rank + 1]
    swapped = np.zeros(n, np.int32)
    comm.all_to_all(swapped, np.arange(n, dtype=np.int32) + 100 * rank)
    assert swapped.tolist() == [100 * r + rank for r in range(n)]
    sends = [r + 1 for r in range(n)]
    uneven = np.zeros((rank + 1) * n, np.float32)
    comm.all_to_all(uneven, np.full(sum(sends), rank, np.float32), sends=sends, receives=[rank + 1] * n)
    assert uneven.tolist() == [float(r) for r in range(n) for _ in range(rank + 1)]
    comm.barrier()
    return "fine"


def other_memory(comm: Communicator) -> str:
    """Buffers that are neither numpy arrays nor tensors, and sizes of nothing."""
    values = array.array("f", [comm.rank, 1.0])
    comm.all_reduce(values)
    n = comm.world_size
    assert values.tolist() == [n * (n - 1) / 2, n]
    raw = (ctypes.c_int64 * 3)(comm.rank, 2, 3)
    comm.all_reduce(raw, "max")
    assert list(raw) == [n - 1, 2, 3]
    data = bytearray(b"root" if comm.rank == 0 else b"____")
    comm.broadcast(data)
    assert data == b"root"
    comm.all_reduce(np.zeros(0, np.float32))
    comm.all_gather(np.zeros(0, np.float32), np.zeros(0, np.float32))
    return "fine"


def asynchronous(comm: Communicator) -> list[float]:
    """Many calls under way at once, with a blocking one behind them."""
    arrays = [np.full(3000, comm.rank + i, np.float32) for i in range(20)]
    works = [comm.all_reduce(a, async_op=True) for a in arrays]
    last = np.ones(1, np.float32)
    comm.all_reduce(last)
    for work in works:
        assert work is not None
        work.wait(20)
        assert work.done()
    return [float(a[0]) for a in arrays] + [float(last[0])]


def subgroups(comm: Communicator) -> list[float]:
    """Two halves, each with its own communicator, used at the same time as the whole."""
    half = [r for r in range(comm.world_size) if r % 2 == comm.rank % 2]
    inner = comm.subgroup(half)
    assert inner is not None
    results = []
    with inner:
        for _ in range(5):
            a = np.full(100, comm.rank, np.float32)
            b = np.full(100, comm.rank, np.float32)
            first = comm.all_reduce(a, async_op=True)
            inner.all_reduce(b)
            assert first is not None
            first.wait(10)
            results += [float(a[0]), float(b[0])]
    comm.barrier()
    return results


def pairs(comm: Communicator) -> str:
    """Everybody sends to everybody, large messages both ways at once, tags out of order."""
    n, rank = comm.world_size, comm.rank
    outgoing = {p: np.full(200_000, rank * 100 + p, np.int32) for p in range(n) if p != rank}
    incoming = {p: np.zeros(200_000, np.int32) for p in range(n) if p != rank}
    works = [comm.send(a, p, async_op=True) for p, a in outgoing.items()]
    works += [comm.recv(a, p, async_op=True) for p, a in incoming.items()]
    for work in works:
        assert work is not None
        work.wait(20)
    for p, got in incoming.items():
        assert (got == p * 100 + rank).all()
    right, left = (rank + 1) % n, (rank - 1) % n
    comm.send(np.array([1], np.int64), right, tag=1)
    comm.send(np.array([2], np.int64), right, tag=2)
    second, first = np.zeros(1, np.int64), np.zeros(1, np.int64)
    comm.recv(second, left, tag=2)
    comm.recv(first, left, tag=1)
    assert (first[0], second[0]) == (1, 2)
    comm.barrier()
    if rank == 0:
        box = np.zeros(1, np.int64)
        senders = {comm.recv_any(box) for _ in range(n - 1)}
        assert senders == set(range(1, n))
    else:
        comm.send(np.array([rank], np.int64), 0)
    comm.barrier()
    return "fine"


def any_source(comm: Communicator) -> str:
    """Messages with another tag keep nobody from the one that is waited for."""
    box = np.zeros(2, np.int64)
    if comm.rank == 1:
        comm.send(np.array([1, 5]), 0, tag=5)
        comm.send(np.array([1, 7]), 0, tag=7)
    comm.barrier()
    if comm.rank == 2:
        comm.send(np.array([2, 6]), 0, tag=6)
    if comm.rank == 0:
        for tag, source in ((6, 2), (7, 1), (5, 1)):
            assert comm.recv_any(box, tag=tag) == source
            assert box.tolist() == [source, tag]
    comm.barrier()
    return "fine"


def step_times(comm: Communicator, count: int, rounds: int) -> dict[str, float]:
    """Least seconds of each algorithm, interleaved: other load on the machine can only add to the steps."""
    names = ["direct", "two_shot", "recursive_doubling", "ring"]
    data = vector(comm.rank, count)
    out = np.empty_like(data)
    times: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            comm.barrier()
            begun = time.perf_counter()
            comm.all_reduce(data, out=out, algorithm=name)
            times[name].append(time.perf_counter() - begun)
    return {name: min(values) for name, values in times.items()}


# ---- failures --------------------------------------------------------------------------------------------------------


def until_it_fails(comm: Communicator, count: int = 2048) -> None:
    data = np.ones(count, np.float32)
    out = np.empty_like(data)
    while True:
        comm.all_reduce(data, out=out)


def one_differs(comm: Communicator, odd: int, how: str) -> None:
    data = np.ones(64, np.float32)
    for _ in range(3):
        comm.all_reduce(data)
    if comm.rank != odd:
        comm.all_reduce(data)
    elif how == "shape":
        comm.all_reduce(np.ones(65, np.float32))
    elif how == "type":
        comm.all_reduce(np.ones(64, np.int32))
    elif how == "reduction":
        comm.all_reduce(data, "max")
    elif how == "operation":
        comm.all_gather(np.ones(64 * comm.world_size, np.float32), data)
    elif how == "algorithm":
        comm.all_reduce(data, algorithm="ring")
    comm.barrier()


def out_of_order(comm: Communicator, odd: int) -> None:
    one, other = np.ones(64, np.float32), np.ones(64, np.int32)
    for data in (other, one) if comm.rank == odd else (one, other):
        comm.all_reduce(data)


def one_is_absent(comm: Communicator, odd: int, seconds: float) -> None:
    """One rank is alive and does something else."""
    if comm.rank == odd:
        time.sleep(seconds)
        return
    comm.barrier()


def cut_connection(comm: Communicator, odd: int) -> None:
    data = np.ones(2048, np.float32)
    for _ in range(5):
        comm.all_reduce(data)
    if comm.rank == odd:
        for sock in comm._engine._sockets.values():  # type: ignore[attr-defined]
            sock.shutdown(socket.SHUT_RDWR)
    while True:
        comm.all_reduce(data)


def blocked_and_aborted(comm: Communicator) -> str:
    """Rank 0 waits for rank 1, which is away; another thread of rank 0 looks at the health and aborts."""
    if comm.rank != 0:
        while comm.health().state != "failed":
            time.sleep(0.005)
        return comm.health().error or ""
    seen = []

    def watch() -> None:
        while comm.health().waiting_s < 0.05:
            time.sleep(0.005)
        seen.append(comm.health())
        comm.abort("the user pressed stop")

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        comm.all_reduce(np.ones(10, np.float32))
    except Aborted as error:
        assert seen[0].state == "busy"
        assert seen[0].waiting_on == 1
        assert comm.health().state == "failed"
        return str(error)
    finally:
        thread.join()
    return "no error"


def closed_while_blocked(comm: Communicator) -> str:
    if comm.rank != 0:
        while comm.health().state != "failed":
            time.sleep(0.005)
        return comm.health().error or ""
    thread = threading.Thread(target=_close_when_busy, args=(comm,))
    thread.start()
    try:
        comm.all_reduce(np.ones(10, np.float32))
    except Aborted as error:
        return str(error)
    finally:
        thread.join()
    return "no error"


def _close_when_busy(comm: Communicator) -> None:
    while comm.health().state != "busy":
        time.sleep(0.001)
    comm.close()


def _interrupt_when(blocked: Callable[[], bool]) -> None:
    """Ctrl-C for the main thread as soon as it is `blocked`."""

    def watch() -> None:
        while not blocked():
            time.sleep(0.005)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=watch).start()


def interrupted(comm: Communicator) -> str:
    """Ctrl-C in a blocked call of rank 0; the others must hear of it."""
    if comm.rank == 0:
        _interrupt_when(lambda: comm.health().waiting_s > 0.05)
        try:
            comm.all_reduce(np.ones(10, np.float32))
        except KeyboardInterrupt:
            return "interrupted"
        return "no error"
    while comm.health().state != "failed":
        time.sleep(0.005)
    return comm.health().error or ""


def interrupted_send(comm: Communicator) -> str:
    """After half of a message nothing may follow that the other side would take for the rest of it."""
    data = np.zeros(4_000_000, np.int64)
    if comm.rank == 0:
        lane = comm._lanes[1]._sock
        _interrupt_when(lambda: not select.select([], [lane], [], 0)[1])  # it is full, and nobody reads
        try:
            comm.send(data, 1)
        except KeyboardInterrupt:
            pass
        try:
            comm.send(data + 7, 1)
        except Aborted as error:
            return str(error)
        return "no error"
    while comm.health().state != "failed":
        time.sleep(0.005)
    try:
        comm.recv(data, 0)
    except Aborted as error:
        return str(error)
    return f"received {set(data.tolist())}"


def forked(comm: Communicator) -> str:
    """What a forked process does with its parent's communicator is refused, and its end means nothing to the others."""
    prepared = comm.prepare_all_reduce(np.ones(3))
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        words = []
        for call in (prepared, comm.barrier, lambda: comm.send(np.ones(1), (comm.rank + 1) % comm.world_size)):
            try:
                call()
                words.append("no error")
            except Aborted as error:
                words.append(str(error))
        comm.abort("the child")
        comm.close()
        os.write(theirs, "\n".join(words).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        words = pipe.read().splitlines()
    assert words == [f"the communicator belongs to process {os.getpid()}; a forked process has no part in it"] * 3
    data = np.ones(3)
    comm.all_reduce(data)
    return f"{data[0]:g}"


def killed_with_a_child(comm: Communicator, victim: int) -> None:
    """The child of the rank that dies lives until a survivor has noticed (or a minute, if none does)."""
    pids = np.zeros(1, np.int64)
    if comm.rank == victim:
        pids[0] = os.fork()
        if pids[0] == 0:
            signal.alarm(60)
            signal.pause()
    comm.broadcast(pids, victim)
    comm.barrier()
    if comm.rank == victim:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        until_it_fails(comm)
    finally:
        if comm.rank == 0:
            os.kill(int(pids[0]), signal.SIGKILL)


def leaves_early(comm: Communicator) -> str:
    """A broadcast's root has nothing to wait for: it closes at once, and the others still get everything."""
    data = np.full(300_000, 7 if comm.rank == 0 else 0, np.int32)
    comm.broadcast(data, 0, algorithm="direct")
    assert (data == 7).all()
    return "fine"
