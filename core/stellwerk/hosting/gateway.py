"""The gateway on a node: started, shown, given another policy and ended, by calls to the node's agent.

The job belongs to the agent: it goes on when the desktop is away, and un-pairing ends it. Policy, keys and
certificate travel on the job's standard input (see `stellwerk.serving.gateway.on_node`).
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from stellwerk.model.errors import BadInput, DeadlineExceeded, StellwerkError
from stellwerk.model.guard import JobStatus
from stellwerk.model.text import say
from stellwerk.remote.runtime import build_runtime
from stellwerk.serving.gateway.on_node import Order
from stellwerk.serving.policy.compiled import CompiledPolicy

MODULE = "stellwerk.serving.gateway.on_node"
JOB_NAME = "gateway"
CALL_S = 30.0
START_S = 60.0  # unpacking the runtime, and compiling the classifier's loop where there is a compiler
POLL_S = 0.1
LOG_BYTES = 64 * 1024
STOP_MARGIN_S = 5.0  # on top of the time that running answers get
_LOOPBACK = ("127.0.0.1", "localhost", "::1")

T = TypeVar("T")


class Link(Protocol):
    """What is needed of `remote.NodeLink`."""

    name: str

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: type[T] | None = None,
        *,
        deadline_s: float | None = None,
    ) -> Any: ...
    async def send_artefact(self, artefact: Any) -> str: ...


@dataclass(frozen=True, slots=True)
class GatewayJob:
    """A gateway on a node. `host` is what it listens on there; `state` that of the job."""

    node: str
    job_id: str
    host: str
    port: int
    asked_port: int  # 0: a free one was taken
    state: str
    started_at: float | None = None
    tls: bool = False

    @property
    def url(self) -> str:
        """As it is reached on the node itself, or from anywhere if it listens on an address of the node."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self.tls else ''}://{host}:{self.port}/v1"

    @property
    def local(self) -> bool:
        """Only programs on the node can reach it."""
        return self.host in _LOOPBACK


def secrets_of(policy: CompiledPolicy) -> dict[str, str]:
    """The keys of replicas outside the cluster, from this computer's environment. BadInput when one is missing."""
    names = {replica.key_env for pool in policy.pools.values() for replica in pool.replicas if replica.key_env}
    missing = sorted(name for name in names if not os.environ.get(name))
    if missing:
        raise BadInput(
            say("the environment variable {name} is empty", name=missing[0]),
            why="A replica of the policy takes its key from it",
            remedy="Set it on this computer; it is sent to the gateway, and kept in no file",
        )
    return {name: os.environ[name] for name in sorted(names)}


async def start(link: Link, order: Order, port: int) -> GatewayJob:
    """Run a gateway on a node; returns when it listens.

    Raises `StellwerkError` with the gateway's own words when it does not start, and what calls to an agent raise.
    """
    runtime = await link.send_artefact(build_runtime())
    tls = order.tls_cert is not None
    job = await _job(link, runtime, ["serve", str(port), order.host, *(["tls"] if tls else [])], order)
    try:
        heard = await _wait_for(link, job.job_id, "listening", START_S)
    except BaseException:
        await asyncio.shield(_end(link, job.job_id, 0.0))
        raise
    host, bound = str(heard["host"]), int(heard["port"])
    return GatewayJob(link.name, job.job_id, host, bound, port, "running", job.started_at, tls)


async def running(link: Link) -> list[GatewayJob]:
    """The gateways that run on a node, oldest first."""
    answer = await link.call("job.list", {}, deadline_s=CALL_S)
    found = []
    for entry in answer["jobs"]:
        words = [str(word) for word in entry["argv"]]
        if entry["name"] == JOB_NAME and entry["state"] == "running" and words[3:5] == [MODULE, "serve"]:
            asked, host = int(words[5]), words[6]
            port = asked
            if not port:  # a free one was taken: it has said which
                heard = (await _said(link, entry["job_id"], 0))[0].get("listening")
                port = int(heard["port"]) if heard is not None else 0
            started_at, tls = entry["started_at"], "tls" in words[7:]
            found.append(GatewayJob(link.name, entry["job_id"], host, port, asked, "running", started_at, tls))
    return found


async def update(link: Link, running: GatewayJob, order: Order) -> str:
    """Give a gateway another policy with its secrets, and API keys and certificate if the order has some.

    Returns the policy's revision, once the gateway goes by it; running answers finish on the old one. Where it listens
    and which nodes it knows was said at the start.

    Raises `StellwerkError` when the gateway is gone, or when it refuses the order; then everything stays as it is.
    """
    runtime = await link.send_artefact(build_runtime())
    job = await _job(link, runtime, ["update", str(running.asked_port), order.host], order)
    return str((await _wait_for(link, job.job_id, "updated", START_S))["policy"])


async def stop(link: Link, job: GatewayJob, drain_s: float = 30.0) -> None:
    """End a gateway; running answers get `drain_s` seconds."""
    await _end(link, job.job_id, drain_s + STOP_MARGIN_S)


async def last_words(link: Link, job: GatewayJob, lines: int = 10) -> list[str]:
    """The end of the gateway's log."""
    params = {"job_id": job.job_id, "offset": -LOG_BYTES, "limit": LOG_BYTES}
    piece = await link.call("job.log", params, deadline_s=CALL_S)
    return [str(line) for line in piece["text"].splitlines()[-lines:]]


async def _job(link: Link, runtime: str, words: list[str], order: Order) -> JobStatus:
    params: dict[str, Any] = {
        "name": JOB_NAME,
        "argv": ["python3", "-I", runtime, MODULE, *words],
        "env": {},
        "cwd": None,  # the home directory, where the runtime's path begins
        "stdin": order.to_json(),
        "lifetime_s": None,
    }
    job: JobStatus = await link.call("job.start", params, JobStatus, deadline_s=CALL_S)
    return job


async def _end(link: Link, job_id: str, grace_s: float) -> None:
    params = {"job_id": job_id, "grace_s": grace_s}
    await link.call("job.stop", params, deadline_s=grace_s + CALL_S)


async def _said(link: Link, job_id: str, offset: int) -> tuple[dict[str, dict[str, Any]], list[str], int]:
    """(messages by kind, other lines, where to read on) of a job's log."""
    piece = await link.call("job.log", {"job_id": job_id, "offset": offset, "limit": LOG_BYTES}, deadline_s=CALL_S)
    messages: dict[str, dict[str, Any]] = {}
    others: list[str] = []
    for line in piece["text"].splitlines():
        try:
            value = json.loads(line) if line.startswith('{"stellwerk"') else None
        except ValueError:
            value = None
        if isinstance(value, dict):
            messages[str(value["stellwerk"])] = value
        elif line.strip():
            others.append(line.strip())
    return messages, others, int(piece["end"])


async def _wait_for(link: Link, job_id: str, kind: str, deadline_s: float) -> dict[str, Any]:
    """Follow a job until it says `kind`. StellwerkError when it says that it failed, or ends without a word."""
    offset, last = 0, ""
    try:
        async with asyncio.timeout(deadline_s):
            while True:
                status: JobStatus = await link.call("job.status", {"job_id": job_id}, JobStatus, deadline_s=CALL_S)
                messages, others, offset = await _said(link, job_id, offset)
                last = others[-1] if others else last
                if kind in messages:
                    return messages[kind]
                if "failed" in messages or status.state != "running":
                    why = str(messages["failed"]["text"]) if "failed" in messages else last or "It ended without a word"
                    if kind == "updated":
                        raise StellwerkError("the gateway stays as it is", node=link.name, why=why)
                    raise StellwerkError("the gateway does not run there", node=link.name, why=why)
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise DeadlineExceeded(
            say("the gateway said nothing within {seconds} s", seconds=f"{deadline_s:g}"), node=link.name, why=last
        ) from None
