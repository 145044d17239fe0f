"""End what a crash left open: the written decision is carried out on every node."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from stellwerk.model.errors import StellwerkError
from stellwerk.model.guard import GuardStatus
from stellwerk.model.plan import NodePlan, Plan
from stellwerk.model.text import joined, say, whole
from stellwerk.setup.journal import Journal
from stellwerk.setup.outcome import (
    CONTACT_S,
    HARD_LIMIT_S,
    LEASE_S,
    START_DEADLINE_S,
    ApplyEvent,
    ApplyOutcome,
    Channel,
    NodeOutcome,
    OnEvent,
    bare,
    build_outcome,
    quiet,
)
from stellwerk.setup.settle import settle_node
from stellwerk.wire import to_wire


class Resume:
    """End what a crash left open, the same way on every node. Safe to call any number of times."""

    def __init__(
        self,
        plan: Plan,
        channels: Mapping[str, Channel],
        journal: Journal,
        on_event: OnEvent = quiet,
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
        verdict, why = "revert", say("the desktop ended before it had decided")
        if decisions:
            verdict, why = decisions[-1].data.get("verdict", verdict), decisions[-1].data.get("why", "")
        else:
            self.journal.write("decision", self.plan.plan_id, verdict=verdict, why=why)
        outcomes = await self._settle_all(verdict, why)
        if verdict == "confirm" and any(o.configuration == "old" for o in outcomes.values()):
            outcomes = await self._bring_forward(outcomes)
        if verdict == "confirm" and any(o.configuration == "old" for o in outcomes.values()):
            old = [o for o in outcomes.values() if o.configuration == "old"]
            reasons = joined([say("{node}: {why}", node=o.node, why=whole(o.why)) for o in old], "; ")
            verdict, why = "revert", say("not every node could take the new network ({reasons})", reasons=reasons)
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
                outcomes[node.node] = NodeOutcome(node.node, "old", bare(error))
                continue
            outcomes[node.node] = await settle_node(
                channel, self.plan.plan_id, "confirm", "", self._contact_s, self._on_event
            )
        return outcomes
