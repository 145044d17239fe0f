"""What is counted in a text, and the lexical features that are made of the counts.

The counts come from `scan` (C or Python, the same numbers); everything after them is shared.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log1p

from stellwerk.serving.classifier import lexicon

PUNCTUATION = b"?,.\n\"(=+$%/*^|:;-_{<'"
_BASE = (
    "bytes",
    "words",
    "word bytes",
    "long words",
    "short words",
    "distinct words",
    "numbers",
    "digits",
    "capitals",
    "beyond ascii",
    "options",
    "first line",
    "last line",
)
COUNT_NAMES = (*_BASE, *(chr(letter) for letter in PUNCTUATION), *lexicon.NAMES)
COUNTS = len(COUNT_NAMES)
FIRST_MARK = len(_BASE)
FIRST_CLASS = FIRST_MARK + len(PUNCTUATION)

_MARK_NAMES = {"\n": "line breaks", "?": "question marks", ".": "full stops", ",": "commas", "$": "dollar signs"}

FEATURE_NAMES: tuple[str, ...] = (
    "length in bytes",
    "length in words",
    "square of the length",
    "mean word length",
    "share of long words",
    "share of short words",
    "share of distinct words",
    "share of numbers",
    "count of numbers",
    "share of digits",
    "share of capitals",
    "count of capitals",
    "share of letters beyond ASCII",
    "sentence length",
    "answer options to choose from",
    "length of the first line",
    "length of the last line",
    *(f"count of {_MARK_NAMES.get(chr(letter), repr(chr(letter)))}" for letter in PUNCTUATION),
    *(name for group in lexicon.NAMES for name in (f"count of {group}", f"share of {group}")),
)
FEATURES = len(FEATURE_NAMES)
OPTIONS_FEATURE = FEATURE_NAMES.index("answer options to choose from")
OPTIONS_COUNT = COUNT_NAMES.index("options")


def lexical_features(counts: Sequence[int]) -> list[float]:
    """`FEATURES` numbers, unscaled, from `COUNTS` counts."""
    size = counts[0] or 1
    words = counts[1] or 1
    length = log1p(counts[0])
    stops = counts[FIRST_MARK] + counts[FIRST_MARK + 2] + 1
    values = [
        length,
        log1p(words),
        length * length / 10,
        counts[2] / words,
        counts[3] / words,
        counts[4] / words,
        counts[5] / words,
        counts[6] / words,
        log1p(counts[6]),
        counts[7] / size,
        counts[8] / size,
        log1p(counts[8]),
        counts[9] / size,
        log1p(counts[0] / stops),
        1.0 if counts[OPTIONS_COUNT] >= 2 else 0.0,
        log1p(counts[11]),
        log1p(counts[12]),
    ]
    values += [log1p(count) for count in counts[FIRST_MARK:FIRST_CLASS]]
    for count in counts[FIRST_CLASS:]:
        values.append(log1p(count))
        values.append(count / words)
    return values
