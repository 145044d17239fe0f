"""Regular expressions that some prompts would take for ever, and those that none would."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.serving.policy.conditions import without_idle_start
from stellwerk.serving.policy.runaway import runs_away


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|a)*$", "(a|aa)+$", "((a+))*$", "(?:a?a)*$", "(?:(?:a?){60}){60}b", "(.*)*x", "(a+)+b", r"(\w+\s?)*!",
        "(?:a{1,9})+b", "(?:(?:ab|a)(?:c|bc))*d", "(?=(a+)+b)a", "(?:x|(a+)+)y", "(?>(a+)+b)", "(?:(?:a+)+b)*+c",
        "(?:a|(?:b+)+c)", "(?i:(ab|Ac)*d)", "((((a?){8}){8}){8}){8}b", "(z)?(?(1)(a+)+b|c)",
    ],
)  # fmt: skip
def test_a_repeated_part_with_several_ways_to_match_is_found(pattern: str) -> None:
    re.compile(pattern)
    assert runs_away(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "prove", "(?i)prove|theorem", r"\b(def|class)\s+\w+", "(?:foo|bar)+", "(?:colou?r )+", "a+b+c+", r"^\s*#",
        "(ab){3}", r"(?:[0-9]{3}-){2}[0-9]{4}", "(?:ab)+", r"(?:\w,)*", "(a+b?){1,3}", "(?:[abc])*", "(a++)b", "x?y?z?",
    ],
)  # fmt: skip
def test_usual_expressions_pass(pattern: str) -> None:
    re.compile(pattern)
    assert not runs_away(pattern)


@given(
    st.sampled_from(["", "(?i)", "(?s)", "(?im)"]),
    st.sampled_from(["", ".*", ".*?", ".*+", ".+"]),
    st.sampled_from(["a", "A.*b|c", "^a", "b$", r"\bab", "(?<=a)b", "(a)b\\1", ".*b", ""]),
    st.text("abAB \n", max_size=12),
)
def test_a_search_finds_the_same_without_the_idle_part_at_its_start(
    flags: str, start: str, rest: str, text: str
) -> None:
    pattern = flags + start + rest
    shorter = without_idle_start(pattern)
    assert (re.search(shorter, text) is None) == (re.search(pattern, text) is None)
    if start in (".*", ".*?") and not rest.startswith(".*"):
        assert shorter == flags + rest
