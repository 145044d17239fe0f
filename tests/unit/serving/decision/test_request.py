"""The view of a request: every API, read lazily, and never more than was asked for."""

from __future__ import annotations

import gc
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.decision.language import detect_language
from stellwerk.serving.decision.request import RequestView, Turn, estimate_tokens, text_of


def view(**body: Any) -> RequestView:
    return RequestView("m", json.dumps(body).encode())


def test_chat_turns_are_read_with_their_roles() -> None:
    found = view(
        messages=[
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]},
            {"role": "tool", "tool_call_id": "1", "content": "42"},
        ]
    )
    assert found.turns == (
        Turn("system", "be brief"),
        Turn("user", "a\nb"),
        Turn("assistant", "", asks_tool=True),
        Turn("tool", "42"),
    )
    assert found.last_user == "a\nb"


def test_messages_api_tool_results_are_the_tools_words() -> None:
    found = view(
        system=[{"type": "text", "text": "sys"}],
        messages=[
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": [{"type": "text", "text": "ok"}, {"type": "tool_use", "id": "1", "input": {}}],
            },
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "out"}]}]},
        ],
    )
    assert found.turns == (
        Turn("system", "sys"),
        Turn("user", "go"),
        Turn("assistant", "ok", asks_tool=True),
        Turn("tool", "out"),
    )
    assert found.last_user == "go"
    mixed = view(
        messages=[
            {"role": "user", "content": [{"type": "tool_result", "content": "x"}, {"type": "text", "text": "and?"}]}
        ]
    )
    assert mixed.turns == (Turn("tool", "x"), Turn("user", "and?"))


def test_responses_completions_and_embeddings_are_read_too() -> None:
    found = view(
        instructions="sys",
        input=[
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "output": "42"},
        ],
    )
    assert found.turns == (
        Turn("system", "sys"),
        Turn("user", "hi"),
        Turn("assistant", "{}", asks_tool=True),
        Turn("tool", "42"),
    )
    assert view(prompt="once").last_user == "once"
    assert view(input=["a", "b"]).turns == (Turn("user", "a"), Turn("user", "b"))


def test_a_key_written_with_escapes_is_found() -> None:
    body = b'{"\\u0074ools": [{"type": "function"}], "messages": []}'
    assert RequestView("m", body).tools
    assert RequestView("m", b'{"messages": [{"content": [{"type": "im\\u0061ge_url"}]}]}').images
    assert not view(tools=[]).tools
    assert view(functions=[{"name": "f"}]).tools


def test_the_longest_answer_has_three_names() -> None:
    assert view(max_tokens=5).max_tokens == 5
    assert view(max_completion_tokens=6, max_tokens=5).max_tokens == 6
    assert view(max_output_tokens=7).max_tokens == 7
    assert view(max_tokens=True).max_tokens is None


@pytest.mark.parametrize(
    ("body", "headers", "key"),
    [
        ({"user": "u"}, {"x-session-id": "s"}, "s"),
        ({"user": "u"}, {"x-claude-code-session-id": "c"}, "c"),
        ({"metadata": {"user_id": "m"}, "user": "u"}, {}, "m"),
        ({"user": "u", "prompt_cache_key": "p"}, {}, "u"),
        ({"prompt_cache_key": "p"}, {}, "p"),
    ],
)
def test_the_session_key_is_taken_from_the_best_source(body: dict[str, Any], headers: dict[str, str], key: str) -> None:
    messages = [{"role": "user", "content": "x"}]
    assert RequestView("m", {**body, "messages": messages}, headers=headers).session_key == key


def test_a_conversation_without_a_name_is_known_by_how_it_began() -> None:
    start = [{"role": "system", "content": "s"}, {"role": "user", "content": "first"}]
    first = view(messages=start).session_key
    later = view(
        messages=[*start, {"role": "assistant", "content": "a"}, {"role": "user", "content": "second"}]
    ).session_key
    assert first == later is not None
    assert view(messages=[{"role": "user", "content": "first"}]).session_key != first
    parts = [{"role": "system", "content": [{"type": "text", "text": "s"}]}, {"role": "user", "content": "first"}]
    assert view(messages=parts).session_key == first
    assert view(system="s", messages=start[1:]).session_key == first
    assert view(messages=[]).session_key is None


def test_who_asks_is_the_user_or_the_name_of_the_key() -> None:
    assert RequestView("m", {"user": "u"}, api_key="team").user == "u"
    assert RequestView("m", {}, api_key="team").user == "team"
    assert RequestView("m", {}).user is None


def test_token_estimates_lie_near_what_tokenizers_count() -> None:
    english = "The quick brown fox jumps over the lazy dog. " * 20  # 10 tokens a sentence
    german = "Der schnelle braune Fuchs springt über den faulen Hund. " * 20  # 14 to 16 tokens a sentence
    assert estimate_tokens(english) == pytest.approx(200, rel=0.3)
    assert estimate_tokens(german) == pytest.approx(300, rel=0.3)
    assert estimate_tokens("") == 0
    assert estimate_tokens("x") == 1
    with_tools = view(messages=[], tools=[{"type": "function", "function": {"name": "f", "description": "d" * 360}}])
    assert with_tools.prompt_tokens > 100
    picture = view(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])
    assert picture.prompt_tokens > 500


@given(st.text(max_size=40), st.integers(1, 4))
def test_the_estimate_of_a_long_text_is_that_of_all_its_bytes(text: str, piece: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stellwerk.serving.decision.request._PIECE", piece)
        size = len(text.encode("utf-8", "surrogatepass"))
        assert estimate_tokens(text) == int(size / 3.6) + (size > 0)


def test_a_very_long_opening_is_known_by_its_ends_and_its_length() -> None:
    long = "x" * (1 << 20)

    def key(text: str) -> str | None:
        return view(messages=[{"role": "user", "content": text}]).session_key

    assert key("a" + long + "b") == key("a" + long + "b")
    assert len({key(long), key(long + "x"), key("a" + long), key("b" + long), key(long + "b")}) == 5


def test_the_collector_of_garbage_rests_only_while_a_large_body_is_read() -> None:
    assert gc.isenabled()
    assert RequestView("m", b'{"messages": [' + b" " * (1 << 20) + b"]}").data == {"messages": []}
    assert RequestView("m", b"[" * (2 << 20)).data == {}
    assert gc.isenabled()


def test_bytes_that_are_no_json_count_as_nothing() -> None:
    for raw in (b"", b"{", b"[1]", b"\xff\xfe", b"[" * 100_000, b"null"):
        found = RequestView("m", raw)
        assert (found.turns, found.tools, found.prompt_tokens, found.max_tokens) == ((), False, 0, None)
        assert (found.language, found.json_mode, found.stream) == ("und", False, False)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["user", "tool_result", "text", "image"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "role",
                    "content",
                    "type",
                    "text",
                    "messages",
                    "input",
                    "tools",
                    "metadata",
                    "user_id",
                    "output",
                    "tool_calls",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            [
                "messages",
                "input",
                "prompt",
                "system",
                "tools",
                "metadata",
                "user",
                "max_tokens",
                "response_format",
                "text",
            ]
        ),
        json_values,
    )
)
def test_any_json_can_be_looked_at(body: dict[str, Any]) -> None:
    by_object, by_bytes = RequestView("m", body), RequestView("m", json.dumps(body).encode())
    for found in (by_object, by_bytes):
        assert isinstance(found.tools, bool)
        assert isinstance(found.images, bool)
        assert isinstance(found.json_mode, bool)
        assert found.prompt_tokens >= 0
        assert found.session_key is None or isinstance(found.session_key, str)
        assert found.user is None or isinstance(found.user, str)
        assert isinstance(found.last_user, str)
    assert by_object.turns == by_bytes.turns
    assert by_object.tools == by_bytes.tools
    assert by_object.images == by_bytes.images
    if by_bytes.surely_below(500):
        assert by_bytes.prompt_tokens < 500
    if by_bytes.surely_below(500, with_answer=True):
        assert by_bytes.prompt_tokens + (by_bytes.max_tokens or 0) < 500


@pytest.mark.parametrize("role", [[], {}, ["user"], 5, None, True])
def test_a_role_that_is_no_word_counts_as_the_users(role: object) -> None:
    parts = [{"type": "text", "text": "two"}]
    body = {"messages": [{"role": role, "content": "one"}, {"role": role, "content": parts}]}
    assert [(turn.role, turn.text) for turn in RequestView("m", body).turns] == [("user", "one"), ("user", "two")]
    listed = {"input": [{"role": role, "content": "three"}]}
    assert RequestView("m", listed).last_user == "three"


def test_text_of_takes_parts_and_leaves_the_rest() -> None:
    assert text_of([{"type": "text", "text": "a"}, {"type": "image_url"}, "b", 3, {"text": 4}]) == "a\nb"
    assert text_of({"type": "text", "text": "a"}) == "a"
    assert text_of(None) == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("How do I reverse a list in Python?", "en"),
        ("Schreibe mir bitte ein Gedicht über den Herbst.", "de"),
        ("Wie wird das Wetter?", "de"),
        ("Was ist der Unterschied zwischen TCP und UDP?", "de"),
        ("Quelle est la capitale de la France et pourquoi ?", "fr"),
        ("¿Cómo se hace una tortilla de patatas y qué lleva?", "es"),
        ("Come si fa la pizza e perché è così buona?", "it"),
        ("Hoe maak ik een taart en wat heb ik nodig?", "nl"),
        ("Как сделать борщ?", "ru"),
        ("如何学习编程？", "zh"),
        ("プログラミングを学ぶには？", "ja"),
        ("프로그래밍을 배우는 방법", "ko"),
        ("كيف أتعلم البرمجة", "ar"),
        ("12345 !!!", "und"),
        ("", "und"),
        ("xyzzy plugh", "und"),
    ],
)
def test_languages_are_told_apart(text: str, code: str) -> None:
    assert detect_language(text) == code
