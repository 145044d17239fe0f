"""Judging an engine's answer before any of it is passed on: a real answer, an error in disguise, or garbage."""

from __future__ import annotations

import json
import re

_ERROR_START = re.compile(rb'\s*+\{\s*+(?:"error"\s*+:\s*+(?!null)|"object"\s*+:\s*+"error"|"type"\s*+:\s*+"error")')
_BLANK_START = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*")
# Everything up to the end of the first line of data.
_FIRST_LINES = re.compile(rb"(?:(?!data:)[^\r\n]*+(?:\r\n|[\r\n]))*+(?:data:[^\r\n]*+)?")
_FIELD_LINE = re.compile(rb"(?:data|event|id|retry)(?::|$)|:")

# How engines say that a prompt does not fit. Lower case; any of them in the error text is enough.
_OVERFLOW = re.compile(
    rb"context[_ ](?:length|window|size)|maximum (?:context|model|input|sequence) length|max_model_len|max_seq_len|"
    rb"prompt is too long|input (?:is )?too long|too many (?:input )?tokens|exceeds? the (?:available|maximum) context|"
    rb"longer than the (?:maximum|model)|input length[^.]{0,40}exceed|reduce the length"
)
_WINDOW = re.compile(
    rb"(?:maximum|max|available|model's)[^.0-9]{0,60}?(?:context|length|size|tokens)[^0-9]{0,40}?([0-9]{3,8})"
    rb"|context (?:window|length|size)[^0-9]{0,30}?([0-9]{3,8})"
)
_OVERFLOW_STATUSES = (400, 413, 422)
# These say "not now" or "not here"; another replica or pool may do better. 401, 403 and 404 mean that this engine
# refuses the gateway's key or does not know the model: the client cannot mend that.
_RETRIABLE = frozenset({401, 403, 404, 408, 425, 429, 500, 501, 502, 503, 504, 520, 522, 524, 529})
# Of these the engine itself is not the cause of trouble: an overload is no illness.
_NOT_AT_FAULT = frozenset({401, 403, 404, 408, 413, 422, 425, 429})


def is_retriable(status: int) -> bool:
    """May another replica or pool answer where this one said `status`?"""
    return status in _RETRIABLE or status >= 500


def is_fault(status: int) -> bool:
    """Does `status` speak against the replica's health?"""
    return status >= 500 and status not in _NOT_AT_FAULT


def is_overflow(status: int, body: bytes) -> bool:
    """Is this error about a prompt that does not fit the context window?"""
    return status in _OVERFLOW_STATUSES and _OVERFLOW.search(body[:16384].lower()) is not None


def speaks_of_overflow(text: str) -> bool:
    """Does a caller's own text read like an overflow? An engine that repeats it in an error says nothing by it."""
    return _OVERFLOW.search(text.lower().encode("utf-8", "surrogatepass")) is not None


def stated_window(body: bytes) -> int | None:
    """The context window in tokens that an overflow error names, if it does."""
    found = _WINDOW.search(body[:16384].lower())
    return int(found[1] or found[2]) if found is not None else None


def disguised_error(payload: bytes, *, whole: bool) -> bytes | None:
    """The body of a 200 that is an error, or None. A `whole` body is looked through, a start by its first key."""
    if b"error" not in payload:
        return None
    if _ERROR_START.match(payload):
        return payload
    if whole and b'"error"' in payload and len(payload) < 65536:
        try:
            value = json.loads(payload)
        except (ValueError, RecursionError):
            return None
        if isinstance(value, dict) and value.get("error") and "choices" not in value and "output" not in value:
            return payload
    return None


def is_json(payload: bytes) -> bool:
    """Does it begin as a JSON object or array? Nothing an engine answers on its API begins otherwise."""
    if payload.startswith((b"{", b"[")):
        return True
    start = _BLANK_START.match(payload)
    assert start is not None
    return payload[start.end() : start.end() + 1] in (b"{", b"[")


def first_events_error(events: bytes) -> bytes | None:
    """The data of an error among the first events of a stream, or None.

    Without the word in it only the first event is looked at, to see that it is one.

    Raises:
        ValueError: the lines are not those of an event stream.
    """
    suspicious = b"error" in events
    if not suspicious and events.startswith((b"data: {", b"data: [")):
        return None  # the usual case: the first line is the first event
    kind = b""
    for line in events.splitlines() if suspicious else _FIRST_LINES.match(events)[0].splitlines():  # type: ignore[index]
        if not line:
            kind = b""
            continue
        if not _FIELD_LINE.match(line):
            raise ValueError("the stream does not consist of server-sent events")
        if line.startswith(b"event:"):
            kind = line[6:].strip()
        elif line.startswith(b"data:"):
            data = line[5:].strip()
            if suspicious and (kind == b"error" or disguised_error(data, whole=True)):
                return data
            if not data.startswith((b"{", b"[")):
                raise ValueError("an event does not carry JSON")
    return None


def says_something(events: bytes) -> bool:
    """Is there more than comments and blank lines (pings that come before anything is known)?"""
    return events.startswith(b"data:") or b"\ndata:" in events or b"\rdata:" in events


def error_status(data: bytes) -> int:
    """The status that an error inside a 200 would have had: its numeric code where it has one, else 502."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return 502
    if not isinstance(value, dict):
        return 502
    error = value.get("error")
    codes = [value.get("code"), value.get("status")]
    if isinstance(error, dict):
        codes = [error.get("code"), error.get("status"), *codes]
    for code in codes:
        if isinstance(code, int) and 400 <= code <= 599:
            return code
    return 400 if is_overflow(400, data) else 502
