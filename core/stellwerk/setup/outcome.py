"""What an apply says while it runs and how it ended; shared by those who apply, settle and resume."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from stellwerk.model.errors import StellwerkError
from stellwerk.model.plan import Plan
from stellwerk.model.text import say
from stellwerk.setup.journal import Journal

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


def quiet(event: ApplyEvent) -> None:
    """No one watches."""


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


def bare(error: StellwerkError) -> str:
    """The error without the machine's name in front: the caller says that."""
    return say("{what}: {why}", what=error.what, why=error.why) if error.why else error.what
