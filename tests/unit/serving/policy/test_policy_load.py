"""A policy file is read whole, every kind of step, condition and pool in it."""

from __future__ import annotations

import pytest

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
from unit.serving.policy.policy_texts import SAMPLE, with_steps, word_count


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


def test_two_equal_files_have_the_same_revision_and_others_have_not() -> None:
    first = load_policy(SAMPLE, load_difficulty=word_count)
    assert load_policy(SAMPLE, load_difficulty=word_count).revision == first.revision
    assert load_policy(SAMPLE + "\n", load_difficulty=word_count).revision != first.revision


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
