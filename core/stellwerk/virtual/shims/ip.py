"""`ip` of iproute2 6.1: addr, link, route, neigh; text, brief and JSON."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.network import Address, Interface, NodeNetwork, address
from stellwerk.virtual.shims import ip_route
from stellwerk.virtual.simroot import operstate

NOT_PERMITTED = "RTNETLINK answers: Operation not permitted"
FOREVER = 4294967295
BROADCAST = "ff:ff:ff:ff:ff:ff"


@dataclass(frozen=True, slots=True)
class View:
    """How the answer is to be printed."""

    json: bool = False
    brief: bool = False
    details: bool = False
    oneline: bool = False
    family: int | None = None


async def run(call: Call) -> int:
    """ip [-j] [-4|-6] [-br] OBJECT COMMAND …"""
    words = Words(call.argv)
    view = _options(words)
    what = words.need("Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }")
    if "address".startswith(what) and what[0] == "a":
        return _address(call, view, words)
    if "link".startswith(what) and what[0] == "l":
        return _link(call, view, words)
    if "route".startswith(what) and what != "ru":
        return ip_route.route(call, words, json=view.json, family=view.family)
    if what in ("n", "neigh", "neighbor", "neighbour"):
        return ip_route.neighbour(call, words, json=view.json, family=view.family)
    raise Usage(f'Object "{what}" is unknown, try "ip help".', 1)


def _options(words: Words) -> View:
    chosen: dict[str, Any] = {}
    while (word := words.peek()) is not None and word.startswith("-"):
        words.take()
        name = word.lstrip("-")
        if name in ("j", "json"):
            chosen["json"] = True
        elif name in ("br", "brief"):
            chosen["brief"] = True
        elif name in ("d", "details", "s", "stats", "statistics"):
            chosen["details"] = True
        elif name in ("o", "oneline"):
            chosen["oneline"] = True
        elif name in ("4", "6"):
            chosen["family"] = int(name)
        elif name in ("p", "pretty", "n", "N", "c=never", "color=never"):
            continue
        else:
            raise Usage(f'Option "{word}" is unknown, try "ip -help".', 255)
    return View(**chosen)


def find(network: NodeNetwork, name: str, message: str = 'Device "{}" does not exist.') -> Interface:
    """The interface, or the refusal of `ip`."""
    interface = network.interfaces.get(name)
    if interface is None:
        raise Usage(message.format(name), 1)
    return interface


def _address(call: Call, view: View, words: Words) -> int:
    verb = words.take("show", "list", "ls", "add", "a", "del", "delete", "d", "replace", "change", "flush") or "show"
    network = call.machine.network
    if verb in ("show", "list", "ls"):
        _show(call, view, _selection(network, words), with_addresses=True)
        return 0
    call.need_root(NOT_PERMITTED, 2)
    if verb == "flush":
        chosen = _selection(network, words)
        for interface in chosen:
            interface.addresses = []
    else:
        _change_address(network, verb, words)
    call.machine.note("ip", call.argv, root=True)
    call.machine.changed()
    return 0


def _change_address(network: NodeNetwork, verb: str, words: Words) -> None:
    text = words.need('Command line is not complete. Try option "help"')
    try:
        wanted = address(text, "manual")
    except ValueError:
        raise Usage(f'Error: any valid prefix is expected rather than "{text}".', 1) from None
    device = ""
    while words:
        word = words.take()
        if word == "dev":
            device = words.need('Command line is not complete. Try option "help"')
        elif word in ("brd", "broadcast", "scope", "label", "peer", "metric"):
            words.take()
    if not device:
        raise Usage('Not enough information: "dev" argument is required.', 255)
    interface = find(network, device, 'Cannot find device "{}"')
    if verb in ("del", "delete", "d"):
        if not network.remove_address(interface.name, wanted.interface):
            raise Usage("RTNETLINK answers: Cannot assign requested address", 2)
    elif not network.add_address(interface.name, wanted) and verb in ("add", "a"):
        raise Usage("RTNETLINK answers: File exists", 2)


def _selection(network: NodeNetwork, words: Words) -> list[Interface]:
    chosen = list(network.interfaces.values())
    while words:
        word = words.take() or ""
        if word == "up":
            chosen = [interface for interface in chosen if interface.admin_up]
        elif word in ("scope", "to", "type"):
            words.take()
        elif word in ("permanent", "dynamic", "primary"):
            continue
        else:
            name = words.need('Command line is not complete. Try option "help"') if word == "dev" else word
            chosen = [find(network, name)]
    return chosen


def _link(call: Call, view: View, words: Words) -> int:
    verb = words.take("show", "list", "ls", "set") or "show"
    network = call.machine.network
    if verb != "set":
        _show(call, view, _selection(network, words), with_addresses=False)
        return 0
    call.need_root(NOT_PERMITTED, 2)
    words.take("dev")
    interface = find(network, words.need("Not enough information: \"dev\" argument is required."),
                     'Cannot find device "{}"')  # fmt: skip
    came_up = False
    while words:
        word = words.take() or ""
        if word == "mtu":
            interface.mtu = _mtu(words.need('Command line is not complete. Try option "help"'))
        elif word in ("up", "down"):
            came_up = word == "up" and not interface.admin_up
            network.set_admin(interface.name, word == "up")
        else:
            raise Usage(f'Error: either "dev" is duplicate, or "{word}" is a garbage.', 255)
    call.machine.note("ip", call.argv, root=True)
    call.machine.changed()
    if came_up:
        call.machine.manager.link_came_up(interface.name)
        call.machine.changed()
    return 0


def _mtu(text: str) -> int:
    if not text.isdecimal():
        raise Usage(f'Error: argument "{text}" is wrong: Invalid "mtu" value', 255)
    if not 68 <= int(text) <= 9978:
        raise Usage(
            "Error: mtu greater than device maximum." if int(text) > 9978 else "Error: mtu less than device minimum.", 2
        )
    return int(text)


def flags(interface: Interface) -> list[str]:
    """As between the angle brackets."""
    kind = ["LOOPBACK"] if interface.kind == "loopback" else ["BROADCAST", "MULTICAST"]
    if not interface.admin_up:
        return kind
    if interface.kind == "loopback":
        return [*kind, "UP", "LOWER_UP"]
    return [*kind, "UP", "LOWER_UP"] if interface.carrier else ["NO-CARRIER", *kind, "UP"]


def _show(call: Call, view: View, chosen: list[Interface], *, with_addresses: bool) -> None:
    if with_addresses and view.family:
        chosen = [interface for interface in chosen if _addresses(interface, view.family)]
    if view.json:
        call.json([_as_json(interface, view, with_addresses) for interface in chosen])
    elif view.brief:
        for interface in chosen:
            call.line(_brief(interface, view, with_addresses))
    else:
        for interface in chosen:
            call.out(_text(interface, view, with_addresses))


def _addresses(interface: Interface, family: int | None) -> list[Address]:
    return [a for a in interface.addresses if family is None or a.interface.version == family]


def _as_json(interface: Interface, view: View, with_addresses: bool) -> dict[str, Any]:
    if view.brief:
        brief: dict[str, Any] = {"ifname": interface.name, "operstate": operstate(interface).upper()}
        if not with_addresses:
            return {**brief, "address": interface.mac, "flags": flags(interface)}
        found = _addresses(interface, view.family)
        return {**brief, "addr_info": [{"local": str(a.interface.ip), "prefixlen": a.interface.network.prefixlen}
                                       for a in found]}  # fmt: skip
    body: dict[str, Any] = {
        "ifindex": interface.index,
        "ifname": interface.name,
        "flags": flags(interface),
        "mtu": interface.mtu,
        "qdisc": _qdisc(interface),
        "operstate": operstate(interface).upper(),
        "linkmode": "DEFAULT",
        "group": "default",
        "txqlen": 1000,
        "link_type": "loopback" if interface.kind == "loopback" else "ether",
        "address": interface.mac,
        "broadcast": "00:00:00:00:00:00" if interface.kind == "loopback" else BROADCAST,
    }
    if view.details:
        body |= {"promiscuity": 0, "min_mtu": 68, "max_mtu": 9978}
        if interface.kind == "bridge":
            body["linkinfo"] = {"info_kind": "bridge"}
    if with_addresses:
        del body["linkmode"]
        body["addr_info"] = [_address_json(interface, a) for a in _addresses(interface, view.family)]
    return body


def _address_json(interface: Interface, entry: Address) -> dict[str, Any]:
    own = entry.interface
    body: dict[str, Any] = {"family": "inet" if own.version == 4 else "inet6", "local": str(own.ip),
                            "prefixlen": own.network.prefixlen}  # fmt: skip
    if own.version == 4 and entry.scope != "host":
        body["broadcast"] = str(own.network.broadcast_address)
    body["scope"] = entry.scope
    dynamic = entry.origin == "dhcp"
    if dynamic:
        body["dynamic"] = True
    if own.version == 4:
        if entry.origin in ("static", "dhcp"):
            body["noprefixroute"] = True
        body["label"] = interface.name
    left = 86_000 if dynamic else FOREVER
    return {**body, "valid_life_time": left, "preferred_life_time": left}


def _qdisc(interface: Interface) -> str:
    if interface.kind in ("loopback", "bridge"):
        return "noqueue"
    return "mq" if interface.admin_up else "noop"


def _brief(interface: Interface, view: View, with_addresses: bool) -> str:
    head = f"{interface.name:<16} {operstate(interface).upper():<14} "
    if with_addresses:
        return head + " ".join(a.cidr for a in _addresses(interface, view.family)) + " "
    return f"{head}{interface.mac} <{','.join(flags(interface))}> "


def _text(interface: Interface, view: View, with_addresses: bool) -> str:
    link = interface.kind == "loopback"
    mode = "" if with_addresses else " mode DEFAULT"
    lines = [
        f"{interface.index}: {interface.name}: <{','.join(flags(interface))}> mtu {interface.mtu} "
        f"qdisc {_qdisc(interface)} state {operstate(interface).upper()}{mode} group default qlen 1000"
    ]
    if view.family is None or not with_addresses:
        other = "00:00:00:00:00:00" if link else BROADCAST
        lines.append(f"    link/{'loopback' if link else 'ether'} {interface.mac} brd {other}")
    for entry in _addresses(interface, view.family) if with_addresses else ():
        lines += _address_lines(interface, entry)
    return "\n".join(lines) + "\n"


def _address_lines(interface: Interface, entry: Address) -> list[str]:
    own = entry.interface
    left = "86000sec" if entry.origin == "dhcp" else "forever"
    life = f"       valid_lft {left} preferred_lft {left}"
    if isinstance(own, ipaddress.IPv6Interface):
        return [f"    inet6 {own} scope {entry.scope}", life]
    broadcast = "" if entry.scope == "host" else f" brd {own.network.broadcast_address}"
    marks = (" dynamic" if entry.origin == "dhcp" else "") + (
        " noprefixroute" if entry.origin in ("static", "dhcp") else ""
    )
    return [f"    inet {own}{broadcast} scope {entry.scope}{marks} {interface.name}", life]
