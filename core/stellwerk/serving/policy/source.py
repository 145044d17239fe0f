"""YAML text -> nodes with places. Nothing here knows what a policy is."""

from __future__ import annotations

from typing import TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from stellwerk.serving.policy.errors import PolicyErrors, Problem

MAX_BYTES = 1_000_000  # a policy is written by a person; more than this is a mistake or an attack
MAX_DEPTH = 40
MAX_REPEATED = 100_000  # nodes that aliases add to those that are written

YamlNode: TypeAlias = Node
__all__ = ["MappingNode", "Node", "ScalarNode", "SequenceNode", "YamlNode", "compose", "tag_of"]


def compose(text: str) -> MappingNode:
    """The root mapping of a policy text. Raises PolicyErrors for what is no YAML, or no mapping."""
    if len(text) > MAX_BYTES:
        raise _error(
            1, 1, f"The file is larger than {MAX_BYTES} characters.", "A policy is a short file; is it another?"
        )
    _refuse_depth(text)
    try:
        # The pure loader: the C one gives no positions in characters, and edits need them. Not the round-trip one: it
        # attaches comments to nodes and gives up on some that lie close together.
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _from_yaml(error) from error
    except (YAMLError, ValueError) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        line, column = _place_of(text, getattr(error, "character", None))
        hint = "Remove the character, or save the file as UTF-8."
        raise _error(line, column, f"This is not YAML: {first}.", hint) from error
    if root is None:
        raise _error(1, 1, "The file is empty.", "Begin with `version: 1`, then `models:` and `pools:`.")
    if not isinstance(root, MappingNode):
        raise _error(
            root.start_mark.line + 1, root.start_mark.column + 1, "A policy is a mapping.", "Begin with `version: 1`."
        )
    _refuse_blown_up(root)
    _refuse_tags(root)
    return root


def _refuse_blown_up(root: Node) -> None:
    """Aliases of aliases make a short text endless to read: count what they add before anything walks through it."""
    sizes: dict[int, int] = {}  # by identity: an alias is the very node of its anchor
    open_nodes: set[int] = set()
    todo = [root]
    while todo:
        node = todo[-1]
        key = id(node)
        if key in sizes:
            todo.pop()
            continue
        inside = _children(node)
        missing = [child for child in inside if id(child) not in sizes]
        if not missing:
            sizes[key] = 1 + sum(sizes[id(child)] for child in inside)
            open_nodes.discard(key)
            todo.pop()
            continue
        open_nodes.add(key)
        for child in missing:
            if id(child) in open_nodes:
                mark = child.start_mark
                raise _error(
                    mark.line + 1, mark.column + 1, f"The anchor `{child.anchor}` contains an alias of itself.",
                    "Write out what is meant there.",
                )  # fmt: skip
        todo += missing
    if sizes[id(root)] > len(sizes) + MAX_REPEATED:
        raise _error(1, 1, "Aliases repeat so much that nobody could read the whole file.", "Use fewer aliases.")


# What a plain value can be read as; a date is a text to everybody who asks.
_KINDS = {"str", "int", "float", "bool", "null", "timestamp", "merge", "value"}


def _refuse_tags(root: Node) -> None:
    """`!!int "3"` says what YAML knows of itself. Other tags ask a program to make or fetch something: nobody does."""
    todo, seen = [root], {id(root)}
    while todo:
        node = todo.pop()
        kind = tag_of(node)
        fits = kind == "map" if isinstance(node, MappingNode) else kind == "seq"
        if kind not in _KINDS if isinstance(node, ScalarNode) else not fits:
            mark = node.start_mark
            tag = str(node.tag)
            written = tag.replace("tag:yaml.org,2002:", "!!") if ":" in tag and tag[:1] != "!" else tag
            if written == tag and not tag.startswith("!"):
                written = f"!<{tag}>"
            raise _error(
                mark.line + 1, mark.column + 1, f"`{written}` is a YAML tag, and a policy has no use for it.",
                "Write the value itself; what is there already can be repeated with an anchor (`&name`, `*name`).",
            )  # fmt: skip
        for child in _children(node):
            if id(child) not in seen:
                seen.add(id(child))
                todo.append(child)


def _children(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def tag_of(node: Node) -> str:
    """The resolved tag without its prefix: str, int, float, bool, null, map, seq; other tags whole."""
    return str(node.tag or "").removeprefix("tag:yaml.org,2002:")


def _place_of(text: str, code: object) -> tuple[int, int]:
    """Line and column of the first character with this code; the start where there is none."""
    at = text.find(chr(code)) if isinstance(code, int) else -1
    return (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) if at >= 0 else (1, 1)


def _error(line: int, column: int, what: str, remedy: str) -> PolicyErrors:
    return PolicyErrors((Problem(line, column, what, remedy),))


def _from_yaml(error: MarkedYAMLError) -> PolicyErrors:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
    problem = str(error.problem or error.context or "it cannot be read")
    if "\\t" in problem:
        return _error(line, column, "A tab stands where YAML wants spaces.", "Indent with spaces.")
    if "another document" in problem:
        return _error(line, column, "A second document begins here (`---`).", "Keep one policy per file.")
    if "undefined alias" in problem:
        return _error(
            line, column, f"YAML: {problem}.", "Define it with `&` above, or quote a text that begins with `*`."
        )
    return _error(line, column, f"YAML: {problem}.", "Check the indentation, brackets and quotes around this place.")


def _refuse_depth(text: str) -> None:
    """Deep nesting would overflow the composer's stack: count brackets and indentation before it starts."""
    depth = line = 0
    for line, row in enumerate(text.splitlines(), 1):
        indent = len(row) - len(row.lstrip(" -?"))
        depth = max(0, depth + row.count("[") + row.count("{") - row.count("]") - row.count("}"))
        if indent > 20 * MAX_DEPTH or depth > 10 * MAX_DEPTH or row.count("[") + row.count("{") > 500:
            raise _error(line, 1, "The file is nested too deeply.", f"A policy needs at most {MAX_DEPTH} levels.")
