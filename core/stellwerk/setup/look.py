"""Read the machines and their cabling: what *Look* yields and *Plan* needs."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.doctor import examine, open_case
from stellwerk.fabric.cable_findings import cable_findings
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.members import Member, make_members
from stellwerk.fabric.topology import Recommendation, find_topology, recommend
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import CableFinding, HearReport, Topology, TopologyKind
from stellwerk.model.facts import NodeFacts
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.text import say
from stellwerk.setup.session import HEAR_SECONDS, ClusterSession

SAID_OF_CABLES = ("link-100g", "half-down")  # findings of the doctor that the cables' own ones say already


@dataclass(frozen=True, slots=True)
class Look:
    """One look at the whole cluster."""

    members: tuple[Member, ...]
    reports: dict[str, HearReport]
    topology: Topology
    recommendation: Recommendation
    wanted: TopologyKind
    cable_findings: tuple[CableFinding, ...]
    notes: tuple[str, ...] = ()  # e.g. a node that could not listen
    findings: tuple[Finding, ...] = ()  # about the machines; what a cable or the plan puts right is not among them
    strayed: tuple[Finding, ...] = ()  # what the plan puts right: before a set-up nearly all, after it what has changed

    @property
    def worst(self) -> Severity | None:
        return min((f.severity for f in self.cable_findings), key=lambda s: s.rank, default=None)

    def facts(self, name: str) -> NodeFacts:
        return next(m.facts for m in self.members if m.name == name)


async def take_look(
    session: ClusterSession,
    wanted: TopologyKind | None = None,
    *,
    hear_s: float = HEAR_SECONDS,
    bring_up: bool = False,
) -> Look:
    """Ask all connected machines for facts, let them call each other, and judge the cabling.

    Raises the error of a machine that does not answer with facts. One that cannot listen is noted, not fatal.
    """
    if not session.ready:
        raise BadInput("no node is connected", remedy="Pair the machines first")
    facts = await session.facts()
    heard = await session.hear(hear_s, bring_up=bring_up)
    notes = tuple(say("{node}: {why}", node=name, why=error.what) for name, error in heard.errors.items())
    return judge(facts, heard.good, {n.name: n.number for n in session.cluster.nodes}, wanted, notes)


def judge(
    facts: dict[str, NodeFacts],
    reports: dict[str, HearReport],
    numbers: dict[str, int],
    wanted: TopologyKind | None,
    notes: tuple[str, ...] = (),
) -> Look:
    """The pure half: from facts and what was heard to topology, recommendation and findings."""
    members = make_members(facts, {name: n for name, n in numbers.items() if name in facts and n})
    topology = find_topology(members, find_cabling(members, reports))
    recommendation = recommend(topology)
    chosen = wanted or recommendation.kind
    cables = cable_findings(members, topology, chosen)
    found = [f for f in examine(open_case(members, topology, chosen)).findings if f.severity is not Severity.INFO]
    by_hand = tuple(f for f in found if not f.fix and f.code not in SAID_OF_CABLES)
    by_plan = tuple(f for f in found if f.fix == "plan")
    return Look(members, reports, topology, recommendation, chosen, cables, notes, by_hand, by_plan)
