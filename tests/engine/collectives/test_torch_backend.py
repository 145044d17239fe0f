"""torch.distributed over the backend "stellwerk": collectives, groups, objects, pairs, DDP, time-outs, fallback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
SCRIPT = Path(__file__).with_name("torch_ranks.py")
CHECKS = [
    "reductions",
    "what_we_lack_goes_to_gloo",
    "moves",
    "asynchronous",
    "objects",
    "pairs",
    "groups",
    "ddp_is_bit_identical_on_all_ranks_and_equals_gloo",
    "a_missing_rank_is_named_within_the_timeout",
]
RANKS = 3


def run(ranks: int, names: list[str]) -> dict[tuple[str, int], str]:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(ranks), *names],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    ended = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert ended, done.stderr[-3000:]
    return {(name, rank): word for name, rank, word in ended}


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, int], str]:
    return run(RANKS, CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_torch_gets_what_it_asks_for(outcomes: dict[tuple[str, int], str], name: str) -> None:
    for rank in range(RANKS):
        assert outcomes.get((name, rank), "was not reached") == "fine"


def test_all_ranks_use_gloo_if_the_start_up_tests_fail_on_one() -> None:
    for word in run(2, ["all_fall_back_to_gloo"]).values():
        assert word == "fine"


PROGRAM = """
import os, sys, torch, torch.distributed as dist
dist.init_process_group(backend=sys.argv[1])
t = torch.ones(4) * dist.get_rank()
dist.all_reduce(t)
group = dist.new_group([0, 1], None, sys.argv[1])
dist.all_reduce(t, group=group)
# In one piece: both ranks write to the same pipe.
os.write(1, f"{dist.get_backend()} {dist.get_backend(group)} {t[0].item()}\\n".encode())
dist.destroy_process_group()
sys.exit(int(sys.argv[2]) if os.environ["RANK"] == "1" else 0)
"""


def launch(tmp_path: Path, backend: str, code: int) -> subprocess.CompletedProcess[str]:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "stellwerk.cli.main", "launch", "--ranks", "2", "--"]
    return subprocess.run(
        [*command, sys.executable, str(program), backend, str(code)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_launch_swaps_nccl_in_a_program_that_names_it_and_passes_the_exit_code_on(tmp_path: Path) -> None:
    done = launch(tmp_path, "cpu:gloo,cuda:nccl", 3)
    assert done.returncode == 3, done.stderr
    assert done.stdout.count("stellwerk stellwerk 2.0") == 2


def test_the_example_trains_to_the_same_bits_on_all_ranks() -> None:
    example = str(Path(__file__).parents[3] / "examples" / "ddp.py")
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", example, "--steps=5"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("the same bits on all ranks") == 2
