"""What a step does with a walk, one factory per kind of step. All bound values are computed once, here."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Mapping
from itertools import accumulate

from stellwerk.serving.classifier.types import Difficulty
from stellwerk.serving.decision.state import PoolState
from stellwerk.serving.decision.types import Answer, AnswerNeeded, Hop, NoAnswer, Question, Scored
from stellwerk.serving.decision.walk import Candidate, Node, Walk, draw
from stellwerk.serving.policy.conditions import compile_condition, describe
from stellwerk.serving.policy.model import Classify, LlmClassifier, Split, SwitchyardStep, Try, When

_IDLE = PoolState()
_HAIR = 1e-9


def pool_node(name: str) -> Node:
    """The end of a walk."""

    def run(walk: Walk) -> list[Candidate]:
        return [(name, walk.hops)]

    return run


def when_node(step: When, ready: Mapping[str, Node]) -> Node:
    """First branch whose condition holds, else `otherwise`."""
    branches = [
        (
            compile_condition(branch.condition),
            ready[branch.to],
            (Hop(step.name, "when", str(number), branch.to, describe(branch.condition)),),
        )
        for number, branch in enumerate(step.branches, 1)
    ]
    otherwise = ready[step.otherwise]
    fallback = (Hop(step.name, "when", "else", step.otherwise, "no condition holds"),)

    def run(walk: Walk) -> list[Candidate]:
        for test, target, hop in branches:
            if test(walk):
                walk.hops += hop
                return target(walk)
        walk.hops += fallback
        return otherwise(walk)

    return run


def try_node(step: Try, ready: Mapping[str, Node]) -> Node:
    """The candidates of every entry, in order. Which one takes the request is chosen at the end of the walk."""
    entries = [
        (ready[target], Hop(step.name, "try", str(number), target, f"entry {number} of {len(step.targets)}"))
        for number, target in enumerate(step.targets, 1)
    ]

    def run(walk: Walk) -> list[Candidate]:
        before = walk.hops
        found: list[Candidate] = []
        for target, hop in entries:
            walk.hops = (*before, hop)
            found += target(walk)
        return found

    return run


def split_node(step: Split, ready: Mapping[str, Node], below: Mapping[str, frozenset[str]]) -> Node:
    """A weighted draw that is the same for the same session, and dealt anew only while its arm is down."""
    total = sum(weight for _, weight in step.arms)
    arms = [(target, weight) for target, weight in step.arms if weight > 0]
    bounds = list(accumulate(weight / total for _, weight in arms))
    bounds[-1] = 1.0  # rounding must not leave a gap at the end
    hops = [
        (Hop(step.name, "split", target, target, f"{weight / total * 100:.4g} % of the {_whose(step)}"),)
        for target, weight in arms
    ]
    targets = [ready[target] for target, _ in arms]
    pools = [below[target] for target, _ in arms]
    name, sticky = step.name, step.sticky

    def run(walk: Walk) -> list[Candidate]:
        key = None
        if sticky == "conversation":
            key = walk.request.session_key
        elif sticky == "user":
            key = walk.request.user or walk.request.session_key
        if key is None:
            key = walk.request.request_id
        arm = bisect_right(bounds, draw(walk.salt, name, key))
        hop = hops[arm]
        states = walk.state.pools
        if states and not _alive(pools[arm], states):
            other = _deal_again(walk, key)
            if other is not None:
                why = f"{arms[arm][0]} is down, dealt anew"
                hop = (Hop(name, "split", arms[other][0], arms[other][0], why),)
                arm = other
        walk.hops += hop
        return targets[arm](walk)

    def _deal_again(walk: Walk, key: str) -> int | None:
        alive = [index for index in range(len(arms)) if _alive(pools[index], walk.state.pools)]
        if not alive:
            return None
        weights = list(accumulate(arms[index][1] for index in alive))
        # A second draw of its own, so that the sessions of a dead arm spread over the others by their weights.
        at = draw(walk.salt, name + "\0again", key) * weights[-1]
        return alive[min(bisect_right(weights, at), len(alive) - 1)]

    return run


def _whose(step: Split) -> str:
    return {"conversation": "conversations", "user": "users", "none": "requests"}[step.sticky]


def _alive(pools: frozenset[str], states: Mapping[str, PoolState]) -> bool:
    for pool in pools:  # noqa: SIM110 - any() with a generator takes four times as long, and this runs for every request
        if states.get(pool, _IDLE).ready > 0:
            return True
    return False


def even_thresholds(labels: int) -> tuple[float, ...]:
    """Cut points that give every label the same share of the reference prompts."""
    return tuple(number / labels for number in range(1, labels))


def initial_thresholds(step: Classify) -> tuple[float, ...]:
    """Cut points before any traffic was seen. Scores are shares of reference prompts, so shares translate directly."""
    if step.thresholds is not None:
        return step.thresholds
    if step.shares is not None:
        sums = tuple(accumulate(share for _, share in step.shares))[:-1]
        return tuple(cut if cut < 1 - 1e-9 else 2.0 for cut in sums)  # a share of 100 % takes every score
    return even_thresholds(len(step.to))


def classify_node(step: Classify, model: Difficulty, ready: Mapping[str, Node]) -> Node:
    """Scores the conversation and cuts at the thresholds; those of the state win where a share is held."""
    labels = [label for label, _ in step.to]
    targets = [(target, ready[target]) for _, target in step.to]
    at_first = initial_thresholds(step)
    held = step.shares is not None
    name = step.name

    def run(walk: Walk) -> list[Candidate]:
        verdict = model.judge(walk.request.turns, explain=walk.explain)
        score, cuts = verdict.score, at_first
        if held:
            # Equal prompts have equal scores, and a cut cannot divide what is equal: a hair's breadth per
            # conversation can, and a conversation keeps its side.
            request = walk.request
            score += draw(walk.salt, name, request.session_key or request.request_id) * _HAIR
            cuts = walk.state.thresholds.get(name, at_first)
        index = bisect_right(cuts, score)
        target, node = targets[index]
        label = labels[index]
        walk.scores.append(Scored(name, step.classifier, score, label, verdict.features))
        why = f"{label}: difficulty {verdict.score:.3f} of {verdict.about}, cut at {_cuts(cuts)}"
        walk.hops = (*walk.hops, Hop(name, "classify", label, target, why))
        return node(walk)

    return run


def _cuts(cuts: tuple[float, ...]) -> str:
    return " and ".join(f"{cut:.3f}" for cut in cuts)


def judge_node(step: Classify, classifier: LlmClassifier, ready: Mapping[str, Node]) -> Node:
    """Takes the answer of a pool that was asked before; raises AnswerNeeded when it was not."""
    labels = tuple(label for label, _ in step.to)
    targets = {label: (target, ready[target]) for label, target in step.to}

    def run(walk: Walk) -> list[Candidate]:
        answer = walk.answers.get(classifier.name)
        if answer is None:
            raise AnswerNeeded(
                Question(
                    kind="llm",
                    key=classifier.name,
                    step=step.name,
                    labels=classifier.labels,
                    on_error=classifier.on_error,
                    timeout_s=classifier.timeout_s,
                    pool=classifier.pool,
                    prompt=classifier.prompt,
                    turns=walk.request.turns,
                )
            )
        label, why = _named(answer, targets, classifier.on_error, f"{classifier.name} says")
        target, node = targets[label]
        walk.hops = (*walk.hops, Hop(step.name, "classify", label, target, why))
        return node(walk)

    assert all(label in labels for label in classifier.labels), "checked: every label has a target"
    return run


def _named(answer: Answer, labels: Container[str], on_error: str, says: str) -> tuple[str, str]:
    """(the label that counts, why) of what was asked outside."""
    if isinstance(answer, NoAnswer):
        return on_error, f"{says} nothing ({answer.why}), so {on_error} stands"
    if answer not in labels:
        return on_error, f"{says} what is no label, so {on_error} stands"
    return answer, f"{says} {answer}"


def switchyard_node(step: SwitchyardStep, ready: Mapping[str, Node]) -> Node:
    """Takes what the algorithm chose; raises AnswerNeeded when it has not run yet."""
    labels = tuple(label for label, _ in step.to)
    targets = {label: (target, ready[target]) for label, target in step.to}
    fallback = step.on_error if step.on_error is not None else labels[0]
    key = f"switchyard:{step.name}"

    def run(walk: Walk) -> list[Candidate]:
        answer = walk.answers.get(key)
        if answer is None:
            raise AnswerNeeded(
                Question("switchyard", key, step.name, labels, fallback, step.timeout_s, turns=walk.request.turns)
            )
        label, why = _named(answer, targets, fallback, f"{step.algorithm} chose")
        target, node = targets[label]
        walk.hops = (*walk.hops, Hop(step.name, "switchyard", label, target, why))
        return node(walk)

    return run
