"""Status lines and heads of answers that are written here rather than passed through."""

from __future__ import annotations

from http import HTTPStatus

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
ANSWER_START = b"HTTP/1.1 "  # what every answer begins with
STAYS_OPEN = b"connection: keep-alive\r\n"  # what a client of HTTP/1.0 that asked for it waits to hear

STATUS_LINES: dict[int, bytes] = {
    int(status): b"HTTP/1.1 %d %b\r\n" % (status, status.phrase.encode("ascii")) for status in HTTPStatus
}


def status_line(status: int) -> bytes:
    """`HTTP/1.1 404 Not Found` with its line end. A number that nobody knows gets no phrase."""
    return STATUS_LINES.get(status) or b"HTTP/1.1 %d \r\n" % status


def answer_head(status: int, content_type: bytes, length: int, keep_alive: bool, lines: bytes = b"") -> bytes:
    """Head of an answer whose body has `length` bytes, with the empty line."""
    return b"%bcontent-type: %b\r\ncontent-length: %d\r\n%b%b" % (
        status_line(status),
        content_type,
        length,
        lines,
        b"\r\n" if keep_alive else b"connection: close\r\n\r\n",
    )
