"""Regular expressions of a policy: the same answers as `re` gives, without the time that `re` takes for some texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.policy import automaton as module
from stellwerk.serving.policy.automaton import Automaton, TooComplex
from stellwerk.serving.policy.search import WINDOW, make_search, steps_of, window_of, without_idle_start

_PIECES = [
    "a", "B", "c", ".", r"\w", r"\W", r"\d", r"\s", r"\S", "[ab]", "[^a]", "[^b\\n]", "[a-c1]", r"[\d-]", "ä", "ß", "İ",
    "ſ", "_", " ", r"\n", "^", "$", r"\A", r"\Z", r"\b", r"\B", "(?:ab|c)", "(a|)", "(?i:k)", "(?-i:a)", "(?s:.)",
    "(?a:\\w)", "(?m:^)", "(?m:$)", "[k-s]", r"[^\W\d]", "(?:a|b)", "x", "(?a:\\b)",
    r"(?<!\w)", r"(?!\w)", "(?=b)", "(?<=[a-c])", "(?i:(?!K))", r"(?=\n)",
]  # fmt: skip
_REPEATS = ["", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{0,3}", "{2,}", "{1,2}?"]
_LETTERS = st.text("aABbcCk1_ \n\räÄßſKİi\u0301x-٣", max_size=14)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    flags = draw(st.sampled_from(["", "", "(?i)", "(?s)", "(?m)", "(?im)", "(?a)", "(?ia)"]))
    ways = []
    for _ in range(draw(st.integers(1, 2))):
        pieces = draw(st.lists(st.tuples(st.sampled_from(_PIECES), st.sampled_from(_REPEATS)), max_size=5))
        ways.append("".join(f"(?:{piece}){repeat}" if repeat else piece for piece, repeat in pieces))
    return flags + "|".join(ways)


@given(patterns(), st.lists(_LETTERS, min_size=1, max_size=4))
def test_the_automaton_finds_what_re_finds(pattern: str, texts: list[str]) -> None:
    search = re.compile(pattern).search
    automaton = Automaton(pattern)
    for text in texts:
        assert automaton.search(text) is (search(text) is not None), (pattern, text)


@given(patterns(), st.lists(_LETTERS, min_size=1, max_size=4))
@settings(max_examples=30)
def test_an_automaton_that_forgets_all_the_time_finds_the_same(pattern: str, texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_MOST_KEPT", 1)
        patch.setattr(module, "_MOST_LETTERS", 1)
        automaton = Automaton(pattern)
        for text in texts:
            assert automaton.search(text) is (re.search(pattern, text) is not None), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (".*a.*b.*c", "ab" * 8192), (r"(\w+)@(\w+)\.x", "a" * WINDOW), (r"(\w+)@(\w+)\.x", "a@" * 8192),
        (r"\d+\s*(?:k|thousand)?\s*tokens", "1" * WINDOW), ("a?" * 40 + "a{40}b", "a" * WINDOW),
        (r"(?i)please.*summ.*text", "please summ " * 1365), (r"[ab]*a[ab]{14}c", "abbaabab" * 2048),
        ("(.*),(.*),(.*),(.*),x", "," * WINDOW), (".{0,1000}x.*y", "x" * WINDOW), (r"^\s+|\s+$", "x" + " a" * 8191),
    ],
)  # fmt: skip
def test_a_long_text_is_searched_in_few_steps(pattern: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `re` some of these would not end while anybody waits, so that a search by it is a hanging test."""
    steps = 0
    real = Automaton.keep

    def counted(self: Automaton, row: module._Row, letter: str) -> module._Row:
        nonlocal steps
        steps += 1
        return real(self, row, letter)

    monkeypatch.setattr(Automaton, "keep", counted)
    search = make_search(pattern)
    assert search(text) is False
    assert steps <= WINDOW
    assert window_of(pattern) == WINDOW


def test_a_match_at_the_end_of_a_long_text_is_found_and_one_behind_the_window_is_not() -> None:
    search = make_search(r"(\w+)@(\w+)\.x\Z")
    assert search("-" * (WINDOW - 5) + "a@b.x")
    assert not search("-" * (WINDOW - 4) + "a@b.x")


@pytest.mark.parametrize(
    "pattern", [r"(\w+) .*\1", "a.*(?=b.*c)", "(?>a.*b).*c", ".*+a.*b", "a.*(?!(?:b)c)", r"(a)?.*(?(1)b|c)"]
)
def test_what_no_automaton_follows_sees_only_so_much_of_a_text_as_re_manages(pattern: str) -> None:
    with pytest.raises(TooComplex):
        Automaton(pattern)
    window = window_of(pattern)
    assert 0 < window < WINDOW
    steps = steps_of(pattern)
    assert steps.factor * window**steps.power <= 5_000_000
    search = make_search("z" + pattern)
    text = "z" + "a b c a c"
    assert search(text) is (re.search("z" + pattern, text) is not None)
    assert search("-" * WINDOW + text) is False


@pytest.mark.parametrize(
    "pattern", ["prove", "(?i)prove|theorem", r"\bdef\s\w", "^summarise", r"(?<!\wz)x(?!\w)", "(?:ab){3}"]
)
def test_a_usual_expression_is_left_to_re_and_sees_the_whole_window(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stellwerk.serving.policy.search.Automaton", None)
    assert make_search(pattern)("-" * WINDOW) is False
    assert window_of(pattern) == WINDOW


def test_too_large_an_expression_has_no_automaton() -> None:
    with pytest.raises(TooComplex):
        Automaton("(?:[a-f]{100}){100}.*x")
    assert 0 < window_of("(?:[a-f]{100}){100}.*x.*y") < WINDOW


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


def test_nothing_repeated_a_thousand_million_times_is_still_nothing() -> None:
    assert Automaton("a(?:){4000000000}b").search("ab")
    assert not Automaton("a(?:(?:){4000000000}){4000000000}b").search("ba")
