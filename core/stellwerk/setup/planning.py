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
    now = datetime.now(UTC)
    wanted = None if look.wanted in (TopologyKind.SINGLE, TopologyKind.UNKNOWN) else look.wanted
    choices = FabricPlanInput(wanted=wanted, mtu=mtu or cluster.mtu, pool=pool or cluster.address_pool)
    return make_plan(
        look.members,
        look.topology,
        choices,
        cluster=cluster.name,
        plan_id=f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        created_at=now.isoformat(timespec="seconds"),
        leaving=leaving,
    )
