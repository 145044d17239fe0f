"""`stellwerk verify | report`: prove the network, keep and show reports."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

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
    write_json,
)
from stellwerk.cli.nodes import connected, open_cluster
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Verdict, Verification
from stellwerk.model.selftest import SelfTest
from stellwerk.model.units import size_text
from stellwerk.setup import history
from stellwerk.setup.look import take_look
from stellwerk.setup.prove import prove, self_test
from stellwerk.setup.store import ClusterStore

COLOUR = {Verdict.PASS: "green", Verdict.DEGRADED: "yellow", Verdict.FAIL: "red", Verdict.NOT_AVAILABLE: "magenta"}


def show_proof(proof: Verification, *, everything: bool = False) -> None:
    """Counts per kind of check, then every check that did not pass with its reason and remedy."""
    kinds = list(dict.fromkeys(c.kind for c in proof.checks))
    rows = table("Check", "Passed", "Lowest", "Highest")
    for kind in kinds:
        checks = [c for c in proof.checks if c.kind == kind]
        values = [c.value for c in checks if c.value is not None]
        unit = next((c.unit for c in checks if c.unit), "")
        passed = sum(c.verdict is Verdict.PASS for c in checks)
        ends = (f"{min(values):.4g} {unit}", f"{max(values):.4g} {unit}") if values else ("", "")
        rows.add_row(kind, f"{passed} of {len(checks)}", *ends)
    out.print(rows)
    for check in proof.checks:
        if everything or check.verdict is not Verdict.PASS:
            colour = COLOUR[check.verdict]
            out.print(
                f"[{colour}]{check.verdict.value:8}[/] {plain(check.node)} {plain(check.subject)} {check.kind}: "
                f"{plain(check.text)}"
            )
            if check.why or check.remedy:
                out.print(f"         {plain(check.why)} {plain(check.remedy)}", style="dim")
    if proof.self_test is not None:
        show_self_test(proof.self_test)
    for note in proof.notes:
        out.print(f"  {plain(note)}", style="dim")
    count = Counter(c.verdict for c in proof.checks)
    words = ", ".join(f"{count[v]} {v.value}" for v in Verdict if count[v])
    simulated = " [cyan](simulated hardware)[/]" if proof.simulated else ""
    out.print(f"{words} in {proof.seconds:.1f} s{simulated}")


def show_self_test(test: SelfTest) -> None:
    """Every algorithm over the fabric: median µs per size, and whether each sum was exact."""
    from stellwerk.measure.collectives_report import time_text

    rows = table("All-reduce, median µs", *(size_text(size) for size in test.sizes), "Sum")
    for row in test.rows:
        times = ["-" if us is None else time_text(us) for us in row.median_us]
        rows.add_row(plain(row.algorithm), *times, f"[red]{row.wrong} wrong[/]" if row.wrong else "exact")
    out.print(rows)
    simulated = "; the machines are simulated, so their ranks share this computer" if test.simulated else ""
    out.print(f"{test.ranks} ranks over {plain(test.transport)}, {test.calls} calls{simulated}", style="dim")
    for note in test.notes:
        out.print(plain(note), style="yellow")


def write_report(path: Path, proof: Verification, old: Verification | None = None) -> None:
    """Write the HTML report."""
    from stellwerk.report import render_html

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_html(proof, old), encoding="utf-8")


@click.command()
@cluster_option
@click.option("--all", "everything", is_flag=True, help="Show the checks that passed, too.")
@click.option(
    "--report", "report_path", type=click.Path(dir_okay=False, path_type=Path), default=None, help="HTML report."
)
@click.option("--self-test", "with_self_test", is_flag=True, help="And the collectives: one rank per node.")
@json_option
@command
async def verify(
    cluster_name: str | None,
    everything: bool,
    report_path: Path | None,
    with_self_test: bool,
    json_path: str | None,
) -> int:
    """Prove the network: speed, MTU both ways, routes, neighbours, GIDs, RDMA bandwidth and latency per half."""
    async with open_cluster(cluster_name, lock=True) as (folder, session):
        await connected(session)
        if not session.ready:
            return ERROR
        kind = session.cluster.topology
        look = await take_look(session, TopologyKind(kind) if kind else None)
        proof = await prove(session, look)
        old = history.newest(folder.reports)
        history.save(folder.reports, proof)
        if with_self_test:
            proof = replace(proof, self_test=await self_test(session, look, proof))
    if json_path:
        write_json(json_path, proof)
    if report_path is not None:
        write_report(report_path, proof, old)
    if json_path != "-":
        show_proof(proof, everything=everything)
    return DONE if proof.verdict is Verdict.PASS else FINDINGS


@click.command()
@cluster_option
@click.option("--list", "listing", is_flag=True, help="All kept proofs.")
@click.option("--run", "run_id", default=None, help="Which one; default the newest.")
@click.option("--compare", "compare", default=None, metavar="RUN", help="Beside an earlier one.")
@click.option("--html", "html_path", type=click.Path(dir_okay=False, path_type=Path), default=None)
@json_option
@command
async def report(
    cluster_name: str | None,
    listing: bool,
    run_id: str | None,
    compare: str | None,
    html_path: Path | None,
    json_path: str | None,
) -> int:
    """Kept proofs: list, show, compare, export as HTML or JSON."""
    folder = ClusterStore().find(cluster_name)
    if listing:
        rows = table("Run", "When", "Result")
        for kept in history.listing(folder.reports):
            rows.add_row(kept.run_id, kept.words, kept.verdict.value)
        out.print(rows)
        return DONE
    proof = history.load(folder.reports, run_id) if run_id else history.newest(folder.reports)
    if proof is None:
        raise BadInput("there is no such proof", remedy="stellwerk report --list, or stellwerk verify")
    old = history.load(folder.reports, compare) if compare else None
    if html_path is not None:
        write_report(html_path, proof, old)
        err.print(f"· report {html_path}", style="dim")
    if json_path:
        write_json(json_path, proof)
    if json_path != "-" and html_path is None:
        show_proof(proof, everything=True)
    return DONE if proof.verdict is Verdict.PASS else FINDINGS
