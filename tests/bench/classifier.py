"""The embedded classifier's speed, and with data its quality:

`python tests/bench/classifier.py [DATA.jsonl ...] [--json FILE]`. Aims: under 0.5 ms for a prompt of 4 kB, and training
on all sets under 40 s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from stellwerk.serving.classifier.data import Example, read_examples
from stellwerk.serving.classifier.load import shipped_model
from stellwerk.serving.classifier.model import DifficultyModel
from stellwerk.serving.classifier.scan import forget_words
from stellwerk.serving.classifier.scanner import NativeMissing, PythonScanner, native_scanner

LABELS = 1500
SPLITS = 5
# Words of a prompt are mostly different ones, so the text is made of the syllables of many.
LETTERS = re.compile(r"[a-z]+")
ONSETS = LETTERS.findall("b br d dr f fl g gr h k kl l m n p pr r s sch st str t tr v w z")
RHYMES = LETTERS.findall("and ar au eck el en er est ich il in ind or ost uck um und ung urg aft")
USUAL = LETTERS.findall(
    "the of and a to in is that it for die der und das ist ein nicht mit den zu what why how wie warum"
)


WHICH = {
    "c_us": "C",
    "python_us": "Python, words that it has met before",
    "python_first_us": "Python, every word for the first time",
}


def best_us(function: Callable[[], object], calls: int) -> float:
    best = float("inf")
    for _ in range(30):
        begun_s = perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (perf_counter() - begun_s) / calls)
    return best * 1e6


def prompt(seed: int, size: int = 4096) -> bytes:
    """A made-up text with as many different words as prose has: about half of all words are usual ones."""
    chance = random.Random(seed)
    words: list[str] = []
    while sum(map(len, words)) + len(words) < size:
        if chance.random() < 0.5:
            words.append(chance.choice(USUAL))
        else:
            syllables = chance.choices(ONSETS, k=chance.choice((1, 2, 2, 3)))
            word = "".join(onset + chance.choice(RHYMES) for onset in syllables)
            words.append(word + chance.choice(("", "", ",", ".")))
    return " ".join(words).encode()[:size]


def speed() -> dict[str, float]:
    """Microseconds for a text of 4 kB: in C, in Python with words it has met before, and with words all new to it."""
    text = prompt(0)
    weights = shipped_model().weights
    found: dict[str, float] = {}
    try:
        fast = DifficultyModel(weights, native_scanner())
        found["c_us"] = best_us(lambda: fast.score(text), 50)
    except NativeMissing as error:
        print(f"no C loop: {error}")
    slow = DifficultyModel(weights, PythonScanner())
    found["python_us"] = best_us(lambda: slow.score(text), 3)

    def first_time() -> float:
        forget_words()
        return slow.score(text)

    found["python_first_us"] = best_us(first_time, 3)
    return found


def with_few_labels(examples: list[Example]) -> list[float]:
    """APGR on the rest after training on `LABELS` prompts, for several draws."""
    import numpy as np

    from stellwerk.serving.classifier.training import Options, fit_rows, judge, logits_of, scan_examples

    corpus = scan_examples(examples, Options().bits)
    found = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(corpus))
        fitted = fit_rows(corpus, np.sort(order[:LABELS]), Options())
        rest = np.sort(order[LABELS:])
        found.append(judge(corpus.take(rest), logits_of(corpus, rest, fitted)).apgr)
    return found


def main() -> None:
    # numpy reads these when it is imported, which is not before training.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="*", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: dict[str, object] = {"speed": (times := speed())}
    print("one prompt of 4 kB, µs (aim: under 500)")
    for name, value in times.items():
        print(f"  {WHICH[name]:44}{value:>8.0f}")
    if arguments.data:
        from stellwerk.serving.classifier.training import train

        sets = {path.stem: read_examples(path) for path in arguments.data}
        begun_s = perf_counter()
        found["figures"] = train(sets, say=print).report
        found["train_s"] = round(perf_counter() - begun_s, 1)
        print(f"training with all its reports: {found['train_s']} s")
        for name, examples in sets.items():
            if len(examples) > 2 * LABELS:
                few = with_few_labels(examples)
                found[f"{name}_{LABELS}_labels"] = round(sum(few) / len(few), 4)
                shown = " ".join(f"{value:.3f}" for value in few)
                print(f"{name}, trained on {LABELS} prompts: APGR {sum(few) / len(few):.3f} ({shown})")
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
