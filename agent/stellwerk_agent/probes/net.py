"""Network interfaces from /sys/class/net, what `ip -j` says about them, and who owns their configuration."""

from __future__ import annotations

import ipaddress
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from stellwerk.model.facts import Neighbour, NetDevice, NetplanFile, Route, SessionRoute
from stellwerk_agent import commands
from stellwerk_agent.reading import Reader, clean, clean_text

MAX_DEVICES = 256
MAX_ROUTES = 1024
MAX_NEIGHBOURS = 2048
MAX_NETPLAN_FILES = 64
MAX_NETPLAN_BYTES = 256 * 1024

PCI_ADDRESS = re.compile(r"^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$", re.IGNORECASE)
NETPLAN_DIRS = ("/lib/netplan", "/etc/netplan", "/run/netplan")

# Values of `type` (include/uapi/linux/if_arp.h) that say what an interface is.
_LINK_TYPES = {
    "32": "infiniband",
    "772": "loopback",
    "768": "tunnel",
    "769": "tunnel",
    "776": "tunnel",
    "778": "tunnel",
}
_DEVTYPES = {
    "wlan": "wifi",
    "bridge": "bridge",
    "bond": "bond",
    "vlan": "vlan",
    "vxlan": "tunnel",
    "wireguard": "tunnel",
}


def read_netdevs(reader: Reader) -> list[NetDevice]:
    """All interfaces as sysfs shows them; addresses are added by `with_addresses`."""
    return [
        _read_netdev(reader, name) for name in reader.names("/sys/class/net")[:MAX_DEVICES] if _is_device(reader, name)
    ]


def _is_device(reader: Reader, name: str) -> bool:
    return reader.exists(f"/sys/class/net/{name}/ifindex")  # /sys/class/net/bonding_masters is a file


def _read_netdev(reader: Reader, name: str) -> NetDevice:
    base = f"/sys/class/net/{name}"
    flags = reader.number(f"{base}/flags")
    carrier = reader.number(f"{base}/carrier")
    speed = reader.number(f"{base}/speed")
    pci = read_pci(reader, f"{base}/device")
    conf = f"/proc/sys/net/ipv4/conf/{name}"
    return NetDevice(
        name=clean(name),
        index=reader.number(f"{base}/ifindex"),
        mac=_mac(reader.text(f"{base}/address")),
        mtu=reader.number(f"{base}/mtu"),
        operstate=reader.text(f"{base}/operstate"),
        admin_up=None if flags is None else bool(flags & 1),
        carrier=None if carrier is None else bool(carrier),
        speed_mbps=speed if speed is not None and speed > 0 else None,  # -1: the kernel does not know
        driver=reader.link_name(f"{base}/device/driver"),
        phys_port_name=reader.text(f"{base}/phys_port_name"),
        phys_switch_id=reader.text(f"{base}/phys_switch_id"),
        master=reader.link_name(f"{base}/master"),
        kind=_kind(reader, base),
        arp_ignore=reader.number(f"{conf}/arp_ignore"),
        arp_announce=reader.number(f"{conf}/arp_announce"),
        rp_filter=reader.number(f"{conf}/rp_filter"),
        forwarding=reader.number(f"{conf}/forwarding"),
        **pci,
    )


def read_pci(reader: Reader, device: str) -> dict[str, Any]:
    """PCI identity and link of the device behind a `device` link, as fields of `NetDevice`."""
    name = reader.link_name(device)
    if name is None or not PCI_ADDRESS.match(name):
        return {}
    return {
        "pci_address": name,
        "pci_vendor": reader.text(f"{device}/vendor"),
        "pci_device": reader.text(f"{device}/device"),
        "pcie_speed_gts": parse_gts(reader.text(f"{device}/current_link_speed")),
        "pcie_width": _positive(reader.number(f"{device}/current_link_width")),
        "pcie_max_speed_gts": parse_gts(reader.text(f"{device}/max_link_speed")),
        "pcie_max_width": _positive(reader.number(f"{device}/max_link_width")),
    }


def parse_gts(text: str | None) -> float | None:
    """`32.0 GT/s PCIe` as 32.0; `Unknown` is None."""
    match = re.match(r"^(\d+(?:\.\d+)?) ?GT/s", text or "")
    return float(match[1]) if match else None


def parse_ethtool_speed(text: str) -> int | None:
    """Mb/s out of `Speed: 200000Mb/s`; `Unknown!` is None."""
    match = re.search(r"^\s*Speed:\s*(\d+)Mb/s", text, re.MULTILINE)
    return int(match[1]) if match else None


def _positive(number: int | None) -> int | None:
    return number if number is not None and 0 < number < 255 else None  # 0 and 255: no link


def _mac(text: str | None) -> str | None:
    return text.lower() if text and re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5,19}", text) else None


def _kind(reader: Reader, base: str) -> str:
    kind = _LINK_TYPES.get(reader.text(f"{base}/type") or "")
    if kind is not None:
        return kind
    uevent = reader.text(f"{base}/uevent") or ""  # its lines joined by blanks
    devtype = re.search(r"(?:^|\s)DEVTYPE=(\S+)", uevent)
    if devtype and devtype[1] in _DEVTYPES:
        return _DEVTYPES[devtype[1]]
    for entry, found in (
        ("wireless", "wifi"),
        ("phy80211", "wifi"),
        ("bridge", "bridge"),
        ("bonding", "bond"),
        ("tun_flags", "tunnel"),
    ):
        if reader.exists(f"{base}/{entry}"):
            return found
    if reader.exists(f"{base}/device"):
        return "ethernet"
    index, link = reader.number(f"{base}/ifindex"), reader.number(f"{base}/iflink")
    return "veth" if index is not None and link is not None and index != link else "virtual"


async def ip_json(reader: Reader, what: str, *words: str) -> list[dict[str, Any]]:
    """The objects that `ip -j WORDS` prints; none, and a note, when it fails or prints no JSON."""
    result = await commands.run(["ip", "-j", *words])
    if not result.ok:
        reader.note(what, result.complaint())
        return []
    try:
        value = json.loads(result.out or "[]")
    except ValueError:
        reader.note(what, f"ip -j {' '.join(words)} printed no JSON")
        return []
    return [item for item in value if isinstance(item, dict) and item] if isinstance(value, list) else []


def with_addresses(devices: Sequence[NetDevice], links: Iterable[Mapping[str, Any]]) -> list[NetDevice]:
    """The devices with what `ip -j addr` knows beyond sysfs: addresses and the permanent MAC."""
    by_name = {str(link.get("ifname")): link for link in links}
    return [_with_address(device, by_name.get(device.name, {})) for device in devices]


def _with_address(device: NetDevice, link: Mapping[str, Any]) -> NetDevice:
    found: list[str] = []
    for info in _objects(link.get("addr_info")):
        try:
            found.append(ipaddress.ip_interface(f"{info.get('local')}/{info.get('prefixlen')}").with_prefixlen)
        except ValueError:
            continue
    link_local = next((a.split("/")[0] for a in found if a.lower().startswith("fe80:")), None)
    permanent = link.get("permaddr")
    return replace(
        device,
        addresses=tuple(found[:64]),
        link_local6=link_local,
        permanent_mac=_mac(permanent) if isinstance(permanent, str) else device.permanent_mac,
    )


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def parse_routes(items: Iterable[Mapping[str, Any]]) -> tuple[Route, ...]:
    """Routes of `ip -j -4 route`. A single host comes without prefix length and gets /32."""
    routes: list[Route] = []
    for item in items:
        destination, device = item.get("dst"), item.get("dev")
        if not isinstance(destination, str) or not isinstance(device, str):
            continue  # blackhole and multipath routes have no device of their own
        if destination != "default":
            try:
                destination = str(ipaddress.ip_network(destination, strict=False))
            except ValueError:
                continue
        metric = item.get("metric")
        routes.append(
            Route(
                destination=destination,
                device=clean(device),
                via=_word(item.get("gateway")),
                source=_word(item.get("prefsrc")),
                metric=metric if isinstance(metric, int) else None,
                protocol=_word(item.get("protocol")),
                scope=_word(item.get("scope")),
            )
        )
    return tuple(routes[:MAX_ROUTES])


def parse_neighbours(items: Iterable[Mapping[str, Any]], device: str | None = None) -> tuple[Neighbour, ...]:
    """Entries of `ip -j neigh`. iproute2 6.1 leaves `dev` out when it was asked for one device: then it is `device`."""
    found: list[Neighbour] = []
    for item in items:
        address, name = item.get("dst"), item.get("dev", device)
        if not isinstance(address, str) or not isinstance(name, str):
            continue
        state = item.get("state")
        words = [str(word) for word in state] if isinstance(state, list) else [str(state)] if state else []
        mac = item.get("lladdr")
        found.append(
            Neighbour(
                clean(address), clean(name), _mac(mac) if isinstance(mac, str) else None, clean(",".join(words)) or None
            )
        )
    return tuple(found[:MAX_NEIGHBOURS])


def _word(value: Any) -> str | None:
    return clean(value) if isinstance(value, str) else None


def read_netplan(reader: Reader) -> tuple[NetplanFile, ...]:
    """Every netplan file with its mode; the text only where this user may read it."""
    files: list[NetplanFile] = []
    for directory in NETPLAN_DIRS:
        for name in reader.names(directory):
            path = f"{directory}/{name}"
            if name.endswith(".yaml") and len(files) < MAX_NETPLAN_FILES:
                files.append(_read_netplan_file(reader, path))
    return tuple(files)


def _read_netplan_file(reader: Reader, path: str) -> NetplanFile:
    mode = 0
    try:
        mode = os.stat(reader.path(path)).st_mode & 0o7777  # noqa: PTH116  (also of a file that may not be opened)
        # A pipe or a device would keep us waiting: opened without waiting, and judged by what was opened.
        descriptor = os.open(reader.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return NetplanFile(path, mode, None, "not a regular file")
            if status.st_size > MAX_NETPLAN_BYTES:
                return NetplanFile(path, mode, None, f"larger than {MAX_NETPLAN_BYTES} bytes")
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                return NetplanFile(path, mode, stream.read(MAX_NETPLAN_BYTES).decode("utf-8", "replace"))
        finally:
            os.close(descriptor)
    except PermissionError:
        return NetplanFile(path, mode, None, "needs sudo")
    except OSError as error:
        return NetplanFile(path, mode, None, error.strerror or str(error))


async def network_owners() -> dict[str, str]:
    """Who configures which interface: NetworkManager, systemd-networkd, or nobody (then it is missing here)."""
    owners: dict[str, str] = {}
    if commands.find("networkctl"):
        result = await commands.run(["networkctl", "--no-pager", "--no-legend", "list"])
        if result.ok:
            owners |= dict.fromkeys(parse_networkctl(result.out), "systemd-networkd")
    if commands.find("nmcli"):
        result = await commands.run(["nmcli", "-t", "-f", "DEVICE,STATE", "device"])
        if result.ok:
            owners |= dict.fromkeys(parse_nmcli(result.out), "NetworkManager")
    return owners


def parse_networkctl(text: str) -> list[str]:
    """Interfaces whose SETUP column (the last) says that networkd manages them."""
    found = []
    for line in clean_text(text).splitlines():
        words = line.split()
        if (
            len(words) >= 5
            and words[0].isdecimal()
            and words[-1] in ("configured", "configuring", "degraded", "pending")
        ):
            found.append(words[1])
    return found


def parse_nmcli(text: str) -> list[str]:
    """Interfaces of `nmcli -t -f DEVICE,STATE device` that NetworkManager manages; it escapes colons."""
    found = []
    for line in clean_text(text).splitlines():
        name, separator, state = line.rpartition(":")
        # "connected (externally)": it only watches what somebody else has set up.
        if separator and not state.startswith(("unmanaged", "unavailable (", "connected (externally)")):
            found.append(name.replace("\\:", ":"))
    return found


def owner_of_node(devices: Iterable[NetDevice], owners: Mapping[str, str]) -> str | None:
    """The owner of most real Ethernet interfaces; `none` when nobody manages any."""
    counts: dict[str, int] = {}
    for device in devices:
        if device.kind in ("ethernet", "wifi", "infiniband") and device.name in owners:
            counts[owners[device.name]] = counts.get(owners[device.name], 0) + 1
    return max(sorted(counts), key=lambda name: counts[name]) if counts else "none"


def session_route(ssh_connection: str | None, devices: Iterable[NetDevice]) -> SessionRoute:
    """The path of the SSH session, out of `SSH_CONNECTION`: client, port, server, port."""
    words = (ssh_connection or "").split()
    if len(words) != 4:
        return SessionRoute()
    client, server = _plain_address(words[0]), _plain_address(words[2])
    for device in devices:
        if server is not None and any(a.split("/")[0] == server for a in device.addresses):
            return SessionRoute(client, server, device.name)
    return SessionRoute(client, server, None)


def _plain_address(text: str) -> str | None:
    """An address without scope; IPv4 in IPv6's clothes is IPv4."""
    try:
        address = ipaddress.ip_address(text.split("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


SYSCTLS = (
    *(
        f"net.ipv4.conf.{which}.{name}"
        for which in ("all", "default")
        for name in ("arp_ignore", "arp_announce", "rp_filter", "forwarding")
    ),
    "net.ipv4.ip_forward",
    "net.ipv6.conf.all.disable_ipv6",
    "net.ipv6.conf.all.forwarding",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_congestion_control",
    "vm.overcommit_memory",
)


def read_sysctls(reader: Reader) -> dict[str, str]:
    """The node-wide settings that matter to a fabric; those that do not exist are missing."""
    values = {key: reader.text("/proc/sys/" + key.replace(".", "/")) for key in SYSCTLS}
    return {key: value for key, value in values.items() if value is not None}
