"""Chunked bodies and engines' answers, however they are cut into packets."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.serving.gateway.http.chunked import LAST_CHUNK, ChunkError, ChunkReader, encode_chunk, whole_chunks
from stellwerk.serving.gateway.http.incoming import Incoming
from stellwerk.serving.gateway.http.message import Head, Request
from stellwerk.serving.gateway.http.response import ResponseError, ResponseHead, ResponseHeads, ResponseReader


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in pairwise(places) if end > start]


_CUTS = st.lists(st.integers(0, 10_000), max_size=12)


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=8), st.binary(max_size=20), _CUTS, st.booleans())
def test_what_was_chunked_comes_out_whole_however_it_is_cut(
    payloads: list[bytes], after: bytes, cuts: list[int], trailer: bool
) -> None:
    end = b"0\r\nx: y\r\n\r\n" if trailer else LAST_CHUNK
    data = b"".join(encode_chunk(payload) for payload in payloads) + end + after
    reader, got, rest = ChunkReader(), b"", b""
    for piece in pieces(data, cuts):
        if reader.ended:
            rest += piece
            continue
        payload, left = reader.feed(piece)
        got += payload
        rest += left
        if reader.raw is not None:
            again, _ = ChunkReader().feed(reader.raw)
            assert again == payload
    assert (got, rest, reader.ended) == (b"".join(payloads), after, True)


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_drips_in_takes_no_more_memory_than_its_bytes(chunked: bool) -> None:
    """Kept one by one, pieces of two bytes would take twenty times what was counted for them."""
    count = 100_000
    head = Head(b"POST", b"/", True, [])
    incoming = Incoming(Request(head, None if chunked else 2 * count + 1), 1 << 20, lambda _: None)
    tracemalloc.start()
    try:
        for number in range(count):
            piece = b"%02d" % (number % 100)
            incoming.feed(encode_chunk(piece) if chunked else piece)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 4 * count
    rest = incoming.feed(encode_chunk(b"!") + LAST_CHUNK + b"x" if chunked else b"!x")
    assert (incoming.request.body, rest) == (b"".join(b"%02d" % n for n in range(100)) * 1000 + b"!", b"x")


_FRAMES = st.lists(
    st.sampled_from([b"0", b"00", b"1", b"2", b"02", b"a", b"A", b"", b"-1", b"+1", b"1_0", b"0x1", b" 1", b"1;x"])
    | st.sampled_from([b"", b"x", b"xy", b"0123456789", b"\r", b"\n", b"1", b"0"]),
    max_size=8,
).map(b"\r\n".join)


@given(_FRAMES)
def test_the_quick_look_at_whole_chunks_sees_what_the_reader_sees(data: bytes) -> None:
    quick = whole_chunks(data)
    if quick is not None:
        reader = ChunkReader()
        payload, rest = reader._feed(data)
        assert (payload, rest, reader.ended) == (quick[0], b"", quick[1])
        assert quick[1] or (not reader._missing and not reader._held)


@given(
    st.lists(st.binary(min_size=1, max_size=300).filter(lambda text: b"\r\n" not in text), min_size=1), st.booleans()
)
def test_usual_chunks_are_seen_at_once(payloads: list[bytes], ended: bool) -> None:
    data = b"".join(map(encode_chunk, payloads)) + (LAST_CHUNK if ended else b"")
    if not any(payload.startswith(b"\n") or payload.endswith(b"\r") for payload in payloads):
        assert whole_chunks(data) == (b"".join(payloads), ended)


@pytest.mark.parametrize(
    "data",
    [
        b"5\nhello\r\n0\r\n\r\n",
        b"5\r\nhello0\r\n\r\n",
        b"5\r\nhell\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"5_0\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"g\r\nhello\r\n0\r\n\r\n",
        b"fffffffff\r\nhello\r\n0\r\n\r\n",
        b"5;a\nb\r\nhello\r\n0\r\n\r\n",
        b"5;" + b"x" * 300 + b"\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhello\r\r0\r\n\r\n",
        b"0\r\nbad trailer\r\n\r\n",
        b"0\r\n: x\r\n\r\n",
        b"0\r\nx: a\nb\r\n\r\n",
        b"0\r\nx: " + b"y" * 9000,
    ],
)
@pytest.mark.parametrize("step", [1, 1000])
def test_malformed_chunks_are_refused(data: bytes, step: int) -> None:
    reader = ChunkReader()
    with pytest.raises(ChunkError):
        for start in range(0, len(data), step):
            reader.feed(data[start : start + step])
        if not reader.ended:
            raise AssertionError("took it for a body that goes on")
        raise AssertionError("took it for a whole body")


class Sink:
    def __init__(self) -> None:
        self.heads: list[tuple[int, int | None]] = []
        self.body = b""
        self.ends: list[bool] = []

    def response_head(self, head: ResponseHead, length: int | None) -> None:
        self.heads.append((head.status, length))

    def response_data(self, payload: bytes, raw: bytes | None) -> None:
        self.body += payload

    def response_end(self, reusable: bool) -> None:
        self.ends.append(reusable)


def read(data: bytes, cuts: list[int]) -> tuple[Sink, ResponseReader]:
    sink, reader = Sink(), ResponseReader(ResponseHeads())
    reader.sink = sink
    for piece in pieces(data, cuts):
        reader.feed(piece)
    return sink, reader


@given(st.binary(max_size=200), st.sampled_from(["length", "chunked", "close"]), st.booleans(), _CUTS)
def test_answers_are_read_however_they_are_cut(body: bytes, framing: str, interim: bool, cuts: list[int]) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX: y\r\n"
    if framing == "length":
        data = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    elif framing == "chunked":
        data = head + b"Transfer-Encoding: chunked\r\n\r\n" + encode_chunk(body) + LAST_CHUNK
    else:
        data = head + b"\r\n" + body
    if interim:
        data = b"HTTP/1.1 100 Continue\r\n\r\n" + data
    sink, reader = read(data, cuts)
    if framing == "close":
        assert sink.ends == []
        assert reader.eof()
    assert sink.body == body
    assert sink.heads == [(200, len(body) if framing == "length" else None)]
    assert sink.ends == [framing != "close"]


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc",
        b"HTTP/1.1 2x0 OK\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"<html>",
        b"\x00\x01\x02\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: y\n\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * 70_000,
    ],
)
def test_what_is_not_an_http_answer_is_refused(data: bytes) -> None:
    with pytest.raises(ResponseError):
        read(data, [])


@pytest.mark.parametrize("line", ["Content-Length: 2", "content-length:2", "CONTENT-LENGTH:  2 "])
def test_a_length_counts_in_every_spelling_and_every_time(line: str) -> None:
    heads = ResponseHeads()
    for _ in range(2):
        _, length = heads.parse(f"HTTP/1.1 200 OK\r\n{line}".encode())
        assert length == 2


def test_bytes_that_nobody_asked_for_are_refused_and_spoil_the_connection() -> None:
    sink, reader = read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabEXTRA", [])
    assert (sink.body, sink.ends) == (b"ab", [False])
    reader.sink = None
    with pytest.raises(ResponseError):
        reader.feed(b"HTTP/1.1 200 OK\r\n\r\n")


def test_an_engines_permission_for_web_pages_is_not_passed_on() -> None:
    head, _ = ResponseHeads().parse(
        b"HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nKeep-Alive: timeout=5\r\nX-A: b\r\n"
        b"X-Stellwerk-Pool: forged\r\nContent-Length: 0"
    )
    assert head.start == b"HTTP/1.1 200 OK\r\nX-A: b\r\n"
