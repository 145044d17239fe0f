"""Policy -> Switchyard's `routes.toml` (schema version 1 of nemo-switchyard 0.3).

Switchyard has one step per route and no pools, health, stickiness, conditions or local classifier. What fits is
written, the nearest simpler thing is written for the rest, and every difference is listed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stellwerk.serving.policy.conditions import describe
from stellwerk.serving.policy.exchange import Exchanged, Loss, plain_name
from stellwerk.serving.policy.model import (
    Classify,
    GatewayOptions,
    LlmClassifier,
    Policy,
    Pool,
    Replica,
    Split,
    SwitchyardStep,
    Try,
    When,
)

Table = dict[str, object]
_ROUTE = "It is left out."
_POOL_ONLY = (
    "balance",
    "max_running",
    "max_waiting",
    "max_wait_s",
    "context_window",
    "retries",
    "deadlines",
    "health",
    "price",
)


@dataclass(slots=True)
class _Export:
    policy: Policy
    addresses: Mapping[str, str]
    clients: dict[str, Table] = field(default_factory=dict)
    targets: dict[str, Table] = field(default_factory=dict)
    routes: dict[str, Table] = field(default_factory=dict)
    target_of: dict[str, str] = field(default_factory=dict)  # pool -> the target that stands for it
    losses: list[Loss] = field(default_factory=list)

    def lose(self, card: str, what: str, instead: str) -> None:
        loss = Loss(card, what, instead)
        if loss not in self.losses:
            self.losses.append(loss)


def export_switchyard(policy: Policy, addresses: Mapping[str, str] | None = None) -> Exchanged:
    """The routes of a policy.

    Args:
        addresses: node name -> host for its base URLs; a node without one is written by its name.
    """
    export = _Export(policy, addresses or {})
    for pool in policy.pools.values():
        _pool(export, pool)
    for model, target in policy.models.items():
        if any(letter in model for letter in "*?["):
            export.lose(f"model {model}", "Switchyard knows no patterns of model names.", _ROUTE)
            continue
        route = _route(export, target)
        name = plain_name(model, export.routes)
        export.routes[name] = {"id": model, **route}
    if policy.gateway != GatewayOptions():
        export.lose("gateway", "Switchyard has no keys, hosts, limits or overrides to set in its file.", _ROUTE)
    if policy.salt:
        export.lose("salt", "Switchyard's draws cannot be salted.", _ROUTE)
    return Exchanged(_toml(export), tuple(export.losses))


def _pool(export: _Export, pool: Pool) -> None:
    card = f"pool {pool.name}"
    plain = Pool(pool.name, pool.model, pool.replicas)
    if pool != plain:
        lost = [name for name in _POOL_ONLY if getattr(pool, name) != getattr(plain, name)]
        words = ", ".join(name.removesuffix("_s") for name in lost)
        export.lose(card, f"Switchyard has no pools, and so none of {words}.", _ROUTE)
    for replica in pool.replicas[:1]:
        client = plain_name(replica.node or pool.name, export.clients)
        export.clients[client] = _client(export, replica)
        name = plain_name(pool.name, export.targets)
        export.targets[name] = {"id": pool.model, "llm_client": client}
        export.target_of[pool.name] = name
        if len(replica.ranks) > 1:
            export.lose(card, f"The nodes {', '.join(replica.ranks)} of one replica have no place in the file.", _ROUTE)
    if len(pool.replicas) > 1:
        # Its server tells targets apart by model, so two endpoints of one model in a route are an error to it.
        instead = f"Only {pool.replicas[0].name} is used."
        export.lose(card, "Switchyard has no replicas: one model, one endpoint.", instead)


def _client(export: _Export, replica: Replica) -> Table:
    if replica.url is not None:
        url = replica.url
    else:
        host = export.addresses.get(replica.node or "", replica.node or "")
        url = f"http://[{host}]:{replica.port}/v1" if ":" in host else f"http://{host}:{replica.port}/v1"
    client: Table = {"format": "openai_chat", "base_url": url}
    if replica.key_env:
        client["api_key_env"] = replica.key_env
    return client


def _route(export: _Export, target: str) -> Table:
    """The route that comes nearest to what a target does."""
    if target in export.policy.pools:
        return _spread({target: 1.0}, export)
    step = export.policy.steps[target]
    card = f"step {target}"
    match step:
        case When():
            for branch in step.branches:
                export.lose(
                    card, f"Switchyard has no conditions ({describe(branch.condition)} -> {branch.to}).", _always(step)
                )
            return _route(export, step.otherwise)
        case Try():
            if len(step.targets) > 1:
                rest = ", ".join(step.targets[1:])
                export.lose(
                    card, f"Switchyard does not go on to {rest} after a failure.", f"Only {step.targets[0]} is used."
                )
            return _route(export, step.targets[0])
        case Split():
            if step.sticky != "none":
                export.lose(
                    card, f"A split that is sticky by {step.sticky} cannot be said.", "Every call is drawn anew."
                )
            weights: dict[str, float] = {}
            for arm, weight in step.arms:
                pool = _nearest_pool(export, arm)
                weights[pool] = weights.get(pool, 0.0) + weight
            return _spread(weights, export)
        case Classify():
            return _classify(export, step)
        case SwitchyardStep():
            return _algorithm(export, step)


def _always(step: When) -> str:
    return f"The route always takes {step.otherwise}."


def _nearest_pool(export: _Export, target: str) -> str:
    """The pool that a target leads to when nothing can be decided on the way; what is skipped is listed."""
    while target not in export.policy.pools:
        step = export.policy.steps[target]
        match step:
            case When():
                following = step.otherwise
            case Try():
                following = step.targets[0]
            case Split():
                following = max(step.arms, key=lambda arm: arm[1])[0]
            case Classify() | SwitchyardStep():
                following = step.to[-1][1]
        instead = f"Its place is taken by {following}."
        export.lose(
            f"step {target}", "Switchyard has one step per route, so a step behind a step has no place.", instead
        )
        target = following
    return target


def _spread(weights: Mapping[str, float], export: _Export) -> Table:
    """One target, or a random choice among the pools by their weights."""
    shares: dict[str, float] = {}
    first: dict[str, str] = {}  # model -> the target that serves it in this route
    for pool, weight in weights.items():
        model, target = export.policy.pools[pool].model, export.target_of[pool]
        served = first.setdefault(model, target)
        if served != target:
            what = f"Switchyard cannot tell two targets of the model {model} apart in one route."
            export.lose(f"pool {pool}", what, f"Its share goes to {served}.")
        shares[served] = shares.get(served, 0.0) + weight
    if len(shares) == 1:
        return {"type": "passthrough", "target": next(iter(shares))}
    route: Table = {"type": "random", "targets": list(shares)}
    if set(shares.values()) != {1.0}:
        route["weights"] = list(shares.values())
    return route


def _classify(export: _Export, step: Classify) -> Table:
    card = f"step {step.name}"
    classifier = export.policy.classifiers[step.classifier]
    easy, hard = step.to[0], step.to[-1]
    if not isinstance(classifier, LlmClassifier):
        instead = f"The route always takes {hard[1]}, the target of {hard[0]}."
        export.lose(card, "Switchyard has no classifier of its own, only calls to another model.", instead)
        return _route(export, hard[1])
    if len(step.to) > 2:
        middle = ", ".join(label for label, _ in step.to[1:-1])
        export.lose(card, "Switchyard's classifier knows two tiers.", f"The labels {middle} are left out.")
    export.lose(
        card,
        "Switchyard's judge has its own question and gives a chance of success instead of a label, and no deadline.",
        "A base_threshold of 0.5 is written.",
    )
    weak, strong, judge = (
        export.target_of[_nearest_pool(export, name)] for name in (easy[1], hard[1], classifier.pool)
    )
    return {
        "type": "llm_classifier",
        "classifier_target": judge,
        "weak_target": weak,
        "strong_target": strong,
        "base_threshold": 0.5,
    }


def _algorithm(export: _Export, step: SwitchyardStep) -> Table:
    card = f"step {step.name}"
    options = dict(step.options)
    to = dict(step.to)
    if step.on_error is not None:
        export.lose(card, "Switchyard decides for itself what happens when an algorithm fails.", _ROUTE)
    if step.algorithm == "random":
        weights = options.pop("weights", None)
        found = weights if isinstance(weights, Sequence) and len(weights) == len(to) else [1.0] * len(to)
        route = _spread({_nearest_pool(export, t): float(w) for t, w in zip(to.values(), found, strict=True)}, export)
        if "seed" in options and route["type"] == "random":
            route["seed"] = options.pop("seed")
    else:
        route = {"type": "stage_router"}
        for label in ("capable", "efficient"):
            route[f"{label}_target"] = export.target_of[_nearest_pool(export, to[label])]
        route["picker"] = options.pop("picker", "efficient_first")
        route["confidence_threshold"] = options.pop("confidence_threshold", 0.5)
        if "recent_window" in options:
            route["recent_turn_window"] = options.pop("recent_window")
        for key in ("capable_system_prompt", "efficient_system_prompt"):
            options.pop(key, None)
    for name in options:
        export.lose(card, f"The option {name} of {step.algorithm} has no key in the file.", _ROUTE)
    return route


def _toml(export: _Export) -> str:
    lines = ["# Written by `stellwerk policy export`.", "schema_version = 1"]
    for section, tables in (("llm_clients", export.clients), ("targets", export.targets), ("routes", export.routes)):
        for name, table in tables.items():
            lines += ["", f"[{section}.{_key(name)}]"]
            lines += [f"{key} = {_value(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    return name if all((letter.isalnum() and letter.isascii()) or letter in "-_" for letter in name) else _value(name)


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case list() | tuple():
            return "[" + ", ".join(_value(item) for item in value) + "]"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(
            c if c.isprintable() else f"\\u{ord(c):04X}" if ord(c) < 65536 else f"\\U{ord(c):08X}" for c in escaped
        )
        + '"'
    )
