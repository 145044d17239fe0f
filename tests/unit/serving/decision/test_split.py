"""Splits: weights are honoured, sessions stay, and only a dead arm is dealt anew."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter

import pytest

from stellwerk.serving.decision.decide import decide
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.state import PoolState, StateSnapshot
from stellwerk.serving.decision.walk import draw
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.load import load_policy
from unit.serving.policy.policy_texts import word_count

DRAWS = 10_000
# Chi-square at p = 0.001 by degrees of freedom: the draws are fixed by their keys, so a pass stays a pass.
CRITICAL = {1: 10.83, 2: 13.82, 3: 16.27, 4: 18.47}


def split_policy(arms: str, sticky: str = "none", salt: str = "", steps: str = "") -> CompiledPolicy:
    pools = "".join(
        f"  {name}: {{model: m, replicas: [{{node: n{name}, port: 1}}, {{node: o{name}, port: 1}}]}}\n"
        for name in "abcd"
    )
    start = f"  start: {{split: {{{arms}}}, sticky: {sticky}}}\n"
    text = f"version: 1\nmodels: {{auto: start}}\npools:\n{pools}steps:\n{start}{steps}"
    return load_policy(text + (f"salt: {salt}\n" if salt else ""), load_difficulty=word_count)


def counts(policy: CompiledPolicy, state: StateSnapshot | None = None, key: str = "id") -> Counter[str]:
    state = state or StateSnapshot()
    found: Counter[str] = Counter()
    for number in range(DRAWS):
        headers = {"x-session-id": f"session-{number}"} if key == "session" else {}
        found[decide(policy, RequestView("auto", headers=headers, request_id=f"req-{number}"), state).pool] += 1
    return found


def assert_weights(found: Counter[str], weights: dict[str, float]) -> None:
    total = sum(weights.values())
    chi_square = 0.0
    for name, weight in weights.items():
        expected = DRAWS * weight / total
        if weight == 0:
            assert found[name] == 0
        else:
            chi_square += (found[name] - expected) ** 2 / expected
    assert sum(found.values()) == DRAWS
    assert set(found) <= set(weights)
    assert chi_square < CRITICAL[sum(weight > 0 for weight in weights.values()) - 1], f"{found} for {weights}"


@pytest.mark.parametrize(
    ("arms", "weights"),
    [
        ("a: 80, b: 20", {"a": 80, "b": 20}),
        ("a: 1, b: 1, c: 1, d: 1", {"a": 1, "b": 1, "c": 1, "d": 1}),
        ("a: 70%, b: 30%", {"a": 0.7, "b": 0.3}),
        ("a: 0.5, b: 99.5", {"a": 0.5, "b": 99.5}),
        ("a: 3, b: 0, c: 1", {"a": 3, "b": 0, "c": 1}),
        ("a: 0, b: 5, c: 5, d: 0", {"a": 0, "b": 5, "c": 5, "d": 0}),
    ],
)
@pytest.mark.parametrize("sticky", ["none", "conversation"])
def test_weights_are_honoured(arms: str, weights: dict[str, float], sticky: str) -> None:
    key = "session" if sticky == "conversation" else "id"
    assert_weights(counts(split_policy(arms, sticky), key=key), weights)


def test_a_single_arm_takes_everything() -> None:
    assert counts(split_policy("a: 5"))["a"] == DRAWS


def test_weights_are_honoured_after_one_replica_of_an_arm_is_ejected() -> None:
    state = StateSnapshot({"a": PoolState(ready=1), "b": PoolState(ready=2)})
    assert_weights(counts(split_policy("a: 80, b: 20"), state), {"a": 80, "b": 20})


def test_the_traffic_of_a_dead_arm_spreads_by_the_weights_of_the_others() -> None:
    state = StateSnapshot({"a": PoolState(ready=0)})
    assert_weights(counts(split_policy("a: 50, b: 30, c: 20, d: 0"), state), {"b": 30, "c": 20, "d": 0})
    assert_weights(counts(split_policy("a: 50, b: 30, c: 20", "conversation"), state, "session"), {"b": 30, "c": 20})


def test_an_arm_lives_while_any_pool_below_it_lives() -> None:
    policy = split_policy("safe: 50, c: 50", steps="  safe: {try: [a, b]}\n")
    found = counts(policy, StateSnapshot({"a": PoolState(ready=0)}))
    assert_weights(found, {"b": 50, "c": 50})


def test_a_session_stays_on_its_arm_and_returns_to_it_after_an_outage() -> None:
    policy = split_policy("a: 60, b: 40", "conversation")
    healthy, sick = StateSnapshot(), StateSnapshot({"a": PoolState(ready=0)})
    for number in range(200):

        def request(turn: int, number: int = number) -> RequestView:
            return RequestView("auto", headers={"x-session-id": f"s{number}"}, request_id=f"{number}-{turn}")

        first = decide(policy, request(0), healthy).pool
        assert all(decide(policy, request(turn), healthy).pool == first for turn in range(1, 4))
        assert decide(policy, request(5), sick).pool == "b"
        assert decide(policy, request(6), healthy).pool == first


def test_a_dead_arm_moves_no_session_of_the_others() -> None:
    policy = split_policy("a: 1, b: 1, c: 1", "conversation")
    sick = StateSnapshot({"a": PoolState(ready=0)})
    for number in range(500):
        request = RequestView("auto", headers={"x-session-id": f"s{number}"})
        before = decide(policy, request, StateSnapshot()).pool
        if before != "a":
            assert decide(policy, request, sick).pool == before


def test_without_stickiness_the_requests_of_one_session_spread() -> None:
    policy = split_policy("a: 50, b: 50")
    found = {
        decide(policy, RequestView("auto", headers={"x-session-id": "s"}, request_id=str(n)), StateSnapshot()).pool
        for n in range(40)
    }
    assert found == {"a", "b"}


def test_a_user_stays_over_conversations() -> None:
    policy = split_policy("a: 50, b: 50", "user")
    for user in map(str, range(30)):
        found = set()
        for words in ("one", "two", "three"):
            body = json.dumps({"user": user, "messages": [{"role": "user", "content": words}]}).encode()
            found.add(decide(policy, RequestView("auto", body, request_id=words), StateSnapshot()).pool)
        assert len(found) == 1


def test_another_salt_deals_anew() -> None:
    sessions = [RequestView("auto", headers={"x-session-id": str(n)}) for n in range(200)]
    policies = split_policy("a: 1, b: 1", "conversation"), split_policy("a: 1, b: 1", "conversation", "s2")
    first, second = ([decide(policy, r, StateSnapshot()).pool for r in sessions] for policy in policies)
    assert 60 < sum(a != b for a, b in zip(first, second, strict=True)) < 140


def test_draws_are_the_same_in_another_process() -> None:
    code = "from stellwerk.serving.decision.walk import draw; print([draw('s', 'step', str(n)) for n in range(5)])"
    for seed in ("0", "1"):
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        assert out.stdout.strip() == str([draw("s", "step", str(n)) for n in range(5)])


def test_two_splits_in_a_row_draw_independently() -> None:
    policy = split_policy(
        "x: 50, y: 50",
        "conversation",
        steps="  x: {split: {a: 1, b: 1}, sticky: conversation}\n  y: {split: {c: 1, d: 1}, sticky: conversation}\n",
    )
    assert_weights(counts(policy, key="session"), {"a": 1, "b": 1, "c": 1, "d": 1})
