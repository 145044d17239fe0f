"""End what a crash left open: the written decision is carried out on every node."""

from __future__ import annotations

import asyncio

from stellwerk.model.errors import StellwerkError
from stellwerk.model.guard import GuardStatus
from stellwerk.model.plan import NodePlan
from stellwerk.model.text import joined, say, whole
from stellwerk.setup.outcome import HARD_LIMIT_S, LEASE_S, START_DEADLINE_S, ApplyOutcome, NodeOutcome, bare
from stellwerk.setup.plan_run import PlanRun


class Resume(PlanRun):
    """End what a crash left open, the same way on every node. Safe to call any number of times."""

    async def run(self) -> ApplyOutcome:
        """Carry out the written decision; without one the answer is *go back*."""
        decisions = [e for e in self.journal.of_plan(self.plan.plan_id) if e.event == "decision"]
        verdict, why = "revert", say("the desktop ended before it had decided")
        if decisions:
            verdict, why = decisions[-1].data.get("verdict", verdict), decisions[-1].data.get("why", "")
        else:
            self._decide(verdict, why)
        outcomes = await self._settle_all(verdict, why)
        if verdict == "confirm" and any(o.configuration == "old" for o in outcomes.values()):
            outcomes = await self._bring_forward(outcomes)
        if verdict == "confirm" and any(o.configuration == "old" for o in outcomes.values()):
            old = [o for o in outcomes.values() if o.configuration == "old"]
            reasons = joined([say("{node}: {why}", node=o.node, why=whole(o.why)) for o in old], "; ")
            verdict, why = "revert", say("not every node could take the new network ({reasons})", reasons=reasons)
            self._decide(verdict, why)
            outcomes = await self._settle_all(verdict, why)
        return self._end(self._write_outcomes(verdict, outcomes, why), why)

    async def _settle_all(self, verdict: str, why: str) -> dict[str, NodeOutcome]:
        async def one(node: NodePlan) -> NodeOutcome:
            if node.node not in self.channels:
                return NodeOutcome(node.node, "unknown", "not connected")
            return await self._settle(node.node, verdict, why)

        outcomes = await asyncio.gather(*(one(node) for node in self.touched))
        return {outcome.node: outcome for outcome in outcomes}

    async def _bring_forward(self, outcomes: dict[str, NodeOutcome]) -> dict[str, NodeOutcome]:
        """Nodes whose lease ran out after the decision to keep: apply again and confirm at once."""
        for node in self.touched:
            if outcomes[node.node].configuration != "old":
                continue
            channel = self.channels[node.node]
            params = self._start_params(node, LEASE_S, HARD_LIMIT_S)
            try:
                await channel.call("net.guard.start", params, GuardStatus, deadline_s=START_DEADLINE_S)
            except StellwerkError as error:
                outcomes[node.node] = NodeOutcome(node.node, "old", bare(error))
                continue
            outcomes[node.node] = await self._settle(node.node, "confirm", "")
        return outcomes
