"""From a look to a plan, with the cluster's own choices."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime

from stellwerk.fabric.members import Member
from stellwerk.fabric.plan import make_plan
from stellwerk.model.fabric import FabricPlanInput, TopologyKind
from stellwerk.model.plan import Plan
from stellwerk.setup.look import Look
from stellwerk.setup.store import Cluster


def build_plan(
    cluster: Cluster,
    look: Look,
    *,
    mtu: int | None = None,
    pool: str | None = None,
    leaving: Sequence[Member] = (),
) -> Plan:
    """The plan for what was looked at. Raises `PlanRefused` or `BadInput` in words for a person."""
    wanted = None if look.wanted in (TopologyKind.SINGLE, TopologyKind.UNKNOWN) else look.wanted
    choices = FabricPlanInput(wanted=wanted, mtu=mtu or cluster.mtu, pool=pool or cluster.address_pool)
    return make_plan(
        look.members,
        look.topology,
        choices,
        cluster=cluster.name,
        leaving=leaving,
        plan_id=_plan_id(),
        created_at=_now(),
    )


def build_leave_plan(cluster: Cluster, look: Look, names: Sequence[str]) -> Plan:
    """The plan that takes away what was written on machines that leave, and touches nobody else."""
    leaving = [member for member in look.members if member.name in names]
    return make_plan((), look.topology, cluster=cluster.name, leaving=leaving, plan_id=_plan_id(), created_at=_now())


def _plan_id() -> str:
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
