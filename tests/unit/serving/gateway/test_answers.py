"""What engines say: whole events, errors in disguise, prompts that do not fit, tokens."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.serving.gateway import judge_answer
from stellwerk.serving.gateway.dialect import ANTHROPIC, OPENAI, RESPONSES, error_body, error_event, stream_is_complete
from stellwerk.serving.gateway.events import MAX_EVENT_BYTES, EventStream, EventTooLong
from stellwerk.serving.gateway.usage import tokens_of

_END = st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"])


@given(
    st.lists(st.text("abc {}:", min_size=1, max_size=20), min_size=1, max_size=8), _END, st.lists(st.integers(0, 400))
)
def test_events_come_out_whole_whatever_the_packets(texts: list[str], end: bytes, cuts: list[int]) -> None:
    events = [b"data: " + text.encode() + end for text in texts]
    data = b"".join(events)
    places = sorted({cut % (len(data) + 1) for cut in cuts} | {0, len(data)})
    stream, got = EventStream(), b""
    whole = {b"".join(events[:count]) for count in range(len(events) + 1)}
    for start, stop in pairwise(places):
        got += stream.feed(data[start:stop])
        assert got in whole, "a part of an event came out"
    assert got + stream.rest() == data
    assert stream.events == len(events)


def test_an_event_without_end_is_not_held_for_ever() -> None:
    stream = EventStream()
    with pytest.raises(EventTooLong):
        for _ in range(20):
            stream.feed(b"x" * (MAX_EVENT_BYTES // 10))


def test_tokens_are_read_from_whole_answers_and_streams() -> None:
    assert tokens_of(b'{"usage": {"prompt_tokens": 3, "completion_tokens": 5}}') == (3, 5)
    assert tokens_of(b'{"usage":{"input_tokens":3,"output_tokens":5}}') == (3, 5)
    assert tokens_of(b'{"text": "\\"usage\\": 1"}') == (None, None)
    assert tokens_of(b'{"usage": null}') == (None, None)
    stream = EventStream()
    stream.feed(b'event: message_start\ndata: {"message":{"usage":{"input_tokens":7,"output_tokens":1}}}\n\n')
    stream.feed(b'data: {"x": 1}\n\n')
    stream.feed(b'event: message_delta\ndata: {"usage":{"output_tokens":9}}\n\n')
    assert stream.tokens() == (7, 9)


@pytest.mark.parametrize(
    ("body", "bad"),
    [
        (b'{"error": {"message": "x"}}', True),
        (b' \n{ "error" : "x"}', True),
        (b'{"object": "error", "message": "x"}', True),
        (b'{"type":"error","error":{}}', True),
        (b'{"id": 1, "error": {"message": "x"}}', True),
        (b'{"error": null, "choices": []}', False),
        (b'{"choices": [{"message": {"content": "the \\"error\\" is"}}]}', False),
        (b'{"choices": [], "error": null}', False),
        (b'{"data": [], "note": "error"}', False),
    ],
)
def test_errors_inside_a_200_are_recognised(body: bytes, bad: bool) -> None:
    assert (judge_answer.disguised_error(body, whole=True) is not None) is bad


@pytest.mark.parametrize(
    ("events", "error"),
    [
        (b'data: {"choices": []}\n\n', None),
        (b': ping\n\ndata: {"choices": []}\n\n', None),
        (b'event: error\ndata: {"type": "error"}\n\n', b'{"type": "error"}'),
        (b'data: {"error": {"message": "x"}}\n\n', b'{"error": {"message": "x"}}'),
        (b'data: {"choices": []}\n\ndata: {"error": {"message": "x"}}\n\n', b'{"error": {"message": "x"}}'),
        (b'id: 1\r\nevent: x\r\ndata: {"a": "an error"}\r\n\r\n', None),
    ],
)
def test_errors_among_the_first_events_are_recognised(events: bytes, error: bytes | None) -> None:
    assert judge_answer.first_events_error(events) == error


@pytest.mark.parametrize("events", [b"<html>\n\ndata: {}\n\n", b"data: hello\n\n", b'{"choices": []}\n\ndata: {}\n\n'])
def test_what_is_no_event_stream_is_garbage(events: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        judge_answer.first_events_error(events)


@pytest.mark.parametrize(
    ("status", "text", "window"),
    [
        (400, "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens", 8192),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", None),
        (422, "Input length (9001) exceeds the maximum allowed length", None),
        (400, "the request exceeds the available context size (4096 tokens), try increasing it", 4096),
        (413, "Requested token count exceeds the model's maximum context length of 32768 tokens.", 32768),
        (400, "Input is too long for requested model.", None),
    ],
)
def test_prompts_that_do_not_fit_are_recognised_in_many_words(status: int, text: str, window: int | None) -> None:
    body = json.dumps({"error": {"message": text}}).encode()
    assert judge_answer.is_overflow(status, body)
    assert judge_answer.stated_window(body) == window


def test_other_client_errors_are_no_overflow() -> None:
    for text in ("temperature must be below 2", "unknown field 'foo'", "messages must not be empty"):
        assert not judge_answer.is_overflow(400, json.dumps({"error": {"message": text}}).encode())
    assert not judge_answer.is_overflow(500, b"maximum context length")


def test_which_errors_are_worth_another_try_and_whose_fault_they_are() -> None:
    assert [judge_answer.is_retriable(status) for status in (400, 404, 422, 429, 500, 503, 529)] == [
        False, True, False, True, True, True, True,
    ]  # fmt: skip
    assert [judge_answer.is_fault(status) for status in (401, 404, 429, 500, 503)] == [False, False, False, True, True]


def test_each_dialect_knows_its_end_and_its_error() -> None:
    assert stream_is_complete(OPENAI, b"data: [DONE]\n\n")
    assert stream_is_complete(OPENAI, b'data: {"choices":[{"finish_reason": "stop"}]}\n\n')
    assert not stream_is_complete(OPENAI, b'data: {"choices":[{"finish_reason": null}]}\n\n')
    assert stream_is_complete(ANTHROPIC, b"event: message_stop\n")
    assert not stream_is_complete(ANTHROPIC, b"event: content_block_stop\n")
    assert stream_is_complete(RESPONSES, b"event: response.completed\n")
    for dialect in (OPENAI, RESPONSES, ANTHROPIC):
        event = error_event(dialect, "stream_broken", "it broke")
        assert event.endswith(b"\n\n")
        assert b"it broke" in event
        assert not stream_is_complete(dialect, event)
    assert json.loads(error_body(ANTHROPIC, 404, "c", "m"))["error"]["type"] == "not_found_error"


@pytest.mark.parametrize(
    "usage",
    [
        '{"prompt_tokens": 12, "completion_tokens": 34, "total_tokens": 46}',
        '{"prompt_tokens":12,"completion_tokens":34}',
        '{"prompt_tokens":12,"total_tokens":46,"completion_tokens":34,"prompt_tokens_details":null}',
        '{"completion_tokens": 34, "prompt_tokens": 12}',
        '{ "input_tokens" : 12 , "output_tokens" : 34 }',
        '{"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 8}, "completion_tokens": 34}',
    ],
)
def test_tokens_are_found_however_an_engine_writes_its_usage(usage: str) -> None:
    answer = f'{{"choices": [{{"message": {{"content": "say \\"usage\\""}}}}], "usage": {usage}, "id": 5}}'
    assert tokens_of(answer.encode()) == (12, 34)


def test_half_a_usage_gives_half_the_tokens() -> None:
    assert tokens_of(b'{"usage": {"prompt_tokens": 12, "total_tokens": 12}}') == (12, None)
    assert tokens_of(b'{"usage": null}') == (None, None)
