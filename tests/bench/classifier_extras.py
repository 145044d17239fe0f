"""Would knowledge that the embedded classifier does not have make it rank better?

`python tests/bench/classifier_extras.py DATA.jsonl [--vectors GLOVE.txt]` adds columns to its lexical features, fits
it anew, and prints APGR with five folds for several splits: as it is; with how much the answer options have in common
with each other and with the question; with the mean of the words' vectors (a text file, a word and its numbers a
line); with both. Then how far the figure moves when other prompts, or other subjects, are drawn.
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from stellwerk.serving.classifier.data import Example, read_examples

if TYPE_CHECKING:
    from stellwerk.serving.classifier.linear import Floats, Ints
    from stellwerk.serving.classifier.training import Corpus

SPLITS = 3
DRAWS = 300
WORD = re.compile(r"[a-z]+")
OPTION = re.compile(r"\n[A-J]\. ")
OVERLAP_L2 = 30.0
VECTOR_L2 = 1000.0  # a mean of vectors has many columns that say the same


def overlap(text: str) -> list[float]:
    """Share of words that pairs of options have in common (mean, least, most), and that options share with the question
    (least, most, lead of the first over the second)."""
    question, *options = (set(WORD.findall(part.lower())) for part in OPTION.split(text.removesuffix("\nAnswer:")))
    if len(options) < 2:
        return [0.0] * 6
    pairs = [len(a & b) / max(1, len(a | b)) for a, b in combinations(options, 2)]
    near = sorted(len(option & question) / max(1, len(option)) for option in options)
    return [sum(pairs) / len(pairs), min(pairs), max(pairs), near[0], near[-1], near[-1] - near[-2]]


def vector_means(texts: list[str], path: Path) -> Floats:
    """Per text the mean of its words' vectors, rare words counting more as in the classifier itself."""
    import numpy as np

    words = [set(WORD.findall(text.lower())) for text in texts]
    seen = Counter(word for found in words for word in found)
    vectors: dict[str, Floats] = {}
    with path.open(encoding="utf-8") as file:
        for line in file:
            word, _, numbers = line.partition(" ")
            if word in seen:
                vectors[word] = np.array(numbers.split(), np.float32)
    out = np.zeros((len(texts), len(next(iter(vectors.values())))), np.float32)
    for row, found in enumerate(words):
        # Sorted: the order of a set of texts differs from run to run, and so would the rounding of the sum.
        known = sorted(found & vectors.keys())
        weights = np.array([np.log((len(texts) + 1) / seen[word]) ** 0.5 for word in known], np.float32)
        if known:
            out[row] = weights @ np.stack([vectors[word] for word in known]) / weights.sum()
    return out


def held_out(corpus: Corpus, folds: Ints, extras: list[tuple[Floats, float]]) -> Floats:
    """Logits of every row by heads that have not seen its fold, with (columns, penalty) added to the features."""
    import numpy as np

    from stellwerk.serving.classifier import training

    options = training.Options()
    out = np.empty((len(corpus), 2), np.float32)
    for fold in range(options.folds):
        inside, outside = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        fitted = training.fit_rows(corpus, inside, options)  # for its rarity and scaling
        columns = [training._scaled(corpus.lexical, fitted.mean, fitted.scale)]
        for values, l2 in extras:
            mean, scale = values[inside].mean(0), values[inside].std(0) + 1e-6
            columns.append(np.clip((values - mean) / scale, -4, 4) * np.sqrt(options.lexical_l2 / l2))
        dense = np.concatenate(columns, 1).astype(np.float32)
        heads = training.fit(
            training._rows(corpus, inside, fitted.rarity),
            dense[inside],
            training._smoothed(corpus.labels[inside], [corpus.groups[row] for row in inside], options),
            int(np.count_nonzero(fitted.rarity)),
            hashed_l2=options.hashed_l2,
            lexical_l2=options.lexical_l2,
            iterations=options.iterations,
        )
        out[outside] = heads.logits(training._rows(corpus, outside, fitted.rarity), dense[outside])
    return out


def spreads(corpus: Corpus, logits: Floats) -> tuple[float, float]:
    """Standard deviation of APGR over draws (with replacement) of prompts, and over draws of subjects."""
    import numpy as np

    from stellwerk.serving.classifier.training import judge

    chance = np.random.default_rng(0)
    groups = np.array(corpus.groups)
    members = [np.flatnonzero(groups == name) for name in np.unique(groups)]
    prompts, subjects = [], []
    for _ in range(DRAWS):
        prompts.append(judge(corpus, logits, chance.integers(0, len(corpus), len(corpus))).apgr)
        drawn = chance.integers(0, len(members), len(members))
        subjects.append(judge(corpus, logits, np.concatenate([members[index] for index in drawn])).apgr)
    return float(np.std(prompts)), float(np.std(subjects))


def compare(examples: list[Example], vectors: Path | None) -> None:
    from dataclasses import replace

    import numpy as np

    from stellwerk.serving.classifier.training import Options, judge, random_folds, scan_examples

    corpus = scan_examples(examples, Options().bits)
    texts = [example.text.decode("utf-8", "replace") for example in examples]
    near = (np.array([overlap(text) for text in texts], np.float32), OVERLAP_L2)
    tried = {"as it is": [], "what options have in common": [near]}
    if vectors is not None:
        known = (vector_means(texts, vectors), VECTOR_L2)
        tried |= {"mean of word vectors": [known], "both": [near, known]}
    for name, extras in tried.items():
        runs = [
            held_out(corpus, random_folds(len(corpus), replace(Options(), seed=seed)), extras) for seed in range(SPLITS)
        ]
        found = [judge(corpus, logits).apgr for logits in runs]
        shown = " ".join(f"{value:.4f}" for value in found)
        print(f"{name:30}{sum(found) / len(found):.4f} ({shown})", flush=True)
        if not extras:
            prompts, subjects = spreads(corpus, runs[0])
            print(f"{'':30}standard deviation: other prompts {prompts:.3f}, other subjects {subjects:.3f}")


def main() -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by numpy when it is imported
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--vectors", type=Path)
    arguments = parser.parse_args()
    compare(read_examples(arguments.data), arguments.vectors)


if __name__ == "__main__":
    main()
