"""`stellwerk policy train | evaluate | calibrate`: the embedded classifier on graded prompts."""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

import click

from stellwerk.cli.common import ERROR, show_error
from stellwerk.model.errors import BadInput

P = ParamSpec("P")
R = TypeVar("R")
FILE = click.Path(dir_okay=False, path_type=Path)


def in_words(error: OSError | ValueError) -> str:
    """An error without the system's number in front: which file, and what is wrong with it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'A file'} cannot be used: {error.strerror}."
    return str(error)


def _for_people(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except ModuleNotFoundError as error:
            show_error(
                BadInput("Training needs numpy.", why=str(error), remedy="pip install 'stellwerk[training]', or numpy")
            )
        except (OSError, ValueError) as error:
            show_error(BadInput(in_words(error)))
        sys.exit(ERROR)

    return run


@click.command()
@click.argument("data", nargs=-1, required=True, type=FILE)
@click.option("--out", "target", required=True, type=FILE, help="Where the weights go.")
@click.option("--seed", default=0, show_default=True, help="Of the five folds.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@_for_people
def train(data: tuple[Path, ...], target: Path, seed: int, as_json: bool) -> None:
    """Train the embedded classifier on DATA (JSON Lines: prompt, strong, weak, group).

    Prints APGR and CPT50 of every set on held-out prompts, and on subjects that were not in training. A policy uses the
    result with `classifiers: {NAME: {kind: embedded, weights: FILE}}`.
    """
    # More threads only get in each other's way on products as small as these; numpy reads this when it is imported.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    from stellwerk.serving.classifier.data import read_examples
    from stellwerk.serving.classifier.model import save_weights
    from stellwerk.serving.classifier.training import Options
    from stellwerk.serving.classifier.training import train as run

    if not os.access(target.parent, os.W_OK):
        raise ValueError(f"{target} cannot be written: there is no folder {target.parent} that you may write to.")
    begun_s = perf_counter()
    sets = {_set_name(path, data): read_examples(path) for path in data}
    trained = run(sets, Options(seed=seed), say=(lambda line: None) if as_json else click.echo)
    save_weights(trained.weights, target)
    took_s = perf_counter() - begun_s
    if as_json:
        click.echo(json.dumps({"out": str(target), "seconds": round(took_s, 2), "figures": trained.report}, indent=2))
    else:
        click.echo(f"{target}: {target.stat().st_size / 1000:.0f} kB, {took_s:.1f} s")


def _set_name(path: Path, paths: tuple[Path, ...]) -> str:
    return path.stem if sum(other.stem == path.stem for other in paths) == 1 else str(path)


@click.command()
@click.argument("data", type=FILE)
@click.option("--model", type=FILE, help="Weights. Default: the shipped ones.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@_for_people
def evaluate(data: Path, model: Path | None, as_json: bool) -> None:
    """Say how well a classifier ranks DATA (JSON Lines: prompt, strong, weak, group).

    Prompts that it was trained on flatter it; `train` prints figures on held-out ones.
    """
    from stellwerk.serving.classifier.data import read_examples
    from stellwerk.serving.classifier.quality import quality

    examples = read_examples(data)
    classifier = _model(model)
    begun_s = perf_counter()
    gains = [classifier.estimate(example.text).gain for example in examples]
    each_us = (perf_counter() - begun_s) / len(examples) * 1e6
    found = quality(gains, [example.strong for example in examples], [example.weak for example in examples])
    if as_json:
        click.echo(json.dumps(asdict(found) | {"microseconds_per_prompt": round(each_us, 1)}, indent=2))
        return
    click.echo(f"{found.prompts} prompts; strong right {found.strong_right:.3f}, weak right {found.weak_right:.3f}")
    click.echo(f"APGR {found.apgr:.3f} (.5 is chance), CPT50 {found.cpt50:.3f}, {each_us:.0f} µs a prompt")


@click.command()
@click.argument("log", type=FILE)
@click.option("--model", type=FILE, help="Weights. Default: the shipped ones.")
@click.option("--share", help="Share of calls for the easier side, as 70%.")
@click.option("--quality", "floor", help="Least quality, as a share of the strong model's, as 95%. Needs grades.")
@click.option("--policy", "policy_path", type=FILE, help="Write the threshold into this policy, nothing else.")
@click.option("--step", help="The `classify` step that gets it, if the policy has several.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@_for_people
def calibrate(
    log: Path,
    model: Path | None,
    share: str | None,
    floor: str | None,
    policy_path: Path | None,
    step: str | None,
    as_json: bool,
) -> None:
    """Find the threshold that gives the easier side a share of LOG, or keeps a least quality."""
    from stellwerk.serving.classifier.calibration import calibrate_to_quality, calibrate_to_share
    from stellwerk.serving.classifier.data import BadData, read_examples, read_lines, text_to_judge

    if (share is None) == (floor is None):
        raise ValueError("Give either --share or --quality.")
    classifier = _model(model)
    if floor is not None:
        examples = read_examples(log)
        scores = [classifier.score(example.text) for example in examples]
        strong, weak = [example.strong for example in examples], [example.weak for example in examples]
        found = calibrate_to_quality(scores, strong, weak, _fraction(floor, "--quality"))
    else:
        texts = [(number, text_to_judge(value)) for number, value in read_lines(log)]
        for number, text in texts:
            if text is None:
                raise BadData(f"{log}, line {number}: there is no `prompt` and no `messages`. Add one of them.")
        scores = [classifier.score(text) for _, text in texts if text is not None]
        found = calibrate_to_share(scores, _fraction(share or "", "--share"))
    if policy_path is not None:
        step = _write_threshold(policy_path, step, found.threshold)
    if as_json:
        click.echo(json.dumps(asdict(found), indent=2))
        return
    click.echo(f"threshold: {found.threshold:.4f}")
    click.echo(f"{found.easy_share:.1%} of the calls go to the easier side")
    if found.quality is not None and found.strong_quality:
        relative = found.quality / found.strong_quality
        click.echo(f"quality {found.quality:.3f}, {relative:.1%} of the strong model's {found.strong_quality:.3f}")
    if policy_path is not None:
        click.echo(f"written to {policy_path}, step {step}")


def _fraction(text: str, option: str) -> float:
    from stellwerk.serving.policy.reader import parse_fraction

    value = parse_fraction(text)
    if value is None or not 0 <= value <= 1:
        raise ValueError(f"{option} {text!r} is no share. Write it like 70% or 0.7.")
    return value


def _write_threshold(path: Path, step: str | None, threshold: float) -> str:
    """Patch `threshold` of a step, the only one unless named; a `share` makes way, the two exclude each other.

    Returns the step's name.
    """
    from stellwerk.cli.policy import read_policy, read_text, replace_file
    from stellwerk.serving.policy.edit import remove, set_value
    from stellwerk.serving.policy.load import parse_policy
    from stellwerk.serving.policy.model import Classify, LlmClassifier
    from stellwerk.serving.policy.patch import apply_patch

    policy = read_policy(path).policy
    steps = policy.steps
    fitting = [
        name
        for name, found in steps.items()
        if isinstance(found, Classify)
        and len(found.to) == 2
        and not isinstance(policy.classifiers.get(found.classifier), LlmClassifier)
    ]
    if step is None and len(fitting) == 1:
        step = fitting[0]
    if step is None or step not in fitting:
        raise ValueError(
            "--step must name a `classify` step with two labels whose classifier is embedded. "
            f"There: {', '.join(fitting) or 'none'}."
        )
    text = read_text(path)
    found = steps[step]
    assert isinstance(found, Classify)
    if found.shares is not None:
        text = apply_patch(text, remove(text, ("steps", step, "share")))
    text = apply_patch(text, set_value(text, ("steps", step, "threshold"), round(threshold, 4)))
    parse_policy(text)
    replace_file(path, text)
    return step


def _model(path: Path | None) -> Any:
    from stellwerk.serving.classifier.load import load_difficulty

    return load_difficulty(str(path) if path is not None else None)
