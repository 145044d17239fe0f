"""The ranks of the decode measurement: `python -m stellwerk.measure.decode_ranks PLAN`, started by `measure.decode`.

The contenders of one number of ranks take turns, so that a busy moment of the machine hits all of them.
"""

from __future__ import annotations

import ctypes
import hashlib
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.distributed as dist

from stellwerk.collectives import Communicator, Link
from stellwerk.measure.forked import Tell, need_starter, run_ranks, same_for_all, serve
from stellwerk.measure.reference import Decoded, Decoder, Shape, decode, part, whole

WARM_UP = 4
TIMEOUT_S = 60.0


class Timed:
    """An all-reduce that adds up how long it took."""

    def __init__(self, reduce: Callable[[], Any]) -> None:
        self._reduce = reduce
        self.ns = 0

    def __call__(self) -> None:
        begun = time.perf_counter_ns()
        self._reduce()
        self.ns += time.perf_counter_ns() - begun


def digest(tensor: torch.Tensor) -> str:
    """Of every bit of a tensor."""
    flat = tensor.contiguous()
    return hashlib.sha256(ctypes.string_at(flat.data_ptr(), flat.nbytes)).hexdigest()


def compared(got: Decoded, wanted: Decoded) -> tuple[int, float]:
    """The token at which two decodings part (-1: nowhere), and how far the logits are apart until there."""
    pairs = enumerate(zip(got.ids, wanted.ids, strict=True))
    parts_at = next((i for i, (a, b) in pairs if a != b), -1)
    until = len(got.ids) if parts_at < 0 else parts_at + 1
    return parts_at, float((got.logits[:until] - wanted.logits[:until]).abs().max())


@contextmanager
def gloo(folder: str, rank: int, ranks: int) -> Iterator[None]:
    """A process group over Gloo for as long as the block lasts."""
    store = torch._C._distributed_c10d.FileStore(f"{folder}/gloo-{ranks}", ranks)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=ranks)
    try:
        yield
    finally:
        dist.destroy_process_group()


class Run:
    """Everything that the processes of one measurement share: they are forked with it."""

    def __init__(self, plan: dict[str, Any], tell: Tell) -> None:
        self._plan, self._tell = plan, tell
        self._shape = Shape(plan["layers"], plan["width"], plan["heads"], plan["tokens"])
        self._weights = whole(self._shape, plan["seed"])
        self._wanted = decode(Decoder(self._shape, self._weights), plan["tokens"], need_starter)
        self._done, self._of = 0, plan["rounds"] * sum(len(plan["contenders"]) if n > 1 else 1 for n in plan["ranks"])

    def measure(self) -> dict[str, Any]:
        """All numbers of ranks, one after the other."""
        lines = []
        for ranks in self._plan["ranks"]:
            token = secrets.token_hex(32)
            with socket.create_server(("127.0.0.1", 0)) as door, tempfile.TemporaryDirectory() as folder:
                work = partial(self._rank, ranks, door, token, folder)
                answers = run_ranks(ranks, work, self._hear)
            lines += [self._line(ranks, number, answers) for number in range(len(answers[0]))]
        return {"lines": lines, "ids": self._wanted.ids}

    def _hear(self, rank: int, what: str) -> None:
        if rank == 0:
            self._tell({"done": self._done, "of": self._of, "what": what})
            self._done += 1

    def _line(self, ranks: int, number: int, answers: list[Any]) -> dict[str, Any]:
        mine = [answer[number] for answer in answers]
        parted = [m["parts_at"] for m in mine if m["parts_at"] >= 0]
        return {
            "contender": mine[0]["contender"],
            "ranks": ranks,
            "seconds": [max(times) for times in zip(*(m["seconds"] for m in mine), strict=True)],
            "share": sum(sum(m["reducing"]) for m in mine) / sum(sum(m["seconds"]) for m in mine),
            "parts_at": min(parted) if parted else -1,
            "apart": max(m["apart"] for m in mine),
            "same_bits": same_for_all([m["digest"] for m in mine]),
        }

    def _rank(self, ranks: int, door: socket.socket, token: str, folder: str, rank: int, tell: Tell) -> list[Any]:
        decoder = Decoder(self._shape, part(self._shape, self._weights, rank, ranks))
        if ranks == 1:
            return self._turns({"whole model": lambda: None}, lambda: None, decoder, 1, tell)
        plan = self._plan
        link = Link(plan["delay_us"])
        rivals = gloo(folder, rank, ranks) if "gloo" in plan["contenders"] else nullcontext()
        address = "tcp://{}:{}".format(*door.getsockname()[:2])
        listener = door if rank == 0 else None
        comm = Communicator.connect(
            rank,
            ranks,
            address,
            token=token,
            listener=listener,
            transport=plan["transport"],
            link=link,
            timeout_s=TIMEOUT_S,
        )
        with comm, rivals:
            ways: dict[str, Callable[[], Any]] = {}
            for name in plan["contenders"]:
                if name == "gloo":
                    ways[name] = lambda: dist.all_reduce(decoder.partial)
                else:
                    algorithm = None if name == "auto" else name
                    ways[name] = comm.prepare_all_reduce(decoder.partial, algorithm=algorithm)
            return self._turns(ways, comm.barrier, decoder, ranks, tell)

    def _turns(
        self, ways: dict[str, Callable[[], Any]], barrier: Callable[[], Any], decoder: Decoder, ranks: int, tell: Tell
    ) -> list[dict[str, Any]]:
        found = {
            name: {"contender": name, "seconds": [], "reducing": [], "parts_at": -1, "apart": 0.0, "digest": ""}
            for name in ways
        }
        tokens = self._plan["tokens"]
        for turn in range(self._plan["rounds"]):
            # Forwards, then backwards: whoever comes first after a pause has cold caches.
            for name in ways if turn % 2 == 0 else reversed(ways):
                tell(f"{ranks} ranks, {name}")
                decode(decoder, min(WARM_UP, tokens), ways[name])
                barrier()
                self._one(found[name], decoder, Timed(ways[name]), tokens)
        return list(found.values())

    def _one(self, found: dict[str, Any], decoder: Decoder, reduce: Timed, tokens: int) -> None:
        begun = time.perf_counter()
        got = decode(decoder, tokens, reduce)
        found["seconds"].append(time.perf_counter() - begun)
        found["reducing"].append(reduce.ns / 1e9)
        parts_at, apart = compared(got, self._wanted)
        found["apart"] = max(found["apart"], apart)
        found["digest"] += digest(got.logits)
        if found["parts_at"] < 0:
            found["parts_at"] = parts_at


def work(plan: dict[str, Any], tell: Tell) -> dict[str, Any]:
    """See the module."""
    # One thread per rank: more would compete with the other ranks for the processors.
    torch.set_num_threads(1)
    return Run(plan, tell).measure()


if __name__ == "__main__":
    sys.exit(serve(sys.argv[1], work))
