"""Request heads, cut into fields by one of two parsers with one behaviour.

`parse_pure` needs nothing but `re`; `parse_fast` uses httptools (llhttp). A process uses one of them. Both get the
whole head at once and never see a body: bodies are cut by `http.body` alone, so that two readings of where a request
ends cannot exist in one process.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from stellwerk.serving.gateway.http.message import (
    Head,
    Headers,
    HttpError,
    bad_request,
    check_raw_head,
    field_name,
    make_head,
)

# (head without the final empty line, most header lines) -> head, length of the body (None: chunked).
# Raises HttpError.
HeadParser = Callable[[bytes, int], tuple[Head, int | None]]

_REQUEST_LINE = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,20}) ([\x21-\x7e]+) HTTP/([0-9])\.([0-9])")
_TARGET = re.compile(rb"[\x21-\x7e]+")
_VERSIONS = {(b"1", b"1"): True, (b"1", b"0"): False}


def _version(major: bytes, minor: bytes) -> bool:
    version_11 = _VERSIONS.get((major, minor))
    if version_11 is None:
        raise HttpError(505, "http_version", "Only HTTP/1.1 and HTTP/1.0 are spoken here.")
    return version_11


def _too_many() -> HttpError:
    return HttpError(431, "too_many_headers", "Too many header lines.")


def parse_pure(head: bytes, header_count: int) -> tuple[Head, int | None]:
    """Parse one head line by line. See `HeadParser`."""
    check_raw_head(head)
    lines = head.split(b"\r\n")
    line = _REQUEST_LINE.fullmatch(lines[0])
    if line is None:
        raise bad_request("The request line is malformed.")
    if len(lines) > header_count + 1:
        raise _too_many()
    headers: Headers = []
    for field in lines[1:]:
        name, colon, value = field.partition(b":")
        if not colon:
            raise bad_request("A header line is malformed.")
        headers.append((field_name(name), value.strip(b" \t")))
    method, target, major, minor = line.groups()
    return make_head(method, target, _version(major, minor), headers)


class _Collector:
    """What httptools calls back."""

    __slots__ = ("headers", "url")

    def __init__(self) -> None:
        self.url = b""
        self.headers: Headers = []

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        # llhttp leaves a trailing tab, and lets blanks stand in a name.
        self.headers.append((field_name(name), value.strip(b" \t")))


def make_fast() -> HeadParser | None:
    """The parser on httptools, or None where that is not installed."""
    try:
        import httptools
    except ImportError:
        return None
    # httptools publishes no types for its extension module's errors.
    parser_error: Any = httptools.HttpParserError
    upgrade: Any = httptools.HttpParserUpgrade

    def cut(head: bytes, header_count: int) -> tuple[Head, int | None]:
        check_raw_head(head)
        collector = _Collector()
        parser = httptools.HttpRequestParser(collector)
        try:
            parser.feed_data(head + b"\r\n\r\n")
        except upgrade:
            pass  # an offer to change the protocol is declined by not taking it up (RFC 9110, 7.8)
        except parser_error as error:
            raise bad_request("The request head is malformed.") from error
        if len(collector.headers) > header_count:
            raise _too_many()
        method, target = parser.get_method(), collector.url
        # llhttp takes several blanks in the request line, and bytes beyond ASCII in the target.
        if not head.startswith(b"%b %b HTTP/" % (method, target)) or not _TARGET.fullmatch(target):
            raise bad_request("The request line is malformed.")
        major, _, minor = parser.get_http_version().encode().partition(b".")
        return make_head(method, target, _version(major, minor), collector.headers)

    def parse_fast(head: bytes, header_count: int) -> tuple[Head, int | None]:
        """Parse one head with llhttp. See `HeadParser`."""
        try:
            return cut(head, header_count)
        except HttpError:
            # The refusal stands whatever the other parser says; it only words it, so that both modes answer alike.
            parse_pure(head, header_count)
            raise

    return parse_fast


_LENGTHS = (b"\r\nContent-Length: ", b"\r\ncontent-length: ")
_MOST_HEADS = 512
_LARGEST_KEPT = 4096


class HeadCache:
    """Parses heads, and remembers those that differ in nothing but the length of the body.

    A client sends the same lines with every request of a connection, save for the number after Content-Length. Two
    heads that are equal but for that run of digits parse to the same but for that number. Refused heads are not kept.
    """

    __slots__ = ("_heads", "_parse")

    def __init__(self, parse: HeadParser) -> None:
        self._parse = parse
        self._heads: dict[tuple[bytes, bytes], Head] = {}

    def parse(self, head: bytes, header_count: int) -> tuple[Head, int | None]:
        """See `HeadParser`."""
        start = 0
        for name in _LENGTHS:
            start = head.find(name)
            if start >= 0:
                break
        else:
            return self._parse_whole(head, header_count)
        start += 18
        end = head.find(b"\r\n", start)
        digits = head[start:] if end < 0 else head[start:end]
        if not digits.isdigit() or len(digits) > 15:
            return self._parse(head, header_count)
        key = (head[:start], b"" if end < 0 else head[end:])
        known = self._heads.get(key)
        if known is not None:
            return known, int(digits)
        parsed, length = self._parse(head, header_count)
        parsed.before, parsed.after = key[0], key[1] + b"\r\n\r\n"
        self._keep(head, key, parsed)
        return parsed, length

    def _parse_whole(self, head: bytes, header_count: int) -> tuple[Head, int | None]:
        """A head in which no length was found in its usual spelling."""
        key = (head, b"")
        known = self._heads.get(key)
        if known is not None:
            return known, None if known.chunked else 0
        parsed, length = self._parse(head, header_count)
        if b"content-length" not in parsed.fields:  # it may be spelled in another way
            self._keep(head, key, parsed)
        return parsed, length

    def _keep(self, head: bytes, key: tuple[bytes, bytes], parsed: Head) -> None:
        if len(head) <= _LARGEST_KEPT:
            if len(self._heads) >= _MOST_HEADS:
                self._heads.clear()
            self._heads[key] = parsed


def same_head(known: Head, data: bytes) -> tuple[int, int]:
    """Does `data` begin with this head, but for the length? (length, where the body starts), or (0, 0).

    The usual case on a connection that is kept: comparing is cheaper than looking for the end of the head.
    """
    if not known.before or not data.startswith(known.before):
        return 0, 0
    start = len(known.before)
    stop = data.find(b"\r\n", start, start + 17)
    if stop < 0 or not data.startswith(known.after, stop):
        return 0, 0
    digits = data[start:stop]
    if not digits.isdigit():
        return 0, 0
    return int(digits), stop + len(known.after)


def best_parser() -> HeadParser:
    """httptools where it is installed, the pure one elsewhere."""
    return make_fast() or parse_pure
