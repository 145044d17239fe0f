"""Data-parallel training of a small model over the backend "stellwerk", beside the same training over Gloo.

    torchrun --standalone --nproc-per-node 4 examples/ddp.py

Rank 0 prints, per backend, the loss, the time per step, and whether all ranks hold the same bits at the end; then how
far the two trainings are apart. On nodes, `torchrun --nnodes …` with the addresses of the fabric does the same.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import stellwerk.collectives.torch_backend  # noqa: F401 (makes "stellwerk" known to torch.distributed)

INPUTS, HIDDEN, BATCH = 64, 512, 64


def model() -> torch.nn.Module:
    """Made from each rank's own seed: DDP has to give every rank the weights of rank 0."""
    layers = [torch.nn.Linear(INPUTS, HIDDEN), torch.nn.GELU(), torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.GELU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(HIDDEN, 1))


def batch(step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Other data on every rank and in every step, the same for both backends."""
    generator = torch.Generator().manual_seed(step * dist.get_world_size() + dist.get_rank())
    x = torch.randn(BATCH, INPUTS, generator=generator)
    return x, torch.sin(x.sum(1, keepdim=True))


def train(group: Any, steps: int) -> tuple[torch.nn.Module, float, float]:
    """The trained model, its last loss on this rank, and the seconds per step."""
    torch.manual_seed(dist.get_rank() and 1000 + dist.get_rank())
    # Small buckets, so that gradients travel while the backward pass still runs.
    ddp = DistributedDataParallel(model(), process_group=group, bucket_cap_mb=0.25)
    optimizer = torch.optim.AdamW(ddp.parameters(), 3e-3)
    loss = torch.zeros(())
    began = time.perf_counter()
    for step in range(steps):
        x, y = batch(step)
        optimizer.zero_grad()
        loss = (ddp(x) - y).square().mean()
        loss.backward()
        optimizer.step()
    return ddp.module, loss.item(), (time.perf_counter() - began) / steps


def digest(trained: torch.nn.Module) -> str:
    """Of every bit of every weight."""
    whole = hashlib.sha256()
    for parameter in trained.parameters():
        whole.update(parameter.detach().numpy().tobytes())
    return whole.hexdigest()


def main() -> int:
    """0 when all ranks hold the same bits and both backends agree to rounding."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=60)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    dist.init_process_group("stellwerk", timeout=timedelta(seconds=60))
    rank, good = dist.get_rank(), True
    trained = {}
    for name, group in (("stellwerk", dist.group.WORLD), ("gloo", dist.new_group(backend="gloo"))):
        trained[name], loss, seconds = train(group, steps)
        digests: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(digests, digest(trained[name]))
        same = len(set(digests)) == 1
        good = good and same
        if rank == 0:
            words = "the same bits on all ranks" if same else "DIFFERENT WEIGHTS"
            print(f"{name:10} loss {loss:.4f}  {seconds * 1e3:7.2f} ms a step  {words} ({digests[0][:12]})")
    pairs = zip(trained["stellwerk"].parameters(), trained["gloo"].parameters(), strict=True)
    apart = max((a - b).abs().max().item() for a, b in pairs)
    good = good and apart < 1e-3
    if rank == 0:
        print(f"largest difference of a weight between the two: {apart:.1e}")
    dist.destroy_process_group()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
