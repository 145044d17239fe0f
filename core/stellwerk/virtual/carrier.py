"""Frames of cable discovery: one SOCK_SEQPACKET socket per interface, joined by the cable model.

A packet sent is one byte of kind (6: IPv6 link-local multicast, 4: IPv4 multicast, 0: raw frame) and the payload.
A packet received is the kind, six bytes of source MAC and the payload; or `E` and the reason why a kind cannot be used:
needs-sudo, down, no-carrier, no-link-local, no-ipv4. Reasons are checked in that order.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from stellwerk.virtual.network import Interface

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster
    from stellwerk.virtual.machine import Machine

RAW, IPV4, IPV6 = 0, 4, 6
MAX_PACKET = 65536
LLDP_PERIOD_S = 0.5  # a real switch takes 30 s


class Carriers:
    """The sockets of all interfaces of one node."""

    def __init__(self, cluster: Cluster, machine: Machine) -> None:
        self.cluster = cluster
        self.machine = machine
        self.sockets: dict[str, CarrierSocket] = {}

    def open(self) -> None:
        """Listen for every interface that has a wire."""
        directory = self.machine.dir / "carrier"
        directory.mkdir(exist_ok=True)
        for interface in self.machine.network.interfaces.values():
            if interface.kind in ("fabric", "lan"):
                path = directory / f"{interface.name}.sock"
                self.sockets[interface.name] = CarrierSocket(self, interface.name, path)

    def close(self) -> None:
        """The node has no power: nobody hears any more."""
        for carrier in self.sockets.values():
            carrier.close()
        self.sockets.clear()

    def deliver(self, port: int, frame: bytes) -> None:
        """A frame comes in at a port: both halves hear it."""
        for half in self.machine.hardware.port_halves(port):
            if half.netdev in self.sockets and self.machine.network.interfaces[half.netdev].running:
                self.sockets[half.netdev].deliver(frame)

    def send(self, name: str, kind: int, payload: bytes, *, root: bool) -> str | None:
        """Put a frame on the wire. Returns why it cannot be sent."""
        interface = self.machine.network.interfaces[name]
        problem = obstacle(interface, kind, root=root)
        if problem is not None:
            return problem
        mac = bytes.fromhex(interface.mac.replace(":", ""))
        frame = bytes([kind]) + mac + payload
        packet = multicast6_payload(payload) if kind == RAW else None
        if packet is not None:
            kind, frame = IPV6, bytes([IPV6]) + mac + packet
        for node, heard_by in self.cluster.fabric.listeners(self.machine.name, name):
            peer = self.cluster.carriers.get(node)
            if peer is not None and obstacle(heard_by, kind, root=True) is None and heard_by.name in peer.sockets:
                peer.sockets[heard_by.name].deliver(frame)
        return None


def obstacle(interface: Interface, kind: int, *, root: bool) -> str | None:
    """Why this kind of frame cannot be used on the interface; None when it can."""
    if kind == RAW and not root:
        return "needs-sudo"
    if not interface.admin_up:
        return "down"
    if not interface.carrier:
        return "no-carrier"
    if kind == IPV6 and interface.link_local6 is None:
        return "no-link-local"
    if kind == IPV4 and not interface.addresses4:
        return "no-ipv4"
    return None


def multicast6_payload(frame: bytes) -> bytes | None:
    """What a kernel hands to those who listen on an IPv6 group: the UDP payload of a whole frame; None for others."""
    udp = frame[54:62]
    is_udp6 = frame[:2] == b"\x33\x33" and frame[12:14] == b"\x86\xdd" and frame[20:21] == b"\x11" and len(udp) == 8
    if not is_udp6:
        return None
    (length,) = struct.unpack_from("!H", udp, 4)
    return frame[62 : 54 + length]


def lldp_frame(switch: str, port: int) -> bytes:
    """What a switch says of itself on one of its ports (IEEE 802.1AB), as a whole Ethernet frame."""
    mac = switch_mac(switch)
    values = [
        (1, b"\x04" + mac),
        (2, b"\x05" + f"qsfp56-{port}".encode()),
        (3, struct.pack("!H", 120)),
        (4, f"simulated port {port}".encode()),
        (5, switch.encode()),
        (0, b""),
    ]
    body = b"".join(struct.pack("!H", kind << 9 | len(value)) + value for kind, value in values)
    return b"\x01\x80\xc2\x00\x00\x0e" + mac + b"\x88\xcc" + body


def switch_mac(switch: str) -> bytes:
    """A locally administered address out of the switch's name."""
    return b"\x02" + hashlib.sha256(switch.encode()).digest()[:5]


async def speak_for_switches(cluster: Cluster) -> None:
    """Every switch that is not silent names itself on all its ports, over and over."""
    while True:
        for segment in cluster.cables.segments:
            if segment.kind != "switch" or segment.name in cluster.silent_switches:
                continue
            for number, end in enumerate(segment.ends, 1):
                carriers = cluster.carriers.get(end.node)
                if carriers is not None:
                    frame = bytes([RAW]) + switch_mac(segment.name) + lldp_frame(segment.name, number)
                    carriers.deliver(end.port, frame)
        await asyncio.sleep(LLDP_PERIOD_S)


class CarrierSocket:
    """Listens for programs of the node that want to send and hear on one interface."""

    def __init__(self, owner: Carriers, interface: str, path: Path) -> None:
        self._owner = owner
        self._interface = interface
        self._loop = asyncio.get_running_loop()
        self._clients: dict[socket.socket, bool] = {}  # connection -> its process is root
        self._path = path
        path.unlink(missing_ok=True)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        self._listener.bind(os.fsencode(path))
        self._listener.listen(16)
        self._loop.add_reader(self._listener, self._accept)

    def _accept(self) -> None:
        try:
            client, _ = self._listener.accept()
        except BlockingIOError:
            return
        client.setblocking(False)
        pid = struct.unpack("3i", client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]
        init = self._owner.machine.init
        self._clients[client] = init is not None and init.is_root(pid)
        self._loop.add_reader(client, self._receive, client)

    def _receive(self, client: socket.socket) -> None:
        try:
            packet = client.recv(MAX_PACKET)
        except BlockingIOError:
            return
        except OSError:
            packet = b""
        if not packet:
            self._drop(client)
            return
        problem = self._owner.send(self._interface, packet[0], packet[1:], root=self._clients[client])
        if problem is not None:
            self._put(client, b"E" + problem.encode())

    def deliver(self, frame: bytes) -> None:
        """A frame comes in: everybody who listens gets it, raw ones go to root alone."""
        for client, root in list(self._clients.items()):
            if frame[0] != RAW or root:
                self._put(client, frame)

    def _put(self, client: socket.socket, packet: bytes) -> None:
        # A listener that does not keep up loses frames, as on a real interface.
        with contextlib.suppress(OSError):
            client.send(packet)

    def _drop(self, client: socket.socket) -> None:
        self._clients.pop(client, None)
        self._loop.remove_reader(client)
        client.close()

    def close(self) -> None:
        """End every conversation."""
        for client in list(self._clients):
            self._drop(client)
        self._loop.remove_reader(self._listener)
        self._listener.close()
        self._path.unlink(missing_ok=True)
