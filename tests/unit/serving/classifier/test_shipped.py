"""The weights that are shipped: small, honest about themselves, and sensible in English and German."""

from __future__ import annotations

from importlib import resources

import pytest

from stellwerk.serving.classifier.load import SHIPPED, load_difficulty, shipped_model
from stellwerk.serving.decision.request import Turn

FOLDER = resources.files("stellwerk_resources") / "classifier"

HARDER = {
    "English mathematics": (
        "Prove that every bounded monotone sequence of real numbers converges, and derive a bound on its rate.",
        "What is the capital of France?",
    ),
    "English code": (
        "Write a function in Rust that merges k sorted lists, then show why its running time is O(n log k).",
        "Translate 'good morning' into Spanish.",
    ),
    "German mathematics": (
        "Beweise, dass jede beschränkte monotone Folge reeller Zahlen konvergiert, und bestimme eine Schranke.",
        "Wie heißt die Hauptstadt von Frankreich?",
    ),
    "German text": (
        "Wenn ein Zug um 9:40 Uhr abfährt, mehr als doppelt so schnell wie ein zweiter ist und beide 30 % langsamer "
        "werden, wann treffen sie sich dann, falls die Strecke 412 km lang ist?",
        "Hallo, wie geht es dir?",
    ),
}


@pytest.mark.parametrize("pair", HARDER)
def test_what_is_harder_scores_higher(pair: str) -> None:
    hard, easy = HARDER[pair]
    model = shipped_model()
    assert model.score(hard.encode()) > model.score(easy.encode()) + 0.1


def test_the_file_is_small_and_carries_its_card() -> None:
    assert len((FOLDER / SHIPPED).read_bytes()) < 2_000_000
    card = shipped_model().weights.card
    assert set(card["prompts"]) == {"mmlu", "gsm8k"}  # type: ignore[call-overload]
    figures = card["figures"]
    assert isinstance(figures, dict)
    assert figures["mmlu"]["five_fold"]["apgr"] > 0.6
    assert figures["mmlu"]["unseen_groups"]["apgr"] > 0.55
    text = (FOLDER / "CARD.md").read_text(encoding="utf-8")
    for figure in (figures["mmlu"]["five_fold"], figures["mmlu"]["unseen_groups"], figures["gsm8k"]["five_fold"]):
        assert f"{figure['apgr']:.3f}".lstrip("0") in text, "the card says what the file says"
    assert "Limits" in text


def test_the_prompts_it_was_trained_on_are_not_in_the_package() -> None:
    assert not [entry.name for entry in FOLDER.iterdir() if entry.name.endswith(".jsonl")]


def test_it_is_loaded_once() -> None:
    assert load_difficulty(None) is load_difficulty(None)


def test_every_verdict_names_features() -> None:
    verdict = shipped_model().judge([Turn("user", HARDER["English code"][0])], explain=True)
    assert len(verdict.features) == 6
    assert 0 < verdict.score < 1
    assert all(push for _, push in verdict.features)
