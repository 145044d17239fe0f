"""A share is held by calibrating on recent traffic, within bounded memory."""

from __future__ import annotations

import json
import random

import pytest

from stellwerk.serving.decision.decide import decide
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.shares import WINDOW, ShareKeeper
from stellwerk.serving.decision.state import PoolState, StateSnapshot
from stellwerk.serving.decision.types import NoPool, Scored
from stellwerk.serving.policy.compiled import CompiledPolicy
from stellwerk.serving.policy.load import load_policy
from unit.serving.policy.policy_texts import POOLS, word_count


def share_policy(share: str, to: str = "{easy: small, hard: large}") -> CompiledPolicy:
    return load_policy(
        f"version: 1\nmodels: {{auto: start}}\n{POOLS}classifiers: {{d: {{kind: embedded}}}}\n"
        f"steps:\n  start: {{classify: d, to: {to}, share: {share}}}\n",
        load_difficulty=word_count,
    )


def drive(policy: CompiledPolicy, keeper: ShareKeeper, words: list[int]) -> list[str]:
    """One request per entry, with so many words: its score is words / 100. Gives the labels."""
    labels = []
    for number, count in enumerate(words):
        body = json.dumps({"messages": [{"role": "user", "content": "w " * count + f"\n{number}"}]}).encode()
        state = StateSnapshot(thresholds=keeper.thresholds())
        decision = decide(policy, RequestView("auto", body, request_id=str(number)), state)
        keeper.observe(decision.scores)
        labels.append(decision.scores[0].label)
    return labels


@pytest.mark.parametrize("share", [0.7, 0.5, 0.1])
def test_a_share_holds_whatever_the_traffic_looks_like(share: float) -> None:
    random.seed(7)
    policy = share_policy(f"{{easy: {share}}}")
    for low, high in ((0, 99), (80, 99), (0, 5)):
        labels = drive(policy, ShareKeeper(policy.policy), [random.randint(low, high) for _ in range(2500)])
        assert labels[500:].count("easy") / 2000 == pytest.approx(share, abs=0.04)


def test_equal_prompts_are_divided_too() -> None:
    policy = share_policy("{easy: 70%}")
    labels = drive(policy, ShareKeeper(policy.policy), [40] * 1500)
    assert labels[500:].count("easy") / 1000 == pytest.approx(0.7, abs=0.05)


def test_a_share_follows_traffic_that_changes() -> None:
    policy = share_policy("{easy: 70%}")
    random.seed(3)
    words = [random.randint(0, 30) for _ in range(1500)] + [random.randint(60, 99) for _ in range(3000)]
    labels = drive(policy, ShareKeeper(policy.policy), words)
    assert labels[500:1500].count("easy") / 1000 == pytest.approx(0.7, abs=0.05)
    assert labels[-1500:].count("easy") / 1500 == pytest.approx(0.7, abs=0.05)


def test_three_labels_hold_three_shares() -> None:
    random.seed(5)
    policy = share_policy("{easy: 60%, mid: 30%}", "{easy: small, mid: small, hard: large}")
    labels = drive(policy, ShareKeeper(policy.policy), [random.randint(20, 40) for _ in range(2500)])[500:]
    assert [round(labels.count(label) / 2000, 1) for label in ("easy", "mid", "hard")] == [0.6, 0.3, 0.1]


def test_all_and_nothing_are_shares_too() -> None:
    for share, label in (("100%", "easy"), ("0%", "hard")):
        policy = share_policy(f"{{easy: {share}}}")
        assert set(drive(policy, ShareKeeper(policy.policy), [0, 100, 50] * 100)) == {label}


def test_memory_is_bounded_and_snapshots_stay_as_they_were() -> None:
    policy = share_policy("{easy: 70%}")
    keeper = ShareKeeper(policy.policy)
    first = keeper.thresholds()
    for number in range(3 * WINDOW):
        keeper.observe([Scored("start", "d", number % 97 / 97, "easy"), Scored("not a step", "d", 0.5, "x")])
    assert len(keeper.recent()["start"]) == WINDOW
    assert list(keeper.recent()) == ["start"]
    assert first["start"] == (0.7,)
    assert keeper.thresholds()["start"] != first["start"]


def test_a_restarted_keeper_goes_on_where_it_stopped() -> None:
    policy = share_policy("{easy: 70%}")
    keeper = ShareKeeper(policy.policy)
    keeper.observe(Scored("start", "d", 0.9 + number % 100 / 1000, "hard") for number in range(800))
    other = ShareKeeper(policy.policy)
    other.restore(keeper.recent())
    assert other.thresholds() == keeper.thresholds()


def test_refused_requests_count_so_that_an_outage_does_not_bend_the_share() -> None:
    policy = share_policy("{easy: 50%}")
    state = StateSnapshot({"large": PoolState(ready=0)})
    body = json.dumps({"messages": [{"role": "user", "content": "w " * 90}]}).encode()
    with pytest.raises(NoPool) as caught:
        decide(policy, RequestView("auto", body), state)
    assert caught.value.scores[0].label == "hard"
