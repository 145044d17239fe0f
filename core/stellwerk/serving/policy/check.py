"""What must hold over the whole graph: targets exist, no cycle, every step can be reached."""

from __future__ import annotations

from stellwerk.serving.policy.read_steps import Wires
from stellwerk.serving.policy.reader import Reader, nearest
from stellwerk.serving.policy.source import Node, ScalarNode

MAX_WAY = 64  # steps one behind the other: the way stands in a header of every answer


def check_graph(
    reader: Reader,
    entries: dict[str, tuple[str, Node]],
    wires: dict[str, Wires],
    pools: dict[str, ScalarNode],
    steps: dict[str, ScalarNode],
) -> None:
    """Note every problem of the wiring. `entries`: model name -> (target, node); `wires`: step -> its wires."""
    known = [*steps, *pools]
    for model, (target, node) in entries.items():
        if target not in steps and target not in pools:
            reader.card = f"model {model}"
            reader.error(node, f"There is no step or pool `{target}`.", nearest(target, known))
    for name, outgoing in wires.items():
        reader.card = f"step {name}"
        for target, node in outgoing:
            if target not in steps and target not in pools:
                reader.error(node, f"There is no step or pool `{target}`.", nearest(target, known))
    before = len(reader.problems)
    _cycles(reader, wires)
    if len(reader.problems) == before:
        _long_ways(reader, entries, wires)
    _unreachable(reader, entries, wires, steps)
    reader.card = None


def _cycles(reader: Reader, wires: dict[str, Wires]) -> None:
    """Every wire that closes a circle, found by one depth-first search without recursion."""
    done: set[str] = set()
    for start in wires:
        if start in done:
            continue
        way: list[str] = [start]
        on_way = {start}
        stack = [iter(wires[start])]
        while stack:
            step = next(stack[-1], None)
            if step is None:
                stack.pop()
                on_way.discard(way[-1])
                done.add(way.pop())
                continue
            target, node = step
            if target in on_way:
                circle = [*way[way.index(target) :], target]
                reader.card = f"step {way[-1]}"
                hint = "Let one of these wires lead to a pool."
                reader.error(node, f"The steps go in a circle: {' -> '.join(circle)}.", hint)
            elif target in wires and target not in done:
                way.append(target)
                on_way.add(target)
                stack.append(iter(wires[target]))


def _long_ways(reader: Reader, entries: dict[str, tuple[str, Node]], wires: dict[str, Wires]) -> None:
    """Models from which more steps follow one another than a decision walks. The wires have no circle."""
    lengths: dict[str, int] = {}
    for model, (start, node) in entries.items():
        todo = [start]
        while todo:
            name = todo[-1]
            after = [target for target, _ in wires.get(name, ())]
            missing = [target for target in after if target not in lengths]
            if missing and name not in lengths:
                todo += missing
                continue
            todo.pop()
            lengths[name] = (name in wires) + max((lengths[target] for target in after), default=0)
        if lengths[start] > MAX_WAY:
            reader.card = f"model {model}"
            hint = f"A way may have {MAX_WAY} steps; put several conditions into one `when`."
            reader.error(node, f"{lengths[start]} steps follow one another from here.", hint)


def _unreachable(
    reader: Reader, entries: dict[str, tuple[str, Node]], wires: dict[str, Wires], steps: dict[str, ScalarNode]
) -> None:
    reached: set[str] = set()
    todo = [target for target, _ in entries.values()]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo.extend(target for target, _ in wires.get(name, ()))
    for name, key in steps.items():
        if name not in reached:
            reader.card = f"step {name}"
            hint = "Lead a wire or a model to it, or take it out."
            reader.error(key, f"No request can reach the step `{name}`.", hint)
