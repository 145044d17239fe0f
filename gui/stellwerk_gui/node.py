"""One node of the open cluster, as the pages read it."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.model.errors import StellwerkError


@dataclass(frozen=True, slots=True)
class NodeSnapshot:
    """One machine of the cluster as the window knows it."""

    name: str
    address: str
    number: int
    state: str = "found"  # value of LinkState
    reason: str = ""
    error: StellwerkError | None = None
    agent_version: str = ""

    @property
    def ready(self) -> bool:
        return self.state == "ready"
