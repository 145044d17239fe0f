"""The example policies that are shipped are valid, drawn, and explain themselves."""

from __future__ import annotations

from importlib import resources

import pytest

from stellwerk.serving.decision.log import sample_log
from stellwerk.serving.decision.replay import replay
from stellwerk.serving.policy.load import load_policy
from stellwerk.serving.policy.picture import picture

FOLDER = resources.files("stellwerk_resources") / "policies"
EXAMPLES = sorted(entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".yaml"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_valid_and_every_request_finds_a_pool(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    assert text.startswith("# "), "it says what it is for"
    policy = load_policy(text)
    assert picture(text).problems == ()
    found = replay(policy, sample_log(60, next(iter(policy.models))))
    assert sum(found.pools.values()) == 60
    assert found.errors == {}
    for pool, count in found.pools.items():
        assert sum(number for (_, target), number in found.wires.items() if target == pool) == count


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 4
