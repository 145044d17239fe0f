"""Before a plan is applied: root must be at hand on every machine that it changes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from stellwerk.model.errors import SudoFailed
from stellwerk.model.facts import Sudo
from stellwerk.model.plan import Plan
from stellwerk.model.text import joined, say, whole
from stellwerk.setup.outcome import Channel

ASK_DEADLINE_S = 70.0
_AT_HAND = ("root", "nopasswd")


def nodes_changed_by(*plans: Plan) -> tuple[str, ...]:
    """The nodes on which these plans need root, in their order; the others are not asked for a password."""
    return tuple(dict.fromkeys(node.node for plan in plans for node in plan.nodes if node.changes))


async def require_root(plan: Plan, channels: Mapping[str, Channel]) -> None:
    """Refuse a plan that could not be carried out. Raises `SudoFailed` that names the machines.

    A machine of the plan without a connection is left to the apply itself, which names it.
    """
    await require_root_on(nodes_changed_by(plan), channels)


async def require_root_on(names: Iterable[str], channels: Mapping[str, Channel]) -> None:
    """The same for machines by their names."""
    wanted = [name for name in names if name in channels]
    states = await asyncio.gather(
        *(channels[name].call("sudo.state", {}, Sudo, deadline_s=ASK_DEADLINE_S) for name in wanted)
    )
    lacking = {n: s for n, s in zip(wanted, states, strict=True) if s.state not in _AT_HAND and not s.unlocked}
    if not lacking:
        return
    reasons = [say("{node}: {why}", node=name, why=whole(_why(state))) for name, state in lacking.items()]
    locked = any(state.state == "password" for state in lacking.values())
    raise SudoFailed(
        say(
            "root is needed on {lacking} and cannot be had there, so nothing was changed on any node",
            lacking=", ".join(lacking),
        ),
        node=next(iter(lacking)) if len(lacking) == 1 else None,
        why=joined(reasons, "; "),
        remedy="Give the sudo password and try again" if locked else "Log in as a user who may use sudo on these nodes",
    )


def _why(state: Sudo) -> str:
    if state.state == "password":
        return state.why or say("sudo asks for a password, and none was accepted")
    return state.why or say("this user may not become root")
