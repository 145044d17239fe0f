"""Reads a text once: counts, and the buckets of its hashed words, word pairs and word pieces.

This is the reference in Python; `native/scan.c` gives the same numbers and is what runs where it could be built.

A *word* is a run of ASCII letters, digits and bytes above 127, in lower case (Latin-1 capitals too). Hashed are every
word, every pair of neighbours, and the four-byte pieces of a word with its borders marked, `<word>`: pieces let an
unseen form of a word, or a compound, count for what it contains.
"""

from __future__ import annotations

import re
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


def scan(text: bytes, bits: int) -> tuple[list[int], list[int]]:
    """(counts, distinct buckets in the order of their first occurrence)."""
    words = words_of(text)
    codes = [crc32(word) for word in words]
    counts = [0] * COUNTS
    buckets: dict[int, None] = {}
    before: int | None = None
    distinct = 0
    for word, code in zip(words, codes, strict=True):
        counts[2] += len(word)
        counts[3] += len(word) >= LONG_WORD
        counts[4] += len(word) <= SHORT_WORD
        counts[6] += 48 <= word[0] <= 57
        classes = _CLASSES.get(code, 0)
        while classes:
            lowest = classes & -classes
            counts[FIRST_CLASS + lowest.bit_length() - 1] += 1
            classes ^= lowest
        bucket = ((code * _MIX) & 0xFFFFFFFF) >> (32 - bits)
        if bucket not in buckets:
            distinct += 1
            buckets[bucket] = None
            for piece in piece_codes(word):
                buckets[((piece * _MIX) & 0xFFFFFFFF) >> (32 - bits)] = None
        if before is not None:
            pair = crc32(word, before ^ PAIR_SALT)
            buckets[((pair * _MIX) & 0xFFFFFFFF) >> (32 - bits)] = None
        before = code
    counts[0] = len(text)
    counts[1] = len(words)
    counts[5] = distinct
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
