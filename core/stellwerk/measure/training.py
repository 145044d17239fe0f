"""Training a small GPT data-parallel over ranks on this computer: over our backend, over Gloo, and on one rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from stellwerk.measure import local_ranks
from stellwerk.measure.collectives import Progress

MODULE = "stellwerk.measure.training_ranks"
TRANSPORTS = ("auto", "shm", "tcp")
WARM_UP = 2
EARLY = 10
EARLY_APART = 1e-3  # later, rounding has had time to grow


@dataclass(frozen=True, slots=True)
class Plan:
    """What to train. `batch` sequences per step are shared by all ranks, so every number of ranks learns the same."""

    ranks: tuple[int, ...] = (1, 2, 4)
    steps: int = 60
    batch: int = 16
    context: int = 64
    layers: int = 3
    width: int = 128
    heads: int = 4
    bucket_mb: float = 0.25
    transport: str = "auto"
    seed: int = 1

    def __post_init__(self) -> None:
        local_ranks.check_ranks(self.ranks)
        uneven = [n for n in self.ranks if self.batch % n]
        if uneven:
            raise ValueError(f"{self.batch} sequences per step cannot be dealt out evenly to {uneven[0]} ranks")
        if self.steps <= WARM_UP:
            raise ValueError(f"the first {WARM_UP} steps are not timed: train at least {WARM_UP + 1}")
        if self.transport not in TRANSPORTS:
            raise ValueError(f"unknown transport {self.transport!r}; known are: {', '.join(TRANSPORTS)}")


@dataclass(frozen=True, slots=True)
class Line:
    """One backend on one number of ranks."""

    ranks: int
    backend: str
    losses: tuple[float, ...]
    tokens_per_s: float
    buckets: int
    same_bits: bool
    digest: str
    apart: float  # the largest difference of a weight between our backend and Gloo


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured, how many weights the model has, and how many processors the ranks shared."""

    plan: Plan
    lines: tuple[Line, ...]
    weights: int
    processors: int

    def speed_up(self, line: Line) -> float | None:
        """Against one rank, if that was measured."""
        one = next((x for x in self.lines if x.ranks == 1), None)
        return line.tokens_per_s / one.tokens_per_s if one else None

    @property
    def early_apart(self) -> float:
        """How far the losses of the first steps are apart between any two lines."""
        steps = zip(*(line.losses[:EARLY] for line in self.lines), strict=True)
        return float(max(max(step) - min(step) for step in steps))

    @property
    def right(self) -> bool:
        """The same bits on every rank, and the same learning in every line."""
        return all(line.same_bits for line in self.lines) and self.early_apart <= EARLY_APART


async def measure(plan: Plan, on_progress: Callable[[Progress], None] = lambda _: None) -> Result:
    """Train. MeasurementFailed if a rank fails, StellwerkError without torch."""
    local_ranks.need_torch()
    answers = await local_ranks.run(MODULE, asdict(plan), on_progress)
    tokens = (plan.steps - WARM_UP) * plan.batch * plan.context
    lines = []
    for a in answers:
        rate = tokens / a["seconds"]
        facts = (a["buckets"], a["same_bits"], a["digest"], a["apart"])
        lines.append(Line(a["ranks"], a["backend"], tuple(a["losses"]), rate, *facts))
    return Result(plan, tuple(lines), answers[0]["weights"], local_ranks.processors())


HEADS = ("ranks", "backend", "loss", "tokens/s", "speed-up", "efficiency", "weights")


def table(result: Result) -> list[tuple[str, ...]]:
    """The rows below HEADS."""
    rows: list[tuple[str, ...]] = []
    for line in result.lines:
        speed_up = result.speed_up(line)
        rows.append(
            (
                str(line.ranks),
                line.backend,
                f"{line.losses[0]:.3f} -> {line.losses[-1]:.3f}",
                f"{line.tokens_per_s:.0f}",
                f"{speed_up:.2f}x" if speed_up else "-",
                f"{speed_up / line.ranks:.0%}" if speed_up else "-",
                f"same {line.digest[:8]}" if line.same_bits else "DIFFER",
            )
        )
    return rows


def sentences(result: Result) -> list[str]:
    """What the table means."""
    found = []
    for line in result.lines:
        if line.backend == "stellwerk":
            found.append(
                f"{line.ranks} ranks: gradients in {line.buckets} buckets during the backward pass; after "
                f"{result.plan.steps} steps no weight is further from Gloo's than {line.apart:.1e}."
            )
    if any(line.same_bits for line in result.lines):
        found.append("`same`: every rank ended with the same bits; their digest follows.")
    if len(result.lines) > 1:
        words = "agree" if result.early_apart <= EARLY_APART else "do NOT agree"
        found.append(f"The losses of the first {EARLY} steps {words} in all lines (within {result.early_apart:.1e}).")
    if max(result.plan.ranks) > 1:
        found.append(
            f"The ranks share this computer ({result.processors} processors) and its memory: the speed-up of a cluster "
            "is not shown by this."
        )
    return found


def to_json(result: Result) -> dict[str, Any]:
    """The figures for other programs."""
    lines = [asdict(line) | {"speed_up": result.speed_up(line)} for line in result.lines]
    facts = {"weights": result.weights, "processors": result.processors, "early_apart": result.early_apart}
    return {"plan": asdict(result.plan), **facts, "lines": lines, "right": result.right}
