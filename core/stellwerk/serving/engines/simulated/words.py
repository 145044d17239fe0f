"""Made-up text: the same seed and prompt always give the same words."""

from __future__ import annotations

import random
from collections.abc import Iterator

LABEL = "[simulated]"
_TEXT = """
signal track point switch lever siding platform engine wagon buffer crossing gradient junction yard tunnel bridge
whistle lantern timetable driver guard brake coupling rail sleeper ballast shunting departure arrival freight and
the a of to with from through before after slowly again there then because
"""
_WORDS = _TEXT.split()


def _source(text: str) -> random.Random:
    """JSON can spell half a character, which UTF-8 cannot."""
    return random.Random(text.encode("utf-8", "surrogatepass"))


def tokens(seed: object, prompt: str, count: int) -> Iterator[str]:
    """`count` tokens; the first says that nothing here was thought."""
    source = _source(f"{seed}\0{prompt}")
    for number in range(count):
        yield LABEL if number == 0 else " " + source.choice(_WORDS)


def natural_length(seed: object, prompt: str, usual: int) -> int:
    """How long an answer is when nothing ends it: between half and one and a half of the usual length."""
    source = _source(f"length\0{seed}\0{prompt}")
    return max(1, round(usual * source.uniform(0.5, 1.5)))


def embedding(text: str, size: int) -> list[float]:
    """A unit vector that depends on the text alone."""
    source = _source(f"embedding\0{text}")
    values = [source.gauss(0, 1) for _ in range(size)]
    length = sum(value * value for value in values) ** 0.5
    return [round(value / length, 6) for value in values]
