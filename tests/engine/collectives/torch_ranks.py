"""Ranks of the torch tests: `torch_ranks.py RANKS CHECK...` prints how each check ended on each rank, as JSON.

It imports torch once and forks: a rank with an interpreter of its own would spend two seconds on the import.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

Check = Callable[[int, int], None]
CHECKS: dict[str, Check] = {}


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


def group() -> Any:
    return dist.distributed_c10d._get_default_group()


@check
def reductions(rank: int, n: int) -> None:
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        for op, want in (
            (dist.ReduceOp.SUM, n * (n - 1) / 2),
            (dist.ReduceOp.MAX, n - 1),
            (dist.ReduceOp.MIN, 0),
            (dist.ReduceOp.PRODUCT, 0),
        ):
            t = torch.full((33,), rank, dtype=dtype)
            dist.all_reduce(t, op)
            assert (t == want).all(), (dtype, op, t[0])
    t = torch.full((5,), float(rank))
    dist.all_reduce(t, dist.ReduceOp.AVG)
    assert (t == (n - 1) / 2).all()
    wide = torch.arange(20.0).reshape(4, 5).t()  # not contiguous
    dist.all_reduce(wide)
    assert torch.equal(wide, torch.arange(20.0).reshape(4, 5).t() * n)
    assert group().communicator.health().calls > 20


@check
def what_we_lack_goes_to_gloo(rank: int, n: int) -> None:
    t = torch.tensor([1 << rank], dtype=torch.int64)
    dist.all_reduce(t, dist.ReduceOp.BOR)
    assert t.item() == (1 << n) - 1
    b = torch.tensor([rank == 0], dtype=torch.int8)
    dist.all_reduce(b)
    assert b.item() == 1


@check
def moves(rank: int, n: int) -> None:
    outs = [torch.zeros(3) for _ in range(n)]
    dist.all_gather(outs, torch.full((3,), float(rank)))
    assert [o[2].item() for o in outs] == list(range(n))
    uneven = [torch.zeros(r + 1) for r in range(n)]
    dist.all_gather(uneven, torch.full((rank + 1,), float(rank)))
    assert [o.sum().item() for o in uneven] == [r * (r + 1) for r in range(n)]
    flat = torch.zeros(2 * n, dtype=torch.bool)
    dist.all_gather_single(flat, torch.tensor([rank == 0, True]))
    assert flat.sum() == n + 1
    part = torch.zeros(2)
    dist.reduce_scatter_single(part, torch.arange(2.0 * n))
    assert part.tolist() == [2 * rank * n, (2 * rank + 1) * n]
    dist.reduce_scatter(part, [torch.full((2,), float(r)) for r in range(n)])
    assert part.tolist() == [rank * n, rank * n]
    out = torch.zeros(n)
    dist.all_to_all_single(out, torch.arange(float(n)) + 10 * rank)
    assert out.tolist() == [10.0 * r + rank for r in range(n)]
    out = torch.zeros((n * (rank + 1), 2))
    dist.all_to_all_single(
        out, torch.full((n * (n + 1) // 2, 2), float(rank)), [rank + 1] * n, [r + 1 for r in range(n)]
    )
    assert out[:, 0].tolist() == [float(r) for r in range(n) for _ in range(rank + 1)]
    lists = [torch.zeros(1) for _ in range(n)]
    dist.all_to_all(lists, [torch.tensor([float(rank * n + r)]) for r in range(n)])
    assert [t.item() for t in lists] == [r * n + rank for r in range(n)]
    t = torch.full((4,), float(rank))
    dist.broadcast(t, n - 1)
    assert (t == n - 1).all()
    t = torch.ones(4)
    dist.reduce(t, 0)
    assert (t == (n if rank == 0 else 1)).all()
    got = [torch.zeros(1) for _ in range(n)] if rank == 1 else None
    dist.gather(torch.tensor([float(rank)]), got, dst=1)
    assert got is None or [t.item() for t in got] == list(range(n))
    one = torch.zeros(1)
    dist.scatter(one, [torch.tensor([r + 5.0]) for r in range(n)] if rank == 0 else None, src=0)
    assert one.item() == rank + 5
    dist.barrier()


@check
def asynchronous(rank: int, n: int) -> None:
    tensors = [torch.full((5000,), float(i)) for i in range(20)]
    works = [dist.all_reduce(t, async_op=True) for t in tensors]
    for i, (t, work) in enumerate(zip(tensors, works, strict=True)):
        work.wait()
        assert work.is_completed()
        assert (t == i * n).all()
    future = dist.all_reduce(tensors[1], async_op=True).get_future()
    assert future.wait()[0][0] == n * n


@check
def objects(rank: int, n: int) -> None:
    everything: list[Any] = [None] * n
    dist.all_gather_object(everything, {"rank": rank, "text": "x" * rank})
    assert everything[-1] == {"rank": n - 1, "text": "x" * (n - 1)}
    box = [{"from": rank}]
    dist.broadcast_object_list(box, 0)
    assert box == [{"from": 0}]


@check
def pairs(rank: int, n: int) -> None:
    right, left = (rank + 1) % n, (rank - 1) % n
    big = torch.full((300_000,), float(rank))
    got = torch.zeros(300_000)
    works = dist.batch_isend_irecv([dist.P2POp(dist.isend, big, right), dist.P2POp(dist.irecv, got, left)])
    for work in works:
        work.wait()
    assert (got == left).all()
    if rank == 0:
        dist.send(torch.tensor([7.0]), 1)
    elif rank == 1:
        t = torch.zeros(1)
        assert dist.recv(t, None) == 0
        assert t.item() == 7
    dist.barrier()


@check
def groups(rank: int, n: int) -> None:
    pair = dist.new_group([0, 1], backend="stellwerk")
    t = torch.ones(3)
    if rank < 2:
        dist.all_reduce(t, group=pair)
        assert (t == 2).all()
    whole = dist.new_group()
    dist.all_reduce(t, group=whole)
    assert t[0] == 4 + (n - 2)
    dist.destroy_process_group(whole)
    if rank < 2:
        dist.destroy_process_group(pair)


def _train(backend_group: Any, rank: int, n: int) -> list[torch.Tensor]:
    torch.manual_seed(rank)  # DDP must give every rank the weights of rank 0
    model = torch.nn.Sequential(
        torch.nn.Linear(32, 300), torch.nn.Tanh(), torch.nn.Linear(300, 300), torch.nn.Linear(300, 1)
    )
    torch.manual_seed(17)
    if rank == 0:
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.1)
    ddp = torch.nn.parallel.DistributedDataParallel(model, process_group=backend_group, bucket_cap_mb=0.2)
    optimizer = torch.optim.Adam(ddp.parameters(), 0.01)
    for step in range(8):
        generator = torch.Generator().manual_seed(step * n + rank)
        data = torch.randn(16, 32, generator=generator)
        optimizer.zero_grad()
        (ddp(data) - data.sum(1, keepdim=True)).square().mean().backward()
        optimizer.step()
    return [p.detach() for p in model.parameters()]


@check
def ddp_is_bit_identical_on_all_ranks_and_equals_gloo(rank: int, n: int) -> None:
    ours = _train(group(), rank, n)
    theirs = _train(dist.new_group(backend="gloo"), rank, n)
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-3, atol=1e-4)
        copies = [torch.empty_like(a) for _ in range(n)]
        dist.all_gather(copies, a)
        assert all(torch.equal(copies[0], c) for c in copies)


@check
def a_missing_rank_is_named_within_the_timeout(rank: int, n: int) -> None:
    from stellwerk.collectives import Aborted, PeerLost

    short = dist.new_group(backend="stellwerk", timeout=timedelta(seconds=1))
    if rank == 1:
        while short.communicator.health().state != "failed":
            pass
        return
    try:
        dist.all_reduce(torch.ones(3), group=short)
    except (PeerLost, Aborted) as error:
        assert "rank 1" in str(error)
        return
    raise AssertionError("no error")


def _rank(rank: int, n: int, store: str, names: list[str], out: int) -> None:
    import stellwerk.collectives.torch_backend

    torch.set_num_threads(1)
    if names == ["all_fall_back_to_gloo"]:
        _fall_back(rank)
    dist.init_process_group("stellwerk", init_method=f"file://{store}", rank=rank, world_size=n)
    for name in names:
        try:
            CHECKS[name](rank, n)
            word = "fine"
        except BaseException:  # noqa: BLE001 - reported to the test
            word = traceback.format_exc()
        os.write(out, (json.dumps([name, rank, word]) + "\n").encode())
        if word != "fine":
            break
    dist.destroy_process_group()
    assert stellwerk


def _fall_back(rank: int) -> None:
    from stellwerk.collectives import selftest

    if rank == 1:

        def failing(*_: Any) -> Any:
            raise selftest.SelfTestFailed("this machine adds wrongly")

        selftest.run_self_test = failing


@check
def all_fall_back_to_gloo(rank: int, n: int) -> None:
    assert "this machine adds wrongly" in group().fallback
    t = torch.ones(3)
    dist.all_reduce(t)
    assert (t == n).all()
    dist.barrier()
    assert group().communicator is None


def main() -> None:
    n, names = int(sys.argv[1]), sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(n):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    _rank(rank, n, f"{folder}/store", names, 1)
                    code = 0
                except BaseException:  # noqa: BLE001 - reported to the test
                    traceback.print_exc()
                os._exit(code)
            children.append(pid)
        codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
