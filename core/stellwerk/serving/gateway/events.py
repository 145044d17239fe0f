"""Server-sent events on their way through: whole events only, with an eye on usage and on how the stream ends."""

from __future__ import annotations

from stellwerk.serving.gateway.usage import input_tokens_of, tokens_of

MAX_EVENT_BYTES = 1024 * 1024
LAST_EVENTS_BYTES = 8192  # of a stream's end that show whether it is whole
_ENDS = (b"\n\n", b"\n\r\n", b"\r\r")


class EventTooLong(ValueError):
    """One event is larger than MAX_EVENT_BYTES."""


class EventStream:
    """Cuts a byte stream behind its last complete event, so that a stream which breaks can end with a clean one."""

    __slots__ = ("_before_last", "_first_usage", "_last", "_last_usage", "events", "held")

    def __init__(self) -> None:
        self.held = b""  # the start of an event that is not complete
        self.events = 0  # data lines seen: about one per token
        self._last = b""
        self._before_last = b""
        self._first_usage = b""
        self._last_usage = b""

    def feed(self, payload: bytes) -> bytes:
        """The events that are complete now. Raises EventTooLong."""
        if not self.held and payload.endswith(b"\n\n"):
            self._look(payload)
            return payload
        searched = max(0, len(self.held) - 3)
        data = self.held + payload if self.held else payload
        cut = 0
        for end in _ENDS:
            place = data.rfind(end, searched)
            if place >= 0:
                cut = max(cut, place + len(end))
        self.held = data[cut:]
        if len(self.held) > MAX_EVENT_BYTES:
            raise EventTooLong(f"an event is larger than {MAX_EVENT_BYTES} bytes")
        if not cut:
            return b""
        complete = data[:cut]
        self._look(complete)
        return complete

    def rest(self) -> bytes:
        """At a proper end: what stands after the last blank line. Some engines leave the last blank line out."""
        rest, self.held = self.held, b""
        if rest:
            self._look(rest)
        return rest

    def _look(self, events: bytes) -> None:
        self.events += events.count(b"data:")
        self._before_last = self._last
        self._last = events
        if b'"usage"' in events:
            if not self._first_usage:
                self._first_usage = events
            self._last_usage = events

    @property
    def last_events(self) -> bytes:
        return self._before_last[-LAST_EVENTS_BYTES:] + self._last[-LAST_EVENTS_BYTES:]

    def tokens(self) -> tuple[int | None, int | None]:
        """(input, output) tokens as the stream stated them."""
        return tokens_of_stream(self._first_usage, self._last_usage)


def tokens_of_stream(first: bytes, last: bytes) -> tuple[int | None, int | None]:
    """(input, output) tokens out of the first and the last events with a `usage`, which may be the same.

    The Messages API states the input at the start and the output at the end.
    """
    given, made = tokens_of(last)
    if given is None and made is not None:
        given = input_tokens_of(first)
    return given, made
