"""Before a plan is applied: every node that it changes must have room for it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping

from stellwerk.model.errors import ApplyFailed, ConnectionFailed, DeadlineExceeded, StellwerkError
from stellwerk.model.plan import Plan
from stellwerk.model.text import joined, say, whole
from stellwerk.setup.outcome import Channel
from stellwerk.setup.root import nodes_changed_by

TRY_DEADLINE_S = 20.0
TRIED = "room"  # a file in the agent's own directory, gone again at once
TRIED_BYTES = 64 * 1024


async def require_room(plan: Plan, channels: Mapping[str, Channel]) -> None:
    """Refuse a plan that has to be written on a full disk, before any node is changed. Raises `ApplyFailed`.

    A disk that is full says so only to who writes: its figures may count blocks that are kept for root. What the
    change itself needs, the guard counts. A node that does not answer is left to the apply, which names it.
    """
    names = [name for name in nodes_changed_by(plan) if name in channels]
    found = await asyncio.gather(*(_try_to_write(channels[name]) for name in names))
    full = {name: error for name, error in zip(names, found, strict=True) if error is not None}
    if not full:
        return
    said = {name: error.why or error.what for name, error in full.items()}
    reasons = [say("{node}: {why}", node=name, why=whole(why)) for name, why in said.items()]
    raise ApplyFailed(
        say("nothing can be written on {names}, so nothing was changed on any node", names=", ".join(full)),
        why=joined(reasons, "; ") if len(full) > 1 else next(iter(said.values())),
        remedy="Free some space there and try again",
    )


async def _try_to_write(channel: Channel) -> StellwerkError | None:
    data = base64.b64encode(bytes(TRIED_BYTES)).decode()
    try:
        await channel.call("files.write", {"path": TRIED, "data": data}, deadline_s=TRY_DEADLINE_S)
        await channel.call("files.remove", {"path": TRIED}, deadline_s=TRY_DEADLINE_S)
    except (ConnectionFailed, DeadlineExceeded):
        return None
    except StellwerkError as error:
        return error
    return None
