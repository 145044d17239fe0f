"""`stellwerk measure`: benchmarks of the cluster's parts."""

from __future__ import annotations

import json
from pathlib import Path

import click

from stellwerk.cli.measure_models import decode, training
from stellwerk.cli.measure_options import STDOUT, WRITTEN, numbers, place, words
from stellwerk.collectives.kinds import Topology


@click.group()
def measure() -> None:
    """Measure collectives, and decoding and training over them, with rivals in the same run."""


measure.add_command(decode)
measure.add_command(training)


def _sizes(_: click.Context, __: click.Parameter, text: str) -> tuple[int, ...]:
    from stellwerk.measure.collectives_report import parse_size

    try:
        if ".." in text:
            low, high = (parse_size(part) for part in text.split("..", 1))
            sizes = []
            while low <= high:
                sizes.append(low)
                low *= 4
            return tuple(sizes)
        return tuple(sorted({parse_size(part) for part in text.split(",")}))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@measure.command("collectives")
@click.option("--ranks", default="2,4,8", callback=numbers, help="Numbers of ranks, e.g. 2,4,8.")
@click.option("--sizes", default="1K..16M", callback=_sizes, help="Sizes, e.g. 1K,8K,1M, or 1K..16M in steps of four.")
@click.option("--transports", default="shm,tcp", callback=words, help="What carries the bytes: shm, tcp, python.")
@click.option("--algorithms", default="direct,two_shot,recursive_doubling,ring", callback=words, help="Beside `auto`.")
@click.option("--rivals", default="gloo,ompi-tcp,ompi-shm", callback=words, help="Measured in the same run, or none.")
@click.option("--link-delay-us", default=0.0, help="Emulate a link with this delay (our own transports only).")
@click.option("--link-gbps", default=0.0, help="Emulate a link with this rate.")
@click.option("--topology", type=click.Choice([t.value for t in Topology]), help="How the nodes are joined.")
@click.option(
    "--rounds", type=click.IntRange(1), default=3, show_default=True, help="Turns that every contender gets per size."
)
@click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), default=0.15, show_default=True, help="Time per cell."
)
@click.option("--tune", is_flag=True, help="Store the fastest algorithm per size as the dispatch table.")
@click.option("--tuning-file", type=WRITTEN, help="The file for --tune (default: the user's own).")
@click.option(
    "--cluster",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="One rank per node of a cluster, over its fabric, in place of this computer; --tune stores with it.",
)
@click.option("--json", "json_file", type=WRITTEN, callback=place, help="Write the figures as JSON (- for stdout).")
@click.option("--csv", "csv_file", type=WRITTEN, callback=place, help="Write the figures as CSV (- for stdout).")
@click.pass_context
def collectives(
    context: click.Context,
    ranks: tuple[int, ...],
    sizes: tuple[int, ...],
    transports: tuple[str, ...],
    algorithms: tuple[str, ...],
    rivals: tuple[str, ...],
    link_delay_us: float,
    link_gbps: float,
    topology: str | None,
    rounds: int,
    seconds: float,
    tune: bool,
    tuning_file: Path | None,
    json_file: Path | None,
    csv_file: Path | None,
    cluster: str | None,
) -> None:
    """Measure all_reduce between ranks on this computer: each algorithm, Gloo and Open MPI, cell by cell in turns.

    Figures are median / 99th percentile in µs of the slowest rank; every cell is also checked (#wrong).
    """
    if cluster is not None:
        from stellwerk.cli.measure_cluster import measure_cluster
        from stellwerk.measure.cluster import ClusterPlan

        default = click.core.ParameterSource.DEFAULT
        counts = () if context.get_parameter_source("ranks") is default else ranks
        transport = "auto" if context.get_parameter_source("transports") is default else transports[0]
        on_cluster = ClusterPlan(counts, sizes, algorithms, transport, rounds, seconds, tuning_file)
        return measure_cluster(cluster or None, on_cluster, tune, json_file, csv_file)
    from rich.console import Console
    from rich.progress import Progress as Bar

    from stellwerk.collectives.engine import Link
    from stellwerk.measure import collectives as benchmark
    from stellwerk.measure import collectives_report as report

    to_stdout = STDOUT in (json_file, csv_file)
    console = Console(stderr=to_stdout)
    if not console.is_terminal:
        console = Console(stderr=to_stdout, width=180)  # a file or a pipe: wrapped tables would be of no use
    try:
        plan = benchmark.Plan(
            ranks=ranks,
            sizes=sizes,
            transports=transports,
            algorithms=algorithms,
            rivals=rivals,
            rounds=rounds,
            seconds_per_cell=seconds,
            link=Link(link_delay_us, link_gbps),
            topology=Topology(topology) if topology else None,
        )
        with Bar(console=console, transient=True) as bar:
            task = bar.add_task("measuring", total=None)
            result = benchmark.measure(
                plan, lambda p: bar.update(task, completed=p.done, total=p.of, description=p.what)
            )
    except (ValueError, benchmark.MeasurementFailed) as error:
        from stellwerk.cli.common import ERROR, show_error
        from stellwerk.model.errors import StellwerkError

        show_error(StellwerkError("the collectives could not be measured", why=str(error)))
        raise click.exceptions.Exit(ERROR) from error
    show_result(console, result)
    if tune:
        kind = Topology(topology) if topology else Topology.HOST if plan.link.real else Topology.MESH
        for line in report.store_tuning(result, kind, tuning_file):
            console.print(f"stored: {line}", markup=False, highlight=False)
    if json_file is not None:
        text = json.dumps(report.to_json(result), indent=1)
        click.echo(text) if json_file == STDOUT else json_file.write_text(text + "\n", encoding="utf-8")
    if csv_file is not None:
        text = report.to_csv(result)
        click.echo(text, nl=False) if csv_file == STDOUT else csv_file.write_text(text, encoding="utf-8")
    from stellwerk.cli.common import FINDINGS

    if any(cell.wrong for cell in result.cells):
        raise click.exceptions.Exit(FINDINGS)


def show_result(console: object, result: object) -> None:
    """Tables and sentences of a measurement."""
    from rich.console import Console
    from rich.table import Table

    from stellwerk.measure import collectives_report as report
    from stellwerk.measure.collectives import Result

    assert isinstance(console, Console)
    assert isinstance(result, Result)
    for ranks in result.plan.ranks:
        heads, lines = report.table(result, ranks)
        if not any(result.cell(c.name, ranks, s) for c in result.contenders for s in result.plan.sizes):
            continue
        # One line per contender, one column per size: there are more contenders than a terminal has room for.
        table = Table(title=f"all_reduce, {ranks} ranks, median / p99 in µs", title_justify="left")
        table.add_column("")
        for cells in lines:
            table.add_column(cells[0], justify="right", no_wrap=True)
        for index, head in enumerate(heads[1:], start=1):
            table.add_row(head, *(cells[index] for cells in lines))
        console.print(table)
    for line in (*report.sentences(result), *(f"not measured: {m}" for m in result.missing)):
        console.print(line, markup=False, highlight=False)
