"""A plan is refused before anything is touched when a machine that it changes has no root."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from stellwerk.model.errors import SudoFailed
from stellwerk.model.facts import Sudo
from stellwerk.model.plan import FileChange, NodePlan, Plan
from stellwerk.setup.root import require_root


class Machine:
    def __init__(self, name: str, sudo: Sudo) -> None:
        self.name = name
        self.sudo = sudo
        self.calls: list[str] = []

    async def call(self, method: str, params: Mapping[str, Any] | None = None, *rest: Any, **more: Any) -> Sudo:
        self.calls.append(method)
        return self.sudo

    async def ready(self, deadline_s: float) -> None: ...


def plan(*names: str, same: tuple[str, ...] = ()) -> Plan:
    nodes = [NodePlan(n, n, (), () if n in same else (FileChange("/etc/x", None, "y"),)) for n in names]
    return Plan("p1", "2026-01-01T00:00:00Z", "workshop", "pair", tuple(nodes))


def machines(**sudo: Sudo) -> dict[str, Machine]:
    return {name: Machine(name, state) for name, state in sudo.items()}


@pytest.mark.parametrize(
    ("state", "remedy"),
    [
        (Sudo("password"), "sudo password"),
        (Sudo("none", "nvidia is not in the sudoers file"), "a user who may use sudo"),
        (Sudo("unknown", "sudo did not answer"), "a user who may use sudo"),
    ],
)
async def test_a_machine_without_root_is_named_with_what_to_do(state: Sudo, remedy: str) -> None:
    nodes = machines(a=Sudo("nopasswd"), b=state)
    with pytest.raises(SudoFailed) as refused:
        await require_root(plan("a", "b"), nodes)
    assert refused.value.node == "b"
    assert "nothing was changed" in refused.value.what
    assert remedy in (refused.value.remedy or "")
    assert (state.why or "asks for a password") in (refused.value.why or "")
    assert {call for node in nodes.values() for call in node.calls} == {"sudo.state"}


async def test_root_in_any_way_is_enough_and_machines_that_stay_as_they_are_need_none() -> None:
    nodes = machines(a=Sudo("root"), b=Sudo("nopasswd"), c=Sudo("password", unlocked=True), d=Sudo("none"))
    await require_root(plan("a", "b", "c", "d", same=("d",)), nodes)
    assert nodes["d"].calls == []
