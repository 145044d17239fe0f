"""Trains the embedded classifier. Needs numpy; nothing that runs in the gateway imports this.

Two heads, "the strong model is right" and "the weak model is right", over hashed words and lexical features. Three
things make them good on little data: rare words count more (their rarity scales them before the penalty does its work),
a part of every label is replaced by the mean of its group (a subject is easier to learn from its mean than from single
right-or-wrong marks; groups are needed in training only), and lexical features have a second set of weights for
questions without answer options, which add to the first. The logits are calibrated on held-out folds at the end.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from stellwerk.serving.classifier.counts import FEATURES, OPTIONS_FEATURE, lexical_features
from stellwerk.serving.classifier.data import Example
from stellwerk.serving.classifier.linear import Doubles, Floats, Heads, Ints, Rows, fit, sigmoid
from stellwerk.serving.classifier.model import Weights
from stellwerk.serving.classifier.quality import Quality, quality
from stellwerk.serving.classifier.scanner import best_scanner

QUANTILES = 100
MIN_EXAMPLES = 50
_CLIP = 4.0


@dataclass(frozen=True, slots=True)
class Options:
    """What may be tuned. The defaults were found on the MMLU and GSM8K sets that the shipped weights come from."""

    bits: int = 17
    hashed_l2: float = 1.0
    lexical_l2: float = 100.0
    smoothing: float = 0.5  # how much of a label its group's mean replaces
    group_prior: float = 20.0  # examples that a group's mean borrows from the mean of all
    rarity_power: float = 0.5
    iterations: int = 50
    folds: int = 5
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Corpus:
    """Examples, scanned: distinct buckets by rows, unscaled lexical features, labels [n, 2], groups."""

    start: Ints
    buckets: NDArray[np.int32]
    lexical: Floats
    labels: Floats
    groups: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, rows: Ints) -> Corpus:
        """The given rows alone."""
        sparse = Rows(self.start, self.buckets, np.zeros(len(self.buckets), np.float32)).take(rows)
        groups = tuple(self.groups[row] for row in rows)
        return Corpus(sparse.start, sparse.columns, self.lexical[rows], self.labels[rows], groups)


@dataclass(frozen=True, slots=True)
class Fitted:
    """Heads with the scaling that belongs to them. `heads.hashed` has a row per bucket whose rarity is above 0."""

    heads: Heads
    rarity: Floats
    mean: Floats
    scale: Floats


def scan_examples(examples: Sequence[Example], bits: int) -> Corpus:
    """Read all texts once."""
    scanner = best_scanner()
    start, buckets, lexical = [0], [], []
    for example in examples:
        counts, found = scanner.buckets(example.text, bits)
        buckets.append(np.array(found, np.int32))
        start.append(start[-1] + len(found))
        lexical.append(lexical_features(counts))
    labels = np.array([(example.strong, example.weak) for example in examples], np.float32)
    groups = tuple(example.group for example in examples)
    return Corpus(np.array(start, np.int64), np.concatenate(buckets), np.array(lexical, np.float32), labels, groups)


def _rows(corpus: Corpus, rows: Ints, rarity: Floats) -> Rows:
    """Some rows, known buckets only, each scaled to length 1 so that a long prompt does not outweigh a short one.

    Columns are numbered over the known buckets: fewer columns make every step of the fit cheaper.
    """
    everything = Rows(corpus.start, corpus.buckets, rarity[corpus.buckets]).take(rows)
    kept = everything.values > 0
    row_of = np.repeat(np.arange(len(rows)), np.diff(everything.start))[kept]
    values = everything.values[kept]
    squares = np.bincount(row_of, weights=values.astype(np.float64) ** 2, minlength=len(rows))
    values = (values / np.sqrt(squares)[row_of]).astype(np.float32)
    start = np.concatenate(([0], np.cumsum(np.bincount(row_of, minlength=len(rows))))).astype(np.int64)
    number = (np.cumsum(rarity > 0) - 1).astype(np.int32)
    return Rows(start, number[everything.columns[kept]], values)


def _smoothed(labels: Floats, groups: Sequence[str], options: Options) -> Floats:
    mean = labels.mean(0)
    out = np.empty_like(labels)
    names = np.array(groups)
    for name in np.unique(names):
        inside = names == name
        total = labels[inside].sum(0) + options.group_prior * mean
        out[inside] = total / (inside.sum() + options.group_prior)
    return np.asarray((1 - options.smoothing) * labels + options.smoothing * out, np.float32)


def fit_rows(corpus: Corpus, rows: Ints, options: Options) -> Fitted:
    """Fit both heads on some rows; rarity and scaling come from these rows alone."""
    inside = np.zeros(len(corpus), bool)
    inside[rows] = True
    seen = np.bincount(corpus.buckets[np.repeat(inside, np.diff(corpus.start))], minlength=1 << options.bits)
    # What was seen once says nothing about other prompts.
    known = np.where(seen > 1, np.log((len(rows) + 1) / (seen + 1)), 0)
    rarity = np.asarray(np.maximum(known, 0) ** options.rarity_power).astype(np.float32)
    lexical = corpus.lexical[rows]
    mean, scale = lexical.mean(0), lexical.std(0) + np.float32(1e-6)
    heads = fit(
        _rows(corpus, rows, rarity),
        _scaled(lexical, mean, scale),
        _smoothed(corpus.labels[rows], [corpus.groups[row] for row in rows], options),
        int(np.count_nonzero(rarity)),
        hashed_l2=options.hashed_l2,
        lexical_l2=options.lexical_l2,
        iterations=options.iterations,
    )
    return Fitted(heads, rarity, mean, scale)


def logits_of(corpus: Corpus, rows: Ints, fitted: Fitted) -> Floats:
    """Logits [rows, 2] of some rows."""
    lexical = _scaled(corpus.lexical[rows], fitted.mean, fitted.scale)
    return fitted.heads.logits(_rows(corpus, rows, fitted.rarity), lexical)


def _scaled(lexical: Floats, mean: Floats, scale: Floats) -> Floats:
    """[n, 2 * features]: the scaled features, and once more where there are no answer options to choose from."""
    scaled = np.clip((lexical - mean) / scale, -_CLIP, _CLIP)
    is_open = lexical[:, [OPTIONS_FEATURE]] == 0
    return np.concatenate((scaled, scaled * is_open), axis=1).astype(np.float32)


def held_out_logits(corpus: Corpus, folds: Ints, options: Options) -> Floats:
    """Logits of every row by a model that has not seen its fold."""
    out = np.empty((len(corpus), 2), np.float32)
    for fold in np.unique(folds):
        out[folds == fold] = logits_of(
            corpus, np.flatnonzero(folds == fold), fit_rows(corpus, np.flatnonzero(folds != fold), options)
        )
    return out


def random_folds(count: int, options: Options) -> Ints:
    """A fold, 0 .. folds - 1, for every row; the same for the same seed."""
    return np.asarray(np.random.default_rng(options.seed).permutation(count) % options.folds, np.int64)


def group_folds(groups: Sequence[str], options: Options) -> Ints | None:
    """Folds that keep every group whole, so that a fold's subjects are unseen; None with too few groups."""
    names = sorted(set(groups))
    if len(names) < 2 * options.folds:
        return None
    order = np.random.default_rng(options.seed).permutation(len(names))
    fold_of = {names[index]: place % options.folds for place, index in enumerate(order)}
    return np.array([fold_of[name] for name in groups], np.int64)


def gains(logits: Floats) -> Doubles:
    """p(strong right) - p(weak right)."""
    chances = sigmoid(logits).astype(np.float64)
    return np.asarray(chances[:, 0] - chances[:, 1], np.float64)


def judge(corpus: Corpus, logits: Floats, rows: Ints | None = None) -> Quality:
    """APGR and CPT50 of held-out logits, over all rows or some."""
    rows = np.arange(len(corpus)) if rows is None else rows
    labels = corpus.labels[rows].astype(np.float64)
    return quality(gains(logits[rows]).tolist(), labels[:, 0].tolist(), labels[:, 1].tolist())


def calibrate_heads(logits: Floats, labels: Floats) -> Floats:
    """[2, 2]: factor and offset per head that make held-out logits honest (Platt's scaling, by Newton's method)."""
    out = np.empty((2, 2), np.float32)
    for head in range(2):
        x = np.stack((logits[:, head].astype(np.float64), np.ones(len(logits))), 1)
        y = labels[:, head].astype(np.float64)
        mean = float(np.clip(y.mean(), 1e-3, 1 - 1e-3))
        at = np.array((0.0, np.log(mean / (1 - mean))))  # from the flat start Newton's steps do not overshoot
        for _ in range(25):
            p = 1 / (1 + np.exp(-np.clip(x @ at, -30, 30)))
            # A trace of penalty towards "leave it as it is" keeps a head without information finite.
            gradient = x.T @ (p - y) + 1e-3 * (at - (1.0, 0.0))
            hessian = (x * (p * (1 - p))[:, None]).T @ x + 1e-3 * np.eye(2)
            step = np.linalg.solve(hessian, gradient)
            at = at - step
            if float(np.abs(step).max()) < 1e-9:
                break
        out[head] = (max(float(at[0]), 0.05), float(at[1]))
    return out


def calibration_error(chances: Doubles, labels: Doubles, bins: int = 10) -> float:
    """Mean distance between said and seen chances over bins of equal size (expected calibration error)."""
    order = np.argsort(chances, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return float(sum(len(p) * abs(chances[p].mean() - labels[p].mean()) for p in parts) / len(chances))


@dataclass(frozen=True, slots=True)
class Trained:
    """Weights and the figures that stand in their card."""

    weights: Weights
    report: Mapping[str, object]


def train(
    sets: Mapping[str, Sequence[Example]],
    options: Options | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    now: datetime | None = None,
) -> Trained:
    """Train on all sets together.

    Args:
        sets: name -> examples.
        say: is told what is being done and what came out, a line at a time.

    Raises:
        ValueError: too few examples, or a strong model that is not better than the weak one.
    """
    options = options or Options()
    names = [name for name, examples in sets.items() for _ in examples]
    examples = [
        Example(example.text, example.strong, example.weak, f"{name}/{example.group}")
        for name, found in sets.items()
        for example in found
    ]
    if len(examples) < MIN_EXAMPLES:
        raise ValueError(f"{len(examples)} prompts are too few to learn from; {MIN_EXAMPLES} are the least.")
    corpus = scan_examples(examples, options.bits)
    say(f"{len(examples)} prompts, {len(corpus.buckets) / len(examples):.0f} features each")
    logits = held_out_logits(corpus, random_folds(len(corpus), options), options)
    calibration = calibrate_heads(logits, corpus.labels)
    honest = logits * calibration[:, 0] + calibration[:, 1]
    report: dict[str, object] = {}
    members = np.array(names)
    other = _unseen_logits(corpus, options)
    for name in sets:
        rows = np.flatnonzero(members == name)
        figures: dict[str, object] = {"five_fold": _figures([judge(corpus, honest, rows)])}
        if len(rows) < len(corpus) / 2:  # a set that makes up most of all would give the same figure again
            figures["five_fold_alone"] = _alone(corpus, rows, options)
        if other is not None and len({corpus.groups[row] for row in rows}) > options.folds:
            figures["unseen_groups"] = _figures([judge(corpus, other, rows)])
        report[name] = figures
        for kind, found in figures.items():
            say(f"{name}, {_KINDS[kind]}: {_words(found)}")
    fitted = fit_rows(corpus, np.arange(len(corpus)), options)
    errors = [
        calibration_error(sigmoid(honest)[:, head].astype(np.float64), corpus.labels[:, head].astype(np.float64))
        for head in range(2)
    ]
    say(f"calibration error: strong {errors[0]:.3f}, weak {errors[1]:.3f}")
    report["calibration_error"] = {"strong": round(errors[0], 4), "weak": round(errors[1], 4)}
    when = (now or datetime.now(UTC)).date().isoformat()
    card: dict[str, object] = {
        "trained": when,
        "prompts": {name: len(found) for name, found in sets.items()},
        "figures": report,
        "limits": "Trained on questions with one right answer. On other traffic train or calibrate on graded logs.",
    }
    return Trained(_weights(fitted, calibration, gains(honest), options, card), report)


_KINDS = {
    "five_fold": "five folds",
    "five_fold_alone": "five folds, trained on this set alone",
    "unseen_groups": "subjects not seen in training",
}
_REPEAT_BELOW = 2000  # prompts: one split of a small set says little, so its figure is the mean of several
_REPEATS = 5


def _alone(corpus: Corpus, rows: Ints, options: Options) -> dict[str, float]:
    part = corpus.take(rows)
    seeds = range(options.seed, options.seed + (_REPEATS if len(rows) < _REPEAT_BELOW else 1))
    return _figures(
        [
            judge(part, held_out_logits(part, random_folds(len(part), replace(options, seed=seed)), options))
            for seed in seeds
        ]
    )


def _unseen_logits(corpus: Corpus, options: Options) -> Floats | None:
    folds = group_folds(corpus.groups, options)
    return None if folds is None else held_out_logits(corpus, folds, options)


def _figures(found: Sequence[Quality]) -> dict[str, float]:
    return {
        "prompts": found[0].prompts,
        "apgr": round(sum(one.apgr for one in found) / len(found), 4),
        "cpt50": round(sum(one.cpt50 for one in found) / len(found), 4),
    }


def _words(figures: object) -> str:
    assert isinstance(figures, Mapping)
    return f"APGR {figures['apgr']:.3f}, CPT50 {figures['cpt50']:.3f} ({figures['prompts']} prompts)"


def _weights(
    fitted: Fitted, calibration: Floats, reference: Doubles, options: Options, card: Mapping[str, object]
) -> Weights:
    """Fold rarity and calibration into the weights: the gateway multiplies nothing that could be multiplied here."""
    factor, offset = calibration[:, 0], calibration[:, 1]
    table = np.zeros((1 << options.bits, 3), np.float32)
    table[fitted.rarity > 0, :2] = fitted.heads.hashed * fitted.rarity[fitted.rarity > 0, None] * factor
    table[:, 2] = fitted.rarity**2
    lexical = fitted.heads.lexical * factor
    bias = fitted.heads.bias * factor + offset
    values = array("f")
    values.frombytes(np.ascontiguousarray(table).tobytes())
    steps = np.quantile(reference, np.linspace(0, 1, QUANTILES + 1))
    return Weights(
        options.bits,
        values,
        tuple(
            (float(mean), float(scale), float(closed[0]), float(closed[1]), float(opened[0]), float(opened[1]))
            for mean, scale, closed, opened in zip(
                fitted.mean, fitted.scale, lexical[:FEATURES], lexical[:FEATURES] + lexical[FEATURES:], strict=True
            )
        ),
        (float(bias[0]), float(bias[1])),
        tuple(float(step) for step in steps),
        card,
    )
