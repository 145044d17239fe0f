"""Regular expressions that some prompts would take for ever, and those that none would."""

from __future__ import annotations

import re

import pytest

from stellwerk.serving.policy.runaway import runs_away


@pytest.mark.parametrize(
    "pattern",
    [
        "(a|a)*$", "(a|aa)+$", "((a+))*$", "(?:a?a)*$", "(?:(?:a?){60}){60}b", "(.*)*x", "(a+)+b", r"(\w+\s?)*!",
        "(?:a{1,9})+b", "(?:(?:ab|a)(?:c|bc))*d", "(?=(a+)+b)a", "(?:x|(a+)+)y", "(?>(a+)+b)", "(?:(?:a+)+b)*+c",
        "(?:a|(?:b+)+c)", "(?i:(ab|Ac)*d)", "((((a?){8}){8}){8}){8}b", "(z)?(?(1)(a+)+b|c)",
        "a(?:){9}b", r"(?:\b){100000}", "(?:(?:){5}){5}", "(?:)*",
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
