"""`stellwerk measure decode`: a model split over ranks of this computer, with each all-reduce."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from stellwerk.cli.common import DONE, FINDINGS, command, err, out, plain, table
from stellwerk.cli.measure_options import STDOUT, WRITTEN, numbers, place, words
from stellwerk.model.errors import StellwerkError

if TYPE_CHECKING:
    from rich.console import Console

    from stellwerk.measure.collectives import Progress

_json = click.option(
    "--json", "json_file", type=WRITTEN, callback=place, help="Write the figures as JSON (- for stdout)."
)


@contextmanager
def _progress() -> Iterator[Callable[[Progress], None]]:
    """A bar on standard error."""
    from rich.progress import Progress as Bar

    with Bar(console=err, transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda p: bar.update(task, completed=p.done, total=p.of, description=p.what)


def _show(
    console: Console, title: str, heads: tuple[str, ...], rows: Sequence[Sequence[str]], sentences: list[str]
) -> None:
    shown = table(*heads, title=title, whole=heads)
    for row in rows:
        shown.add_row(*(plain(cell) for cell in row))
    console.print(shown)
    for line in sentences:
        console.print(line, markup=False)


def _write(json_file: Path | None, figures: dict[str, Any]) -> None:
    if json_file is not None:
        text = json.dumps(figures, indent=1)
        click.echo(text) if json_file == STDOUT else json_file.write_text(text + "\n", encoding="utf-8")


@click.command("decode")
@click.option("--ranks", default="1,2,4", show_default=True, callback=numbers, help="Numbers of ranks, e.g. 1,2,4.")
@click.option("--layers", type=click.IntRange(1), default=4, show_default=True, help="Two all-reduces each per token.")
@click.option(
    "--width",
    type=click.IntRange(2),
    default=512,
    show_default=True,
    help="4 bytes of each go into an all-reduce.",
)
@click.option("--heads", type=click.IntRange(1), default=8, show_default=True, help="At least one for every rank.")
@click.option("--tokens", type=click.IntRange(1), default=32, show_default=True, help="Tokens to decode per turn.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Turns that every line gets.")
@click.option("--transport", type=click.Choice(["shm", "tcp"]), default="shm", show_default=True)
@click.option(
    "--link-delay-us", type=click.FloatRange(0), default=0.0, help="Emulate a link with this delay (Gloo is left out)."
)
@click.option(
    "--algorithms",
    default="direct,two_shot,recursive_doubling,ring,auto,gloo",
    show_default=True,
    callback=words,
    help="The lines of the table; gloo is the rival.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Gives the weights of the model.")
@_json
@command
async def decode(
    ranks: tuple[int, ...],
    layers: int,
    width: int,
    heads: int,
    tokens: int,
    rounds: int,
    transport: str,
    link_delay_us: float,
    algorithms: tuple[str, ...],
    seed: int,
    json_file: Path | None,
) -> int:
    """Decode token by token with a small transformer split over ranks, with each algorithm and with Gloo.

    The model has random weights. It is split like Megatron's: query, key, value and up-projection by columns, output
    and down-projection by rows; so every layer does two all-reduces per token. Every line must give the token ids of
    one rank, on every rank. Exit code 1 if one does not, 2 if it could not be measured.

    The ranks share this computer, so the speed-up of a cluster is not shown; with --link-delay-us it shows what the
    number of steps of an algorithm costs. Machines of a cluster cannot take part: what is sent to them has no torch.
    Needs torch (pip install 'stellwerk[torch]').
    """
    from stellwerk.measure import decode as benchmark
    from stellwerk.measure.collectives import MeasurementFailed

    try:
        plan = benchmark.Plan(ranks, layers, width, heads, tokens, rounds, transport, link_delay_us, algorithms, seed)
        with _progress() as progress:
            result = await benchmark.measure(plan, progress)
    except (ValueError, MeasurementFailed) as error:
        raise StellwerkError("decoding could not be measured", why=str(error)) from error
    console = err if json_file == STDOUT else out
    title = (
        f"{plan.layers} layers of width {plan.width}, {plan.tokens} tokens, all-reduces of {plan.message_bytes} bytes"
    )
    _show(console, title, benchmark.HEADS, benchmark.table(result), benchmark.sentences(result))
    _write(json_file, benchmark.to_json(result))
    return DONE if result.right else FINDINGS


@click.command("training")
@click.option("--ranks", default="1,2,4", show_default=True, callback=numbers, help="Numbers of ranks, e.g. 1,2,4.")
@click.option("--steps", type=click.IntRange(3), default=60, show_default=True, help="The first two are not timed.")
@click.option(
    "--batch", type=click.IntRange(1), default=16, show_default=True, help="Sequences per step, shared by the ranks."
)
@click.option(
    "--transport", type=click.Choice(["auto", "shm", "tcp"]), default="auto", show_default=True, help="Of our backend."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Gives the first weights and the data.")
@_json
@command
async def training(
    ranks: tuple[int, ...], steps: int, batch: int, transport: str, seed: int, json_file: Path | None
) -> int:
    """Train a small GPT data-parallel (DDP) over the backend `stellwerk` and over Gloo, beside one rank.

    It learns the characters of a book chapter. Gradients are exchanged in buckets while the backward pass runs. All
    ranks must end with the same bits, and every line must learn the same. Exit code 1 if not, 2 if it could not be
    measured.

    The ranks share this computer, so the speed-up of a cluster is not shown. Machines of a cluster cannot take part:
    what is sent to them has no torch. Needs torch (pip install 'stellwerk[torch]').
    """
    from stellwerk.measure import training as benchmark
    from stellwerk.measure.collectives import MeasurementFailed

    try:
        plan = benchmark.Plan(ranks, steps, batch, transport=transport, seed=seed)
        with _progress() as progress:
            result = await benchmark.measure(plan, progress)
    except (ValueError, MeasurementFailed) as error:
        raise StellwerkError("the training could not be measured", why=str(error)) from error
    console = err if json_file == STDOUT else out
    title = f"{result.weights} weights, {plan.batch} sequences of {plan.context} characters per step"
    _show(console, title, benchmark.HEADS, benchmark.table(result), benchmark.sentences(result))
    _write(json_file, benchmark.to_json(result))
    return DONE if result.right else FINDINGS
