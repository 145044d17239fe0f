"""Puts the agent's services together: which there are, in which order they start and stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stellwerk.model.errors import StellwerkError
from stellwerk.model.facts import NodeFacts
from stellwerk_agent import facts
from stellwerk_agent.guarding import Guarding
from stellwerk_agent.hearing import Hearing
from stellwerk_agent.jobs import Jobs
from stellwerk_agent.locking import NodeLock
from stellwerk_agent.mesh import Mesh
from stellwerk_agent.netguard.client import read_netplan
from stellwerk_agent.options import Options, map_address
from stellwerk_agent.own_files import OwnFiles
from stellwerk_agent.rpc import Call, Nothing, Registry
from stellwerk_agent.sampling import Sampling
from stellwerk_agent.selfrun import Self
from stellwerk_agent.sudo import Sudo
from stellwerk_agent.uninstall import Uninstall
from stellwerk_agent.verify import Verify


@dataclass(frozen=True, slots=True)
class Addresses:
    addresses: tuple[str, ...]


class Services:
    """What the daemon offers. `stop_daemon(why)` ends the daemon."""

    def __init__(self, options: Options, me: Self, stop_daemon: Callable[[str], None]) -> None:
        self.options = options
        self.lock = NodeLock()
        self._sudo = Sudo(options)
        self._jobs = Jobs(options, me)
        self._sampling = Sampling(options, self._jobs.running, stop_daemon)
        mesh = Mesh(options, self.lock)
        self.uninstall = Uninstall(options, me, self._jobs, mesh, self._sudo, self.lock, stop_daemon)
        self._parts = (
            self.lock,
            self._jobs,
            self._sampling,
            Verify(options, self._jobs),
            Guarding(options, self._sudo, self.lock),
            Hearing(options, self._sudo),
            mesh,
            OwnFiles(options),
            self.uninstall,
        )

    def register(self, registry: Registry) -> None:
        """Add every method to the registry."""
        for part in self._parts:
            part.register(registry)
        registry.add("facts", Nothing, self._facts, deadline_s=60.0)
        registry.add("address.map", Addresses, self._address_map)

    async def start(self) -> None:
        """Start what runs by itself."""
        await self._sampling.start()

    async def stop(self) -> None:
        """End what `start` started, and forget secrets."""
        self._sudo.forget()
        await self._sampling.stop()

    async def _facts(self, call: Call, params: Nothing) -> NodeFacts:
        session = call.connection.context.ssh_connection
        return await facts.read_facts(self.options, session, self._sudo.state, self._netplan_as_root)

    async def _netplan_as_root(self) -> dict[str, str] | str:
        """Path -> text of the netplan files as root reads them, or why that failed."""
        try:
            return await read_netplan(self._sudo)
        except StellwerkError as error:
            return str(error)

    async def _address_map(self, call: Call, params: Addresses) -> dict[str, dict[str, str]]:
        return {"addresses": {address: map_address(self.options, address) for address in params.addresses}}
