"""decide(): every request ends in exactly one pool or a named error, for reasons that can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.decision.decide import decide, decide_async
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.state import PoolState, StateSnapshot
from stellwerk.serving.decision.types import AnswerNeeded, Decision, NoPool, Question
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy
from unit.serving.policy.policy_texts import POOLS, SAMPLE, word_count

DOWN = PoolState(ready=0, slots=0)
FULL = PoolState(full=True)


def policy_of(steps: str, extra: str = "", pools: str = POOLS) -> CompiledPolicy:
    return load_policy(
        f"version: 1\nmodels: {{auto: start}}\n{pools}steps:\n{steps}\n{extra}", load_difficulty=word_count
    )


def when(condition: str, **kwargs: Any) -> CompiledPolicy:
    return policy_of(f"  start: {{when: [{{if: {condition}, to: large}}], else: small}}", **kwargs)


def ask(model: str = "auto", text: str = "hello", **options: Any) -> RequestView:
    headers = options.pop("headers", {})
    api_key = options.pop("api_key", None)
    request_id = options.pop("request_id", "r")
    body = {"model": model, "messages": [{"role": "user", "content": text}], **options}
    return RequestView(model, json.dumps(body).encode(), headers=headers, api_key=api_key, request_id=request_id)


def pool(policy: CompiledPolicy, request: RequestView, **state: PoolState) -> str:
    return decide(policy, request, StateSnapshot(state)).pool


def test_the_way_and_its_reasons_can_be_read() -> None:
    policy = load_policy(SAMPLE, load_difficulty=word_count)
    decision = decide(policy, ask(text="word " * 90, user="u"), StateSnapshot(), explain=True)
    assert decision.path == ("triage", "ask", "split_hard", "safe")
    assert decision.path_text == "triage>ask>split_hard>safe>large"
    assert decision.candidates == ("small",)
    assert decision.reasons[0] == "triage: no condition holds -> ask"
    assert decision.reasons[1] == "ask: complex: difficulty 0.900 of the last turn, cut at 0.700 -> split_hard"
    assert decision.scores[0].features == (("number of words", 1.0),)
    easy = decide(policy, ask(), StateSnapshot())
    assert (easy.pool, easy.path, easy.scores[0].features) == ("small", ("triage", "ask"), ())


TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
IMAGE = [
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}, {"type": "text", "text": "?"}]}
]
CONDITIONS: dict[str, tuple[str, RequestView, RequestView]] = {
    "model name": ("{model: 'au*'}", ask(), ask(model="other")),
    "tools": ("{tools: true}", ask(tools=TOOLS), ask(tools=[])),
    "no tools": ("{tools: false}", ask(), ask(tools=TOOLS)),
    "images": ("{images: true}", ask(messages=IMAGE), ask()),
    "JSON mode": ("{json: true}", ask(response_format={"type": "json_object"}), ask(response_format={"type": "text"})),
    "JSON schema": ("{json: true}", ask(response_format={"type": "json_schema", "json_schema": {}}), ask()),
    "streams": ("{stream: true}", ask(stream=True), ask(stream=False)),
    "prompt tokens": ('{prompt_tokens: "> 1000"}', ask(text="x" * 8000), ask(text="x" * 80)),
    "few prompt tokens": ('{prompt_tokens: "<= 1000"}', ask(text="x" * 80), ask(text="x" * 8000)),
    "longest answer": ('{max_tokens: ">= 1000"}', ask(max_tokens=1000), ask()),
    "turns": ('{turns: "> 1"}', ask(messages=[{"role": "user", "content": "a"}] * 2), ask()),
    "language": (
        "{language: de}",
        ask(text="Wie wird das Wetter in Berlin und warum ist es so?"),
        ask(text="How is it?"),
    ),
    "regex on the last user turn": ("{matches: '(?i)prove'}", ask(text="Please PROVE it"), ask(text="hi")),
    "header": ("{header: {X-Tier: prem*}}", ask(headers={"x-tier": "premium"}), ask(headers={"x-tier": "basic"})),
    "header at all": ("{header: {x-tier: true}}", ask(headers={"x-tier": ""}), ask()),
    "API key": ("{api_key: [a, b]}", ask(api_key="b"), ask(api_key="c")),
    "user": ("{user: alice}", ask(user="alice"), ask(user="bob")),
    "user by key": ("{user: 'team-*'}", ask(api_key="team-a"), ask()),
    "all keys of one condition": ("{tools: true, stream: true}", ask(tools=TOOLS, stream=True), ask(tools=TOOLS)),
    "any": ("{any: [{tools: true}, {stream: true}]}", ask(stream=True), ask()),
    "not": ("{not: {tools: true}}", ask(), ask(tools=TOOLS)),
}


@pytest.mark.parametrize("kind", CONDITIONS)
def test_a_condition_holds_for_what_it_names_and_not_for_the_rest(kind: str) -> None:
    condition, holds, fails = CONDITIONS[kind]
    text = f"  start: {{when: [{{if: {condition}, to: large}}], else: small}}"
    policy = load_policy(f"version: 1\nmodels: {{'*': start}}\n{POOLS}steps:\n{text}\n", load_difficulty=word_count)
    assert pool(policy, holds) == "large"
    assert pool(policy, fails) == "small"


def test_the_load_of_a_pool_is_a_condition() -> None:
    policy = when('{load: {small: "> 80%"}}')
    assert pool(policy, ask(), small=PoolState(running=9, slots=10)) == "large"
    assert pool(policy, ask(), small=PoolState(running=7, slots=10)) == "small"
    assert pool(policy, ask(), small=PoolState(running=4, waiting=5, slots=10)) == "large"


def test_the_first_branch_that_holds_decides() -> None:
    steps = "  start: {when: [{if: {stream: true}, to: small}, {if: {tools: true}, to: large}], else: small}"
    assert pool(policy_of(steps), ask(tools=TOOLS, stream=True)) == "small"
    assert pool(policy_of(steps), ask(tools=TOOLS)) == "large"


def test_a_try_passes_over_what_is_down_full_or_too_small_and_says_so() -> None:
    pools = POOLS.replace("    model: s\n", "    model: s\n    context_window: 100\n")
    policy = policy_of("  start: {try: [small, large]}", pools=pools)
    assert decide(policy, ask(), StateSnapshot()) == decide(policy, ask(), StateSnapshot({"large": PoolState()}))
    assert decide(policy, ask(), StateSnapshot()).candidates == ("large",)
    for request, state in ((ask(), DOWN), (ask(), FULL), (ask(text="x" * 4000), PoolState())):
        decision = decide(policy, request, StateSnapshot({"small": state}))
        assert decision.pool == "large"
        assert decision.candidates == ()
        assert decision.skipped[0][0] == "small"
    assert "about 11" in decision.skipped[0][1]


def test_an_answer_that_does_not_fit_beside_the_prompt_counts() -> None:
    pools = POOLS.replace("    model: s\n", "    model: s\n    context_window: 8192\n")
    policy = policy_of("  start: {try: [small, large]}", pools=pools)
    assert pool(policy, ask(max_tokens=8000)) == "small"
    assert pool(policy, ask(max_tokens=9000)) == "large"


def test_a_context_window_that_was_learned_counts_like_one_that_was_written() -> None:
    policy = policy_of("  start: {try: [small, large]}")
    assert pool(policy, ask(text="x" * 4000)) == "small"
    assert pool(policy, ask(text="x" * 4000), small=PoolState(context_window=500)) == "large"


@pytest.mark.parametrize(
    ("states", "request_", "kind"),
    [
        ({}, ask(model="nope"), "unknown_model"),
        ({"small": DOWN, "large": DOWN}, ask(), "unhealthy"),
        ({"small": FULL, "large": DOWN}, ask(), "overloaded"),
        (
            {"small": PoolState(context_window=10), "large": PoolState(context_window=10)},
            ask(text="x" * 999),
            "context",
        ),
        ({}, ask(headers={"x-stellwerk-pool": "large"}), "override_refused"),
    ],
)
def test_when_no_pool_can_answer_the_reason_has_a_name(
    states: dict[str, PoolState], request_: RequestView, kind: str
) -> None:
    policy = policy_of("  start: {try: [small, large]}")
    with pytest.raises(NoPool) as caught:
        decide(policy, request_, StateSnapshot(states))
    assert caught.value.kind == kind
    assert len(str(caught.value)) > 20


def test_a_caller_chooses_only_where_the_policy_allows_it() -> None:
    steps = "  start: {try: [small, large]}"
    wanted = {"x-stellwerk-pool": "large"}
    everyone = policy_of(steps, "gateway: {override: true}")
    assert decide(everyone, ask(headers=wanted), StateSnapshot()).reasons == (
        "request: the caller chose large -> large",
    )
    some = policy_of(steps, "gateway: {override: [admin]}")
    assert pool(some, ask(headers=wanted, api_key="admin")) == "large"
    with pytest.raises(NoPool, match="not allowed"):
        pool(some, ask(headers=wanted, api_key="guest"))
    with pytest.raises(NoPool, match="no pool or step") as caught:
        pool(everyone, ask(headers={"x-stellwerk-pool": "nirvana"}))
    assert caught.value.kind == "override_unknown"
    # A model that the policy does not know is no hindrance when the caller says where to go.
    assert pool(everyone, ask(model="nope", headers=wanted)) == "large"


def test_a_model_pattern_takes_what_has_no_entry_of_its_own() -> None:
    policy = load_policy(f"version: 1\nmodels: {{'gpt-*': large, '*': small, gpt-mini: small}}\n{POOLS}")
    assert policy.target_of("gpt-5") == "large"
    assert policy.target_of("gpt-mini") == "small"
    assert policy.target_of("anything") == "small"


JUDGED = """
classifiers: {judge: {kind: llm, pool: small, labels: [simple, complex], on_error: complex, timeout: 100ms}}
"""
JUDGE_STEP = "  start: {classify: judge, to: {simple: small, complex: large}}"


async def test_a_judge_is_asked_once_and_its_label_decides() -> None:
    policy = policy_of(JUDGE_STEP, JUDGED)
    asked: list[Question] = []

    async def says_simple(question: Question) -> str:
        asked.append(question)
        return "simple"

    decision = await decide_async(policy, ask(text="what?"), StateSnapshot(), says_simple)
    assert (decision.pool, len(asked)) == ("small", 1)
    assert asked[0].turns[-1].text == "what?"
    assert (asked[0].pool, asked[0].labels) == ("small", ("simple", "complex"))
    assert policy.needs.judge
    with pytest.raises(AnswerNeeded):
        decide(policy, ask(), StateSnapshot())


async def test_a_judge_that_is_late_broken_or_talks_nonsense_fails_open() -> None:
    import asyncio

    policy = policy_of(JUDGE_STEP, JUDGED)

    async def never(question: Question) -> str:
        await asyncio.Event().wait()
        return "simple"

    async def broken(question: Question) -> str:
        raise ConnectionError("gone")

    async def nonsense(question: Question) -> str:
        return "banana"

    for judge in (never, broken, nonsense):
        assert (await decide_async(policy, ask(), StateSnapshot(), judge)).pool == "large"


async def test_a_request_that_is_cancelled_while_a_judge_thinks_stays_cancelled() -> None:
    import asyncio

    policy = policy_of(JUDGE_STEP, JUDGED.replace("100ms", "1h"))
    asked = asyncio.Event()

    async def never(question: Question) -> str:
        asked.set()
        await asyncio.Event().wait()
        return "simple"

    task = asyncio.create_task(decide_async(policy, ask(), StateSnapshot(), never))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_policy_says_what_it_needs() -> None:
    plain = load_policy(f"version: 1\nmodels: {{auto: small}}\n{POOLS}")
    assert (plain.needs.body, plain.needs.judge, plain.needs.session, plain.needs.load) == (False,) * 4
    assert when("{header: {X-Tier: a}}").needs.headers == {"x-tier"}
    assert when("{tools: true}").needs.body
    assert when('{load: {small: "> 1"}}').needs.load
    assert policy_of("  start: {split: {small: 1, large: 1}, sticky: conversation}").needs.session


@st.composite
def graphs(draw: st.DrawFn) -> str:
    """Steps s0..sn; each leads only to later ones or to pools, so most are acyclic; some get a wire back."""
    count = draw(st.integers(1, 6))
    lines = []
    for number in range(count):
        later = [f"s{other}" for other in range(number + 1, count)] + ["small", "large"]
        if number and draw(st.integers(0, 9)) == 0:
            later.append(f"s{draw(st.integers(0, number))}")
        target = st.sampled_from(later)
        match draw(st.sampled_from(("when", "try", "split", "classify"))):
            case "when":
                kind = draw(
                    st.sampled_from(("tools: true", 'prompt_tokens: "> 50"', 'load: {small: "> 50%"}', "stream: true"))
                )
                lines.append(f"  s{number}: {{when: [{{if: {{{kind}}}, to: {draw(target)}}}], else: {draw(target)}}}")
            case "try":
                lines.append(f"  s{number}: {{try: [{', '.join(draw(st.lists(target, min_size=1, unique=True)))}]}}")
            case "split":
                arms = draw(st.lists(target, min_size=1, unique=True))
                weights = [f"{arm}: {draw(st.integers(0, 9))}" for arm in arms]
                sticky = draw(st.sampled_from(("none", "user", "conversation")))
                lines.append(f"  s{number}: {{split: {{{', '.join(weights)}}}, sticky: {sticky}}}")
            case "classify":
                share = draw(st.sampled_from(("", ", threshold: 0.5", ", share: {a: 40%}")))
                lines.append(f"  s{number}: {{classify: d, to: {{a: {draw(target)}, b: {draw(target)}}}{share}}}")
    models = ", ".join(f"m{number}: s{number}" for number in range(count))  # every step is reachable
    return f"version: 1\nmodels: {{{models}}}\n{POOLS}classifiers: {{d: {{kind: embedded}}}}\nsteps:\n" + "\n".join(
        lines
    )


states = st.builds(
    PoolState,
    ready=st.integers(0, 2),
    running=st.integers(0, 5),
    slots=st.integers(0, 5),
    full=st.booleans(),
    context_window=st.none() | st.integers(1, 200),
)


@settings(max_examples=100, deadline=None)
@given(graphs(), states, states, st.integers(0, 60), st.booleans(), st.integers(0, 9))
def test_every_request_ends_in_exactly_one_pool_or_a_named_error(
    text: str, small: PoolState, large: PoolState, words: int, tools: bool, number: int
) -> None:
    try:
        policy = load_policy(text, load_difficulty=word_count)
    except PolicyErrors as errors:
        assert all("circle" in problem.what or "sum to 0" in problem.what for problem in errors.problems)
        return
    request = ask(f"m{number}", "word " * words, tools=TOOLS if tools else [], user=f"u{words}")
    state = StateSnapshot({"small": small, "large": large})
    try:
        first = decide(policy, request, state)
    except NoPool as error:
        assert error.kind in ("unknown_model", "unhealthy", "overloaded", "context")
        assert (error.kind == "unknown_model") == (f"m{number}" not in policy.models)
        return
    assert first.pool in policy.pools
    chosen = {"small": small, "large": large}[first.pool]
    assert chosen.ready > 0
    assert not chosen.full
    assert first.pool not in first.candidates
    assert len(set(first.path)) == len(first.path), "acyclic: no step twice"
    assert isinstance(first, Decision)
    assert decide(policy, request, state) == first, "pure: the same again"
