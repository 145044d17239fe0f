"""What a node says about itself. Every value that could not be read is `None`, never 0."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Something that could not be read, and why; shown as "not available"."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class NetDevice:
    """One network interface as the kernel shows it in /sys/class/net."""

    name: str
    index: int | None = None
    mac: str | None = None
    permanent_mac: str | None = None
    mtu: int | None = None
    operstate: str | None = None  # up | down | unknown | ...
    admin_up: bool | None = None
    carrier: bool | None = None  # None while the interface is administratively down
    speed_mbps: int | None = None
    driver: str | None = None
    pci_address: str | None = None  # 0000:01:00.0
    pci_vendor: str | None = None  # 0x15b3
    pci_device: str | None = None
    pcie_speed_gts: float | None = None
    pcie_width: int | None = None
    pcie_max_speed_gts: float | None = None
    pcie_max_width: int | None = None
    phys_port_name: str | None = None  # p0, p1
    phys_switch_id: str | None = None
    addresses: tuple[str, ...] = ()  # CIDR, IPv4 and IPv6
    link_local6: str | None = None
    master: str | None = None  # bond or bridge it is part of
    kind: str = "ethernet"  # ethernet | wifi | bridge | bond | vlan | veth | tunnel | loopback | virtual | infiniband
    arp_ignore: int | None = None
    arp_announce: int | None = None
    rp_filter: int | None = None
    forwarding: int | None = None
    managed_by: str | None = None  # NetworkManager | systemd-networkd, None when nobody manages it


@dataclass(frozen=True, slots=True)
class Gid:
    """One entry of an RDMA device's GID table."""

    index: int
    gid: str  # eight groups of four hex digits
    kind: str  # "RoCE v1" | "RoCE v2" | "IB"
    netdev: str | None = None
    ipv4: str | None = None


@dataclass(frozen=True, slots=True)
class RdmaDevice:
    """One RDMA device (/sys/class/infiniband)."""

    name: str
    netdev: str | None = None
    state: str | None = None  # ACTIVE | DOWN | INIT ...
    physical_state: str | None = None  # LINK_UP | DISABLED ...
    firmware: str | None = None
    board: str | None = None
    pci_address: str | None = None
    rate_gbps: float | None = None
    active_mtu: int | None = None
    gids: tuple[Gid, ...] = ()


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. On GB10 total and used memory are not available: memory is unified."""

    name: str
    uuid: str | None = None
    pci_bus: str | None = None
    memory_total_mib: int | None = None
    driver: str | None = None
    cuda: str | None = None
    compute_capability: str | None = None


@dataclass(frozen=True, slots=True)
class Memory:
    """From /proc/meminfo, in kB as the kernel prints it."""

    total_kb: int | None = None
    available_kb: int | None = None
    swap_total_kb: int | None = None
    swap_free_kb: int | None = None
    cma_total_kb: int | None = None
    cma_free_kb: int | None = None


@dataclass(frozen=True, slots=True)
class DgxRelease:
    """/etc/dgx-release, without the serial number."""

    name: str | None = None
    pretty_name: str | None = None
    platform: str | None = None
    swbuild_version: str | None = None
    ota_version: str | None = None  # the last one in the file wins


@dataclass(frozen=True, slots=True)
class Route:
    """One IPv4 route of the main table."""

    destination: str  # CIDR or "default"
    device: str
    via: str | None = None
    source: str | None = None
    metric: int | None = None
    protocol: str | None = None
    scope: str | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One entry of the neighbour (ARP/ND) table."""

    address: str
    device: str
    mac: str | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class NetplanFile:
    """A file under /etc/netplan as it is. `text` is None when it cannot be read without root."""

    path: str
    mode: int
    text: str | None = None
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Sudo:
    """How root can be had: root | nopasswd | password | none | unknown."""

    state: str
    why: str | None = None
    unlocked: bool = False  # the daemon holds a password that sudo accepted


@dataclass(frozen=True, slots=True)
class SessionRoute:
    """The SSH session's own path: what must not be cut while a plan is applied."""

    client_address: str | None = None
    server_address: str | None = None
    device: str | None = None


# Files outside /etc/netplan that a network plan of ours writes; readable without root.
OWN_FILES = ("/etc/sysctl.d/60-stellwerk.conf", "/etc/systemd/system/stellwerk-fabric.service")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """All that the agent reads of a node in one call."""

    node_id: str  # stable across reboots, from the machine id, not the machine id itself
    boot_id: str
    hostname: str
    user: str
    uid: int
    gid: int
    home: str
    product: str | None = None
    dgx: DgxRelease | None = None
    fastos_version: str | None = None
    os_name: str | None = None
    kernel: str | None = None
    architecture: str | None = None
    cpu_model: str | None = None
    cpu_count: int | None = None
    python: str | None = None
    wall_time_s: float | None = None  # the node's clock when the facts were read, seconds since the epoch
    uptime_s: float | None = None
    memory: Memory = field(default_factory=Memory)
    gpus: tuple[Gpu, ...] = ()
    gpu_note: str | None = None  # why there is no GPU entry, in words
    netdevs: tuple[NetDevice, ...] = ()
    rdma: tuple[RdmaDevice, ...] = ()
    rdma_note: str | None = None
    routes: tuple[Route, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    netplan: tuple[NetplanFile, ...] = ()
    own_files: dict[str, str] = field(default_factory=dict)  # path -> text of OWN_FILES that exist
    network_owner: str | None = None  # NetworkManager | systemd-networkd | none
    tools: dict[str, str | None] = field(default_factory=dict)  # command -> path, None when it is missing
    sudo: Sudo = field(default_factory=lambda: Sudo("unknown"))
    sysctls: dict[str, str] = field(default_factory=dict)
    session: SessionRoute = field(default_factory=SessionRoute)
    disk_free_bytes: int | None = None
    unavailable: tuple[Unavailable, ...] = ()
