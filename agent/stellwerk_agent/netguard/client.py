"""The daemon's side of netguard: starts a guard through sudo, then speaks to its socket.

Renewing, confirming, reverting and asking need no root while the guard lives. When it is gone, the last published
status tells the outcome; only an outcome that is missing needs root again, to go back from the journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Callable
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import PlanRefused, SudoFailed
from stellwerk.model.guard import FINAL_STATES, GuardState, GuardStatus
from stellwerk.model.plan import NodePlan
from stellwerk.model.text import say
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.request import HARD_LIMIT_S, LEASE_S, SETTLE_S
from stellwerk_agent.netguard.rollback import read_outcome
from stellwerk_agent.options import Options
from stellwerk_agent.paths import short_path
from stellwerk_agent.sudo import Sudo

Progress = Callable[[GuardStatus], Awaitable[None] | None]

_POLL_S = 0.2
_ANSWER_S = 45.0
_ROOT_S = 120.0  # going back from a journal may have to wait for the network service
_SETTLED = (*FINAL_STATES, GuardState.HOLDING, GuardState.IDLE)

_GONE = say(
    "the guard on this node was killed while it held a change; the change is taken back when root is available "
    "again, at the next boot at the latest"
)


class GuardClient:
    """One per daemon; keeps nothing, so a new daemon finds a running guard again."""

    def __init__(self, options: Options, sudo: Sudo) -> None:
        self._layout = Layout(options.root)
        self._sudo = sudo

    async def start(
        self,
        plan: NodePlan,
        plan_id: str,
        *,
        lease_s: float = LEASE_S,
        hard_limit_s: float = HARD_LIMIT_S,
        session_address: str | None = None,
        settle_s: float = SETTLE_S,
        on_progress: Progress | None = None,
    ) -> GuardStatus:
        """Apply a plan under guard. Ends when it is held, or reverted with the reason in `why`.

        Raises `SudoFailed`, `Busy`, `PlanRefused` (root must not do that), `ApplyFailed` (the guard did not start).
        Cancelling only stops following: the lease, or `revert`, takes the change back.
        """
        asked = {
            "plan": wire.to_wire(plan),
            "plan_id": plan_id,
            "owner_uid": os.getuid(),
            "lease_s": lease_s,
            "hard_limit_s": hard_limit_s,
            "settle_s": settle_s,
            "session_address": session_address,
        }
        return await self._follow(await self._root("start", (), asked), on_progress)

    async def undo(
        self,
        plan_id: str,
        *,
        lease_s: float = LEASE_S,
        hard_limit_s: float = HARD_LIMIT_S,
        on_progress: Progress | None = None,
    ) -> GuardStatus:
        """Take a confirmed plan back, guarded: the status names the new plan, which wants a confirmation of its own."""
        times = {"lease_s": lease_s, "hard_limit_s": hard_limit_s}
        return await self._follow(await self._root("undo", ("--plan-id", plan_id), times), on_progress)

    async def status(self) -> GuardStatus:
        """How things stand. Goes back first, if root can be had, when a guard was killed."""
        answer = await self._ask({"op": "status"})
        if answer is not None:
            return answer
        last = read_outcome(self._layout)
        if last is None:
            return GuardStatus(GuardState.IDLE)
        if last.state in (*FINAL_STATES, GuardState.IDLE):
            return last
        try:
            return await self._root("status")
        except SudoFailed:
            again = await self._ask({"op": "status"})
            if again is not None:
                return again
            left = read_outcome(self._layout) or last
            if left.state in FINAL_STATES:
                return left
            return GuardStatus(
                GuardState.FAILED, left.plan_id, _GONE, left.step, changed_at=left.changed_at, log=left.log
            )

    async def renew(self, plan_id: str) -> GuardStatus:
        """Say that the desktop lives. The status tells when there is nothing to renew any more."""
        return await self._ask({"op": "renew", "plan_id": plan_id}) or await self.status()

    async def confirm(self, plan_id: str) -> GuardStatus:
        """Keep the change. Raises `PlanRefused` when this plan is not held any more."""
        answer = await self._ask({"op": "confirm", "plan_id": plan_id}) or await self.status()
        if answer.state is not GuardState.CONFIRMED or answer.plan_id != plan_id:
            raise PlanRefused(
                say("the change {plan_id} cannot be confirmed", plan_id=plan_id),
                why=say(
                    "this node is at {plan}: {state} {why}",
                    plan=answer.plan_id or say("no plan"),
                    state=answer.state.value,
                    why=answer.why,
                ),
                remedy="apply the plan again",
            )
        return answer

    async def revert(self, plan_id: str, why: str, on_progress: Progress | None = None) -> GuardStatus:
        """Go back and wait until that is done; also retries what could not be taken back before."""
        answer = await self._ask({"op": "revert", "plan_id": plan_id, "why": why})
        if answer is None:
            last = await self.status()
            if last.state is GuardState.CONFIRMED and last.plan_id == plan_id:
                raise PlanRefused(say("the change {plan_id} is confirmed", plan_id=plan_id), remedy="undo it instead")
            return await self._root("revert") if last.state is GuardState.FAILED else last
        return await self._follow(answer, on_progress, until=FINAL_STATES)

    async def _follow(
        self, status: GuardStatus, on_progress: Progress | None, until: tuple[GuardState, ...] = _SETTLED
    ) -> GuardStatus:
        shown: GuardStatus | None = None
        while True:
            if on_progress is not None and (shown is None or (status.state, status.step) != (shown.state, shown.step)):
                waiting = on_progress(status)
                if waiting is not None:
                    await waiting
                shown = status
            if status.state in until:
                return status
            await asyncio.sleep(_POLL_S)
            status = await self.status()

    async def _root(self, verb: str, args: tuple[str, ...] = (), told: dict[str, Any] | None = None) -> GuardStatus:
        data = json.dumps(told).encode() if told is not None else None
        done = await self._sudo.run_root(verb, args, data, _ROOT_S)
        return wire.from_wire(GuardStatus, done.json())

    async def _ask(self, message: dict[str, Any]) -> GuardStatus | None:
        """One question to a running guard; None when none answers. Raises `PlanRefused` with its objection."""
        try:
            data = await asyncio.wait_for(self._exchange(message), _ANSWER_S)
            answer = json.loads(data)
        except (OSError, ValueError, asyncio.TimeoutError):
            return None  # gone, or gone in the middle of the answer: the outcome file tells
        if not isinstance(answer, dict) or "error" in answer:
            said = answer.get("error") if isinstance(answer, dict) else answer
            raise PlanRefused("the guard on this node objects", why=str(said))
        return wire.from_wire(GuardStatus, answer)

    async def _exchange(self, message: dict[str, Any]) -> bytes:
        with short_path(self._layout.socket(os.getuid())) as name:
            reader, writer = await asyncio.open_unix_connection(name, limit=wire.MAX_LINE_BYTES)
        try:
            writer.write(json.dumps(message).encode() + b"\n")
            await writer.drain()
            return await reader.readline()
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()


async def remove_root_place(sudo: Sudo) -> None:
    """Un-pairing: remove what root keeps for the agent. Raises `SudoFailed`, `Busy`, `ApplyFailed`."""
    (await sudo.run_root("remove")).json()


async def read_netplan(sudo: Sudo) -> dict[str, str]:
    """The texts of the netplan files, read as root: path -> text. Raises `SudoFailed`."""
    found = (await sudo.run_root("read-netplan")).json().get("files")
    rows = found if isinstance(found, list) else []
    return {row["path"]: row["text"] for row in rows if isinstance(row.get("text"), str)}
