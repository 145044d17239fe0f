"""`stellwerk cables | plan | apply | undo`: the network of a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

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
from stellwerk.cli.prompting import TerminalPrompts, confirm, password_option
from stellwerk.fabric.netplan import diff
from stellwerk.model.errors import BadInput, ConnectionFailed
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.plan import FileChange, Plan
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import Look, take_look
from stellwerk.setup.outcome import LEASE_S, ApplyEvent, ApplyOutcome, unfinished_plans
from stellwerk.setup.planning import build_plan
from stellwerk.setup.resume import Resume
from stellwerk.setup.room import require_room
from stellwerk.setup.root import require_root
from stellwerk.setup.store import ClusterStore
from stellwerk.wire import from_wire

MAX_PLAN_BYTES = 16_000_000

# Not infinite, not "nan": both are numbers to click.
seconds_range = click.FloatRange(0.5, 60)

topology_option = click.option(
    "--topology",
    type=click.Choice([k.value for k in TopologyKind if k not in (TopologyKind.UNKNOWN, TopologyKind.MIXED)]),
    help="The shape to aim at; without it the recommended one.",
)


@click.command()
@cluster_option
@topology_option
@click.option(
    "--seconds", type=seconds_range, default=3.0, show_default=True, help="How long the nodes call each other."
)
@click.option("--bring-up", is_flag=True, help="Bring interfaces that are down up for the test, and put them back.")
@json_option
@password_option
@command
async def cables(
    cluster_name: str | None,
    topology: str | None,
    seconds: float,
    bring_up: bool,
    json_path: str | None,
    password_file: Any,
) -> int:
    """Which port goes where, found out by asking, and what is wrong in one sentence per movement of a hand."""
    async with open_cluster(cluster_name) as (_, session):
        errors = await connected(session)
        if not session.ready:
            return ERROR
        if password_file is not None:
            await session.unlock_sudo(TerminalPrompts(password_file=password_file))
        wanted = TopologyKind(topology) if topology else None
        look = await take_look(session, wanted, hear_s=seconds, bring_up=bring_up)
    if json_path:
        write_json(json_path, cables_data(look))
    if json_path != "-":
        show_cables(look)
    return ERROR if errors else FINDINGS if look.worst is Severity.BAD else DONE


def cables_data(look: Look) -> dict[str, Any]:
    """The cabling as data."""
    return {
        "topology": look.topology,
        "recommendation": look.recommendation,
        "wanted": look.wanted,
        "findings": look.cable_findings,
        "notes": look.notes,
    }


def show_cables(look: Look) -> None:
    """The cabling as tables and sentences."""
    cabling = look.topology.cabling
    rows = table("From", "To", "Speed")
    for cable in cabling.cables:
        speed = f"{cable.speed_mbps // 1000} Gb/s" if cable.speed_mbps else "not available"
        rows.add_row(plain(cable.a), plain(cable.b), speed)
    for link in cabling.switch_links:
        where = f"{link.switch} {link.switch_port or ''}".strip()
        rows.add_row(plain(link.port), plain(where), "")
    for ref, host in cabling.foreign:
        rows.add_row(plain(ref), plain(f"{host} (not of this cluster; left alone)"), "")
    out.print(rows)
    for ref, why in cabling.unheard:
        out.print(f"[yellow]cannot be heard[/] {plain(ref)}: {plain(why)}")
    # That a pair may as well be a switch is one of the notes.
    out.print(f"Topology: [bold]{plain(look.topology.kind.value)}[/], order {plain(' – '.join(look.topology.order))}")
    for note in (*look.topology.notes, *look.notes):
        out.print(f"  {plain(note)}", style="dim")
    for finding in look.cable_findings:
        colour = {"bad": "red", "warn": "yellow", "info": "blue"}[finding.severity.value]
        out.print(f"[{colour}]{finding.severity.value:4}[/] {plain(finding.title)} {plain(finding.meaning)}")
        for number, step in enumerate(finding.steps, 1):
            out.print(f"     {number}. {plain(step)}")


@click.command()
@cluster_option
@topology_option
@click.option("--mtu", type=click.IntRange(576, 9216), default=None, help="Default 9000.")
@click.option("--pool", default=None, metavar="CIDR", help="Take the subnets out of this range.")
@click.option("--diff", "with_diff", is_flag=True, help="Show what changes in every file.")
@json_option
@command
async def plan(
    cluster_name: str | None,
    topology: str | None,
    mtu: int | None,
    pool: str | None,
    with_diff: bool,
    json_path: str | None,
) -> int:
    """What would be changed. Nothing is."""
    async with open_cluster(cluster_name) as (_, session):
        if await connected(session):
            return ERROR
        look = await take_look(session, TopologyKind(topology) if topology else None)
        made = build_plan(session.cluster, look, mtu=mtu, pool=pool)
    if json_path:
        write_json(json_path, made)
    if json_path != "-":
        show_plan(made, with_diff=with_diff)
    return DONE


def show_plan(made: Plan, *, with_diff: bool = False, said: Collection[str] = ()) -> None:
    """The plan as a table, its warnings, its notes that were not `said` before, and its diffs when wanted."""
    whole = ("Port", "Interface", "Address now", "Planned")
    rows = table("Node", "Port", "Interface", "To", "Address now", "Planned", "MTU", whole=whole)
    for node in made.nodes:
        for i, row in enumerate(node.rows):
            mtu = (
                f"{row.mtu_now} → {row.mtu_then}"
                if row.mtu_then and row.mtu_then != row.mtu_now
                else str(row.mtu_now or "")
            )
            rows.add_row(
                plain(node.node) if i == 0 else "",
                f"{row.port} {row.half}",
                plain(row.netdev),
                plain(row.peer or ""),
                plain("\n".join(row.now) or "no address"),
                plain(row.then or "") if row.changed else "as it is",
                mtu,
            )
    out.print(rows)
    for warning in made.warnings:
        out.print(f"[yellow]warn[/] {plain(warning)}")
    for note in (n for n in made.notes if n not in said):
        out.print(f"  {plain(note)}", style="dim")
    for node in made.nodes:
        summary = "nothing to change" if not node.changes else ", ".join(_summary(c) for c in node.changes[:6])
        more = f" and {len(node.changes) - 6} more" if len(node.changes) > 6 else ""
        out.print(f"{plain(node.node)}: {plain(summary)}{more}")
        if with_diff:
            for change in node.changes:
                if isinstance(change, FileChange):
                    out.print(plain(diff(change)), style="dim")


def _summary(change: Any) -> str:
    return str(
        getattr(change, "path", None) or getattr(change, "key", None) or getattr(change, "name", None) or change.kind
    )


def print_event(event: ApplyEvent) -> None:
    """One line per event of an apply."""
    left = f" ({event.lease_left_s:.0f} s left)" if event.lease_left_s is not None and event.state == "holding" else ""
    err.print(f"{plain(event.node or '·'):12} {event.state}{left} {plain(event.text)}", style="dim")


def show_outcome(outcome: ApplyOutcome) -> int:
    """Say on which configuration every node is; the exit code."""
    for node in outcome.nodes:
        out.print(f"{plain(node.node)}: {node.configuration} configuration {plain(node.why)}".rstrip())
    if outcome.applied:
        out.print("[green]Applied and confirmed on every node.[/]")
        out.print(f"To take it back: stellwerk undo {plain(outcome.plan_id)}", style="dim")
        return DONE
    if outcome.consistent:
        out.print(f"[red]Not applied.[/] Every node is on its old configuration. {plain(outcome.why)}")
    elif outcome.settled:
        out.print(
            f"[red]Not the same on every node.[/] {plain(outcome.why)} See to what is said above, then run this "
            "command again: it ends this first."
        )
    else:
        out.print(f"[yellow]Not finished.[/] {plain(outcome.why)} Run this command again when the node is back.")
    return ERROR


def read_plan(path: Path) -> Plan:
    """A plan that was written by `stellwerk plan --json`. Raises `BadInput`."""
    try:
        with path.open("rb") as stream:
            return from_wire(Plan, json.loads(stream.read(MAX_PLAN_BYTES)))
    except (ValueError, RecursionError, OSError) as error:
        raise BadInput(
            f"{path} holds no plan", why=str(error), remedy="Write one with: stellwerk plan --json FILE"
        ) from error


async def finish_open_plans(session: Any, on_event: Callable[[ApplyEvent], None] = print_event) -> list[ApplyOutcome]:
    """End what an earlier run left open, before anything new begins."""
    outcomes = []
    for left in unfinished_plans(session.folder.journal):
        err.print(f"An earlier run left plan {plain(left.plan_id)} open; it is ended first.")
        outcomes.append(await Resume(left, session.links, session.folder.journal, on_event).run())
    return outcomes


@click.command()
@cluster_option
@topology_option
@click.option("--mtu", type=click.IntRange(576, 9216), default=None)
@click.option("--pool", default=None, metavar="CIDR")
@click.option(
    "--plan",
    "plan_path",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A plan of `stellwerk plan --json FILE`, exactly as it was shown, instead of a new one.",
)
@click.option(
    "--lease",
    "lease_s",
    type=click.FloatRange(3, 600),
    default=LEASE_S,
    show_default=True,
    help="After so many seconds without this computer a node goes back by itself.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@take_over_option
@password_option
@json_option
@command
async def apply(
    cluster_name: str | None,
    topology: str | None,
    mtu: int | None,
    pool: str | None,
    plan_path: Path | None,
    lease_s: float,
    yes: bool,
    take_over: bool,
    password_file: Any,
    json_path: str | None,
) -> int:
    """Make the plan, show it, and apply it to every node or to none. Ctrl-C rolls back."""
    async with open_cluster(cluster_name, lock=True) as (folder, session):
        if await connected(session):
            return ERROR
        await session.hold(force=take_over)
        # Root first: a machine whose agent or guard died needs it to end what was left open.
        await session.unlock_sudo(TerminalPrompts(password_file=password_file))
        for ended in await finish_open_plans(session):
            if not ended.consistent:
                return show_outcome(ended)
        if plan_path is not None:
            made = read_plan(plan_path)
        else:
            look = await take_look(session, TopologyKind(topology) if topology else None)
            made = build_plan(session.cluster, look, mtu=mtu, pool=pool)
        show_plan(made)
        if made.empty:
            return DONE
        await require_room(made, session.links)
        await require_root(made, session.links)
        if not yes and not await confirm("Apply this?"):
            return DONE
        outcome = await Apply(made, session.links, folder.journal, print_event, lease_s=lease_s).run()
        await session.forget_sudo()
    code = show_outcome(outcome)
    if json_path:
        write_json(json_path, outcome)
    return code


@click.command()
@click.argument("plan_id", required=False)
@cluster_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@take_over_option
@password_option
@command
async def undo(plan_id: str | None, cluster_name: str | None, yes: bool, take_over: bool, password_file: Any) -> int:
    """Take back a confirmed plan on all its nodes: the newest, or PLAN_ID."""
    from stellwerk.setup.session import ClusterSession
    from stellwerk.setup.undo import applied_plans, undo_plan

    folder = ClusterStore().find(cluster_name)
    with folder.lock():
        if plan_id is None:
            plans = applied_plans(folder.journal)
            if not plans:
                raise BadInput("nothing was applied that could be taken back", remedy="See `stellwerk plan`")
            plan_id = plans[0].plan_id
            out.print(f"The newest applied plan is {plain(plan_id)}:")
            show_plan(plans[0])
            if not yes and not await confirm("Take this back?"):
                return DONE
        async with ClusterSession.open(folder) as session:
            if await connected(session):
                raise ConnectionFailed(
                    "a plan is taken back on all nodes or on none", remedy="Connect all of them first"
                )
            await session.hold(force=take_over)
            await session.unlock_sudo(TerminalPrompts(password_file=password_file))
            for taken_back in (p for p in applied_plans(folder.journal) if p.plan_id == plan_id):
                await require_room(taken_back, session.links)
                await require_root(taken_back, session.links)
            outcome = await undo_plan(plan_id, session.links, folder.journal, print_event)
    for node in outcome.nodes:
        out.print(f"{plain(node.node)}: {node.configuration} configuration {plain(node.why)}")
    return DONE if outcome.settled else ERROR
