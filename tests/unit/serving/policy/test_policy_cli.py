"""The commands around a policy: what they print, what they write, how they end."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from stellwerk.cli.policy import policy
from stellwerk.serving.policy.load import parse_policy
from unit.serving.classifier.graded import rows, write
from unit.serving.policy.policy_texts import POOLS, SAMPLE

_PRICED_POOLS = POOLS.replace("model: s\n", "model: s\n    price: {input: 1, output: 1}\n").replace(
    "model: l\n", "model: l\n    price: {input: 10, output: 10}\n"
)
PRICED = f"""\
version: 1
models: {{auto: ask}}   # all of them
{_PRICED_POOLS}classifiers: {{difficulty: {{kind: embedded}}}}
steps:
  ask:
    classify: difficulty
    to: {{simple: small, complex: large}}
    share: {{simple: 60%}}   # held
"""


def run(*arguments: object, expect: int = 0, text: str | None = None) -> Result:
    result = CliRunner().invoke(policy, [str(argument) for argument in arguments], input=text)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == expect, result.output
    return result


def as_json(*arguments: object, expect: int = 0) -> Any:
    return json.loads(run(*arguments, "--json", expect=expect).stdout)


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(SAMPLE)
    return path


@pytest.fixture
def priced(tmp_path: Path) -> Path:
    path = tmp_path / "priced.yaml"
    path.write_text(PRICED)
    return path


def test_a_good_file_is_called_fine(sample: Path) -> None:
    assert "fine. 2 models, 4 steps, 2 pools." in run("check", sample).output
    assert as_json("check", sample) == {"valid": True, "problems": [], "warnings": [], "upgraded": []}


def test_check_warns_of_an_expression_that_sees_only_the_start_of_a_turn(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        f"version: 1\nmodels: {{auto: t}}\n{POOLS}steps:\n  t:\n    when:\n"
        "      - {if: {matches: '(\\w+) .*\\1'}, to: large}\n    else: small\n"
    )
    line = path.read_text().count("\n") - 1
    said = run("check", path).output
    assert f"{path}:{line}:24: [step t] This regular expression may take long, so only the first " in said
    assert "fine." in said
    (warning,) = as_json("check", path)["warnings"]
    assert (warning["line"], warning["column"], warning["card"]) == (line, 24, "step t")


def test_check_refuses_an_expression_that_would_see_next_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        f"version: 1\nmodels: {{auto: t}}\n{POOLS}steps:\n  t:\n    when:\n"
        "      - {if: {matches: '(.*) (.*) (.*) (.*) (.*)\\1'}, to: large}\n    else: small\n"
    )
    assert "may take some prompts very long" in run("check", path, expect=1).output


def test_problems_are_printed_like_a_compilers(sample: Path) -> None:
    sample.write_text(SAMPLE.replace("balance: least", "ballance: least"))
    result = run("check", sample, expect=1)
    assert f"{sample}:11:5: [pool small] Unknown key `ballance` in a pool. Did you mean `balance`?" in result.stderr
    (problem,) = as_json("check", sample, expect=1)["problems"]
    assert (problem["line"], problem["column"], problem["card"]) == (11, 5, "pool small")
    assert run("explain", sample, "--prompt", "x", expect=1).stderr == result.stderr


def test_an_old_file_is_upgraded_in_place(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_bytes(f"# mine\r\nmodels: {{auto: a}}\r\n{POOLS}steps: {{a: {{fallback: [small]}}}}\r\n".encode())
    run("check", path, expect=1)
    result = run("check", path, "--upgrade")
    assert "`fallback` is called `try` now" in result.output
    assert path.read_bytes().startswith(b"# mine\r\nversion: 1\r\n")
    assert [entry.name for entry in tmp_path.iterdir()] == ["old.yaml"]


def test_a_file_that_is_missing_or_no_text_is_one_message(tmp_path: Path) -> None:
    assert "No such file" in run("check", tmp_path / "no.yaml", expect=2).stderr
    (tmp_path / "x.yaml").write_bytes(b"a: \xff")
    assert "UTF-8" in run("check", tmp_path / "x.yaml", expect=2).stderr
    assert "larger than" in run("check", "/dev/zero", expect=2).stderr


def test_explain_names_the_way_the_reasons_and_the_features(sample: Path) -> None:
    result = run("explain", sample, "--prompt", "Prove that the square root of 2 is irrational, derive every bound.")
    assert result.output.startswith("auto -> triage -> ask -> ")
    assert "triage: no condition holds -> ask" in result.output
    assert "difficulty 0." in result.output
    assert "+0." in result.output
    value = as_json("explain", sample, "--prompt", "hi")
    assert value["pool"] == "small"
    assert value["path"] == ["triage", "ask"]
    assert value["scores"][0]["features"]


def test_explain_takes_bodies_headers_and_broken_pools(sample: Path, tmp_path: Path) -> None:
    body = tmp_path / "body.json"
    body.write_text(json.dumps({"model": "auto", "tools": [{"type": "function"}], "messages": []}))
    assert as_json("explain", sample, "--body", body)["path"] == ["triage"]
    assert as_json("explain", sample, "--prompt", "x", "--header", "X-Tier=premium")["pool"] == "large"
    found = as_json("explain", sample, "--prompt", "x", "--header", "x-tier=premium", "--down", "large", expect=1)
    assert (found["pool"], found["error"]) == (None, "unhealthy")
    assert run("explain", sample, "--prompt", "-", "--model", "fast", text="hello").output.startswith("fast -> small")
    assert "unknown_model" in run("explain", sample, "--prompt", "x", "--model", "zz", expect=1).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --prompt"),
        (("--prompt", "x", "--header", "nonsense"), "NAME=VALUE"),
        (("--prompt", "x", "--down", "nirvana"), "no pool nirvana"),
    ],
)
def test_wrong_arguments_are_explained(sample: Path, arguments: tuple[str, ...], message: str) -> None:
    assert message in run("explain", sample, *arguments, expect=2).stderr


def test_explain_says_when_a_judge_would_be_asked(tmp_path: Path) -> None:
    path = tmp_path / "judged.yaml"
    judge = "{kind: llm, pool: small, labels: [simple, complex], on_error: complex}"
    path.write_text(
        f"version: 1\nmodels: {{auto: a}}\n{POOLS}classifiers: {{judge: {judge}}}\n"
        "steps: {a: {classify: judge, to: {simple: small, complex: large}}}\n"
    )
    assert "note: judge was not asked" in run("explain", path, "--prompt", "x").output
    assert as_json("explain", path, "--prompt", "x", "--answer", "judge=simple")["pool"] == "small"
    assert as_json("simulate", path, "--requests", "5")["judged"] == {"judge": 5}


def test_simulate_holds_the_share_and_survives_a_dead_pool(priced: Path) -> None:
    value = as_json("simulate", priced, "--requests", "1500")
    assert value["shares"]["small"] == pytest.approx(0.6, abs=0.05)
    assert value["requests"] == 1500
    dead = as_json("simulate", priced, "--requests", "300", "--down", "large")
    assert dead["errors"]["unhealthy"] == pytest.approx(120, abs=30)
    assert "less than large alone" in run("simulate", priced, "--requests", "50").output


def test_a_file_that_is_missing_or_wrong_is_named_without_the_systems_numbers(priced: Path, tmp_path: Path) -> None:
    for arguments in (("check", "none.yaml"), ("evaluate", "none.yaml"), ("explain", priced, "--body", "none.yaml")):
        said = " ".join(run(*arguments, expect=2).output.split())
        assert "none.yaml cannot be used: No such file or directory" in said
        assert "Errno" not in said
    (tmp_path / "body.json").write_text("models: auto")
    assert "is not JSON (line 1, column 1" in run("explain", priced, "--body", tmp_path / "body.json", expect=2).output
    data = write(tmp_path / "data.jsonl", rows(10))
    assert "there is no folder" in run("train", data, "--out", tmp_path / "nowhere" / "weights", expect=2).output


def test_replay_predicts_share_cost_and_quality(priced: Path, tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(300))
    value = as_json("replay", priced, log, "--weak", "small")
    assert value["shares"]["small"] == pytest.approx(0.6, abs=0.08)
    assert (value["baseline"], value["graded"]) == ("large", 300)
    assert value["cost"] < 0.65 * value["baseline_cost"]
    assert 0.5 < value["quality"] <= value["baseline_quality"] + 0.02
    assert value["assumed_tokens"] == 300
    said = run("replay", priced, log, "--weak", "small").output
    assert "less than large alone" in said
    assert "on 300 graded" in said


def test_replay_counts_what_judges_cost(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"prompt": "hi", "usage": {"prompt_tokens": 10, "completion_tokens": 10}}) + "\n")
    text = """version: 1
models: {auto: ask}
pools:
  small: {model: s, price: {input: 1, output: 1}, replicas: [{node: n, port: 1}]}
  large: {model: l, price: {input: 10, output: 10}, replicas: [{node: n, port: 2}]}
classifiers: {judge: {kind: llm, pool: small, labels: [simple, complex], on_error: complex}}
steps: {ask: {classify: judge, to: {simple: small, complex: large}}}
"""
    path = tmp_path / "judge.yaml"
    path.write_text(text)
    asked = as_json("replay", path, log)
    assert asked["judged"] == {"judge": 1}
    assert asked["baseline_cost"] == pytest.approx(200e-6)
    assert 300e-6 < asked["cost"] < 340e-6, "some 120 tokens for the judge on top of the large pool's 20"


def test_replay_takes_what_a_log_says_of_tokens_and_grades(priced: Path, tmp_path: Path) -> None:
    line = {
        "prompt": "hi",
        "usage": {"prompt_tokens": 100, "completion_tokens": 50},
        "grades": {"small": 0.5, "large": 1},
    }
    log = write(tmp_path / "log.jsonl", [line])
    value = as_json("replay", priced, log)
    assert value["cost"] == pytest.approx(150e-6)
    assert value["baseline_cost"] == pytest.approx(1500e-6)
    assert (value["quality"], value["baseline_quality"], value["assumed_tokens"]) == (0.5, 1.0, 0)


def test_replay_says_why_it_cannot_tell_cost_or_quality(sample: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    write(log, rows(20))
    bare = run("replay", sample, log).output
    assert "No cost: " in bare
    assert "--strong" in bare
    told = run("replay", sample, log, "--strong", "large", "--weak", "small").output
    assert "large alone" in told


def test_examples_are_listed_and_written_but_never_over_a_file(tmp_path: Path) -> None:
    assert "easy-and-hard" in run("example").output
    path = tmp_path / "policy.yaml"
    run("example", "easy-and-hard", "--out", path)
    assert "fine" in run("check", path).output
    assert "there already" in run("example", "easy-and-hard", "--out", path, expect=2).output
    assert "one-pool" in run("example", "nothing", expect=2).output


def test_a_broken_log_is_named_with_its_line(priced: Path, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"prompt": "a"}\n{"nothing": 1}\n')
    assert "line 2: there is no `prompt`" in run("replay", priced, tmp_path / "log.jsonl", expect=2).stderr


def test_train_evaluate_and_use_a_model_of_ones_own(priced: Path, tmp_path: Path) -> None:
    data, other = write(tmp_path / "data.jsonl", rows(300)), write(tmp_path / "new.jsonl", rows(200, seed=8))
    weights = tmp_path / "mine.weights"
    said = run("train", data, "--out", weights).output
    assert "APGR" in said
    assert "CPT50" in said
    figures = as_json("evaluate", other, "--model", weights)
    assert figures["apgr"] > 0.65
    assert 0 < figures["cpt50"] < 0.5
    assert "APGR" in run("evaluate", other, "--model", weights).output
    assert as_json("evaluate", other)["prompts"] == 200
    trained = as_json("train", data, "--out", weights)
    assert trained["figures"]["data"]["five_fold"]["apgr"] > 0.65
    priced.write_text(PRICED.replace("kind: embedded", f"kind: embedded, weights: {weights}"))
    assert as_json("explain", priced, "--prompt", "What is the capital of France?")["pool"] == "small"


def test_calibrate_writes_the_threshold_and_nothing_else(priced: Path, tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(200))
    found = as_json("calibrate", log, "--share", "60%", "--policy", priced, "--step", "ask")
    assert found["easy_share"] == pytest.approx(0.6, abs=0.03)
    text = priced.read_text()
    assert text == PRICED.replace(
        "    share: {simple: 60%}   # held\n", f"    threshold: {round(found['threshold'], 4)}\n"
    )
    step = parse_policy(text).steps["ask"]
    assert step.thresholds == (round(found["threshold"], 4),)  # type: ignore[union-attr]


def test_calibrate_writes_through_a_link(priced: Path, tmp_path: Path) -> None:
    log, link = write(tmp_path / "log.jsonl", rows(60)), tmp_path / "live.yaml"
    link.symlink_to(priced)
    # The only step that there is need not be named.
    assert "step ask" in run("calibrate", log, "--share", "50%", "--policy", link).output
    assert link.is_symlink()
    assert "threshold" in priced.read_text()


def test_calibrate_keeps_a_least_quality_with_the_fewest_strong_calls(tmp_path: Path) -> None:
    log = write(tmp_path / "log.jsonl", rows(300))
    loose = as_json("calibrate", log, "--quality", "80%")
    tight = as_json("calibrate", log, "--quality", "97%")
    assert loose["easy_share"] > tight["easy_share"]
    assert tight["quality"] >= 0.97 * tight["strong_quality"] - 0.02
    assert "of the strong model's" in run("calibrate", log, "--quality", "0.9").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --share or --quality"),
        (("--share", "150%"), "no share"),
        (("--share", "50%", "--policy", "POLICY", "--step", "nope"), "There: ask"),
    ],
)
def test_calibrate_explains_wrong_arguments(
    priced: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    log = write(tmp_path / "log.jsonl", rows(5))
    words = [str(priced) if word == "POLICY" else word for word in arguments]
    assert message in run("calibrate", log, *words, expect=2).stderr


def test_policies_go_to_switchyard_and_come_back(sample: Path, tmp_path: Path) -> None:
    routes = tmp_path / "routes.toml"
    result = run("export", sample, "--out", routes, "--node", "spark-5=10.0.0.5")
    assert "things are not the same" in result.stderr
    assert "x-tier" in result.stderr
    tables = tomllib.loads(routes.read_text())
    assert tables["llm_clients"]["spark-5"]["base_url"] == "http://10.0.0.5:8000/v1"
    back = run("import", routes)
    assert set(parse_policy(back.stdout).models) == {"auto", "fast"}
    routes.write_text("nonsense = [")
    assert "no TOML" in run("import", routes, expect=2).stderr


def test_the_schema_can_be_written_for_an_editor(tmp_path: Path) -> None:
    run("schema", "--out", tmp_path / "schema.json")
    assert json.loads((tmp_path / "schema.json").read_text())["title"] == "Stellwerk policy"
