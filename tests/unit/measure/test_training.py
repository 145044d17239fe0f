"""The training measurement without its ranks: data, what is refused, what table and sentences say."""

from __future__ import annotations

import importlib.util
from dataclasses import replace

import pytest
from click.testing import CliRunner

from stellwerk.cli.main import cli
from stellwerk.measure.training import Line, Plan, Result, sentences, table, to_json

ONE = Line(1, "none", (4.0, 2.0), 1000.0, 1, True, "a" * 64, 0.0)
OURS = Line(2, "stellwerk", (4.0, 2.0), 1500.0, 5, True, "b" * 64, 2e-7)
GLOO = Line(2, "gloo", (4.0, 2.0), 1200.0, 5, True, "c" * 64, 2e-7)
RESULT = Result(Plan((1, 2)), (ONE, OURS, GLOO), 99, 2)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"ranks": (17,)}, "1 to 16 ranks"),
        ({"ranks": (3,)}, "16 sequences per step cannot be dealt out evenly to 3 ranks"),
        ({"steps": 2}, "train at least 3"),
        ({"transport": "pigeon"}, "unknown transport"),
    ],
)
def test_a_plan_that_cannot_be_measured_is_refused(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Plan(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
def test_the_shares_of_all_ranks_are_the_batch_of_one_rank(ranks: int) -> None:
    torch = pytest.importorskip("torch")
    from dataclasses import asdict

    from stellwerk.measure.training_ranks import Trainer

    plan = asdict(Plan())
    whole, after = Trainer(plan, 0, 1).batch(5)
    shares = [Trainer(plan, rank, ranks).batch(5) for rank in range(ranks)]
    assert torch.equal(torch.cat([x for x, _ in shares]), whole)
    assert torch.equal(torch.cat([y for _, y in shares]), after)
    assert torch.equal(whole[:, 1:], after[:, :-1]), "what follows each character"


def test_speed_up_and_efficiency_are_against_one_rank() -> None:
    assert [row[4:6] for row in table(RESULT)] == [("1.00x", "100%"), ("1.50x", "75%"), ("1.20x", "60%")]
    alone = replace(RESULT, lines=(OURS,))
    assert table(alone)[0][4:6] == ("-", "-")
    assert any("5 buckets" in s and "2.0e-07" in s for s in sentences(RESULT))
    assert any("share this computer (2 processors)" in s for s in sentences(RESULT))
    assert to_json(RESULT)["right"] is True


def test_other_bits_on_a_rank_and_another_course_of_the_loss_are_findings() -> None:
    differs = replace(RESULT, lines=(ONE, replace(OURS, same_bits=False), GLOO))
    assert not differs.right
    assert table(differs)[1][-1] == "DIFFER"
    learns_else = replace(RESULT, lines=(ONE, replace(OURS, losses=(4.0, 2.5)), GLOO))
    assert not learns_else.right
    assert any("do NOT agree" in s for s in sentences(learns_else))


def test_without_torch_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda n, *a: None if n == "torch" else find(n, *a))
    ran = CliRunner().invoke(cli, ["measure", "training", "--ranks", "1"])
    assert ran.exit_code == 2
    assert "stellwerk[torch]" in ran.stderr
