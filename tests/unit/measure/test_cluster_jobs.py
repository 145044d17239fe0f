"""Ranks as jobs: who is blamed, what is ended, whatever happens; with agents that only pretend."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from stellwerk.collectives.kinds import Topology as Joined
from stellwerk.measure.cluster_jobs import MODULE, Crew, RankFailed, RankJobs
from stellwerk.measure.cluster_places import Place
from stellwerk.model.errors import ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.guard import JobStatus

LISTENING = '{"stellwerk": "listening", "ports": {"10.0.0.1": 4711}}'


@dataclass
class PretendedLink:
    """An agent with jobs whose output and end are given: `lines` of log, then `exit_code` (None: it runs on)."""

    name: str
    lines: list[str] = field(default_factory=list)
    exit_code: int | None = 0
    refuse: StellwerkError | None = None
    slow_start: asyncio.Event | None = None
    jobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    started: list[dict[str, Any]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    async def call(self, method: str, params: dict[str, Any], cls: Any = None, **_: Any) -> Any:
        await asyncio.sleep(0)
        return getattr(self, method.replace(".", "_"))(params) if method != "job.start" else await self.start(params)

    async def start(self, params: dict[str, Any]) -> JobStatus:
        if self.refuse is not None:
            raise self.refuse
        self.started.append(params)
        job_id = f"job-{len(self.started)}"
        self.jobs[job_id] = {"job_id": job_id, "name": params["name"], "state": "running"}
        if self.slow_start is not None:
            await self.slow_start.wait()  # the job runs, but the answer does not come
        return self.job_status({"job_id": job_id})

    def job_status(self, params: dict[str, Any]) -> JobStatus:
        job = self.jobs[params["job_id"]]
        if self.exit_code is not None:
            job["state"] = "exited"
        return JobStatus(job["job_id"], job["name"], (), job["state"], exit_code=self.exit_code)

    def job_log(self, params: dict[str, Any]) -> dict[str, Any]:
        text = "".join(line + "\n" for line in self.lines)[params["offset"] :]
        size = params["offset"] + len(text)
        return {"offset": params["offset"], "text": text, "end": size, "size": size}

    def job_list(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"jobs": list(self.jobs.values())}

    def job_stop(self, params: dict[str, Any]) -> JobStatus:
        self.stopped.append(params["job_id"])
        self.jobs[params["job_id"]]["state"] = "exited"
        return JobStatus(params["job_id"], "", (), "exited")


class Ranks:
    """A run over pretended links."""

    def __init__(self, *links: PretendedLink) -> None:
        self.links = links
        self.heard: list[tuple[int, str]] = []
        places = tuple(Place(link.name, f"10.0.0.{i + 1}", {}) for i, link in enumerate(links))
        crew = Crew(
            links,  # type: ignore[arg-type]
            places,
            tuple({"NCCL_SOCKET_IFNAME": f"=if{i}"} for i in range(len(links))),
            tuple({"10.0.0.1": "127.77.0.10"} for _ in links),
            ".local/share/stellwerk/runtime-0.pyz",
        )
        tuning = {"format": 1, "tables": {}}
        self.jobs = RankJobs(crew, "tcp", Joined.MESH, tuning, lambda r, m: self.heard.append((r, m["stellwerk"])))

    async def run(self, deadline_s: float = 30.0) -> None:
        await self.jobs.run({"sizes": [1024]}, deadline_s)

    @property
    def running(self) -> list[str]:
        return [link.name for link in self.links for job in link.jobs.values() if job["state"] == "running"]


def configs(*links: PretendedLink) -> list[dict[str, Any]]:
    return [json.loads(link.started[0]["stdin"]) for link in links]


async def test_rank_0_starts_first_and_the_others_get_its_port_through_the_address_map() -> None:
    one, two = PretendedLink("spark-1", [LISTENING, '{"stellwerk": "ready"}']), PretendedLink("spark-2")
    ranks = Ranks(one, two)
    await ranks.run()
    first, second = configs(one, two)
    assert (first["rendezvous"], second["rendezvous"]) == (None, "tcp://127.77.0.10:4711")
    assert first["token"] == second["token"]
    assert len(first["token"]) == 64
    assert one.started[0]["argv"] == ["python3", "-I", ".local/share/stellwerk/runtime-0.pyz", MODULE]
    assert [link.started[0]["env"]["NCCL_SOCKET_IFNAME"] for link in (one, two)] == ["=if0", "=if1"]
    assert ranks.heard == [(0, "ready")]


async def test_the_token_is_on_standard_input_alone() -> None:
    one, two = PretendedLink("spark-1", [LISTENING]), PretendedLink("spark-2")
    ranks = Ranks(one, two)
    await ranks.run()
    token = configs(one)[0]["token"]
    for link in (one, two):
        params = {key: value for key, value in link.started[0].items() if key != "stdin"}
        assert token not in json.dumps(params)
    assert token not in repr(ranks.jobs._config(0, {}, None)), "a traceback or a log line shows no secret"


async def test_who_died_without_a_word_is_blamed_and_not_who_noticed_it() -> None:
    noticed = '{"stellwerk": "failed", "error": "PeerLost", "text": "it closed the connection", "lost": 1}'
    one = PretendedLink("spark-1", [LISTENING, noticed], exit_code=1)
    two = PretendedLink("spark-2", ["Killed by the kernel"], exit_code=-9)
    ranks = Ranks(one, two)
    with pytest.raises(RankFailed) as caught:
        await ranks.run()
    assert caught.value.node == "spark-2", "whichever of the two is heard first"
    assert ranks.running == []


async def test_what_a_rank_says_before_it_dies_is_the_reason() -> None:
    one = PretendedLink("spark-1", [LISTENING], exit_code=None)
    two = PretendedLink("spark-2", ["Traceback (most recent call last):", "MemoryError: no room"], exit_code=1)
    ranks = Ranks(one, two)
    with pytest.raises(RankFailed, match="rank 1 of the measurement failed") as caught:
        await ranks.run()
    assert caught.value.node == "spark-2"
    assert caught.value.why == "it ended with exit code 1: MemoryError: no room"
    assert ranks.running == []
    assert one.stopped == ["job-1"]


async def test_a_job_that_cannot_be_started_ends_those_that_run() -> None:
    one = PretendedLink("spark-1", [LISTENING], exit_code=None)
    two = PretendedLink("spark-2", refuse=ConnectionFailed("there is no connection", node="spark-2"))
    ranks = Ranks(one, two)
    with pytest.raises(ConnectionFailed):
        await ranks.run()
    assert ranks.running == []


async def test_the_deadline_ends_all_ranks() -> None:
    one, two = (PretendedLink(f"spark-{i}", [LISTENING] if i == 1 else [], exit_code=None) for i in (1, 2))
    ranks = Ranks(one, two)
    with pytest.raises(DeadlineExceeded, match="did not finish within"):
        await ranks.run(deadline_s=0.3)
    assert ranks.running == []


async def test_cancelled_while_a_start_is_under_way_that_job_is_ended_too() -> None:
    one = PretendedLink("spark-1", [LISTENING], exit_code=None)
    two = PretendedLink("spark-2", exit_code=None, slow_start=asyncio.Event())
    ranks = Ranks(one, two)
    run = asyncio.create_task(ranks.run())
    while not two.started:
        await asyncio.sleep(0.01)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (one.stopped, two.stopped) == (["job-1"], ["job-1"])
    assert ranks.running == []


async def test_jobs_of_others_are_left_alone() -> None:
    one, two = PretendedLink("spark-1", [LISTENING]), PretendedLink("spark-2")
    two.jobs["engine-1"] = {"job_id": "engine-1", "name": "an engine", "state": "running"}
    await Ranks(one, two).run()
    assert two.stopped == []
