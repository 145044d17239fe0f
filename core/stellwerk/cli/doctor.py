"""`stellwerk doctor`: everything that can be found wrong, in plain words with evidence."""

from __future__ import annotations

import click

from stellwerk.cli.common import DONE, ERROR, FINDINGS, cluster_option, command, json_option, out, plain, write_json
from stellwerk.cli.nodes import connected, open_cluster
from stellwerk.doctor import examine, open_case
from stellwerk.model.fabric import TopologyKind
from stellwerk.setup import history
from stellwerk.setup.look import take_look

COLOUR = {"bad": "red", "warn": "yellow", "info": "blue"}


@click.command()
@cluster_option
@json_option
@command
async def doctor(cluster_name: str | None, json_path: str | None) -> int:
    """Run all checks: findings with evidence, meaning and remedy; what could not be checked is its own group."""
    async with open_cluster(cluster_name) as (folder, session):
        errors = await connected(session)
        if not session.ready:
            return ERROR
        kind = TopologyKind(session.cluster.topology) if session.cluster.topology else None
        look = await take_look(session, kind)
        agents = {name: link.hello.agent_version for name, link in session.links.items() if link.hello}
    case = open_case(
        look.members,
        look.topology,
        kind,
        cable_findings=look.cable_findings,
        agents=agents,
        proof=history.newest(folder.reports),
    )
    diagnosis = examine(case)
    if json_path:
        write_json(json_path, diagnosis)
    if json_path != "-":
        for finding in diagnosis.findings:
            colour = COLOUR[finding.severity.value]
            where = " ".join(p for p in (finding.node, finding.subject) if p)
            out.print(f"[{colour}]{finding.severity.value:4}[/] [bold]{plain(finding.title)}[/] {plain(where)}")
            for line in finding.evidence:
                out.print(f"     {plain(line)}", style="dim")
            if finding.meaning:
                out.print(f"     {plain(finding.meaning)}")
            for number, step in enumerate(finding.remedy, 1):
                out.print(f"     {number}. {plain(step)}")
        for what, why in diagnosis.not_available:
            out.print(f"[magenta]not available[/] {plain(what)}: {plain(why)}")
        counts = f"{len(diagnosis.findings)} findings, {len(diagnosis.fine)} of {diagnosis.count} checks are fine"
        out.print(counts + (f", {len(diagnosis.not_available)} not available" if diagnosis.not_available else ""))
    worst = any(f.severity.value != "info" for f in diagnosis.findings)
    return ERROR if errors else FINDINGS if worst else DONE
