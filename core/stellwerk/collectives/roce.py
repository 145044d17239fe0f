"""Which RDMA devices and GIDs a rank has, and by which of them each peer is reached.

Read from sysfs every time, because the index of a GID moves when addresses come and go. Two ranks reach each other
where both have an address in the same subnet: one subnet per half of a port, and on rings one per cable. Every rank
makes the routes of all ranks from what all have said, so both ends of a pair number their rails alike.
"""

from __future__ import annotations

import errno
import fcntl
import ipaddress
import socket
import struct
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface
from pathlib import Path

PORT = 1
RAILS_MAX = 4
SIOCGIFADDR, SIOCGIFNETMASK = 0x8915, 0x891B

PrefixOf = Callable[[str, str], int]


class NoRail(Exception):
    """A rank has no usable RDMA device, or two ranks have none in common; the text says why."""


@dataclass(frozen=True, slots=True)
class Rail:
    """One way into the fabric: an RDMA device (a half of a port) and one of its RoCE v2 GIDs."""

    device: str
    gid_index: int
    address: IPv4Interface

    def __str__(self) -> str:
        return f"{self.device} {self.address}"

    def to_json(self) -> list[str | int]:
        """For the other ranks."""
        return [self.device, self.gid_index, str(self.address)]

    @classmethod
    def from_json(cls, data: Sequence[str | int]) -> Rail:
        """What `to_json` gave."""
        device, index, address = data
        return cls(str(device), int(index), IPv4Interface(str(address)))


@dataclass(frozen=True, slots=True)
class Routes:
    """How one rank reaches the others: the rails that it opens, and per peer which of them, in the order of the pair.

    A peer without any is not reached. All peers that are reached have `rails` of them.
    """

    ports: tuple[Rail, ...]
    by_peer: tuple[tuple[int, ...], ...]
    rails: int


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""  # empty GID slots cannot be read


def prefix_of(interface: str, address: str) -> int:
    """The length of the prefix of an address of an interface. OSError if it is not there."""
    packed = IPv4Address(address).packed
    request = struct.pack("16sHH4s8x", interface.encode()[:15], socket.AF_INET, 0, packed)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        # The kernel answers for the address in the request if the interface has it, else for its first one.
        if fcntl.ioctl(sock, SIOCGIFADDR, request)[20:24] != packed:
            raise OSError(errno.EADDRNOTAVAIL, f"{interface} has no address {address}")
        answer = fcntl.ioctl(sock, SIOCGIFNETMASK, request)
    return int.from_bytes(answer[20:24], "big").bit_count()


def _rails_of(folder: Path, prefix: PrefixOf) -> list[Rail] | str:
    """All rails of a device, one per IPv4 address, or why there is none."""
    port = folder / "ports" / str(PORT)
    if not _read(port / "state").endswith("ACTIVE"):
        return f"{folder.name} is not active"
    found = []
    for entry in sorted((port / "gids").glob("*"), key=lambda path: int(path.name) if path.name.isdigit() else 0):
        if _read(port / "gid_attrs" / "types" / entry.name) != "RoCE v2":
            continue
        try:
            mapped = ipaddress.IPv6Address(_read(entry)).ipv4_mapped
            length = prefix(_read(port / "gid_attrs" / "ndevs" / entry.name), str(mapped)) if mapped else 0
        except (ValueError, OSError):  # no GID any more, or its address has just gone
            continue
        if mapped is not None:
            found.append(Rail(folder.name, int(entry.name), IPv4Interface((mapped, length))))
    return found or f"{folder.name} has no RoCE v2 GID with an IPv4 address"


def find_rails(
    names: Sequence[str], addresses: Collection[str], root: Path = Path("/sys"), prefix: PrefixOf = prefix_of
) -> list[Rail]:
    """The rails of the named devices, or of those that have one of this rank's own addresses.

    NoRail says what is missing.
    """
    base = root / "class" / "infiniband"
    folders = {path.name: path for path in base.iterdir()} if base.is_dir() else {}
    if not folders:
        raise NoRail("there is no RDMA device")
    missing = [name for name in names if name not in folders]
    if missing:
        raise NoRail(f"RDMA device {missing[0]} not found; there are {', '.join(sorted(folders))}")
    found: list[Rail] = []
    reasons = []
    for name in names or sorted(folders):
        rails = _rails_of(folders[name], prefix)
        if isinstance(rails, str):
            reasons.append(rails)
        else:
            found += [rail for rail in rails if names or str(rail.address.ip) in addresses]
    if names and reasons:
        raise NoRail(reasons[0])
    if not found:
        own = " or ".join(sorted(address for address in addresses if address)) or "(none)"
        raise NoRail("; ".join([f"no RDMA device has the address {own}", *reasons]))
    return found


def neighbours(rank: int, ranks: int, ring: bool) -> set[int]:
    """The ranks that a rank must reach directly: on a ring of four or more the next ones only."""
    if ring:
        return {(rank - 1) % ranks, (rank + 1) % ranks} - {rank}
    return set(range(ranks)) - {rank}


def _by_subnet(rails: Sequence[Rail]) -> dict[ipaddress.IPv4Network, list[int]]:
    found: dict[ipaddress.IPv4Network, list[int]] = defaultdict(list)
    for index in sorted(range(len(rails)), key=lambda index: (rails[index].address, rails[index].device)):
        if rails[index].address.ip != IPv4Address(0):
            found[rails[index].address.network].append(index)
    return found


def shared(mine: Sequence[Rail], theirs: Sequence[Rail]) -> list[tuple[int, int]]:
    """The pairs of rails of two ranks that lie in one subnet, in an order that both ranks agree on."""
    own, others = _by_subnet(mine), _by_subnet(theirs)
    pairs = []
    for network in sorted(own.keys() & others.keys()):
        pairs += list(zip(own[network], others[network], strict=False))
    return pairs


def find_routes(rank: int, everybody: Sequence[Sequence[Rail]], hosts: Sequence[str], ring: bool) -> Routes:
    """The routes of one rank. NoRail, alike on all ranks, names the first pair without a common subnet."""
    ranks = len(everybody)
    fewest = RAILS_MAX
    for one in range(ranks):
        for other in sorted(neighbours(one, ranks, ring)):
            pairs = shared(everybody[one], everybody[other])
            if not pairs:
                ends = " and ".join(
                    f"rank {r} ({hosts[r]}: {', '.join(str(rail) for rail in everybody[r])})" for r in (one, other)
                )
                raise NoRail(f"{ends} have no RDMA devices in a common subnet")
            fewest = min(fewest, len(pairs))
    used: list[int] = []
    by_peer = []
    for peer in range(ranks):
        near = peer in neighbours(rank, ranks, ring)
        chosen = [own for own, _ in shared(everybody[rank], everybody[peer])[:fewest]] if near else []
        used += [own for own in chosen if own not in used]
        by_peer.append(tuple(used.index(own) for own in chosen))
    return Routes(tuple(everybody[rank][own] for own in used), tuple(by_peer), fewest if used else 1)
