"""Cards and wires are the text, and the text is cards and wires: in both directions, also while it is wrong."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.policy.card_edits import (
    add_card,
    add_output,
    connect,
    delete_card,
    new_step,
    references,
    rename_card,
)
from stellwerk.serving.policy.compile import targets_of
from stellwerk.serving.policy.edit import EditError
from stellwerk.serving.policy.fields import STEP_KINDS
from stellwerk.serving.policy.load import parse_policy
from stellwerk.serving.policy.patch import apply_patch, inverse
from stellwerk.serving.policy.picture import Card, Output, picture
from unit.serving.policy.policy_texts import POOLS, SAMPLE
from unit.serving.policy.ugly import UGLY


def card(text: str, section: str, name: str) -> Card:
    found = picture(text).card(section, name)
    assert found is not None
    return found


def output(text: str, section: str, name: str, number: int) -> Output:
    return card(text, section, name).outputs[number]


def test_every_model_step_and_pool_is_a_card_and_every_target_a_wire() -> None:
    policy, drawn = parse_policy(SAMPLE), picture(SAMPLE)
    assert drawn.problems == ()
    assert [c.name for c in drawn.cards if c.kind == "model"] == list(policy.models)
    assert [c.name for c in drawn.cards if c.kind == "pool"] == list(policy.pools)
    for name, step in policy.steps.items():
        assert tuple(o.target for o in card(SAMPLE, "steps", name).outputs) == targets_of(step)
    for name, target in policy.models.items():
        assert output(SAMPLE, "models", name, 0).target == target


def test_cards_say_in_a_line_what_they_do() -> None:
    lines = {c.name: (c.kind, c.line, [o.label for o in c.outputs]) for c in picture(SAMPLE).cards}
    assert lines["triage"] == (
        "when",
        "3 conditions, the first that holds decides",
        ["tools", "prompt tokens > 16000", "header x-tier is premium", "else"],
    )
    assert lines["ask"] == ("classify", "asks difficulty, 70% simple", ["simple", "complex"])
    assert lines["split_hard"] == ("split", "by weight, a conversation stays", ["80", "20"])
    assert lines["safe"] == ("try", "the first that can, in order", ["1.", "2."])
    assert lines["small"] == ("pool", "MiniCPM5-2B, 2 replicas", [])
    assert card(SAMPLE, "steps", "ask").mark.line == 29


def test_a_file_with_mistakes_is_drawn_as_far_as_it_goes() -> None:
    text = SAMPLE.replace("else: ask", "else:").replace("safe: 80", "safe: many").replace("try: [", "tri: [")
    drawn = picture(text)
    assert len(drawn.problems) >= 3
    assert [c.kind for c in drawn.cards if c.name == "safe"] == ["unknown"]
    assert output(text, "steps", "triage", 3).target is None
    assert [o.label for o in card(text, "steps", "split_hard").outputs] == ["many", "20"]
    assert picture("a: [").cards == ()
    assert picture("a: [").problems
    assert picture("models: 3\nsteps: [x]\npools: {p: 1, q: {}}").cards[0].line == "no model, 0 replicas"


def test_a_wire_is_led_elsewhere_by_one_word() -> None:
    patch = connect(SAMPLE, output(SAMPLE, "steps", "triage", 0), "ask")
    assert apply_patch(SAMPLE, patch) == SAMPLE.replace(
        "{if: {tools: true}, to: large}", "{if: {tools: true}, to: ask}"
    )
    patch = connect(SAMPLE, output(SAMPLE, "models", "fast", 0), "triage")
    assert apply_patch(SAMPLE, patch) == SAMPLE.replace("fast: small ", "fast: triage ")
    patch = connect(SAMPLE, output(SAMPLE, "steps", "split_hard", 0), "large")
    assert apply_patch(SAMPLE, patch) == SAMPLE.replace("{safe: 80,", "{large: 80,")


def test_a_wire_taken_away_leaves_the_outcome_where_it_must_be() -> None:
    text = apply_patch(SAMPLE, connect(SAMPLE, output(SAMPLE, "steps", "ask", 0), None))
    assert [(o.label, o.target) for o in card(text, "steps", "ask").outputs] == [
        ("simple", None),
        ("complex", "split_hard"),
    ]
    text = apply_patch(SAMPLE, connect(SAMPLE, output(SAMPLE, "steps", "safe", 0), None))
    assert "try: [small] " in text


def test_more_wires_can_leave_a_card() -> None:
    text = apply_patch(SAMPLE, add_output(SAMPLE, card(SAMPLE, "steps", "triage"), "small"))
    assert [o.target for o in card(text, "steps", "triage").outputs] == ["large", "large", "large", "small", "ask"]
    text = apply_patch(SAMPLE, add_output(SAMPLE, card(SAMPLE, "steps", "split_hard"), "large", weight=5))
    assert "split: {safe: 80, small: 20, large: 5}" in text
    text = apply_patch(SAMPLE, add_output(SAMPLE, card(SAMPLE, "steps", "ask"), "large", label="hardest"))
    assert "complex: split_hard, hardest: large}" in text
    with pytest.raises(EditError, match="no further wire"):
        add_output(SAMPLE, card(SAMPLE, "pools", "small"), "large")
    with pytest.raises(EditError, match="there already"):
        add_output(SAMPLE, card(SAMPLE, "steps", "split_hard"), "small")


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_a_new_step_of_every_kind_is_valid_once_it_is_reached(kind: str) -> None:
    text = apply_patch(SAMPLE, add_card(SAMPLE, "steps", "fresh", new_step(kind, "small", "large")))
    assert [p.what for p in picture(text).problems] == ["No request can reach the step `fresh`."]
    text = apply_patch(text, connect(text, output(text, "models", "fast", 0), "fresh"))
    assert picture(text).problems == ()
    single = apply_patch(SAMPLE, add_card(SAMPLE, "steps", "fresh", new_step(kind, "small")))
    assert len(picture(single).problems) == 1


def test_the_first_step_makes_its_section() -> None:
    text = f"version: 1\nmodels: {{auto: small}}\n{POOLS}"
    result = apply_patch(text, add_card(text, "steps", "s", {"try": ["small", "large"]}))
    assert result == text.rstrip("\n") + "\nsteps: {s: {try: [small, large]}}\n"
    with pytest.raises(EditError, match="there already"):
        add_card(text, "steps", "small", {"try": ["large"]})


EVERYWHERE = f"""\
version: 1
models: {{auto: start, direct: small}}   # small is a word here
{POOLS}classifiers:
  judge: {{kind: llm, pool: small, labels: [a, b], on_error: b}}
steps:
  start:
    when:
      - {{if: {{load: {{small: "> 80%"}}}}, to: ask}}   # small is busy
      - {{if: {{any: [{{not: {{load: {{large: "> 1", small: "< 2"}}}}}}]}}, to: small}}
    else: mix
  ask: {{classify: judge, to: {{a: small, b: large}}}}
  mix: {{split: {{small: 1, last: 2}}}}
  last: {{try: [large, small]}}
gateway: {{baseline: small}}
"""


def test_a_pool_is_renamed_in_every_place_and_in_no_comment() -> None:
    patch = rename_card(EVERYWHERE, "pools", "small", "tiny")
    result = apply_patch(EVERYWHERE, patch)
    assert parse_policy(result).pools.keys() == {"tiny", "large"}
    assert re.findall("#.*", result) == re.findall("#.*", EVERYWHERE)
    assert result == re.sub(r"\bsmall\b(?! is)", "tiny", EVERYWHERE)
    assert apply_patch(result, inverse(EVERYWHERE, patch)) == EVERYWHERE
    assert len(list(references(EVERYWHERE, "pools", "small"))) == len(patch.changes) - 1


def test_steps_and_classifiers_are_renamed_too() -> None:
    result = apply_patch(SAMPLE, rename_card(SAMPLE, "steps", "safe", "careful"))
    assert result == re.sub(r"\bsafe\b", "careful", SAMPLE)
    result = apply_patch(EVERYWHERE, rename_card(EVERYWHERE, "classifiers", "judge", "oracle"))
    assert parse_policy(result).classifiers.keys() == {"oracle"}
    with pytest.raises(EditError, match="there already"):
        rename_card(SAMPLE, "steps", "safe", "large")


def test_a_card_is_deleted_with_its_wires_and_one_undo_brings_all_back() -> None:
    patch = delete_card(SAMPLE, "pools", "large")
    result = apply_patch(SAMPLE, patch)
    drawn = picture(result)
    assert drawn.card("pools", "large") is None
    assert drawn.into("large") == ()
    assert [o.target for o in card(result, "steps", "triage").outputs] == [None, None, None, "ask"]
    assert [o.target for o in card(result, "steps", "safe").outputs] == ["small"]
    assert apply_patch(result, inverse(SAMPLE, patch)) == SAMPLE


TEXTS = {**UGLY, "the sample": SAMPLE, "everywhere": EVERYWHERE}


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(sorted(TEXTS)), st.data())
def test_deleting_or_renaming_any_card_of_any_file_can_be_undone(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    chosen = data.draw(st.sampled_from(picture(text).cards))
    section = chosen.key[0]
    try:
        if data.draw(st.booleans()):
            patch = delete_card(text, section, chosen.name)
        else:
            patch = rename_card(text, section, chosen.name, "fresh-name")
    except EditError:
        return
    result = apply_patch(text, patch)
    assert apply_patch(result, inverse(text, patch)) == text
    drawn = picture(result)
    assert drawn.card(section, chosen.name) is None
    if section != "models":
        assert drawn.into(chosen.name) == ()


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=120))
def test_any_text_has_a_picture(text: str) -> None:
    drawn = picture(text)
    assert drawn.problems or drawn.cards
