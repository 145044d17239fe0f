"""How each API says "error", and how its streams end. Four dialects, one table."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal

DialectName = Literal["openai", "responses", "anthropic"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """`ends` are the marks of which one must stand in a stream's last events if it is complete."""

    name: DialectName
    ends: tuple[bytes, ...]


OPENAI = Dialect("openai", (b"[DONE]",))
RESPONSES = Dialect(
    "responses", (b"response.completed", b"response.incomplete", b"response.failed", b"response.cancelled", b"[DONE]")
)
ANTHROPIC = Dialect("anthropic", (b"message_stop", b"[DONE]"))

# The paths that lead to an engine.
DIALECTS: dict[bytes, Dialect] = {
    b"/v1/chat/completions": OPENAI,
    b"/v1/completions": OPENAI,
    b"/v1/embeddings": OPENAI,
    b"/v1/responses": RESPONSES,
    b"/v1/messages": ANTHROPIC,
    b"/v1/messages/count_tokens": ANTHROPIC,
}

_LAST_EVENT_BYTES = 128
# An answer whose last choice says why it ended is whole even if an engine forgets the [DONE] after it.
_FINISHED = re.compile(rb'"(?:finish_reason|stop_reason)"\s*:\s*"')

_TYPES = {
    400: ("invalid_request_error", "invalid_request_error"),
    401: ("authentication_error", "authentication_error"),
    403: ("permission_error", "permission_error"),
    404: ("invalid_request_error", "not_found_error"),
    413: ("invalid_request_error", "request_too_large"),
    429: ("rate_limit_error", "rate_limit_error"),
    503: ("overloaded_error", "overloaded_error"),
}


def stream_is_complete(dialect: Dialect, last_events: bytes) -> bool:
    """Do the last events of a stream show that the answer is whole?"""
    last_event = last_events[-_LAST_EVENT_BYTES:]  # where the mark is looked for first: it is the last word
    for mark in dialect.ends:
        if mark in last_event or mark in last_events:
            return True
    return _FINISHED.search(last_events) is not None


def error_body(dialect: Dialect, status: int, code: str, message: str) -> bytes:
    """The JSON body of an error in the form that this API's clients understand."""
    openai_type, anthropic_type = _TYPES.get(
        status, ("invalid_request_error", "invalid_request_error") if status < 500 else ("api_error", "api_error")
    )
    if dialect.name == "anthropic":
        # The code has no field of its own there.
        value: dict[str, object] = {
            "type": "error",
            "error": {"type": anthropic_type, "message": message, "code": code},
        }
    else:
        value = {"error": {"message": message, "type": openai_type, "param": None, "code": code}}
    return json.dumps(value).encode()


def error_event(dialect: Dialect, code: str, message: str) -> bytes:
    """The event that ends a stream which broke after its first content."""
    if dialect.name == "openai":
        return b"data: %b\n\n" % error_body(dialect, 502, code, message)
    if dialect.name == "anthropic":
        return b"event: error\ndata: %b\n\n" % error_body(dialect, 502, code, message)
    value = {"type": "error", "code": code, "message": message, "param": None, "sequence_number": 0}
    return b"event: error\ndata: %b\n\n" % json.dumps(value).encode()
