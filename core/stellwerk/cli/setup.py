"""`stellwerk setup`: the whole journey, from nothing to a proven network."""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from stellwerk.cli.common import DONE, ERROR, FINDINGS, command, err, json_option, out, plain, show_error, write_json
from stellwerk.cli.network import finish_open_plans, print_event, show_cables, show_outcome, show_plan
from stellwerk.cli.nodes import facts_table
from stellwerk.cli.prompting import KnownAnswers, TerminalPrompts, accept_option, confirm, password_option
from stellwerk.cli.proof import show_proof, write_report
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Severity, Verdict, Verification
from stellwerk.remote import Target, UserIdentity, parse_target
from stellwerk.setup import history
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.setup.outcome import ApplyOutcome
from stellwerk.setup.planning import build_plan
from stellwerk.setup.prove import prove, self_test
from stellwerk.setup.room import require_room
from stellwerk.setup.root import require_root
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterFolder, ClusterStore

DEFAULT_NAME = "cluster"
SHAPES = [k.value for k in TopologyKind if k not in (TopologyKind.UNKNOWN, TopologyKind.MIXED)]


@dataclass(slots=True)
class Journey:
    """What happened, for the JSON result: every step with its seconds."""

    cluster: str = ""
    nodes: list[str] = field(default_factory=list)
    steps: dict[str, float] = field(default_factory=dict)
    topology: str = ""
    plan: Any = None
    outcome: ApplyOutcome | None = None
    verification: Verification | None = None
    with_self_test: bool = False
    _at: float = field(default_factory=time.monotonic)

    def step(self, name: str) -> None:
        now = time.monotonic()
        self.steps[name] = round(now - self._at, 3)
        self._at = now
        err.print(f"· {name} ({self.steps[name]:.1f} s)", style="dim")

    def as_json(self) -> dict[str, Any]:
        return {
            "cluster": self.cluster,
            "nodes": self.nodes,
            "seconds": self.steps,
            "topology": self.topology,
            "plan": self.plan,
            "outcome": self.outcome,
            "verification": self.verification,
        }


@click.command()
@click.argument("hosts", nargs=-1)
@click.option(
    "--virtual", type=click.IntRange(1, 8), default=None, metavar="N", help="Simulated Sparks instead of HOSTS."
)
@click.option("--topology", type=click.Choice(SHAPES), default=None, help="Default: what is recommended.")
@click.option("--fault", "faults", multiple=True, metavar="KIND@NODE", help="Break something first (virtual only).")
@click.option("--name", default=None, help="The cluster's name.")
@click.option("--mtu", type=click.IntRange(576, 9216), default=None)
@click.option("--yes", is_flag=True, help="No question before the apply.")
@click.option("--self-test", "with_self_test", is_flag=True, help="And the collectives: one rank per node.")
@click.option(
    "--report", "report_path", type=click.Path(dir_okay=False, path_type=Path), default=None, help="HTML report."
)
@json_option
@password_option
@accept_option
@command
async def setup(
    hosts: tuple[str, ...],
    virtual: int | None,
    topology: str | None,
    faults: tuple[str, ...],
    name: str | None,
    mtu: int | None,
    yes: bool,
    with_self_test: bool,
    report_path: Path | None,
    json_path: str | None,
    password_file: Path | None,
    accept: tuple[str, ...],
) -> int:
    """Pair, look, plan, apply, prove: HOSTS, or `--virtual N` simulated Sparks on this computer."""
    if (virtual is None) == (not hosts):
        raise BadInput("name the machines, or --virtual N", remedy="stellwerk setup nvidia@spark-1 nvidia@spark-2")
    if faults and virtual is None:
        raise BadInput("--fault works on simulated machines only")
    journey = Journey(with_self_test=with_self_test)
    async with contextlib.AsyncExitStack() as stack:
        prompts: Any = TerminalPrompts(password_file=password_file, accept=frozenset(accept))
        if virtual is not None:
            shape = topology or ("single" if virtual == 1 else "pair" if virtual == 2 else "switch")
            cluster = await stack.enter_async_context(_virtual(virtual, shape, faults))
            targets = [Target(n.host, n.port, n.user, n.name) for n in cluster.nodes]
            prompts = KnownAnswers(
                {n.name: n.password for n in cluster.nodes},
                {n.name: n.sudo_password for n in cluster.nodes},
                frozenset(n.host_key_fingerprint for n in cluster.nodes),
            )
            journey.step(f"started {virtual} simulated Sparks ({shape})")
        else:
            config = Path.home() / ".ssh" / "config"
            targets = [parse_target(host, config if config.exists() else None) for host in hosts]
        if virtual is not None:
            # Nothing lasting belongs to machines that end with this command: it goes with them, however that ends.
            folder, _ = ClusterStore(Path(cluster.dir) / "desktop").create(name or "virtual")
        else:
            folder = folder_of(ClusterStore(), targets, name)
        identity = UserIdentity() if virtual is not None else None
        code = await _journey(journey, folder, targets, prompts, topology, mtu, yes, identity)
    if json_path:
        write_json(json_path, journey.as_json())
    if report_path is not None and journey.verification is not None:
        write_report(report_path, journey.verification)
        err.print(f"· report {report_path}", style="dim")
    return code


def folder_of(store: ClusterStore, targets: Sequence[Target], name: str | None) -> ClusterFolder:
    """The cluster that an earlier run began with these machines, so that this one goes on with it; else a new one."""
    wanted = {(target.host, target.port) for target in targets}
    for folder in store.all():
        known = folder.load()
        machines = {(node.host, node.port) for node in known.nodes}
        if name not in (None, known.name) or not machines <= wanted:
            continue
        # An earlier run that paired nobody left an empty one.
        if machines or known.name == (name or DEFAULT_NAME):
            return folder
    folder, _ = store.create(name or DEFAULT_NAME)
    return folder


@contextlib.asynccontextmanager
async def _virtual(count: int, shape: str, faults: tuple[str, ...]) -> AsyncIterator[Any]:
    from stellwerk.virtual import VirtualCluster

    wanted = []
    for fault in faults:
        kind, _, node = fault.partition("@")
        wanted.append({"kind": kind, "node": node or None})
    async with VirtualCluster.start(nodes=count, topology=shape, faults=wanted) as cluster:
        yield cluster


async def _journey(
    journey: Journey,
    folder: ClusterFolder,
    targets: list[Target],
    prompts: Any,
    topology: str | None,
    mtu: int | None,
    yes: bool,
    identity: UserIdentity | None,
) -> int:
    with folder.lock():
        async with ClusterSession.open(folder, identity=identity) as session:
            journey.cluster = folder.path.name
            journey.nodes = [session.add(target, target.name).name for target in targets]
            failed = [e for e in (await session.pair(prompts)).values() if e is not None]
            journey.nodes = list(session.links)  # a bare address has taken the machine's own name
            for error in failed:
                show_error(error)
            journey.step("paired")
            if failed:
                return ERROR
            return await _network(journey, session, prompts, topology, mtu, yes)


async def _network(
    journey: Journey, session: ClusterSession, prompts: Any, topology: str | None, mtu: int | None, yes: bool
) -> int:
    await session.hold()
    # Root first: a machine whose agent or guard died needs it to end what was left open.
    await session.unlock_sudo(prompts)
    for ended in await finish_open_plans(session):
        if not ended.consistent:
            return show_outcome(ended)
    look = await take_look(session, TopologyKind(topology) if topology else None)
    out.print(facts_table({m.name: m.facts for m in look.members}))
    show_cables(look)
    journey.topology = look.wanted.value
    journey.step("looked")
    if look.worst is Severity.BAD:
        return FINDINGS
    journey.plan = made = build_plan(session.cluster, look, mtu=mtu)
    show_plan(made, said=look.topology.notes)
    journey.step("planned")
    if not made.empty:
        await require_room(made, session.links)
        await require_root(made, session.links)
        if not yes and not await confirm("Apply this?"):
            return FINDINGS
        journey.outcome = await Apply(made, session.links, session.folder.journal, print_event).run()
        code = show_outcome(journey.outcome)
        journey.step("applied")
        if code != DONE:
            return code
        look = await take_look(session, look.wanted)
    session.save(replace(session.cluster, topology=made.topology, page="prove"))
    journey.verification = await prove(session, look)
    history.save(session.folder.reports, journey.verification)
    await session.forget_sudo()
    journey.step("proven")
    if journey.with_self_test:
        done = await self_test(session, look, journey.verification)
        journey.verification = replace(journey.verification, self_test=done)
        journey.step("collectives tested")
    show_proof(journey.verification)
    passed = journey.verification.verdict is Verdict.PASS
    if passed:
        session.save(replace(session.cluster, page="done"))
        out.print(f"[green]Everything works.[/] Cluster {plain(session.cluster.name)}")
    return DONE if passed else FINDINGS
