"""Finds and opens the weights of an embedded classifier."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources
from pathlib import Path

from stellwerk.serving.classifier.model import DifficultyModel, load_weights, parse_weights

SHIPPED = "difficulty.weights"


@lru_cache(maxsize=1)
def shipped_model() -> DifficultyModel:
    """The model that comes with the program; immutable, so one for all. OSError or ValueError when it is not there."""
    entry = resources.files("stellwerk_resources") / "classifier" / SHIPPED
    return DifficultyModel(parse_weights(entry.read_bytes(), f"the shipped {SHIPPED}"))


def load_difficulty(weights: str | None) -> DifficultyModel:
    """The model in a file (a path, `~` allowed), or the shipped one. OSError or ValueError when it cannot be read."""
    if weights is None:
        return shipped_model()
    return DifficultyModel(load_weights(Path(weights).expanduser()))
