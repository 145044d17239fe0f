"""Import from and export to Switchyard: what fits is the same, the rest is listed, and the wheel loads the files."""

from __future__ import annotations

import os
import tomllib
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stellwerk.serving.policy.exchange import plain_name
from stellwerk.serving.policy.load import parse_policy
from stellwerk.serving.policy.model import Classify, Split, SwitchyardStep
from stellwerk.serving.policy.switchyard_export import export_switchyard
from stellwerk.serving.policy.switchyard_import import ImportProblem, import_switchyard
from unit.serving.policy.policy_texts import POOLS, SAMPLE

STAGES = """
steps:
  start:
    switchyard: stage_router
    to: {efficient: small, capable: large}
    options: {picker: capable_first, recent_window: 5}
  draw: {switchyard: random, to: {a: small, b: large}, options: {weights: [1, 3], seed: 7}}
  judged: {classify: judge, to: {simple: small, complex: large}}
classifiers: {judge: {kind: llm, pool: small, labels: [simple, complex], on_error: complex}}
"""
POLICIES = {
    "the sample": SAMPLE,
    "straight into pools": f"version: 1\nmodels: {{fast: small, slow: large}}\n{POOLS}",
    "a split": f"version: 1\nmodels: {{auto: s}}\n{POOLS}steps: {{s: {{split: {{small: 80, large: 20}}}}}}\n",
    "a split of one model": f"version: 1\nmodels: {{auto: s}}\n{POOLS.replace('model: l', 'model: s')}"
    "steps: {s: {split: {small: 80, large: 20}}}\n",
    "its own algorithms": f"version: 1\nmodels: {{a: start, b: draw, c: judged}}\n{POOLS}{STAGES}",
    "names with quotes": f"version: 1\nmodels: {{'my \"model\" \\ ü': small}}\n{POOLS}",
}


@pytest.mark.parametrize("name", POLICIES)
def test_the_wheels_own_server_loads_what_is_exported(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = pytest.importorskip("switchyard_rust.server")
    monkeypatch.setitem(os.environ, "RUST_LOG", "error")
    path = tmp_path / "routes.toml"
    path.write_text(export_switchyard(parse_policy(POLICIES[name])).text, encoding="utf-8")
    with server.Server(path) as running:
        assert running.port > 0


def test_a_server_refuses_a_file_that_is_wrong_so_loading_means_something(tmp_path: Path) -> None:
    server = pytest.importorskip("switchyard_rust.server")
    path = tmp_path / "routes.toml"
    path.write_text(export_switchyard(parse_policy(POLICIES["a split"])).text.replace("random", "randm"))
    with pytest.raises(server.ServerConfigError):
        server.Server(path)


def test_everything_that_the_sample_says_and_switchyard_cannot_is_listed() -> None:
    found = export_switchyard(parse_policy(SAMPLE), {"spark-1": "fe80::1"})
    said = "\n".join(map(str, found.losses))
    for lost in ("context_window", "no replicas", "tools -> large", "prompt tokens > 16000", "x-tier", "no classifier"):
        assert lost in said
    for card in ("pool small", "pool large", "step triage", "step ask", "step split_hard", "step safe"):
        assert card in said
    assert "spark-6" in said
    tables = tomllib.loads(found.text)
    urls = [client["base_url"] for client in tables["llm_clients"].values()]
    assert urls == ["http://[fe80::1]:8000/v1", "http://spark-5:8000/v1"]


def test_a_split_becomes_a_random_route_with_its_weights() -> None:
    found = export_switchyard(parse_policy(POLICIES["a split"]))
    assert found.losses == ()
    (route,) = tomllib.loads(found.text)["routes"].values()
    assert route == {"id": "auto", "type": "random", "targets": ["small", "large"], "weights": [80.0, 20.0]}


def test_of_several_replicas_one_stands_for_the_pool_and_that_is_said() -> None:
    text = POLICIES["a split"].replace("{node: spark-1, port: 8000}", "{node: n1, port: 1}, {node: n2, port: 1}")
    found = export_switchyard(parse_policy(text))
    assert [client["base_url"] for client in tomllib.loads(found.text)["llm_clients"].values()] == [
        "http://n1:1/v1",
        "http://spark-2:8000/v1",
    ]
    assert any("no replicas" in loss.what and "n1:1" in loss.instead for loss in found.losses)


def test_two_pools_of_one_model_cannot_share_a_route() -> None:
    found = export_switchyard(parse_policy(POLICIES["a split of one model"]))
    (route,) = tomllib.loads(found.text)["routes"].values()
    assert route == {"id": "auto", "type": "passthrough", "target": "small"}
    assert any("apart" in loss.what for loss in found.losses)


ROUTES = """
schema_version = 1
[llm_clients.router]
format = "openai_chat"
base_url = "https://host/api/v1/"
api_key_env = "ROUTER_KEY"
extra_headers = {x = "y"}
[llm_clients.claude]
format = "anthropic_messages"
base_url = "https://other/v1"
[targets."strong one"]
id = "big/model"
llm_client = "router"
extra_body = {top_k = 1}
[targets.weak]
id = "small/model"
llm_client = "claude"
[routes.pass]
id = "direct"
type = "passthrough"
target = "weak"
[routes.draw]
id = "mix"
type = "random"
targets = ["strong one", "weak"]
weights = [3, 1]
seed = 7
[routes.judged]
id = "judged"
type = "llm_classifier"
classifier_target = "weak"
strong_target = "strong one"
weak_target = "weak"
base_threshold = 0.5
session_affinity = true
[routes.stages]
id = "stages"
type = "stage_router"
capable_target = "strong one"
efficient_target = "weak"
picker = "efficient_first"
confidence_threshold = 0.4
[routes.stages.handoff_notes]
escalation_note = "take over"
[routes.nothing]
id = "nothing"
type = "noop"
[routes.broken]
id = "broken"
type = "passthrough"
target = "missing"
"""


def test_routes_become_a_policy_that_is_valid_and_means_the_same() -> None:
    found = import_switchyard(ROUTES)
    policy = parse_policy(found.text)
    assert policy.models == {"direct": "weak", "mix": "draw", "judged": "judged", "stages": "stages"}
    strong = policy.pools["strong-one"]
    assert (strong.model, strong.replicas[0].url, strong.replicas[0].key_env) == (
        "big/model",
        "https://host/api/v1",
        "ROUTER_KEY",
    )
    assert policy.steps["draw"] == Split("draw", (("strong-one", 3.0), ("weak", 1.0)))
    assert isinstance(policy.steps["judged"], Classify)
    stages = policy.steps["stages"]
    assert isinstance(stages, SwitchyardStep)
    assert dict(stages.options) == {"picker": "efficient_first", "confidence_threshold": 0.4}


def test_what_an_import_leaves_out_is_listed() -> None:
    said = "\n".join(map(str, import_switchyard(ROUTES).losses))
    for lost in (
        "extra_headers",
        "extra_body",
        "anthropic_messages",
        "seed",
        "thresholds",
        "session_affinity",
        "handoff_notes",
        "noop",
        "broken",
    ):
        assert lost in said, lost


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = [", "no TOML"),
        ("schema_version = 2", "only version 1"),
        ("schema_version = 1\ntargets = 3", "does not hold tables"),
        ("schema_version = 1", "None of its routes"),
    ],
)
def test_a_file_that_is_no_routes_file_is_refused(text: str, message: str) -> None:
    with pytest.raises(ImportProblem, match=message):
        import_switchyard(text)


weights = st.lists(st.integers(0, 100), min_size=2, max_size=4).filter(any)


@settings(max_examples=25, deadline=None)
@given(weights, st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=12))
@example([0, 1], "\uf900")  # another letter once names are written in their usual form
def test_splits_come_back_as_they_went(arms: list[int], model: str) -> None:
    if any(letter in model for letter in "*?["):
        return
    pools = "".join(
        f"  p{n}: {{model: m{n}, replicas: [{{url: 'http://h{n}/v1'}}], health: {{path: none}}}}\n"
        for n in range(len(arms))
    )
    arms_text = ", ".join(f"p{number}: {weight}" for number, weight in enumerate(arms))
    from stellwerk.serving.policy.yamltext import scalar_text

    text = f"version: 1\nmodels: {{{scalar_text(model)}: s}}\npools:\n{pools}steps: {{s: {{split: {{{arms_text}}}}}}}\n"
    policy = parse_policy(text)
    exported = export_switchyard(policy)
    back = parse_policy(import_switchyard(exported.text).text)
    assert set(back.models) == {unicodedata.normalize("NFC", model)}
    (step,) = back.steps.values()
    assert isinstance(step, Split)
    assert step.arms == policy.steps["s"].arms  # type: ignore[union-attr]
    assert {name: pool.model for name, pool in back.pools.items()} == {n: p.model for n, p in policy.pools.items()}


def test_names_are_made_plain_and_distinct() -> None:
    assert plain_name("strong one!", []) == "strong-one"
    assert plain_name("a", ["a", "a-2"]) == "a-3"
    assert plain_name("…", []) == "card"
