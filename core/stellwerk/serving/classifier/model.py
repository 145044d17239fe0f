"""The embedded model: its file, and how it scores and explains a text. No numpy here: this runs in the gateway."""

from __future__ import annotations

import json
import math
import struct
from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from stellwerk.serving.classifier.conversation import judge_turns
from stellwerk.serving.classifier.counts import (
    FEATURE_NAMES,
    FEATURES,
    OPTIONS_COUNT,
    OPTIONS_FEATURE,
    lexical_features,
)
from stellwerk.serving.classifier.scan import PAIR_SALT, bucket_of, piece_codes, words_of
from stellwerk.serving.classifier.scanner import Scanner, best_scanner
from stellwerk.serving.classifier.types import Verdict
from stellwerk.serving.decision.request import Turn

MAGIC = b"SWDIFF1\n"
MAX_FILE_BYTES = 64 * 1024 * 1024
_CLIP = 4.0  # lexical features beyond so many standard deviations say nothing more
_EXPLAINED = 6


@dataclass(frozen=True, slots=True)
class Weights:
    """Everything that training finds.

    `table`: per bucket strong head, weak head, square of rarity; float32, length 3 * 2**bits.
    `lexical`: per feature mean, scale, strong and weak weight, and both again for prompts without answer options.
    `bias`: of the two heads.
    `quantiles`: ascending raw gains at even steps of the reference prompts' distribution, for scores that mean shares.
    `card`: what it was trained on, when, how well it did, and its limits.
    """

    bits: int
    table: array[float]
    lexical: tuple[tuple[float, float, float, float, float, float], ...]
    bias: tuple[float, float]
    quantiles: tuple[float, ...]
    card: Mapping[str, object]


def save_weights(weights: Weights, path: Path) -> None:
    """Write a weights file, replaced atomically. Buckets that training never saw take no room."""
    used = [bucket for bucket in range(1 << weights.bits) if weights.table[3 * bucket + 2] > 0]
    scales = [
        max((abs(weights.table[3 * bucket + part]) for bucket in used), default=0.0) / 32767 or 1.0 for part in (0, 1)
    ]
    rarity = max((weights.table[3 * bucket + 2] for bucket in used), default=0.0) / 255 or 1.0
    head = {
        "bits": weights.bits,
        "used": len(used),
        "scales": [*scales, rarity],
        "features": list(FEATURE_NAMES),
        "lexical": weights.lexical,
        "bias": weights.bias,
        "quantiles": weights.quantiles,
        "card": weights.card,
    }
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    mask = bytearray(1 << weights.bits >> 3)
    heads = array("h")
    rare = bytearray()
    for bucket in used:
        mask[bucket >> 3] |= 1 << (bucket & 7)
        for part in (0, 1):
            heads.append(round(weights.table[3 * bucket + part] / scales[part]))
        rare.append(max(1, round(weights.table[3 * bucket + 2] / rarity)))
    body = struct.pack("<I", len(text)) + text + bytes(mask) + _little(heads).tobytes() + bytes(rare)
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(MAGIC + struct.pack("<I", crc32(body)) + body)
    partial.replace(path)


def _little(values: array[int]) -> array[int]:
    import sys

    if sys.byteorder == "big":
        values = values[:]
        values.byteswap()
    return values


def load_weights(path: Path) -> Weights:
    """Read a weights file. OSError, or ValueError that names the file and says what is wrong with it."""
    if path.stat().st_size > MAX_FILE_BYTES:
        raise ValueError(f"{path} is larger than any weights file")
    return parse_weights(path.read_bytes(), str(path))


def parse_weights(raw: bytes, name: str) -> Weights:
    """Weights from the bytes of a file. ValueError with `name` when they are none, or damaged."""
    if not raw.startswith(MAGIC):
        raise ValueError(f"{name} is no weights file of this version")
    start = len(MAGIC) + 4
    body = memoryview(raw)[start:]
    if len(raw) < start + 4 or struct.unpack("<I", raw[len(MAGIC) : start])[0] != crc32(body):
        raise ValueError(f"{name} is damaged: its checksum is wrong")
    (size,) = struct.unpack("<I", body[:4])
    head = json.loads(bytes(body[4 : 4 + size]))
    if head["features"] != list(FEATURE_NAMES) or len(head["lexical"]) != FEATURES or not 8 <= head["bits"] <= 18:
        raise ValueError(f"{name} was trained for other features; train it anew with this version")
    mask = body[4 + size : 4 + size + (1 << head["bits"] >> 3)]
    rest = body[4 + size + len(mask) :]
    used = int(head["used"])
    heads = array("h")
    heads.frombytes(rest[: 4 * used])
    heads = _little(heads)
    rare = rest[4 * used : 5 * used]
    buckets = [bucket for bucket in range(1 << head["bits"]) if mask[bucket >> 3] >> (bucket & 7) & 1]
    if len(buckets) != used or len(rare) != used:
        raise ValueError(f"{name} is damaged: it has not as many weights as it says")
    table = array("f", bytes(4 * (3 << head["bits"])))
    strong, weak, rarity = head["scales"]
    for number, bucket in enumerate(buckets):
        table[3 * bucket] = heads[2 * number] * strong
        table[3 * bucket + 1] = heads[2 * number + 1] * weak
        table[3 * bucket + 2] = rare[number] * rarity
    lexical = tuple((row[0], row[1], row[2], row[3], row[4], row[5]) for row in head["lexical"])
    bias = (float(head["bias"][0]), float(head["bias"][1]))
    return Weights(head["bits"], table, lexical, bias, tuple(head["quantiles"]), head["card"])


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the two heads say of a text: probabilities, and the gain of asking the strong model."""

    strong_right: float
    weak_right: float

    @property
    def gain(self) -> float:
        return self.strong_right - self.weak_right


class DifficultyModel:
    """Judges conversations by one set of weights. Immutable and thread-safe."""

    def __init__(self, weights: Weights, scanner: Scanner | None = None) -> None:
        self.weights = weights
        self._sums = (scanner or best_scanner()).bind(weights.table, weights.bits)
        self._closed = tuple((row[0], 1 / row[1], row[2], row[3]) for row in weights.lexical)
        self._open = tuple((row[0], 1 / row[1], row[4], row[5]) for row in weights.lexical)

    def judge(self, turns: Sequence[Turn], *, explain: bool = False) -> Verdict:
        """The difficulty of what a conversation asks now; see `judge_turns` for which text counts."""
        judged = judge_turns(turns, self.score)
        return Verdict(judged.score, judged.about, self.features(judged.text) if explain else ())

    def score(self, text: bytes) -> float:
        """0..1: the share of reference prompts whose gain is lower. Strictly growing with the gain."""
        return self.share_of(self.estimate(text).gain)

    def estimate(self, text: bytes) -> Estimate:
        """Probabilities that the strong and the weak model answer rightly."""
        counts, strong, weak, squares = self._sums(text)
        norm = math.sqrt(squares) or 1.0
        strong, weak = strong / norm + self.weights.bias[0], weak / norm + self.weights.bias[1]
        rows = self._closed if counts[OPTIONS_COUNT] >= 2 else self._open
        for value, (mean, inverse, strong_weight, weak_weight) in zip(lexical_features(counts), rows, strict=True):
            scaled = (value - mean) * inverse
            scaled = _CLIP if scaled > _CLIP else -_CLIP if scaled < -_CLIP else scaled
            strong += scaled * strong_weight
            weak += scaled * weak_weight
        return Estimate(_sigmoid(strong), _sigmoid(weak))

    def share_of(self, gain: float) -> float:
        """A gain as the share of reference prompts below it; linear between the quantiles, never quite 0 or 1."""
        quantiles = self.weights.quantiles
        steps = len(quantiles) - 1
        at = bisect_right(quantiles, gain)
        if at == 0:  # below all reference prompts: the rest of the scale down to gain -1
            return 0.5 / steps * max(0.0, 1 + gain) / max(1e-9, 1 + quantiles[0])
        if at > steps:
            return 1 - 0.5 / steps * max(0.0, 1 - gain) / max(1e-9, 1 - quantiles[-1])
        low, high = quantiles[at - 1], quantiles[at]
        inside = (gain - low) / (high - low) if high > low else 0.0
        return (0.5 + (at - 1 + inside) * (steps - 1) / steps) / steps

    def features(self, text: bytes, most: int = _EXPLAINED) -> tuple[tuple[str, float], ...]:
        """What moved the gain most, as (name, push); positive pushes towards the strong model.

        A word has the weight of its pieces and pairs in it. Pushes are in logits of "weak fails" plus "strong knows".
        """
        counts, _, _, squares = self._sums(text)
        norm = math.sqrt(squares) or 1.0
        pushes: dict[str, float] = {}
        rows = self._closed if counts[OPTIONS_COUNT] >= 2 else self._open
        for value, name, (mean, inverse, strong, weak) in zip(
            lexical_features(counts), FEATURE_NAMES, rows, strict=True
        ):
            if name != FEATURE_NAMES[OPTIONS_FEATURE]:  # the same for all prompts of a kind, so no reason among them
                pushes[name] = max(-_CLIP, min(_CLIP, (value - mean) * inverse)) * (strong - weak)
        for name, gain in self._word_gains(text).items():
            pushes[f"“{name}”"] = gain / norm
        strongest = sorted(pushes.items(), key=lambda item: (-abs(item[1]), item[0]))[:most]
        return tuple((name, push) for name, push in strongest if push)

    def _word_gains(self, text: bytes) -> dict[str, float]:
        gains: dict[str, float] = {}
        seen: set[int] = set()

        def take(code: int) -> float:
            bucket = bucket_of(code, self.weights.bits)
            if bucket in seen:
                return 0.0
            seen.add(bucket)
            return self.weights.table[3 * bucket] - self.weights.table[3 * bucket + 1]

        before: tuple[bytes, int] | None = None
        for word in words_of(text):
            code = crc32(word)
            name = word.decode("utf-8", "replace")
            if bucket_of(code, self.weights.bits) not in seen:
                gains[name] = gains.get(name, 0.0) + take(code) + sum(take(piece) for piece in piece_codes(word))
            if before is not None:
                pair = take(crc32(word, before[1] ^ PAIR_SALT))
                if pair:
                    pair_name = f"{before[0].decode('utf-8', 'replace')} {name}"
                    gains[pair_name] = gains.get(pair_name, 0.0) + pair
            before = (word, code)
        return gains


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
