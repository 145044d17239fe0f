"""One reader per kind of step. They check the form; whether targets exist is checked over the whole graph later."""

from __future__ import annotations

from typing import cast

from stellwerk.serving.policy import fields
from stellwerk.serving.policy.model import Branch, Classify, Condition, Split, Step, Sticky, SwitchyardStep, Try, When
from stellwerk.serving.policy.read_conditions import read_condition
from stellwerk.serving.policy.reader import Reader, nearest, parse_fraction
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, tag_of

Wires = list[tuple[str, Node]]  # target and the node that names it, in the order of the file


def read_step(reader: Reader, name: str, node: Node, pools: dict[str, Node]) -> tuple[Step | None, Wires]:
    """A step and its wires. The step is None when it cannot be built; its wires still count for reachability."""
    if not isinstance(node, MappingNode):
        reader.error(node, "A step must be a mapping.", "Write it like `{try: [large, small]}`.")
        return None, []
    keys = [key for key, _ in reader.pairs(node, "A step", "{try: [large, small]}")]
    kinds = [key for key in keys if key.value in fields.STEP_KINDS]
    if len(kinds) != 1:
        if kinds:
            reader.error(
                kinds[1], f"A step cannot be `{kinds[0].value}` and `{kinds[1].value}` at once.", "Make it two."
            )
        else:
            guess = nearest(keys[0].value, fields.STEP_KINDS) if keys else nearest("", fields.STEP_KINDS)
            reader.error(keys[0] if keys else node, "This step has no kind.", guess)
        return None, []
    kind = kinds[0].value
    # pairs() has told of duplicates already; section() would tell again.
    before = len(reader.problems)
    values = reader.section(node, fields.STEP_KINDS[kind], f"a `{kind}` step")
    reader.problems[before:] = [p for p in reader.problems[before:] if "is there twice" not in p.what]
    match kind:
        case "when":
            return _when(reader, name, values, pools)
        case "classify":
            return _classify(reader, name, values)
        case "split":
            return _split(reader, name, values)
        case "try":
            return _try(reader, name, values)
    return _switchyard(reader, name, values)


def _target(reader: Reader, node: Node | None, wires: Wires, what: str) -> str | None:
    if node is None:
        return None
    target = reader.text(node, what)
    if target is not None:
        wires.append((target, node))
    return target


def _when(reader: Reader, name: str, values: dict[str, Node], pools: dict[str, Node]) -> tuple[Step | None, Wires]:
    wires: Wires = []
    branches: list[Branch | None] = []
    if "when" in values:
        entries = reader.items(values["when"], "`when`", "when: [{if: {tools: true}, to: large}]")
        for entry in entries:
            parts = reader.section(entry, fields.BRANCH, "a branch")
            condition: Condition | None = None
            if "if" in parts:
                condition = read_condition(reader, parts["if"], pools)
            target = _target(reader, parts.get("to"), wires, "`to`")
            branches.append(Branch(condition, target) if condition is not None and target is not None else None)
        if not entries and isinstance(values["when"], SequenceNode):
            reader.error(
                values["when"], "`when` has no branches.", "Put one in, as in `{if: {tools: true}, to: large}`."
            )
    otherwise = _target(reader, values.get("else"), wires, "`else`")
    good = tuple(branch for branch in branches if branch is not None)
    if otherwise is None or not good or len(good) < len(branches):
        return None, wires
    return When(name, good, otherwise), wires


def _labels(reader: Reader, node: Node | None, wires: Wires, least: int) -> tuple[tuple[str, str], ...] | None:
    """Label -> target of a `to`."""
    if node is None:
        return None
    labels: list[tuple[str, str]] = []
    pairs = reader.pairs(node, "`to`", "to: {simple: small, complex: large}")
    for key, value in pairs:
        reader.name(key, "label")
        target = _target(reader, value, wires, f"The target of `{key.value}`")
        if target is not None:
            labels.append((key.value, target))
    if isinstance(node, MappingNode) and len(pairs) < least:
        reader.error(node, f"`to` has {len(pairs)} labels.", f"It needs at least {least}, easiest first.")
        return None
    return tuple(labels) if labels and len(labels) == len(pairs) else None


def _classify(reader: Reader, name: str, values: dict[str, Node]) -> tuple[Step | None, Wires]:
    wires: Wires = []
    classifier = reader.text(values["classify"], "`classify`") if "classify" in values else None
    to = _labels(reader, values.get("to"), wires, 2)
    thresholds: tuple[float, ...] | None = None
    shares: tuple[tuple[str, float], ...] | None = None
    if "threshold" in values and "share" in values:
        reader.error(values["share"], "`share` and `threshold` exclude each other.", "Keep one of them.")
    elif to is not None and "threshold" in values:
        thresholds = _thresholds(reader, values["threshold"], len(to))
    elif to is not None and "share" in values:
        shares = _shares(reader, values["share"], [label for label, _ in to])
    if classifier is None or to is None:
        return None, wires
    return Classify(name, classifier, to, thresholds, shares), wires


def _thresholds(reader: Reader, node: Node, labels: int) -> tuple[float, ...] | None:
    entries = list(node.value) if isinstance(node, SequenceNode) else [node]
    cuts: list[float] = []
    for entry in entries:
        number = parse_fraction(entry.value) if isinstance(entry, ScalarNode) else None
        if number is None or tag_of(entry) == "bool":
            reader.error(entry, "`threshold` must be a number.", "Write one from 0 to 1, like `0.6`.")
            return None
        if not 0 <= number <= 1:
            reader.error(entry, f"`threshold` is {number:g}.", "It must lie in 0 to 1.")
            return None
        cuts.append(number)
    if len(cuts) != labels - 1:
        need = f"`to` has {labels} labels, so it needs {labels - 1}"
        reader.error(node, f"`threshold` has {len(cuts)} numbers.", f"{need}.")
        return None
    if cuts != sorted(cuts):
        reader.error(node, "The thresholds do not ascend.", "Put the smallest first.")
        return None
    return tuple(cuts)


def _shares(reader: Reader, node: Node, labels: list[str]) -> tuple[tuple[str, float], ...] | None:
    given: dict[str, float] = {}
    for key, value in reader.pairs(node, "`share`", "share: {simple: 70%}"):
        if key.value not in labels:
            reader.error(key, f"`share` names the label `{key.value}`, which `to` has not.", nearest(key.value, labels))
            return None
        number = parse_fraction(value.value) if isinstance(value, ScalarNode) else None
        if number is None or not 0 <= number <= 1:
            reader.error(value, f"The share of `{key.value}` is no share.", "Write it like `70%` or `0.7`.")
            return None
        given[key.value] = number
    if not given:
        if isinstance(node, MappingNode):
            reader.error(node, "`share` is empty.", "Name at least one label, as in `{simple: 70%}`.")
        return None
    total = sum(given.values())
    open_labels = [label for label in labels if label not in given]
    if total > 1.0005 or (not open_labels and total < 0.9995):
        reader.error(node, f"The shares sum to {total * 100:g} %.", "They must sum to 100 %, or leave one label out.")
        return None
    rest = round(max(0.0, 1 - total) / len(open_labels), 12) if open_labels else 0.0
    return tuple((label, given.get(label, rest)) for label in labels)


def _split(reader: Reader, name: str, values: dict[str, Node]) -> tuple[Step | None, Wires]:
    wires: Wires = []
    arms: list[tuple[str, float]] = []
    node = values.get("split")
    pairs = reader.pairs(node, "`split`", "split: {large: 80, small: 20}") if node is not None else []
    for key, value in pairs:
        wires.append((key.value, key))
        weight = parse_fraction(value.value) if isinstance(value, ScalarNode) and tag_of(value) != "bool" else None
        if weight is None:
            reader.error(value, f"The weight of `{key.value}` is not a number.", "Write one like `80`.")
        elif weight < 0:
            reader.error(value, f"The weight of `{key.value}` is {weight:g}.", "It must be 0 or more.")
        else:
            arms.append((key.value, weight))
    if isinstance(node, MappingNode):
        if not pairs:
            reader.error(node, "`split` has no arms.", "Name targets and weights, as in `{large: 80, small: 20}`.")
        elif len(arms) == len(pairs) and sum(weight for _, weight in arms) <= 0:
            reader.error(node, "The weights sum to 0, so no request has a way.", "Give one of them a weight above 0.")
            arms = []
    sticky = reader.choice(values["sticky"], fields.SPLIT[1]) if "sticky" in values else "none"
    if not arms or len(arms) < len(pairs) or sticky is None:
        return None, wires
    return Split(name, tuple(arms), cast(Sticky, sticky)), wires


def _try(reader: Reader, name: str, values: dict[str, Node]) -> tuple[Step | None, Wires]:
    wires: Wires = []
    if "try" not in values:
        return None, wires
    entries = reader.items(values["try"], "`try`", "try: [large, small]")
    targets = [_target(reader, entry, wires, "An entry of `try`") for entry in entries]
    seen: set[str] = set()
    for target, node in wires:
        if target in seen:
            reader.error(node, f"`{target}` is there twice.", "Each target is tried once; take one out.")
        seen.add(target)
    if isinstance(values["try"], SequenceNode) and not entries:
        reader.error(values["try"], "`try` has no entries.", "Name targets in order, as in `[large, small]`.")
    good = tuple(target for target in targets if target is not None)
    return (Try(name, good) if good and len(good) == len(entries) else None), wires


def _switchyard(reader: Reader, name: str, values: dict[str, Node]) -> tuple[Step | None, Wires]:
    wires: Wires = []
    algorithm = reader.choice(values["switchyard"], fields.SWITCHYARD[0]) if "switchyard" in values else None
    to = _labels(reader, values.get("to"), wires, 1)
    arguments = reader.plain(values, fields.SWITCHYARD[3:])
    options: dict[str, object] = {}
    if "options" in values:
        for key, value in reader.pairs(values["options"], "`options`", "options: {seed: 7}"):
            options[key.value] = _plain_value(reader, value)
    on_error = cast("str | None", arguments.get("on_error"))
    if to is not None and on_error is not None and on_error not in dict(to):
        reader.error(
            values["on_error"], f"`on_error` names no label of `to`: `{on_error}`.", nearest(on_error, dict(to))
        )
        return None, wires
    if algorithm == "stage_router" and to is not None and {label for label, _ in to} != {"efficient", "capable"}:
        hint = "Write `to: {efficient: …, capable: …}`."
        reader.error(values["to"], "`stage_router` chooses between `efficient` and `capable`.", hint)
        return None, wires
    if algorithm is None or to is None:
        return None, wires
    timeout_s = cast(float, arguments.get("timeout_s", 1.0))
    return SwitchyardStep(name, algorithm, to, tuple(options.items()), on_error, timeout_s), wires


def _plain_value(reader: Reader, node: Node, depth: int = 0) -> object:
    """A YAML node as plain data, for options that are passed on."""
    if depth > 8:
        reader.error(node, "Options are nested too deeply.", "Algorithms take plain values and lists.")
        return None
    if isinstance(node, SequenceNode):
        return tuple(_plain_value(reader, item, depth + 1) for item in node.value)
    if isinstance(node, MappingNode):
        pairs = reader.pairs(node, "An option", "{name: value}")
        return {key.value: _plain_value(reader, value, depth + 1) for key, value in pairs}
    match tag_of(node):
        case "null":
            return None
        case "bool":
            return node.value.lower() == "true"
        case "int" | "float":
            number = parse_fraction(node.value)
            if number is not None:
                return int(number) if tag_of(node) == "int" else number
    return str(node.value)
