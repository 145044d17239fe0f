"""Helpers: log in to a simulated Spark and run a command there."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import asyncssh

from stellwerk.virtual import VirtualCluster, VirtualNode

PLAN = """\
network:
  version: 2
  ethernets:
    enp1s0f1np1:
      optional: true
      dhcp4: false
      link-local: [ipv6]
      mtu: 9000
      addresses: [192.168.100.{number}/24]
    enP2p1s0f1np1:
      optional: true
      dhcp4: false
      link-local: [ipv6]
      mtu: 9000
      addresses: [192.168.101.{number}/24]
"""
HALVES = ("enp1s0f1np1", "enP2p1s0f1np1")


def connect(node: VirtualNode, **options: Any) -> Any:
    """A connection by password, without the user's own keys, agent and configuration."""
    chosen: dict[str, Any] = {"username": node.user, "password": node.password, "client_keys": None, **options}
    return asyncssh.connect(node.host, node.port, known_hosts=None, config=None, agent_path=None, **chosen)


class Shell:
    """Runs commands on the nodes of a cluster, one connection per node."""

    def __init__(self, cluster: VirtualCluster, stack: contextlib.AsyncExitStack) -> None:
        self.cluster = cluster
        self._stack = stack
        self._connections: dict[str, asyncssh.SSHClientConnection] = {}

    async def on(self, node: str, command: str) -> asyncssh.SSHCompletedProcess:
        """Run it; the caller looks at exit_status, stdout and stderr."""
        return await (await self.connection(node)).run(command)

    async def connection(self, node: str) -> asyncssh.SSHClientConnection:
        """The connection to a node, made anew when the last one was lost."""
        connection = self._connections.get(node)
        if connection is None or connection.is_closed():
            connection = await self._stack.enter_async_context(connect(self.cluster.node(node)))
            self._connections[node] = connection
        return connection

    async def ok(self, node: str, command: str) -> str:
        """Run it; it has to succeed. Returns what it printed."""
        done = await self.on(node, command)
        assert done.exit_status == 0, f"{node}$ {command}\n{done.stdout}{done.stderr}"
        return str(done.stdout)

    async def json(self, node: str, command: str) -> Any:
        """What a command prints as JSON."""
        return json.loads(await self.ok(node, command))

    def root(self, node: str, path: str) -> Path:
        """A path of the node's simulated system."""
        return Path(self.cluster.node(node).root) / path.lstrip("/")

    async def network(self, *nodes: str) -> None:
        """Addresses, MTU and sysctls as the product leaves them, through the tools that it uses."""
        for number, node in enumerate(nodes, 1):
            plan = self.root(node, "/etc/netplan/60-stellwerk.yaml")
            plan.write_text(PLAN.format(number=number))
            plan.chmod(0o600)
            for half in HALVES:
                for key, value in (("arp_ignore", 1), ("arp_announce", 2)):
                    self.root(node, f"/proc/sys/net/ipv4/conf/{half}/{key}").write_text(f"{value}\n")
            await self.ok(node, "sudo -n netplan generate && sudo -n nmcli connection reload")
            await asyncio.gather(
                *(self.ok(node, f"sudo -n nmcli --wait 20 connection up id netplan-{h} ifname {h}") for h in HALVES)
            )


@contextlib.asynccontextmanager
async def shell(nodes: int, topology: str, *faults: dict[str, Any]) -> AsyncIterator[Shell]:
    """A cluster whose sudo needs no password."""
    async with VirtualCluster.start(nodes, topology, faults=[{"kind": "sudo-nopasswd"}, *faults]) as cluster:
        async with contextlib.AsyncExitStack() as stack:
            yield Shell(cluster, stack)


async def eventually(check: Callable[[], Awaitable[bool]], what: str, limit_s: float = 15.0) -> None:
    """Wait until something is so."""
    try:
        async with asyncio.timeout(limit_s):
            while not await check():
                await asyncio.sleep(0.02)
    except TimeoutError:
        raise AssertionError(f"not within {limit_s:g} s: {what}") from None
