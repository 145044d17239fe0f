"""Between the desktop and its links: answers for simulated machines, and a strike at a moment that only it knows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stellwerk.remote import NodeLink, PasswordQuestion
from stellwerk.remote.trust import HostKeyQuestion
from stellwerk.setup.outcome import ApplyEvent
from stellwerk.virtual.client import VirtualCluster
from stellwerk.virtual.walk.moments import BEFORE, DECIDED, HALFWAY, Moment


class Keys:
    """Answers for simulated machines: their fingerprints and passwords are known."""

    def __init__(self, cluster: VirtualCluster) -> None:
        self._cluster = cluster

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        return any(n.host_key_fingerprint == question.key.fingerprint for n in self._cluster.nodes)

    async def password(self, question: PasswordQuestion) -> str | None:
        return self._cluster.node(question.node).password if question.attempt == 1 else None

    async def sudo_password(self, question: PasswordQuestion) -> str | None:
        return self._cluster.node(question.node).sudo_password if question.attempt == 1 else None


class Tapped:
    """A link that lets somebody act before each call."""

    def __init__(self, link: NodeLink, before: Callable[[str, str], Awaitable[None]]) -> None:
        self._link = link
        self._before = before

    @property
    def name(self) -> str:
        return self._link.name

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: type[Any] | None = None,
        *,
        deadline_s: float | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any:
        await self._before(self.name, method)
        answer = await self._link.call(method, params, cls, deadline_s=deadline_s, on_progress=on_progress)
        await self._before(self.name, f"{method} answered")
        return answer

    async def ready(self, deadline_s: float) -> None:
        await self._link.ready(deadline_s)


class Tap:
    """Strikes once, at a moment that only the desktop knows."""

    def __init__(self, moment: Moment, victim: str, strike: Callable[[], Awaitable[None]]) -> None:
        self.moment = moment
        self.victim = victim
        self.struck = False
        self._strike = strike
        self._decided = False
        self._other_confirmed = asyncio.Event()
        self._one_at_a_time = asyncio.Lock()

    def event(self, event: ApplyEvent) -> None:
        self._decided = self._decided or event.state == "decided"

    async def before(self, node: str, method: str) -> None:
        if method == "net.guard.confirm answered" and node != self.victim:
            self._other_confirmed.set()
        if self.moment.step or self.struck:
            return
        starting = method == "net.guard.start" and node == self.victim
        if (self.moment is BEFORE and starting) or (self.moment is DECIDED and self._decided):
            await self._now()
        elif self.moment is HALFWAY and method == "net.guard.confirm" and node == self.victim:
            await self._other_confirmed.wait()
            await self._now()

    async def _now(self) -> None:
        async with self._one_at_a_time:
            if not self.struck:
                self.struck = True
                await self._strike()
