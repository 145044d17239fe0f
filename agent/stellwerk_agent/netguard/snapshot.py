"""The live state of the machine: read before a change, compared and put back after it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

from stellwerk.model.errors import ApplyFailed
from stellwerk.model.text import say
from stellwerk_agent.netguard.commands import Runner


@dataclass(frozen=True, slots=True)
class Address:
    """One address of an interface. A dynamic one (DHCP, router advertisement) is never added by hand."""

    device: str
    cidr: str
    scope: str = "global"
    dynamic: bool = False

    @property
    def is_link_local6(self) -> bool:
        """The kernel or the manager makes these by themselves."""
        return self.scope == "link" and ":" in self.cidr


@dataclass(frozen=True, slots=True)
class LiveRoute:
    """One route that somebody set (the kernel's own follow the addresses)."""

    device: str
    destination: str
    via: str | None = None
    source: str | None = None
    metric: int | None = None
    protocol: str | None = None


@dataclass(frozen=True, slots=True)
class Live:
    """Addresses, routes, MTUs and up/down of all interfaces at one moment."""

    addresses: tuple[Address, ...] = ()
    routes: tuple[LiveRoute, ...] = ()
    mtu: dict[str, int] = field(default_factory=dict)
    up: dict[str, bool] = field(default_factory=dict)

    def on(self, device: str) -> tuple[Address, ...]:
        """The addresses of one interface."""
        return tuple(a for a in self.addresses if a.device == device)

    def has(self, device: str, cidr: str) -> bool:
        """Whether an interface holds an address."""
        return any(a.cidr == cidr for a in self.on(device))

    @property
    def default_devices(self) -> tuple[str, ...]:
        """The interfaces that lead out of the house."""
        return tuple(dict.fromkeys(r.device for r in self.routes if r.destination == "default"))


def read_links(run: Runner) -> Live:
    """Ask `ip` for all but the routes: what is polled. Raises `ApplyFailed` when it does not answer."""
    addresses, mtu, up = parse_addresses(_json(run, ("ip", "-j", "addr", "show")))
    return Live(addresses, (), mtu, up)


def read_live(run: Runner) -> Live:
    """Ask `ip` for everything. Raises `ApplyFailed` when it does not answer."""
    links = read_links(run)
    routes = parse_routes(_json(run, ("ip", "-j", "-4", "route", "show", "table", "main")))
    routes += parse_routes(_json(run, ("ip", "-j", "-6", "route", "show", "table", "main")))
    return replace(links, routes=routes)


def _json(run: Runner, argv: tuple[str, ...]) -> Any:
    done = run(argv)
    if not done.ok:
        # A kernel without IPv6 has no IPv6 routes; that is an answer.
        if "-6" in argv and "not supported" in done.stderr:
            return []
        raise ApplyFailed("the live network state cannot be read", why=done.complaint)
    try:
        return json.loads(done.stdout or "[]")
    except ValueError:
        raise ApplyFailed(
            "the live network state cannot be read", why=say("`{argv}` wrote no JSON", argv=" ".join(argv))
        ) from None


def parse_addresses(data: Any) -> tuple[tuple[Address, ...], dict[str, int], dict[str, bool]]:
    """Addresses, MTUs and administrative state out of `ip -j addr show`; what is malformed is left out."""
    addresses: list[Address] = []
    mtu: dict[str, int] = {}
    up: dict[str, bool] = {}
    for link in data if isinstance(data, list) else ():
        if not isinstance(link, dict) or not isinstance(link.get("ifname"), str):
            continue
        name = link["ifname"]
        if isinstance(link.get("mtu"), int):
            mtu[name] = link["mtu"]
        flags = link.get("flags")
        if isinstance(flags, list):
            up[name] = "UP" in flags
        infos = link.get("addr_info")
        for info in infos if isinstance(infos, list) else ():
            if not isinstance(info, dict):
                continue
            local, length = info.get("local"), info.get("prefixlen")
            if isinstance(local, str) and isinstance(length, int):
                dynamic = bool(info.get("dynamic") or info.get("temporary"))
                addresses.append(Address(name, f"{local}/{length}", str(info.get("scope", "global")), dynamic))
    return tuple(addresses), mtu, up


def parse_routes(data: Any) -> tuple[LiveRoute, ...]:
    """Routes out of `ip -j route show`, without those that the kernel or a router advertisement made."""
    routes: list[LiveRoute] = []
    for row in data if isinstance(data, list) else ():
        if not isinstance(row, dict) or row.get("protocol") in ("kernel", "ra", "redirect"):
            continue
        device, destination = row.get("dev"), row.get("dst")
        if isinstance(device, str) and isinstance(destination, str):
            metric = row.get("metric")
            routes.append(
                LiveRoute(
                    device,
                    destination,
                    row.get("gateway") if isinstance(row.get("gateway"), str) else None,
                    row.get("prefsrc") if isinstance(row.get("prefsrc"), str) else None,
                    metric if isinstance(metric, int) else None,
                    row.get("protocol") if isinstance(row.get("protocol"), str) else None,
                )
            )
    return tuple(routes)
