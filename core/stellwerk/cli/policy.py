"""`stellwerk policy …`: check, explain, simulate, replay, exchange. Training and calibration: `policy_learning`."""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from stellwerk.cli.common import DONE, ERROR, FINDINGS, out, plain, show_error, table
from stellwerk.cli.policy_learning import calibrate, evaluate, in_words, train
from stellwerk.model.errors import BadInput

if TYPE_CHECKING:
    from stellwerk.serving.decision.replay import Replayed
    from stellwerk.serving.policy.compiled import CompiledPolicy
    from stellwerk.serving.policy.errors import Problem

P = ParamSpec("P")
R = TypeVar("R")

FILE = click.Path(dir_okay=False, path_type=Path)
_MOST_BYTES = 64 << 20  # of a policy, or of a request that is to be explained
json_flag = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


@click.group()
def policy() -> None:
    """Check, explain, try out and exchange routing policies; train and calibrate the classifier."""


for _command in (train, evaluate, calibrate):
    policy.add_command(_command)


def for_people(function: Callable[P, R]) -> Callable[P, R]:
    """Whatever a person can have done wrong ends as one message and exit code 2."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except (OSError, ValueError) as error:
            show_error(BadInput(in_words(error)))
            sys.exit(ERROR)

    return run


def read_policy(path: Path) -> CompiledPolicy:
    """The policy in a file. Its problems are printed, one a line as `file:line:column`, and the program ends."""
    from stellwerk.serving.policy.errors import PolicyErrors
    from stellwerk.serving.policy.load import load_policy

    try:
        return load_policy(read_text(path))
    except PolicyErrors as errors:
        show_problems(path, errors)
        sys.exit(FINDINGS)


def read_text(path: Path) -> str:
    """The text of a file as it is, line ends included. BadInput when it is no UTF-8, or without end."""
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise ValueError(f"{path} is larger than {_MOST_BYTES >> 20} MB. Name another file.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: byte {error.start} cannot be read. Save it as UTF-8.") from error


def show_problems(path: Path, errors: Any) -> None:
    for problem in errors.problems:
        click.echo(_placed(path, problem), err=True)
    count = len(errors.problems)
    click.echo(f"{count} problem{'s' * (count != 1)}.", err=True)


def _placed(path: Path, problem: Problem) -> str:
    card = f" [{problem.card}]" if problem.card else ""
    return f"{path}:{problem.line}:{problem.column}:{card} {problem.what} {problem.remedy}"


@policy.command()
@click.argument("file", type=FILE)
@click.option("--upgrade", "do_upgrade", is_flag=True, help="Bring an older file up to date in place first.")
@json_flag
@for_people
def check(file: Path, do_upgrade: bool, as_json: bool) -> None:
    """Say everything that is wrong with FILE, with line, card and remedy."""
    from stellwerk.serving.policy.errors import PolicyErrors
    from stellwerk.serving.policy.load import load_policy
    from stellwerk.serving.policy.upgrade import upgrade

    notes: tuple[str, ...] = ()
    problems: list[dict[str, Any]] = []
    found: CompiledPolicy | None = None
    try:
        if do_upgrade:
            upgraded = upgrade(read_text(file))
            notes = upgraded.notes
            if notes:
                replace_file(file, upgraded.text)
        found = load_policy(read_text(file))
        _check_switchyard(found)
    except PolicyErrors as errors:
        found = None
        problems = [asdict(problem) for problem in errors.problems]
        if not as_json:
            show_problems(file, errors)
    if as_json:
        warnings = [asdict(warning) for warning in found.policy.warnings] if found is not None else []
        value = {"valid": not problems, "problems": problems, "warnings": warnings, "upgraded": list(notes)}
        click.echo(json.dumps(value, indent=2))
    else:
        for note in notes:
            click.echo(f"upgraded: {note}")
        if found is not None:
            _say_fine(file, found)
    sys.exit(FINDINGS if problems else DONE)


def _check_switchyard(found: CompiledPolicy) -> None:
    """What only Switchyard itself can judge, where it is installed. Raises PolicyErrors."""
    from stellwerk.serving.decision.switchyard import SwitchyardError, SwitchyardSteps, installed
    from stellwerk.serving.policy.errors import PolicyErrors, Problem
    from stellwerk.serving.policy.model import Mark, SwitchyardStep

    problems = []
    for name, step in found.policy.steps.items():
        if isinstance(step, SwitchyardStep) and installed():
            try:
                SwitchyardSteps(replace(found.policy, steps={name: step}))
            except SwitchyardError as error:
                mark = found.policy.marks.get(("steps", name), Mark(1, 1))
                hint = "Look them up in Switchyard's documentation, or take them out."
                problems.append(Problem(mark.line, mark.column, f"{error}.", hint, f"step {name}"))
    if problems:
        raise PolicyErrors(tuple(problems))


def _say_fine(file: Path, found: CompiledPolicy) -> None:
    from stellwerk.serving.decision.switchyard import INSTALL, installed
    from stellwerk.serving.policy.model import SwitchyardStep

    for warning in found.policy.warnings:
        click.echo(f"{_placed(file, warning)} (warning)", err=True)
    steps = found.policy.steps
    click.echo(f"{file}: fine. {len(found.models)} models, {len(steps)} steps, {len(found.pools)} pools.")
    if any(isinstance(step, SwitchyardStep) for step in steps.values()) and not installed():
        click.echo(f"note: its switchyard steps always take `on_error` until the package is there: {INSTALL}")


@policy.command()
@click.argument("file", type=FILE)
@click.option("--prompt", help="Text of the user turn; - reads standard input.")
@click.option("--body", type=FILE, help="A whole request body (JSON) instead.")
@click.option("--model", help="Model name that is asked for. Default: that of the body, else the policy's first.")
@click.option("--header", "headers", multiple=True, metavar="NAME=VALUE")
@click.option("--api-key", metavar="NAME", help="Name of the API key the caller shows.")
@click.option("--down", multiple=True, metavar="POOL", help="A pool without a healthy replica.")
@click.option("--full", multiple=True, metavar="POOL", help="A pool whose queue is full.")
@click.option("--answer", "answers", multiple=True, metavar="JUDGE=LABEL", help="What a judge is taken to say.")
@json_flag
@for_people
def explain(
    file: Path,
    prompt: str | None,
    body: Path | None,
    model: str | None,
    headers: tuple[str, ...],
    api_key: str | None,
    down: tuple[str, ...],
    full: tuple[str, ...],
    answers: tuple[str, ...],
    as_json: bool,
) -> None:
    """Say which way a request takes through FILE, and why."""
    from stellwerk.serving.decision.decide import decide
    from stellwerk.serving.decision.request import RequestView
    from stellwerk.serving.decision.state import PoolState, StateSnapshot
    from stellwerk.serving.decision.types import Answer, AnswerNeeded, NoAnswer, NoPool

    found = read_policy(file)
    content = _request_body(prompt, body)
    asked = content.get("model")
    name = model or (asked if isinstance(asked, str) else None) or next(iter(found.models))
    request = RequestView(name, content, headers=_pairs(headers, lower=True), api_key=api_key, request_id="explain")
    unknown = [pool for pool in (*down, *full) if pool not in found.pools]
    if unknown:
        raise ValueError(f"There is no pool {unknown[0]}. Pools: {', '.join(found.pools)}.")
    state = StateSnapshot(
        {pool: PoolState(ready=0, slots=0) for pool in down} | {pool: PoolState(full=True) for pool in full}
    )
    said: dict[str, Answer] = dict(_pairs(answers))
    notes: list[str] = []
    while True:
        try:
            decision = decide(found, request, state, answers=said, explain=True)
            break
        except AnswerNeeded as needed:
            question = needed.question
            said[question.key] = NoAnswer("not asked")
            notes.append(f"{question.key} was not asked; taken to fail, so `{question.on_error}` stands")
        except NoPool as error:
            if as_json:
                click.echo(json.dumps({"pool": None, "error": error.kind, "message": str(error)}, indent=2))
            else:
                click.echo(f"no pool ({error.kind}): {error}", err=True)
            sys.exit(FINDINGS)
    if as_json:
        hops, scores = [asdict(hop) for hop in decision.hops], [asdict(scored) for scored in decision.scores]
        value = {**decision._asdict(), "hops": hops, "scores": scores, "model": name}
        value |= {"reasons": decision.reasons, "notes": notes}
        click.echo(json.dumps(value, indent=2, ensure_ascii=False))
        return
    click.echo(f"{name} -> {decision.path_text.replace('>', ' -> ')}")
    for reason in decision.reasons:
        click.echo(f"  {reason}")
    for scored in decision.scores:
        for feature, push in scored.features:
            click.echo(f"      {'+' if push > 0 else '-'}{abs(push):.2f} {feature}")
    for note in notes:
        click.echo(f"  note: {note}")
    if decision.candidates:
        click.echo(f"  after a failure: {', '.join(decision.candidates)}")


def _request_body(prompt: str | None, body: Path | None) -> dict[str, Any]:
    if (prompt is None) == (body is None):
        raise ValueError("Give either --prompt TEXT or --body FILE.")
    if body is not None:
        try:
            value = json.loads(read_text(body))
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise ValueError(f"{body} is not JSON ({place}: {error.msg}). Give it a request body.") from error
        if not isinstance(value, dict):
            raise ValueError(f"{body} holds no JSON object. Give it a request body.")
        return value
    text = sys.stdin.read() if prompt == "-" else prompt
    return {"messages": [{"role": "user", "content": text}]}


def _pairs(texts: tuple[str, ...], *, lower: bool = False) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        if not mark or not name:
            raise ValueError(f"{text!r} has no name and value. Write NAME=VALUE.")
        found[name.lower() if lower else name] = value
    return found


@policy.command()
@click.argument("file", type=FILE)
@click.option("--requests", default=10_000, show_default=True, type=click.IntRange(1, 1_000_000))
@click.option("--model", help="Model name that is asked for. Default: the policy's first.")
@click.option("--down", multiple=True, metavar="POOL", help="A pool without a healthy replica.")
@json_flag
@for_people
def simulate(file: Path, requests: int, model: str | None, down: tuple[str, ...], as_json: bool) -> None:
    """Draw many requests through FILE and say what each pool would get.

    The prompts are a fixed mix of easy and hard ones; `replay` takes your own.
    """
    from stellwerk.serving.decision.log import sample_log
    from stellwerk.serving.decision.replay import dearest_pool
    from stellwerk.serving.decision.replay import replay as run
    from stellwerk.serving.decision.state import PoolState

    found = read_policy(file)
    name = model or next(iter(found.models))
    result = run(found, sample_log(requests, name), pools={pool: PoolState(ready=0, slots=0) for pool in down})
    _show(result, as_json, found.policy.gateway.baseline or dearest_pool(found), own_log=False)


@policy.command()
@click.argument("file", type=FILE)
@click.argument("log", type=FILE)
@click.option("--model", help="Model name where a line of the log has none. Default: the policy's first.")
@click.option("--baseline", metavar="POOL", help="What would have answered all. Default: the policy's, else --strong.")
@click.option("--strong", metavar="POOL", help="Pool that the log's grades `strong` are for. Default: the baseline.")
@click.option("--weak", metavar="POOL", help="Pool that the log's grades `weak` are for.")
@json_flag
@for_people
def replay(
    file: Path, log: Path, model: str | None, baseline: str | None, strong: str | None, weak: str | None, as_json: bool
) -> None:
    """Run LOG (JSON Lines) through FILE and predict shares, cost and quality."""
    from stellwerk.serving.decision.log import read_log
    from stellwerk.serving.decision.replay import dearest_pool
    from stellwerk.serving.decision.replay import replay as run

    found = read_policy(file)
    for pool in (baseline, strong, weak):
        if pool is not None and pool not in found.pools:
            raise ValueError(f"There is no pool {pool}. Pools: {', '.join(found.pools)}.")
    against = baseline or found.policy.gateway.baseline or strong or dearest_pool(found)
    entries = read_log(log, model=model or next(iter(found.models)), strong=strong or against, weak=weak)
    _show(run(found, entries, baseline=against), as_json, against)


def _show(result: Replayed, as_json: bool, baseline: str | None = None, *, own_log: bool = True) -> None:
    if as_json:
        value = {
            "requests": result.requests,
            "shares": result.shares,
            "pools": result.pools,
            "paths": result.paths,
            "errors": result.errors,
            "judged": result.judged,
            "cost": result.cost,
            "baseline": baseline,
            "baseline_cost": result.baseline_cost,
            "graded": result.graded,
            "quality": result.quality / result.graded if result.graded else None,
            "baseline_quality": result.baseline_quality / result.graded if result.graded else None,
            "assumed_tokens": result.assumed_tokens,
        }
        click.echo(json.dumps(value, indent=2))
        return
    shown = table("pool", "requests", "share")
    for pool, share in result.shares.items():
        shown.add_row(plain(pool), str(result.pools[pool]), f"{share:.1%}")
    for kind, count in result.errors.most_common():
        shown.add_row(f"no pool: {plain(kind)}", str(count), "")
    out.print(shown)
    shown = table("path", "requests")
    for path, count in result.paths.most_common(12):
        shown.add_row(plain(path), str(count))
    out.print(shown)
    for judge, count in result.judged.items():
        click.echo(f"{judge} would be asked {count} times; its `on_error` was taken here.")
    if result.cost is not None and result.cost > 0:
        line = f"cost {result.cost:.4f}"
        if result.baseline_cost:
            saved = 1 - result.cost / result.baseline_cost
            words = f"{saved:.1%} less" if saved >= 0 else f"{-saved:.1%} more"
            line += f", {words} than {baseline} alone ({result.baseline_cost:.4f})"
        assumed = f" (answer lengths assumed for {result.assumed_tokens} requests)" if result.assumed_tokens else ""
        click.echo(line + assumed)
    elif result.cost is None:
        click.echo("No cost: not every pool that answered has a `price`.")
    if not own_log:
        return
    if not result.graded:
        click.echo("No quality: the log has no grades of these pools. Say whose they are with --strong and --weak.")
    else:
        alone = result.baseline_quality / result.graded
        click.echo(
            f"quality {result.quality / result.graded:.3f} on {result.graded} graded; {baseline} alone {alone:.3f}"
        )


@policy.command()
@click.argument("name", required=False)
@click.option("--out", "target", type=FILE, help="Where the policy goes. Default: standard output.")
@for_people
def example(name: str | None, target: Path | None) -> None:
    """Write an example policy to begin with; without NAME, list them."""
    from importlib import resources

    folder = resources.files("stellwerk_resources") / "policies"
    texts = {
        entry.name.removesuffix(".yaml"): entry.read_text(encoding="utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".yaml")
    }
    if name is None:
        shown = table("example", "what it is for")
        for key, text in texts.items():
            shown.add_row(plain(key), plain(text.partition("\n")[0].removeprefix("# ")))
        out.print(shown)
    elif name not in texts:
        raise ValueError(f"There is no example {name}. Examples: {', '.join(texts)}.")
    elif target is not None and target.exists():
        raise ValueError(f"{target} is there already. Name another file.")
    else:
        _give(texts[name], target)


@policy.command("import")
@click.argument("routes", type=FILE)
@click.option("--out", "target", type=FILE, help="Where the policy goes. Default: standard output.")
@for_people
def import_(routes: Path, target: Path | None) -> None:
    """Take over Switchyard's ROUTES (routes.toml) as a policy; what it cannot say is listed."""
    from stellwerk.serving.policy.switchyard_import import import_switchyard

    found = import_switchyard(read_text(routes))
    _give(found.text, target)
    _list_losses(found.losses)


@policy.command()
@click.argument("file", type=FILE)
@click.option("--out", "target", type=FILE, help="Where routes.toml goes. Default: standard output.")
@click.option("--node", "nodes", multiple=True, metavar="NAME=HOST", help="Address of a node.")
@for_people
def export(file: Path, target: Path | None, nodes: tuple[str, ...]) -> None:
    """Write FILE as Switchyard's routes.toml; what that cannot say is listed."""
    from stellwerk.serving.policy.switchyard_export import export_switchyard

    found = export_switchyard(read_policy(file).policy, _pairs(nodes))
    _give(found.text, target)
    _list_losses(found.losses)


def _list_losses(losses: tuple[Any, ...]) -> None:
    if losses:
        click.echo(f"{len(losses)} things are not the same:", err=True)
    for loss in losses:
        click.echo(f"  {loss}", err=True)


@policy.command()
@click.option("--out", "target", type=FILE, help="Where the schema goes. Default: standard output.")
@for_people
def schema(target: Path | None) -> None:
    """Write the JSON Schema of policy files, for editors that complete and check them."""
    from stellwerk.serving.policy.schema import policy_schema

    _give(json.dumps(policy_schema(), indent=2) + "\n", target)


def _give(text: str, target: Path | None) -> None:
    if target is None:
        click.echo(text, nl=False)
    else:
        replace_file(target, text)


def replace_file(path: Path, text: str) -> None:
    """Write a file as a whole or not at all, line ends as they are in the text. A link stays a link."""
    path = path.resolve()
    partial = path.with_name(f".{path.name}.part")
    partial.write_bytes(text.encode("utf-8"))
    if path.exists():
        partial.chmod(path.stat().st_mode & 0o777)
    partial.replace(path)
