"""JSON Schema of the policy file, for editors that complete and check YAML. Made from the same tables as the parser."""

from __future__ import annotations

from typing import Any

from stellwerk.serving.policy import fields
from stellwerk.serving.policy.fields import Field
from stellwerk.serving.policy.model import SCHEMA_VERSION

_DURATION = {
    "anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": r"^\s*(\d+(\.\d*)?|\.\d+)\s*(ms|s|m|min|h)?\s*$"},
    ]
}
_BYTES = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": r"^\d+(\.\d*)?\s*[kKMG]?i?[bB]?$"}]}
_TEXT = {"type": ["string", "number"]}
_TEXTS = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT, "minItems": 1}]}
_FRACTION = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": r"^\d+(\.\d*)?%?$"}]}
_COMPARE = {"type": "string", "pattern": r"^\s*(<=|>=|==|!=|<|>|=)\s*\d[\d_]*(\.\d+)?\s*[kKM]?\s*%?\s*$"}
# Letters of any language; JSON Schema's patterns cannot name them, so what is no ASCII passes here.
_NAME = {"pattern": "^[A-Za-z0-9_\u00aa-\uffff][A-Za-z0-9_.\u00aa-\uffff-]*$"}


def policy_schema() -> dict[str, Any]:
    """The schema (draft 2020-12). It knows the form of every key; what only the whole graph shows, `check` says."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stellwerk policy",
        "description": "Which model answers which request.",
        **_object(
            fields.TOP,
            {
                "version": {"const": SCHEMA_VERSION},
                "models": {"type": "object", "additionalProperties": _TEXT, "minProperties": 1},
                "pools": _cards({"$ref": "#/$defs/pool"}, 1),
                "classifiers": _cards({"$ref": "#/$defs/classifier"}),
                "steps": _cards({"$ref": "#/$defs/step"}),
                "gateway": _object(fields.GATEWAY, {"override": {"anyOf": [{"type": "boolean"}, _TEXTS]}}),
            },
        ),
        "$defs": {
            "pool": _object(
                fields.POOL,
                {
                    "replicas": {"type": "array", "items": {"$ref": "#/$defs/replica"}, "minItems": 1},
                    "deadlines": _object(fields.DEADLINES),
                    "health": _object(fields.HEALTH),
                    "price": _object(fields.PRICE),
                },
            ),
            "replica": {
                **_object(fields.REPLICA),
                "oneOf": [{"required": ["node", "port"]}, {"required": ["url"]}],
            },
            "classifier": {
                "oneOf": [
                    _object(fields.EMBEDDED, {"kind": {"const": "embedded"}}),
                    _object(fields.LLM, {"kind": {"const": "llm"}}),
                ]
            },
            "step": {"oneOf": [_step(kind) for kind in fields.STEP_KINDS]},
            "condition": _condition(),
            "labels": {"type": "object", "additionalProperties": _TEXT, "minProperties": 1},
        },
    }


def _object(table: tuple[Field, ...], special: dict[str, Any] | None = None) -> dict[str, Any]:
    special = special or {}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [field.key for field in table if field.required],
        "properties": {
            field.key: {"description": field.doc, **special.get(field.key, _of_kind(field))} for field in table
        },
    }


def _of_kind(field: Field) -> dict[str, Any]:
    match field.kind:
        case "text" | "name":
            return _TEXT
        case "texts":
            return _TEXTS
        case "flag":
            return {"type": "boolean"}
        case "choice":
            return {"enum": list(field.choices)}
        case "duration":
            return _DURATION
        case "bytes":
            return _BYTES
        case "path_or_none":
            return {"anyOf": [{"type": "string", "pattern": "^(/.*|none)$"}, {"type": "null"}]}
        case "integer" | "number":
            limits = {"minimum": field.least, "maximum": field.most}
            return {"type": field.kind, **{key: value for key, value in limits.items() if value is not None}}
    return {}


def _cards(card: dict[str, Any], least: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "object", "propertyNames": _NAME, "additionalProperties": card}
    return {**found, "minProperties": least} if least else {**found, "type": ["object", "null"]}


def _step(kind: str) -> dict[str, Any]:
    labels = {"$ref": "#/$defs/labels"}
    branch = _object(fields.BRANCH, {"if": {"$ref": "#/$defs/condition"}})
    special: dict[str, Any] = {
        "when": {"type": "array", "items": branch, "minItems": 1},
        "to": labels,
        "threshold": {"anyOf": [_FRACTION, {"type": "array", "items": _FRACTION}]},
        "share": {"type": "object", "additionalProperties": _FRACTION, "minProperties": 1},
        "split": {"type": "object", "additionalProperties": _FRACTION, "minProperties": 1},
        "try": {"type": "array", "items": _TEXT, "minItems": 1, "uniqueItems": True},
        "options": {"type": "object"},
    }
    return _object(fields.STEP_KINDS[kind], special)


def _condition() -> dict[str, Any]:
    several = {"type": "array", "items": {"$ref": "#/$defs/condition"}, "minItems": 1}
    forms: dict[str, Any] = {
        **{key: {"type": "boolean"} for key in ("tools", "images", "json", "stream")},
        **dict.fromkeys(("prompt_tokens", "max_tokens", "turns"), _COMPARE),
        **dict.fromkeys(("model", "language", "api_key", "user"), _TEXTS),
        "matches": {"type": "string", "format": "regex"},
        "header": {"type": "object", "additionalProperties": {"type": ["string", "number", "boolean"]}},
        "load": {"type": "object", "additionalProperties": _COMPARE},
        "all": several,
        "any": several,
        "not": {"$ref": "#/$defs/condition"},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "minProperties": 1,
        "properties": {key: {"description": doc, **forms[key]} for key, doc in fields.CONDITIONS.items()},
    }
