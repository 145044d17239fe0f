"""A policy file is read whole; what is wrong with it is said with line, column, card and remedy, all at once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.policy.errors import PolicyErrors, Problem
from stellwerk.serving.policy.load import load_policy, parse_policy
from stellwerk.serving.policy.model import (
    All,
    AnyOf,
    Classify,
    Compare,
    Flag,
    Header,
    LlmClassifier,
    Load,
    Matches,
    Not,
    OneOf,
    Split,
    SwitchyardStep,
    Try,
    When,
)
from stellwerk.serving.policy.reader import parse_duration, parse_fraction
from unit.serving.policy.policy_texts import POOLS, SAMPLE, word_count


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(PolicyErrors) as caught:
        parse_policy(text)
    return caught.value.problems


def with_steps(steps: str, models: str = "auto: start") -> str:
    return f"version: 1\nmodels: {{{models}}}\n{POOLS}steps:\n{steps}"


def test_the_sample_of_the_design_is_understood_word_for_word() -> None:
    policy = parse_policy(SAMPLE)
    assert policy.models == {"auto": "triage", "fast": "small"}
    small = policy.pools["small"]
    assert [replica.name for replica in small.replicas] == ["spark-1:8000", "spark-2:8000"]
    assert (small.max_running, small.max_waiting, small.context_window) == (16, 64, 32768)
    assert policy.pools["large"].replicas[0].ranks == ("spark-5", "spark-6", "spark-7", "spark-8")
    assert policy.classifiers["judge"] == LlmClassifier("judge", "small", ("simple", "complex"), "complex", 0.4)
    assert policy.steps["triage"] == When(
        "triage",
        tuple(
            type(branch)(condition, "large")
            for branch, condition in zip(
                policy.steps["triage"].branches,  # type: ignore[union-attr]
                (Flag("tools", True), Compare("prompt_tokens", ">", 16000), Header("x-tier", "premium")),
                strict=True,
            )
        ),
        "ask",
    )
    assert policy.steps["ask"] == Classify(
        "ask", "difficulty", (("simple", "small"), ("complex", "split_hard")), None, (("simple", 0.7), ("complex", 0.3))
    )
    assert policy.steps["split_hard"] == Split("split_hard", (("safe", 80.0), ("small", 20.0)), "conversation")
    assert policy.steps["safe"] == Try("safe", ("large", "small"))
    assert policy.marks["steps", "ask"].line == SAMPLE.splitlines().index("  ask:") + 1


def test_all_condition_kinds_are_read() -> None:
    policy = parse_policy(
        with_steps(
            """
  start:
    when:
      - if: {model: "gpt-*", tools: true, images: false, json: true, stream: true}
        to: large
      - if:
          any:
            - {prompt_tokens: ">= 4k"}
            - {max_tokens: "< 100"}
            - {turns: "== 2"}
            - {language: [de, fr]}
            - {matches: '(?i)\\bbeweis'}
            - {header: {X-Tier: "prem*", x-debug: true}}
            - {api_key: team-a}
            - {user: [alice, "b*"]}
            - {load: {large: "> 80%"}}
            - {not: {tools: true}}
            - {all: [{tools: true}, {stream: false}]}
        to: large
    else: small
"""
        )
    )
    step = policy.steps["start"]
    assert isinstance(step, When)
    assert step.branches[0].condition == All(
        (
            OneOf("model", ("gpt-*",)),
            Flag("tools", True),
            Flag("images", False),
            Flag("json", True),
            Flag("stream", True),
        )
    )
    assert step.branches[1].condition == AnyOf(
        (
            Compare("prompt_tokens", ">=", 4000),
            Compare("max_tokens", "<", 100),
            Compare("turns", "==", 2),
            OneOf("language", ("de", "fr")),
            Matches(r"(?i)\bbeweis"),
            All((Header("x-tier", "prem*"), Header("x-debug", None))),
            OneOf("api_key", ("team-a",)),
            OneOf("user", ("alice", "b*")),
            Load("large", ">", 0.8),
            Not(Flag("tools", True)),
            All((Flag("tools", True), Flag("stream", False))),
        )
    )


def test_pools_carry_deadlines_health_price_and_outside_replicas() -> None:
    policy = parse_policy("""
version: 1
models: {auto: out}
pools:
  out:
    model: m
    replicas: [{url: "https://api.example.com/v1/", key_env: EXAMPLE_KEY}]
    balance: prefix
    max_wait: 1.5m
    retries: 0
    deadlines: {connect: 500ms, first_byte: 2m, idle: 30, total: 1h}
    health: {path: none, every: 1s, fails: 2}
    price: {input: 0.25, output: 1}
gateway: {override: [admin], max_body: 8MB, baseline: out, allowed_hosts: [spark.lan], require_keys: true}
salt: autumn
""")
    pool = policy.pools["out"]
    assert pool.replicas[0].url == "https://api.example.com/v1"
    assert pool.replicas[0].key_env == "EXAMPLE_KEY"
    assert pool.deadlines.connect_s == 0.5
    assert (pool.deadlines.first_byte_s, pool.deadlines.idle_s, pool.deadlines.total_s) == (120.0, 30.0, 3600.0)
    assert (pool.health.path, pool.health.every_s, pool.health.fails, pool.health.passes) == (None, 1.0, 2, 2)
    assert pool.price is not None
    assert (pool.price.input, pool.price.output) == (0.25, 1.0)
    assert (pool.max_wait_s, pool.retries, policy.salt) == (90.0, 0, "autumn")
    assert policy.gateway.override == ("admin",)
    assert policy.gateway.max_body_bytes == 8 * 1024 * 1024


def test_a_switchyard_step_keeps_its_options() -> None:
    policy = parse_policy(
        with_steps(
            "  start: {switchyard: stage_router, to: {efficient: small, capable: large}, on_error: capable,\n"
            "    options: {picker: efficient_first, confidence_threshold: 0.5, window: 3, flags: [true, ~]}}\n"
        )
    )
    assert policy.steps["start"] == SwitchyardStep(
        "start",
        "stage_router",
        (("efficient", "small"), ("capable", "large")),
        (("picker", "efficient_first"), ("confidence_threshold", 0.5), ("window", 3), ("flags", (True, None))),
        "capable",
    )


def test_shares_of_labels_that_are_left_out_divide_the_rest() -> None:
    policy = parse_policy(
        with_steps(
            "  start: {classify: d, to: {easy: small, medium: small, hard: large}, share: {easy: 60%}}\n"
            "classifiers: {d: {kind: embedded}}\n"
        )
    )
    step = policy.steps["start"]
    assert isinstance(step, Classify)
    assert step.shares == (("easy", 0.6), ("medium", 0.2), ("hard", 0.2))


def test_an_anchor_may_be_used_again() -> None:
    policy = parse_policy("""
version: 1
models: {auto: a, other: b}
pools:
  a: &base
    model: m
    replicas: [{node: n, port: 1}]
  b:
    <<: *base
    model: other
""")
    assert policy.pools["b"].model == "other"
    assert policy.pools["b"].replicas == policy.pools["a"].replicas


def test_a_merged_mapping_may_have_merged_another() -> None:
    policy = parse_policy("""
version: 1
models: {auto: a, b: b, c: c}
pools:
  a: &a {model: m, replicas: [{node: n, port: 1}], max_running: 7}
  b: &b {<<: *a, model: other, max_waiting: 3}
  c: {<<: [*b, *a], model: third}
""")
    assert (policy.pools["c"].max_running, policy.pools["c"].max_waiting, policy.pools["c"].model) == (7, 3, "third")


MISTAKES = {
    "an unknown target": (
        with_steps("  start: {try: [larg]}\n"),
        (11, 17, "step start", "There is no step or pool `larg`.", "Did you mean `large`?"),
    ),
    "an unknown key": (
        SAMPLE.replace("balance: ", "ballance: "),
        (11, 5, "pool small", "Unknown key `ballance` in a pool.", "Did you mean `balance`?"),
    ),
    "an unknown condition": (
        SAMPLE.replace("{tools: true}", "{tool: true}"),
        (25, 15, "step triage", "Unknown condition `tool`.", "Did you mean `tools`?"),
    ),
    "an unknown choice": (
        SAMPLE.replace("sticky: conversation", "sticky: convers"),
        (35, 13, "step split_hard", "`sticky` cannot be `convers`.", "Did you mean `conversation`?"),
    ),
    "an unknown kind of step": (
        with_steps("  start: {tri: [large]}\n"),
        (11, 11, "step start", "This step has no kind.", "Did you mean `try`?"),
    ),
    "a cycle": (
        with_steps("  start: {try: [next, small]}\n  next: {split: {start: 1}}\n"),
        (12, 18, "step next", "The steps go in a circle: start -> next -> start.", "lead to a pool"),
    ),
    "a step that leads to itself": (
        with_steps("  start: {try: [start]}\n"),
        (11, 17, "step start", "The steps go in a circle: start -> start.", "lead to a pool"),
    ),
    "an unreachable step": (
        with_steps("  start: {try: [small]}\n  lost: {try: [large]}\n"),
        (12, 3, "step lost", "No request can reach the step `lost`.", "Lead a wire"),
    ),
    "a weight that is no number": (
        SAMPLE.replace("safe: 80", "safe: many"),
        (34, 19, "step split_hard", "The weight of `safe` is not a number.", "like `80`"),
    ),
    "a weight that is infinite": (
        SAMPLE.replace("safe: 80", "safe: .inf"),
        (34, 19, "step split_hard", "The weight of `safe` is not a number.", "like `80`"),
    ),
    "a negative weight": (
        SAMPLE.replace("safe: 80", "safe: -1"),
        (34, 19, "step split_hard", "The weight of `safe` is -1.", "0 or more"),
    ),
    "weights that sum to 0": (
        SAMPLE.replace("safe: 80, small: 20", "safe: 0, small: 0"),
        (34, 12, "step split_hard", "The weights sum to 0, so no request has a way.", "above 0"),
    ),
    "a missing else": (
        SAMPLE.replace("    else: ask\n", ""),
        (24, 5, "step triage", "A `when` step has no `else`.", "Target when no condition holds."),
    ),
    "a pool without replicas": (
        SAMPLE.replace("[{node: spark-5, port: 8000, ranks: [spark-5, spark-6, spark-7, spark-8]}]", "[]"),
        (17, 15, "pool large", "This pool has no replicas, so nothing can answer.", "Add one"),
    ),
    "a threshold outside 0..1": (
        SAMPLE.replace("share: {simple: 70%}  ", "threshold: 1.5  "),
        (32, 16, "step ask", "`threshold` is 1.5.", "0 to 1"),
    ),
    "a share for a label that is not there": (
        SAMPLE.replace("share: {simple", "share: {simpel"),
        (32, 13, "step ask", "`share` names the label `simpel`, which `to` has not.", "Did you mean `simple`?"),
    ),
    "shares above 100 %": (
        SAMPLE.replace("share: {simple: 70%}", "share: {simple: 70%, complex: 40%}"),
        (32, 12, "step ask", "The shares sum to 110 %.", "100 %"),
    ),
    "a name twice": (
        SAMPLE + "  safe: {try: [small]}\n",
        (38, 3, None, "`safe` is there twice (first in line 36).", "Keep one"),
    ),
    "a step called like a pool": (
        with_steps("  start: {try: [small]}\n  large: {try: [small]}\n"),
        (12, 3, "step large", "A pool is called `large` too (line 7).", "Rename one"),
    ),
    "a classifier that is not there": (
        SAMPLE.replace("classify: difficulty", "classify: dificulty"),
        (30, 15, "step ask", "There is no classifier `dificulty`.", "Did you mean `difficulty`?"),
    ),
    "a judge without a target for a label": (
        SAMPLE.replace("classify: difficulty", "classify: judge").replace(
            "simple: small, complex", "easy: small, complex"
        ),
        (31, 9, "step ask", "The label `simple` has no target.", "Add it"),
    ),
    "a share with a judge": (
        SAMPLE.replace("classify: difficulty", "classify: judge"),
        (32, 12, "step ask", "`share` needs a score, and a judge of kind `llm` gives only labels.", "Take it out"),
    ),
    "a comparison without a sign": (
        SAMPLE.replace('"> 16000"', "16000"),
        (26, 30, "step triage", "`prompt_tokens` does not say more or less than.", '"> 16000"'),
    ),
    "a broken regular expression": (
        SAMPLE.replace("{tools: true}", "{matches: '('}"),
        (25, 24, "step triage", "This is no regular expression", "Single quotes"),
    ),
    "a regular expression that never ends": (
        SAMPLE.replace("{tools: true}", "{matches: '(a+)+$'}"),
        (25, 24, "step triage", "repeats a group that repeats in itself", "Take one"),
    ),
    "a port that is none": (
        SAMPLE.replace("{node: spark-1, port: 8000}", "{node: spark-1, port: 80000}"),
        (9, 31, "pool small", "`port` is 80000.", "from 1 to 65535"),
    ),
    "a replica twice": (
        SAMPLE.replace("node: spark-2", "node: spark-1"),
        (10, 9, "pool small", "The replica spark-1:8000 is there twice.", "Take one out"),
    ),
    "a key in the place of its variable": (
        SAMPLE.replace("{node: spark-1, port: 8000}", '{url: "http://h/v1", key_env: sk-secret-123}'),
        (9, 39, "pool small", "`key_env` is not the name of an environment variable.", "environment variable"),
    ),
    "credentials in a URL": (
        SAMPLE.replace("{node: spark-1, port: 8000}", '{url: "http://me:pw@h/v1"}'),
        (9, 15, "pool small", "This is no base URL of an engine.", "key_env"),
    ),
    "a tab": ("version: 1\n\tmodels: {}\n", (2, 1, None, "A tab stands where YAML wants spaces.", "Indent")),
    "an open bracket": ("version: 1\nmodels: {a: b\n", (3, 1, None, "YAML: ", "brackets")),
    "an empty file": ("", (1, 1, None, "The file is empty.", "version: 1")),
    "only a comment": ("# nothing\n", (1, 1, None, "The file is empty.", "version: 1")),
    "a list": ("- a\n", (1, 1, None, "A policy is a mapping.", "version: 1")),
    "two documents": ("version: 1\n---\nversion: 1\n", (2, 1, None, "A second document begins here", "one policy")),
    "a newer version": (SAMPLE.replace("version: 1", "version: 9"), (1, 10, None, "Version 9 is newer", "Update")),
    "an older version": (SAMPLE.replace("version: 1", "version: 0"), (1, 10, None, "older format", "--upgrade")),
    "a NUL character": ("version: 1\nx: \0\n", (2, 4, None, "This is not YAML", "UTF-8")),
    "no pools": ("version: 1\nmodels: {a: b}\npools: {}\n", (3, 8, None, "There are no pools", "Define")),
    "an alias that contains itself": (
        with_steps("  start:\n    when: [{if: &x {not: *x}, to: large}]\n    else: small\n"),
        (12, 17, None, "The anchor `x` contains an alias of itself.", "Write out"),
    ),
    "an alias that doubles itself": (
        with_steps("  start:\n    when: [{if: &x {any: [*x, *x]}, to: large}]\n    else: small\n"),
        (12, 17, None, "The anchor `x` contains an alias of itself.", "Write out"),
    ),
    "aliases of aliases of aliases": (
        "version: 1\nx0: &x0 [a, a]\n" + "".join(f"x{n + 1}: &x{n + 1} [*x{n}, *x{n}]\n" for n in range(60)),
        (1, 1, None, "Aliases repeat", "fewer"),
    ),
    "a merge of what is no mapping": (
        SAMPLE.replace("    context_window: 32768", "    <<: [7]"),
        (14, 10, "pool small", "`<<` takes in a mapping", "*anchor"),
    ),
    "a URL with a port that is none": (
        SAMPLE.replace("{node: spark-1, port: 8000}", '{url: "http://h:99999/v1"}'),
        (9, 15, "pool small", "This is no base URL of an engine.", "host:port"),
    ),
    "a way without end": (
        with_steps("".join(f"  s{n}: {{try: [s{n + 1}]}}\n" for n in range(9999)) + "  s9999: {try: [large]}", "x: s0"),
        (2, 13, "model x", "10000 steps follow one another", "64 steps"),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_place_and_remedy(mistake: str) -> None:
    text, (line, column, card, what, remedy) = MISTAKES[mistake]
    found = problems(text)
    fitting = [p for p in found if what in p.what]
    assert fitting, f"said instead: {[str(p) for p in found]}"
    assert (fitting[0].line, fitting[0].column, fitting[0].card) == (line, column, card)
    assert remedy in fitting[0].remedy
    assert "sk-secret" not in str(found)


def test_all_mistakes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = (
        SAMPLE.replace("balance: least_busy", "balance: best")
        .replace("safe: 80", "safe: x")
        .replace("large, small]", "lrge]")
    )
    found = problems(text)
    assert [p.line for p in found] == [11, 34, 37]


def test_nesting_beyond_all_sense_is_refused_before_it_costs_anything() -> None:
    assert "nested too deeply" in problems("version: 1\nmodels: " + "[" * 5000)[0].what
    assert "nested too deeply" in problems("version: 1\nmodels: " + "\n".join("[" * 100 for _ in range(50)))[0].what
    deep = "\n".join(" " * depth + "a:" for depth in range(1200))
    assert "nested too deeply" in problems(deep)[0].what


def test_a_huge_file_is_refused() -> None:
    assert "larger than" in problems("#" * 2_000_000)[0].what


def test_two_equal_files_have_the_same_revision_and_others_have_not() -> None:
    first = load_policy(SAMPLE, load_difficulty=word_count)
    assert load_policy(SAMPLE, load_difficulty=word_count).revision == first.revision
    assert load_policy(SAMPLE + "\n", load_difficulty=word_count).revision != first.revision


def test_weights_that_cannot_be_read_are_a_problem_of_their_card() -> None:
    text = SAMPLE.replace("{kind: embedded}", "{kind: embedded, weights: /nowhere/mine.bin}")
    with pytest.raises(PolicyErrors) as caught:
        load_policy(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.card) == (20, "classifier difficulty")
    assert "/nowhere/mine.bin" in problem.what


@settings(deadline=None)
@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
def test_any_text_is_a_policy_or_problems(text: str) -> None:
    try:
        parse_policy(text)
    except PolicyErrors as errors:
        assert errors.problems
        assert all(problem.line >= 1 and problem.column >= 1 and problem.remedy for problem in errors.problems)


_LINES = SAMPLE.splitlines(keepends=True)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_damaged_policy_is_a_policy_or_problems(data: st.DataObject) -> None:
    lines = list(_LINES)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(("drop", "cut", "swap", "indent"))):
            case "drop":
                lines[at] = ""
            case "cut":
                lines[at] = lines[at][: data.draw(st.integers(0, len(lines[at])))]
            case "swap":
                other = data.draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
            case "indent":
                lines[at] = "  " + lines[at]
    try:
        load_policy("".join(lines), load_difficulty=word_count)
    except PolicyErrors as errors:
        assert errors.problems


@pytest.mark.parametrize(
    ("text", "seconds"), [("400ms", 0.4), ("2s", 2), ("1.5m", 90), ("1h", 3600), ("7", 7), ("-1s", None), ("x", None)]
)
def test_durations(text: str, seconds: float | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [("70%", 0.7), ("0.7", 0.7), ("80", 80), ("nan", None), ("inf", None), ("1_0", None), ("%", None)],
)
def test_fractions(text: str, value: float | None) -> None:
    assert parse_fraction(text) == value
