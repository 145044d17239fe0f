"""Bring one node to the decided side, however often the connection to it breaks."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from stellwerk.model.errors import ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.guard import GuardState, GuardStatus
from stellwerk.model.text import say, whole
from stellwerk.setup.outcome import (
    POLL_S,
    START_DEADLINE_S,
    STATUS_DEADLINE_S,
    ApplyEvent,
    Channel,
    NodeOutcome,
    OnEvent,
    bare,
)


async def settle_node(
    channel: Channel, plan_id: str, verdict: str, why: str, contact_s: float, on_event: OnEvent
) -> NodeOutcome:
    """Tell one node the decision until it has heard it, or until it cannot be reached within `contact_s`."""
    try:
        async with asyncio.timeout(contact_s):
            while True:
                try:
                    status = _own_words(await _tell(channel, plan_id, verdict, why), why)
                except (ConnectionFailed, DeadlineExceeded) as error:
                    on_event(ApplyEvent(channel.name, "waiting", bare(error)))
                    await _ready_or_pause(channel, contact_s)
                    continue
                on_event(ApplyEvent(channel.name, status.state.value, status.why))
                if status.state in (GuardState.APPLYING, GuardState.PREPARING, GuardState.REVERTING):
                    await asyncio.sleep(POLL_S)
                    continue
                return _node_outcome(channel.name, status, plan_id)
    except TimeoutError:
        return NodeOutcome(
            channel.name, "unknown", "it cannot be reached; it ends this by itself and says so when seen again"
        )
    except StellwerkError as error:
        return NodeOutcome(channel.name, "unknown", bare(error))


def _own_words(status: GuardStatus, why: str) -> GuardStatus:
    """What we told the node and it says back: kept as the `Text` that it was here."""
    return replace(status, why=why) if status.why == why else status


async def _ready_or_pause(channel: Channel, contact_s: float) -> None:
    # The pause comes first: a link that has not noticed its loss yet is ready at once, and its call fails at once.
    await asyncio.sleep(POLL_S)
    try:
        await channel.ready(contact_s)
    except StellwerkError:
        return  # said by the link itself; the caller's deadline decides how long this goes on


async def _tell(channel: Channel, plan_id: str, verdict: str, why: str) -> GuardStatus:
    status: GuardStatus = await channel.call("net.guard.status", {}, GuardStatus, deadline_s=STATUS_DEADLINE_S)
    if status.state is GuardState.FAILED:
        # Going back did not work then; what stood in its way (a full disk) may be gone now.
        status = await _guard(channel, "net.guard.revert", {"plan_id": status.plan_id or plan_id, "why": why})
    if _takes_back(status, plan_id):
        return await _taken_back(channel, plan_id, status)
    if status.plan_id != plan_id:
        return GuardStatus(GuardState.IDLE, plan_id, why=say("the change never reached it"))
    if verdict == "confirm" and status.state is GuardState.HOLDING:
        return await _guard(channel, "net.guard.confirm", {"plan_id": plan_id})
    if verdict == "revert" and status.state in (GuardState.HOLDING, GuardState.APPLYING, GuardState.PREPARING):
        return await _guard(channel, "net.guard.revert", {"plan_id": plan_id, "why": why})
    if verdict == "revert" and status.state is GuardState.CONFIRMED:
        return await _take_back(channel, plan_id)
    return status


def _takes_back(status: GuardStatus, plan_id: str) -> bool:
    """Whether the node is at the guarded change that takes this plan back."""
    return status.plan_id is not None and status.plan_id.startswith(f"{plan_id}.undo")


async def _take_back(channel: Channel, plan_id: str) -> GuardStatus:
    status: GuardStatus = await channel.call(
        "net.guard.undo", {"plan_id": plan_id}, GuardStatus, deadline_s=START_DEADLINE_S
    )
    if status.plan_id == plan_id:
        return status
    if status.state is GuardState.REVERTED:
        return GuardStatus(
            GuardState.CONFIRMED, plan_id, why=say("it cannot be taken back: {why}", why=whole(status.why))
        )
    return await _taken_back(channel, plan_id, status)


async def _taken_back(channel: Channel, plan_id: str, status: GuardStatus) -> GuardStatus:
    """Taking back is a guarded change of its own, which wants its own confirmation."""
    if status.state is GuardState.HOLDING:
        status = await _guard(channel, "net.guard.confirm", {"plan_id": status.plan_id})
    if status.state is GuardState.CONFIRMED:
        return GuardStatus(GuardState.REVERTED, plan_id, why=say("taken back"))
    if status.state is GuardState.REVERTED:
        return await _take_back(channel, plan_id)  # it was not confirmed in time
    return status


async def _guard(channel: Channel, method: str, params: dict[str, Any]) -> GuardStatus:
    status: GuardStatus = await channel.call(method, params, GuardStatus, deadline_s=60)
    return status


def _node_outcome(name: str, status: GuardStatus, plan_id: str) -> NodeOutcome:
    if status.state is GuardState.CONFIRMED and status.plan_id == plan_id:
        return NodeOutcome(name, "new", status.why)
    if status.state in (GuardState.REVERTED, GuardState.IDLE):
        return NodeOutcome(name, "old", status.why)
    return NodeOutcome(name, "unknown", status.why or say("netguard says {state}", state=status.state.value))
