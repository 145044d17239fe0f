"""Runs requests through a policy without sending any: what would each pool get, what would it cost, how good is it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from stellwerk.serving.decision.decide import decide
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.shares import ShareKeeper
from stellwerk.serving.decision.state import PoolState, StateSnapshot
from stellwerk.serving.decision.types import Answer, AnswerNeeded, Decision, NoAnswer, NoPool, Question
from stellwerk.serving.policy.compiled import CompiledPolicy

# Tokens of an answer where a log does not say: the order of magnitude of a chat answer.
ASSUMED_ANSWER_TOKENS = 300
# Of a question to a judge: its instructions, the most it is shown of a conversation, and its one word.
_INSTRUCTION_TOKENS, _JUDGE_TOKENS, _VERDICT_TOKENS = 120, 2200, 3


@dataclass(frozen=True, slots=True)
class Logged:
    """One request of a log. Tokens None: estimated or assumed. `grades`: pool -> how right its answer was, 0..1."""

    request: RequestView
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    grades: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class Replayed:
    """Sums over all requests. Costs in the currency of the policy's prices; None where a price is missing."""

    requests: int = 0
    pools: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    wires: Counter[tuple[str, str]] = field(default_factory=Counter)  # (step or model, target) -> requests
    errors: Counter[str] = field(default_factory=Counter)
    judged: Counter[str] = field(default_factory=Counter)  # judges that would have been asked
    cost: float | None = 0.0
    baseline_cost: float | None = 0.0
    assumed_tokens: int = 0  # requests whose answer length was assumed
    graded: int = 0
    quality: float = 0.0  # sum over graded requests
    baseline_quality: float = 0.0

    @property
    def shares(self) -> dict[str, float]:
        """Pool -> share of the requests that found a pool."""
        total = sum(self.pools.values())
        return {pool: count / total for pool, count in self.pools.most_common()}


def decide_without_asking(
    policy: CompiledPolicy,
    request: RequestView,
    state: StateSnapshot,
    asked: Callable[[Question], None],
    *,
    explain: bool = False,
) -> Decision:
    """decide(), taking `on_error` for every judge; `asked` is told which ones. Raises NoPool."""
    answers: dict[str, Answer] = {}
    while True:
        try:
            return decide(policy, request, state, answers=answers, explain=explain)
        except AnswerNeeded as needed:
            asked(needed.question)
            answers[needed.question.key] = NoAnswer("not asked")


def replay(
    policy: CompiledPolicy,
    log: Iterable[Logged],
    *,
    baseline: str | None = None,
    pools: Mapping[str, PoolState] | None = None,
) -> Replayed:
    """Run a log through a policy.

    Args:
        baseline: pool that would have answered everything otherwise; None: the policy's, else the dearest.
        pools: what state the pools are in all the time; missing ones are ready and idle.
    """
    baseline = baseline or policy.policy.gateway.baseline or dearest_pool(policy)
    keeper = ShareKeeper(policy.policy)
    found = Replayed()
    for entry in log:
        found.requests += 1
        state = StateSnapshot(pools or {}, keeper.thresholds())
        questions: list[Question] = []
        try:
            decision = decide_without_asking(policy, entry.request, state, questions.append)
        except NoPool as error:
            keeper.observe(error.scores)
            found.errors[error.kind] += 1
            _count_questions(policy, found, questions)
            continue
        keeper.observe(decision.scores)
        found.pools[decision.pool] += 1
        found.paths[decision.path_text] += 1
        found.wires[entry.request.model, decision.path[0] if decision.path else decision.pool] += 1
        found.wires.update((hop.step, hop.to) for hop in decision.hops)
        _count(policy, found, entry, decision.pool, baseline)
        _count_questions(policy, found, questions)
    return found


def _count_questions(policy: CompiledPolicy, found: Replayed, questions: list[Question]) -> None:
    """What judges cost on top; the baseline alone would ask nobody."""
    for question in questions:
        found.judged[question.key] += 1
        if question.pool is not None:
            found.cost = _add(found.cost, _cost(policy, question.pool, _judge_tokens(question), _VERDICT_TOKENS))


def _judge_tokens(question: Question) -> int:
    """About what a judge reads: its instructions, and of the conversation what it gets to see."""
    letters = sum(len(turn.text) for turn in question.turns)
    return _INSTRUCTION_TOKENS + min(_JUDGE_TOKENS, int(letters / 3.6))


def dearest_pool(policy: CompiledPolicy) -> str | None:
    """The pool with the highest prices; None when fewer than two pools have one."""
    priced = [(pool.price.input + pool.price.output, name) for name, pool in policy.pools.items() if pool.price]
    return max(priced)[1] if len(priced) > 1 else None


def _count(policy: CompiledPolicy, found: Replayed, entry: Logged, pool: str, baseline: str | None) -> None:
    prompt = entry.prompt_tokens if entry.prompt_tokens is not None else entry.request.prompt_tokens
    answer = entry.answer_tokens
    if answer is None:
        answer = ASSUMED_ANSWER_TOKENS
        found.assumed_tokens += 1
    found.cost = _add(found.cost, _cost(policy, pool, prompt, answer))
    found.baseline_cost = _add(found.baseline_cost, _cost(policy, baseline, prompt, answer))
    if baseline is not None and pool in entry.grades and baseline in entry.grades:
        found.graded += 1
        found.quality += entry.grades[pool]
        found.baseline_quality += entry.grades[baseline]


def _cost(policy: CompiledPolicy, pool: str | None, prompt: int, answer: int) -> float | None:
    price = policy.pools[pool].price if pool is not None else None
    return None if price is None else (price.input * prompt + price.output * answer) / 1_000_000


def _add(total: float | None, more: float | None) -> float | None:
    return None if total is None or more is None else total + more
