"""Carry out a proof: ask the machines what `fabric.verification` wants to know, and let it judge the answers."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from stellwerk.fabric import (
    Answers,
    PerfRequest,
    PingRequest,
    Proof,
    RouteRequest,
    judge,
    make_verification,
    plan_proof,
)
from stellwerk.measure import cluster
from stellwerk.measure.collectives import Progress
from stellwerk.model.errors import ConnectionFailed, StellwerkError
from stellwerk.model.fabric import CableFinding, TopologyKind
from stellwerk.model.facts import Neighbour
from stellwerk.model.finding import Check, Severity, Verdict, Verification
from stellwerk.model.guard import PingResult, RdmaPerf, RouteAnswer
from stellwerk.model.selftest import SelfTest
from stellwerk.model.text import joined, say, whole
from stellwerk.setup import history
from stellwerk.setup.look import Look
from stellwerk.setup.outcome import bare
from stellwerk.setup.session import ClusterSession
from stellwerk.wire import from_wire

PERF_SECONDS = 2.0
PERF_DEADLINE_S = 40.0
PING_TIMEOUT_S = 2.0
PINGS_AT_ONCE = 4  # per machine: more would measure the machine, not the wire

OnProgress = Callable[[Verification, int], None]


class ProofRun:
    """One run. Answers arrive in any order; every arrival is judged anew, so that cells fill one by one."""

    def __init__(self, session: ClusterSession, look: Look, on_progress: OnProgress) -> None:
        self._session = session
        self._on_progress = on_progress
        self._proof: Proof = plan_proof(look.members, look.topology, _kind(look))
        self._pings: dict[str, PingResult] = {}
        self._routes: dict[str, RouteAnswer] = {}
        self._perf: dict[str, RdmaPerf] = {}
        self._neighbours: dict[str, tuple[Neighbour, ...]] = {}
        self._errors: dict[str, str] = {}
        self._lost: dict[str, str] = {}  # node -> why it was lost after it had answered
        self._started = time.monotonic()
        self._started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self._run_id = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        self._limits = {m.name: asyncio.Semaphore(PINGS_AT_ONCE) for m in look.members}
        self._round_trips: dict[str, float] = {}
        # Where the cables make no fabric there is little to measure, and what little there is may well pass.
        self._cables = _cable_checks(look)
        self._absent = [n.name for n in session.cluster.nodes if n.name not in {m.name for m in look.members}]
        self.total = len(self._checks())

    async def run(self) -> Verification:
        """Routes and pings at once, then neighbours, then the measurements round by round."""
        self._tell()
        await self._all([self._greet(m.name) for m in self._proof.members])
        await self._all(
            [self._route(r) for r in self._proof.routes] + [self._ping(r) for r in self._proof.pings],
        )
        await self._all([self._neighbour_table(m.name) for m in self._proof.members])
        for round_ in self._proof.rounds:
            await self._all([self._measure(r) for r in round_])
        return self._verification(self._checks())

    async def _all(self, work: Sequence[Awaitable[None]]) -> None:
        async with asyncio.TaskGroup() as group:
            for item in work:
                group.create_task(_as_coroutine(item))

    async def _greet(self, node: str) -> None:
        """How long the agent takes to answer over SSH: the way on which everything else goes."""
        began = time.monotonic()
        if await self._call(f"connection {node}", node, "sudo.state", {}, None) is not None:
            self._round_trips[node] = (time.monotonic() - began) * 1000
        self._tell()

    async def _route(self, request: RouteRequest) -> None:
        answer = await self._call(
            request.id, request.place.node, "verify.route", {"destination": request.destination}, RouteAnswer
        )
        if answer is not None:
            self._routes[request.id] = answer
        self._tell()

    async def _ping(self, request: PingRequest) -> None:
        params = {
            "destination": request.destination,
            "netdev": request.netdev,
            "payload_bytes": request.payload_bytes,
            "count": request.count,
            "dont_fragment": request.dont_fragment,
            "timeout_s": PING_TIMEOUT_S,
        }
        async with self._limits[request.place.node]:
            answer = await self._call(request.id, request.place.node, "verify.ping", params, PingResult)
        if answer is not None:
            self._pings[request.id] = answer
        self._tell()

    async def _neighbour_table(self, node: str) -> None:
        answer = await self._call(f"neighbours {node}", node, "verify.neighbours", {}, None)
        if answer is not None:
            self._neighbours[node] = tuple(from_wire(Neighbour, n) for n in answer["neighbours"])
        self._tell()

    async def _measure(self, request: PerfRequest) -> None:
        server = {
            "tool": request.tool,
            "device": request.server_device,
            "port": request.tcp_port,
            "gid_index": request.server_gid_index,
            "seconds": PERF_SECONDS,
        }
        started = await self._call(request.id, request.place.peer, "verify.rdma_server", server, None)
        if started is None:
            self._tell()
            return
        client = {
            "tool": request.tool,
            "device": request.client_device,
            "server": request.server_address,
            "port": request.tcp_port,
            "gid_index": request.client_gid_index,
            "seconds": PERF_SECONDS,
        }
        answer = await self._call(request.id, request.place.node, "verify.rdma_client", client, RdmaPerf)
        if answer is not None:
            self._perf[request.id] = answer
        self._tell()

    async def _call(
        self, request_id: str, node: str, method: str, params: dict[str, Any], cls: type[Any] | None
    ) -> Any:
        link = self._session.links.get(node)
        if link is None:
            self._errors[request_id] = say("{node} is not connected", node=node)
            return None
        try:
            return await link.call(method, params, cls, deadline_s=PERF_DEADLINE_S)
        except StellwerkError as error:
            self._errors[request_id] = bare(error)
            if isinstance(error, ConnectionFailed) and node in self._round_trips:
                self._lost.setdefault(node, bare(error))
            return None

    def _checks(self) -> tuple[Check, ...]:
        answers = Answers(self._pings, self._routes, self._perf, self._neighbours, self._errors)
        connections = [
            _lost(m.name, self._lost[m.name])
            if m.name in self._lost
            else _connected(m.name, self._round_trips.get(m.name), self._errors.get(f"connection {m.name}", ""))
            for m in self._proof.members
        ]
        absent = (_absent(name) for name in self._absent)
        return (*absent, *self._cables, *connections, *judge(self._proof, answers))

    def _tell(self) -> None:
        """What is known so far: a check that is still to come is left out, not shown as failed."""
        so_far = [c for c in self._checks() if c.verdict is not Verdict.NOT_AVAILABLE]
        self._on_progress(self._verification(tuple(so_far)), self.total)

    def _verification(self, checks: tuple[Check, ...]) -> Verification:
        return make_verification(
            self._proof,
            checks,
            run_id=self._run_id,
            cluster=self._session.cluster.name,
            started_at=self._started_at,
            seconds=time.monotonic() - self._started,
        )


def _kind(look: Look) -> TopologyKind | None:
    """Two machines planned as a switch are proven as one; otherwise the shape that is there."""
    planned = look.wanted if look.topology.kind is TopologyKind.PAIR and not look.topology.direct_certain else None
    return planned if planned in (TopologyKind.PAIR, TopologyKind.SWITCH) else None


async def _as_coroutine(work: Awaitable[None]) -> None:
    await work


def _connected(name: str, round_trip_ms: float | None, why: str) -> Check:
    if round_trip_ms is None:
        return Check(
            "connection",
            name,
            "SSH and agent",
            Verdict.NOT_AVAILABLE,
            text="not asked yet" if not why else "no answer",
            why=why,
        )
    return Check(
        "connection",
        name,
        "SSH and agent",
        Verdict.PASS,
        round_trip_ms,
        "ms",
        text=say("the agent answers in {ms} ms", ms=f"{round_trip_ms:.0f}"),
    )


def _lost(name: str, why: str) -> Check:
    """What is measured with it from then on says nothing about the fabric."""
    return Check(
        "connection",
        name,
        "SSH and agent",
        Verdict.FAIL,
        text="lost meanwhile",
        why=say("The connection to it was lost while it was measured: {why}", why=whole(why)),
        remedy="See whether it is switched on, then prove again.",
    )


def _cable_checks(look: Look) -> tuple[Check, ...]:
    """One failed check for every cable that keeps the fabric from being what is wanted."""
    bad = [f for f in look.cable_findings if f.severity is Severity.BAD]
    return tuple(_cable_check(finding, look) for finding in bad)


def _cable_check(finding: CableFinding, look: Look) -> Check:
    ref = finding.ports[0] if finding.ports else None
    return Check(
        kind="cable",
        node=ref.node if ref is not None else look.members[0].name,
        subject=say("port {port}", port=ref.port) if ref is not None else "port",
        verdict=Verdict.FAIL,
        text="not as it should be",
        why=joined((finding.title, *((finding.meaning,) if finding.meaning else ())), " "),
        remedy=joined(finding.steps, " "),
        port=ref.port if ref is not None else None,
    )


def _absent(name: str) -> Check:
    return Check(
        kind="connection",
        node=name,
        subject="SSH",
        verdict=Verdict.FAIL,
        text="not connected",
        why="The node does not answer, so nothing on it was checked.",
        remedy="Switch it on, look at its cable and address, then prove again.",
    )


async def prove(
    session: ClusterSession, look: Look, on_progress: OnProgress = lambda so_far, total: None
) -> Verification:
    """Run all checks on the machines of `look`; machines of the cluster that are away fail by name."""
    return await ProofRun(session, look, on_progress).run()


async def self_test(
    session: ClusterSession,
    look: Look,
    proof: Verification | None = None,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> SelfTest:
    """Run the collectives over all machines and keep what came out with `proof`. Raises what the ranks raise."""
    folder = session.folder
    done = await cluster.collective_self_test(session, look, on_progress, folder.path / cluster.TUNING_FILE)
    if proof is not None:
        history.save(folder.reports, replace(proof, self_test=done))
    return done
