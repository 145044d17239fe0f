"""One request head, what its fields mean together, and the limits that hold for it.

Both head parsers end in `make_request`, so that what a request *means* (where its body ends above all) is decided
in one place whichever parser cut it into fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

Headers = list[tuple[bytes, bytes]]

_DIGITS = re.compile(rb"[0-9]{1,15}")
_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
# What may come before the path of a request to a proxy (RFC 9112, 3.2.2). User names in it are a way to deceive.
_ABSOLUTE = re.compile(rb"(?i:https?)://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%-]+)((?::[0-9]*)?)(?=[/?]|\Z)")
_METHODS = frozenset((b"GET", b"HEAD", b"POST", b"PUT", b"PATCH", b"DELETE", b"OPTIONS", b"CONNECT", b"TRACE"))
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NEVER_A_HEAD = re.compile(rb"(?<!\r)\n|\r[^\n]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Bounds of one connection. Times in seconds, sizes in bytes."""

    head_bytes: int = 32 * 1024
    header_count: int = 100
    body_bytes: int = 32 * 1024 * 1024
    connections: int = 10_000
    head_timeout_s: float = 10.0  # from the first byte of a head to its end
    idle_timeout_s: float = 75.0  # between two requests
    body_timeout_s: float = 15.0  # for a body, plus the time it takes at `body_rate`
    body_rate: int = 32 * 1024  # bytes per second below which a sender counts as stalling
    write_timeout_s: float = 60.0  # a reader that takes nothing for so long is dropped
    pending_bytes: int = 64 * 1024  # read ahead while a request is being answered


class HttpError(Exception):
    """A request that must be refused. `status` is the HTTP status, `code` the word for programs.

    `close`: where the next request starts is no longer certain, so the connection must end after the answer.
    """

    def __init__(self, status: int, code: str, message: str, *, close: bool = True) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.close = close


class Head:
    """A parsed request head, as far as it does not depend on the length of the body. Never changed once made.

    Clients send the same head again and again, so heads are kept (see `http.parse.HeadCache`) together with what was
    worked out from them: the slots after `version_11` are filled in by whoever asks first.

    `headers` keeps the order, names in lower case. `fields` is the same as a mapping (the last of equal names).
    `before` and `after` are the bytes around the digits of Content-Length, the latter with the empty line; `before`
    is empty where the head has none in its usual spelling.
    """

    __slots__ = (
        "after",
        "before",
        "chunked",
        "engine_lines",
        "expects_continue",
        "fields",
        "headers",
        "judged",
        "keep_alive",
        "method",
        "path",
        "query",
        "version_11",
        "viewed",
    )

    def __init__(self, method: bytes, target: bytes, version_11: bool, headers: Headers) -> None:
        self.method = method
        path, _, query = target.partition(b"?")
        self.path = path
        self.query = query
        self.version_11 = version_11
        self.headers = headers
        self.fields = dict(headers)
        self.keep_alive = version_11
        self.chunked = False
        self.expects_continue = False
        self.before = self.after = b""
        self.engine_lines: bytes | None = None  # what an engine gets to see of it
        self.judged: tuple[object, str, object] | None = None  # (who judged, for which address, what was found)
        self.viewed: tuple[object, dict[str, str]] | None = None  # (policy version, the headers it looks at)


class Request:
    """One request. `content_length` is None for a chunked body, 0 when there is none."""

    __slots__ = ("body", "caller", "content_length", "cors", "head", "keep_alive", "received_s", "unverified")

    def __init__(self, head: Head, content_length: int | None) -> None:
        self.head = head
        self.content_length = content_length
        self.keep_alive = head.keep_alive
        self.body = b""
        self.caller: str | None = None  # name of the API key that was shown
        self.unverified: bytes | None = None  # a key that must be hashed before anything else happens
        self.cors = b""  # header lines for a web page that may read the answer
        self.received_s = 0.0


def bad_request(message: str, code: str = "bad_request") -> HttpError:
    return HttpError(400, code, message)


_SINGLE = (b"host", b"content-length", b"transfer-encoding", b"authorization", b"x-api-key", b"origin", b"expect")


def make_head(method: bytes, target: bytes, version_11: bool, headers: Headers) -> tuple[Head, int | None]:
    """Judge a parsed head: framing of the body, Host, keep-alive, Expect. Returns it with the length of the body.

    Raises:
        HttpError: whatever two readers could understand differently (RFC 9112, sections 3.2, 6.1 and 6.3).
    """
    if method not in _METHODS:
        raise HttpError(501, "method", "This method is not known here.")
    authority = None
    if not target.startswith(b"/") and not (target == b"*" and method == b"OPTIONS"):
        target, authority = _split_absolute(method, target)
    head = Head(method, target, version_11, headers)
    fields = head.fields
    if len(fields) != len(headers):
        _refuse_doubles(headers)
    if version_11 and b"host" not in fields:
        raise bad_request("An HTTP/1.1 request must have a Host header.")
    if authority is not None:
        fields[b"host"] = authority
    length = _body_length(head, fields)
    connection = fields.get(b"connection")
    if connection is not None:
        words = connection.lower().replace(b" ", b"").split(b",")
        if b"close" in words:
            head.keep_alive = False
        elif b"keep-alive" in words:
            head.keep_alive = True
    expect = fields.get(b"expect")
    if expect is not None:
        if expect.lower() != b"100-continue":
            raise HttpError(417, "expectation", "The only expectation understood is '100-continue'.")
        head.expects_continue = version_11
    return head, length


def _split_absolute(method: bytes, target: bytes) -> tuple[bytes, bytes]:
    """`http://host/path` as (path, host). What the target names stands above the header Host (RFC 9112, 3.2.2)."""
    found = _ABSOLUTE.match(target)
    if found is None or method == b"CONNECT":
        raise bad_request("The request target must be a path that starts with '/', or a whole http URL.")
    path = target[found.end() :]
    if not path:
        path = b"*" if method == b"OPTIONS" else b"/"
    elif path.startswith(b"?"):
        path = b"/" + path
    return path, found[1] + found[2]


def _body_length(head: Head, fields: dict[bytes, bytes]) -> int | None:
    """None: chunked."""
    length = fields.get(b"content-length")
    coding = fields.get(b"transfer-encoding")
    if coding is not None:
        if length is not None:
            raise bad_request("Content-Length and Transfer-Encoding exclude each other.")
        if not head.version_11:
            raise bad_request("Transfer-Encoding needs HTTP/1.1.")
        if coding.lower() != b"chunked":
            raise HttpError(501, "transfer_encoding", "The only transfer coding understood is 'chunked'.")
        head.chunked = True
        return None
    if length is None:
        return 0
    if not _DIGITS.fullmatch(length):
        raise bad_request("Content-Length must be a plain decimal number.")
    return int(length)


def _refuse_doubles(headers: Headers) -> None:
    names = [name for name, _ in headers]
    for single in _SINGLE:
        if names.count(single) > 1:
            raise bad_request(f"The header {single.decode()} may be given once only.")
    if names.count(b"connection") > 1:
        raise bad_request("The header connection may be given once only.")


def check_raw_head(head: bytes) -> None:
    """Refuse what is malformed whoever parses it: bare CR or LF, control characters.

    Args:
        head: from the first byte of the request line to the end of the last header line, without the empty line.
    """
    lines = head.count(b"\r\n")
    if head.count(b"\n") != lines or head.count(b"\r") != lines:
        raise bad_request("Lines must end in CR LF, and neither may stand alone.")
    if _CONTROL.search(head):
        raise bad_request("A control character in a header.")


def check_head_start(data: bytes | bytearray, position: int) -> None:
    """Refuse at once what no further byte could make a head: lines that end in LF alone, and what is no text (TLS).

    Args:
        data: a head as far as it has arrived. position: from where it has not been looked at.
    """
    if _NEVER_A_HEAD.search(data, position):
        raise bad_request("This is no HTTP request: its lines must end in CR LF, without control characters.")


@lru_cache(maxsize=1024)
def field_name(name: bytes) -> bytes:
    """Lower-case form of a header name. Clients use few names, so the check is remembered.

    Raises:
        HttpError: not a token. This also refuses a blank before the colon and a folded line.
    """
    if len(name) > 256 or not _TOKEN.fullmatch(name):
        raise bad_request("A header line is malformed.")
    return name.lower()
