"""The decode measurement without its ranks: what is refused, what the table and the sentences say."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest
from click.testing import CliRunner

from stellwerk.cli.main import cli
from stellwerk.measure.decode import Line, Plan, Result, sentences, table, to_json

ONE = Line(1, "whole model", 2.0, 0.0, -1, 0.0, True)
DIRECT = Line(4, "direct", 4.0, 0.5, -1, 2e-7, True)
RING = Line(4, "ring", 16.0, 0.9, -1, 0.0, True)
RESULT = Result(Plan((1, 4)), (ONE, DIRECT, RING), (7, 8), 2)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"ranks": (0,)}, "1 to 16 ranks"),
        ({"ranks": (2, 9)}, "8 heads cannot be dealt out to 9 ranks"),
        ({"width": 100}, "width of 100"),
        ({"tokens": 0}, "at least 1"),
        ({"transport": "pigeon"}, "unknown transport 'pigeon'"),
        ({"contenders": ("direct", "magic")}, "unknown algorithm 'magic'"),
        ({"delay_us": -1.0}, "not negative"),
    ],
)
def test_a_plan_that_cannot_be_measured_is_refused(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Plan(**wrong)  # type: ignore[arg-type]


def test_gloo_is_left_out_on_an_emulated_link_and_that_is_said() -> None:
    assert "gloo" in Plan().measured
    held_back = Plan(delay_us=500.0)
    assert "gloo" not in held_back.measured
    assert any("Gloo cannot be held back" in s for s in sentences(replace(RESULT, plan=held_back)))


def test_table_and_sentences_say_how_fast_and_how_right_it_was() -> None:
    assert table(RESULT) == [
        ("1", "none", "500.0", "2.00", "-", "as one rank"),
        ("4", "direct", "250.0", "4.00", "50%", "as one rank"),
        ("4", "ring", "62.5", "16.00", "90%", "as one rank"),
    ]
    said = sentences(RESULT)
    assert said[0] == "4 ranks: with direct a token takes 0.25 of the time it takes with ring."
    assert "All 2 token ids are those of one rank" in said[1]
    assert "logits differ by up to 2.0e-07" in said[1]
    assert "share this computer (2 processors)" in said[2]
    assert to_json(RESULT)["right"] is True


@pytest.mark.parametrize(
    ("broken", "cell"),
    [(replace(RING, parts_at=3), "differ from token 3"), (replace(RING, same_bits=False), "ranks differ")],
)
def test_a_line_that_decodes_something_else_is_named(broken: Line, cell: str) -> None:
    result = replace(RESULT, lines=(ONE, DIRECT, broken))
    assert not result.right
    assert table(result)[2][-1] == cell
    assert any(s.startswith("NOT the token ids") and "ring on 4 ranks" in s for s in sentences(result))


def test_without_torch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n == "torch" else find(n, *a))
    ran = CliRunner().invoke(cli, ["measure", "decode", "--ranks", "1"])
    assert ran.exit_code == 2
    assert "torch is not installed" in ran.stderr
    assert "stellwerk[torch]" in ran.stderr
