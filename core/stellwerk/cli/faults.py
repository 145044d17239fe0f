"""`stellwerk faults`: every fault at every moment of an apply, on simulated machines, as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import click

from stellwerk.cli.common import DONE, FINDINGS, command, err, json_option, out, plain, table, write_json
from stellwerk.model.errors import BadInput
from stellwerk.virtual.walk.moments import FAULTS, Moment


@click.command()
@click.option("--topology", type=click.Choice(["pair", "ring", "switch"]), default="pair", show_default=True)
@click.option("--nodes", type=int, default=None, help="Default: 2 for a pair, 4 for a ring, 8 for a switch.")
@click.option("--side-by-side", "count", type=int, default=None, help="So many clusters at once. Default: what fits.")
@click.option("--fault", "only_faults", multiple=True, help=f"Only this one: {', '.join(f.key for f in FAULTS)}.")
@click.option("--moment", "only_moments", multiple=True, help="Only this one, as named in the table.")
@click.option("--victim", type=int, default=2, show_default=True, help="The node that is struck, from 1.")
@json_option
@command
async def faults(
    topology: str,
    nodes: int | None,
    count: int | None,
    only_faults: tuple[str, ...],
    only_moments: tuple[str, ...],
    victim: int,
    json_path: str | None,
) -> int:
    """Break simulated machines at every moment of an apply and show where they end: all on old, or all on new."""
    from stellwerk.virtual.walk.table import all_jobs, lanes, walk

    chosen = nodes or {"pair": 2, "ring": 4, "switch": 8}[topology]
    fitting = 1 if topology == "switch" else max(1, 8 // chosen)
    if not 1 <= victim <= chosen:
        raise BadInput(f"there is no node {victim}", remedy=f"choose 1 to {chosen}")
    began = time.monotonic()
    async with lanes(topology, chosen, count or fitting) as made:
        moments = [m for m in made[0].moments if not only_moments or m.key in only_moments]
        wanted = [f for f in FAULTS if not only_faults or f.key in only_faults]
        jobs = all_jobs(moments, wanted)
        if not jobs:
            raise BadInput("nothing is left to walk", remedy="see the names with `stellwerk faults --help`")
        err.print(f"· {len(made)} × {topology} of {chosen} ready, {len(jobs)} walks", style="dim")
        done: list[Any] = []

        def show(row: Any) -> None:
            done.append(row)
            mark = "[red]BROKEN[/] " if row.problems else ""
            err.print(
                f"[dim]{len(done)}/{len(jobs)}[/] {row.fault} at {row.moment}: {mark}{row.first} → {row.end} "
                f"{plain('; '.join(row.problems))} [dim]{plain(row.why)} ({row.seconds} s)[/]"
            )

        rows = await walk(made, jobs, show, victim - 1)
    if json_path:
        write_json(json_path, {"topology": topology, "nodes": chosen, "rows": rows})
    if json_path != "-":
        show_table(rows, moments)
        spent = time.monotonic() - began
        broken = sum(bool(row.problems) for row in rows)
        out.print(f"{len(rows)} walks over {topology} of {chosen}, {broken} with problems, {spent:.0f} s")
    return FINDINGS if any(row.problems for row in rows) else DONE


def show_table(rows: Sequence[Any], moments: Sequence[Moment]) -> None:
    """Moments down, faults across; each cell says where all machines ended."""
    kinds = [f for f in FAULTS if any(r.fault == f.key for r in rows)]
    made = table("Moment", *(f.key for f in kinds))
    for moment in moments:
        cells = []
        for kind in kinds:
            row = next((r for r in rows if r.fault == kind.key and r.moment == moment.key), None)
            cells.append("" if row is None else f"[red]{row.end} ![/]" if row.problems else row.end)
        made.add_row(moment.key, *cells)
    out.print(made)
    out.print("old, new: on which network every node ended, the same on all. Struck were:", style="dim")
    for kind in kinds:
        out.print(f"  {kind.key:13} {kind.text}", style="dim")
    for row in rows:
        for problem in row.problems:
            out.print(f"[red]{row.fault} at {row.moment}[/] {plain(problem)}")
