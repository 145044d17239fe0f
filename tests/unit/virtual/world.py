"""Small networks without processes, for tests of the model."""

from __future__ import annotations

from dataclasses import dataclass, field

from stellwerk.virtual import hardware
from stellwerk.virtual.cables import CableModel, End
from stellwerk.virtual.network import NodeNetwork, address
from stellwerk.virtual.reach import Fabric
from stellwerk.virtual.topologies import cable

A0, A1, B0, B1 = "enp1s0f0np0", "enp1s0f1np1", "enP2p1s0f0np0", "enP2p1s0f1np1"


@dataclass
class World:
    """Nodes on wires, with sysctls as plain numbers."""

    cables: CableModel
    sysctls: dict[tuple[str, str], int] = field(default_factory=dict)
    nodes: dict[str, NodeNetwork] = field(default_factory=dict)
    powered: set[str] = field(default_factory=set)

    @property
    def fabric(self) -> Fabric:
        return Fabric(self.nodes, self.cables, self.powered)

    def light(self) -> None:
        """Bring up whatever has a wire."""
        for network in self.nodes.values():
            for interface in network.interfaces.values():
                if interface.end is not None:
                    interface.carrier = self.cables.has_carrier(interface.end, self.powered)
                elif interface.kind == "lan":
                    interface.carrier = True
                interface.admin_up = True

    def give(self, node: str, interface: str, cidr: str) -> None:
        self.nodes[node].add_address(interface, address(cidr))

    def set(self, key: str, value: int, *nodes: str) -> None:
        for node in nodes or tuple(self.nodes):
            self.sysctls[(node, key)] = value

    def quiet_arp(self) -> None:
        """What the product's plan sets on fabric halves."""
        for name in hardware.FABRIC_NETDEVS:
            self.set(f"net/ipv4/conf/{name}/arp_ignore", 1)
            self.set(f"net/ipv4/conf/{name}/arp_announce", 2)


def make_world(topology: str, count: int) -> World:
    names = [f"spark-{n}" for n in range(1, count + 1)]
    world = World(cable(topology, names), powered=set(names))
    for number, name in enumerate(names, 1):
        machine = hardware.spark(number)
        world.nodes[name] = NodeNetwork(machine, lambda key, node=name: world.sysctls.get((node, key), 0))  # type: ignore[misc]
    world.light()
    return world


def addressed_pair() -> World:
    """A pair as the product leaves it: one subnet per half, MTU 9000."""
    world = make_world("pair", 2)
    for number, name in enumerate(world.nodes, 1):
        world.give(name, A1, f"192.168.100.{number}/24")
        world.give(name, B1, f"192.168.101.{number}/24")
        for interface in (A1, B1):
            world.nodes[name].interfaces[interface].mtu = 9000
    return world


def end(node: int, port: int) -> End:
    return End(f"spark-{node}", port)
