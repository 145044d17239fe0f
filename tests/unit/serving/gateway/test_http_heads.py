"""Request heads: two parsers, one behaviour, and nothing that two readers could understand differently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.serving.gateway.http.message import HttpError
from stellwerk.serving.gateway.http.parse import HeadCache, HeadParser, make_fast, parse_pure

FAST = make_fast()
PARSERS = [pytest.param(parse_pure, id="pure")]
if FAST is not None:
    PARSERS.append(pytest.param(FAST, id="httptools"))
each_parser = pytest.mark.parametrize("parse", PARSERS)


def head(*lines: str, first: str = "POST /v1/chat/completions HTTP/1.1", host: bool = True) -> bytes:
    return "\r\n".join([first, *(["Host: localhost"] if host else []), *lines]).encode("latin-1")


@each_parser
def test_a_usual_head_is_taken_apart(parse: HeadParser) -> None:
    parsed, length = parse(head("Content-Length: 12", "X-Tier:  premium \t", first="POST /v1/x?a=b HTTP/1.1"), 100)
    assert (parsed.method, parsed.path, parsed.query) == (b"POST", b"/v1/x", b"a=b")
    assert length == 12
    assert parsed.fields[b"x-tier"] == b"premium"
    assert parsed.keep_alive


@each_parser
@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["Content-Length: 5", "Transfer-Encoding: chunked"], 400),
        (["Transfer-Encoding: chunked", "Content-Length: 5"], 400),
        (["Content-Length: 5", "Content-Length: 5"], 400),
        (["Content-Length: 5", "content-length: 6"], 400),
        (["Content-Length: 5, 5"], 400),
        (["Content-Length: +5"], 400),
        (["Content-Length: -5"], 400),
        (["Content-Length: 0x5"], 400),
        (["Content-Length: 5 5"], 400),
        (["Content-Length:"], 400),
        (["Content-Length: 1_0"], 400),
        (["Content-Length: 99999999999999999999999"], 400),
        (["Transfer-Encoding: identity"], 501),
        (["Transfer-Encoding: gzip, chunked"], 501),
        (["Transfer-Encoding: chunked, chunked"], 501),
        (["Transfer-Encoding: xchunked"], 501),
        (["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], 400),
        (["Transfer-Encoding : chunked"], 400),
        (["Transfer-Encoding\t: chunked"], 400),
        ([" Transfer-Encoding: chunked"], 400),
        (["X: y", " folded"], 400),
        (["X: y", "\tfolded"], 400),
        (["X: y\nContent-Length: 3"], 400),
        (["X: y\rContent-Length: 3"], 400),
        (["X: y\x00"], 400),
        (["X: y\x0b"], 400),
        (["no colon"], 400),
        ([": no name"], 400),
        (["two words: x"], 400),
        (["X\xe4: y"], 400),
        (["Host: elsewhere"], 400),
        (["Authorization: a", "Authorization: b"], 400),
        (["Connection: close", "Connection: keep-alive"], 400),
        (["Expect: something"], 417),
    ],
)
def test_heads_that_could_be_read_in_two_ways_are_refused(parse: HeadParser, lines: list[str], status: int) -> None:
    with pytest.raises(HttpError) as caught:
        parse(head(*lines), 100)
    assert caught.value.status == status


@each_parser
@pytest.mark.parametrize(
    "first",
    [
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        " GET / HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET /\tHTTP/1.1",
        "GET / http/1.1",
        "GET /",
        "GET",
        "GET / HTTP/2.0",
        "GET / HTTP/1.2",
        "GET / HTTP/1.10",
        "GET ftp://localhost/ HTTP/1.1",
        "GET http:/x HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http:// HTTP/1.1",
        "GET http://user@localhost/ HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
        "GET localhost:80 HTTP/1.1",
        "CONNECT localhost:80 HTTP/1.1",
        "GET * HTTP/1.1",
        "GET /\xe4 HTTP/1.1",
        "G(T / HTTP/1.1",
        "",
    ],
)
def test_malformed_request_lines_are_refused(parse: HeadParser, first: str) -> None:
    with pytest.raises(HttpError):
        parse(head(first=first), 100)


@each_parser
@pytest.mark.parametrize(
    ("target", "host", "path", "query"),
    [
        ("http://gateway.lan/v1/models", b"gateway.lan", b"/v1/models", b""),
        ("HTTPS://Gateway.lan:8443/v1/models?a=b", b"Gateway.lan:8443", b"/v1/models", b"a=b"),
        ("http://[::1]:8080/", b"[::1]:8080", b"/", b""),
        ("http://localhost", b"localhost", b"/", b""),
        ("http://localhost?a=/b", b"localhost", b"/", b"a=/b"),
    ],
)
def test_an_absolute_target_is_a_path_and_its_host_stands_above_the_header(
    parse: HeadParser, target: str, host: bytes, path: bytes, query: bytes
) -> None:
    parsed, _ = parse(head(first=f"GET {target} HTTP/1.1"), 100)
    assert (parsed.path, parsed.query, parsed.fields[b"host"]) == (path, query, host)
    with pytest.raises(HttpError):
        parse(head(first=f"GET {target} HTTP/1.1", host=False), 100)


@each_parser
def test_an_absolute_target_without_a_path_asks_for_the_options_of_the_server(parse: HeadParser) -> None:
    parsed, _ = parse(head(first="OPTIONS http://localhost HTTP/1.1"), 100)
    assert parsed.path == b"*"


@each_parser
@pytest.mark.parametrize("method", ["get", "FOO", "PROPFIND", "QUERY", "SOURCE"])
def test_a_method_that_nobody_here_knows_is_named(parse: HeadParser, method: str) -> None:
    with pytest.raises(HttpError) as caught:
        parse(head(first=f"{method} / HTTP/1.1"), 100)
    assert (caught.value.status, caught.value.code) == (501, "method")


@each_parser
def test_http_1_1_needs_a_host_and_1_0_does_not_keep_alive(parse: HeadParser) -> None:
    with pytest.raises(HttpError):
        parse(head(host=False), 100)
    parsed, _ = parse(head(first="GET / HTTP/1.0", host=False), 100)
    assert not parsed.keep_alive
    parsed, _ = parse(head("Connection: Keep-Alive", first="GET / HTTP/1.0"), 100)
    assert parsed.keep_alive
    parsed, _ = parse(head("Connection: TE, close"), 100)
    assert not parsed.keep_alive


@each_parser
def test_an_upgrade_is_declined_and_the_body_stays_a_body(parse: HeadParser) -> None:
    parsed, length = parse(head("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "Content-Length: 7"), 100)
    assert (parsed.method, length) == (b"POST", 7)


@each_parser
def test_too_many_lines_are_refused(parse: HeadParser) -> None:
    with pytest.raises(HttpError) as caught:
        parse(head(*[f"x-{number}: y" for number in range(101)]), 100)
    assert caught.value.status == 431


_NAMES = st.sampled_from(
    ["content-length", "Content-Length", "transfer-encoding", "host", "x-a", "x b", "", "connection", "expect", "x\xe4"]
)
_VALUES = st.one_of(
    st.sampled_from(["5", "0", "chunked", "Chunked", "close", "keep-alive", "100-continue", " 5 ", "\t5\t", ""]),
    st.text(st.characters(max_codepoint=0xFF), max_size=8),
)
_LINES = st.lists(st.tuples(_NAMES, st.sampled_from([":", ": ", " :", ""]), _VALUES).map("".join), max_size=5)
_METHODS = st.sampled_from(["GET", "POST", "OPTIONS", "CONNECT", "PROPFIND", "FOO", "get", "PRI", "SOURCE", "M-SEARCH"])
_TARGETS = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "http:", "https://", "HTTP://", "ftp://", "//", "*"]),
    st.sampled_from(["", "localhost", "h:80", "h:", "h:x", "u@h", "[::1]", "[::1]:8", "[", "a b", "\xe4", "h#f"]),
    st.sampled_from(["", "/", "/v1/x", "//", "/%2e", "/#f", "/{"]),
    st.sampled_from(["", "?", "?a=/b?c"]),
)
_FIRST = st.one_of(
    st.sampled_from(["GET / HTTP/1.1", "POST /v1/x?y HTTP/1.1", "POST / HTTP/1.0", "GET /a b HTTP/1.1"]),
    st.builds("{} {} HTTP/{}".format, _METHODS, _TARGETS, st.sampled_from(["1.1", "1.0", "1.2", "2.0", "0.9"])),
    st.text(st.characters(max_codepoint=0xFF), max_size=24),
)


def outcome(parse: HeadParser, data: bytes) -> object:
    try:
        parsed, length = parse(data, 100)
    except HttpError as error:
        return (error.status, error.code, error.message)
    return (parsed.method, parsed.path, parsed.query, parsed.headers, parsed.keep_alive, parsed.chunked, length)


@pytest.mark.skipif(FAST is None, reason="httptools is not installed")
@given(_FIRST, _LINES, st.booleans())
def test_both_parsers_understand_every_head_alike(first: str, lines: list[str], host: bool) -> None:
    assert FAST is not None
    data = head(*lines, first=first, host=host)
    slow, fast = outcome(parse_pure, data), outcome(FAST, data)
    assert slow == fast


@each_parser
@given(_FIRST, _LINES)
def test_remembered_heads_are_understood_as_new_ones(parse: HeadParser, first: str, lines: list[str]) -> None:
    data = head(*lines, first=first)
    cache = HeadCache(parse)
    assert outcome(cache.parse, data) == outcome(cache.parse, data) == outcome(parse, data)


@each_parser
def test_only_the_length_may_differ_between_heads_that_are_taken_for_the_same(parse: HeadParser) -> None:
    cache = HeadCache(parse)
    first, one = cache.parse(head("Content-Length: 5", "X: y"), 100)
    second, two = cache.parse(head("Content-Length: 1234", "X: y"), 100)
    assert (one, two) == (5, 1234)
    assert first is second
    third, _ = cache.parse(head("Content-Length: 5", "X: z"), 100)
    assert third is not first
    for value in ("5x", "+5", "", "5 5", "0" * 16):
        with pytest.raises(HttpError):
            cache.parse(head(f"Content-Length: {value}", "X: y"), 100)
    with pytest.raises(HttpError):
        cache.parse(head("Content-Length: 5", "X: y", "Content-Length: 5"), 100)
