"""What is said and heard on a wire: our own payload, LLDP, spanning tree. Bytes only, no sockets."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass

from stellwerk.model.fabric import LldpNeighbour
from stellwerk_agent.reading import clean

MAGIC = b"SWHEAR1\n"
# "Local experimental EtherType 2" of IEEE 802: never used by a product for traffic of its own.
ETHERTYPE = 0x88B6
ETHERTYPE_LLDP = 0x88CC
ETHERTYPE_IPV6 = 0x86DD
UDP_HEADER = 17
BROADCAST = b"\xff" * 6
LLDP_GROUPS = (b"\x01\x80\xc2\x00\x00\x0e", b"\x01\x80\xc2\x00\x00\x03", b"\x01\x80\xc2\x00\x00\x00")
BPDU_GROUP = b"\x01\x80\xc2\x00\x00\x00"
BPDU_LLC = b"\x42\x42\x03"
PVST_GROUP = b"\x01\x00\x0c\xcc\xcc\xcd"  # Cisco's per-VLAN spanning tree
MIN_FRAME_BYTES = 60
MAX_PAYLOAD_BYTES = 1024
_MAC = re.compile(r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")


@dataclass(frozen=True, slots=True)
class Said:
    """What the sender of a payload says of itself."""

    node_id: str
    hostname: str
    netdev: str
    mac: str
    token: str = ""


def build_payload(said: Said) -> bytes:
    """The discovery payload, the same on every carrier."""
    body = {f: getattr(said, f) for f in ("node_id", "hostname", "netdev", "mac", "token")}
    return MAGIC + json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def parse_payload(data: bytes) -> Said | None:
    """A payload of ours; None for anything else. Strings from the wire are somebody else's: cleaned and bounded."""
    if not data.startswith(MAGIC):
        return None
    # Ethernet pads short frames with zeros.
    text = data[len(MAGIC) : len(MAGIC) + MAX_PAYLOAD_BYTES].rstrip(b"\0")
    try:
        body = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(body, dict):
        return None
    values = {name: body.get(name, "") for name in ("node_id", "hostname", "netdev", "mac", "token")}
    if not all(isinstance(value, str) for value in values.values()):
        return None
    said = Said(**{name: clean(value)[:128] for name, value in values.items()})
    return said if said.node_id and said.netdev and _MAC.match(said.mac.lower()) else None


def ethernet_frame(source: bytes, payload: bytes) -> bytes:
    """A broadcast frame of our EtherType."""
    return (BROADCAST + source + struct.pack("!H", ETHERTYPE) + payload).ljust(MIN_FRAME_BYTES, b"\0")


def multicast6_frame(source: bytes, group: bytes, port: int, payload: bytes) -> bytes:
    """A whole Ethernet frame with a UDP packet to an IPv6 link-local group (16 bytes), as the kernel would send it.

    The sender's address is made of its MAC (EUI-64): the interface need not have one.
    """
    sender = b"\xfe\x80" + bytes(6) + bytes([source[0] ^ 2]) + source[1:3] + b"\xff\xfe" + source[3:]
    length = 8 + len(payload)
    udp = struct.pack("!HHHH", port, port, length, 0)
    checksum = _internet_checksum(sender + group + struct.pack("!II", length, UDP_HEADER) + udp + payload)
    udp = struct.pack("!HHHH", port, port, length, checksum or 0xFFFF)
    head = struct.pack("!IHBB", 6 << 28, length, UDP_HEADER, 1)
    frame = (
        b"\x33\x33" + group[-4:] + source + struct.pack("!H", ETHERTYPE_IPV6) + head + sender + group + udp + payload
    )
    return frame.ljust(MIN_FRAME_BYTES, b"\0")


def _internet_checksum(data: bytes) -> int:
    """RFC 1071."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def split_frame(frame: bytes) -> tuple[bytes, bytes, int, bytes] | None:
    """(destination, source, EtherType or length, rest) of an Ethernet frame, without its VLAN tags."""
    if len(frame) < 14:
        return None
    destination, source = frame[:6], frame[6:12]
    position = 12
    (kind,) = struct.unpack_from("!H", frame, position)
    while kind in (0x8100, 0x88A8) and len(frame) >= position + 6:
        position += 4
        (kind,) = struct.unpack_from("!H", frame, position)
    return destination, source, kind, frame[position + 2 :]


def is_bpdu(frame: bytes) -> bool:
    """Whether the frame is spanning tree's: only a bridge sends it."""
    parts = split_frame(frame)
    if parts is None:
        return False
    destination, _, length, rest = parts
    return (destination == BPDU_GROUP and length <= 1500 and rest[:3] == BPDU_LLC) or destination == PVST_GROUP


def parse_lldp(frame: bytes, netdev: str) -> LldpNeighbour | None:
    """The neighbour that an LLDP frame (IEEE 802.1AB) names; None for other frames and damaged ones."""
    parts = split_frame(frame)
    if parts is None or parts[2] != ETHERTYPE_LLDP:
        return None
    found: dict[int, bytes] = {}
    rest = parts[3]
    while len(rest) >= 2:
        (head,) = struct.unpack_from("!H", rest)
        kind, length = head >> 9, head & 0x1FF
        if kind == 0 or len(rest) < 2 + length:
            break
        found.setdefault(kind, rest[2 : 2 + length])
        rest = rest[2 + length :]
    chassis, port = _lldp_id(found.get(1), mac_subtype=4), _lldp_id(found.get(2), mac_subtype=3)
    if chassis is None or port is None:
        return None
    return LldpNeighbour(netdev, chassis, port, _lldp_text(found.get(5)), _lldp_text(found.get(4)))


def _lldp_id(value: bytes | None, mac_subtype: int) -> str | None:
    """A chassis or port id: a subtype byte, then a MAC or a text."""
    if value is None or len(value) < 2:
        return None
    if value[0] == mac_subtype and len(value) == 7:
        return format_mac(value[1:])
    return _lldp_text(value[1:])


def _lldp_text(value: bytes | None) -> str | None:
    return clean(value.decode("utf-8", "replace"))[:128] or None if value else None


def format_mac(data: bytes) -> str:
    """Six bytes as `aa:bb:…`."""
    return ":".join(f"{byte:02x}" for byte in data)


def parse_mac(text: str) -> bytes:
    """`aa:bb:…` as six bytes. Raises ValueError."""
    data = bytes.fromhex(text.replace(":", ""))
    if len(data) != 6:
        raise ValueError(f"{text!r} is no Ethernet address")
    return data
