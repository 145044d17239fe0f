"""Helpers for whole journeys: simulated Sparks, a session that is paired with them, and the command line."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fixtures.quick import COMMAND
from stellwerk.model.errors import StellwerkError
from stellwerk.remote import Deadlines, LinkState, PasswordQuestion, Target, UserIdentity
from stellwerk.remote.trust import HostKeyQuestion
from stellwerk.setup.session import ClusterSession
from stellwerk.setup.store import ClusterFolder, ClusterStore
from stellwerk.virtual import VirtualCluster

QUICK = Deadlines(connect_s=3.0, reconnect_first_s=0.1, reconnect_max_s=0.5)


class Person:
    """Knows the fingerprints and passwords of simulated machines, and gives each answer once."""

    def __init__(self, cluster: VirtualCluster) -> None:
        self.cluster = cluster
        self.asked: list[str] = []

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        return any(n.host_key_fingerprint == question.key.fingerprint for n in self.cluster.nodes)

    async def password(self, question: PasswordQuestion) -> str | None:
        self.asked.append(f"password {question.node}")
        return self.cluster.node(question.node).password if question.attempt == 1 else None

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        self.asked.append(f"sudo {question.node}")
        return self.cluster.node(question.node).sudo_password if question.attempt == 1 else None


@dataclass
class Journey:
    """Simulated machines, and a desktop that has them on its list."""

    cluster: VirtualCluster
    base: Path
    folder: ClusterFolder
    session: ClusterSession
    person: Person

    def home(self, node: str) -> Path:
        return Path(self.cluster.node(node).home)

    def root(self, node: str, path: str) -> Path:
        return Path(self.cluster.node(node).root, path.lstrip("/"))

    async def drop(self, node: str) -> None:
        """Pull the SSH connections of a node, and wait until the link stands again."""
        lost = asyncio.Event()
        link = self.session.links[node]
        end = link.on_state(lambda state, reason: lost.set() if state is LinkState.RECONNECTING else None)
        await self.cluster.set_fault("ssh-drop", node=node)
        async with asyncio.timeout(60):
            await lost.wait()
            await link.ready(60)
        end()

    async def reopen(self) -> dict[str, StellwerkError | None]:
        """Close the desktop and open it again: it connects with the cluster's key alone."""
        await self.session.close()
        self.session = ClusterSession.open(self.folder, identity=UserIdentity(), deadlines=QUICK)
        return await self.session.connect()


@contextlib.asynccontextmanager
async def journey(
    base: Path,
    nodes: int = 2,
    topology: str = "pair",
    *,
    pair: bool = True,
    faults: Sequence[Mapping[str, Any]] = (),
    cluster: VirtualCluster | None = None,
) -> AsyncIterator[Journey]:
    """Start machines (or take those of `cluster`), pair them and make root available."""
    async with contextlib.AsyncExitStack() as stack:
        if cluster is None:
            cluster = await stack.enter_async_context(VirtualCluster.start(nodes, topology, faults=faults))
        folder, _ = ClusterStore(base).create("test")
        session = ClusterSession.open(folder, identity=UserIdentity(), deadlines=QUICK)
        made = Journey(cluster, base, folder, session, Person(cluster))
        stack.push_async_callback(lambda: made.session.close())
        for node in cluster.nodes:
            session.add(Target(node.host, node.port, node.user, node.name), node.name)
        if pair:
            errors = [error for error in (await session.pair(made.person)).values() if error is not None]
            assert errors == []
            await session.unlock_sudo(made.person)
        yield made


@dataclass(frozen=True)
class Ran:
    """What a command of `stellwerk` did."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Everything, in one line: rich breaks lines where the terminal ends."""
        return " ".join((self.out + " " + self.err).split())


async def stellwerk(base: Path, *words: str, timeout_s: float = 90.0, input: bytes = b"") -> Ran:
    """Run `stellwerk WORDS…` as a process of its own, with its clusters in `base`."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND, *words,
        env={**os.environ, "HOME": str(base), "STELLWERK_HOME": str(base), "COLUMNS": "250"},
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(timeout_s):
            out, err = await process.communicate(input)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))
