"""What a decision is: a pool with the way to it, or a named reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from stellwerk.serving.decision.request import Turn

NoPoolKind = Literal["unknown_model", "unhealthy", "overloaded", "context", "override_refused", "override_unknown"]


@dataclass(frozen=True, slots=True)
class Hop:
    """One step on the way. `label` is the branch, arm, label or entry that was taken; `to` where it leads."""

    step: str
    kind: Literal["model", "override", "when", "classify", "split", "try", "switchyard"]
    label: str
    to: str
    why: str


@dataclass(frozen=True, slots=True)
class Scored:
    """What an embedded classifier found in a `classify` step; goes to `ShareKeeper.observe`.

    `score` is 0..1, higher is harder. `features` names what spoke for and against, strongest first, as
    (feature, weight): a positive weight speaks for the harder side.
    """

    step: str
    classifier: str
    score: float
    label: str
    features: tuple[tuple[str, float], ...] = ()


class Decision(NamedTuple):
    """Where a request goes. A tuple, because one is made for every request and a frozen dataclass takes thrice as long.

    `pool` is the choice, `candidates` what to try after a failure before the first content byte (in order, without
    `pool`). `path` names the steps passed, `hops` says why at each. `scores` go to `ShareKeeper.observe`.
    """

    pool: str
    path: tuple[str, ...]
    hops: tuple[Hop, ...]
    candidates: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()  # (pool, reason) of candidates before `pool` that could not take it
    scores: tuple[Scored, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence per hop, for people; then one per pool that was passed over."""
        said = [f"{hop.step}: {hop.why} -> {hop.to}" for hop in self.hops]
        said += [f"{pool}: passed over, {reason}" for pool, reason in self.skipped]
        return tuple(said)

    @property
    def path_text(self) -> str:
        """For the `x-stellwerk-path` header: `triage>ask>large`."""
        return ">".join((*self.path, self.pool))


class NoPool(Exception):
    """No pool can take the request. `kind` is for programs, the text for people, `hops` how far it came, and `pool` to
    which one that led first, if to any.

    `scores` belong to `ShareKeeper.observe` like those of a decision: leaving the refused out would bend the shares.

    HTTP status that suits: unknown_model 404, unhealthy 503, overloaded 429, context 400,
    override_refused 403, override_unknown 400.
    """

    def __init__(
        self,
        kind: NoPoolKind,
        message: str,
        hops: tuple[Hop, ...] = (),
        scores: tuple[Scored, ...] = (),
        pool: str | None = None,
    ) -> None:
        super().__init__(message)
        self.pool = pool
        self.kind: NoPoolKind = kind
        self.hops = hops
        self.scores = scores


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """A judge was asked, or would have been, and named no label: the step's `on_error` stands. `why` is for people."""

    why: str


# What decide() is told of a judge: the label that it named, or why it named none.
Answer = str | NoAnswer


@dataclass(frozen=True, slots=True)
class Question:
    """Something outside this process must be asked before the decision can go on.

    `kind` "llm": ask `pool` with `turns` which of `labels` fits.
    `kind` "switchyard": run the algorithm of step `step` (see `stellwerk.serving.decision.switchyard`).
    """

    kind: Literal["llm", "switchyard"]
    key: str  # what the answer is filed under in `answers`
    step: str
    labels: tuple[str, ...]
    on_error: str  # the label that stands when no answer comes
    timeout_s: float
    pool: str | None = None
    prompt: str | None = None
    turns: tuple[Turn, ...] = ()


class AnswerNeeded(Exception):
    """decide() met a judge whose answer was not given. `decide_async` asks and calls again."""

    def __init__(self, question: Question) -> None:
        super().__init__(f"step {question.step} waits for {question.key}")
        self.question = question


class Ask(Protocol):
    """What the gateway implements: put a question to a pool and give back one of its labels.

    Any exception, a label that is not among `question.labels`, or the deadline means `question.on_error`.
    """

    async def __call__(self, question: Question) -> str: ...
