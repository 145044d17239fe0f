"""RDMA devices from /sys/class/infiniband, with their GID tables."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping

from stellwerk.model.facts import Gid, RdmaDevice
from stellwerk.model.text import say
from stellwerk_agent import commands
from stellwerk_agent.probes.net import PCI_ADDRESS
from stellwerk_agent.reading import Reader

MAX_DEVICES = 64
MAX_GIDS = 256
MELLANOX = "0x15b3"

# enum ib_port_phys_state as `rdma link` prints it.
_PHYSICAL = {
    1: "SLEEP",
    2: "POLLING",
    3: "DISABLED",
    4: "PORT_CONFIGURATION_TRAINING",
    5: "LINK_UP",
    6: "LINK_ERROR_RECOVERY",
    7: "PHYS_TEST",
}

_IBDEV2NETDEV = re.compile(r"^(\S+) port (\d+) ==> (\S+) \((Up|Down)\)\s*$", re.MULTILINE)
_RDMA_LINK = re.compile(r"^link (\S+)/(\d+) state (\S+) physical_state (\S+)(?: netdev (\S+))?", re.MULTILINE)
_DEVINFO_ID = re.compile(r"^\s*hca_id:\s*(\S+)")
_DEVINFO_MTU = re.compile(r"^\s*active_mtu:\s*(\d+)")


def read_rdma(reader: Reader, netdev_hints: Mapping[str, str]) -> tuple[RdmaDevice, ...]:
    """All RDMA devices, port 1 (RoCE adapters have one port per device).

    `netdev_hints` (device -> interface) serves where sysfs does not tell.
    """
    return tuple(
        _read_device(reader, name, netdev_hints.get(name))
        for name in reader.names("/sys/class/infiniband")[:MAX_DEVICES]
    )


def _read_device(reader: Reader, name: str, hint: str | None) -> RdmaDevice:
    base = f"/sys/class/infiniband/{name}"
    port = f"{base}/ports/1"
    pci = reader.link_name(f"{base}/device")
    gids = read_gids(reader, port)
    return RdmaDevice(
        name=name,
        netdev=_netdev(reader, base, gids) or hint,
        state=_after_number(reader.text(f"{port}/state")),
        physical_state=parse_physical_state(reader.text(f"{port}/phys_state")),
        firmware=reader.text(f"{base}/fw_ver"),
        board=reader.text(f"{base}/board_id"),
        pci_address=pci if pci and PCI_ADDRESS.match(pci) else None,
        rate_gbps=parse_rate(reader.text(f"{port}/rate")),
        gids=gids,
    )


def _netdev(reader: Reader, base: str, gids: tuple[Gid, ...]) -> str | None:
    by_gid = next((gid.netdev for gid in gids if gid.netdev), None)
    names = reader.names(f"{base}/device/net")
    # A device with several interfaces behind it (SR-IOV representors): the GID table knows which is its own.
    return (
        by_gid
        if by_gid is not None
        else names[0]
        if len(names) == 1
        else reader.text(f"{base}/ports/1/gid_attrs/ndevs/0")
    )


def read_gids(reader: Reader, port: str) -> tuple[Gid, ...]:
    """The used entries of a port's GID table. Unused ones are all zeros, and their attributes cannot be read."""
    found: list[Gid] = []
    indices = sorted(int(name) for name in reader.names(f"{port}/gids") if name.isdecimal())
    for index in indices[:MAX_GIDS]:
        text = reader.text(f"{port}/gids/{index}")
        if text is None or not text.strip("0:"):
            continue
        found.append(
            Gid(
                index=index,
                gid=text,
                kind=parse_gid_type(reader.text(f"{port}/gid_attrs/types/{index}")),
                netdev=reader.text(f"{port}/gid_attrs/ndevs/{index}"),
                ipv4=gid_ipv4(text),
            )
        )
    return tuple(found)


def parse_gid_type(text: str | None) -> str:
    """`IB/RoCE v1` and `RoCE v2` as the kernel writes them; without RoCE it is InfiniBand."""
    if text is None:
        return "unknown"
    return "RoCE v2" if "v2" in text else "RoCE v1" if "v1" in text else "IB"


def gid_ipv4(gid: str) -> str | None:
    """The IPv4 address that a GID carries, if it carries one."""
    try:
        mapped = ipaddress.IPv6Address(gid).ipv4_mapped
    except ValueError:
        return None
    return str(mapped) if mapped is not None else None


def _after_number(text: str | None) -> str | None:
    """`4: ACTIVE` as ACTIVE."""
    return text.split(":", 1)[-1].strip() if text else None


def parse_physical_state(text: str | None) -> str | None:
    """`5: LinkUp` as LINK_UP, the way `rdma link` writes it."""
    if not text:
        return None
    number = text.split(":", 1)[0].strip()
    known = _PHYSICAL.get(int(number)) if number.isdecimal() else None
    return known or _after_number(text)


def parse_rate(text: str | None) -> float | None:
    """`200 Gb/sec (4X HDR)` as 200.0."""
    match = re.match(r"^(\d+(?:\.\d+)?) Gb/sec", text or "")
    return float(match[1]) if match else None


def parse_ibdev2netdev(text: str) -> dict[str, str]:
    """Device -> interface of `ibdev2netdev`. Its "port 1" is the RDMA port, not the cage."""
    return {match[1]: match[3] for match in _IBDEV2NETDEV.finditer(text)}


def parse_rdma_link(text: str) -> dict[str, str]:
    """Device -> interface of `rdma link show`."""
    return {match[1]: match[5] for match in _RDMA_LINK.finditer(text) if match[5]}


def parse_devinfo_mtu(text: str) -> dict[str, int]:
    """Device -> active RDMA MTU in bytes, of `ibv_devinfo`."""
    found: dict[str, int] = {}
    device = None
    for line in text.splitlines():
        if match := _DEVINFO_ID.match(line):
            device = match[1]
        elif device is not None and (match := _DEVINFO_MTU.match(line)):
            found.setdefault(device, int(match[1]))
    return found


async def netdev_hints() -> dict[str, str]:
    """Device -> interface by the tools, for kernels whose sysfs does not tell; empty when no tool is there."""
    for argv, parse in ((["rdma", "link", "show"], parse_rdma_link), (["ibdev2netdev"], parse_ibdev2netdev)):
        if commands.find(argv[0]):
            result = await commands.run(argv)
            if result.ok and (found := parse(result.out)):
                return found
    return {}


async def active_mtus() -> dict[str, int]:
    """Device -> active RDMA MTU; empty where `ibv_devinfo` is not installed."""
    if not commands.find("ibv_devinfo"):
        return {}
    result = await commands.run(["ibv_devinfo"])
    return parse_devinfo_mtu(result.out) if result.ok else {}


def why_no_rdma(reader: Reader) -> str:
    """In words: is there no adapter, or does its driver miss?"""
    for name in reader.names("/sys/bus/pci/devices"):
        vendor = reader.text(f"/sys/bus/pci/devices/{name}/vendor")
        kind = reader.text(f"/sys/bus/pci/devices/{name}/class") or ""
        if vendor == MELLANOX and kind.startswith("0x02"):
            return say("a ConnectX adapter is on the PCI bus, but it has no RDMA device: is the driver mlx5_ib loaded?")
    return say("no ConnectX and no other RDMA adapter in this machine")
