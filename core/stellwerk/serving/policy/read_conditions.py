"""The `if:` of a branch."""

from __future__ import annotations

import re
from typing import Literal, cast

from stellwerk.serving.policy.fields import CONDITIONS
from stellwerk.serving.policy.model import (
    All,
    AnyOf,
    Compare,
    Condition,
    Flag,
    Header,
    Load,
    Matches,
    Not,
    OneOf,
    Operator,
)
from stellwerk.serving.policy.reader import Reader, depth_guard, nearest
from stellwerk.serving.policy.runaway import runs_away
from stellwerk.serving.policy.search import WINDOW, window_of
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, tag_of

_COMPARISON = re.compile(r"(<=|>=|==|!=|<|>|=)?\s*(\d[\d_]*(?:\.\d+)?)\s*([kKM]?)\s*(%?)")
_LEAST_WINDOW = 16  # characters; what can be searched for in fewer is no help to anybody
_SIMPLER = "Take out look-arounds of several letters, atomic groups, back-references, or repetitions of a thousand."
_SCALES = {"": 1.0, "k": 1000.0, "K": 1000.0, "M": 1_000_000.0}


def read_condition(reader: Reader, node: Node, pools: dict[str, Node], depth: int = 0) -> Condition | None:
    """All keys of one mapping together. None when nothing usable is in it (the problems say why)."""
    if not depth_guard(depth, reader, node):
        return None
    parts: list[Condition] = []
    for key, value in reader.pairs(node, "A condition", "{tools: true}"):
        if key.value not in CONDITIONS:
            reader.error(key, f"Unknown condition `{key.value}`.", nearest(key.value, CONDITIONS))
            continue
        parts += _one(reader, key, value, pools, depth)
    if isinstance(node, MappingNode) and not node.value:
        reader.error(node, "This condition is empty.", "Put one in, as in `{tools: true}`.")
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else All(tuple(parts))


def _one(reader: Reader, key: ScalarNode, value: Node, pools: dict[str, Node], depth: int) -> list[Condition]:
    kind = key.value
    match kind:
        case "tools" | "images" | "json" | "stream":
            flag = reader.flag(value, f"`{kind}`")
            return [] if flag is None else [Flag(cast(Literal["tools", "images", "json", "stream"], kind), flag)]
        case "prompt_tokens" | "max_tokens" | "turns":
            found = _comparison(reader, value, kind, percent=False)
            number_kind = cast(Literal["prompt_tokens", "max_tokens", "turns"], kind)
            return [] if found is None else [Compare(number_kind, *found)]
        case "model" | "language" | "api_key" | "user":
            patterns = reader.texts(value, f"`{kind}`")
            return (
                []
                if patterns is None
                else [OneOf(cast(Literal["model", "language", "api_key", "user"], kind), patterns)]
            )
        case "matches":
            return _regex(reader, value)
        case "header":
            return _headers(reader, value)
        case "load":
            return _loads(reader, value, pools)
        case "not":
            inner = read_condition(reader, value, pools, depth + 1)
            return [] if inner is None else [Not(inner)]
    entries = reader.items(value, f"`{kind}`", f"{kind}: [{{tools: true}}, {{images: true}}]")
    inners = [read_condition(reader, entry, pools, depth + 1) for entry in entries]
    usable = tuple(inner for inner in inners if inner is not None)
    if not entries:
        reader.error(value, f"`{kind}` has no conditions in it.", "Put at least one in.")
    if not usable:
        return []
    return [All(usable) if kind == "all" else AnyOf(usable)]


def _comparison(reader: Reader, node: Node, what: str, *, percent: bool) -> tuple[Operator, float] | None:
    text = node.value.strip() if isinstance(node, ScalarNode) else ""
    found = _COMPARISON.fullmatch(text)
    example = "> 80%" if percent else "> 16000"
    if found is None or (found[4] and not percent):
        reader.error(node, f"`{what}` must compare with a number.", f'Write it in quotes, like `"{example}"`.')
        return None
    if found[1] is None:
        reader.error(node, f"`{what}` does not say more or less than.", f'Write it in quotes, like `"> {text}"`.')
        return None
    sign = cast(Operator, "==" if found[1] == "=" else found[1])
    number = float(found[2].replace("_", "")) * _SCALES[found[3]]
    return sign, number / 100 if found[4] else number


def _regex(reader: Reader, node: Node) -> list[Condition]:
    pattern = reader.text(node, "`matches`")
    if pattern is None:
        return []
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        reader.error(node, f"This is no regular expression: {error}.", "Single quotes keep backslashes as they are.")
        return []
    if runs_away(pattern):
        reader.error(
            node,
            "This regular expression repeats a part that can match the same text in several ways; some prompts would "
            "take it for ever.",
            "Take one of two nested repetitions out, or let the alternatives begin with different letters.",
        )
        return []
    window = window_of(pattern)
    if window < _LEAST_WINDOW:
        reader.error(node, "This regular expression may take some prompts very long.", _SIMPLER)
        return []
    if window < WINDOW:
        what = f"This regular expression may take long, so only the first {window} characters of a turn are searched."
        reader.warning(node, what, _SIMPLER)
    return [Matches(pattern)]


def _headers(reader: Reader, node: Node) -> list[Condition]:
    found: list[Condition] = []
    for key, value in reader.pairs(node, "`header`", "header: {x-tier: premium}"):
        if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+", key.value):
            reader.error(key, f"{key.value!r} cannot be the name of a header.", "Use letters, digits and `-`.")
        elif isinstance(value, ScalarNode) and tag_of(value) == "bool" and value.value.lower() == "true":
            found.append(Header(key.value.lower(), None))
        else:
            pattern = reader.text(value, f"The value of `{key.value}`")
            if pattern is not None:
                found.append(Header(key.value.lower(), pattern))
    return found


def _loads(reader: Reader, node: Node, pools: dict[str, Node]) -> list[Condition]:
    found: list[Condition] = []
    for key, value in reader.pairs(node, "`load`", 'load: {large: "> 80%"}'):
        if key.value not in pools:
            reader.error(key, f"There is no pool `{key.value}`.", nearest(key.value, pools))
            continue
        compared = _comparison(reader, value, "load", percent=True)
        if compared is not None:
            found.append(Load(key.value, *compared))
    return found
