"""What applying a plan and ending an interrupted apply share: the nodes that it touches, the decision, the journal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

from stellwerk.model.plan import NodePlan, Plan
from stellwerk.setup.journal import Journal
from stellwerk.setup.outcome import (
    CONTACT_S,
    ApplyEvent,
    ApplyOutcome,
    Channel,
    NodeOutcome,
    OnEvent,
    build_outcome,
    quiet,
)
from stellwerk.setup.settle import settle_node
from stellwerk.wire import to_wire


@dataclass(eq=False, repr=False)
class PlanRun:
    """One run over the nodes of a plan."""

    plan: Plan
    channels: Mapping[str, Channel]
    journal: Journal
    on_event: OnEvent = quiet
    _: KW_ONLY
    contact_s: float = CONTACT_S

    @property
    def touched(self) -> tuple[NodePlan, ...]:
        return tuple(node for node in self.plan.nodes if node.changes)

    def _start_params(self, node: NodePlan, lease_s: float, hard_limit_s: float) -> dict[str, Any]:
        """What `net.guard.start` is told."""
        return {
            "plan": to_wire(node),
            "plan_id": self.plan.plan_id,
            "lease_s": lease_s,
            "hard_limit_s": hard_limit_s,
        }

    async def _settle(self, name: str, verdict: str, why: str) -> NodeOutcome:
        return await settle_node(self.channels[name], self.plan.plan_id, verdict, why, self.contact_s, self.on_event)

    def _decide(self, verdict: str, why: str) -> None:
        self.journal.write("decision", self.plan.plan_id, verdict=verdict, why=why)

    def _write_outcomes(self, verdict: str, outcomes: Mapping[str, NodeOutcome], why: str) -> ApplyOutcome:
        for outcome in outcomes.values():
            self.journal.write("outcome", self.plan.plan_id, outcome.node, on=outcome.configuration, why=outcome.why)
        return build_outcome(self.plan, verdict == "confirm", outcomes, why)

    def _end(self, result: ApplyOutcome, why: str) -> ApplyOutcome:
        """The journal is closed when every node is on the same side; else the next contact goes on."""
        if result.consistent:
            self.journal.write("end", self.plan.plan_id, applied=result.applied)
        self.on_event(ApplyEvent(None, "done", why))
        return result
