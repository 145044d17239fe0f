"""A plan is refused before anything is touched when a node that it changes has a full disk."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stellwerk.model.errors import ApplyFailed, ConnectionFailed, StellwerkError
from stellwerk.model.plan import FileChange, NodePlan, Plan
from stellwerk.setup.room import require_room


class Node:
    def __init__(self, name: str, error: StellwerkError | None = None) -> None:
        self.name = name
        self.error = error
        self.files: list[str] = []
        self.tried = 0

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *rest: Any, **more: Any) -> None:
        assert params is not None
        if method == "files.write":
            self.tried += 1
            if self.error is not None:
                raise self.error
            self.files.append(params["path"])
        else:
            assert method == "files.remove"
            self.files.remove(params["path"])

    async def ready(self, deadline_s: float) -> None: ...


def plan(*names: str) -> Plan:
    changes = (FileChange("/etc/x", None, "y"),)
    nodes = [NodePlan(n, n, (), () if n == "same" else changes) for n in names]
    return Plan("p1", "2026-01-01T00:00:00Z", "workshop", "pair", tuple(nodes))


async def test_a_full_disk_is_named_with_what_to_do() -> None:
    full = StellwerkError("nothing can be written on this node", why="its disk is full")
    nodes = {"a": Node("a"), "b": Node("b", full), "same": Node("same", full)}
    with pytest.raises(ApplyFailed) as refused:
        await require_room(plan("a", "b", "same"), nodes)
    assert refused.value.what == "nothing can be written on b, so nothing was changed on any node"
    assert refused.value.why == "its disk is full"
    assert nodes["a"].files == [] and nodes["a"].tried == 1, "what was tried is gone again"
    assert nodes["same"].tried == 0, "a node that stays as it is needs no room"


async def test_a_node_that_is_away_is_left_to_the_apply() -> None:
    await require_room(plan("a", "b"), {"a": Node("a", ConnectionFailed("a does not answer"))})
