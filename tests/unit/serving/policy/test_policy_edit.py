"""Edits are minimal patches: every other byte stays, undo is the inverse, and the data is exactly what was wanted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.policy.edit import (
    EditError,
    Path,
    _checked,
    find,
    insert_item,
    insert_key,
    move_item,
    remove,
    rename_key,
    set_value,
)
from stellwerk.serving.policy.load import parse_policy
from stellwerk.serving.policy.patch import Change, Patch, apply_patch, inverse, patch_of
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, compose
from stellwerk.serving.policy.yamltext import data_of, scalar_text, to_yaml
from unit.serving.policy.policy_texts import SAMPLE
from unit.serving.policy.ugly import UGLY

TEXTS = {**UGLY, "the sample": SAMPLE}


def after(text: str, patch: Patch) -> str:
    return apply_patch(text, patch)


def test_a_number_changes_and_nothing_else() -> None:
    patch = set_value(SAMPLE, ("pools", "small", "max_running"), 32)
    assert after(SAMPLE, patch) == SAMPLE.replace("max_running: 16 ", "max_running: 32 ")
    assert after(after(SAMPLE, patch), inverse(SAMPLE, patch)) == SAMPLE


def test_quotes_stay_as_they_were_written() -> None:
    text = "version: 1\na: 'x'\nb: \"y\"\nc: z\n"
    assert after(text, set_value(text, ("a",), "it's")).splitlines()[1] == "a: 'it''s'"
    assert after(text, set_value(text, ("b",), "q")).splitlines()[2] == 'b: "q"'
    assert after(text, set_value(text, ("c",), "> 3")).splitlines()[3] == 'c: "> 3"'
    assert after(text, set_value(text, ("c",), "true")).splitlines()[3] == 'c: "true"'


def test_a_new_key_takes_the_indentation_of_its_neighbours() -> None:
    text = UGLY["aligned comments"]
    result = after(text, set_value(text, ("pools", "small", "max_waiting"), 8))
    assert "        max_running: 16\n        max_waiting: 8\n\n    # the large one\n" in result
    assert len(result) == len(text) + len("        max_waiting: 8\n")


def test_a_step_is_added_behind_the_last_one_and_before_the_closing_comment() -> None:
    text = UGLY["aligned comments"]
    result = after(text, insert_key(text, ("steps", "safe"), {"try": ["large", "small"]}))
    assert result.endswith("sticky: conversation}\n  safe: {try: [large, small]}\n# the end\n")


def test_an_arm_is_added_in_its_line() -> None:
    text = UGLY["aligned comments"]
    result = after(text, insert_key(text, ("steps", "ask", "split", "third"), 5))
    assert "{split: {large: 80, small: 20, third: 5}, sticky" in result


def test_a_replica_goes_with_its_lines_and_the_comment_above_the_next_stays() -> None:
    text = UGLY["aligned comments"]
    result = after(text, remove(text, ("pools", "small", "replicas", 0)))
    assert result == text.replace("        - {node: spark-1, port: 8000}     # first\n", "")
    result = after(text, remove(text, ("pools", "small", "replicas", 1)))
    assert "over two lines" not in result
    assert "# between the replicas\n\n        max_running" in result


def test_the_first_key_behind_a_dash_can_go() -> None:
    text = "version: 1\nx:\n  - if: a   # c\n    to: b\n"
    assert after(text, remove(text, ("x", 0, "if"))) == "version: 1\nx:\n  - to: b\n"


def test_branches_change_places_and_their_comments_stay_where_they_are() -> None:
    text = UGLY["aligned comments"]
    result = assert_minimal(text, move_item(text, ("steps", "triage", "when", 2), 0))
    step = result[result.index("  triage:") :]
    assert step.index("x-tier") < step.index("tools") < step.index("prompt_tokens")
    assert sorted(re.findall("#.*", result)) == sorted(re.findall("#.*", text))


def test_a_pool_gets_another_name() -> None:
    result = after(SAMPLE, rename_key(SAMPLE, ("pools", "small"), "tiny"))
    assert result == SAMPLE.replace("  small:\n", "  tiny:\n", 1)


def test_carriage_returns_stay_carriage_returns() -> None:
    text = UGLY["carriage returns"]
    result = after(text, insert_item(text, ("pools", "a", "replicas", 2), {"node": "p", "port": 3}))
    assert result.endswith("        port: 2\r\n      - {node: p, port: 3}\r\n")
    assert "\n" not in result.replace("\r\n", "")
    assert parse_policy(result).pools["a"].replicas[2].port == 3


def test_a_text_without_a_last_newline_gets_none() -> None:
    text = UGLY["no newline at the end"]
    result = after(text, insert_key(text, ("salt",), "x"))
    assert result == text + "\nsalt: x"


def test_a_section_that_is_only_a_key_takes_its_first_card() -> None:
    text = "version: 1\nsteps:   # none yet\npools: {a: 1}\n"
    result = after(text, set_value(text, ("steps", "first"), {"try": ["a"]}))
    assert result == "version: 1\nsteps:   # none yet\n  first: {try: [a]}\npools: {a: 1}\n"


def test_what_an_alias_shares_is_not_changed_behind_its_back() -> None:
    text = UGLY["anchors"]
    with pytest.raises(EditError, match="alias"):
        set_value(text, ("pools", "c", "replicas", 0, "port"), 2)
    result = after(text, set_value(text, ("pools", "a", "replicas", 0, "port"), 2))
    assert result == text.replace("port: 1", "port: 2")
    added = after(text, set_value(text, ("pools", "c", "max_waiting"), 2))
    assert added == text + "    max_waiting: 2\n"


@pytest.mark.parametrize("path", [("pools", "none"), ("pools", "small", "replicas", 9), ("version", "x")])
def test_a_place_that_is_not_there_is_named(path: Path) -> None:
    with pytest.raises(EditError, match="There is no"):
        remove(SAMPLE, path)


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(EditError, match="there already"):
        rename_key(SAMPLE, ("pools", "small"), "large")
    with pytest.raises(EditError, match="there already"):
        insert_key(SAMPLE, ("pools", "small"), {})


def test_a_patch_that_would_do_something_else_is_not_given_out() -> None:
    text = "version: 1\na: 2\nb: 3\n"
    wrong = patch_of(Change(14, 15, "9"), Change(19, 20, "9"))
    with pytest.raises(EditError, match="small patch"):
        _checked(text, wrong, ("a",), lambda data, at: data.__setitem__(1, (("str", "a"), ("int", "9"))))
    with pytest.raises(EditError, match="small patch"):
        _checked(text, patch_of(Change(14, 15, "[")), ("a",), lambda data, at: None)


def test_a_broken_text_is_not_edited() -> None:
    with pytest.raises(EditError, match="readable"):
        set_value("a: [", ("a",), 1)


def test_patches_refuse_what_overlaps_or_lies_outside() -> None:
    with pytest.raises(ValueError, match="overlap"):
        Patch((Change(0, 3, "x"), Change(2, 4, "y")))
    with pytest.raises(ValueError, match="another text"):
        apply_patch("ab", patch_of(Change(0, 9, "")))


# --- properties -----------------------------------------------------------------------------------------------------

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    [
        "true",
        "~",
        "- x",
        "a: b",
        "#",
        "'",
        '"',
        "> 3",
        "{}",
        "1",
        "1e5",
        "é",
        " lead",
        "a, b",
        "*x",
        "&y",
        "!t",
        "|",
        "%",
        "70%",
    ]
)
scalars = (
    words | st.integers(-(10**6), 10**6) | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=5
)


@settings(max_examples=60, deadline=None)
@given(values)
def test_any_value_can_be_written_and_is_read_as_itself(value: Any) -> None:
    for text in (f"x: {to_yaml(value)}\n", f"{{x: {to_yaml(value)}, y: 1}}\n"):
        assert plain(compose(text).value[0][1]) == as_texts(value)


@settings(max_examples=60, deadline=None)
@given(words, st.sampled_from([None, "'", '"']))
def test_any_word_can_be_written_in_any_quotes(word: str, style: str | None) -> None:
    node = compose(f"- 1\n- {scalar_text(word, style)}\n".replace("- 1\n- ", "x: ")).value[0][1]
    assert plain(node) == ("str", word)


def plain(node: Node) -> object:
    return data_of(node)


def as_texts(value: Any) -> object:
    match value:
        case None:
            return ("null", "")
        case bool():
            return ("bool", "true" if value else "false")
        case int():
            return ("int", str(value))
        case float():
            return ("float", to_yaml(value))
        case str():
            return ("str", value)
        case list():
            return ["-", *map(as_texts, value)]
    return [(("str", key), as_texts(item)) for key, item in value.items()]


def paths(node: Node, at: Path = (), depth: int = 0) -> list[tuple[Path, Node]]:
    """All places of a text that are not behind an alias."""
    found: list[tuple[Path, Node]] = []
    pairs: list[tuple[str | int, Node]] = []
    if isinstance(node, MappingNode):
        pairs = [(key.value, value) for key, value in node.value if key.value != "<<"]
    elif isinstance(node, SequenceNode):
        pairs = list(enumerate(node.value))
    for step, child in pairs:
        if node.start_mark.index <= child.start_mark.index <= node.end_mark.index:
            found.append(((*at, step), child))
            found += paths(child, (*at, step), depth + 1)
    return found


def comments(text: str) -> list[str]:
    return re.findall(r"(?:^|\s)#[^\r\n]*", text)


def assert_minimal(text: str, patch: Patch) -> str:
    """Undo gives the very text back, and outside of the changes every character is where it was."""
    result = apply_patch(text, patch)
    assert apply_patch(result, inverse(text, patch)) == text
    at = shift = 0
    for change in patch.changes:
        assert result[at + shift : change.start + shift] == text[at : change.start]
        at, shift = change.end, shift + len(change.new) - (change.end - change.start)
    assert result[at + shift :] == text[at:]
    return result


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), scalars, st.data())
def test_any_scalar_can_be_set_and_no_comment_is_lost(name: str, value: Any, data: st.DataObject) -> None:
    text = TEXTS[name]
    places = [(path, node) for path, node in paths(compose(text)) if isinstance(node, ScalarNode)]
    path, node = data.draw(st.sampled_from(places))
    try:
        patch = set_value(text, path, value)
    except EditError:
        assert node.style in ("|", ">") or "? long" in text, "only rare forms may be refused"
        return
    result = assert_minimal(text, patch)
    assert plain(find(result, path)) == as_texts(value)
    assert sum(len(change.new) + change.end - change.start for change in patch.changes) <= len(node.value) + 400
    if node.style not in ("|", ">"):
        assert comments(result)[: len(comments(text))] == comments(text) or "#" in str(value)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), values, st.data())
def test_any_edit_does_what_it_says_or_refuses(name: str, value: Any, data: st.DataObject) -> None:
    text = TEXTS[name]
    path, _ = data.draw(st.sampled_from(paths(compose(text))))
    kind = data.draw(st.sampled_from(("set", "remove", "rename", "key", "item", "move")))
    try:
        match kind:
            case "set":
                patch = set_value(text, path, value)
            case "remove":
                patch = remove(text, path)
            case "rename":
                patch = rename_key(text, path, data.draw(words))
            case "key":
                patch = insert_key(text, (*path, data.draw(words)), value)
            case "item":
                patch = insert_item(text, (*path, data.draw(st.integers(0, 3))), value)
            case _:
                patch = move_item(text, path, data.draw(st.integers(0, 3)))
    except EditError as error:
        assert str(error)
        return
    result = assert_minimal(text, patch)
    assert (patch.changes != ()) or kind in ("set", "rename", "move")
    if kind in ("key", "item", "rename"):
        assert len(comments(result)) >= len(comments(text))
    compose(result)


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_many_edits_in_a_row_can_all_be_undone(data: st.DataObject) -> None:
    text = TEXTS[data.draw(st.sampled_from(sorted(TEXTS)))]
    current, undo = text, []
    for _ in range(6):
        path, _ = data.draw(st.sampled_from(paths(compose(current))))
        try:
            patch = remove(current, path) if data.draw(st.booleans()) else set_value(current, path, data.draw(scalars))
        except EditError:
            continue
        undo.append(inverse(current, patch))
        current = apply_patch(current, patch)
        if not paths(compose(current)):
            break
    for patch in reversed(undo):
        current = apply_patch(current, patch)
    assert current == text


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_entries_of_every_text_can_be_removed_or_the_reason_is_rare(name: str) -> None:
    text = TEXTS[name]
    refused = []
    places = paths(compose(text))[::2]  # every second one: neighbours are written alike
    for path, _ in places:
        try:
            assert_minimal(text, remove(text, path))
        except EditError as error:
            refused.append((path, str(error)))
    assert len(refused) <= len(places) * (0.35 if "wide" in name or name == "anchors" else 0.15), refused
