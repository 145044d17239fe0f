"""`decide(policy, request, state)`: which pool answers. Pure: no clock, no random numbers, no I/O.

The gateway, the command line's and the editor's *explain*, the simulator and the tests all call this.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from operator import attrgetter
from unicodedata import normalize
from urllib.parse import unquote

from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.state import PoolState, StateSnapshot
from stellwerk.serving.decision.types import (
    Answer,
    AnswerNeeded,
    Ask,
    Decision,
    Hop,
    NoAnswer,
    NoPool,
    Question,
    Scored,
)
from stellwerk.serving.decision.walk import Candidate, Walk
from stellwerk.serving.policy.compiled import CompiledPolicy

OVERRIDE_HEADER = "x-stellwerk-pool"
_NO_ANSWERS: Mapping[str, Answer] = {}
_IDLE = PoolState()
_step = attrgetter("step")


def decide(
    policy: CompiledPolicy,
    request: RequestView,
    state: StateSnapshot,
    *,
    answers: Mapping[str, Answer] = _NO_ANSWERS,
    explain: bool = False,
) -> Decision:
    """Walk the policy's steps for one request.

    Args:
        answers: what judges said, by `Question.key`; only policies with `kind: llm` or `switchyard` steps need it.
        explain: also name the features behind every embedded classification (slower).

    Raises:
        NoPool: no pool can take it; `kind` says which of the named reasons.
        AnswerNeeded: a judge must be asked first; `decide_async` does that.
    """
    walk = Walk(request, state, policy.policy.salt, answers, explain)
    candidates = policy.nodes[entry(policy, walk)](walk)
    return _choose(policy, walk, candidates)


async def decide_async(
    policy: CompiledPolicy,
    request: RequestView,
    state: StateSnapshot,
    ask: Ask,
    *,
    answers: Mapping[str, Answer] | None = None,
    explain: bool = False,
) -> Decision:
    """decide(), asking judges on the way. A judge that fails or is late is taken to have said `on_error`, and why
    stands in the decision's reasons.

    Only a policy with `policy.needs.judge` ever awaits. Raises NoPool like decide().
    """
    known: dict[str, Answer] = dict(answers or {})
    while True:
        try:
            return decide(policy, request, state, answers=known, explain=explain)
        except AnswerNeeded as needed:
            known[needed.question.key] = await _answer(ask, needed.question)


async def _answer(ask: Ask, question: Question) -> Answer:
    try:
        async with asyncio.timeout(question.timeout_s):
            label = await ask(question)
    except TimeoutError:
        return NoAnswer(f"no answer within {question.timeout_s:g} s")
    except Exception as error:  # noqa: BLE001 - whatever a judge does wrong, the request goes on: it fails open
        return NoAnswer(str(error) or type(error).__name__)
    return label if label in question.labels else NoAnswer("the answer is no label")


def entry(policy: CompiledPolicy, walk: Walk) -> str:
    """Where this request starts: the caller's override where allowed, else what `models` says of its model name."""
    wanted = walk.request.headers.get(OVERRIDE_HEADER)
    if wanted:
        allowed = policy.policy.gateway.override
        if allowed is False or (allowed is not True and walk.request.api_key not in allowed):
            raise NoPool(
                "override_refused",
                f"The header {OVERRIDE_HEADER} is not allowed here. Leave it out, or permit it with `override` "
                "in the `gateway` section of the policy.",
            )
        wanted = _as_named(wanted, policy)
        if wanted not in policy.nodes:
            raise NoPool(
                "override_unknown",
                f"The header {OVERRIDE_HEADER} names {wanted!r}, which is no pool or step. "
                f"Pools: {', '.join(policy.pools)}.",
            )
        walk.hops = (Hop("request", "override", wanted, wanted, f"the caller chose {wanted}"),)
        return wanted
    target = policy.target_of(walk.request.model)
    if target is None:
        raise NoPool(
            "unknown_model",
            f"No model {walk.request.model!r} here. Known: {', '.join(policy.policy.models)}.",
        )
    return target


def _as_named(wanted: str, policy: CompiledPolicy) -> str:
    """A name as it may come in a header: as it is, with %XX as answers write it, or UTF-8 taken for Latin-1."""
    if wanted.isascii():
        wanted = unquote(wanted)
    elif wanted not in policy.nodes:
        with contextlib.suppress(UnicodeError):
            wanted = wanted.encode("latin-1").decode("utf-8")
    return normalize("NFC", wanted)


def _choose(policy: CompiledPolicy, walk: Walk, candidates: list[Candidate]) -> Decision:
    """The first candidate that is ready, has room and is large enough; the usable rest follows as fall-backs."""
    states = walk.state.pools
    if len(candidates) == 1:  # the usual case, without the book-keeping of the others
        name, hops = candidates[0]
        pool_state = states.get(name, _IDLE)
        if (
            pool_state.ready > 0
            and not pool_state.full
            and pool_state.context_window is None
            and policy.policy.pools[name].context_window is None
        ):
            return Decision(name, tuple(map(_step, hops)), hops, (), (), tuple(walk.scores))
    chosen: Candidate | None = None
    rest: list[str] = []
    skipped: list[tuple[str, str]] = []
    why: set[str] = set()
    seen: set[str] = set()
    for candidate in candidates:
        name = candidate[0]
        if name in seen:
            continue
        seen.add(name)
        pool_state = states.get(name, _IDLE)
        window = policy.pools[name].context_window
        if pool_state.context_window is not None and (window is None or pool_state.context_window < window):
            window = pool_state.context_window
        if pool_state.ready <= 0:
            problem = "no replica is healthy"
            why.add("unhealthy")
        elif window is not None and not _fits(walk.request, window):
            problem = f"about {_demand(walk.request)} tokens do not fit its context window of {window}"
            why.add("context")
        elif pool_state.full:
            problem = "its queue is full"
            why.add("overloaded")
        else:
            if chosen is None:
                chosen = candidate
            else:
                rest.append(name)
            continue
        if chosen is None:
            skipped.append((name, problem))
    if chosen is None:
        pool, hops = candidates[0] if candidates else (None, walk.hops)
        raise _no_pool(skipped, why, hops, tuple(walk.scores), pool)
    name, hops = chosen
    return Decision(name, tuple(map(_step, hops)), hops, tuple(rest), tuple(skipped), tuple(walk.scores))


def _fits(request: RequestView, window: int) -> bool:
    return request.surely_below(window, with_answer=True) or _demand(request) <= window


def _demand(request: RequestView) -> int:
    return request.prompt_tokens + max(0, request.max_tokens or 0)


def _no_pool(
    skipped: list[tuple[str, str]], why: set[str], hops: tuple[Hop, ...], scores: tuple[Scored, ...], pool: str | None
) -> NoPool:
    details = "; ".join(f"{pool}: {problem}" for pool, problem in skipped)
    # The kind that says most: what waiting mends comes before what only another request mends.
    if "overloaded" in why:
        message = f"Every pool that could answer is full ({details}). Try again later."
        return NoPool("overloaded", message, hops, scores, pool)
    if "unhealthy" in why:
        return NoPool("unhealthy", f"No pool that could answer is healthy ({details}).", hops, scores, pool)
    remedy = "Shorten it, or ask for a shorter answer."
    return NoPool("context", f"The request is too long ({details}). {remedy}", hops, scores, pool)


__all__ = ["OVERRIDE_HEADER", "Decision", "NoPool", "Scored", "decide", "decide_async"]
