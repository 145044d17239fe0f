"""A small graded set of our own: what is hard is known, because it was decided here."""

from __future__ import annotations

import json
import random
from pathlib import Path

_EASY = ("What is the capital of {}?", "Wie heißt die Hauptstadt von {}?", "Translate {} into German.", "Name a {}.")
_HARD = (
    "Prove that every {} is the sum of two primes and derive a bound for n > {}.",
    "Beweise, dass jede Gruppe der Ordnung {} zyklisch ist, und bestimme ihre Automorphismen.",
    "Write a lock-free queue in Rust for {} producers, then show that it is linearizable.",
    "Given x^2 + {}x = 7, compute the integral and explain every step.",
)
_THINGS = ("France", "Chile", "cat", "house", "17", "31", "matrix", "river", "graph", "Kenia", "tree", "lamp")


def rows(count: int, seed: int = 1, subject: str = "") -> list[dict[str, object]]:
    """Hard prompts: the strong model is mostly right, the weak one mostly wrong. Easy ones: both mostly right."""
    chance = random.Random(seed)
    found: list[dict[str, object]] = []
    for _ in range(count):
        hard = chance.random() < 0.5
        pattern = chance.choice(_HARD if hard else _EASY)
        prompt = pattern.format(chance.choice(_THINGS), chance.randint(2, 99))
        strong = chance.random() < 0.93
        weak = chance.random() < (0.15 if hard else 0.9)
        group = subject or f"{'hard' if hard else 'easy'}-{chance.randint(0, 9)}"
        found.append({"prompt": prompt, "strong": float(strong), "weak": float(weak), "group": group})
    return found


def write(path: Path, lines: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    return path
