"""`stellwerk discover | pair | facts | unpair`: the machines of a cluster."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    show_error,
    table,
    take_over_option,
    write_json,
)
from stellwerk.cli.prompting import TerminalPrompts, accept_option, password_option
from stellwerk.model.errors import StellwerkError
from stellwerk.model.facts import NodeFacts
from stellwerk.model.units import gibibytes_from_kb, link_speed
from stellwerk.remote import LinkState
from stellwerk.setup.store import ClusterFolder, ClusterStore

if TYPE_CHECKING:
    from stellwerk.setup.session import ClusterSession


@click.command()
@click.option("--seconds", default=3.0, show_default=True, help="How long to listen.")
@json_option
@command
async def discover(seconds: float, json_path: str | None) -> int:
    """Machines that announce SSH on this network (mDNS)."""
    from stellwerk.remote.find import Finder

    async with Finder.open() as finder:
        await asyncio.sleep(seconds)
        machines = finder.machines
    if json_path:
        write_json(json_path, {"machines": machines})
    if json_path != "-":
        rows = table("Machine", "Addresses")
        for machine in machines:
            rows.add_row(plain(machine.name), plain(", ".join(machine.addresses)))
        out.print(rows if machines else "No machine answered. Give the address: stellwerk pair HOST")
    return DONE


@click.command()
@click.argument("hosts", nargs=-1, required=True)
@cluster_option
@click.option("--name", default=None, help="Name of a new cluster.")
@click.option(
    "--ssh-config", type=click.Path(dir_okay=False, path_type=Path), default=None, help="Default: ~/.ssh/config"
)
@password_option
@accept_option
@json_option
@command
async def pair(
    hosts: tuple[str, ...],
    cluster_name: str | None,
    name: str | None,
    ssh_config: Path | None,
    password_file: Path | None,
    accept: tuple[str, ...],
    json_path: str | None,
) -> int:
    """Trust machines, log in once, install key and agent. HOST may be host, user@host:port, ssh://… or an alias."""
    from stellwerk.remote import parse_target
    from stellwerk.setup.session import ClusterSession

    config = ssh_config or Path.home() / ".ssh" / "config"
    targets = [parse_target(host, config if config.exists() else None) for host in hosts]
    folder = _folder_for(cluster_name, name)
    prompts = TerminalPrompts(password_file=password_file, accept=frozenset(accept))
    with folder.lock():
        async with ClusterSession.open(folder) as session:
            session.on_state(StateLines())
            names = [session.add(target).name for target in targets]
            results = await session.pair(prompts, names)
    for error in results.values():
        if error is not None:
            show_error(error)
    good = [n for n, error in results.items() if error is None]
    if json_path:
        write_json(json_path, {"cluster": folder.path.name, "ready": good, "failed": sorted(set(results) - set(good))})
    if json_path != "-":
        out.print(f"Ready: {plain(', '.join(good) or 'none')}   (cluster {plain(folder.path.name)})")
    return DONE if len(good) == len(results) else ERROR


class StateLines:
    """One line per change of a machine's state, not one per piece of an upload."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}

    def __call__(self, node: str, state: LinkState, why: str) -> None:
        if state is not LinkState.CLOSED and self._last.get(node) != state.value:
            self._last[node] = state.value
            err.print(f"{plain(node)}: {state.value}", style="dim")


def _folder_for(cluster_name: str | None, new_name: str | None) -> ClusterFolder:
    store = ClusterStore()
    if new_name is not None or (cluster_name is None and not store.all()):
        folder, _ = store.create(new_name or "cluster")
        return folder
    return store.find(cluster_name)


@contextlib.asynccontextmanager
async def open_cluster(name: str | None, *, lock: bool = False) -> AsyncIterator[tuple[ClusterFolder, ClusterSession]]:
    """The cluster of this name, or the only one, and its session. `lock`: nobody else works on it meanwhile."""
    from stellwerk.setup.session import ClusterSession

    folder = ClusterStore().find(name)
    with folder.lock() if lock else contextlib.nullcontext():
        async with ClusterSession.open(folder) as session:
            yield folder, session


async def connected(session: Any) -> list[StellwerkError]:
    """Connect to all machines; the errors of those that cannot be reached are shown and returned."""
    results: dict[str, StellwerkError | None] = await session.connect()
    errors = [error for error in results.values() if error is not None]
    for error in errors:
        show_error(error)
    return errors


@click.command()
@cluster_option
@json_option
@command
async def facts(cluster_name: str | None, json_path: str | None) -> int:
    """What the nodes say about themselves."""
    async with open_cluster(cluster_name) as (_, session):
        errors = await connected(session)
        found = await session.facts() if session.ready else {}
    if json_path:
        write_json(json_path, {"nodes": found})
    if json_path != "-":
        out.print(facts_table(found))
    return ERROR if errors else DONE


def facts_table(found: dict[str, NodeFacts]) -> Any:
    """One row per machine; what is not there is said, not drawn as zero."""
    rows = table("Node", "What it is", "Network devices", "RDMA", whole=("Network devices", "RDMA"))
    for name, fact in found.items():
        gpu = fact.gpus[0] if fact.gpus else None
        wired = [d for d in fact.netdevs if d.kind == "ethernet"]
        it_is = (
            fact.product or "product not available",
            " ".join(p for p in (fact.os_name, fact.kernel) if p) or "system not available",
            f"{gpu.name}, driver {gpu.driver}" if gpu else fact.gpu_note or "GPU not available",
            f"memory {gibibytes_from_kb(fact.memory.total_kb)}",
            f"root: {fact.sudo.state}",
        )
        rows.add_row(
            plain(name),
            plain("\n".join(it_is)),
            plain("\n".join(f"{d.name} {link_speed(d.speed_mbps) if d.carrier else 'no carrier'}" for d in wired)),
            plain("\n".join(f"{r.name} {r.state or ''}" for r in fact.rdma) or fact.rdma_note or "none"),
        )
    return rows


@click.command()
@click.argument("nodes", nargs=-1)
@cluster_option
@click.option("--all", "everything", is_flag=True, help="All nodes, and forget the cluster.")
@click.option(
    "--restore-network", is_flag=True, help="First take away what was written into their network, under guard."
)
@click.option("--forget-unreachable", is_flag=True, help="Forget a node that cannot be reached; says what stays there.")
@take_over_option
@password_option
@command
async def unpair(
    nodes: Sequence[str],
    cluster_name: str | None,
    everything: bool,
    restore_network: bool,
    forget_unreachable: bool,
    take_over: bool,
    password_file: Path | None,
) -> int:
    """Take nodes out of the cluster: key, agent and state are removed from them."""
    from stellwerk.setup.session import ClusterSession

    store = ClusterStore()
    folder = store.find(cluster_name)
    code = DONE
    with folder.lock():
        async with ClusterSession.open(folder) as session:
            names = (
                [n.name for n in session.cluster.nodes] if everything else [session.cluster.node(n).name for n in nodes]
            )
            if everything and session.cluster.mesh:
                # Each machine takes its own part out; nobody stays who would have to learn of it.
                session.save(replace(session.cluster, mesh=False))
            if restore_network:
                prompts = TerminalPrompts(password_file=password_file)
                if await _restore(session, names, prompts, take_over) != DONE:
                    return ERROR
            for name in names:
                code = max(code, await _unpair_one(session, name, forget_unreachable, take_over))
            empty = not session.cluster.nodes
    if everything and empty and code != ERROR:
        store.remove(folder)
    return code


async def _restore(session: Any, names: Sequence[str], prompts: TerminalPrompts, take_over: bool) -> int:
    """Apply the plan that takes our files off the machines that leave; the others are not touched."""
    from stellwerk.cli.network import print_event, show_outcome
    from stellwerk.setup.apply import Apply
    from stellwerk.setup.look import take_look
    from stellwerk.setup.planning import build_leave_plan
    from stellwerk.setup.room import require_room
    from stellwerk.setup.root import require_root

    if await connected(session):
        return ERROR
    await session.hold(force=take_over)
    await session.unlock_sudo(prompts, names)
    plan = build_leave_plan(session.cluster, await take_look(session), names)
    if plan.empty:
        return DONE
    await require_room(plan, session.links)
    await require_root(plan, session.links)
    return show_outcome(await Apply(plan, session.links, session.folder.journal, print_event).run())


async def _unpair_one(session: Any, name: str, forget_unreachable: bool, take_over: bool) -> int:
    try:
        report = await session.unpair(name, forget_unreachable=forget_unreachable, take_over=take_over)
    except StellwerkError as error:
        show_error(error)
        return ERROR
    out.print(f"{plain(name)}: removed {plain(', '.join(report.removed) or 'nothing, nothing was there')}")
    if report.left:
        out.print(f"  [yellow]still there[/] {plain('; '.join(report.left))}")
        return FINDINGS
    return DONE
