"""`stellwerk env`: the variables that NCCL, UCX, Gloo and MPI need on each machine, resolved now."""

from __future__ import annotations

from pathlib import Path

import click

from stellwerk.cli.common import DONE, ERROR, cluster_option, command, err, json_option, out, plain, table, write_json
from stellwerk.cli.nodes import connected, open_cluster
from stellwerk.fabric.environment import environments, render_shell
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import TopologyKind
from stellwerk.setup.look import take_look


@click.command(name="env")
@click.argument("node", required=False)
@cluster_option
@click.option(
    "--write", "folder", type=click.Path(file_okay=False, path_type=Path), default=None, help="One NAME.sh each."
)
@click.option("--why", is_flag=True, help="The reason of every value.")
@json_option
@command
async def env(node: str | None, cluster_name: str | None, folder: Path | None, why: bool, json_path: str | None) -> int:
    """Show, or write to files, the environment of every node. It is read from the nodes every time."""
    async with open_cluster(cluster_name) as (_, session):
        if await connected(session):
            return ERROR
        kind = TopologyKind(session.cluster.topology) if session.cluster.topology else None
        look = await take_look(session, kind)
    found = environments(look.members, look.topology, kind)
    if node is not None:
        found = tuple(e for e in found if e.node == node)
        if not found:
            raise BadInput(f"there is no node {node!r}", remedy=f"Known: {', '.join(m.name for m in look.members)}")
    if json_path:
        write_json(json_path, found)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for environment in found:
            path = folder / f"{environment.node}.sh"
            path.write_text(render_shell(environment), encoding="utf-8")
            err.print(f"· {path}", style="dim")
    elif json_path != "-":
        for environment in found:
            rows = table("Variable", "Value", *(("Why",) if why else ()), title=plain(environment.node))
            for name, value in environment.variables.items():
                rows.add_row(name, plain(value), *((plain(environment.reasons.get(name, "")),) if why else ()))
            out.print(rows)
    return DONE
