"""A small file tree that looks like a DGX Spark to the agent's probes. Values are re-typed from field reports."""

from __future__ import annotations

from pathlib import Path

HALVES = {
    "enp1s0f0np0": ("rocep1s0f0", "0000:01:00.0", "p0", "3c:6d:66:cc:b3:b6"),
    "enp1s0f1np1": ("rocep1s0f1", "0000:01:00.1", "p1", "3c:6d:66:cc:b3:b7"),
    "enP2p1s0f0np0": ("roceP2p1s0f0", "0002:01:00.0", "p0", "3c:6d:66:cc:b3:ba"),
    "enP2p1s0f1np1": ("roceP2p1s0f1", "0002:01:00.1", "p1", "3c:6d:66:cc:b3:bb"),
}
ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"

DGX_RELEASE = """\
DGX_NAME="DGX Spark"
DGX_PRETTY_NAME="NVIDIA DGX Spark"
DGX_SWBUILD_VERSION="7.2.3"
DGX_PLATFORM="DGX Server for KVM"
DGX_SERIAL_NUMBER="SECRET0001"

DGX_OTA_VERSION="7.4.0"
DGX_OTA_VERSION="7.5.0"
DGX_OTA_DATE="mer. 16 sept. 2026 17:08:05 CEST"
"""

MEMINFO = """\
MemTotal:       127535084 kB
MemFree:         1000000 kB
MemAvailable:    14386092 kB
SwapTotal:       33554428 kB
SwapFree:        33554428 kB
CmaTotal:          131072 kB
CmaFree:            69320 kB
"""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def link(path: Path, target: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def build(root: Path) -> Path:
    """Write the whole tree below `root` and give it back."""
    write(root / "etc/machine-id", "0123456789abcdef0123456789abcdef\n")
    write(root / "proc/sys/kernel/hostname", "spark-1\n")
    write(root / "proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n")
    write(root / "proc/sys/kernel/osrelease", "6.17.0-1014-nvidia\n")
    write(root / "proc/sys/kernel/arch", "aarch64\n")
    write(root / "proc/uptime", "1234.50 20000.00\n")
    write(root / "proc/loadavg", "0.52 0.40 0.30 1/900 4242\n")
    write(root / "proc/stat", "cpu  100 0 50 800 20 0 5 0 0 0\ncpu0 100 0 50 800 20 0 5 0 0 0\n")
    write(root / "proc/meminfo", MEMINFO)
    parts = "".join(f"processor\t: {i}\nCPU part\t: {'0xd87' if i < 10 else '0xd85'}\n\n" for i in range(20))
    write(root / "proc/cpuinfo", parts)
    write(root / "sys/class/dmi/id/product_name", "NVIDIA_DGX_Spark\n")
    write(root / "etc/dgx-release", DGX_RELEASE)
    write(root / "etc/fastos-release", 'NAME="DGX SPARK FASTOS"\nVERSION="1.91.51"\n')
    write(root / "etc/os-release", 'PRETTY_NAME="Ubuntu 24.04.3 LTS"\nID=ubuntu\n')
    write(root / "etc/netplan/40-cx7.yaml", "network:\n  version: 2\n")
    write(root / "sys/class/thermal/thermal_zone0/type", "acpitz\n")
    write(root / "sys/class/thermal/thermal_zone0/temp", "47500\n")
    for number, name in enumerate(HALVES):
        _half(root, number + 4, name)
    _netdev(root, 2, "enP7s7", "48:b0:2d:00:00:01", "10000")
    link(root / "sys/class/net/enP7s7/device", "../../../0007:01:00.0")
    write(root / "sys/class/net/lo/ifindex", "1\n")
    write(root / "sys/class/net/lo/type", "772\n")
    write(root / "sys/class/net/bonding_masters", "\n")
    return root


def _half(root: Path, index: int, name: str) -> None:
    device, pci, port, mac = HALVES[name]
    _netdev(root, index, name, mac, "200000")
    base = root / "sys/class/net" / name
    pci_dir = root / "sys/devices" / pci
    write(base / "phys_port_name", f"{port}\n")
    write(base / "phys_switch_id", "\n")
    write(pci_dir / "vendor", "0x15b3\n")
    write(pci_dir / "device", "0x1021\n")
    write(pci_dir / "current_link_speed", "32.0 GT/s PCIe\n")
    write(pci_dir / "current_link_width", "4\n")
    write(pci_dir / "max_link_speed", "32.0 GT/s PCIe\n")
    write(pci_dir / "max_link_width", "16\n")
    link(pci_dir / "driver", "../../bus/pci/drivers/mlx5_core")
    (pci_dir / "net" / name).mkdir(parents=True)
    link(base / "device", f"../../../devices/{pci}")
    rdma = root / "sys/class/infiniband" / device
    link(rdma / "device", f"../../../devices/{pci}")
    write(rdma / "fw_ver", "28.45.4028\n")
    write(rdma / "board_id", "NVD0000000087\n")
    write(rdma / "ports/1/state", "4: ACTIVE\n")
    write(rdma / "ports/1/phys_state", "5: LinkUp\n")
    write(rdma / "ports/1/rate", "200 Gb/sec (4X HDR)\n")
    gids = [
        ("fe80:0000:0000:0000:3e6d:66ff:fecc:b3b7", "IB/RoCE v1"),
        ("fe80:0000:0000:0000:3e6d:66ff:fecc:b3b7", "RoCE v2"),
        ("0000:0000:0000:0000:0000:ffff:c0a8:640a", "IB/RoCE v1"),
        ("0000:0000:0000:0000:0000:ffff:c0a8:640a", "RoCE v2"),
        (ZERO_GID, ""),
    ]
    for number, (gid, kind) in enumerate(gids):
        write(rdma / f"ports/1/gids/{number}", f"{gid}\n")
        if kind:
            write(rdma / f"ports/1/gid_attrs/types/{number}", f"{kind}\n")
            write(rdma / f"ports/1/gid_attrs/ndevs/{number}", f"{name}\n")
    for counter, value in (
        ("port_xmit_data", 1000),
        ("port_rcv_data", 2000),
        ("port_xmit_packets", 10),
        ("port_rcv_packets", 20),
    ):
        write(rdma / f"ports/1/counters/{counter}", f"{value}\n")
    for counter in ("packet_seq_err", "out_of_sequence", "np_cnp_sent", "rp_cnp_handled"):
        write(rdma / f"ports/1/hw_counters/{counter}", "3\n")


def _netdev(root: Path, index: int, name: str, mac: str, speed: str) -> None:
    base = root / "sys/class/net" / name
    values = {
        "ifindex": index, "iflink": index, "address": mac, "mtu": 9000, "operstate": "up", "flags": "0x1003",
        "carrier": 1, "speed": speed, "type": 1, "uevent": f"INTERFACE={name}\nIFINDEX={index}",
    }  # fmt: skip
    for entry, value in values.items():
        write(base / entry, f"{value}\n")
    for counter in (
        "rx_bytes",
        "tx_bytes",
        "rx_packets",
        "tx_packets",
        "rx_errors",
        "tx_errors",
        "rx_dropped",
        "tx_dropped",
    ):
        write(base / "statistics" / counter, "7\n")
    for name_, value in (("arp_ignore", 1), ("arp_announce", 2), ("rp_filter", 2), ("forwarding", 0)):
        write(root / f"proc/sys/net/ipv4/conf/{name}/{name_}", f"{value}\n")
