"""`stellwerk mesh on | verify | off`: machines may reach each other by SSH."""

from __future__ import annotations

import click

from stellwerk.cli.common import (
    DONE,
    ERROR,
    FINDINGS,
    cluster_option,
    command,
    err,
    json_option,
    out,
    plain,
    table,
    take_over_option,
    write_json,
)
from stellwerk.cli.nodes import connected, open_cluster
from stellwerk.cli.prompting import confirm
from stellwerk.setup.mesh import MeshReport, mesh_off, mesh_on, mesh_verify

WHAT = """\
Each node makes a key of its own, which never leaves it. In ~/.ssh of every node there will be:
  stellwerk/        that key, the pinned host keys of the others, and one alias per node
  config            one Include line at the top, marked
  authorized_keys   the public keys of the others, marked
Taken out again by `stellwerk mesh off`, and when a node is un-paired."""


@click.group()
def mesh() -> None:
    """Nodes may reach each other by SSH: for mpirun and the NCCL tests."""


@mesh.command("on")
@cluster_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@take_over_option
@json_option
@command
async def on(cluster_name: str | None, yes: bool, take_over: bool, json_path: str | None) -> int:
    """Set it up on all nodes and try every pair."""
    async with open_cluster(cluster_name, lock=True) as (_, session):
        if await connected(session):
            return ERROR
        err.print(WHAT, style="dim")
        if not yes and not await confirm("Set this up?"):
            return DONE
        await session.hold(force=take_over)
        report = await mesh_on(session)
    return _show(report, json_path)


@mesh.command("verify")
@cluster_option
@json_option
@command
async def verify(cluster_name: str | None, json_path: str | None) -> int:
    """Try every pair again."""
    async with open_cluster(cluster_name) as (_, session):
        if await connected(session):
            return ERROR
        report = await mesh_verify(session)
    return _show(report, json_path)


@mesh.command("off")
@cluster_option
@take_over_option
@command
async def off(cluster_name: str | None, take_over: bool) -> int:
    """Take it out of all nodes; their SSH files are then as they were."""
    async with open_cluster(cluster_name, lock=True) as (_, session):
        if await connected(session):
            return ERROR
        await session.hold(force=take_over)
        removed = await mesh_off(session)
    for name, paths in removed.items():
        out.print(f"{plain(name)}: {plain(', '.join(paths)) or 'nothing was there'}")
    return DONE


def _show(report: MeshReport, json_path: str | None) -> int:
    if json_path:
        write_json(json_path, report)
    if json_path != "-":
        rows = table("From", "To", "By", "Over", "Result")
        for pair in report.tried:
            result = "works" if not pair.error else f"[red]{plain(pair.error)}[/]"
            rows.add_row(plain(pair.source), plain(pair.target), plain(pair.address), pair.over, result)
        out.print(rows)
        for note in report.notes:
            out.print(f"  {plain(note)}", style="dim")
        works = sum(not pair.error for pair in report.tried)
        out.print(f"{works} of {len(report.tried)} pairs work")
    return DONE if report.works else FINDINGS
