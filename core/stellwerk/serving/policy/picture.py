"""A policy text as cards and wires: what the canvas draws. Works on files that are not valid, too: a person is at it.

Every model name, step and pool is one card, every target one wire. A wire knows the place in the text that says where
it leads, so drawing and text stay the same thing: `card_edits` changes exactly those places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from stellwerk.serving.policy.conditions import describe
from stellwerk.serving.policy.edit import Path
from stellwerk.serving.policy.errors import PolicyErrors, Problem
from stellwerk.serving.policy.fields import STEP_KINDS
from stellwerk.serving.policy.load import parse_policy
from stellwerk.serving.policy.model import Mark
from stellwerk.serving.policy.read_conditions import read_condition
from stellwerk.serving.policy.reader import Reader
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, compose, tag_of

CardKind = Literal["model", "when", "classify", "split", "try", "switchyard", "pool", "unknown"]


@dataclass(frozen=True, slots=True)
class Output:
    """One outcome of a card. `target` None: no wire yet. `path`: the place in the text that names the target; for an
    arm of a split the target is the last part of the path itself."""

    label: str
    target: str | None
    path: Path


@dataclass(frozen=True, slots=True)
class Card:
    """`name` is unique among steps and pools together; models are a world of their own."""

    kind: CardKind
    name: str
    path: Path
    mark: Mark
    line: str  # one line of what it does
    outputs: tuple[Output, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """(section, name): unique among all cards."""
        return str(self.path[0]), self.name


@dataclass(frozen=True, slots=True)
class Picture:
    """All cards in the order of the file, and everything that is wrong. No cards: the text is not readable as YAML."""

    cards: tuple[Card, ...]
    problems: tuple[Problem, ...]

    def card(self, section: str, name: str) -> Card | None:
        return next((card for card in self.cards if card.key == (section, name)), None)

    def into(self, name: str) -> tuple[tuple[Card, Output], ...]:
        """All wires that lead to a step or pool."""
        return tuple((card, output) for card in self.cards for output in card.outputs if output.target == name)


def picture(text: str) -> Picture:
    """Never raises: what cannot be understood is among the problems."""
    problems: tuple[Problem, ...] = ()
    try:
        parse_policy(text)
    except PolicyErrors as errors:
        problems = errors.problems
    try:
        root = compose(text)
    except (PolicyErrors, RecursionError):
        return Picture((), problems)
    sections = _mapping(root)
    cards = [*_models(sections.get("models")), *_steps(sections.get("steps")), *_pools(sections.get("pools"))]
    return Picture(tuple(cards), problems)


def _mapping(node: Node | None) -> dict[str, Node]:
    """The first value of every plain key."""
    found: dict[str, Node] = {}
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if isinstance(key, ScalarNode):
                found.setdefault(key.value, value)
    return found


def _keys(node: Node | None) -> list[tuple[ScalarNode, Node]]:
    if not isinstance(node, MappingNode):
        return []
    return [(key, value) for key, value in node.value if isinstance(key, ScalarNode) and key.value != "<<"]


def _word(node: Node | None) -> str | None:
    if isinstance(node, ScalarNode) and tag_of(node) != "null" and node.value:
        return str(node.value)
    return None


def _mark(node: Node) -> Mark:
    return Mark(node.start_mark.line + 1, node.start_mark.column + 1)


def _models(node: Node | None) -> list[Card]:
    cards: list[Card] = []
    for key, value in _keys(node):
        path: Path = ("models", key.value)
        output = Output("", _word(value), path)
        cards.append(Card("model", key.value, path, _mark(key), "requests for this model", (output,)))
    return cards


def _pools(node: Node | None) -> list[Card]:
    cards: list[Card] = []
    for key, value in _keys(node):
        parts = _mapping(value)
        replicas = parts.get("replicas")
        count = len(replicas.value) if isinstance(replicas, SequenceNode) else 0
        line = f"{_word(parts.get('model')) or 'no model'}, {count} replica{'s' * (count != 1)}"
        cards.append(Card("pool", key.value, ("pools", key.value), _mark(key), line))
    return cards


def _steps(node: Node | None) -> list[Card]:
    cards: list[Card] = []
    for key, value in _keys(node):
        path: Path = ("steps", key.value)
        parts = _mapping(value)
        kinds = [kind for kind in STEP_KINDS if kind in parts]
        if len(kinds) != 1:
            cards.append(Card("unknown", key.value, path, _mark(key), "this step has no kind"))
            continue
        kind = kinds[0]
        line, outputs = _READERS[kind](path, parts)
        cards.append(Card(kind, key.value, path, _mark(key), line, tuple(outputs)))  # type: ignore[arg-type]
    return cards


Found = tuple[str, list[Output]]


def _when(path: Path, parts: dict[str, Node]) -> Found:
    outputs: list[Output] = []
    branches = parts["when"]
    for number, branch in enumerate(branches.value if isinstance(branches, SequenceNode) else []):
        inner = _mapping(branch)
        outputs.append(Output(_condition(inner.get("if")), _word(inner.get("to")), (*path, "when", number, "to")))
    outputs.append(Output("else", _word(parts.get("else")), (*path, "else")))
    count = len(outputs) - 1
    return f"{count} condition{'s' * (count != 1)}, the first that holds decides", outputs


def _condition(node: Node | None) -> str:
    if node is None:
        return "no condition"
    # Pools are not checked here: a wrong one is among the problems of the whole file.
    condition = read_condition(Reader(), node, _AnyPool())
    return describe(condition) if condition is not None else "a condition with a mistake"


class _AnyPool(dict[str, Node]):
    def __contains__(self, key: object) -> bool:
        return True


def _labels(path: Path, parts: dict[str, Node]) -> list[Output]:
    return [Output(key.value, _word(value), (*path, "to", key.value)) for key, value in _keys(parts.get("to"))]


def _classify(path: Path, parts: dict[str, Node]) -> Found:
    line = f"asks {_word(parts['classify']) or 'nobody'}"
    shares = ", ".join(f"{_word(value)} {key.value}" for key, value in _keys(parts.get("share")))
    threshold = parts.get("threshold")
    if shares:
        line += f", {shares}"
    elif threshold is not None:
        cuts = (
            [_word(item) or "?" for item in threshold.value]
            if isinstance(threshold, SequenceNode)
            else [_word(threshold) or "?"]
        )
        line += f", cut at {' and '.join(cuts)}"
    return line, _labels(path, parts)


def _split(path: Path, parts: dict[str, Node]) -> Found:
    arms = _keys(parts["split"])
    outputs = [Output(_word(value) or "?", key.value, (*path, "split", key.value)) for key, value in arms]
    sticky = _word(parts.get("sticky")) or "none"
    return "by weight" + (f", a {sticky} stays" if sticky != "none" else ""), outputs


def _try(path: Path, parts: dict[str, Node]) -> Found:
    entries = parts["try"].value if isinstance(parts["try"], SequenceNode) else []
    outputs = [Output(f"{number + 1}.", _word(entry), (*path, "try", number)) for number, entry in enumerate(entries)]
    return "the first that can, in order", outputs


def _switchyard(path: Path, parts: dict[str, Node]) -> Found:
    return f"Switchyard's {_word(parts['switchyard']) or 'algorithm'}", _labels(path, parts)


_READERS = {"when": _when, "classify": _classify, "split": _split, "try": _try, "switchyard": _switchyard}
