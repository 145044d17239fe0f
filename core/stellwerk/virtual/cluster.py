"""All simulated nodes, the wires between them, and the servers through which they are reached."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say
from stellwerk.virtual import hardware, simroot, topologies
from stellwerk.virtual.cables import CableModel, End, Segment
from stellwerk.virtual.carrier import Carriers, speak_for_switches
from stellwerk.virtual.faults import Faults
from stellwerk.virtual.load import Load
from stellwerk.virtual.machine import Machine, system_python
from stellwerk.virtual.places import LoopbackBlock, make_cluster_dir
from stellwerk.virtual.reach import Fabric
from stellwerk.virtual.shimserver import ShimServer
from stellwerk.virtual.sshd import NodeSshServer, fingerprint, new_host_key

if TYPE_CHECKING:
    from stellwerk.virtual.shims.perf import Waiting

LAN_SPEED_MBPS = 10_000
_SBIN = Path(__file__).parent / "onnode"


class Cluster:
    """The simulated world."""

    def __init__(self, nodes: int, topology: str, base_dir: Path | None = None, *, perf_run_s: float) -> None:
        problem = topologies.check(nodes, topology)
        if problem is not None:
            raise BadInput(problem, remedy="see `stellwerk virtual up --help`")
        self.topology = topology
        self.dir = make_cluster_dir(base_dir)
        self._block = LoopbackBlock.take()
        python = system_python()
        self.machines: dict[str, Machine] = {}
        for number in range(1, nodes + 1):
            machine = Machine(number, self.dir, python, self.network_changed)
            self.machines[machine.name] = machine
        self.cables: CableModel = topologies.cable(topology, list(self.machines))
        self.powered: set[str] = set()
        self._power = {name: asyncio.Lock() for name in self.machines}  # switching takes a moment
        networks = {name: machine.network for name, machine in self.machines.items()}
        self.fabric = Fabric(networks, self.cables, self.powered)
        self.ssh: dict[str, NodeSshServer] = {}
        self.shim_servers: dict[str, ShimServer] = {}
        self._address_map: dict[str, str] = {}
        self.carriers: dict[str, Carriers] = {}
        self.perf_servers: dict[tuple[str, int], Waiting] = {}
        self.perf_run_s = perf_run_s
        self.load = Load(self)
        self.faults = Faults(self)
        self.pulled: dict[End, Segment] = {}  # cables that a fault took out, to put them back
        self.complaints: list[str] = []
        self.silent_switches: set[str] = set()
        self._switches: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Install and boot every node."""
        (self.dir / "sbin").mkdir()
        shutil.copyfile(_SBIN / "init.py", self.dir / "sbin" / "init.py")
        self._write_address_map({})
        for machine in self.machines.values():
            machine.install(new_host_key, self._tools())
            self.ssh[machine.name] = NodeSshServer(machine, self.translate)
            self.shim_servers[machine.name] = ShimServer(self, machine)
            await self.shim_servers[machine.name].start()
        for machine in self.machines.values():
            await self.power_on(machine.name)
        self.load.start()
        self._switches = asyncio.create_task(speak_for_switches(self))

    async def stop(self) -> None:
        """End everything and leave nothing behind."""
        await self.faults.stop()
        if self._switches is not None:
            self._switches.cancel()
            await asyncio.gather(self._switches, return_exceptions=True)
        await self.load.stop()
        for name in self.machines:
            await self.power_off(name)
            if name in self.ssh:
                self.ssh[name].free()
        for server in self.shim_servers.values():
            await server.stop()
        for machine in self.machines.values():
            machine.tree.close()
        self._block.release()
        shutil.rmtree(self.dir, ignore_errors=True)
        with contextlib.suppress(OSError):
            self.dir.parent.rmdir()  # stays when another cluster lives there

    def machine(self, name: str) -> Machine:
        """Raises `BadInput` for a name that no node has."""
        machine = self.machines.get(name)
        if machine is None:
            raise BadInput(
                say("there is no node {name}", name=repr(name)),
                remedy=say("nodes are {machines}", machines=", ".join(self.machines)),
            )
        return machine

    async def power_on(self, name: str) -> None:
        """Boot a node and let it be reached."""
        machine = self.machine(name)
        async with self._power[name]:
            if machine.powered:
                return
            self.powered.add(name)
            await machine.power_on()
            self.carriers[name] = Carriers(self, machine)
            self.carriers[name].open()
            machine.port = await self._listen_for_ssh(machine)
            self.network_changed()

    async def power_off(self, name: str) -> None:
        """Pull the plug of a node: nothing of it says a last word, and every program dies."""
        machine = self.machine(name)
        async with self._power[name]:
            self.powered.discard(name)
            if name in self.carriers:
                self.carriers.pop(name).close()
            if name in self.ssh:
                self.ssh[name].fall_silent()
            await machine.power_off()
            if name in self.ssh:
                await self.ssh[name].stop()
            self.load.forget(name)

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
        for address in (f"127.77.{self._block.number}.{10 + machine.hardware.number}", "127.0.0.1"):
            try:
                port = await server.start(address, 0)
            except OSError:
                continue
            machine.address = address
            return port
        raise StellwerkError("no loopback address can be listened on", node=machine.name)

    def _tools(self) -> dict[str, Path]:
        """What lies in a node's PATH beside python3 and sh."""
        from stellwerk.virtual.shims import COMMANDS, ssh

        tools = dict.fromkeys(COMMANDS, Path(".shim"))
        if ssh.client() is None:
            del tools["ssh"]
        keygen = shutil.which("ssh-keygen", path="/usr/bin:/bin:/usr/local/bin")
        if keygen:
            tools["ssh-keygen"] = Path(keygen)
        return tools

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
        self.load.update_capacity()

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

    def state(self) -> dict[str, Any]:
        """Everything, for people and for tests."""
        return {
            "topology": self.topology,
            "dir": str(self.dir),
            "nodes": [self._node_state(machine) for machine in self.machines.values()],
            "cables": self.cable_list(),
            "faults": self.faults.listed(),
            "load_gbps": dict(self.load.asked_gbps),
            "addresses": dict(self._address_map),
            "complaints": list(self.complaints),
        }

    def _node_state(self, machine: Machine) -> dict[str, Any]:
        interfaces: dict[str, Any] = {}
        for interface in machine.network.interfaces.values():
            sent, received = self.load.traffic.rates_of((machine.name, interface.name))
            interfaces[interface.name] = {
                "mac": interface.mac,
                "mtu": interface.mtu,
                "up": interface.admin_up,
                "carrier": interface.carrier,
                "addresses": [entry.cidr for entry in interface.addresses],
                "tx_gbps": round(sent, 2),
                "rx_gbps": round(received, 2),
            }
        return {
            "name": machine.name,
            "powered": machine.powered,
            "reachable": machine.reachable,
            "boot_id": machine.boot_id,
            "management_address": machine.management_address,
            "processes": [list(p.argv) for p in machine.init.processes.values()] if machine.init else [],
            "interfaces": interfaces,
            "routes": sorted(f"{r.destination} via {r.via} dev {r.device}" for r in machine.network.static_routes),
            "firewall": [[rule.table, rule.chain, *rule.words] for rule in machine.network.rules],
        }

    def nodes(self) -> list[dict[str, Any]]:
        """What somebody needs to log in, per node."""

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
