"""Tokens of an answer, taken from its bytes without parsing the answer."""

from __future__ import annotations

import re

_INPUT = re.compile(rb'"(?:prompt_tokens|input_tokens)"\s*:\s*([0-9]{1,12})')
_OUTPUT = re.compile(rb'"(?:completion_tokens|output_tokens)"\s*:\s*([0-9]{1,12})')
# As most engines write it; the others are read number by number.
_USUAL = re.compile(
    rb'"usage": ?\{"prompt_tokens": ?([0-9]{1,12}), ?(?:"total_tokens": ?[0-9]++, ?)?'
    rb'"completion_tokens": ?([0-9]{1,12})[,}]'
)
_SPAN = 1024  # bytes within which a usage object names both


def tokens_of(body: bytes) -> tuple[int | None, int | None]:
    """(input, output) tokens as the answer's last `usage` states them; None where it does not."""
    place = body.rfind(b'"usage"')
    if place < 0:
        return None, None
    usual = _USUAL.match(body, place)
    if usual is not None:
        given_text, made_text = usual.groups()
        return int(given_text), int(made_text)
    given, made = _INPUT.search(body, place, place + _SPAN), _OUTPUT.search(body, place, place + _SPAN)
    return (int(given[1]) if given else None, int(made[1]) if made else None)


def input_tokens_of(events: bytes) -> int | None:
    """Input tokens as the first `usage` of a stream states them."""
    place = events.find(b'"usage"')
    given = _INPUT.search(events, place, place + _SPAN) if place >= 0 else None
    return int(given[1]) if given else None
