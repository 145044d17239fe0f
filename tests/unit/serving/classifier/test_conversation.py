"""Difficulty is that of what is asked now, which is not always the last line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.serving.classifier.conversation import (
    HEAD_BYTES,
    TAIL_BYTES,
    clipped,
    is_nod,
    judge_turns,
    spoken,
)
from stellwerk.serving.decision.request import Turn

HARD = "Prove that every finite group of prime order is cyclic, and derive its automorphism group step by step."
EASY = "What is the capital of France?"


def score(text: bytes) -> float:
    return 0.9 if b"Prove" in text else 0.1


def user(text: str) -> Turn:
    return Turn("user", text)


def judged(*turns: Turn) -> float:
    return judge_turns(turns, score).score


@pytest.mark.parametrize(
    "nod",
    ["yes", "Yes, go ahead.", "ok", "Do it!", "continue", "ja", "Ja bitte, weiter", "mach das", "👍", "1", "option b"],
)
def test_a_nod_after_a_hard_plan_stays_hard(nod: str) -> None:
    plan = Turn("assistant", "I would first show ... Shall I go on?")
    assert judged(user(HARD), plan, user(nod)) == 0.9
    assert judged(user(EASY), Turn("assistant", "Paris. More?"), user(nod)) == 0.1
    assert "before 1 short answer" in judge_turns([user(HARD), plan, user(nod)], score).about


@pytest.mark.parametrize(
    "text", ["yes, but why?", "Translate it", "ja, und was kostet das?", "rewrite the parser in Rust"]
)
def test_a_turn_with_content_is_no_nod(text: str) -> None:
    assert not is_nod(text)


def test_several_nods_in_a_row_are_stepped_over() -> None:
    turns = [user(HARD)]
    for _ in range(4):
        turns += [Turn("assistant", "next part?"), user("yes")]
    assert judged(*turns) == 0.9


def test_a_tool_result_stays_with_what_led_to_it() -> None:
    call = Turn("assistant", "", asks_tool=True)
    assert judged(user(HARD), call, Turn("tool", "42 files, all tests pass"), call, Turn("tool", "ok")) == 0.9
    assert judged(user(EASY), call, Turn("tool", "Prove " * 500)) == 0.1


def test_what_programs_inject_is_not_the_users() -> None:
    reminder = "<system-reminder>\nProve nothing. Your todo list is empty.\n</system-reminder>"
    assert judged(user(EASY + "\n" + reminder)) == 0.1
    assert judged(user(HARD), Turn("assistant", "plan"), user(reminder)) == 0.9
    assert spoken(f"{reminder} hello <environment_context cwd='/'>x</environment_context>") == "hello"
    assert spoken("<system-reminder>never closed") == ""
    assert spoken("a < b and <b>bold</b>") == "a < b and <b>bold</b>"


def test_system_text_does_not_count() -> None:
    assert judged(Turn("system", HARD), user(EASY)) == 0.1


def test_a_short_follow_up_is_as_hard_as_what_it_follows() -> None:
    assert judged(user(HARD), Turn("assistant", "..."), user("and for order p squared?")) == 0.9
    long = "Now something else entirely: please write me a short friendly birthday card for my aunt who likes cats"
    assert judged(user(HARD), Turn("assistant", "..."), user(long)) == 0.1


def test_an_easy_start_does_not_soften_a_hard_question() -> None:
    assert judged(user(EASY), Turn("assistant", "Paris"), user(HARD)) == 0.9


def test_an_empty_conversation_has_a_score_too() -> None:
    assert judged() == 0.1
    assert judged(user("yes")) == 0.1
    assert judged(Turn("assistant", "hello")) == 0.1


def test_a_very_long_prompt_is_looked_at_from_both_ends() -> None:
    raw = clipped("start " + "x" * 1_000_000 + " end")
    assert len(raw) < 20_000
    assert raw.startswith(b"start")
    assert raw.endswith(b"end")


@given(
    st.lists(
        st.sampled_from(
            ["<context", "<Context>", "</context>", "</CONTEXT \n>", "<context id=1>", ">", "<command-name>", "a", " ",
             "</command-name>", "<contexts>", "<", "\n", "</context", "<command-args x", "<b>", "</command-args>"]
        ),
        max_size=12,
    ).map("".join)
)  # fmt: skip
def test_what_is_left_of_a_turn_is_what_one_expression_would_leave(text: str) -> None:
    names = "context|command-name|command-args"
    whole = re.compile(rf"<({names})\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
    assert spoken(text) == whole.sub(" ", text).strip()


@pytest.mark.parametrize("part", ["<context", "<context>", "<context></", "</context ", "<context x><"])
def test_a_megabyte_of_half_open_tags_is_read_in_one_go(part: str) -> None:
    """An expression that tries every tag to the end of the text would be busy for a quarter of an hour."""
    text = part * 150_000
    assert len(spoken(text)) <= len(text)


@given(st.text("aä漢\ud800", max_size=6), st.sampled_from([0, 1, 5000, HEAD_BYTES, HEAD_BYTES + TAIL_BYTES]))
def test_what_is_cut_out_of_a_long_text_is_cut_at_the_same_bytes(part: str, count: int) -> None:
    text = (part or "x") * count
    raw = text.encode("utf-8", "replace")
    whole = len(raw) <= HEAD_BYTES + TAIL_BYTES
    assert clipped(text) == (raw if whole else raw[:HEAD_BYTES] + b"\n" + raw[-TAIL_BYTES:])
