"""What NetworkManager and systemd-networkd do on a simulated node: profiles out of netplan, and their activation."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stellwerk.virtual import hardware, netplan
from stellwerk.virtual.netplan import EthernetConfig, NetplanConfig
from stellwerk.virtual.network import DEFAULT_MTU, Interface, NodeNetwork, Route, address

ACTIVATION_S = 0.3  # how long addresses are gone while an interface is configured anew
NM_DIR = "run/NetworkManager/system-connections"
NETWORKD_DIR = "run/systemd/network"


@dataclass(frozen=True, slots=True)
class Profile:
    """A connection profile: out of netplan, or the one that NetworkManager makes up for a device without any."""

    name: str
    interface: str
    config: EthernetConfig
    owner: str = "NetworkManager"

    @property
    def uuid(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"stellwerk-virtual:{self.name}"))


def netplan_files(root: Path) -> dict[str, str]:
    """The files that netplan reads below `root`, in its order: by name; one in /run hides one in /etc and /lib."""
    found: dict[str, Path] = {}
    for directory in ("usr/lib/netplan", "lib/netplan", "etc/netplan", "run/netplan"):
        for path in sorted((root / directory).glob("*.yaml")):
            found[path.name] = path
    return {str(found[name]): found[name].read_text("utf-8", "replace") for name in sorted(found)}


def generate(root: Path, into: Path) -> NetplanConfig:
    """`netplan generate`: judge the files below `root`, write what the two programs read below `into`."""
    config = netplan.load(netplan_files(root))
    for directory, pattern in ((NM_DIR, "netplan-*.nmconnection"), (NETWORKD_DIR, "10-netplan-*")):
        for old in (into / directory).glob(pattern):
            old.unlink()
    for entry in config.ethernets.values():
        if config.owner(entry.name) == "NetworkManager":
            target, text = into / NM_DIR / f"netplan-{entry.name}.nmconnection", _keyfile(entry)
        else:
            target, text = into / NETWORKD_DIR / f"10-netplan-{entry.name}.network", _network_file(entry)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        target.chmod(0o600)
    return config


def _keyfile(entry: EthernetConfig) -> str:
    lines = ["[connection]", f"id=netplan-{entry.name}", "type=ethernet", f"interface-name={entry.name}", ""]
    lines += ["[ethernet]", "wake-on-lan=0", *([f"mtu={entry.mtu}"] if entry.mtu else []), ""]
    fours = [a for a in entry.addresses if ":" not in a]
    method = (
        "auto" if entry.dhcp4 else "manual" if fours else "link-local" if "ipv4" in entry.link_local else "disabled"
    )
    lines += ["[ipv4]", f"method={method}", *(f"address{n}={a}" for n, a in enumerate(fours, 1))]
    lines += [f"route{n}={r.to}{f',{r.via}' if r.via else ''}" for n, r in enumerate(entry.routes, 1)]
    lines += ["", "[ipv6]", f"method={'link-local' if 'ipv6' in entry.link_local else 'disabled'}"]
    return "\n".join(lines) + "\n"


def _network_file(entry: EthernetConfig) -> str:
    families = {(): "no", ("ipv4",): "ipv4", ("ipv6",): "ipv6"}.get(entry.link_local, "yes")
    lines = ["[Match]", f"Name={entry.name}", "", *(["[Link]", f"MTUBytes={entry.mtu}", ""] if entry.mtu else [])]
    lines += ["[Network]", *(["DHCP=ipv4"] if entry.dhcp4 else []), f"LinkLocalAddressing={families}"]
    lines += [f"Address={cidr}" for cidr in entry.addresses]
    for route in entry.routes:
        lines += ["", "[Route]", f"Destination={route.to}", *([f"Gateway={route.via}"] if route.via else [])]
    return "\n".join(lines) + "\n"


class Manager:
    """Profiles of one node and which interface runs which. `changed` is called after every change."""

    def __init__(self, network: NodeNetwork, changed: Callable[[], None]) -> None:
        self.network = network
        self.changed = changed
        self.profiles: dict[str, Profile] = {}
        self.active: dict[str, Profile] = {}
        self.generated = NetplanConfig()
        self._running: dict[str, asyncio.Task[None]] = {}

    def reset(self) -> None:
        """Power is gone."""
        for task in self._running.values():
            task.cancel()
        self._running.clear()
        self.profiles.clear()
        self.active.clear()
        self.generated = NetplanConfig()

    def reload(self) -> None:
        """`nmcli connection reload`, `networkctl reload`: read what `netplan generate` wrote last."""
        self.profiles = {}
        number = 0
        for interface in self.network.interfaces.values():
            if interface.kind not in ("lan", "fabric"):
                continue
            entry = self.generated.ethernets.get(interface.name)
            if entry is not None:
                owner = self.generated.owner(interface.name)
                profile = Profile(f"netplan-{interface.name}", interface.name, entry, owner)
            else:
                number += 1
                config = EthernetConfig(interface.name, dhcp4=True)
                profile = Profile(f"Wired connection {number}", interface.name, config)
            self.profiles[profile.name] = profile

    def profile_for(self, interface: str) -> Profile | None:
        """The profile that the interface takes by itself."""
        return next((p for p in self.profiles.values() if p.interface == interface), None)

    def find(self, name_or_uuid: str) -> Profile | None:
        """A profile by its name or UUID, an active one that is no longer on disk included."""
        for profile in (*self.profiles.values(), *self.active.values()):
            if name_or_uuid in (profile.name, profile.uuid):
                return profile
        return None

    def bring_up_all(self) -> None:
        """At boot: every interface takes its profile at once."""
        for interface in self.network.interfaces.values():
            if interface.kind == "bridge":
                interface.admin_up = True
                interface.addresses = [address("172.17.0.1/16", "kernel")]
            profile = self.profile_for(interface.name)
            if profile is not None:
                self._configure(interface, profile)
        self.changed()

    def carrier_came(self, interface: str) -> None:
        """A cable was plugged in: an interface that waited for it is configured now."""
        profile = self.profile_for(interface)
        if profile is not None and interface not in self.active and interface not in self._running:
            self._configure(self.network.interfaces[interface], profile)

    def link_came_up(self, interface: str) -> None:
        """`ip link set … up`: the kernel makes the link-local address again."""
        target = self.network.interfaces[interface]
        profile = self.active.get(interface) or self.profile_for(interface)
        if target.running and target.link_local6 is None and profile and "ipv6" in profile.config.link_local:
            target.addresses.append(address(f"{hardware.link_local6(target.mac)}/64", "kernel"))

    def activate(self, profile: Profile) -> asyncio.Task[None]:
        """Configure an interface anew: its addresses vanish for a moment. The task ends when they are back."""
        before = self._running.pop(profile.interface, None)
        if before is not None:
            before.cancel()
        task = asyncio.create_task(self._activate(profile))
        self._running[profile.interface] = task
        return task

    async def activated(self, profile: Profile) -> bool:
        """As `activate`, and wait for the end; False when something newer came in between."""
        task = self.activate(profile)
        await asyncio.wait([task])
        return not task.cancelled()

    async def _activate(self, profile: Profile) -> None:
        self.network.flush(profile.interface)
        self.active.pop(profile.interface, None)
        self.changed()
        await asyncio.sleep(ACTIVATION_S)  # what the real programs need, in short
        self._configure(self.network.interfaces[profile.interface], profile)
        self._running.pop(profile.interface, None)
        self.changed()

    def _configure(self, interface: Interface, profile: Profile) -> None:
        """Put the profile's state on the interface. Without carrier nothing is configured but the link itself."""
        config = profile.config
        interface.admin_up = True
        interface.mtu = config.mtu or DEFAULT_MTU
        self.network.flush(interface.name)
        if not interface.carrier:
            self.active.pop(interface.name, None)
            return
        self.active[interface.name] = profile
        if "ipv6" in config.link_local:
            interface.addresses.append(address(f"{hardware.link_local6(interface.mac)}/64", "kernel"))
        for cidr in config.addresses:
            self.network.add_address(interface.name, address(cidr))
        if "ipv4" in config.link_local:
            interface.addresses.append(address(f"{_link_local4(interface.mac)}/16"))
        if config.dhcp4 and interface.kind == "lan":
            interface.addresses.append(address(f"{self.network.machine.lan_address}/24", "dhcp"))
            self._add_route(interface.name, "default", hardware.HOME_ROUTER, None, None, "dhcp")
        if config.gateway4:
            self._add_route(interface.name, "default", config.gateway4, None, None, "static")
        for route in config.routes:
            self._add_route(interface.name, route.to, route.via, route.source, route.metric, "static")

    def _add_route(
        self, device: str, to: str, via: str | None, source: str | None, metric: int | None, protocol: str
    ) -> None:
        destination = ipaddress.ip_network("0.0.0.0/0" if to == "default" else to, strict=False)
        if not isinstance(destination, ipaddress.IPv4Network):
            return  # the simulated wires carry IPv6 for link-local multicast only
        self.network.static_routes.append(
            Route(
                destination,
                device,
                ipaddress.IPv4Address(via) if via else None,
                ipaddress.IPv4Address(source) if source else None,
                self.network.metric_of(device) if metric is None else metric,
                protocol,
                None if via else "link",
            )
        )

    def owner(self, interface: str) -> str:
        """Which program holds the interface."""
        profile = self.active.get(interface) or self.profile_for(interface)
        return profile.owner if profile else "NetworkManager"


def _link_local4(mac: str) -> str:
    """What RFC 3927 picks at random, here from the MAC."""
    digest = hashlib.sha256(mac.encode()).digest()
    return f"169.254.{1 + digest[0] % 254}.{digest[1]}"
