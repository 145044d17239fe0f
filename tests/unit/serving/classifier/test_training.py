"""Training finds what is in the data, says how well it does on prompts it has not seen, and its file is what it was."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from stellwerk.serving.classifier.data import BadData, Example, read_examples
from stellwerk.serving.classifier.linear import HEADS, Rows, fit, sigmoid
from stellwerk.serving.classifier.load import load_difficulty
from stellwerk.serving.classifier.model import (
    DifficultyModel,
    Weights,
    load_weights,
    parse_weights,
    save_weights,
)
from stellwerk.serving.classifier.quality import quality
from stellwerk.serving.classifier.scanner import PythonScanner
from stellwerk.serving.classifier.training import Options, Trained, calibrate_heads, calibration_error, train
from stellwerk.serving.decision.request import Turn
from unit.serving.classifier.graded import rows, write

SMALL = Options(bits=12)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> list[Example]:
    return read_examples(write(tmp_path_factory.mktemp("data") / "own.jsonl", rows(600)))


@pytest.fixture(scope="module")
def trained(examples: list[Example]) -> Trained:
    return train({"own": examples}, SMALL, now=datetime(2026, 11, 30, tzinfo=UTC))


def test_hard_prompts_score_above_easy_ones_that_were_not_in_the_data(trained: Trained) -> None:
    model = DifficultyModel(trained.weights)
    for hard, easy in (
        ("Prove that every tree is the sum of paths and derive a bound.", "What is the capital of Spain?"),
        ("Beweise, dass jede Gruppe endlich ist, und bestimme ihre Ordnung.", "Wie heißt die Hauptstadt von Peru?"),
    ):
        assert model.score(hard.encode()) > 0.5 > model.score(easy.encode())


def test_it_ranks_new_prompts_well(trained: Trained, tmp_path: Path) -> None:
    new = read_examples(write(tmp_path / "new.jsonl", rows(400, seed=99)))
    model = DifficultyModel(trained.weights)
    found = quality([model.score(e.text) for e in new], [e.strong for e in new], [e.weak for e in new])
    assert found.apgr > 0.7
    assert found.cpt50 < 0.35


def test_the_report_names_figures_on_held_out_prompts_and_unseen_groups(trained: Trained) -> None:
    figures = trained.report["own"]
    assert isinstance(figures, dict)
    assert figures["five_fold"]["apgr"] > 0.7
    assert figures["unseen_groups"]["apgr"] > 0.7
    assert figures["five_fold"]["prompts"] == 600
    assert trained.weights.card["trained"] == "2026-11-30"
    assert trained.weights.card["figures"] == trained.report


def test_two_sets_are_trained_together_and_reported_each(examples: list[Example], tmp_path: Path) -> None:
    other = read_examples(write(tmp_path / "other.jsonl", rows(150, seed=5, subject="one")))
    said: list[str] = []
    report = train({"own": examples, "other": other}, SMALL, say=said.append).report
    assert set(report) == {"own", "other", "calibration_error"}
    found = report["other"]
    assert isinstance(found, dict)
    assert "five_fold_alone" in found
    assert any("other" in line and "APGR" in line and "CPT50" in line for line in said)


def test_labels_without_any_pattern_give_no_more_than_chance() -> None:
    chance = np.random.default_rng(3)
    noise = [
        Example(
            f"word{chance.integers(50)} word{chance.integers(50)}".encode(),
            float(chance.random() < 0.8),
            float(chance.random() < 0.5),
        )
        for _ in range(800)
    ]
    figures = train({"noise": noise}, SMALL).report["noise"]
    assert isinstance(figures, dict)
    assert 0.4 < figures["five_fold"]["apgr"] < 0.6


def test_said_chances_are_honest(trained: Trained) -> None:
    errors = trained.report["calibration_error"]
    assert isinstance(errors, dict)
    assert max(errors.values()) < 0.06


def test_scores_are_shares_of_prompts_like_the_reference(trained: Trained, tmp_path: Path) -> None:
    model = DifficultyModel(trained.weights)
    new = read_examples(write(tmp_path / "new.jsonl", rows(600, seed=99)))
    scores = [model.score(example.text) for example in new]
    # The set has two heaps, easy and hard, with nothing between them: the middle is where a share can be told.
    assert sum(score < 0.5 for score in scores) / len(scores) == pytest.approx(0.5, abs=0.1)


def test_shares_grow_with_the_gain_from_end_to_end(trained: Trained) -> None:
    model = DifficultyModel(trained.weights)
    gains = [-1 + number / 500 for number in range(1001)]
    shares = [model.share_of(gain) for gain in gains]
    assert shares == sorted(shares)
    assert shares[0] == 0.0
    assert shares[-1] == 1.0
    assert len(set(shares)) == len(shares)


def test_a_file_holds_what_was_saved(trained: Trained, tmp_path: Path, examples: list[Example]) -> None:
    path = tmp_path / "mine.weights"
    save_weights(trained.weights, path)
    loaded = load_difficulty(str(path))
    model = DifficultyModel(trained.weights)
    for example in examples[:50]:
        assert loaded.estimate(example.text).gain == pytest.approx(model.estimate(example.text).gain, abs=2e-3)
    assert loaded.weights.card == trained.weights.card
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.weights"]


def test_python_and_c_decide_alike(trained: Trained, examples: list[Example]) -> None:
    fast, slow = DifficultyModel(trained.weights), DifficultyModel(trained.weights, PythonScanner())
    for example in examples[:50]:
        assert fast.estimate(example.text) == slow.estimate(example.text)


def test_features_are_named_with_the_direction_in_which_they_pushed(trained: Trained) -> None:
    model = DifficultyModel(trained.weights)
    verdict = model.judge([Turn("user", "Prove that every cat is the sum of two primes.")], explain=True)
    named = dict(verdict.features)
    assert 1 <= len(named) <= 6
    assert any(push > 0 for push in named.values())
    assert any(name.startswith("“") for name in named)
    assert model.judge([Turn("user", "hi")]).features == ()
    pushes = [abs(push) for _, push in verdict.features]
    assert pushes == sorted(pushes, reverse=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda raw: b"x" + raw[1:], "no weights file"),
        (lambda raw: raw[:-3], "checksum"),
        (lambda raw: raw[:200] + bytes([raw[200] ^ 1]) + raw[201:], "checksum"),
        (lambda raw: b"", "no weights file"),
        (lambda raw: raw[:9], "checksum"),
    ],
)
def test_a_damaged_file_is_refused_by_name(trained: Trained, tmp_path: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "w"
    save_weights(trained.weights, path)
    with pytest.raises(ValueError, match=message) as caught:
        parse_weights(change(path.read_bytes()), "w.bin")
    assert "w.bin" in str(caught.value)


def test_weights_for_other_features_are_refused(trained: Trained, tmp_path: Path) -> None:
    weights = trained.weights
    fewer = Weights(weights.bits, weights.table, weights.lexical[1:], weights.bias, weights.quantiles, {})
    save_weights(fewer, tmp_path / "w")
    with pytest.raises(ValueError, match="train it anew"):
        load_weights(tmp_path / "w")


def test_too_few_prompts_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        train({"few": [Example(b"x", 1, 0)] * 3})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("not json", "line 2: this is no JSON"),
        ("[1]", "line 2: this is no JSON object"),
        ('{"strong": 1, "weak": 0}', "line 2: there is no `prompt`"),
        ('{"prompt": "x", "strong": 2, "weak": 0}', "line 2: `strong` is 2"),
        ('{"prompt": "x", "strong": 1}', "line 2: `weak` is None"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"prompt": "a", "strong": true, "weak": 0.5}\n' + line + "\n")
    with pytest.raises(BadData, match=message):
        read_examples(path)


def test_a_conversation_counts_by_its_last_turn_of_substance(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    turns = [{"role": "user", "content": "Prove it"}, {"role": "user", "content": "yes"}]
    path.write_text(json.dumps({"messages": turns, "strong": 1, "weak": 0}) + "\n\n")
    assert [example.text for example in read_examples(path)] == [b"Prove it"]
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(BadData, match="no prompts"):
        read_examples(tmp_path / "empty.jsonl")


def test_numpy_alone_gives_the_same_products_as_the_c_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = np.random.default_rng(1)
    lengths = chance.integers(0, 9, 40)
    start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    matrix = Rows(
        start, chance.integers(0, 30, start[-1]).astype(np.int32), chance.normal(size=start[-1]).astype(np.float32)
    )
    weights = chance.normal(size=(30, HEADS)).astype(np.float32)
    errors = chance.normal(size=(40, HEADS)).astype(np.float32)
    fast = matrix.dot(weights), matrix.dot_transposed(errors, 30)
    monkeypatch.setattr("stellwerk.serving.classifier.linear._native", lambda: None)
    assert np.allclose(matrix.dot(weights), fast[0], atol=1e-5)
    assert np.allclose(matrix.dot_transposed(errors, 30), fast[1], atol=1e-5)


def test_the_fit_is_at_its_minimum() -> None:
    """The gradient of the penalised loss vanishes: what was found is the optimum, not where patience ended."""
    chance = np.random.default_rng(2)
    start = np.arange(0, 601, 3, dtype=np.int64)
    matrix = Rows(start, chance.integers(0, 20, 600).astype(np.int32), np.ones(600, np.float32))
    lexical = chance.normal(size=(200, 4)).astype(np.float32)
    targets = (chance.random((200, 2)) < sigmoid(lexical[:, :2])).astype(np.float32)
    heads = fit(matrix, lexical, targets, 20, hashed_l2=1.0, lexical_l2=5.0, iterations=300, tolerance=0)
    errors = sigmoid(heads.logits(matrix, lexical)) - targets
    assert np.abs(matrix.dot_transposed(errors, 20) + heads.hashed).max() < 0.5
    assert np.abs(lexical.T @ errors + 5.0 * heads.lexical).max() < 0.5
    assert np.abs(errors.sum(0)).max() < 0.5


def test_calibration_mends_logits_that_say_too_much() -> None:
    chance = np.random.default_rng(4)
    true = chance.normal(size=(5000, 2)).astype(np.float32)
    labels = (chance.random((5000, 2)) < sigmoid(true)).astype(np.float32)
    said = true * 3 + 1
    factors = calibrate_heads(said, labels)
    mended = said * factors[:, 0] + factors[:, 1]
    before = calibration_error(sigmoid(said)[:, 0].astype(float), labels[:, 0].astype(float))
    after = calibration_error(sigmoid(mended)[:, 0].astype(float), labels[:, 0].astype(float))
    assert before > 0.1 > 0.03 > after
