"""Switchyard's `routes.toml` -> a policy file. What has no place in a policy is listed, never dropped in silence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

from stellwerk.serving.policy.exchange import Exchanged, Loss, plain_name
from stellwerk.serving.policy.model import SCHEMA_VERSION
from stellwerk.serving.policy.yamltext import Value, scalar_text, to_yaml

_LEFT_OUT = "It is left out."


class ImportProblem(ValueError):
    """A routes file that cannot be read at all; the text says where and what to do."""


@dataclass(slots=True)
class _Import:
    clients: Mapping[str, Mapping[str, object]]
    pool_of: dict[str, str] = field(default_factory=dict)  # target -> pool
    pools: dict[str, dict[str, Value]] = field(default_factory=dict)
    classifiers: dict[str, dict[str, Value]] = field(default_factory=dict)
    steps: dict[str, dict[str, Value]] = field(default_factory=dict)
    models: dict[str, str] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)

    def lose(self, card: str, what: str, instead: str = _LEFT_OUT) -> None:
        self.losses.append(Loss(card, what, instead))

    def leftovers(self, card: str, table: Mapping[str, object], known: str) -> None:
        """Every key that nothing above has used."""
        for key in table:
            if key not in known.split():
                self.lose(card, f"`{key}` has no counterpart in a policy.")


def import_switchyard(text: str) -> Exchanged:
    """A policy with the same routes. ImportProblem when the file is no TOML, or no route of it can be taken over."""
    try:
        root = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ImportProblem(f"This is no TOML: {error}. Check the place.") from error
    if root.get("schema_version") != 1:
        raise ImportProblem(
            f"schema_version is {root.get('schema_version')!r}; only version 1 is known. Is it a routes.toml?"
        )
    found = _Import(_tables(root, "llm_clients"))
    found.leftovers("the file", root, "schema_version llm_clients targets routes")
    for name, client in found.clients.items():
        _client(found, name, client)
    for name, target in _tables(root, "targets").items():
        _target(found, name, target)
    for name, route in _tables(root, "routes").items():
        _route(found, name, route)
    if not found.models or not found.pools:
        raise ImportProblem("None of its routes has a counterpart in a policy: " + "; ".join(map(str, found.losses)))
    return Exchanged(_yaml(found), tuple(found.losses))


def _tables(root: Mapping[str, object], section: str) -> Mapping[str, Mapping[str, object]]:
    tables = root.get(section, {})
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ImportProblem(f"[{section}] does not hold tables. Is it a routes.toml of Switchyard?")
    return tables


def _client(found: _Import, name: str, client: Mapping[str, object]) -> None:
    card = f"llm_clients.{name}"
    if client.get("format", "openai_chat") != "openai_chat":
        what = f"The format {client['format']} is not translated here: requests are passed on as they come."
        found.lose(card, what, "Its targets are taken over; send them requests of that format.")
    found.leftovers(card, client, "format base_url api_key_env")


def _target(found: _Import, name: str, target: Mapping[str, object]) -> None:
    card = f"targets.{name}"
    client = found.clients.get(str(target.get("llm_client")))
    model = target.get("id")
    if client is None or not isinstance(model, str) or not isinstance(client.get("base_url"), str):
        found.lose(card, "It has no `id`, or no client with a `base_url`.")
        return
    replica: dict[str, Value] = {"url": str(client["base_url"]).rstrip("/")}
    if isinstance(client.get("api_key_env"), str):
        replica["key_env"] = str(client["api_key_env"])
    pool = plain_name(name, found.pools)
    found.pool_of[name] = pool
    found.pools[pool] = {"model": model, "replicas": [replica], "health": {"path": "none"}}
    found.leftovers(card, target, "id llm_client")


def _route(found: _Import, name: str, route: Mapping[str, object]) -> None:
    card = f"routes.{name}"
    kind, model = route.get("type"), route.get("id")
    if not isinstance(model, str) or not model:
        found.lose(card, "It has no `id`, so no client can ask for it.")
        return
    readers = {
        "passthrough": _passthrough,
        "random": _random,
        "llm_classifier": _llm_classifier,
        "stage_router": _stage_router,
    }
    reader = readers.get(str(kind))
    if reader is None:
        found.lose(card, f"The type {kind} has no counterpart in a policy.", f"The model {model} is left out.")
        return
    target = reader(found, name, route)
    if target is None:
        found.lose(card, "One of its targets is not there.", f"The model {model} is left out.")
        return
    found.models[model] = target


def _pools(found: _Import, names: object) -> list[str] | None:
    pools = [found.pool_of.get(str(name)) for name in names] if isinstance(names, list) else []
    return [pool for pool in pools if pool is not None] if pools and None not in pools else None


def _passthrough(found: _Import, name: str, route: Mapping[str, object]) -> str | None:
    found.leftovers(f"routes.{name}", route, "id type target")
    return found.pool_of.get(str(route.get("target")))


def _step(found: _Import, name: str, step: dict[str, Value]) -> str:
    step_name = plain_name(name, (*found.pools, *found.steps))
    found.steps[step_name] = step
    return step_name


def _random(found: _Import, name: str, route: Mapping[str, object]) -> str | None:
    pools = _pools(found, route.get("targets"))
    if pools is None:
        return None
    weights = route.get("weights", [1] * len(pools))
    if not isinstance(weights, list) or len(weights) != len(pools):
        found.lose(f"routes.{name}", "It has not as many weights as targets.", "All targets weigh the same.")
        weights = [1] * len(pools)
    if "seed" in route:
        what = "A seed repeats a sequence of draws; here a draw depends on the request alone."
        found.lose(f"routes.{name}", what)
    found.leftovers(f"routes.{name}", route, "id type targets weights seed")
    return _step(found, name, {"split": dict(zip(pools, weights, strict=True))})


def _llm_classifier(found: _Import, name: str, route: Mapping[str, object]) -> str | None:
    card = f"routes.{name}"
    pools = _pools(found, [route.get(key) for key in ("classifier_target", "weak_target", "strong_target")])
    if pools is None:
        return None
    judge, weak, strong = pools
    classifier = plain_name(f"{name}-judge", found.classifiers)
    found.classifiers[classifier] = {
        "kind": "llm",
        "pool": judge,
        "labels": ["simple", "complex"],
        "timeout": "10s",
        "on_error": "complex",
    }
    found.lose(
        card,
        "The judge is asked for a label instead of a chance, so its thresholds have no counterpart.",
        "It answers `simple` (weak_target) or `complex` (strong_target); when it fails, `complex` stands.",
    )
    known = "id type classifier_target weak_target strong_target base_threshold threshold_step"
    found.leftovers(card, route, known)
    return _step(found, name, {"classify": classifier, "to": {"simple": weak, "complex": strong}})


def _stage_router(found: _Import, name: str, route: Mapping[str, object]) -> str | None:
    pools = _pools(found, [route.get("efficient_target"), route.get("capable_target")])
    if pools is None:
        return None
    options: dict[str, Value] = {}
    for key, option in (
        ("picker", "picker"),
        ("confidence_threshold", "confidence_threshold"),
        ("recent_turn_window", "recent_window"),
    ):
        value = route.get(key)
        if isinstance(value, str | int | float):
            options[option] = value
    known = "id type efficient_target capable_target picker confidence_threshold recent_turn_window"
    found.leftovers(f"routes.{name}", route, known)
    to: dict[str, Value] = {"efficient": pools[0], "capable": pools[1]}
    return _step(found, name, {"switchyard": "stage_router", "to": to, "options": options})


def _yaml(found: _Import) -> str:
    lines = ["# Taken over from a routes.toml of Switchyard.", f"version: {SCHEMA_VERSION}", "models:"]
    lines += [f"  {scalar_text(model)}: {target}" for model, target in found.models.items()]
    sections: list[tuple[str, dict[str, dict[str, Value]]]] = [
        ("pools", found.pools),
        ("classifiers", found.classifiers),
        ("steps", found.steps),
    ]
    for section, cards in sections:
        if cards:
            lines.append(f"{section}:")
        for name, card in cards.items():
            lines.append(f"  {scalar_text(name)}:")
            lines += [f"    {key}: {to_yaml(value)}" for key, value in card.items()]
    return "\n".join(lines) + "\n"
