"""Ways to say and hear something on one interface: three kinds of sockets, and the carrier over Unix sockets.

A port never raises for trouble on the wire: `problem` says why it cannot be used at the moment, in a short word where
the meaning is known (needs-sudo, down, no-carrier, no-link-local, no-ipv4), else in the system's words.
"""

from __future__ import annotations

import abc
import errno
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from stellwerk.model.fabric import LldpNeighbour
from stellwerk_agent import hear_frames
from stellwerk_agent.hear_frames import Said
from stellwerk_agent.paths import short_path

IPV6, IPV4, RAW = "ipv6", "ipv4", "raw"
KINDS = {IPV6: 6, IPV4: 4, RAW: 0}
# Link-local groups: no router forwards them, and a snooping switch floods the IPv4 one.
GROUP6 = "ff02::5357:4845"
GROUP4 = "224.0.0.187"
UDP_PORT = 47531
SEND_EVERY_S = 0.4
MAX_PACKET_BYTES = 4096
MAX_EVENTS_PER_WAKE = 64

_IP_PKTINFO = 8
_SO_BINDTODEVICE = 25
_PACKET_ADD_MEMBERSHIP = 1
_PACKET_MR_MULTICAST = 0
_PACKET_OUTGOING = 4
_SOL_PACKET = 263
_ETH_P_802_2 = 0x0004


@dataclass(frozen=True, slots=True)
class Event:
    """Something that was heard on an interface: one of `said`, `lldp`, `bpdu`."""

    netdev: str
    kind: str
    said: Said | None = None
    lldp: LldpNeighbour | None = None
    bpdu: bool = False


class Port(Protocol):
    """One way on one interface."""

    netdev: str
    kind: str
    problem: str | None

    def fileno(self) -> int:
        """For select."""

    def send(self, payload: bytes) -> None:
        """Say it once."""

    def receive(self) -> list[Event]:
        """What has come in."""

    def close(self) -> None:
        """Give the socket back."""


def exchange(
    ports: Iterable[Port],
    payloads: Mapping[str, bytes],
    seconds: float,
    on_event: Callable[[Event], None],
    stop: Callable[[], bool],
    stop_fd: int | None = None,
) -> None:
    """Say `payloads[netdev]` on every port again and again, and tell what is heard, for `seconds`.

    Ends early when `stop()` is true (looked at several times a second) or `stop_fd` becomes readable.
    """
    until = time.monotonic() + seconds
    due = 0.0
    with selectors.DefaultSelector() as selector:
        for port in ports:
            selector.register(port.fileno(), selectors.EVENT_READ, port)
        if stop_fd is not None:
            selector.register(stop_fd, selectors.EVENT_READ, None)
        while (now := time.monotonic()) < until and not stop():
            # Nothing is said in the last moment: a refusal has to have time to come back.
            if now >= due and until - now > SEND_EVERY_S / 2:
                for port in ports:
                    port.send(payloads[port.netdev])
                due = now + SEND_EVERY_S
            for key, _ in selector.select(min(0.1, max(0.0, until - now))):
                if key.data is None:
                    return
                for event in key.data.receive():
                    on_event(event)


class SocketPort(abc.ABC):
    """What the three kinds of sockets share."""

    def __init__(self, netdev: str, kind: str, sock: socket.socket) -> None:
        self.netdev = netdev
        self.kind = kind
        self.problem: str | None = None
        self._socket = sock
        sock.setblocking(False)

    def fileno(self) -> int:
        return self._socket.fileno()

    def close(self) -> None:
        self._socket.close()

    def send(self, payload: bytes) -> None:
        try:
            self._send(payload)
            self.problem = None
        except BlockingIOError:
            pass  # the queue is full: the next one gets through
        except OSError as error:
            self.problem = word_for(error, self.kind)

    @abc.abstractmethod
    def _send(self, payload: bytes) -> None:
        """Send one frame; raises `OSError`."""

    def receive(self) -> list[Event]:
        found: list[Event] = []
        for _ in range(MAX_EVENTS_PER_WAKE):
            try:
                event = self._receive()
            except BlockingIOError:
                break
            except OSError as error:
                self.problem = word_for(error, self.kind)
                break
            if event is not None:
                found.append(event)
        return found

    @abc.abstractmethod
    def _receive(self) -> Event | None:
        """The next frame, or None for one that is not ours; raises `OSError`."""


class UdpPort(SocketPort):
    """Link-local multicast over IPv6 or IPv4, by interface index: needs no root."""

    def __init__(self, netdev: str, index: int, kind: str) -> None:
        family = socket.AF_INET6 if kind == IPV6 else socket.AF_INET
        super().__init__(netdev, kind, socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC))
        self._index = index
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._bind_to_device()
            if kind == IPV6:
                self._prepare6()
            else:
                self._prepare4()
        except OSError:
            self._socket.close()
            raise

    def _bind_to_device(self) -> None:
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _SO_BINDTODEVICE, self.netdev.encode() + b"\0")
        except PermissionError:
            pass  # before Linux 5.7 only root may; the index of each packet is looked at anyway

    def _prepare6(self) -> None:
        level = socket.IPPROTO_IPV6
        self._socket.setsockopt(level, socket.IPV6_V6ONLY, 1)
        self._socket.setsockopt(level, socket.IPV6_RECVPKTINFO, 1)
        self._socket.setsockopt(level, socket.IPV6_MULTICAST_IF, self._index)
        self._socket.setsockopt(level, socket.IPV6_MULTICAST_HOPS, 1)
        self._socket.setsockopt(level, socket.IPV6_MULTICAST_LOOP, 0)
        group = socket.inet_pton(socket.AF_INET6, GROUP6) + struct.pack("@I", self._index)
        self._socket.setsockopt(level, socket.IPV6_JOIN_GROUP, group)
        self._socket.bind(("::", UDP_PORT))

    def _prepare4(self) -> None:
        level = socket.IPPROTO_IP
        by_index = struct.pack("@4s4si", socket.inet_aton(GROUP4), b"\0" * 4, self._index)
        self._socket.setsockopt(level, _IP_PKTINFO, 1)
        self._socket.setsockopt(level, socket.IP_MULTICAST_IF, by_index)
        self._socket.setsockopt(level, socket.IP_MULTICAST_TTL, 1)
        self._socket.setsockopt(level, socket.IP_MULTICAST_LOOP, 0)
        self._socket.setsockopt(level, socket.IP_ADD_MEMBERSHIP, by_index)
        self._socket.bind(("", UDP_PORT))

    def _send(self, payload: bytes) -> None:
        target = (GROUP6, UDP_PORT, 0, self._index) if self.kind == IPV6 else (GROUP4, UDP_PORT)
        self._socket.sendto(payload, target)

    def _receive(self) -> Event | None:
        data, notes, _, _ = self._socket.recvmsg(MAX_PACKET_BYTES, 256)
        if self._came_in_by(notes) != self._index:
            return None  # a group is joined per machine: packets of other interfaces come here, too
        said = hear_frames.parse_payload(data)
        return Event(self.netdev, self.kind, said=said) if said is not None else None

    def _came_in_by(self, notes: list[tuple[int, int, bytes]]) -> int | None:
        for level, kind, data in notes:
            if (level, kind) == (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO):
                return int(struct.unpack_from("@16sI", data)[1])
            if (level, kind) == (socket.IPPROTO_IP, _IP_PKTINFO):
                return int(struct.unpack_from("@i", data)[0])
        return None


class RawPort(SocketPort):
    """Frames of our own EtherType; also hears LLDP and spanning tree. Needs root, and no address."""

    def __init__(self, netdev: str, mac: str, protocol: int = hear_frames.ETHERTYPE) -> None:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, socket.htons(protocol))
        super().__init__(netdev, RAW, sock)
        self._mac = hear_frames.parse_mac(mac)
        self._protocol = protocol
        try:
            sock.bind((netdev, protocol))
            index = socket.if_nametoindex(netdev)
            for group in (*hear_frames.LLDP_GROUPS, hear_frames.PVST_GROUP):
                request = struct.pack("@iHH8s", index, _PACKET_MR_MULTICAST, 6, group)
                sock.setsockopt(_SOL_PACKET, _PACKET_ADD_MEMBERSHIP, request)
        except OSError:
            sock.close()
            raise

    def _send(self, payload: bytes) -> None:
        if self._protocol == hear_frames.ETHERTYPE:
            self._socket.send(hear_frames.ethernet_frame(self._mac, payload))
            # Who listens there without root hears no frame of ours, but a packet to the IPv6 group.
            self._socket.send(as_multicast6(self._mac, payload))

    def _receive(self) -> Event | None:
        frame, address = self._socket.recvfrom(MAX_PACKET_BYTES)
        return None if address[2] == _PACKET_OUTGOING else judge_frame(self.netdev, frame)


def as_multicast6(mac: bytes, payload: bytes) -> bytes:
    """What `UdpPort` says over IPv6, as a frame."""
    return hear_frames.multicast6_frame(mac, socket.inet_pton(socket.AF_INET6, GROUP6), UDP_PORT, payload)


def raw_ports(netdev: str, mac: str) -> list[RawPort]:
    """The three raw sockets of an interface: ours, LLDP, and 802.2 for spanning tree. Raises OSError."""
    found: list[RawPort] = []
    try:
        for protocol in (hear_frames.ETHERTYPE, hear_frames.ETHERTYPE_LLDP, _ETH_P_802_2):
            found.append(RawPort(netdev, mac, protocol))
    except OSError:
        for port in found:
            port.close()
        raise
    return found


def judge_frame(netdev: str, frame: bytes) -> Event | None:
    """What a whole Ethernet frame says."""
    if (lldp := hear_frames.parse_lldp(frame, netdev)) is not None:
        return Event(netdev, RAW, lldp=lldp)
    if hear_frames.is_bpdu(frame):
        return Event(netdev, RAW, bpdu=True)
    parts = hear_frames.split_frame(frame)
    if parts is None or parts[2] != hear_frames.ETHERTYPE:
        return None
    said = hear_frames.parse_payload(parts[3])
    return Event(netdev, RAW, said=said) if said is not None else None


class UnixPort(SocketPort):
    """The carrier whose wires are Unix sockets: `DIR/IF.sock`, packets of kind, source MAC and payload.

    A raw packet that does not begin like our payload is taken as a whole Ethernet frame (LLDP, spanning tree).
    """

    def __init__(self, directory: Path, netdev: str, kind: str, mac: bytes = b"") -> None:
        self._mac = mac
        super().__init__(netdev, kind, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC))
        try:
            with short_path(directory / f"{netdev}.sock") as name:
                self._socket.connect(name)
        except OSError:
            self._socket.close()
            raise

    def _send(self, payload: bytes) -> None:
        self._socket.send(bytes([KINDS[self.kind]]) + payload)
        if self.kind == RAW:
            self._socket.send(bytes([KINDS[RAW]]) + as_multicast6(self._mac, payload))

    def _receive(self) -> Event | None:
        packet = self._socket.recv(MAX_PACKET_BYTES)
        if not packet:
            self.problem = "down"
            raise BlockingIOError
        if packet[:1] == b"E":
            self.problem = packet[1:].decode("utf-8", "replace")
            return None
        if packet[0] != KINDS[self.kind]:
            return None
        body = packet[7:]
        said = hear_frames.parse_payload(body)
        if said is not None:
            return Event(self.netdev, self.kind, said=said)
        return judge_frame(self.netdev, body) if self.kind == RAW else None


def open_port(carrier: str, netdev: str, index: int, kind: str) -> Port:
    """The port of a kind that needs no root. Raises OSError."""
    if carrier.startswith("unix:"):
        return UnixPort(Path(carrier.removeprefix("unix:")), netdev, kind)
    return UdpPort(netdev, index, kind)


def open_raw_ports(carrier: str, netdev: str, mac: str) -> list[Port]:
    """The raw ports of an interface. Raises OSError, and ValueError for a MAC that is none."""
    if carrier.startswith("unix:"):
        return [UnixPort(Path(carrier.removeprefix("unix:")), netdev, RAW, hear_frames.parse_mac(mac))]
    return [*raw_ports(netdev, mac)]


def word_for(error: OSError, kind: str) -> str:
    """A short word for trouble whose meaning is known."""
    if error.errno in (errno.EADDRNOTAVAIL, errno.ENETUNREACH, errno.EHOSTUNREACH):
        return "no-link-local" if kind == IPV6 else "no-ipv4"
    if error.errno in (errno.EPERM, errno.EACCES):
        return "needs-sudo"
    if error.errno == errno.ENETDOWN:
        return "down"
    if error.errno in (errno.ENOENT, errno.ENODEV, errno.ECONNREFUSED):
        return "there is no such interface"
    return error.strerror or os.strerror(error.errno or 0)
