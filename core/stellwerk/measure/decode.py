"""Decoding with a model that is split over ranks on this computer: what an all-reduce costs per token."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stellwerk.measure import local_ranks
from stellwerk.measure.collectives import ALGORITHMS, Progress

MODULE = "stellwerk.measure.decode_ranks"
OWN = (*ALGORITHMS, "auto")
CONTENDERS = (*OWN, "gloo")
TRANSPORTS = ("shm", "tcp")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to decode, and how the ranks exchange."""

    ranks: tuple[int, ...] = (1, 2, 4)
    layers: int = 4
    width: int = 512
    heads: int = 8
    tokens: int = 32
    rounds: int = 3
    transport: str = "shm"
    delay_us: float = 0.0
    contenders: tuple[str, ...] = CONTENDERS
    seed: int = 1

    def __post_init__(self) -> None:
        local_ranks.check_ranks(self.ranks)
        if max(self.ranks) > self.heads:
            raise ValueError(f"{self.heads} heads cannot be dealt out to {max(self.ranks)} ranks")
        if self.width % (2 * self.heads):
            raise ValueError(f"a width of {self.width} cannot be dealt out to {self.heads} heads of even size")
        if min(self.layers, self.tokens, self.rounds) < 1:
            raise ValueError("layers, tokens and rounds are at least 1")
        if self.delay_us < 0:
            raise ValueError("the delay of a link is not negative")
        if self.transport not in TRANSPORTS:
            raise ValueError(f"unknown transport {self.transport!r}; known are: {', '.join(TRANSPORTS)}")
        unknown = [c for c in self.contenders if c not in CONTENDERS]
        if unknown or not self.contenders:
            raise ValueError(f"unknown algorithm {', '.join(unknown)!r}; known are: {', '.join(CONTENDERS)}")

    @property
    def message_bytes(self) -> int:
        """What each all-reduce exchanges."""
        return 4 * self.width

    @property
    def measured(self) -> tuple[str, ...]:
        """The contenders that can take part: our link can be emulated, Gloo's cannot."""
        return tuple(c for c in self.contenders if c != "gloo" or not self.delay_us)


@dataclass(frozen=True, slots=True)
class Line:
    """One contender on one number of ranks."""

    ranks: int
    contender: str
    ms_per_token: float
    reduce_share: float
    parts_at: int  # the first token that differs from one rank's, or -1
    logits_apart: float
    same_bits: bool

    @property
    def tokens_per_s(self) -> float:
        """Tokens per second."""
        return 1000 / self.ms_per_token

    @property
    def right(self) -> bool:
        """The tokens of one rank, and the same bits on every rank."""
        return self.parts_at < 0 and self.same_bits


@dataclass(frozen=True, slots=True)
class Result:
    """What was measured, the token ids of one rank, and how many processors the ranks shared."""

    plan: Plan
    lines: tuple[Line, ...]
    ids: tuple[int, ...]
    processors: int

    @property
    def right(self) -> bool:
        """Every line is."""
        return all(line.right for line in self.lines)

    def line(self, ranks: int, contender: str) -> Line | None:
        """One line, if it was measured."""
        return next((x for x in self.lines if (x.ranks, x.contender) == (ranks, contender)), None)


async def measure(plan: Plan, on_progress: Callable[[Progress], None] = lambda _: None) -> Result:
    """Decode. MeasurementFailed if a rank fails, StellwerkError without torch."""
    local_ranks.need_torch()
    answer = await local_ranks.run(MODULE, {**asdict(plan), "contenders": plan.measured}, on_progress)
    return Result(plan, tuple(_line(plan, a) for a in answer["lines"]), tuple(answer["ids"]), local_ranks.processors())


def _line(plan: Plan, answer: dict[str, Any]) -> Line:
    return Line(
        ranks=answer["ranks"],
        contender=answer["contender"],
        ms_per_token=statistics.median(answer["seconds"]) * 1000 / plan.tokens,
        reduce_share=answer["share"],
        parts_at=answer["parts_at"],
        logits_apart=answer["apart"],
        same_bits=answer["same_bits"],
    )


HEADS = ("ranks", "algorithm", "tokens/s", "ms per token", "in all-reduce", "token ids")


def table(result: Result) -> list[tuple[str, ...]]:
    """The rows below HEADS."""
    return [
        (
            str(line.ranks),
            "none" if line.ranks == 1 else line.contender,
            f"{line.tokens_per_s:.1f}",
            f"{line.ms_per_token:.2f}",
            "-" if line.ranks == 1 else f"{line.reduce_share:.0%}",
            _ids(line),
        )
        for line in result.lines
    ]


def _ids(line: Line) -> str:
    if not line.same_bits:
        return "ranks differ"
    return "as one rank" if line.parts_at < 0 else f"differ from token {line.parts_at}"


def sentences(result: Result) -> list[str]:
    """What the table means."""
    plan, found = result.plan, []
    for ranks in plan.ranks:
        direct, ring = result.line(ranks, "direct"), result.line(ranks, "ring")
        if direct and ring:
            ratio = ring.ms_per_token / direct.ms_per_token
            found.append(f"{ranks} ranks: with direct a token takes {1 / ratio:.2f} of the time it takes with ring.")
    found.append(_sameness(result.lines, result.ids))
    if plan.delay_us:
        found.append(
            f"Every message takes {plan.delay_us:g} µs longer on the emulated link: this shows what the number of "
            "steps of an algorithm costs. Gloo cannot be held back and is left out."
        )
    if max(plan.ranks) > 1:
        found.append(
            f"The ranks share this computer ({result.processors} processors) and its memory: the speed-up of a cluster "
            "is not shown by this."
        )
    return found


def _sameness(lines: Sequence[Line], ids: Sequence[int]) -> str:
    wrong = [line for line in lines if not line.right]
    if wrong:
        named = ", ".join(f"{line.contender} on {line.ranks}" for line in wrong)
        return f"NOT the token ids of one rank, or not the same bits on every rank: {named} ranks."
    apart = max(line.logits_apart for line in lines)
    words = f"All {len(ids)} token ids are those of one rank, on every rank, in every line"
    if apart:
        return f"{words}; logits differ by up to {apart:.1e}, because sums are rounded in another order."
    return f"{words}; so are the bits of the logits."


def to_json(result: Result) -> dict[str, Any]:
    """The figures for other programs."""
    lines = [asdict(line) | {"tokens_per_s": line.tokens_per_s, "right": line.right} for line in result.lines]
    return {
        "plan": asdict(result.plan),
        "processors": result.processors,
        "lines": lines,
        "token_ids": list(result.ids),
        "right": result.right,
    }
