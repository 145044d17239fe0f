"""Policy -> CompiledPolicy: every step becomes one small function, targets are bound once."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from stellwerk.serving.classifier.types import Difficulty, DifficultyLoader
from stellwerk.serving.decision.walk import Node
from stellwerk.serving.policy import conditions, nodes
from stellwerk.serving.policy.compiled import CompiledPolicy, Needs
from stellwerk.serving.policy.model import (
    Classify,
    EmbeddedClassifier,
    LlmClassifier,
    Policy,
    Split,
    Step,
    SwitchyardStep,
    Try,
    When,
)


def targets_of(step: Step) -> tuple[str, ...]:
    """All targets of a step in the order of the file, with repetitions: one per wire."""
    match step:
        case When():
            return (*(branch.to for branch in step.branches), step.otherwise)
        case Classify() | SwitchyardStep():
            return tuple(target for _, target in step.to)
        case Split():
            return tuple(target for target, _ in step.arms)
        case Try():
            return step.targets


def compile_policy(policy: Policy, text: str, load_difficulty: DifficultyLoader) -> CompiledPolicy:
    """Bind a checked policy. Raises what `load_difficulty` raises when weights cannot be read."""
    models: dict[str, Difficulty] = {}
    for name, classifier in policy.classifiers.items():
        if isinstance(classifier, EmbeddedClassifier):
            models[name] = load_difficulty(classifier.weights)
    below: dict[str, frozenset[str]] = {}
    ready: dict[str, Node] = {}
    for pool in policy.pools:
        below[pool] = frozenset((pool,))
        ready[pool] = nodes.pool_node(pool)
    for name in bottom_up(policy.steps):
        step = policy.steps[name]
        below[name] = frozenset().union(*(below[target] for target in targets_of(step)))
        ready[name] = _node(policy, step, ready, below, models)
    return CompiledPolicy(
        policy=policy,
        text=text,
        revision=blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest(),
        nodes=ready,
        needs=_needs(policy),
    )


def bottom_up(steps: Mapping[str, Step]) -> list[str]:
    """Steps so that every target comes before what leads to it. The graph is acyclic (checked before)."""
    done: dict[str, None] = {}
    stack = [(name, False) for name in reversed(list(steps))]
    while stack:  # iterative: a chain of a thousand steps must not overflow the interpreter's stack
        name, expanded = stack.pop()
        if name in done or name not in steps:
            continue
        if expanded:
            done[name] = None
        else:
            stack.append((name, True))
            stack.extend((target, False) for target in targets_of(steps[name]))
    return list(done)


def _node(
    policy: Policy,
    step: Step,
    ready: Mapping[str, Node],
    below: Mapping[str, frozenset[str]],
    models: Mapping[str, Difficulty],
) -> Node:
    match step:
        case When():
            return nodes.when_node(step, ready)
        case Split():
            return nodes.split_node(step, ready, below)
        case Try():
            return nodes.try_node(step, ready)
        case SwitchyardStep():
            return nodes.switchyard_node(step, ready)
        case Classify():
            classifier = policy.classifiers[step.classifier]
            if isinstance(classifier, LlmClassifier):
                return nodes.judge_node(step, classifier, ready)
            return nodes.classify_node(step, models[step.classifier], ready)


def _needs(policy: Policy) -> Needs:
    body = judge = load = False
    session = any(pool.balance == "prefix" for pool in policy.pools.values())
    headers: set[str] = set()
    for step in policy.steps.values():
        if isinstance(step, When):
            for branch in step.branches:
                for part in conditions.leaves(branch.condition):
                    body = body or conditions.reads_body(part)
                    load = load or conditions.reads_load(part)
                    headers.update(conditions.reads_header(part))
        elif isinstance(step, Split):
            session = session or step.sticky == "conversation"
            body = body or step.sticky == "user"
        elif isinstance(step, Classify):
            body = True
            session = session or step.shares is not None
            judge = judge or isinstance(policy.classifiers[step.classifier], LlmClassifier)
        elif isinstance(step, SwitchyardStep):
            body = judge = True
    windows = any(pool.context_window is not None for pool in policy.pools.values())
    return Needs(body or windows or session, frozenset(headers), judge, session, load)
