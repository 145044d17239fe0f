"""The model is found where a JSON reader finds it, replaced there, and nothing else is touched."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.gateway.body import BodyError, replace_model, scan_body

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6) | st.just("model"), inner, max_size=4)
    ),
    max_leaves=20,
)
_INDENTS = st.sampled_from([None, 0, 2])


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=8), _JSON, max_size=6), st.text(max_size=12), _INDENTS, st.booleans())
def test_the_spliced_body_reads_as_the_original_with_another_model(
    rest: dict[str, object], model: str, indent: int | None, ascii_only: bool
) -> None:
    value = {**rest, "model": model}
    body = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if "\ud800" <= max(model, default="") <= "\udfff":
        return  # a lone surrogate cannot stand unescaped in UTF-8
    scan = scan_body(body)
    assert scan.model == model
    changed = replace_model(body, scan, b'"tiny"')
    assert json.loads(changed) == {**value, "model": "tiny"}
    assert len(changed) - len(body) == sum(6 - (end - start) for start, end in scan.spans)


_HIDDEN = st.sampled_from(['"model"', "model", '\\"model\\"', ',"model":"x"}', "m\\u006fdel", "\\", ',\\"model":"x"}'])


@given(
    st.dictionaries(st.text(max_size=3) | st.just("model") | _HIDDEN, _JSON | _HIDDEN, max_size=4),
    st.dictionaries(st.text(max_size=3) | _HIDDEN, _JSON | _HIDDEN, max_size=4),
    _INDENTS,
    st.booleans(),
)
def test_the_model_of_a_large_body_is_that_of_a_small_one(
    before: dict[str, object], behind: dict[str, object], indent: int | None, escaped: bool
) -> None:
    body = json.dumps({**before, "model": "m", **behind}, indent=indent).encode()
    if escaped:
        body = body.replace(b"m\\\\u006fdel", b"m\\u006fdel")
    small = outcome(body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stellwerk.serving.gateway.body._LARGE", 0)
        large = outcome(body)
    assert large == small


def outcome(body: bytes) -> tuple[object, bytes]:
    try:
        scan = scan_body(body)
    except BodyError as error:
        return str(error), b""
    return scan, replace_model(body, scan, b'"tiny"')


@pytest.mark.parametrize(
    "body",
    [b'{"a":[%b],"model":"m","b":1}', b'{"stream":true,"model":"m","b":[%b]}', b'{"a":"%b", "model": "m" }'],
)
def test_of_a_large_body_only_what_stands_around_the_model_is_read(body: bytes) -> None:
    scan = scan_body(body % (b"[" * 80_000))
    assert scan.model == "m"
    assert len(scan.spans) == 1


@pytest.mark.parametrize(
    "end", [b',"model":"m"', b',"model":"m"}}', b',"model":"m"}]', b',"model":7}', b'{"model":"m"}}']
)
def test_a_large_body_whose_model_is_not_at_the_top_is_refused(end: bytes) -> None:
    with pytest.raises(BodyError):
        scan_body(b'{"a":["' + b"x" * 80_000 + b'"]' + end)


@settings(max_examples=60)
@given(st.dictionaries(st.text(max_size=8), _JSON, max_size=6), st.integers(0, 400))
def test_a_body_that_breaks_off_is_an_error_and_never_a_crash(rest: dict[str, object], cut: int) -> None:
    body = json.dumps({"first": 1, **rest, "model": "m"}).encode()
    if cut < len(body):
        with pytest.raises(BodyError):
            scan_body(body[:cut])


@given(st.binary(max_size=60))
def test_any_bytes_are_answered(body: bytes) -> None:
    try:
        scan_body(b'{"model":"a",' + body)
    except BodyError as error:
        assert str(error)


@pytest.mark.parametrize(
    ("body", "model"),
    [
        (b'{"model":"a"}', "a"),
        (b'\xef\xbb\xbf{"model":"a"}', "a"),
        (b' \t\r\n{ "model" : "a" }\n', "a"),
        (b'{"mod\\u0065l":"a"}', "a"),
        (b'{"model":"\\u0061\\n"}', "a\n"),
        (b'{"x":{"model":"no"},"model":"a"}', "a"),
        (b'{"x":[{"model":"no"}],"model":"a","y":{"model":"no"}}', "a"),
        (b'{"prompt":"\\"model\\":\\"no\\"","model":"a"}', "a"),
        (b'{"prompt":"x\\\\","model":"a"}', "a"),
        (b'{"prompt":"\xff\xfe","model":"a"}', "a"),
        (b'{"model":"first","model":"second"}', "second"),
        (b'{"model":"first","mod\\u0065l":"second"}', "second"),
        (b'{"x":' + b"[" * 500 + b"]" * 500 + b',"model":"a"}', "a"),
    ],
)
def test_the_model_is_found_wherever_it_hides(body: bytes, model: str) -> None:
    scan = scan_body(body)
    assert scan.model == model
    changed = json.loads(replace_model(body, scan, b'"tiny"').decode("utf-8-sig", "replace"))
    assert changed["model"] == "tiny"


def test_of_equal_keys_none_keeps_its_value() -> None:
    body = b'{"model":"a","x":1,"model":"b"}'
    assert replace_model(body, scan_body(body), b'"t"') == b'{"model":"t","x":1,"model":"t"}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"model"',
        b"{}",
        b'{"model":1}',
        b'{"model":null}',
        b'{"model":["a"]}',
        b'{"model":{"model":"a"}}',
        b'{"x":1}',
        b'{"x":1,"model":"a"',
        b'{"x":1,"model":"a"}}',
        b'{"x":1,"model":"a"} {}',
        b'{"x":[1,"model":"a"}',
        b'{"x":{]},"model":"a"}',
        b'{"x":1 "model":"a"}',
        b'{x:1,"model":"a"}',
        b'{"x":1,,"model":"a"}',
        b'{"x":"\\","model":"a"}',
        b'{"x":1,"model":"\\x"}',
        b'{"x":1,"model":"\xff"}',
        '{"x":1,"model":"a"}'.encode("utf-16"),
        b'{"x":' + b"[" * 300_000,
    ],
)
def test_what_is_no_object_with_a_model_is_refused(body: bytes) -> None:
    with pytest.raises(BodyError):
        scan_body(body)


def test_large_bodies_are_scanned_in_one_go() -> None:
    text = json.dumps('tab\t quote" ' * 200_000)
    body = f'{{"messages":[{{"role":"user","content":{text}}}],"model":"a"}}'.encode()
    assert scan_body(body).model == "a"
    assert scan_body(b'{"x":[' + b"[]," * 400_000 + b'1],"model":"a"}').model == "a"
