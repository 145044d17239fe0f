"""What the torch.distributed backend adds to the bare communicator, in turns in the same processes.

    python tests/bench/torch_backend.py [--ranks 2] [--sizes 1024,8192,65536] [--calls 400] [--rounds 20]

Median µs of the slowest rank, shared memory and TCP. Prints, asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from typing import Any

import torch
import torch.distributed as dist


def one_rank(rank: int, options: argparse.Namespace, store: str, out: int) -> None:
    import stellwerk.collectives.torch_backend  # noqa: F401

    torch.set_num_threads(1)
    dist.init_process_group("stellwerk", init_method=f"file://{store}", rank=rank, world_size=options.ranks)
    comm: Any = dist.distributed_c10d._get_default_group().communicator
    for size in options.sizes:
        tensor = torch.ones(size // 4)
        times: dict[str, list[float]] = {"bare": [], "torch": []}
        for turn in range(options.rounds):
            ways = (("bare", comm.all_reduce), ("torch", dist.all_reduce))
            for name, call in ways if turn % 2 else reversed(ways):
                tensor.fill_(1.0)  # sums double with every call: begin anew before they overflow
                comm.barrier()
                for _ in range(options.calls // options.rounds):
                    began = time.perf_counter_ns()
                    call(tensor)
                    times[name].append((time.perf_counter_ns() - began) / 1e3)
        everybody: list[Any] = [None] * options.ranks
        dist.all_gather_object(everybody, times)
        if rank == 0:
            medians = {
                name: statistics.median(max(calls) for calls in zip(*(t[name] for t in everybody), strict=True))
                for name in times
            }
            words = f"bare {medians['bare']:6.1f} µs, through torch {medians['torch']:6.1f} µs"
            added = medians["torch"] - medians["bare"]
            os.write(out, f"{comm.transport}, {options.ranks} ranks, {size} bytes: {words}: {added:+.1f} µs\n".encode())
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", default="1024,8192,65536")
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    options.sizes = [int(size) for size in options.sizes.split(",")]
    failed = 0
    for transport in ("shm", "tcp"):
        os.environ["STELLWERK_TRANSPORT"] = transport
        with tempfile.TemporaryDirectory() as folder:
            ranks = []
            for rank in range(options.ranks):
                pid = os.fork()  # torch is imported once: an import per rank takes seconds
                if pid == 0:
                    code = 1
                    try:
                        one_rank(rank, options, f"{folder}/store", sys.stdout.fileno())
                        code = 0
                    finally:
                        os._exit(code)
                ranks.append(pid)
            failed += sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in ranks)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
