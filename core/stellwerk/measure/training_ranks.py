"""The ranks of the training measurement: `python -m stellwerk.measure.training_ranks PLAN`, see `measure.training`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from datetime import timedelta
from functools import partial
from importlib.resources import files
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention
from torch.nn.parallel import DistributedDataParallel

import stellwerk.collectives.torch_backend  # noqa: F401 (makes "stellwerk" known to torch.distributed)
from stellwerk.measure.decode_ranks import digest
from stellwerk.measure.forked import Tell, run_ranks, same_for_all, serve

TIMEOUT = timedelta(seconds=60)
WARM_UP = 2  # DDP puts its buckets into the order of the backward pass after the first step


class Block(nn.Module):
    """Causal attention and an MLP, each after a norm and beside a residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self._heads = heads
        self.first, self.second = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.up, self.down = nn.Linear(width, 4 * width, bias=False), nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """One layer."""
        batch, context, width = x.shape
        qkv = self.qkv(self.first(x)).view(batch, context, 3, self._heads, -1).permute(2, 0, 3, 1, 4)
        attended = scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(batch, context, width))
        deeper: Tensor = x + self.down(gelu(self.up(self.second(x))))
        return deeper


class Gpt(nn.Module):
    """A small GPT over characters."""

    def __init__(self, characters: int, context: int, layers: int, width: int, heads: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(characters, width), nn.Parameter(0.02 * torch.randn(context, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.RMSNorm(width), nn.Linear(width, characters, bias=False)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits for the character after each one."""
        return self.head(self.norm(self.blocks(self.tokens(ids) + self.places)))  # type: ignore[no-any-return]


def text_ids() -> tuple[Tensor, int]:
    """The text as numbers, and how many different characters it has."""
    text = files("stellwerk_resources").joinpath("text", "alice.txt").read_text(encoding="utf-8")
    known = {c: i for i, c in enumerate(sorted(set(text)))}
    return torch.tensor([known[c] for c in text]), len(known)


class Trainer:
    """One training after the other from the same weights on the same data, in one rank."""

    def __init__(self, plan: dict[str, Any], rank: int, ranks: int) -> None:
        self._plan, self._rank, self._ranks = plan, rank, ranks
        self._ids, self._characters = text_ids()

    def model(self) -> Gpt:
        """The same weights on every rank and for every contender."""
        plan = self._plan
        torch.manual_seed(plan["seed"])
        return Gpt(self._characters, plan["context"], plan["layers"], plan["width"], plan["heads"])

    def batch(self, step: int) -> tuple[Tensor, Tensor]:
        """This rank's share of the sequences of a step; all shares together do not depend on the number of ranks."""
        plan = self._plan
        generator = torch.Generator().manual_seed(plan["seed"] * 1_000_003 + step)
        starts = torch.randint(len(self._ids) - plan["context"], (plan["batch"],), generator=generator)
        mine = starts.chunk(self._ranks)[self._rank]
        rows = self._ids[mine[:, None] + torch.arange(plan["context"] + 1)]
        return rows[:, :-1], rows[:, 1:]

    def train(self, module: nn.Module) -> tuple[list[float], float]:
        """The loss of this rank in every step, and the seconds of all but the first few."""
        optimizer = torch.optim.AdamW(module.parameters(), 3e-3)
        losses, begun = [], time.perf_counter()
        for step in range(self._plan["steps"]):
            if step == WARM_UP:
                begun = time.perf_counter()
            x, y = self.batch(step)
            optimizer.zero_grad()
            loss: Any = cross_entropy(module(x).flatten(0, 1), y.flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses, time.perf_counter() - begun


def weights(module: nn.Module) -> Tensor:
    """Every weight of a model in a row."""
    return torch.cat([p.detach().flatten() for p in module.parameters()])


def rank_of(plan: dict[str, Any], ranks: int, folder: str, rank: int, tell: Tell) -> list[dict[str, Any]]:
    """What one rank measures: alone without a backend, else over ours and over Gloo."""
    trainer = Trainer(plan, rank, ranks)
    if ranks == 1:
        tell("1 rank")
        model = trainer.model()
        losses, seconds = trainer.train(model)
        return [_answer("none", losses, seconds, weights(model), 1)]
    os.environ["STELLWERK_TRANSPORT"], os.environ["STELLWERK_ADDRESS"] = plan["transport"], "127.0.0.1"
    dist.init_process_group(
        "stellwerk", init_method=f"file://{folder}/store", rank=rank, world_size=ranks, timeout=TIMEOUT
    )
    try:
        ours: Any = dist.distributed_c10d._get_default_group()
        if ours.fallback:
            raise RuntimeError(f"the backend is off: {ours.fallback}")
        answers, trained = [], []
        for name, group in (("stellwerk", ours), ("gloo", dist.new_group(backend="gloo", timeout=TIMEOUT))):
            tell(f"{ranks} ranks, {name}")
            # Small buckets, so that gradients travel while the backward pass still runs.
            ddp = DistributedDataParallel(trainer.model(), process_group=group, bucket_cap_mb=plan["bucket_mb"])
            facts: Any = ddp
            dist.barrier()
            losses, seconds = trainer.train(ddp)
            trained.append(weights(ddp.module))
            sizes = str(facts._get_ddp_logging_data().get("rebuilt_bucket_sizes") or "")
            answers.append(_answer(name, losses, seconds, trained[-1], len(sizes.split(",")) if sizes else 1))
        for answer in answers:
            answer["apart"] = float((trained[0] - trained[1]).abs().max())
        return answers
    finally:
        dist.destroy_process_group()


def _answer(name: str, losses: list[float], seconds: float, trained: Tensor, buckets: int) -> dict[str, Any]:
    found = {"backend": name, "losses": losses, "seconds": seconds, "digest": digest(trained), "buckets": buckets}
    return found | {"apart": 0.0, "weights": trained.numel()}


def work(plan: dict[str, Any], tell: Tell) -> list[dict[str, Any]]:
    """See the module."""
    torch.set_num_threads(1)  # more would compete with the other ranks for the processors
    lines, done, of = [], 0, sum(1 if n == 1 else 2 for n in plan["ranks"])

    def hear(rank: int, what: str) -> None:
        nonlocal done
        if rank == 0:
            tell({"done": done, "of": of, "what": what})
            done += 1

    for ranks in plan["ranks"]:
        with tempfile.TemporaryDirectory() as folder:
            answers = run_ranks(ranks, partial(rank_of, plan, ranks, folder), hear)
        for mine in zip(*answers, strict=True):
            line = dict(mine[0])
            line["ranks"] = ranks
            line["losses"] = [sum(step) / ranks for step in zip(*(m["losses"] for m in mine), strict=True)]
            line["seconds"] = max(m["seconds"] for m in mine)
            line["same_bits"] = same_for_all([m["digest"] for m in mine])
            lines.append(line)
    return lines


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1], work))
