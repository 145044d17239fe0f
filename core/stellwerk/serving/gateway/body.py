"""Finding the top-level `model` of a JSON body, and putting another in its place, without re-serialising anything.

The scan knows JSON's shape (strings with escapes, nesting) and nothing else, so that invalid UTF-8 or a raw control
character inside a prompt pass through to the engine, whose business they are.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"
_LONGEST_MODEL = 512  # bytes as written: the name goes into answers and into the log
_MOST_STEPS = 200_000  # brackets walked one by one; more than any real request has
_MOST_KEYS = 10_000  # at the top level, for the same reason
_LARGE = 65_536
_MOST_BLANKS = 256  # before a key
_NEAR_ESCAPE = b"\\u006"  # of all letters of "model", and without it no key can be "model" in disguise

_SPACE = rb"[ \t\r\n]*+"
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def _nest(levels: int) -> bytes:
    """A pattern for what may stand between brackets, with whole subtrees of up to `levels` levels."""
    pattern = rb'(?:[^"{}\[\]]++|' + _STRING + rb")*+"
    for _ in range(levels):
        pattern = rb'(?:[^"{}\[\]]++|' + _STRING + rb"|\[" + pattern + rb"\]|\{" + pattern + rb"\})*+"
    return pattern


_MODEL_FIRST = re.compile(_SPACE + rb"\{" + _SPACE + rb'"model"' + _SPACE + rb":" + _SPACE + rb"(" + _STRING + rb")")
_OPEN = re.compile(_SPACE + rb"\{" + _SPACE)
_NEXT = re.compile(_SPACE + rb"([,}])")
_END = re.compile(_SPACE + rb"\Z")
# Subtrees of usual depth are skipped within one match; deeper ones bracket by bracket.
_INSIDE = re.compile(_nest(8), re.DOTALL)
_VALUE = _STRING + rb"|[-+.0-9A-Za-z]++|\[" + _nest(7) + rb"\]|\{" + _nest(7) + rb"\}"
_KEY = _SPACE + rb"(" + _STRING + rb")" + _SPACE + rb":" + _SPACE
_MEMBER = re.compile(_KEY + rb"(" + _VALUE + rb")" + _SPACE + rb"([,}])", re.DOTALL)
_DEEP_MEMBER = re.compile(_KEY + rb"(?=[\[{])", re.DOTALL)
_CLOSING = {0x7B: 0x7D, 0x5B: 0x5D}


class BodyError(ValueError):
    """The body is not a JSON object with a model in it. The text is for the caller."""


class BodyScan(NamedTuple):
    """`spans`: where the value of each top-level `model` key stands, quotes included. More than one is unusual.

    JSON readers disagree on which of equal keys counts, so all are replaced; `model` is the last, as most take it.
    """

    model: str
    spans: list[tuple[int, int]]


def scan_body(body: bytes) -> BodyScan:
    """Find the model.

    Raises:
        BodyError: not one JSON object, no `model`, or a `model` that is not a string.
    """
    first = _MODEL_FIRST.match(body)
    if first is not None:
        start, end = span = first.span(1)
        plain = b"\\" not in body
        if body.find(b'"model"', end) < 0 and (plain or _NEAR_ESCAPE not in body):
            # The word stands in the body once, as the first key, and no escape can spell it: there is no other.
            if plain and end - start < _LONGEST_MODEL:
                try:
                    return BodyScan(body[start + 1 : end - 1].decode(), [span])
                except UnicodeDecodeError as error:
                    raise BodyError("'model' is not a proper JSON string.") from error
            return BodyScan(_text(body, start, end), [span])
    position = 3 if body.startswith(_BOM) else 0
    opened = _OPEN.match(body, position)
    if opened is None:
        raise BodyError("The body must be a JSON object in UTF-8.")
    position = opened.end()
    if body[position : position + 1] == b"}":
        raise BodyError("The body has no 'model'.")
    at = _only_mention(body) if len(body) > _LARGE else -1
    if at > len(body) // 2:
        try:
            spans = _model_spans(body, at)
        except BodyError:
            spans = []  # read from the start, it may be right, and the error says where it is wrong
        if spans:
            return BodyScan(_text(body, *spans[0]), spans)
    spans = _model_spans(body, position, stop_behind=at)
    if not spans:
        raise BodyError("The body has no 'model'.")
    for start, end in spans[:-1]:
        _text(body, start, end)
    return BodyScan(_text(body, *spans[-1]), spans)


def _only_mention(body: bytes) -> int:
    """Where the word stands that can only be one key, whatever escapes there are; -1 when it stands there twice.

    A quote with a comma or a bracket before it opens a string: at the end of one a name could not follow it. If the
    rest of the body is members, a bracket, and nothing more, then that key is one of the outermost object. So most of
    a large body need not be read. Whether the rest is JSON is the engine's business, as with a model that comes first.
    """
    at = body.find(b'"model"')
    if at < 0 or body.find(b'"model"', at + 7) >= 0 or _NEAR_ESCAPE in body:
        return -1
    return at if body[max(0, at - _MOST_BLANKS) : at].rstrip(b" \t\r\n").endswith((b",", b"{")) else -1


def _model_spans(body: bytes, position: int, stop_behind: int = -1) -> list[tuple[int, int]]:
    """Spans of the models among the members from here to the end of the outermost object, or to `stop_behind`."""
    spans: list[tuple[int, int]] = []
    for _ in range(_MOST_KEYS):
        if position > stop_behind >= 0 and spans:
            return spans
        member = _MEMBER.match(body, position)
        if member is not None:
            key, _, after = member.groups()
            position = member.end()
            if _is_model(key):
                spans.append(member.span(2))
        else:
            position, after = _deep_member(body, position)
        if after == b"}":
            break
    else:
        raise BodyError("The body has too many keys.")
    if not _END.match(body, position):
        raise BodyError("The body has something after its JSON object.")
    return spans


def _is_model(key: bytes) -> bool:
    if key == b'"model"':
        return True
    if b"\\" not in key:
        return False
    try:
        return bool(json.loads(key) == "model")
    except ValueError:
        return False


def _text(body: bytes, start: int, end: int) -> str:
    raw = body[start:end]
    if not raw.startswith(b'"'):
        raise BodyError("'model' must be a string.")
    if end - start > _LONGEST_MODEL + 2:
        raise BodyError(f"'model' is longer than {_LONGEST_MODEL} bytes.")
    try:
        if b"\\" in raw:
            value = json.loads(raw)
            assert isinstance(value, str)
            return value
        return raw[1:-1].decode("utf-8")
    except ValueError as error:
        raise BodyError("'model' is not a proper JSON string.") from error


def _deep_member(body: bytes, position: int) -> tuple[int, bytes]:
    """A member whose value is nested more deeply than one pattern reaches: (position after it, what ends it)."""
    key = _DEEP_MEMBER.match(body, position)
    if key is None:
        raise BodyError(f"The body is not valid JSON near byte {position}.")
    if _is_model(key[1]):
        raise BodyError("'model' must be a string.")
    end = _nested_end(body, key.end())
    after = _NEXT.match(body, end)
    if after is None:
        raise BodyError(f"The body is not valid JSON: ',' or '}}' is expected at byte {end}.")
    return after.end(), after[1]


def _nested_end(body: bytes, start: int) -> int:
    """Position after the bracket that closes the one at `start`."""
    closing = [_CLOSING[body[start]]]
    position = start + 1
    steps = 0
    while closing:
        steps += 1
        if steps > _MOST_STEPS:
            raise BodyError("The body is nested too deeply.")
        inside = _INSIDE.match(body, position)
        assert inside is not None  # it matches nothing at the least
        position = inside.end()
        bracket = body[position] if position < len(body) else 0
        if bracket == closing[-1]:
            closing.pop()
        elif bracket in _CLOSING:
            closing.append(_CLOSING[bracket])
        else:
            raise BodyError(f"The body is not valid JSON: it breaks off or is out of balance at byte {position}.")
        position += 1
    return position


def replace_model(body: bytes, scan: BodyScan, model_json: bytes) -> bytes:
    """The body with every model value replaced by `model_json` (a JSON string with its quotes)."""
    spans = scan.spans
    if len(spans) == 1:
        start, end = spans[0]
        if len(body) > _LARGE:  # slices of it would be copied twice
            view = memoryview(body)
            return b"".join((view[:start], model_json, view[end:]))
        return b"%b%b%b" % (body[:start], model_json, body[end:])
    pieces: list[bytes] = []
    position = 0
    for start, end in spans:
        pieces += (body[position:start], model_json)
        position = end
    pieces.append(body[position:])
    return b"".join(pieces)
