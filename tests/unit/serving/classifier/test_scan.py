"""The C loop and the Python reference give the same numbers, whatever the text."""

from __future__ import annotations

import random
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.native import DIFFICULTY, Library, NativeMissing, NoCompiler
from stellwerk.serving.classifier import scanner as scanner_module
from stellwerk.serving.classifier.counts import COUNT_NAMES, COUNTS, FEATURE_NAMES, FEATURES, lexical_features
from stellwerk.serving.classifier.scan import bucket_of, lower, scan, words_of
from stellwerk.serving.classifier.scanner import NativeScanner, PythonScanner, load_native


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> NativeScanner:
    target = tmp_path_factory.mktemp("native") / DIFFICULTY.file
    try:
        DIFFICULTY.compile(target)
    except NoCompiler:
        pytest.skip("no C compiler")
    return load_native(target)


texts = st.one_of(
    st.text(max_size=300).map(str.encode),
    st.binary(max_size=300),
    st.lists(
        st.sampled_from(["Why", "beweise", "ÄRGER", "\nA. x", "\nB. y", "?", "12", "f(x)=3", "a" * 40, "\n", "É"]),
        max_size=60,
    ).map(lambda parts: " ".join(parts).encode()),
)


@settings(max_examples=60, deadline=None)
@given(text=texts, bits=st.sampled_from([8, 12, 17, 18]))
def test_both_scanners_see_the_same(native: NativeScanner, text: bytes, bits: int) -> None:
    counts, buckets = native.buckets(text, bits)
    expected_counts, expected_buckets = scan(text, bits)
    assert list(counts) == expected_counts
    assert list(buckets) == expected_buckets
    assert len(set(buckets)) == len(buckets)


@settings(max_examples=60, deadline=None)
@given(text=texts)
def test_both_scanners_sum_the_same_weights_to_the_last_bit(native: NativeScanner, text: bytes) -> None:
    chance = random.Random(5)
    weights = array("f", [chance.gauss(0, 1) for _ in range(3 << 8)])
    assert native.bind(weights, 8)(text)[1:] == PythonScanner().bind(weights, 8)(text)[1:]


def test_counts_are_what_their_names_say() -> None:
    counts = dict(zip(COUNT_NAMES, scan("Why is Ärger 42?\nA. must prove\nB. if $5\nend".encode(), 12)[0], strict=True))
    assert counts["words"] == 11
    assert counts["numbers"] == 2
    assert counts["digits"] == 3
    assert counts["options"] == 2
    assert counts["?"] == 1
    assert counts["\n"] == 3
    assert counts["$"] == 1
    assert counts["beyond ascii"] == 2
    assert counts["first line"] == len("Why is Ärger 42?".encode())
    assert counts["last line"] == 3
    assert (counts["question words"], counts["constraints"], counts["conditions"], counts["mathematics"]) == (
        1,
        1,
        1,
        1,
    )


def test_capitals_of_latin_1_are_lowered_and_other_bytes_left() -> None:
    assert lower("ÄÖÜ ÉÑ ß×÷".encode()) == "äöü éñ ß×÷".encode()
    assert words_of("Größe, naïve 3D-Modelle".encode()) == ["größe".encode(), "naïve".encode(), b"3d", b"modelle"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(8, 18))
def test_buckets_lie_in_the_table(code: int, bits: int) -> None:
    assert 0 <= bucket_of(code, bits) < 1 << bits


@settings(max_examples=60, deadline=None)
@given(texts)
def test_lexical_features_are_finite_and_as_many_as_their_names(text: bytes) -> None:
    features = lexical_features(scan(text, 8)[0])
    assert len(features) == FEATURES == len(FEATURE_NAMES) == len(set(FEATURE_NAMES))
    assert all(abs(value) < 1e6 for value in features)
    assert len(COUNT_NAMES) == COUNTS <= 64


def test_a_library_of_other_sources_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / DIFFICULTY.file
    try:
        DIFFICULTY.compile(target)
    except NoCompiler:
        pytest.skip("no C compiler")
    monkeypatch.setattr(Library, "source_digest", lambda _: "other")
    with pytest.raises(NativeMissing, match="other sources"):
        load_native(target)
    (tmp_path / "no.so").write_bytes(b"not a library")
    with pytest.raises(NativeMissing, match="cannot be loaded"):
        load_native(tmp_path / "no.so")


def test_without_a_compiler_python_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STELLWERK_NATIVE", "0")
    scanner_module.native_scanner.cache_clear()
    try:
        assert isinstance(scanner_module.best_scanner(), PythonScanner)
    finally:
        scanner_module.native_scanner.cache_clear()
