"""Names in any script, and YAML beyond plain scalars: both hold, or are refused with place and remedy."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from stellwerk.serving.decision.decide import decide
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.decision.state import StateSnapshot
from stellwerk.serving.decision.types import NoPool
from stellwerk.serving.policy.card_edits import rename_card
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import load_policy, parse_policy
from stellwerk.serving.policy.patch import apply_patch

POLICY = """version: 1
models: {größtes-modell: übergang, 模型: übergang, "*": klein}
pools:
  klein: {model: m, replicas: [{url: "http://127.0.0.1:1/v1"}]}
  groß: {model: "große Liebe", replicas: [{url: "http://127.0.0.1:1/v1"}]}
steps:
  übergang: {try: [groß, klein]}
gateway: {override: true}
"""


def way(text: str, model: str, **headers: str) -> tuple[str, ...]:
    given = {key.replace("_", "-"): value for key, value in headers.items()}
    view = RequestView(model, {"messages": []}, headers=given)
    decision = decide(load_policy(text), view, StateSnapshot())
    return (*decision.path, decision.pool)


def problem(text: str) -> str:
    with pytest.raises(PolicyErrors) as caught:
        parse_policy(text)
    assert len(caught.value.problems) == 1, caught.value.problems
    return str(caught.value.problems[0])


def test_names_may_be_in_any_script() -> None:
    assert way(POLICY, "größtes-modell") == ("übergang", "groß")
    assert way(POLICY, "模型") == ("übergang", "groß")
    assert way(POLICY.replace("übergang", "चरण"), "模型") == ("चरण", "groß")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_letter_with_its_accent_apart_is_the_same_letter(form: str) -> None:
    apart = unicodedata.normalize(form, POLICY)
    for text in (apart, apart.replace("try: [groß", "try: [" + unicodedata.normalize("NFC", "groß"))):
        assert way(text, unicodedata.normalize("NFD", "größtes-modell")) == ("übergang", "groß")


@pytest.mark.parametrize("name", ["groß", "gro%C3%9F", "groß".encode().decode("latin-1")])
def test_the_caller_may_write_the_pool_as_the_answer_does_or_as_it_is(name: str) -> None:
    """Headers are bytes: clients send UTF-8 or Latin-1, and answers write what is no ASCII as %XX."""
    assert way(POLICY, "none", x_stellwerk_pool=name) == ("request", "groß")
    with pytest.raises(NoPool, match="names 'größer', which is no pool"):
        way(POLICY, "none", x_stellwerk_pool="gr%C3%B6%C3%9Fer")


@pytest.mark.parametrize("name", ["große Liebe", "a/b", "-a", "é!", "x" * 101, "😀"])
def test_what_cannot_be_a_name_is_refused_with_what_can(name: str) -> None:
    alone = POLICY.replace("[groß, klein]", "[groß]").replace('"*": klein', '"*": groß')
    said = problem(alone.replace("klein", f'"{name}"'))
    assert said.startswith("line 4, column 3")
    assert "letters of any language, digits" in said


def test_edits_keep_names_of_any_script() -> None:
    text = apply_patch(POLICY, rename_card(POLICY, "pools", "groß", "sehr-groß"))
    assert text.count("sehr-groß") == 2
    assert way(text, "模型") == ("übergang", "sehr-groß")


# --- YAML -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "tag"),
    [
        ("!!python/object/apply:os.system [id]", "!!python/object/apply:os.system"),
        ("!include secrets.yaml", "!include"),
        ("!Pool {model: m}", "!Pool"),
        ("!!binary aGFsbG8=", "!!binary"),
        ("!!set {a, b}", "!!set"),
        ("!<tag:example.com,2000:x> y", "!<tag:example.com,2000:x>"),
    ],
)
def test_a_tag_is_refused_at_its_place(written: str, tag: str) -> None:
    said = problem(POLICY.replace("klein: {model: m,", f"klein: {{model: {written},"))
    assert said.startswith("line 4, column ")
    assert f"`{tag}` is a YAML tag" in said
    assert "Write the value itself" in said


def test_a_tag_of_the_wrong_kind_is_refused() -> None:
    assert "`!!str` is a YAML tag" in problem(POLICY.replace("klein: {model", "klein: !!str {model"))


def test_tags_that_only_say_what_a_value_is_hold() -> None:
    pool = 'klein: {model: !!str 5, max_running: !!int "3", context_window: !!int 9, balance: ! round_robin,'
    found = parse_policy(POLICY.replace("klein: {model: m,", pool)).pools["klein"]
    assert (found.model, found.max_running, found.context_window, found.balance) == ("5", 3, 9, "round_robin")
    assert "must be a whole number" in problem(POLICY.replace("model: m,", "model: m, max_running: !!str 3,"))
    assert "must be a whole number" in problem(POLICY.replace("model: m,", "model: m, max_running: !!int three,"))


def test_anchors_and_merge_keys_hold_and_can_be_checked(tmp_path: Path) -> None:
    text = POLICY.replace("klein: {", "klein: &base {").replace(
        'groß: {model: "große Liebe", replicas: [{url: "http://127.0.0.1:1/v1"}]}', "groß: {<<: *base, max_running: 2}"
    )
    pools = parse_policy(text).pools
    assert (pools["groß"].model, pools["groß"].max_running) == ("m", 2)
    assert "undefined alias" in problem(text.replace("*base", "*bass"))


def test_a_value_that_was_left_out_is_missed_at_its_key() -> None:
    lines = POLICY.splitlines(keepends=True)
    with pytest.raises(PolicyErrors) as caught:
        parse_policy("".join((lines[0], "models:\n", *lines[2:])))
    first = caught.value.problems[0]
    assert (first.line, first.column, first.card) == (2, 1, None)
    assert "`models` must be a mapping" in first.what


@pytest.mark.parametrize("wrong", ["*", "http://gate.example", "gate.example/v1", "*.example", "fd00::1"])
def test_hosts_that_nobody_could_send_are_refused(wrong: str) -> None:
    said = problem(POLICY.replace("override: true", f'allowed_hosts: [gate.example, "[fd00::1]:80", "{wrong}"]'))
    assert said.startswith("line 8, column 57")
    assert "Write a name or an address" in said


@pytest.mark.parametrize("wrong", ["*", "app.example", "https://*.example", "https://app.example/page"])
def test_origins_that_no_browser_sends_are_refused(wrong: str) -> None:
    said = problem(POLICY.replace("override: true", f'allowed_origins: ["https://app.example:8443", "{wrong}"]'))
    assert "Write it like `https://app.example`" in said
