"""Facts -> ports and halves -> cabling -> topology -> addresses -> netplan -> plan. Pure: no I/O, no clock.

In order of use:

    members = make_members({name: facts}, numbers)         # machines, their numbers and ports
    cabling = find_cabling(members, {name: report})        # who hears whom
    topology = find_topology(members, cabling)             # the shape; recommend(topology) says what to aim at
    cable_findings(members, topology, wanted)              # what to move where, one finding per movement of a hand
    make_plan(members, topology, choices, cluster=…, plan_id=…, created_at=…)
    proof = plan_proof(members, topology)                  # what to ask; judge(proof, Answers(…)) gives the checks

Raises only the errors of `stellwerk.model.errors`.
"""

from stellwerk.fabric.cable_findings import as_finding, cable_findings
from stellwerk.fabric.cabling import find_cabling
from stellwerk.fabric.environment import environments, render_shell
from stellwerk.fabric.expected import after, expected_cables
from stellwerk.fabric.judging import Answers, judge, make_verification
from stellwerk.fabric.members import Member, make_members, number_nodes
from stellwerk.fabric.netplan import OWN_PATH, diff
from stellwerk.fabric.plan import DEFAULT_MTU, make_plan
from stellwerk.fabric.ports import NodePorts, find_ports
from stellwerk.fabric.settings import SYSCTL_PATH
from stellwerk.fabric.topology import Recommendation, find_topology, recommend
from stellwerk.fabric.transit import UNIT_NAME, UNIT_PATH
from stellwerk.fabric.verification import PerfRequest, PingRequest, Place, Proof, RouteRequest, plan_proof

__all__ = [
    "DEFAULT_MTU",
    "OWN_PATH",
    "SYSCTL_PATH",
    "UNIT_NAME",
    "UNIT_PATH",
    "Answers",
    "Member",
    "NodePorts",
    "PerfRequest",
    "PingRequest",
    "Place",
    "Proof",
    "Recommendation",
    "RouteRequest",
    "after",
    "as_finding",
    "cable_findings",
    "diff",
    "environments",
    "expected_cables",
    "find_cabling",
    "find_ports",
    "find_topology",
    "judge",
    "make_members",
    "make_plan",
    "make_verification",
    "number_nodes",
    "plan_proof",
    "recommend",
    "render_shell",
]
