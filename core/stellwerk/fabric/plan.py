"""Facts, topology and choices -> the plan: per machine what changes, why, and what must be true afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stellwerk.fabric.addresses import Addressing, assign_addresses
from stellwerk.fabric.cable_findings import cable_findings
from stellwerk.fabric.members import Member
from stellwerk.fabric.node_plan import Intent, Told, leave_node, plan_node
from stellwerk.fabric.segments import find_segments
from stellwerk.fabric.state import NodeState, read_half, read_node
from stellwerk.fabric.subnets import HOME_LANS
from stellwerk.fabric.transit import needs_transit, transit_routes
from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.fabric import FabricPlanInput, Topology, TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.plan import Plan
from stellwerk.model.text import joined, say

DEFAULT_MTU = 9000
_PLANNABLE = (TopologyKind.PAIR, TopologyKind.RING, TopologyKind.CHAIN, TopologyKind.SWITCH)


def make_plan(
    members: Sequence[Member],
    topology: Topology,
    choices: FabricPlanInput | None = None,
    *,
    cluster: str,
    plan_id: str,
    created_at: str,
    leaving: Sequence[Member] = (),
) -> Plan:
    """The plan that makes the fabric of `members` right; empty where it is.

    `leaving` machines get what we wrote on them taken away; with no `members` the plan is for them alone.
    Raises `PlanRefused` where the cables do not make the wanted topology, a machine's files cannot be changed without
    harm or no subnet is free, and `BadInput` for a choice or a netplan file that makes no sense.
    """
    choices = choices or FabricPlanInput()
    told = Told()
    left = tuple(leave_node(read_node(member)) for member in leaving)
    kind = _kind(members, topology, choices.wanted)
    if kind is TopologyKind.SINGLE:
        told.notes.append("One node needs no fabric: nothing to change." if members else "Only nodes that leave.")
        return Plan(plan_id, created_at, cluster, kind.value, left, tuple(told.notes))
    nodes = [read_node(member) for member in members]
    segments = find_segments(members, topology, kind)
    addressing = assign_addresses(nodes, segments, choices.pool)
    mtu = _mtu(nodes, addressing, choices.mtu, told)
    transit = needs_transit(kind, len(members))
    routes = transit_routes(members, addressing) if transit else {}
    intent = Intent(addressing, mtu, routes, transit)
    last = _last(members, addressing)
    plans = tuple(plan_node(node, intent, told, node.member.name in last) for node in nodes)
    told.notes += topology.notes
    told.warnings += [f.title for f in cable_findings(members, topology, kind) if f.severity is Severity.BAD]
    _tell(kind, members, addressing, transit, last, told)
    plan = Plan(
        plan_id,
        created_at,
        cluster,
        kind.value,
        (*plans, *left),
        tuple(told.notes),
        tuple(dict.fromkeys(told.warnings)),
    )
    if plan.empty:
        notes = ("Nothing to change: every node is as planned.", *plan.notes)
        return Plan(plan_id, created_at, cluster, kind.value, plan.nodes, notes, plan.warnings)
    return plan


def _kind(members: Sequence[Member], topology: Topology, wanted: TopologyKind | None) -> TopologyKind:
    if len(members) < 2:
        return TopologyKind.SINGLE
    kind = wanted or topology.kind
    if wanted is not None and wanted not in _PLANNABLE:
        raise BadInput(say("{wanted} is no topology for {count} nodes", wanted=wanted.word, count=len(members)))
    undecided = topology.kind is TopologyKind.PAIR and not topology.direct_certain
    if kind is topology.kind and kind in _PLANNABLE:
        return kind
    if wanted is TopologyKind.SWITCH and undecided:
        return wanted
    why = joined(topology.notes, "; ") or say("the cables make a {kind}", kind=topology.kind.word)
    remedy: str = say("Put the cables right, or choose another topology")
    if wanted is not None:
        bad = [f for f in cable_findings(members, topology, wanted) if f.severity is Severity.BAD]
        if bad:
            why, remedy = bad[0].title, joined(bad[0].steps, " ")
    raise PlanRefused(
        say("the cables do not make a {kind}", kind=kind.word if kind in _PLANNABLE else say("fabric")),
        why=why,
        remedy=remedy,
    )


def _mtu(nodes: Sequence[NodeState], addressing: Addressing, chosen: int | None, told: Told) -> int:
    """The chosen MTU, else the one that most links already work with, else 9000."""
    if chosen is not None:
        if not 1280 <= chosen <= 9216:
            raise BadInput(say("an MTU of {chosen} cannot be", chosen=chosen), why="it has to be between 1280 and 9216")
        return chosen
    by_name = {node.member.name: node for node in nodes}
    kept = [entry for entry in addressing.assigned if entry.kept]
    if 2 * len(kept) <= len(addressing.assigned):
        return DEFAULT_MTU
    planned = [read_half(by_name[e.at.member.name], e.at) for e in kept]
    # The file counts, not the moment: an MTU that fell back at a restart is to be put right.
    mtus = Counter(state.config.mtu or (1500 if state.config.files else state.mtu) for state in planned)
    if set(mtus) == {1500}:
        told.notes.append(
            "The MTU is 1500 everywhere, which works. 9000 gives larger RDMA packets: choose it to change."
        )
        return 1500
    if len(mtus) == 1 and None not in mtus:
        return next(mtu for mtu in mtus if mtu is not None)
    return DEFAULT_MTU


def _last(members: Sequence[Member], addressing: Addressing) -> set[str]:
    """The machines through whose fabric a session runs: changed after all others."""
    owner = {str(entry.address.ip): entry.at.member.name for entry in addressing.assigned}
    for member in members:
        for port in member.ports:
            for half in port.halves:
                owner |= {address.split("/")[0]: member.name for address in half.netdev.addresses}
    through = {owner[ip] for member in members if (ip := member.facts.session.client_address or "") in owner}
    through -= {
        member.name for member in members if owner.get(member.facts.session.client_address or "") == member.name
    }
    if through:
        return through
    fabric = {entry.key for entry in addressing.assigned}
    return {member.name for member in members if (member.name, member.facts.session.device) in fabric}


def _tell(
    kind: TopologyKind,
    members: Sequence[Member],
    addressing: Addressing,
    transit: bool,
    last: set[str],
    told: Told,
) -> None:
    if transit:
        told.notes.append(
            "Nodes that are no neighbours reach each other through those between them: routes, forwarding on the "
            "fabric interfaces alone, and firewall rules for the fabric's subnets."
        )
        if len(members) > 4:
            told.notes.append(
                say(
                    "A {kind} of {count} is not field-proven: in the field, four nodes have been run so.",
                    kind=kind.word,
                    count=len(members),
                )
            )
    for entry in addressing.assigned:
        lan = next((lan for lan in HOME_LANS if entry.address.network.overlaps(lan)), None)
        if lan is not None:
            told.warnings.append(
                say(
                    "{network} works now, but many home routers hand out {lan}: in such a network the fabric and the "
                    "LAN would collide.",
                    network=entry.address.network,
                    lan=lan,
                )
            )
    if last:
        told.warnings.append(
            say(
                "The connection to a node runs over the fabric of {last}: that one is changed last, and the "
                "connection may pause for some seconds.",
                last=", ".join(sorted(last)),
            )
        )
