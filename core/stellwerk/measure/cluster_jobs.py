"""Ranks as jobs of the nodes' agents: started, followed, ended. Nothing of them is left, however it ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar

from stellwerk.collectives.kinds import Topology as Joined
from stellwerk.measure.cluster_places import Place
from stellwerk.model.errors import DeadlineExceeded, StellwerkError
from stellwerk.model.guard import JobStatus
from stellwerk.model.text import say
from stellwerk.remote.link import NodeLink

MODULE = "stellwerk.measure.cluster_rank"
CALL_S = 30.0
POLL_S = 0.15
LOG_BYTES = 512 * 1024
STOP_GRACE_S = 3.0
CLEAN_UP_S = 30.0
SETUP_S = 60.0
RANK_TIMEOUT_S = 20.0

R = TypeVar("R")
OnLine = Callable[[int, dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class RankConfig:
    """What a rank reads from its standard input. The token is in no argument, environment, file or log."""

    rank: int
    ranks: int
    token: str = field(repr=False)
    address: str
    addresses: dict[int, str]  # peer -> own address by which it reaches this rank
    dial: dict[str, str]  # fabric address -> address to bind or call, on this node
    rendezvous: str | None
    transport: str
    topology: str
    tuning: dict[str, Any]
    plan: dict[str, Any]
    rails: tuple[str, ...] = ()  # RDMA devices of this node, half A first
    timeout_s: float = RANK_TIMEOUT_S
    setup_timeout_s: float = SETUP_S


@dataclass(frozen=True, slots=True)
class Crew:
    """Who runs: a link, a place, an environment and an address map per rank, in rank order."""

    links: tuple[NodeLink, ...]
    places: tuple[Place, ...]
    environments: tuple[Mapping[str, str], ...]
    dials: tuple[Mapping[str, str], ...]
    runtime: str  # path on every node, relative to the home directory


class RankFailed(StellwerkError):
    """A rank said why it cannot go on, or ended without a word."""

    code = "rank"

    def __init__(self, what: str, *, node: str, why: str, silent: bool) -> None:
        super().__init__(what, node=node, why=why, remedy="Look at the node, then measure again")
        self.silent = silent  # the others only noticed that it was gone


class RankJobs:
    """One run of all ranks. Use `run`, once."""

    def __init__(
        self,
        crew: Crew,
        transport: str,
        topology: Joined,
        tuning: dict[str, Any],
        on_line: OnLine,
        rails: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    ) -> None:
        self._crew, self._on_line, self._rails = crew, on_line, rails
        self._transport, self._topology, self._tuning = transport, topology, tuning
        self._token = secrets.token_hex(32)
        self.name = f"collectives-{secrets.token_hex(4)}"
        self._ports: asyncio.Future[dict[str, int]] | None = None

    async def run(self, plan: dict[str, Any], deadline_s: float) -> None:
        """Start every rank, pass on what they say, return when all have ended well.

        Raises `RankFailed`, `ConnectionFailed`, `DeadlineExceeded`. When cancelled, or failed, the ranks are ended.
        """
        self._ports = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(deadline_s), asyncio.TaskGroup() as group:
                first = await self._start(0, plan, None, deadline_s)
                group.create_task(self._follow(0, first))
                ports = await self._ports
                for rank in range(1, len(self._crew.links)):
                    group.create_task(self._join(rank, plan, ports, deadline_s))
        except TimeoutError:
            raise DeadlineExceeded(
                say("the ranks did not finish within {deadline_s} s", deadline_s=f"{deadline_s:.0f}"),
                why="A node is overloaded, or a link of the fabric is very slow",
                remedy="Prove the network first, then measure fewer sizes",
            ) from None
        except BaseExceptionGroup as several:
            raise _the_cause(several) from None
        finally:
            await self._clean_up()

    async def _join(self, rank: int, plan: dict[str, Any], ports: Mapping[str, int], deadline_s: float) -> None:
        head = self._crew.places[0].for_peer(self._crew.places[rank].node)
        host = self._crew.dials[rank].get(head, head)
        job = await self._start(rank, plan, f"tcp://{host}:{ports[head]}", deadline_s)
        await self._follow(rank, job)

    def _config(self, rank: int, plan: dict[str, Any], rendezvous: str | None) -> RankConfig:
        crew, place = self._crew, self._crew.places[rank]
        return RankConfig(
            rank=rank,
            ranks=len(crew.places),
            token=self._token,
            address=place.address,
            addresses={p: place.for_peer(other.node) for p, other in enumerate(crew.places) if p != rank},
            dial=dict(crew.dials[rank]),
            rendezvous=rendezvous,
            transport=self._transport,
            topology=self._topology.value,
            tuning=self._tuning,
            plan=plan,
            rails=self._rails.get(place.node, ()),
        )

    async def _start(self, rank: int, plan: dict[str, Any], rendezvous: str | None, deadline_s: float) -> str:
        params = {
            "name": self.name,
            "argv": ["python3", "-I", self._crew.runtime, MODULE],
            "env": dict(self._crew.environments[rank]),
            "cwd": None,  # the home directory, where the runtime's path begins
            "stdin": json.dumps(asdict(self._config(rank, plan, rendezvous))),
            "lifetime_s": deadline_s + CLEAN_UP_S,  # should this computer vanish, the agent ends it
        }
        job: JobStatus = await self._crew.links[rank].call("job.start", params, JobStatus, deadline_s=CALL_S)
        return job.job_id

    async def _follow(self, rank: int, job_id: str) -> None:
        """Read the job's log to its end; `RankFailed` when it ends badly."""
        link, offset, said = self._crew.links[rank], 0, ""
        while True:
            status: JobStatus = await link.call("job.status", {"job_id": job_id}, JobStatus, deadline_s=CALL_S)
            params = {"job_id": job_id, "offset": offset, "limit": LOG_BYTES}
            piece = await link.call("job.log", params, deadline_s=CALL_S)
            offset = piece["end"]
            for line in piece["text"].splitlines():
                said = self._take(rank, line) or said
            if piece["end"] < piece["size"]:
                continue
            if status.state != "running":
                self._check_end(rank, status, said)
                return
            await asyncio.sleep(POLL_S)

    def _take(self, rank: int, line: str) -> str:
        """Pass a message on; any other line is returned, as the last words of a rank that dies."""
        if not line.startswith('{"stellwerk"'):
            return line.strip()
        try:
            message = json.loads(line)
        except ValueError:
            return line[:200]
        kind = message["stellwerk"]
        if kind == "listening":
            if self._ports is not None and not self._ports.done():
                self._ports.set_result({str(a): int(p) for a, p in message["ports"].items()})
        elif kind == "failed":
            raise self._said_failed(rank, message)
        else:
            self._on_line(rank, message)
        return ""

    def _check_end(self, rank: int, status: JobStatus, said: str) -> None:
        if status.state == "exited" and status.exit_code == 0:
            return
        how = "vanished" if status.exit_code is None else f"ended with exit code {status.exit_code}"
        raise self._failed(rank, f"it {how}{': ' + said[:300] if said else ''}", silent=True)

    def _said_failed(self, rank: int, message: Mapping[str, Any]) -> RankFailed:
        """A rank that lost another one blames that one; its machine is known here by the cluster's name for it."""
        lost, text = message.get("lost"), str(message["text"])
        if isinstance(lost, int) and 0 <= lost < len(self._crew.places) and lost != rank:
            return self._failed(lost, f"{self._crew.places[rank].node} lost it: {text}", silent=False)
        return self._failed(rank, text, silent=False)

    def _failed(self, rank: int, why: str, *, silent: bool) -> RankFailed:
        node = self._crew.places[rank].node
        return RankFailed(say("rank {rank} of the measurement failed", rank=rank), node=node, why=why, silent=silent)

    async def _clean_up(self) -> None:
        """End what may still run, also a job whose start was under way when we were cancelled."""
        ending = [asyncio.ensure_future(self._end_on(link)) for link in self._crew.links]
        done = asyncio.gather(*ending)
        try:
            await asyncio.shield(done)
        except asyncio.CancelledError:
            await done  # cancelled once more: the ranks are ended all the same
            raise

    async def _end_on(self, link: NodeLink) -> None:
        # A machine that is away cannot be asked; its agent ends the job when its lifetime is over.
        with contextlib.suppress(StellwerkError, TimeoutError):
            async with asyncio.timeout(CLEAN_UP_S):
                answer = await link.call("job.list", {}, deadline_s=CALL_S)
                for job in answer["jobs"]:
                    if job["name"] == self.name and job["state"] == "running":
                        params = {"job_id": job["job_id"], "grace_s": STOP_GRACE_S}
                        await link.call("job.stop", params, deadline_s=CLEAN_UP_S)


async def together(work: Iterable[Coroutine[Any, Any, R]]) -> list[R]:
    """All at the same time; the first failure ends the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(item) for item in work]
    except BaseExceptionGroup as several:
        raise _the_cause(several) from None
    return [task.result() for task in tasks]


def _the_cause(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """Of several failures the one that the others follow from: who died without a word, else who said something."""
    errors = _leaves(group)
    silent = [e for e in errors if isinstance(e, RankFailed) and e.silent]
    known = [e for e in errors if isinstance(e, StellwerkError)]
    return next(iter([*silent, *known, *errors]))


def _leaves(group: BaseExceptionGroup[BaseException]) -> Sequence[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
