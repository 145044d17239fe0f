"""Collectives on a cluster: the benchmark with one rank per machine, and the self-test of *Prove*.

The figures come out in the same form as those of one computer (`measure.collectives`), so tables, sentences, files
and pictures are the same. `session` and `look` are those of the wizard; here only what is needed of them is named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from stellwerk.collectives import dispatch
from stellwerk.collectives.kinds import Topology as Joined
from stellwerk.fabric import environments
from stellwerk.fabric.members import Member
from stellwerk.measure.cluster_jobs import Crew, RankJobs, together
from stellwerk.measure.cluster_places import Place, find_places, find_rails, joined, sensible_ranks
from stellwerk.measure.collectives import ALGORITHMS, Cell, Contender, Plan, Progress, Result
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import Topology, TopologyKind
from stellwerk.model.selftest import SelfTest, SelfTestRow
from stellwerk.model.text import say
from stellwerk.remote.link import NodeLink
from stellwerk.remote.runtime import build_runtime

TUNING_FILE = "collectives-tuning.json"
NO_TUNING: dict[str, Any] = {"format": dispatch.FORMAT, "tables": {}}
START_S = 90.0  # sending, unpacking, connecting and testing, on machines that have other things to do
SELF_TEST_SIZES = (8 << 10, 64 << 10, 1 << 20)
SELF_TEST_SECONDS = 0.1
SELF_TEST_ROUNDS = 2

OnProgress = Callable[[Progress], None]


class Session(Protocol):
    """What is needed of `setup.session.ClusterSession`."""

    @property
    def links(self) -> Mapping[str, NodeLink]: ...


class Look(Protocol):
    """What is needed of `setup.look.Look`."""

    @property
    def members(self) -> tuple[Member, ...]: ...
    @property
    def topology(self) -> Topology: ...
    @property
    def wanted(self) -> TopologyKind: ...


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """What to measure. Sizes in bytes; no `ranks`: two, four on a switch, and all machines."""

    ranks: tuple[int, ...] = ()
    sizes: tuple[int, ...] = tuple(1 << p for p in range(10, 25, 2))
    algorithms: tuple[str, ...] = ALGORITHMS
    transport: str = "auto"  # RDMA where all ranks have devices in common, else TCP
    rounds: int = 3
    seconds_per_cell: float = 0.15
    tuning: Path | None = None  # the cluster's table; `store_tuning` writes there


@dataclass(frozen=True, slots=True)
class ClusterResult:
    """The figures, and where they come from."""

    result: Result
    nodes: tuple[str, ...]  # in the order of the ranks
    joined: dict[int, Joined]  # number of ranks -> how they are joined
    simulated: bool
    fallbacks: tuple[str, ...] = ()


@dataclass(slots=True)
class _Collected:
    """What the ranks of one run have said so far."""

    ranks: int
    transport: str = ""
    cells: list[Cell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    left_out: int = 0


class ClusterBench:
    """One measurement of a cluster. `run` gives everything; `partial` what there is so far, after a cancellation."""

    def __init__(
        self, session: Session, look: Look, plan: ClusterPlan, on_progress: OnProgress = lambda progress: None
    ) -> None:
        self._session, self._look, self._plan = session, look, plan
        self._on_progress = on_progress
        self._kind = _kind(look)
        self._places: tuple[Place, ...] = ()
        self._runs: list[_Collected] = []
        self._counts: tuple[int, ...] = ()

    async def run(self) -> ClusterResult:
        """Send the runtime where it is missing, then measure every number of ranks.

        Raises `BadInput` (no fabric addresses, more ranks than machines), `AgentRefused`, `ConnectionFailed`,
        `RankFailed`, `DeadlineExceeded`. Cancelling ends all ranks first.
        """
        look = self._look
        self._places = find_places(look.members, look.topology, self._kind)
        self._counts = self._ranks()
        crew = await self._crew()
        for ranks in self._counts:
            await self._measure(crew, ranks)
        self._tell("done")
        return self.partial()

    def partial(self) -> ClusterResult:
        """The cells that have been measured so far."""
        cells = tuple(cell for run in self._runs for cell in run.cells)
        contenders = tuple(_contender(name) for name in dict.fromkeys(cell.contender for cell in cells))
        transports = tuple(dict.fromkeys(run.transport for run in self._runs if run.cells))
        sizes, algorithms = self._plan.sizes, self._plan.algorithms
        plan = Plan(self._counts or (2,), sizes, transports, algorithms, (), self._plan.rounds)
        left_out = max((run.left_out for run in self._runs), default=0)
        missing = (
            [f"the {left_out} largest sizes: pure Python is too slow for them (no native library on a node)"]
            if left_out
            else []
        )
        notes = tuple(f"{run.ranks} ranks: {note}" for run in self._runs for note in run.notes)
        result = Result(plan, contenders, cells, tuple(missing), notes, self._processors())
        machines = len(self._places)
        return ClusterResult(
            result,
            tuple(place.node for place in self._places),
            {ranks: joined(self._kind, ranks, machines) for ranks in self._counts},
            is_simulated(self._look.members),
            tuple(dict.fromkeys(line for run in self._runs for line in run.fallbacks)),
        )

    def _processors(self) -> int:
        counts = [m.facts.cpu_count for m in self._look.members if m.facts.cpu_count]
        return min(counts, default=0)

    def _ranks(self) -> tuple[int, ...]:
        machines = len(self._places)
        wanted = self._plan.ranks or sensible_ranks(self._kind, machines)
        if not all(2 <= n <= machines for n in wanted):
            raise BadInput(
                say("{wanted} ranks do not fit on {machines} nodes", wanted=max(wanted), machines=machines)
                if max(wanted) > machines
                else "a collective needs two ranks or more",
                why="On a cluster every node runs one rank",
                remedy=say("Choose 2 to {machines} ranks", machines=machines),
            )
        return tuple(sorted(set(wanted)))

    async def _crew(self) -> Crew:
        links = []
        for place in self._places:
            link = self._session.links.get(place.node)
            if link is None:
                raise BadInput(
                    say("{node} is not connected", node=place.node), remedy="Connect it, or measure without it"
                )
            links.append(link)
        self._tell(say("sending the runtime"))
        runtime = build_runtime()
        await together(link.send_artefact(runtime) for link in links)
        addresses = sorted({a for p in self._places for a in (p.address, *p.towards.values())})
        maps = await together(_address_map(link, addresses) for link in links)
        variables = {e.node: e.variables for e in environments(self._look.members, self._look.topology, self._kind)}
        return Crew(
            tuple(links),
            self._places,
            tuple(variables.get(place.node, {}) for place in self._places),
            tuple(maps),
            f".local/share/stellwerk/{runtime.file_name}",
        )

    async def _measure(self, whole: Crew, ranks: int) -> None:
        crew = Crew(
            whole.links[:ranks], whole.places[:ranks], whole.environments[:ranks], whole.dials[:ranks], whole.runtime
        )
        plan, shape = self._plan, joined(self._kind, ranks, len(whole.places))
        said = _Collected(ranks)
        self._runs.append(said)
        self._tell(say("starting {ranks} ranks", ranks=ranks))

        def take(rank: int, message: dict[str, Any]) -> None:
            if rank == 0:
                _collect(said, message, [place.node for place in crew.places])
                self._tell(say("{ranks} ranks", ranks=ranks))

        look = self._look
        rails = find_rails(look.members, look.topology, self._kind, [place.node for place in crew.places])
        transport = plan.transport
        if transport == "auto":  # the ranks' own `auto` would share memory where machines are simulated on one host
            transport = "verbs" if rails else "tcp"
        jobs = RankJobs(crew, transport, shape, read_tuning(plan.tuning), take, rails)
        chosen = self._algorithms(ranks)
        work: dict[str, Any] = {
            "sizes": list(plan.sizes),
            "algorithms": chosen,
            "rounds": plan.rounds,
            "seconds_per_cell": plan.seconds_per_cell,
        }
        cells = len(plan.sizes) * (len(chosen) + 1)
        await jobs.run(work, START_S + cells * max(5.0, 10 * plan.seconds_per_cell))

    def _algorithms(self, ranks: int) -> list[str]:
        """Those of the plan; on rings also the one that is made for them."""
        far = joined(self._kind, ranks, len(self._places)) is Joined.RING
        return list(dict.fromkeys([*self._plan.algorithms, *(["relay"] if far else [])]))

    def _tell(self, what: str) -> None:
        total = sum(len(self._plan.sizes) * (len(self._algorithms(ranks)) + 1) for ranks in self._counts)
        done = total if what == "done" else sum(len(run.cells) for run in self._runs)
        self._on_progress(Progress(done, total, what))


def _collect(said: _Collected, message: Mapping[str, Any], nodes: Sequence[str]) -> None:
    if message["stellwerk"] == "ready":
        said.transport = str(message["transport"])
        said.notes += [str(line) for line in message["lines"]]
        said.fallbacks += [_with_names(str(line), nodes) for line in message["fallbacks"]]
    elif message["stellwerk"] == "cells":
        said.left_out = int(message["left_out"])
        for c in message["cells"]:
            name = f"{said.transport} {c['algorithm'] or 'auto'}"
            figures = float(c["median_us"]), float(c["p99_us"]), int(c["calls"]), int(c["wrong"])
            said.cells.append(Cell(name, said.ranks, int(c["size"]), *figures))


def _with_names(line: str, nodes: Sequence[str]) -> str:
    """`rank 1 (its own host name)` with the name that the machine has in this cluster."""

    def named(found: re.Match[str]) -> str:
        rank = int(found[1])
        return f"rank {rank} ({nodes[rank]})" if rank < len(nodes) else found[0]

    return re.sub(r"rank (\d+) \([^)]*\)", named, line)


def _contender(name: str) -> Contender:
    transport, algorithm = name.split(" ", 1)
    return Contender(name, f"stellwerk-{transport}", None if algorithm == "auto" else algorithm)


async def _address_map(link: NodeLink, addresses: Sequence[str]) -> dict[str, str]:
    """Fabric address -> address to bind or call, as this node sees it; the same on real machines."""
    answer = await link.call("address.map", {"addresses": list(addresses)})
    return dict(answer["addresses"])


def _kind(look: Look) -> TopologyKind:
    """Two machines that were set up as a switch are measured as one; otherwise the shape that is there."""
    topology = look.topology
    if topology.kind is TopologyKind.PAIR and not topology.direct_certain:
        return look.wanted if look.wanted in (TopologyKind.PAIR, TopologyKind.SWITCH) else topology.kind
    return topology.kind


def is_simulated(members: Sequence[Member]) -> bool:
    """True when a machine says that its hardware is simulated: then no figure was measured on hardware."""
    return any("simulated" in (member.facts.product or "").lower() for member in members)


def read_tuning(path: Path | None) -> dict[str, Any]:
    """The cluster's tuning table; an empty one when there is none. Raises `BadInput` for a broken file."""
    if path is None or not path.exists():
        return NO_TUNING
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            say("{path} cannot be read", path=path), why=str(error), remedy="Remove it, or measure again"
        ) from error
    if not isinstance(table, dict):
        raise BadInput(say("{path} is no tuning table", path=path), remedy="Remove it, or measure again")
    return table


def store_tuning(measured: ClusterResult, path: Path) -> list[str]:
    """Put the fastest algorithm per size into the cluster's table; returns what was stored, in words."""
    from stellwerk.measure import collectives_report as report

    stored: list[str] = []
    for ranks, shape in measured.joined.items():
        result = measured.result
        only = Result(
            Plan((ranks,), result.plan.sizes, result.plan.transports, result.plan.algorithms, ()),
            result.contenders,
            tuple(cell for cell in result.cells if cell.ranks == ranks),
            (),
            (),
            result.processors,
        )
        stored += report.store_tuning(only, shape, path)
    return stored


def to_json(measured: ClusterResult) -> dict[str, Any]:
    """The figures as those of one computer, and the machines that they come from."""
    from stellwerk.measure import collectives_report as report

    return {
        **report.to_json(measured.result),
        "cluster": {
            "nodes": list(measured.nodes),
            "joined": {str(ranks): shape.value for ranks, shape in measured.joined.items()},
            "simulated": measured.simulated,
            "fallbacks": list(measured.fallbacks),
        },
    }


async def collective_self_test(
    session: Session, look: Look, on_progress: OnProgress = lambda progress: None, tuning: Path | None = None
) -> SelfTest:
    """Run every algorithm over all machines of `look`, check each sum, take the times. Raises like `ClusterBench.run`.

    Takes some seconds; meant to run after the links have been proven, not beside it.
    """
    members = look.members
    plan = ClusterPlan(
        ranks=(len(members),),
        sizes=SELF_TEST_SIZES,
        rounds=SELF_TEST_ROUNDS,
        seconds_per_cell=SELF_TEST_SECONDS,
        tuning=tuning,
    )
    return self_test_of(await ClusterBench(session, look, plan, on_progress).run())


def self_test_of(measured: ClusterResult) -> SelfTest:
    """The figures of a measurement as the table that *Prove* shows."""
    result = measured.result
    ranks = max(result.plan.ranks)
    cells = [cell for cell in result.cells if cell.ranks == ranks]
    sizes = tuple(sorted({cell.size for cell in cells}))
    rows = []
    for name in dict.fromkeys(cell.contender for cell in cells):
        of = {cell.size: cell for cell in cells if cell.contender == name}
        algorithm = name.split(" ", 1)[1]
        if algorithm != "auto":
            medians = tuple(of[size].median_us if size in of else None for size in sizes)
            rows.append(SelfTestRow(algorithm, medians, sum(cell.wrong for cell in of.values())))
    return SelfTest(
        ranks=ranks,
        transport=cells[0].contender.split(" ", 1)[0] if cells else "",
        calls=sum(cell.calls for cell in cells),
        sizes=sizes,
        rows=tuple(rows),
        best=tuple(_best(rows, i) for i in range(len(sizes))),
        notes=measured.fallbacks,
        simulated=measured.simulated,
    )


def _best(rows: Sequence[SelfTestRow], at: int) -> str | None:
    timed = [(us, row.algorithm) for row in rows if (us := row.median_us[at]) is not None]
    return min(timed)[1] if timed else None
