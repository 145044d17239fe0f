"""Reads a text once: counts, and the buckets of its hashed words, word pairs and word pieces.

This is the reference in Python; `native/scan.c` gives the same numbers and is what runs where it could be built.

A *word* is a run of ASCII letters, digits and bytes above 127, in lower case (Latin-1 capitals too). Hashed are every
word, every pair of neighbours, and the four-byte pieces of a word with its borders marked, `<word>`: pieces let an
unseen form of a word, or a compound, count for what it contains.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from operator import itemgetter
from typing import NamedTuple
from zlib import crc32

from stellwerk.serving.classifier import lexicon
from stellwerk.serving.classifier.counts import COUNTS, FIRST_CLASS, FIRST_MARK, PUNCTUATION

_WORD = re.compile(rb"[a-z0-9\x80-\xff]+")
_LATIN_CAPITAL = re.compile(rb"\xc3[\x80-\x96\x98-\x9e]")
_NOT_DIGIT = bytes(code for code in range(256) if not 48 <= code <= 57)
_NOT_CAPITAL = bytes(code for code in range(256) if not 65 <= code <= 90)
_NOT_ASCII = bytes(range(128))
_CLASSES = lexicon.word_classes()
PIECE = 4
LONG_WORD = 8
SHORT_WORD = 3
PIECES_UP_TO = 32  # bytes of a word that are cut into pieces; more is no word
PAIR_SALT = 0x5BD1E995
_NUMBER = 1 << 60  # beside the bits of the classes
_MOST_WORDS = 4096  # kept; some 2 MB
_CODE, _BUCKET, _OWN, _MARKS = map(itemgetter, range(4))
_MIX = 2654435761  # Knuth's multiplicative hash: CRC-32 alone leaves patterns in its upper bits


def lower(text: bytes) -> bytes:
    """Lower case for ASCII and, in UTF-8, for the capitals of Latin-1."""
    return _LATIN_CAPITAL.sub(lambda found: bytes((0xC3, found[0][1] + 32)), text.lower())


def bucket_of(code: int, bits: int) -> int:
    """The bucket, 0 .. 2**bits - 1, of a CRC-32."""
    return ((code * _MIX) & 0xFFFFFFFF) >> (32 - bits)


def piece_codes(word: bytes) -> list[int]:
    """CRC-32 of the pieces of one word."""
    marked = b"<" + word[:PIECES_UP_TO] + b">"
    return [crc32(marked[at : at + PIECE], PIECE) for at in range(max(1, len(marked) - PIECE + 1))]


def words_of(text: bytes) -> list[bytes]:
    """All words, lower case, in order."""
    return _WORD.findall(lower(text))


class _Word(NamedTuple):
    """What one word brings, whatever stands around it."""

    code: int  # CRC-32
    bucket: int
    buckets: dict[int, None]  # its own and those of its pieces, in order
    marks: int  # bits of its classes; above them, whether it is a number


class _Words(dict[bytes, _Word]):
    """Words as they have been worked out for one size of table: those of a language come again and again."""

    def __init__(self, bits: int) -> None:
        super().__init__()
        self._bits = bits

    def __missing__(self, word: bytes) -> _Word:
        code = crc32(word)
        shift = 32 - self._bits
        bucket = ((code * _MIX) & 0xFFFFFFFF) >> shift
        pieces = [((piece * _MIX) & 0xFFFFFFFF) >> shift for piece in piece_codes(word)]
        found = _Word(code, bucket, dict.fromkeys((bucket, *pieces)), _CLASSES.get(code, 0))
        if 48 <= word[0] <= 57:
            found = found._replace(marks=found.marks | _NUMBER)
        if len(self) >= _MOST_WORDS:
            self.clear()
        self[word] = found
        return found


@cache
def _words(bits: int) -> _Words:
    return _Words(bits)


def forget_words() -> None:
    """As after the start; for measuring."""
    _words.cache_clear()


def scan(text: bytes, bits: int) -> tuple[list[int], list[int]]:
    """(counts, distinct buckets in the order of their first occurrence)."""
    words = words_of(text)
    entries = list(map(_words(bits).__getitem__, words))
    counts = [0] * COUNTS
    buckets: dict[int, None] = {}
    if entries:
        _count_words(counts, words, entries)
        counts[5] = _collect(buckets, words, entries, 32 - bits)
    counts[0] = len(text)
    counts[1] = len(words)
    counts[7] = len(text.translate(None, _NOT_DIGIT))
    counts[8] = len(text.translate(None, _NOT_CAPITAL))
    counts[9] = len(text.translate(None, _NOT_ASCII))
    counts[10] = (text.count(b"\nA.") > 0) + (text.count(b"\nB.") > 0)
    first = text.find(b"\n")
    counts[11] = len(text) if first < 0 else first
    counts[12] = len(text) - 1 - text.rfind(b"\n")
    for number, mark in enumerate(PUNCTUATION):
        counts[FIRST_MARK + number] = text.count(mark)
    return counts, list(buckets)


def _collect(buckets: dict[int, None], words: list[bytes], entries: list[_Word], shift: int) -> int:
    """Fill in the buckets of words, pieces and pairs; how many words were new.

    A word whose bucket is taken already counts as seen, even if another text took it: the loop in C knows no more.
    """
    salted = map(PAIR_SALT.__xor__, map(_CODE, entries))
    pairs = [((code * _MIX) & 0xFFFFFFFF) >> shift for code in map(crc32, words[1:], salted)]
    add = buckets.update
    add(entries[0].buckets)
    distinct = 1
    rest = entries[1:]
    for bucket, own, pair in zip(map(_BUCKET, rest), map(_OWN, rest), pairs, strict=True):
        if bucket not in buckets:
            distinct += 1
            add(own)
        buckets[pair] = None
    return distinct


def _count_words(counts: list[int], words: list[bytes], entries: list[_Word]) -> None:
    lengths = Counter(map(len, words))
    for length, often in lengths.items():
        counts[2] += length * often
        counts[3] += often if length >= LONG_WORD else 0
        counts[4] += often if length <= SHORT_WORD else 0
    for marks, often in Counter(filter(None, map(_MARKS, entries))).items():
        counts[6] += often if marks & _NUMBER else 0
        classes = marks & ~_NUMBER
        while classes:
            lowest = classes & -classes
            counts[FIRST_CLASS + lowest.bit_length() - 1] += often
            classes ^= lowest
