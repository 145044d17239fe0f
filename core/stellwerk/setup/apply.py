"""Apply a plan to all its nodes, or to none: two phases, a lease on every node, the decision written down first.

Phase one brings every node to *holding*: the new network is live, and goes back by itself unless it is confirmed.
Phase two decides. The decision is in the journal, synced, before the first node hears of it, so that whatever dies
in between, `resume` ends it the same way on every node at the next contact.
"""

from __future__ import annotations

import asyncio
from dataclasses import KW_ONLY, dataclass
from typing import Any

from stellwerk.model.errors import ApplyFailed, ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.guard import FINAL_STATES, GuardState, GuardStatus, PingResult
from stellwerk.model.plan import NodePlan
from stellwerk.model.text import say, whole
from stellwerk.setup.outcome import (
    HARD_LIMIT_S,
    LEASE_S,
    POLL_S,
    SETTLE_S,
    START_DEADLINE_S,
    ApplyEvent,
    ApplyOutcome,
    bare,
    build_outcome,
)
from stellwerk.setup.plan_run import PlanRun
from stellwerk.setup.resume import Resume
from stellwerk.wire import from_wire, to_wire


@dataclass(eq=False, repr=False)
class Apply(PlanRun):
    """One run of one plan. To cancel it before the decision means *roll back*; after it, nothing."""

    _: KW_ONLY
    lease_s: float = LEASE_S
    hard_limit_s: float = HARD_LIMIT_S
    settle_s: float = SETTLE_S

    def __post_init__(self) -> None:
        self.contact_s = min(self.contact_s, self.lease_s * 2 / 3)
        self._holding: set[str] = set()
        self._first: asyncio.Task[str] | None = None
        self._stopped = False

    def cancel(self) -> None:
        """Roll back: `run` then ends with an outcome. After the decision it changes nothing."""
        self._stopped = True
        if self._first is not None:
            self._first.cancel()

    async def run(self) -> ApplyOutcome:
        """Apply and decide. Raises `ApplyFailed` when nodes are missing; every other end is an outcome."""
        missing = [node.node for node in self.touched if node.node not in self.channels]
        if missing:
            raise ApplyFailed(
                say("not connected: {missing}", missing=", ".join(missing)),
                remedy="Connect all nodes of the plan first",
            )
        if not self.touched:
            return build_outcome(self.plan, True, {}, say("every node is already as planned"))
        self.journal.write("begin", self.plan.plan_id, plan=to_wire(self.plan))
        cancelled = False
        self._first = asyncio.create_task(self._first_phase(), name=f"apply {self.plan.plan_id}")
        if self._stopped:
            self._first.cancel()
        try:
            problem = await self._first
        except asyncio.CancelledError:
            cancelled, problem = not self._stopped, say("cancelled")
            await _ended(self._first)
        verdict = "revert" if problem else "confirm"
        self._decide(verdict, problem)
        # From here on a cancellation must not tear the nodes apart.
        outcome = await _finish(self._second_phase(verdict, problem))
        if cancelled:
            raise asyncio.CancelledError
        return outcome

    async def _first_phase(self) -> str:
        """Bring all nodes to *holding* and look from node to node. Returns what went wrong, or ""."""
        renewing = asyncio.create_task(self._keep_leases(), name="lease renewal")
        try:
            peers = [node for node in self.touched if not node.last]
            results = await asyncio.gather(*(self._start(node) for node in peers))
            problem = next((r for r in results if r), "")
            for node in (n for n in self.touched if n.last):
                problem = problem or await self._start(node)
            return problem or await self._look_around()
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _start(self, node: NodePlan) -> str:
        channel = self.channels[node.node]
        params = self._start_params(node, self.lease_s, self.hard_limit_s)

        def progress(data: Any) -> None:
            self._show(node.node, from_wire(GuardStatus, data))

        try:
            status = await channel.call(
                "net.guard.start", params, GuardStatus, deadline_s=START_DEADLINE_S, on_progress=progress
            )
        except (ConnectionFailed, DeadlineExceeded) as error:
            self.on_event(ApplyEvent(node.node, "waiting", str(error)))
            status = await self._await_start(node, error)
            if status.state is GuardState.IDLE:  # it may hold the change or not: nobody knows before it answers
                self.on_event(ApplyEvent(node.node, "waiting", status.why))
                return _of(node.node, status.why)
        except StellwerkError as error:
            return _of(node.node, bare(error))
        self._show(node.node, status)
        if status.state is GuardState.HOLDING and status.plan_id == self.plan.plan_id:
            self._holding.add(node.node)
            return ""
        return _of(node.node, status.why or "the change did not take hold")

    async def _await_start(self, node: NodePlan, error: StellwerkError) -> GuardStatus:
        """The connection went while the node was at work: see what it made of it."""
        channel = self.channels[node.node]
        late = isinstance(error, DeadlineExceeded)
        why = say("the connection was lost ({error})", error=bare(error)) if late else bare(error)
        lost = GuardStatus(GuardState.IDLE, self.plan.plan_id, why=why)
        try:
            async with asyncio.timeout(self.contact_s):
                while True:
                    try:
                        await channel.ready(self.contact_s)
                        status: GuardStatus = await channel.call("net.guard.status", {}, GuardStatus, deadline_s=10)
                    except StellwerkError as again:
                        self.on_event(ApplyEvent(node.node, "waiting", bare(again)))
                        await asyncio.sleep(POLL_S)
                        continue
                    if status.plan_id != self.plan.plan_id:
                        return lost
                    if status.state is GuardState.HOLDING or status.state in FINAL_STATES:
                        return status
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            return lost

    async def _keep_leases(self) -> None:
        while True:
            await asyncio.sleep(self.lease_s / 6)
            await asyncio.gather(*(self._renew(name) for name in sorted(self._holding)))

    async def _renew(self, name: str) -> None:
        try:
            status = await self.channels[name].call(
                "net.guard.renew", {"plan_id": self.plan.plan_id}, GuardStatus, deadline_s=self.lease_s / 6
            )
        except StellwerkError as error:
            # Not an end yet: the lease outlasts several missed renewals.
            self.on_event(ApplyEvent(name, "waiting", say("lease not renewed: {error}", error=bare(error))))
        else:
            self._show(name, status)

    async def _look_around(self) -> str:
        """Every node must reach its neighbours over the new addresses, within the settling time."""
        waiting = {
            (n.node, netdev, peer) for n in self.plan.nodes for netdev, peer in n.peers if n.node in self.channels
        }
        self.on_event(ApplyEvent(None, "checking", say("{count} neighbours to reach", count=len(waiting))))
        last: dict[tuple[str, str, str], str] = {}
        deadline = asyncio.get_running_loop().time() + self.settle_s
        while waiting:
            tried = sorted(waiting)
            answers = await asyncio.gather(*(self._ping(*item) for item in tried))
            for item, answer in zip(tried, answers, strict=True):
                if answer == "":
                    waiting.discard(item)
                else:
                    last[item] = answer
            gone = [name for name in sorted(self._holding) if await self._left_holding(name)]
            if gone:
                return say("{node} went back by itself", node=gone[0])
            if waiting and asyncio.get_running_loop().time() > deadline:
                node, netdev, peer = min(waiting)
                why = whole(last[node, netdev, peer])
                return say(
                    "{node} cannot reach {peer} over {netdev}: {why}", node=node, peer=peer, netdev=netdev, why=why
                )
            if waiting:
                await asyncio.sleep(POLL_S)
        return ""

    async def _left_holding(self, name: str) -> bool:
        """A node that is away still holds as far as we know; one that answers says it itself."""
        try:
            status = await self.channels[name].call("net.guard.status", {}, GuardStatus, deadline_s=10)
        except StellwerkError:
            return False
        return bool(status.state is not GuardState.HOLDING or status.plan_id != self.plan.plan_id)

    async def _ping(self, node: str, netdev: str, peer: str) -> str:
        params = {
            "destination": peer,
            "netdev": netdev,
            "payload_bytes": 56,
            "count": 1,
            "dont_fragment": False,
            "timeout_s": 1.0,
        }
        try:
            answer = await self.channels[node].call("verify.ping", params, PingResult, deadline_s=8)
        except StellwerkError as error:
            return bare(error)
        return "" if answer.received else answer.error or say("no answer")

    async def _second_phase(self, verdict: str, why: str) -> ApplyOutcome:
        self.on_event(
            ApplyEvent(
                None, "decided", say("keep the new network") if verdict == "confirm" else say("go back: {why}", why=why)
            )
        )
        outcomes = await asyncio.gather(*(self._settle(node.node, verdict, why) for node in self.touched))
        result = self._write_outcomes(verdict, {outcome.node: outcome for outcome in outcomes}, why)
        if verdict == "confirm" and not result.consistent and result.settled:
            # A node went back between our look and its confirm: the same way out as after a crash.
            repaired = await Resume(self.plan, self.channels, self.journal, self.on_event).run()
            return repaired
        return self._end(result, why)

    def _show(self, node: str, status: GuardStatus) -> None:
        text = status.step or status.why
        self.on_event(ApplyEvent(node, status.state.value, text, status.lease_left_s))


def _of(node: str, why: str) -> str:
    return say("{node}: {why}", node=node, why=whole(why))


async def _finish(work: Any) -> ApplyOutcome:
    """Run `work` to its end even when we are cancelled meanwhile; the cancellation is raised afterwards."""
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            if task.cancelled():
                raise
            cancelled = True
    outcome: ApplyOutcome = task.result()
    if cancelled:
        raise asyncio.CancelledError
    return outcome


async def _ended(task: asyncio.Task[str]) -> None:
    """Cancel `task` and wait for its end, whatever that is."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
