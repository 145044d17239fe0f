"""What a hand does on the canvas, as one patch of the text each: connect, add, rename, delete with all wires."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.serving.policy.edit import EditError, Path, find, insert_item, insert_key, remove, rename_key, set_value
from stellwerk.serving.policy.patch import Patch, patch_of
from stellwerk.serving.policy.picture import Card, Output, picture
from stellwerk.serving.policy.source import MappingNode, Node, ScalarNode, SequenceNode, compose, tag_of
from stellwerk.serving.policy.yamltext import Value


def connect(text: str, output: Output, target: str | None) -> Patch:
    """Lead a wire to a step or pool; None takes it away. An arm of a split keeps its weight."""
    if output.path[-2:-1] == ("split",):
        return remove(text, output.path) if target is None else rename_key(text, output.path, target)
    if output.path[-2:-1] == ("try",) and target is None:
        return remove(text, output.path)
    return set_value(text, output.path, target)


def add_output(text: str, card: Card, target: str, *, label: str | None = None, weight: float = 1) -> Patch:
    """One more wire out of a card: a branch before `else`, an arm, an entry, or a label (which needs its name)."""
    match card.kind:
        case "when":
            at = sum(1 for output in card.outputs if output.path[-1] == "to")
            return insert_item(text, (*card.path, "when", at), {"if": {"tools": True}, "to": target})
        case "split":
            return insert_key(text, (*card.path, "split", target), int(weight) if weight == int(weight) else weight)
        case "try":
            return insert_item(text, (*card.path, "try", len(card.outputs)), target)
        case "classify" | "switchyard" if label:
            return insert_key(text, (*card.path, "to", label), target)
    raise EditError(f"A card of kind {card.kind} takes no further wire.")


def new_step(kind: str, target: str, other: str | None = None, *, classifier: str = "difficulty") -> dict[str, Value]:
    """What a new step of a kind looks like, its wires leading to `target` (and `other`)."""
    other = other or target
    match kind:
        case "when":
            return {"when": [{"if": {"tools": True}, "to": other}], "else": target}
        case "classify":
            return {"classify": classifier, "to": {"simple": target, "complex": other}, "share": {"simple": "70%"}}
        case "split":
            return {"split": {target: 1} if other == target else {target: 80, other: 20}, "sticky": "conversation"}
        case "try":
            return {"try": [target] if other == target else [target, other]}
        case "switchyard":
            return {"switchyard": "stage_router", "to": {"efficient": target, "capable": other}}
    raise EditError(f"There is no kind of step called {kind}.")


def add_card(text: str, section: str, name: str, value: Value) -> Patch:
    """A new card at the end of its section; the section is made when it is not there."""
    taken = {card.name for card in picture(text).cards if card.kind != "model"}
    if section in ("steps", "pools") and name in taken:
        raise EditError(f"`{name}` is there already. Choose another name.")
    root = compose(text)
    if any(key.value == section for key, _ in root.value if isinstance(key, ScalarNode)):
        return insert_key(text, (section, name), value)
    return insert_key(text, (section,), {name: value})


def rename_card(text: str, section: str, old: str, new: str) -> Patch:
    """Give a card another name, and with it every place that names it."""
    taken = {card.name for card in picture(text).cards if card.kind != "model"}
    if section in ("steps", "pools") and new in taken:
        raise EditError(f"`{new}` is there already. Choose another name.")
    patches = [rename_key(text, (section, old), new)]
    for path, as_key in references(text, section, old):
        patches.append(rename_key(text, path, new) if as_key else set_value(text, path, new))
    return _together(patches)


def delete_card(text: str, section: str, name: str) -> Patch:
    """Take out a card with all wires to it. Arms and entries go; outcomes that must be stay, without a wire."""
    find(text, (section, name))
    patches = [remove(text, (section, name))]
    if section in ("steps", "pools"):
        for card, output in picture(text).into(name):
            if card.key != (section, name):
                patches.append(connect(text, output, None))
    return _together(patches)


def references(text: str, section: str, name: str) -> Iterator[tuple[Path, bool]]:
    """Every place that names a card: (path, is it a key there)."""
    root = compose(text)
    if section in ("steps", "pools"):
        for _, output in picture(text).into(name):
            yield output.path, output.path[-2:-1] == ("split",)
    if section == "pools":
        yield from ((path, as_key) for path, as_key in _pool_words(root, ()) if str(_named(root, path, as_key)) == name)
    if section == "classifiers":
        for card in picture(text).cards:
            if card.kind == "classify" and _named(root, (*card.path, "classify"), False) == name:
                yield (*card.path, "classify"), False


def _pool_words(node: Node, path: Path) -> Iterator[tuple[Path, bool]]:
    """Places that name pools beside wires: `load` conditions, judges, the baseline."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if not isinstance(key, ScalarNode) or key.value == "<<":
                continue
            here: Path = (*path, key.value)
            if key.value == "load" and path[:1] == ("steps",) and isinstance(value, MappingNode):
                yield from (((*here, pool.value), True) for pool, _ in value.value if isinstance(pool, ScalarNode))
            elif (len(here) == 3 and here[0] == "classifiers" and here[2] == "pool") or here == ("gateway", "baseline"):
                yield here, False
            elif len(path) < 20:
                yield from _pool_words(value, here)
    elif isinstance(node, SequenceNode) and len(path) < 20:
        for number, item in enumerate(node.value):
            yield from _pool_words(item, (*path, number))


def _named(root: Node, path: Path, as_key: bool) -> str | None:
    if as_key:
        return str(path[-1])
    node: Node | None = root
    for step in path:
        if isinstance(node, MappingNode):
            node = next((value for key, value in node.value if key.value == step), None)
        elif isinstance(node, SequenceNode) and isinstance(step, int):
            node = node.value[step]
    return str(node.value) if isinstance(node, ScalarNode) and tag_of(node) != "null" else None


def _together(patches: list[Patch]) -> Patch:
    """Patches of the same text that touch different places, as one."""
    try:
        return patch_of(*(change for patch in patches for change in patch.changes))
    except ValueError as error:
        raise EditError("These places overlap in the text. Change them one after the other.") from error
