"""The verbs transport from the set-up on, over a libibverbs in memory (SIMULATED). The ranks are threads: it is theirs.

`make test-rdma` does the same with processes over the real one.
"""

from __future__ import annotations

import ctypes
import secrets
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stellwerk.collectives import CollectiveError, Communicator, Topology, opening, roce
from stellwerk.collectives.roce import NoRail, Rail
from stellwerk.native import compiler

FAKE = Path(__file__).parents[2] / "native" / "fake_verbs.c"
FINE, NO_DEVICE, UNREACHABLE = 0, 1, 4  # enum fake_fault


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not Path("/usr/include/infiniband/verbs.h").exists():
        pytest.skip("needs the headers of libibverbs (package libibverbs-dev)")
    target = tmp_path_factory.mktemp("verbs") / "libfakeverbs.so"
    words = [*compiler(), "-std=c11", "-O1", "-shared", "-fPIC", "-o", str(target), str(FAKE), "-lpthread"]
    subprocess.run(words, check=True)
    return target


@pytest.fixture
def verbs(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ctypes.CDLL]:
    fake = ctypes.CDLL(str(library))
    fake.fake_reset(FINE, 0, 7)
    monkeypatch.setattr(opening, "VERBS_LIBRARY", str(library))
    yield fake
    assert fake.fake_open_objects() == 0, "everything was given back"


def devices(monkeypatch: pytest.MonkeyPatch, rails: Sequence[Sequence[tuple[str, str]] | str]) -> None:
    """What each rank finds in its sysfs, told apart by what it asks for; a text: why it finds nothing."""

    def find(names: Sequence[str], addresses: object) -> list[Rail]:
        found = rails[int(names[0])]
        if isinstance(found, str):
            raise NoRail(found)
        return [Rail(device, 3, IPv4Interface(address)) for device, address in found]

    monkeypatch.setattr(roce, "find_rails", find)


def run(ranks: int, program: Callable[[Communicator], Any], **options: Any) -> list[Any]:
    token = secrets.token_hex(8)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        where = f"tcp://127.0.0.1:{listener.getsockname()[1]}"

        def rank(number: int) -> Any:
            mine = listener if number == 0 else None
            more = {"transport": "verbs", "rails": (str(number),), **options}
            with Communicator.connect(number, ranks, where, token=token, listener=mine, **more) as comm:
                return program(comm)

        with ThreadPoolExecutor(ranks) as pool:
            return [work.result() for work in [pool.submit(rank, number) for number in range(ranks)]]


def every_operation(comm: Communicator) -> tuple[str, tuple[str, ...]]:
    n, r = comm.world_size, comm.rank
    for count in (1, 1000, 70_001):  # the last one is longer than what takes one rail only
        data = np.arange(count, dtype=np.float32) + r
        comm.all_reduce(data)
        np.testing.assert_array_equal(data, np.arange(count) * n + sum(range(n)))
    whole = np.zeros(3 * n, np.int64)
    comm.all_gather(whole, np.full(3, r, np.int64))
    np.testing.assert_array_equal(whole, np.repeat(np.arange(n), 3))
    part = np.zeros(3, np.int64)
    comm.reduce_scatter(part, whole)
    np.testing.assert_array_equal(part, np.full(3, r * n))
    comm.broadcast(data, root=n - 1)
    dealt = np.zeros(n, np.int64)
    comm.all_to_all(dealt, np.arange(n, dtype=np.int64) + 10 * r)
    np.testing.assert_array_equal(dealt, 10 * np.arange(n) + r)
    comm.barrier()
    return str(comm.transport), (*comm.report.fallbacks, *comm.report.notes)


def test_both_halves_carry_what_verbs_is_asked_for(verbs: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    devices(monkeypatch, [[("fake0", f"10.0.1.{r}/24"), ("fake1", f"10.0.2.{r}/24")] for r in (1, 2, 3)])
    assert run(3, every_operation) == [("verbs", ())] * 3
    assert verbs.fake_writes_on(0) > 300
    assert verbs.fake_writes_on(1) > 10


def inner(comm: Communicator) -> tuple[str, str]:
    """Two ranks and one alone."""
    group = comm.subgroup([0, 2] if comm.rank != 1 else [1])
    assert group is not None
    with group:
        data = np.full(100, comm.rank, np.float32)
        group.all_reduce(data)
        return str(group.transport), str(data[0])


def test_groups_within_use_verbs_too(verbs: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    devices(monkeypatch, [[("fake0", f"10.0.1.{r}/24")] for r in (1, 2, 3)])
    assert run(3, inner) == [("verbs", "2.0"), ("verbs", "1.0"), ("verbs", "2.0")]


def ring_of_four() -> list[list[tuple[str, str]]]:
    """Cable i joins ranks i and i + 1."""
    cables = [("fake0", "10.0.0"), ("fake1", "10.0.1"), ("fake0", "10.0.2"), ("fake1", "10.0.3")]
    ends: list[list[tuple[str, str]]] = [[] for _ in cables]
    for number, (device, subnet) in enumerate(cables):
        ends[number].append((device, f"{subnet}.1/24"))
        ends[(number + 1) % 4].append((device, f"{subnet}.2/24"))
    return ends


def test_on_a_ring_neighbours_talk_by_rdma_and_the_rest_goes_over_tcp(
    verbs: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices(monkeypatch, ring_of_four())
    note = "RDMA carries what runs around the ring; calls to ranks further away go over TCP"
    assert run(4, every_operation, topology=Topology.RING) == [("verbs", (note,))] * 4
    assert verbs.fake_writes_on(0) > 300
    assert verbs.fake_writes_on(1) > 300


def one_is_in_a_barrier(comm: Communicator) -> str:
    """The barrier goes over TCP, the others wait for RDMA: neither sees the other's message."""
    with pytest.raises(CollectiveError) as caught:
        if comm.rank == 1:
            comm.barrier()
        else:
            comm.all_reduce(np.ones(64, np.float32))
        comm.barrier()
    return str(caught.value)


def test_ranks_of_a_ring_that_wait_on_different_ways_end_with_a_named_error(
    verbs: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch
) -> None:
    devices(monkeypatch, ring_of_four())
    for said in run(4, one_is_in_a_barrier, topology=Topology.RING, timeout_s=1.0):
        assert "rank " in said
        assert "did not" in said or "lost" in said


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (NO_DEVICE, "RDMA device fake0 not found"),
        (UNREACHABLE, "rank 1 cannot be reached over rail 0 (fake0): wrong cable, subnet or GID?"),
    ],
)
def test_a_device_that_fails_is_named_on_every_rank(
    verbs: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch, fault: int, why: str
) -> None:
    devices(monkeypatch, [[("fake0", f"10.0.1.{r}/24")] for r in (1, 2)])
    verbs.fake_reset(fault, 0, 7)
    for transport, said in run(2, every_operation):
        assert transport == "tcp"
        assert said[0].startswith("verbs is off on every rank: rank 0 (")
        assert why in said[0]


def test_the_rank_without_a_gid_is_named_on_every_rank(verbs: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch) -> None:
    good = [("fake0", "10.0.1.1/24")]
    devices(monkeypatch, [good, good, "fake0 has no RoCE v2 GID with an IPv4 address"])
    for transport, said in run(3, every_operation):
        assert transport == "tcp"
        assert "verbs is off on every rank: rank 2 (" in said[0]
        assert "has no RoCE v2 GID" in said[0]
