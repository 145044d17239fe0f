"""`sudo.*` and `net.guard.*`: hands the calls to the parts that do the work, and keeps to the node's lock."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from stellwerk.model import facts
from stellwerk.model.guard import GuardStatus
from stellwerk.model.plan import NodePlan
from stellwerk_agent.locking import NodeLock
from stellwerk_agent.netguard.client import GuardClient
from stellwerk_agent.netguard.request import HARD_LIMIT_S, LEASE_S
from stellwerk_agent.options import Options
from stellwerk_agent.probes.net import session_route
from stellwerk_agent.rpc import Call, Nothing, Registry
from stellwerk_agent.sudo import Sudo

# A whole apply: generating, reconfiguring, settling; the guard's own limits are tighter.
START_LIMIT_S = 600.0
FORGET_S = HARD_LIMIT_S


@dataclass(frozen=True, slots=True)
class Unlock:
    password: str


@dataclass(frozen=True, slots=True)
class StartPlan:
    plan: NodePlan
    plan_id: str
    lease_s: float = LEASE_S
    hard_limit_s: float = HARD_LIMIT_S


@dataclass(frozen=True, slots=True)
class OnePlan:
    plan_id: str


@dataclass(frozen=True, slots=True)
class Revert:
    plan_id: str
    why: str = "asked by the desktop"


class Guarding:
    """Root and network changes, as the desktop calls them."""

    def __init__(self, options: Options, sudo: Sudo, lock: NodeLock) -> None:
        self._sudo = sudo
        self._lock = lock
        self._guard = GuardClient(options, sudo)
        self._forgetting: asyncio.TimerHandle | None = None

    def register(self, registry: Registry) -> None:
        registry.add("sudo.state", Nothing, self._state, deadline_s=70.0)
        registry.add("sudo.unlock", Unlock, self._unlock, deadline_s=90.0)
        registry.add("sudo.forget", Nothing, self._forget)
        registry.add("net.guard.start", StartPlan, self._start, deadline_s=START_LIMIT_S)
        registry.add("net.guard.undo", OnePlan, self._undo, deadline_s=START_LIMIT_S)
        registry.add("net.guard.status", Nothing, self._status, deadline_s=150.0)
        registry.add("net.guard.renew", OnePlan, self._renew, deadline_s=60.0)
        registry.add("net.guard.confirm", OnePlan, self._confirm, deadline_s=60.0)
        registry.add("net.guard.revert", Revert, self._revert, deadline_s=START_LIMIT_S)

    async def _state(self, call: Call, params: Nothing) -> facts.Sudo:
        return await self._sudo.state()

    async def _unlock(self, call: Call, params: Unlock) -> facts.Sudo:
        state = await self._sudo.unlock(params.password)
        self._keep_password()
        call.connection.context.on_close.append(self._desktop_gone)
        return state

    async def _forget(self, call: Call, params: Nothing) -> dict[str, Any]:
        self._keep_password()
        self._sudo.forget()
        return {}

    def _keep_password(self) -> None:
        if self._forgetting is not None:
            self._forgetting.cancel()
            self._forgetting = None

    def _desktop_gone(self) -> None:
        """Whoever gave the password is gone: it stays for a reconnect, and no longer than a change may be held."""
        self._keep_password()
        self._forgetting = asyncio.get_running_loop().call_later(FORGET_S, self._sudo.forget)

    async def _start(self, call: Call, params: StartPlan) -> GuardStatus:
        self._lock.require(call.connection)
        session = session_route(call.connection.context.ssh_connection, ())
        return await self._guard.start(
            params.plan,
            params.plan_id,
            lease_s=params.lease_s,
            hard_limit_s=params.hard_limit_s,
            session_address=session.server_address,
            on_progress=call.progress,
        )

    async def _undo(self, call: Call, params: OnePlan) -> GuardStatus:
        self._lock.require(call.connection)
        return await self._guard.undo(params.plan_id, on_progress=call.progress)

    async def _status(self, call: Call, params: Nothing) -> GuardStatus:
        return await self._guard.status()

    async def _renew(self, call: Call, params: OnePlan) -> GuardStatus:
        return await self._guard.renew(params.plan_id)

    async def _confirm(self, call: Call, params: OnePlan) -> GuardStatus:
        self._lock.require(call.connection)
        return await self._guard.confirm(params.plan_id)

    async def _revert(self, call: Call, params: Revert) -> GuardStatus:
        # Going back is never refused for the lock: whoever sees a node in trouble may put it right.
        return await self._guard.revert(params.plan_id, params.why, call.progress)
