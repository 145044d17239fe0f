"""Finds machines that announce SSH on the local network (mDNS, `_ssh._tcp`). Listens only while it is open."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say
from stellwerk.remote.failures import cleaned

if TYPE_CHECKING:
    from zeroconf import Zeroconf
    from zeroconf.asyncio import AsyncServiceInfo

SERVICE = "_ssh._tcp.local."
_RESOLVE_MS = 3000
_MAX_MACHINES = 256  # a network may be full of them, or somebody may invent them
_MAX_NAME = 63
# Bridges of containers and virtual machines: what is announced there is this computer itself, or nobody's cluster.
_VIRTUAL = re.compile(r"^(docker|br-|veth|virbr|cni|flannel|cali|lxc|lxd|podman|kube|vnet|tun|tap)")


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface of this computer."""

    name: str
    index: int
    networks: tuple[str, ...]  # CIDR, IPv4 and IPv6

    @property
    def is_virtual(self) -> bool:
        """Whether it leads to containers and the like instead of a network."""
        return bool(_VIRTUAL.match(self.name))


@dataclass(frozen=True, slots=True)
class FoundMachine:
    """A machine that announces SSH. `host` is the address to connect to; all its names are cleaned."""

    name: str
    hostname: str
    host: str
    port: int
    addresses: tuple[str, ...]
    is_this_computer: bool = False


def own_interfaces() -> tuple[Interface, ...]:
    """This computer's interfaces, loopback left out."""
    import ifaddr

    found: list[Interface] = []
    for adapter in ifaddr.get_adapters():
        networks = [f"{ip.ip if isinstance(ip.ip, str) else ip.ip[0]}/{ip.network_prefix}" for ip in adapter.ips]
        if networks and not all(ipaddress.ip_interface(network).is_loopback for network in networks):
            found.append(Interface(adapter.nice_name, adapter.index or 0, tuple(networks)))
    return tuple(found)


def judge_addresses(announced: Iterable[str], interfaces: Sequence[Interface]) -> tuple[str, ...]:
    """The addresses that can be connected to, best first.

    A link-local IPv6 address gets the name of its interface; without one it is usable only when there is just one
    interface that it can belong to. Addresses inside this computer's container networks would lead back to itself.
    """
    real = [interface for interface in interfaces if not interface.is_virtual]
    containers = [
        ipaddress.ip_interface(network).network
        for interface in interfaces
        if interface.is_virtual
        for network in interface.networks
        if not ipaddress.ip_interface(network).is_link_local
    ]
    usable: dict[str, int] = {}
    for text in announced:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            continue
        if address.is_multicast or address.is_unspecified or any(address in network for network in containers):
            continue
        if isinstance(address, ipaddress.IPv6Address) and address.is_link_local:
            scoped = _with_scope(address, real)
            if scoped is not None:
                usable[scoped] = 2
        else:
            usable[text] = 3 if address.is_link_local else 0 if address.version == 4 else 1
    return tuple(sorted(usable, key=lambda text: usable[text]))


def _with_scope(address: ipaddress.IPv6Address, real: Sequence[Interface]) -> str | None:
    bare = str(address).partition("%")[0]
    scope = address.scope_id
    if scope is None:
        return f"{bare}%{real[0].name}" if len(real) == 1 else None
    by_index = {str(interface.index): interface.name for interface in real}
    name = by_index.get(scope, scope)
    return f"{bare}%{name}" if any(name == interface.name for interface in real) else None


class Finder:
    """The machines that were found so far; `changed` is set whenever there are more, fewer or other ones."""

    def __init__(self, interfaces: Sequence[Interface], on_change: Callable[[], None] | None) -> None:
        self._interfaces = interfaces
        self._on_change = on_change
        self._found: dict[str, FoundMachine] = {}
        self._asking: set[asyncio.Task[None]] = set()
        self.changed = asyncio.Event()

    @property
    def machines(self) -> tuple[FoundMachine, ...]:
        """What is there now, sorted by name."""
        return tuple(sorted(self._found.values(), key=lambda machine: (machine.name.lower(), machine.host)))

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, interfaces: Sequence[Interface] | None = None, on_change: Callable[[], None] | None = None
    ) -> AsyncIterator[Finder]:
        """Listen until the context ends. Raises `StellwerkError` when mDNS cannot be used here."""
        from zeroconf import IPVersion
        from zeroconf.asyncio import AsyncServiceBrowser, AsyncZeroconf

        chosen = own_interfaces() if interfaces is None else tuple(interfaces)
        finder = cls(chosen, on_change)
        v4, v6 = _listen_on(chosen)
        if not v4 and not v6:
            raise _unavailable("this computer has no network interface that is up")
        try:
            version = IPVersion.All if v4 and v6 else IPVersion.V4Only if v4 else IPVersion.V6Only
            listening = AsyncZeroconf(interfaces=[*v4, *v6], ip_version=version)
        except OSError as error:
            raise _unavailable(error.strerror or str(error)) from None
        try:
            browser = AsyncServiceBrowser(listening.zeroconf, SERVICE, handlers=[finder._notice])
            try:
                yield finder
            finally:
                await browser.async_cancel()
                await finder._stop_asking()
        finally:
            await listening.async_close()

    def _notice(self, zeroconf: Zeroconf, service_type: str, name: str, state_change: object) -> None:
        """Called by zeroconf in this event loop; the keyword names are its own."""
        from zeroconf import ServiceStateChange

        if state_change is ServiceStateChange.Removed:
            if self._found.pop(name, None) is not None:
                self._tell()
        elif len(self._asking) < _MAX_MACHINES:
            task = asyncio.get_running_loop().create_task(self._ask(zeroconf, service_type, name))
            self._asking.add(task)
            task.add_done_callback(self._asking.discard)

    async def _ask(self, zeroconf: Zeroconf, service_type: str, name: str) -> None:
        from zeroconf.asyncio import AsyncServiceInfo

        info = AsyncServiceInfo(service_type, name)
        if not await info.async_request(zeroconf, _RESOLVE_MS):
            return
        machine = machine_from(info, self._interfaces)
        if machine is None or (name not in self._found and len(self._found) >= _MAX_MACHINES):
            return
        if self._found.get(name) != machine:
            self._found[name] = machine
            self._tell()

    def _tell(self) -> None:
        self.changed.set()
        if self._on_change is not None:
            self._on_change()

    async def _stop_asking(self) -> None:
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)


def machine_from(info: AsyncServiceInfo, interfaces: Sequence[Interface]) -> FoundMachine | None:
    """Turn an announcement into a machine, or `None` when it names no address that can be used."""
    addresses = judge_addresses(info.parsed_scoped_addresses(), interfaces)
    port = info.port or 22
    if not addresses or not 1 <= port <= 65535:
        return None
    own = {network.partition("/")[0] for interface in interfaces for network in interface.networks}
    name = cleaned(info.name.removesuffix("." + SERVICE), _MAX_NAME)
    hostname = cleaned((info.server or "").rstrip("."), _MAX_NAME)
    return FoundMachine(
        name=name or hostname or addresses[0],
        hostname=hostname,
        host=addresses[0],
        port=port,
        addresses=addresses,
        is_this_computer=any(address.partition("%")[0] in own for address in addresses),
    )


def _listen_on(interfaces: Sequence[Interface]) -> tuple[list[str], list[int]]:
    """IPv4 interfaces by address, IPv6 ones by index: an answer heard on an index says which network it is from."""
    v4: list[str] = []
    v6: list[int] = []
    for interface in interfaces:
        if interface.is_virtual:
            continue
        addresses = [ipaddress.ip_interface(network).ip for network in interface.networks]
        v4 += [str(address) for address in addresses if address.version == 4]
        if any(address.version == 6 and address.is_link_local for address in addresses) and socket.has_ipv6:
            v6.append(interface.index)
    return v4, v6


def _unavailable(why: str) -> StellwerkError:
    return StellwerkError(
        "machines cannot be searched for on the network",
        why=say("mDNS cannot be used on this computer: {why}", why=why),
        remedy="Type the machines' names or addresses instead",
    )
