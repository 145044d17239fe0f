"""The node's lock: one desktop at a time changes a node, and the others learn its name."""

from __future__ import annotations

import time
from dataclasses import dataclass

from stellwerk.model.errors import Busy
from stellwerk.model.text import say
from stellwerk_agent.reading import clean
from stellwerk_agent.rpc import Call, Connection, Nothing, Registry

# A desktop whose connection dropped keeps the node this long, so that nobody slips in while it connects again.
GRACE_S = 60.0


@dataclass(frozen=True, slots=True)
class Take:
    desktop: str
    force: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    desktop: str


class NodeLock:
    """Who may change this node now."""

    def __init__(self) -> None:
        self._holder: str | None = None
        self._connection: Connection | None = None
        self._gone_since: float | None = None

    def register(self, registry: Registry) -> None:
        registry.add("lock.take", Take, self._take)
        registry.add("lock.release", Release, self._release)
        registry.add("bye", Nothing, self._bye)

    @property
    def holder(self) -> str | None:
        """The desktop that holds the node, None when it is free."""
        if self._gone_since is not None and time.monotonic() - self._gone_since > GRACE_S:
            self._holder, self._connection, self._gone_since = None, None, None
        return self._holder

    def require(self, connection: Connection) -> None:
        """Raise `Busy` when another desktop than this connection's holds the node."""
        holder = self.holder
        if holder is not None and self._connection is not connection:
            raise Busy(
                say("the node is held by {holder}", holder=holder),
                why="Two desktops that change one node would undo each other's work",
                remedy=say("finish or close Stellwerk on {holder}, or take the node over", holder=holder),
            )

    async def _take(self, call: Call, params: Take) -> dict[str, str]:
        desktop = clean(params.desktop) or "a desktop without name"
        if self.holder not in (None, desktop) and not params.force:
            self.require(call.connection)
        self._holder, self._connection, self._gone_since = desktop, call.connection, None
        call.connection.context.on_close.append(lambda: self._gone(call.connection))
        return {"holder": desktop}

    async def _release(self, call: Call, params: Release) -> dict[str, str]:
        if self._connection is call.connection:
            self._holder, self._connection, self._gone_since = None, None, None
        return {}

    async def _bye(self, call: Call, params: Nothing) -> dict[str, str]:
        if self._connection is call.connection:
            self._holder, self._connection = None, None
        return {}

    def _gone(self, connection: Connection) -> None:
        if self._connection is connection:
            self._connection, self._gone_since = None, time.monotonic()
