"""The files of a stock Spark: /etc, /proc, /sys. What never changes while it runs, and the state of the network."""

from __future__ import annotations

import ipaddress
import shutil
from dataclasses import dataclass

from stellwerk.virtual import hardware
from stellwerk.virtual.hardware import HalfSpec, Hardware
from stellwerk.virtual.network import Interface, NodeNetwork
from stellwerk.virtual.tree import Tree

STOCK_NETPLAN = """\
# Let NetworkManager manage all devices on this system
network:
  version: 2
  renderer: NetworkManager
"""
_OS_RELEASE = """\
PRETTY_NAME="Ubuntu 24.04.3 LTS"
NAME="Ubuntu"
VERSION_ID="24.04"
VERSION="24.04.3 LTS (Noble Numbat)"
VERSION_CODENAME=noble
ID=ubuntu
ID_LIKE=debian
"""
_DGX_RELEASE = """\
DGX_NAME="DGX Spark"
DGX_PRETTY_NAME="NVIDIA DGX Spark"
DGX_SWBUILD_DATE="2025-09-10-13-50-03"
DGX_SWBUILD_VERSION="7.2.3"
DGX_COMMIT_ID="833b4a7"
DGX_PLATFORM="DGX Server for KVM"
DGX_SERIAL_NUMBER="SIMULATED"

DGX_OTA_VERSION="7.5.0"
DGX_OTA_DATE="Thu Jun 18 17:40:28 EDT 2026"
"""
# Ubuntu's own: loose reverse path filtering.
_NETWORK_SECURITY = "net.ipv4.conf.default.rp_filter=2\nnet.ipv4.conf.all.rp_filter=2\n"
_CPU_PARTS = ("0xd85",) * 10 + ("0xd87",) * 10  # ten Cortex-X925, ten Cortex-A725

STATISTICS = tuple(f"{way}_{what}" for what in ("bytes", "packets", "errors", "dropped") for way in ("rx", "tx"))
RDMA_COUNTERS = ("port_xmit_data", "port_rcv_data", "port_xmit_packets", "port_rcv_packets")
_RDMA_ERRORS = ("port_rcv_errors", "port_xmit_discards", "symbol_error", "link_downed", "local_link_integrity_errors")
_HW_COUNTERS = (
    "out_of_sequence packet_seq_err local_ack_timeout_err implied_nak_seq_err rnr_nak_retry_err duplicate_request "
    "out_of_buffer np_cnp_sent np_ecn_marked_roce_packets rp_cnp_handled rp_cnp_ignored roce_adp_retrans"
)
GID_ENTRIES = 8
NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"
CONF4 = {"arp_ignore": 0, "arp_announce": 0, "arp_filter": 0, "rp_filter": 2, "forwarding": 0, "accept_redirects": 1}
CONF6 = {"disable_ipv6": 0, "addr_gen_mode": 0, "accept_ra": 1}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a reinstallation changes."""

    machine_id: str
    host_public_key: str


def net_dir(interface: str) -> str:
    """The statistics and state of an interface, as /sys/class/net shows them."""
    return f"/sys/class/net/{interface}"


def write_installation(tree: Tree, machine: Hardware, identity: Identity) -> None:
    """All that the installer and the firmware leave: identity, /etc, hardware. Nothing is up yet."""
    name = machine.name
    tree.put("/etc/hostname", f"{name}\n")
    tree.put("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {name}\n")
    tree.put("/etc/machine-id", f"{identity.machine_id}\n", 0o444)
    tree.put("/etc/os-release", _OS_RELEASE)
    tree.put("/etc/dgx-release", _DGX_RELEASE)
    tree.put("/etc/fastos-release", 'NAME="DGX SPARK FASTOS"\nVERSION="1.91.51"\nBUILD_TYPE="customer"\n')
    tree.put("/etc/netplan/01-network-manager-all.yaml", STOCK_NETPLAN, 0o600)
    tree.put("/etc/sysctl.d/10-network-security.conf", _NETWORK_SECURITY)
    tree.put("/etc/ssh/ssh_host_ed25519_key.pub", identity.host_public_key)
    for path in ("/etc/systemd/system", "/var/lib", "/var/log", "/boot", "/run"):
        tree.directory(path)
    _write_board(tree)
    _write_devices(tree, machine)


def _write_board(tree: Tree) -> None:
    dmi = {
        "product_name": hardware.PRODUCT_NAME,
        "sys_vendor": "NVIDIA",
        "board_vendor": "NVIDIA",
        "board_name": "P4242",
    }
    for key, value in dmi.items():
        tree.put(f"/sys/class/dmi/id/{key}", f"{value}\n")
    cores = (
        f"processor\t: {at}\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: {part}\n\n"
        for at, part in enumerate(_CPU_PARTS)
    )
    tree.put("/proc/cpuinfo", "".join(cores))
    tree.put("/proc/version", f"Linux version {hardware.KERNEL_RELEASE} (simulated)\n")
    for key, value in {"ostype": "Linux", "osrelease": hardware.KERNEL_RELEASE, "arch": "aarch64"}.items():
        tree.put(f"/proc/sys/kernel/{key}", f"{value}\n")
    tree.put("/sys/devices/system/cpu/online", f"0-{hardware.CPU_COUNT - 1}\n")
    for at in range(2):
        tree.put(f"/sys/class/thermal/thermal_zone{at}/type", "acpitz\n")


def _write_devices(tree: Tree, machine: Hardware) -> None:
    gpu = "pci000f:00/000f:00:00.0/000f:01:00.0"
    _write_pci(tree, gpu, "0x10de", "0x2e12", "nvidia", width=1)
    tree.put(f"/sys/devices/{gpu}/class", "0x030200\n")
    for half in machine.halves:
        _write_half(tree, machine, half)
    _write_nic(tree, hardware.MANAGEMENT, 2, machine.management_mac, "0007:01:00.0", "0x10ec", "0x8127", "r8127")
    _write_nic(tree, hardware.WIFI, 7, machine.wifi_mac, "0009:01:00.0", "0x14c3", "0x7925", "mt7925e")
    tree.directory(net_dir(hardware.WIFI) + "/wireless")
    for name, index, mac, kind in (("lo", 1, "00:00:00:00:00:00", 772), (hardware.DOCKER, 8, machine.docker_mac, 1)):
        tree.link(net_dir(name), f"../../devices/virtual/net/{name}")
        _write_netdev(tree, f"/sys/devices/virtual/net/{name}", index, mac, kind)
    tree.directory(net_dir(hardware.DOCKER) + "/bridge")


def _write_nic(tree: Tree, name: str, index: int, mac: str, pci: str, vendor: str, device: str, driver: str) -> None:
    home = f"pci{pci[:7]}/{pci[:7]}:00.0/{pci}"
    _write_pci(tree, home, vendor, device, driver, width=1)
    tree.link(net_dir(name), f"../../devices/{home}/net/{name}")
    _write_netdev(tree, f"/sys/devices/{home}/net/{name}", index, mac, 1)
    tree.link(net_dir(name) + "/device", f"../../../{pci}")


def _write_pci(tree: Tree, home: str, vendor: str, device: str, driver: str, width: int) -> None:
    base = f"/sys/devices/{home}"
    pci = home.rpartition("/")[2]
    values = {
        "vendor": vendor,
        "device": device,
        "class": "0x020000",
        "current_link_speed": "32.0 GT/s PCIe",
        "max_link_speed": "32.0 GT/s PCIe",
        "current_link_width": str(width),
        "max_link_width": str(width),
    }
    for key, value in values.items():
        tree.put(f"{base}/{key}", f"{value}\n")
    tree.link(f"/sys/bus/pci/devices/{pci}", f"../../../devices/{home}")
    tree.directory(f"/sys/bus/pci/drivers/{driver}")
    tree.link(f"{base}/driver", f"{'../' * (home.count('/') + 2)}bus/pci/drivers/{driver}")


def _write_netdev(tree: Tree, base: str, index: int, mac: str, kind: int) -> None:
    for key, value in {"address": mac, "ifindex": index, "type": kind, "addr_len": 6, "tx_queue_len": 1000}.items():
        tree.put(f"{base}/{key}", f"{value}\n")
    for counter in (*STATISTICS, "multicast", "collisions"):
        tree.put(f"{base}/statistics/{counter}", "0\n")


def _write_half(tree: Tree, machine: Hardware, half: HalfSpec) -> None:
    home = f"{half.pci_root}/{half.pci}"
    _write_pci(tree, home, "0x15b3", "0x1021", "mlx5_core", width=4)
    base = f"/sys/devices/{home}"
    tree.link(net_dir(half.netdev), f"../../devices/{home}/net/{half.netdev}")
    _write_netdev(tree, f"{base}/net/{half.netdev}", half.index, half.mac, 1)
    tree.link(net_dir(half.netdev) + "/device", f"../../../{half.pci}")
    tree.put(net_dir(half.netdev) + "/phys_port_name", f"p{half.port}\n")
    tree.put(net_dir(half.netdev) + "/phys_switch_id", machine.halves[0].mac.replace(":", "") + "0000\n")
    tree.put(net_dir(half.netdev) + "/dev_port", "0\n")
    rdma = f"/sys/class/infiniband/{half.rdma}"
    tree.link(rdma, f"../../devices/{home}/infiniband/{half.rdma}")
    tree.directory(f"{base}/infiniband/{half.rdma}")
    tree.link(f"{rdma}/device", f"../../../{half.pci}")
    guid = half.mac.replace(":", "")
    guid = ":".join((guid[:4], guid[4:6] + "03", "00" + guid[6:8], guid[8:]))
    facts = {"fw_ver": hardware.FIRMWARE, "board_id": hardware.BOARD_ID, "hca_type": "MT4129", "node_guid": guid}
    for key, value in {**facts, "node_type": "1: CA", "sys_image_guid": guid}.items():
        tree.put(f"{rdma}/{key}", f"{value}\n")
    port = f"{rdma}/ports/1"
    tree.put(f"{port}/link_layer", "Ethernet\n")
    for counter in (*RDMA_COUNTERS, *_RDMA_ERRORS):
        tree.put(f"{port}/counters/{counter}", "0\n")
    for counter in _HW_COUNTERS.split():
        tree.put(f"{port}/hw_counters/{counter}", "0\n")


def write_boot(tree: Tree, machine: Hardware, boot_id: str) -> None:
    """What is fresh after every boot: /run is empty, sysctls are the kernel's and those of /etc/sysctl.d."""
    run = tree.path("/run")
    for entry in run.iterdir():
        shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
    tree.forget("/run")
    tree.directory("/run/systemd/system")
    tree.directory("/run/NetworkManager/system-connections")
    tree.forget("/proc/sys")
    tree.put("/proc/sys/kernel/random/boot_id", f"{boot_id}\n")
    tree.put("/proc/sys/kernel/hostname", f"{machine.name}\n")
    tree.put("/proc/sys/net/ipv4/ip_forward", "0\n")
    interfaces = ("all", "default", "lo", hardware.MANAGEMENT, *hardware.FABRIC_NETDEVS, hardware.WIFI, hardware.DOCKER)
    for interface in interfaces:
        for key, value in CONF4.items():
            tree.put(f"/proc/sys/net/ipv4/conf/{interface}/{key}", f"{value}\n")
        for key, value in CONF6.items():
            tree.put(f"/proc/sys/net/ipv6/conf/{interface}/{key}", f"{value}\n")
    apply_sysctl_files(tree)


def apply_sysctl_files(tree: Tree) -> None:
    """What systemd-sysctl does: every file of /etc/sysctl.d in order of its name."""
    for file in sorted(tree.path("/etc/sysctl.d").glob("*.conf")):
        for line in file.read_text("utf-8", "replace").splitlines():
            key, equals, value = line.partition("=")
            key = key.strip().lstrip("-")
            if not equals or key.startswith(("#", ";")):
                continue
            target = sysctl_path(key)
            if tree.path(target).exists():
                tree.forget(target)
                tree.put(target, f"{value.strip()}\n")


def sysctl_path(key: str) -> str:
    """`net.ipv4.ip_forward` or `net/ipv4/conf/eth0.1/rp_filter` as a path; the first separator decides."""
    slash, dot = key.find("/"), key.find(".")
    if slash != -1 and (dot == -1 or slash < dot):
        return f"/proc/sys/{key}"
    return "/proc/sys/" + key.translate(str.maketrans("./", "/."))


def write_network(tree: Tree, machine: Hardware, network: NodeNetwork, speeds: dict[str, int]) -> None:
    """The state of all interfaces and GID tables. `speeds` is the negotiated speed in Mb/s of those with carrier."""
    for interface in network.interfaces.values():
        _write_interface(tree, interface, speeds.get(interface.name))
        half = machine.half(interface.name)
        if half is not None:
            _write_rdma(tree, half, interface, speeds.get(interface.name))


def operstate(interface: Interface) -> str:
    """As in /sys/class/net/*/operstate."""
    if interface.kind == "loopback":
        return "unknown"
    return "up" if interface.running else "down"


def _write_interface(tree: Tree, interface: Interface, speed_mbps: int | None) -> None:
    base = net_dir(interface.name)
    flags = {"loopback": 0x8}.get(interface.kind, 0x1002) | (0x1 if interface.admin_up else 0)
    tree.put(f"{base}/mtu", f"{interface.mtu}\n")
    tree.put(f"{base}/operstate", f"{operstate(interface)}\n")
    tree.put(f"{base}/flags", f"0x{flags:x}\n")
    # The kernel refuses to tell the carrier of an interface that is down: an empty file is as near as one can get.
    tree.put(f"{base}/carrier", f"{int(interface.carrier)}\n" if interface.admin_up else "")
    if interface.kind != "loopback":
        speed = speed_mbps if interface.running and speed_mbps is not None else -1
        tree.put(f"{base}/speed", f"{speed}\n")
        tree.put(f"{base}/duplex", "full\n" if speed > 0 else "unknown\n")


def _write_rdma(tree: Tree, half: HalfSpec, interface: Interface, speed_mbps: int | None) -> None:
    port = f"/sys/class/infiniband/{half.rdma}/ports/1"
    tree.put(f"{port}/state", "4: ACTIVE\n" if interface.running else "1: DOWN\n")
    tree.put(f"{port}/phys_state", "5: LinkUp\n" if interface.running else "3: Disabled\n")
    rates = {200_000: "200 Gb/sec (4X HDR)", 100_000: "100 Gb/sec (4X EDR)"}
    tree.put(f"{port}/rate", rates.get(speed_mbps or 0, "40 Gb/sec (4X QDR)") + "\n")
    table = gid_table(interface)
    for index in range(GID_ENTRIES):
        gid, kind = table[index] if index < len(table) else (NO_GID, "")
        tree.put(f"{port}/gids/{index}", f"{gid}\n")
        # Reading the attributes of an empty entry fails on a real machine; here the files are empty.
        tree.put(f"{port}/gid_attrs/types/{index}", f"{kind}\n" if kind else "")
        tree.put(f"{port}/gid_attrs/ndevs/{index}", f"{half.netdev}\n" if kind else "")


def gid_table(interface: Interface) -> list[tuple[str, str]]:
    """(GID, type) by index: for every address one entry of each RoCE version.

    The default GID, made from the MAC, keeps the first two places whether the interface has that address or not.
    """
    if not interface.admin_up:
        return []
    addresses = [ipaddress.IPv6Address(hardware.link_local6(interface.mac))]
    addresses += [ipaddress.IPv6Address(f"::ffff:{entry.ip}") for entry in interface.addresses4]
    return [(address.exploded, kind) for address in addresses for kind in ("IB/RoCE v1", "RoCE v2")]
