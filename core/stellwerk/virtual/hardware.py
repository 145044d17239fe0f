"""What is inside a simulated Spark: one ConnectX-7 with two ports of two halves each, a GB10, an RJ45, Wi-Fi.

Names, PCI addresses and figures are those of field reports about DGX Spark machines; nothing here is measured.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

PRODUCT_NAME = "NVIDIA DGX Spark (simulated)"
USER = "nvidia"

MANAGEMENT = "enP7s7"
WIFI = "wlP9s9"
DOCKER = "docker0"

LINK_SPEED_MBPS = 200_000
HOME_LAN = ipaddress.IPv4Network("192.168.178.0/24")
HOME_ROUTER = "192.168.178.1"
DESKTOP_ADDRESS = "192.168.178.2"  # what a node sees as the other end of an SSH session

CPU_COUNT = 20
MEMORY_TOTAL_KB = 127_535_084  # 121.6 GiB: what is left of 128 GB after the firmware's share
SWAP_TOTAL_KB = 16_777_212
DRIVER_VERSION = "580.126.09"
CUDA_VERSION = "13.0"
GPU_NAME = "NVIDIA GB10"
GPU_BUS = "0000000F:01:00.0"
KERNEL_RELEASE = "6.14.0-1013-nvidia"
FIRMWARE = "28.45.4028"
BOARD_ID = "NVD0000000087"


@dataclass(frozen=True, slots=True)
class HalfSpec:
    """One PCI function of the ConnectX-7: half of a port."""

    netdev: str
    rdma: str
    pci: str
    pci_root: str
    port: int
    label: str  # "A" on PCI domain 0, "B" its twin on domain 2
    index: int  # interface index
    mac: str

    @property
    def domain(self) -> str:
        """The PCI domain: both ports' halves on it share one x4 link."""
        return self.pci[:4]


# (netdev, rdma device, PCI function, PCI root bus, port, half)
_FUNCTIONS = (
    ("enp1s0f0np0", "rocep1s0f0", "0000:01:00.0", "pci0000:00/0000:00:00.0", 0, "A"),
    ("enp1s0f1np1", "rocep1s0f1", "0000:01:00.1", "pci0000:00/0000:00:00.0", 1, "A"),
    ("enP2p1s0f0np0", "roceP2p1s0f0", "0002:01:00.0", "pci0002:00/0002:00:00.0", 0, "B"),
    ("enP2p1s0f1np1", "roceP2p1s0f1", "0002:01:00.1", "pci0002:00/0002:00:00.0", 1, "B"),
)
FABRIC_NETDEVS = tuple(function[0] for function in _FUNCTIONS)
PORTS = (0, 1)


@dataclass(frozen=True, slots=True)
class Hardware:
    """One machine. `number` counts from 1 and makes MAC and LAN addresses differ."""

    number: int
    halves: tuple[HalfSpec, ...]
    management_mac: str
    wifi_mac: str
    docker_mac: str

    @property
    def name(self) -> str:
        return f"spark-{self.number}"

    @property
    def lan_address(self) -> str:
        """What the home LAN's DHCP server always hands out to this machine."""
        return str(HOME_LAN.network_address + 20 + self.number)

    def half(self, netdev: str) -> HalfSpec | None:
        """The half with that interface name."""
        return next((half for half in self.halves if half.netdev == netdev), None)

    def half_of_device(self, rdma: str) -> HalfSpec | None:
        """The half with that RDMA device name."""
        return next((half for half in self.halves if half.rdma == rdma), None)

    def port_halves(self, port: int) -> tuple[HalfSpec, ...]:
        """Both halves of a port, A first."""
        return tuple(half for half in self.halves if half.port == port)


def spark(number: int) -> Hardware:
    """The hardware of node `number` (1..250)."""
    if not 1 <= number <= 250:
        raise ValueError(f"node numbers run from 1 to 250, not {number}")
    halves = tuple(
        HalfSpec(netdev, rdma, pci, root, port, label, 3 + at, f"3c:6d:66:{number:02x}:b3:{0xB0 + at:02x}")
        for at, (netdev, rdma, pci, root, port, label) in enumerate(_FUNCTIONS)
    )
    return Hardware(
        number,
        halves,
        management_mac=f"3c:6d:66:{number:02x}:b3:a0",
        wifi_mac=f"50:bb:b5:{number:02x}:b3:a1",
        docker_mac=f"02:42:ac:{number:02x}:00:01",
    )


def link_local6(mac: str) -> str:
    """The IPv6 link-local address made from a MAC (EUI-64), without prefix length."""
    octets = bytes.fromhex(mac.replace(":", ""))
    identifier = bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:]
    return str(ipaddress.IPv6Address(b"\xfe\x80" + bytes(6) + identifier))
