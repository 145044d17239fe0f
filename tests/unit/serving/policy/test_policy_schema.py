"""The JSON schema and the reader agree; older files are brought up to date without losing a comment."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from ruamel.yaml import YAML

from stellwerk.serving.policy import fields, model
from stellwerk.serving.policy.errors import PolicyErrors
from stellwerk.serving.policy.load import parse_policy
from stellwerk.serving.policy.schema import policy_schema
from stellwerk.serving.policy.upgrade import upgrade, version_of
from unit.serving.policy.policy_texts import POOLS, SAMPLE
from unit.serving.policy.ugly import UGLY


def plain(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def fits(text: str) -> bool:
    validator = jsonschema.Draft202012Validator(policy_schema())
    return not list(validator.iter_errors(plain(text)))


def test_the_schema_is_one_and_can_be_written_as_json() -> None:
    jsonschema.Draft202012Validator.check_schema(policy_schema())
    assert json.loads(json.dumps(policy_schema())) == policy_schema()


FORMS = """
version: 1
models: {auto: a, "*": d}
pools:
  small:
    model: s
    replicas: [{url: "https://h/v1", key_env: K}]
    deadlines: {connect: 1s}
    health: {path: none}
    price: {input: 1}
  large: {model: l, replicas: [{node: n, port: 1}], balance: prefix, max_wait: 400ms}
classifiers: {d: {kind: embedded}, j: {kind: llm, pool: small, labels: [x, y], on_error: y, timeout: 0.5}}
steps:
  a:
    when:
      - {if: {any: [{prompt_tokens: "> 16k"}, {not: {tools: true}}, {load: {large: "> 80%"}}]}, to: b}
      - {if: {model: [x, y], language: de, header: {a: true, b: "c*"}, matches: "x+"}, to: c}
    else: e
  b: {classify: d, to: {x: small, y: large}, threshold: 0.6}
  c: {classify: j, to: {x: small, y: large}}
  d: {split: {small: 80%, large: 20}, sticky: user}
  e: {try: [f, small]}
  f: {switchyard: random, to: {a: small, b: large}, options: {weights: [1, 2]}, timeout: 1s}
gateway: {override: [k], max_body: 8MB, require_keys: true, baseline: large}
"""


@pytest.mark.parametrize("text", [SAMPLE, FORMS, UGLY["carriage returns"]])
def test_what_the_reader_accepts_fits_the_schema(text: str) -> None:
    parse_policy(text)
    assert fits(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("balance: least_busy", "balance: best"),
        ("max_running: 16", "max_runing: 16"),
        ("port: 8000", "port: 80000"),
        ("{tools: true}", "{tool: true}"),
        ('"> 16000"', "16000"),
        ("    else: ask\n", ""),
        ("sticky: conversation", "sticky: sometimes"),
        ("kind: embedded", "kind: magic"),
        ("version: 1", "version: 2"),
        ("safe: 80", "safe: many"),
        ("timeout: 400ms", "timeout: soon"),
    ],
)
def test_what_the_reader_refuses_in_form_the_schema_refuses_too(old: str, new: str) -> None:
    text = SAMPLE.replace(old, new, 1)
    assert text != SAMPLE
    with pytest.raises(PolicyErrors):
        parse_policy(text)
    assert not fits(text)


def test_every_key_has_a_place_in_the_data() -> None:
    """A key that is declared but that no dataclass takes would be a promise that nothing keeps."""
    for table, kind in (
        (fields.POOL, model.Pool),
        (fields.REPLICA, model.Replica),
        (fields.DEADLINES, model.Deadlines),
        (fields.HEALTH, model.Health),
        (fields.PRICE, model.Price),
        (fields.GATEWAY, model.GatewayOptions),
    ):
        known = set(kind.__dataclass_fields__)  # type: ignore[attr-defined]
        assert {field.target for field in table} <= known
        assert known - {field.target for field in table} <= {"name"}
    for kind_name, table in fields.STEP_KINDS.items():
        assert table[0].key == kind_name
        assert all(field.doc.endswith((".", ".)")) for field in table)


_OLD_POOLS = POOLS.replace("    model: s\n", "    model: s\n    max_queue: 8   # waits\n")
OLD = f"""\
# my first policy
models: {{auto: start}}   # all
{_OLD_POOLS}steps:
  start:
    when: [{{if: {{tools: true}}, to: large}}]
    default: next   # nothing fits
  next: {{fallback: [mix, small]}}
  mix:
    weights: {{large: 1, small: 1}}
"""


def test_a_file_without_a_version_is_upgraded_in_its_own_words() -> None:
    with pytest.raises(PolicyErrors):
        parse_policy(OLD)
    found = upgrade(OLD)
    policy = parse_policy(found.text)
    assert policy.pools["small"].max_waiting == 8
    assert set(policy.steps) == {"start", "next", "mix"}
    assert len(found.notes) == 5
    expected = OLD.replace("max_queue", "max_waiting").replace("default:", "else:").replace("fallback", "try")
    assert found.text == expected.replace("weights", "split").replace("models:", "version: 1\nmodels:", 1)


def test_a_file_of_today_is_left_alone() -> None:
    assert upgrade(SAMPLE).text == SAMPLE
    assert upgrade(SAMPLE).notes == ()
    assert version_of(SAMPLE) == 1
    assert version_of("models: {a: b}") == 0


def test_an_old_version_number_is_replaced() -> None:
    assert upgrade("{version: 0, models: {}}").text == "{version: 1, models: {}}"
    assert upgrade("{models: {}}").text == "{models: {}, version: 1}"
