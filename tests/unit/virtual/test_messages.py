"""The language between a simulated command and the cluster: both sides agree, and nonsense is refused."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.virtual.call import BadMessage, Request, pack, parse_request, receive
from stellwerk.virtual.onnode import shim

# What an argument can be: any bytes but zero, as Python shows them.
WORDS = st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"\0", b"").decode("utf-8", "surrogateescape")))


def hear(data: bytes) -> list[str]:
    async def run() -> list[str]:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        return await receive(reader)

    return asyncio.run(run())


@given(WORDS)
def test_both_ends_pack_alike_and_read_what_the_other_wrote(words: list[str]) -> None:
    packed = shim.pack(words)
    assert packed == pack(words)
    assert shim.unpack(packed[4:]) == words
    assert hear(packed) == words


@given(WORDS, st.dictionaries(st.sampled_from(["HOME", "PATH", "LANG"]), st.text(st.characters(codec="ascii"))))
def test_a_request_is_read_as_it_was_made(words: list[str], env: dict[str, str]) -> None:
    message = ["ip", "/home", str(len(words)), *words, *(f"{k}={v}" for k, v in env.items())]
    assert parse_request(message) == Request("ip", "/home", tuple(words), env)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_the_end_or_refused(data: bytes) -> None:
    try:
        texts = hear(data)
        if texts:
            parse_request(texts)
    except BadMessage as refused:
        assert str(refused)


@pytest.mark.parametrize("message", [[], ["ip"], ["ip", "/", "x"], ["ip", "/", "3", "a"], ["ip", "/", "-1"],
                                     ["ip", "/", "0", "no equals sign"]])  # fmt: skip
def test_a_request_with_something_missing_is_refused(message: list[str]) -> None:
    with pytest.raises(BadMessage):
        parse_request(message)
