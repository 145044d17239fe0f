"""`stellwerk measure collectives --cluster`: the same table, with one rank per machine over the fabric."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress as Bar

from stellwerk.cli.common import DONE, ERROR, FINDINGS, command
from stellwerk.cli.measure import show_result
from stellwerk.cli.nodes import connected
from stellwerk.measure import cluster as benchmark
from stellwerk.measure import collectives_report as report
from stellwerk.measure.collectives import Progress
from stellwerk.model.fabric import TopologyKind
from stellwerk.setup.look import take_look
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterStore


@command
async def measure_cluster(
    name: str | None, plan: benchmark.ClusterPlan, tune: bool, json_file: Path | None, csv_file: Path | None
) -> int:
    """Connect, measure, show, store. `plan.tuning` None: the table in the cluster's folder."""
    from dataclasses import replace

    stdout = Path("-")
    to_stdout = stdout in (json_file, csv_file)
    console = Console(stderr=to_stdout)
    folder = ClusterStore().find(name)
    plan = replace(plan, tuning=plan.tuning or folder.path / benchmark.TUNING_FILE)
    with folder.lock():
        async with ClusterSession.open(folder) as session:
            if await connected(session) or not session.ready:
                return ERROR  # with a machine away the figures would be those of another cluster
            kind = session.cluster.topology
            look = await take_look(session, TopologyKind(kind) if kind else None)
            with Bar(console=console, transient=True) as bar:
                measured = await benchmark.ClusterBench(session, look, plan, _shown_on(bar)).run()
    _say_where(console, measured)
    show_result(console, measured.result)
    for line in measured.fallbacks:
        console.print(line, markup=False, highlight=False)
    if tune and plan.tuning is not None:
        for line in benchmark.store_tuning(measured, plan.tuning):
            console.print(f"stored: {line}", markup=False, highlight=False)
    if json_file is not None:
        text = json.dumps(benchmark.to_json(measured), indent=1)
        click.echo(text) if json_file == stdout else json_file.write_text(text + "\n", encoding="utf-8")
    if csv_file is not None:
        text = report.to_csv(measured.result)
        click.echo(text, nl=False) if csv_file == stdout else csv_file.write_text(text, encoding="utf-8")
    return FINDINGS if any(cell.wrong for cell in measured.result.cells) else DONE


def _shown_on(bar: Bar) -> Callable[[Progress], None]:
    task = bar.add_task("measuring", total=None)
    return lambda p: bar.update(task, completed=p.done, total=p.of or None, description=p.what)


def _say_where(console: Console, measured: benchmark.ClusterResult) -> None:
    words = f"One rank on each of {', '.join(measured.nodes)}, over the fabric"
    if measured.simulated:
        words += ". Simulated machines: the ranks share this computer, so these are its figures, not a cluster's"
    console.print(f"{words}.", markup=False, highlight=False)
