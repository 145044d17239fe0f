"""Apply a plan to all its nodes, or to none: two phases, a lease on every node, the decision written down first.

Phase one brings every node to *holding*: the new network is live, and goes back by itself unless it is confirmed.
Phase two decides. The decision is in the journal, synced, before the first node hears of it, so that whatever dies
in between, `resume` ends it the same way on every node at the next contact.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stellwerk.model.errors import ApplyFailed, ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.guard import FINAL_STATES, GuardState, GuardStatus, PingResult
from stellwerk.model.plan import NodePlan, Plan
from stellwerk.setup.journal import Journal
from stellwerk.wire import from_wire, to_wire

LEASE_S = 90.0
HARD_LIMIT_S = 900.0
# Addresses vanish for a second or more after an apply; a slow switch port needs longer (spanning tree).
SETTLE_S = 15.0
POLL_S = 0.25
START_DEADLINE_S = 120.0
# A node whose guard was killed goes back before it answers.
STATUS_DEADLINE_S = 60.0
# How long a node that dropped its connection may take to come back before all give up. Below the lease, so that
# the desktop's decision and the node's own agree.
CONTACT_S = 60.0


class Channel(Protocol):
    """What the engine needs of a node: calls that fail with `ConnectionFailed` when it is away."""

    @property
    def name(self) -> str: ...

    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        cls: type[Any] | None = None,
        *,
        deadline_s: float | None = None,
        on_progress: Callable[[Any], None] | None = None,
    ) -> Any: ...

    async def ready(self, deadline_s: float) -> None:
        """Return when the node answers again; raise a `StellwerkError` when it does not within `deadline_s`."""


@dataclass(frozen=True, slots=True)
class ApplyEvent:
    """Something to show while a plan is applied."""

    node: str | None
    state: str  # a GuardState, or: checking | decided | done
    text: str = ""
    lease_left_s: float | None = None


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """On which configuration a node is: new | old | unchanged | unknown."""

    node: str
    configuration: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ApplyOutcome:
    """How an apply ended. `applied` is True when every node runs the new configuration."""

    plan_id: str
    applied: bool
    nodes: tuple[NodeOutcome, ...]
    why: str = ""

    @property
    def settled(self) -> bool:
        """False while a node has not been heard since the decision."""
        return all(node.configuration != "unknown" for node in self.nodes)

    @property
    def consistent(self) -> bool:
        """All nodes known, and all on the same side."""
        sides = {n.configuration for n in self.nodes if n.configuration != "unchanged"}
        return self.settled and len(sides) <= 1


OnEvent = Callable[[ApplyEvent], None]


def _quiet(event: ApplyEvent) -> None:
    """No one watches."""


class Apply:
    """One run of one plan. To cancel it before the decision means *roll back*; after it, nothing."""

    def __init__(
        self,
        plan: Plan,
        channels: Mapping[str, Channel],
        journal: Journal,
        on_event: OnEvent = _quiet,
        *,
        lease_s: float = LEASE_S,
        hard_limit_s: float = HARD_LIMIT_S,
        settle_s: float = SETTLE_S,
        contact_s: float = CONTACT_S,
    ) -> None:
        self.plan = plan
        self.journal = journal
        self._channels = channels
        self._on_event = on_event
        self._lease_s = lease_s
        self._hard_limit_s = hard_limit_s
        self._settle_s = settle_s
        self._contact_s = min(contact_s, lease_s * 2 / 3)
        self._touched = tuple(node for node in plan.nodes if node.changes)
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
        missing = [node.node for node in self._touched if node.node not in self._channels]
        if missing:
            raise ApplyFailed(f"not connected: {', '.join(missing)}", remedy="Connect all machines of the plan first")
        if not self._touched:
            return self._outcome(applied=True, known={}, why="every machine is already as planned")
        self.journal.write("begin", self.plan.plan_id, plan=to_wire(self.plan))
        cancelled = False
        self._first = asyncio.create_task(self._first_phase(), name=f"apply {self.plan.plan_id}")
        if self._stopped:
            self._first.cancel()
        try:
            problem = await self._first
        except asyncio.CancelledError:
            cancelled, problem = not self._stopped, "cancelled"
            await _ended(self._first)
        verdict = "revert" if problem else "confirm"
        self.journal.write("decision", self.plan.plan_id, verdict=verdict, why=problem)
        # From here on a cancellation must not tear the nodes apart.
        outcome = await _finish(self._second_phase(verdict, problem))
        if cancelled:
            raise asyncio.CancelledError
        return outcome

    async def _first_phase(self) -> str:
        """Bring all nodes to *holding* and look from node to node. Returns what went wrong, or ""."""
        renewing = asyncio.create_task(self._keep_leases(), name="lease renewal")
        try:
            peers = [node for node in self._touched if not node.last]
            results = await asyncio.gather(*(self._start(node) for node in peers))
            problem = next((r for r in results if r), "")
            for node in (n for n in self._touched if n.last):
                problem = problem or await self._start(node)
            return problem or await self._look_around()
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _start(self, node: NodePlan) -> str:
        channel = self._channels[node.node]
        params = {
            "plan": to_wire(node),
            "plan_id": self.plan.plan_id,
            "lease_s": self._lease_s,
            "hard_limit_s": self._hard_limit_s,
        }

        def progress(data: Any) -> None:
            self._show(node.node, from_wire(GuardStatus, data))

        try:
            status = await channel.call(
                "net.guard.start", params, GuardStatus, deadline_s=START_DEADLINE_S, on_progress=progress
            )
        except (ConnectionFailed, DeadlineExceeded) as error:
            self._on_event(ApplyEvent(node.node, "waiting", str(error)))
            status = await self._await_start(node, error)
        except StellwerkError as error:
            return f"{node.node}: {_bare(error)}"
        self._show(node.node, status)
        if status.state is GuardState.HOLDING and status.plan_id == self.plan.plan_id:
            self._holding.add(node.node)
            return ""
        return f"{node.node}: {status.why or 'the change did not take hold'}"

    async def _await_start(self, node: NodePlan, error: StellwerkError) -> GuardStatus:
        """The connection went while the node was at work: see what it made of it."""
        channel = self._channels[node.node]
        lost = GuardStatus(GuardState.IDLE, self.plan.plan_id, why=f"the connection was lost ({_bare(error)})")
        try:
            async with asyncio.timeout(self._contact_s):
                while True:
                    try:
                        await channel.ready(self._contact_s)
                        status: GuardStatus = await channel.call("net.guard.status", {}, GuardStatus, deadline_s=10)
                    except StellwerkError as again:
                        self._on_event(ApplyEvent(node.node, "waiting", _bare(again)))
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
            await asyncio.sleep(self._lease_s / 6)
            await asyncio.gather(*(self._renew(name) for name in sorted(self._holding)))

    async def _renew(self, name: str) -> None:
        try:
            status = await self._channels[name].call(
                "net.guard.renew", {"plan_id": self.plan.plan_id}, GuardStatus, deadline_s=self._lease_s / 6
            )
        except StellwerkError as error:
            # Not an end yet: the lease outlasts several missed renewals.
            self._on_event(ApplyEvent(name, "waiting", f"lease not renewed: {_bare(error)}"))
        else:
            self._show(name, status)

    async def _look_around(self) -> str:
        """Every node must reach its neighbours over the new addresses, within the settling time."""
        waiting = {
            (n.node, netdev, peer) for n in self.plan.nodes for netdev, peer in n.peers if n.node in self._channels
        }
        self._on_event(ApplyEvent(None, "checking", f"{len(waiting)} neighbours to reach"))
        last: dict[tuple[str, str, str], str] = {}
        deadline = asyncio.get_running_loop().time() + self._settle_s
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
                return f"{gone[0]} went back by itself"
            if waiting and asyncio.get_running_loop().time() > deadline:
                node, netdev, peer = min(waiting)
                return f"{node} cannot reach {peer} over {netdev}: {last[node, netdev, peer]}"
            if waiting:
                await asyncio.sleep(POLL_S)
        return ""

    async def _left_holding(self, name: str) -> bool:
        """A node that is away still holds as far as we know; one that answers says it itself."""
        try:
            status = await self._channels[name].call("net.guard.status", {}, GuardStatus, deadline_s=10)
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
            answer = await self._channels[node].call("verify.ping", params, PingResult, deadline_s=8)
        except StellwerkError as error:
            return _bare(error)
        return "" if answer.received else answer.error or "no answer"

    async def _second_phase(self, verdict: str, why: str) -> ApplyOutcome:
        self._on_event(
            ApplyEvent(None, "decided", "keep the new network" if verdict == "confirm" else f"go back: {why}")
        )
        outcomes = await asyncio.gather(*(self._settle(node.node, verdict, why) for node in self._touched))
        known = {outcome.node: outcome for outcome in outcomes}
        for outcome in outcomes:
            self.journal.write("outcome", self.plan.plan_id, outcome.node, on=outcome.configuration, why=outcome.why)
        result = self._outcome(applied=verdict == "confirm", known=known, why=why)
        if verdict == "confirm" and not result.consistent and result.settled:
            # A node went back between our look and its confirm: the same way out as after a crash.
            repaired = await Resume(self.plan, self._channels, self.journal, self._on_event).run()
            return repaired
        if result.consistent:
            self.journal.write("end", self.plan.plan_id, applied=result.applied)
        self._on_event(ApplyEvent(None, "done", why))
        return result

    async def _settle(self, name: str, verdict: str, why: str) -> NodeOutcome:
        return await settle_node(self._channels[name], self.plan.plan_id, verdict, why, self._contact_s, self._on_event)

    def _outcome(self, applied: bool, known: Mapping[str, NodeOutcome], why: str) -> ApplyOutcome:
        return build_outcome(self.plan, applied, known, why)

    def _show(self, node: str, status: GuardStatus) -> None:
        text = status.step or status.why
        self._on_event(ApplyEvent(node, status.state.value, text, status.lease_left_s))


class Resume:
    """End what a crash left open, the same way on every node. Safe to call any number of times."""

    def __init__(
        self,
        plan: Plan,
        channels: Mapping[str, Channel],
        journal: Journal,
        on_event: OnEvent = _quiet,
        *,
        contact_s: float = CONTACT_S,
    ) -> None:
        self.plan = plan
        self.journal = journal
        self._channels = channels
        self._on_event = on_event
        self._contact_s = contact_s
        self._touched = tuple(node for node in plan.nodes if node.changes)

    async def run(self) -> ApplyOutcome:
        """Carry out the written decision; without one the answer is *go back*."""
        decisions = [e for e in self.journal.of_plan(self.plan.plan_id) if e.event == "decision"]
        verdict, why = "revert", "the desktop ended before it had decided"
        if decisions:
            verdict, why = decisions[-1].data.get("verdict", verdict), decisions[-1].data.get("why", "")
        else:
            self.journal.write("decision", self.plan.plan_id, verdict=verdict, why=why)
        outcomes = await self._settle_all(verdict, why)
        if verdict == "confirm" and any(o.configuration == "old" for o in outcomes.values()):
            outcomes = await self._bring_forward(outcomes)
        if verdict == "confirm" and any(o.configuration == "old" for o in outcomes.values()):
            reasons = "; ".join(f"{o.node}: {o.why}" for o in outcomes.values() if o.configuration == "old")
            verdict, why = "revert", f"not every machine could take the new network ({reasons})"
            self.journal.write("decision", self.plan.plan_id, verdict=verdict, why=why)
            outcomes = await self._settle_all(verdict, why)
        for outcome in outcomes.values():
            self.journal.write("outcome", self.plan.plan_id, outcome.node, on=outcome.configuration, why=outcome.why)
        result = build_outcome(self.plan, verdict == "confirm", outcomes, why)
        if result.consistent:
            self.journal.write("end", self.plan.plan_id, applied=result.applied)
        self._on_event(ApplyEvent(None, "done", why))
        return result

    async def _settle_all(self, verdict: str, why: str) -> dict[str, NodeOutcome]:
        async def one(node: NodePlan) -> NodeOutcome:
            channel = self._channels.get(node.node)
            if channel is None:
                return NodeOutcome(node.node, "unknown", "not connected")
            return await settle_node(channel, self.plan.plan_id, verdict, why, self._contact_s, self._on_event)

        outcomes = await asyncio.gather(*(one(node) for node in self._touched))
        return {outcome.node: outcome for outcome in outcomes}

    async def _bring_forward(self, outcomes: dict[str, NodeOutcome]) -> dict[str, NodeOutcome]:
        """Nodes whose lease ran out after the decision to keep: apply again and confirm at once."""
        for node in self._touched:
            if outcomes[node.node].configuration != "old":
                continue
            channel = self._channels[node.node]
            params = {
                "plan": to_wire(node),
                "plan_id": self.plan.plan_id,
                "lease_s": LEASE_S,
                "hard_limit_s": HARD_LIMIT_S,
            }
            try:
                await channel.call("net.guard.start", params, GuardStatus, deadline_s=START_DEADLINE_S)
            except StellwerkError as error:
                outcomes[node.node] = NodeOutcome(node.node, "old", _bare(error))
                continue
            outcomes[node.node] = await settle_node(
                channel, self.plan.plan_id, "confirm", "", self._contact_s, self._on_event
            )
        return outcomes


async def settle_node(
    channel: Channel, plan_id: str, verdict: str, why: str, contact_s: float, on_event: OnEvent
) -> NodeOutcome:
    """Tell one node the decision until it has heard it, or until it cannot be reached within `contact_s`."""
    try:
        async with asyncio.timeout(contact_s):
            while True:
                try:
                    status = await _tell(channel, plan_id, verdict, why)
                except (ConnectionFailed, DeadlineExceeded) as error:
                    on_event(ApplyEvent(channel.name, "waiting", _bare(error)))
                    await _ready_or_pause(channel, contact_s)
                    continue
                on_event(ApplyEvent(channel.name, status.state.value, status.why))
                if status.state in (GuardState.APPLYING, GuardState.PREPARING, GuardState.REVERTING):
                    await asyncio.sleep(POLL_S)
                    continue
                return _node_outcome(channel.name, status, plan_id)
    except TimeoutError:
        return NodeOutcome(
            channel.name, "unknown", "it cannot be reached; it ends this by itself and says so when seen again"
        )
    except StellwerkError as error:
        return NodeOutcome(channel.name, "unknown", _bare(error))


async def _ready_or_pause(channel: Channel, contact_s: float) -> None:
    # The pause comes first: a link that has not noticed its loss yet is ready at once, and its call fails at once.
    await asyncio.sleep(POLL_S)
    try:
        await channel.ready(contact_s)
    except StellwerkError:
        return  # said by the link itself; the caller's deadline decides how long this goes on


async def _tell(channel: Channel, plan_id: str, verdict: str, why: str) -> GuardStatus:
    status: GuardStatus = await channel.call("net.guard.status", {}, GuardStatus, deadline_s=STATUS_DEADLINE_S)
    if status.state is GuardState.FAILED:
        # Going back did not work then; what stood in its way (a full disk) may be gone now.
        status = await _guard(channel, "net.guard.revert", {"plan_id": status.plan_id or plan_id, "why": why})
    if _takes_back(status, plan_id):
        return await _taken_back(channel, plan_id, status)
    if status.plan_id != plan_id:
        return GuardStatus(GuardState.IDLE, plan_id, why="the change never reached it")
    if verdict == "confirm" and status.state is GuardState.HOLDING:
        return await _guard(channel, "net.guard.confirm", {"plan_id": plan_id})
    if verdict == "revert" and status.state in (GuardState.HOLDING, GuardState.APPLYING, GuardState.PREPARING):
        return await _guard(channel, "net.guard.revert", {"plan_id": plan_id, "why": why})
    if verdict == "revert" and status.state is GuardState.CONFIRMED:
        return await _take_back(channel, plan_id)
    return status


def _takes_back(status: GuardStatus, plan_id: str) -> bool:
    """Whether the node is at the guarded change that takes this plan back."""
    return status.plan_id is not None and status.plan_id.startswith(f"{plan_id}.undo")


async def _take_back(channel: Channel, plan_id: str) -> GuardStatus:
    status: GuardStatus = await channel.call(
        "net.guard.undo", {"plan_id": plan_id}, GuardStatus, deadline_s=START_DEADLINE_S
    )
    if status.plan_id == plan_id:
        return status
    if status.state is GuardState.REVERTED:
        return GuardStatus(GuardState.CONFIRMED, plan_id, why=f"it cannot be taken back: {status.why}")
    return await _taken_back(channel, plan_id, status)


async def _taken_back(channel: Channel, plan_id: str, status: GuardStatus) -> GuardStatus:
    """Taking back is a guarded change of its own, which wants its own confirmation."""
    if status.state is GuardState.HOLDING:
        status = await _guard(channel, "net.guard.confirm", {"plan_id": status.plan_id})
    if status.state is GuardState.CONFIRMED:
        return GuardStatus(GuardState.REVERTED, plan_id, why="taken back")
    if status.state is GuardState.REVERTED:
        return await _take_back(channel, plan_id)  # it was not confirmed in time
    return status


async def _guard(channel: Channel, method: str, params: dict[str, Any]) -> GuardStatus:
    status: GuardStatus = await channel.call(method, params, GuardStatus, deadline_s=60)
    return status


def _node_outcome(name: str, status: GuardStatus, plan_id: str) -> NodeOutcome:
    if status.state is GuardState.CONFIRMED and status.plan_id == plan_id:
        return NodeOutcome(name, "new", status.why)
    if status.state in (GuardState.REVERTED, GuardState.IDLE):
        return NodeOutcome(name, "old", status.why)
    return NodeOutcome(name, "unknown", status.why or f"netguard says {status.state.value}")


def build_outcome(plan: Plan, applied: bool, known: Mapping[str, NodeOutcome], why: str) -> ApplyOutcome:
    """Outcomes of all nodes of the plan, in its order; untouched ones are `unchanged`."""
    nodes = tuple(
        known.get(node.node, NodeOutcome(node.node, "unknown" if node.changes else "unchanged")) for node in plan.nodes
    )
    new = all(node.configuration in ("new", "unchanged") for node in nodes)
    return ApplyOutcome(plan.plan_id, applied and new, nodes, why)


def unfinished_plans(journal: Journal) -> list[Plan]:
    """Plans that were begun and not ended, read back from the journal."""
    plans: list[Plan] = []
    for plan_id in journal.unfinished():
        begin = next(e for e in journal.of_plan(plan_id) if e.event == "begin")
        plans.append(journal.plan(begin))
    return plans


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


def _bare(error: StellwerkError) -> str:
    """The error without the machine's name in front: the caller says that."""
    return f"{error.what}: {error.why}" if error.why else error.what
