"""All simulated nodes, the wires between them, and the servers through which they are reached."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import socket
import struct
import tempfile
from pathlib import Path
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.virtual import hardware, simroot, topologies
from stellwerk.virtual.cables import CableModel, End
from stellwerk.virtual.call import Call, serve_call
from stellwerk.virtual.machine import Machine, system_python
from stellwerk.virtual.reach import Fabric
from stellwerk.virtual.sshd import NodeSshServer, new_host_key

MAX_SOCKET_PATH = 107
LAN_SPEED_MBPS = 10_000
_SBIN = Path(__file__).parent / "onnode"


def default_base() -> Path:
    """Where the directories of this user's virtual clusters lie. Short: sockets live below."""
    return Path(tempfile.gettempdir()) / f"stellwerk-{os.getuid()}"


def make_cluster_dir(base: Path | None) -> Path:
    """A fresh directory, readable by its owner alone. Raises `BadInput` when its path is too long for sockets."""
    parent = (base or default_base()).resolve()
    for _ in range(3):
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if parent.stat().st_uid != os.getuid():
            raise BadInput(f"{parent} belongs to somebody else", remedy="name another directory with --dir")
        try:
            made = Path(tempfile.mkdtemp(prefix="v-", dir=parent))
            break
        except FileNotFoundError:
            continue  # the last cluster there ended just now and took the directory along
    else:
        raise BadInput(f"{parent} cannot be written to", remedy="name another directory with --dir")
    longest = made / "spark-8" / "home" / ".local" / "state" / "stellwerk" / "agent.sock"
    if len(os.fsencode(longest)) > MAX_SOCKET_PATH:
        made.rmdir()
        raise BadInput(
            f"{parent} is too deep for a virtual cluster",
            why=f"sockets have paths of up to {MAX_SOCKET_PATH} bytes",
            remedy="name a shorter directory with --dir",
        )
    return made


class Cluster:
    """The simulated world."""

    def __init__(self, nodes: int, topology: str, base_dir: Path | None = None) -> None:
        problem = topologies.check(nodes, topology)
        if problem is not None:
            raise BadInput(problem, remedy="see `stellwerk virtual up --help`")
        self.topology = topology
        self.dir = make_cluster_dir(base_dir)
        python = system_python()
        self.machines: dict[str, Machine] = {}
        for number in range(1, nodes + 1):
            machine = Machine(number, self.dir, python, self.network_changed)
            self.machines[machine.name] = machine
        self.cables: CableModel = topologies.cable(topology, list(self.machines))
        self.powered: set[str] = set()
        networks = {name: machine.network for name, machine in self.machines.items()}
        self.fabric = Fabric(networks, self.cables, self.powered)
        self.ssh: dict[str, NodeSshServer] = {}
        self._shim_servers: list[asyncio.Server] = []
        self._calls: set[asyncio.Task[None]] = set()
        self._address_map: dict[str, str] = {}

    async def start(self) -> None:
        """Install and boot every node."""
        (self.dir / "sbin").mkdir()
        shutil.copyfile(_SBIN / "init.py", self.dir / "sbin" / "init.py")
        self._write_address_map({})
        for machine in self.machines.values():
            machine.install(new_host_key, self._tools())
            self.ssh[machine.name] = NodeSshServer(machine, self.translate)
            await self._listen_for_shims(machine)
        for machine in self.machines.values():
            await self.power_on(machine.name)

    async def stop(self) -> None:
        """End everything and leave nothing behind."""
        for name in self.machines:
            await self.power_off(name)
        for server in self._shim_servers:
            server.close()
        for task in list(self._calls):
            task.cancel()
        await asyncio.gather(*self._calls, return_exceptions=True)
        for machine in self.machines.values():
            machine.tree.close()
        shutil.rmtree(self.dir, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.dir.parent.rmdir()  # stays when another cluster lives there

    def machine(self, name: str) -> Machine:
        """Raises `BadInput` for a name that no node has."""
        machine = self.machines.get(name)
        if machine is None:
            raise BadInput(f"there is no node {name!r}", remedy=f"nodes are {', '.join(self.machines)}")
        return machine

    async def power_on(self, name: str) -> None:
        """Boot a node and let it be reached."""
        machine = self.machine(name)
        if machine.powered:
            return
        self.powered.add(name)
        await machine.power_on()
        port = await self._listen_for_ssh(machine)
        machine.port = port
        self.network_changed()

    async def power_off(self, name: str) -> None:
        """Pull the plug of a node."""
        machine = self.machine(name)
        self.powered.discard(name)
        if name in self.ssh:
            await self.ssh[name].stop()
        await machine.power_off()

    async def reinstall(self, name: str) -> None:
        """A fresh system on the same machine: other host key and machine id, nothing of the old home."""
        machine = self.machine(name)
        await self.power_off(name)
        machine.install(new_host_key, self._tools())
        await self.power_on(name)

    async def _listen_for_ssh(self, machine: Machine) -> int:
        server = self.ssh[machine.name]
        if machine.address:
            return await server.start(machine.address, machine.port)
        # macOS and the BSDs have 127.0.0.1 alone; ports keep the nodes apart there.
        for address in (f"127.77.0.{10 + machine.hardware.number}", "127.0.0.1"):
            try:
                port = await server.start(address, 0)
            except OSError:
                continue
            machine.address = address
            return port
        raise StellwerkError("no loopback address can be listened on", node=machine.name)

    def _tools(self) -> dict[str, Path]:
        """What lies in a node's PATH beside python3 and sh."""
        from stellwerk.virtual.shims import COMMANDS

        return dict.fromkeys(COMMANDS, Path(".shim"))

    def translate(self, host: str, port: int) -> tuple[str, int]:
        """Where an address of the simulated networks (or a node's name) is really reached."""
        for machine in self.machines.values():
            if host in (machine.name, f"{machine.name}.local") or self._address_map.get(host) == machine.address:
                return machine.address, machine.port if port == 22 else port
        return host, port

    def network_changed(self) -> None:
        """Something about links or addresses is another: carriers, files in /sys and the address map follow."""
        for machine in self.machines.values():
            self._update_carriers(machine)
        for machine in self.machines.values():
            if machine.powered:
                simroot.write_network(machine.tree, machine.hardware, machine.network, self.speeds(machine))
            if not machine.reachable and machine.name in self.ssh:
                self.ssh[machine.name].cut()
        self._write_address_map(self._current_addresses())

    def _update_carriers(self, machine: Machine) -> None:
        for interface in machine.network.interfaces.values():
            if interface.end is not None:
                carrier = self.cables.has_carrier(interface.end, self.powered)
            elif interface.kind == "lan":
                carrier = machine.powered
            else:
                continue
            came = carrier and not interface.carrier
            interface.carrier = carrier
            if came:
                machine.manager.carrier_came(interface.name)

    def speeds(self, machine: Machine) -> dict[str, int]:
        """Negotiated speed in Mb/s of every interface that has a wire."""
        found = {hardware.MANAGEMENT: LAN_SPEED_MBPS}
        for half in machine.hardware.halves:
            segment = self.cables.segment_of(End(machine.name, half.port))
            if segment is not None:
                found[half.netdev] = segment.speed_mbps
        return found

    def _current_addresses(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for machine in self.machines.values():
            for interface in machine.network.interfaces.values():
                if interface.kind in ("fabric", "lan") and machine.address:
                    found |= {str(entry.ip): machine.address for entry in interface.addresses4}
        return found

    def _write_address_map(self, addresses: dict[str, str]) -> None:
        target = self.dir / "address-map.json"
        if addresses == self._address_map and target.exists():
            return
        self._address_map = addresses
        fresh = target.with_suffix(".new")
        fresh.write_text(json.dumps(addresses, sort_keys=True) + "\n")
        fresh.replace(target)

    async def _listen_for_shims(self, machine: Machine) -> None:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            self._calls.add(task)
            try:
                await self._serve_shim(machine, reader, writer)
            except (ConnectionError, asyncio.CancelledError):
                pass  # the command was killed, or the cluster ends
            finally:
                self._calls.discard(task)
                writer.close()

        server = await asyncio.start_unix_server(connected, str(machine.dir / "shim.sock"), limit=1024 * 1024)
        self._shim_servers.append(server)

    async def _serve_shim(self, machine: Machine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from stellwerk.virtual.shims import COMMANDS

        line = await reader.readline()
        if not line or machine.init is None:
            return
        request: dict[str, Any] = json.loads(line)
        command = COMMANDS.get(str(request.get("name")))
        peer = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        pid = struct.unpack("3i", peer)[0]
        call = Call(
            self, machine, {**request, "pid": pid}, root=machine.init.is_root(pid), reader=reader, writer=writer
        )
        if command is None:
            call.err(f"{call.name}: not simulated")
            call.exit(127)
            return
        await serve_call(call, command)

    def nodes(self) -> list[dict[str, Any]]:
        """What somebody needs to log in, per node."""
        from stellwerk.virtual.sshd import fingerprint

        return [
            {
                "name": machine.name,
                "host": machine.address,
                "port": machine.port,
                "user": hardware.USER,
                "password": machine.password,
                "sudo_password": machine.sudo_password,
                "host_key_fingerprint": fingerprint(machine.tree.read("/etc/ssh/ssh_host_ed25519_key.pub") or ""),
                "home": str(machine.home),
                "root": str(machine.root),
                "powered": machine.powered,
            }
            for machine in self.machines.values()
        ]

    def cable_list(self) -> list[dict[str, Any]]:
        """All wires, for the control interface."""
        return [
            {
                "name": segment.name,
                "kind": segment.kind,
                "ends": [str(end) for end in segment.ends],
                "speed_mbps": segment.speed_mbps,
            }
            for segment in self.cables.segments
        ]
