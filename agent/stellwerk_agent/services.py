"""Puts the agent's services together: which there are, in which order they start and stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stellwerk.model.facts import NodeFacts, Sudo
from stellwerk_agent import facts
from stellwerk_agent.locking import NodeLock
from stellwerk_agent.options import Options, map_address
from stellwerk_agent.rpc import Call, Nothing, Registry
from stellwerk_agent.selfrun import Self


@dataclass(frozen=True, slots=True)
class Addresses:
    addresses: tuple[str, ...]


class Services:
    """What the daemon offers. `stop_daemon(why)` ends the daemon."""

    def __init__(self, options: Options, me: Self, agent_hash: str, stop_daemon: Callable[[str], None]) -> None:
        self.options = options
        self.lock = NodeLock()

    def register(self, registry: Registry) -> None:
        """Add every method to the registry."""
        self.lock.register(registry)
        registry.add("facts", Nothing, self._facts, deadline_s=60.0)
        registry.add("address.map", Addresses, self._address_map)

    async def start(self) -> None:
        """Start what runs by itself."""

    async def stop(self) -> None:
        """End what `start` started."""

    async def _facts(self, call: Call, params: Nothing) -> NodeFacts:
        return await facts.read_facts(
            self.options, call.connection.context.ssh_connection, self._sudo_state, self._no_netplan
        )

    async def _sudo_state(self) -> Sudo:
        return Sudo("unknown", "not asked")

    async def _no_netplan(self) -> None:
        return None

    async def _address_map(self, call: Call, params: Addresses) -> dict[str, dict[str, str]]:
        return {"addresses": {address: map_address(self.options, address) for address in params.addresses}}
