"""`ip route` and `ip neigh`."""

from __future__ import annotations

import ipaddress
from typing import Any

from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.network import Address4, Network, NodeNetwork, Route

NOT_PERMITTED = "RTNETLINK answers: Operation not permitted"
INCOMPLETE = 'Command line is not complete. Try option "help"'


def route(call: Call, words: Words, *, json: bool, family: int | None) -> int:
    """ip route [show] | get ADDRESS | add|replace|del …"""
    verb = words.take("show", "list", "ls", "get", "add", "a", "replace", "change", "append", "del", "delete", "flush")
    if verb == "get":
        return _get(call, words, json)
    if verb in (None, "show", "list", "ls"):
        return _show(call, words, json, family)
    call.need_root(NOT_PERMITTED, 2)
    network = call.machine.network
    if verb == "flush":
        raise Usage("RTNETLINK answers: Operation not supported", 2)
    wanted = _parse(network, words)
    if verb in ("del", "delete"):
        _delete(network, wanted)
    else:
        _add(network, wanted, replace=verb in ("replace", "change"))
    call.machine.note("ip", call.argv, root=True)
    call.machine.changed()
    return 0


def _destination(text: str) -> Network:
    try:
        return Network("0.0.0.0/0" if text == "default" else text)
    except ValueError:
        raise Usage(f'Error: any valid prefix is expected rather than "{text}".', 1) from None


def _ip(text: str) -> Address4:
    try:
        return Address4(text)
    except ValueError:
        raise Usage(f'Error: inet address is expected rather than "{text}".', 1) from None


def _parse(network: NodeNetwork, words: Words) -> Route:
    destination = _destination(words.need(INCOMPLETE))
    values: dict[str, str] = {}
    while words:
        key = words.need(INCOMPLETE)
        if key in ("via", "dev", "src", "metric", "proto", "scope", "table", "onlink", "mtu"):
            values[key] = "" if key == "onlink" else words.need(INCOMPLETE)
        else:
            raise Usage(f'Error: either "to" is duplicate, or "{key}" is a garbage.', 255)
    via = _ip(values["via"]) if "via" in values else None
    source = _ip(values["src"]) if "src" in values else None
    device = values.get("dev")
    if device is not None and device not in network.interfaces:
        raise Usage(f'Cannot find device "{device}"', 1)
    if device is None and via is not None:
        onward = network.lookup(via)
        device = onward.device if onward is not None else None
    if device is None:
        device = next((r.device for r in network.routes() if r.destination == destination), None)
    if device is None:
        raise Usage("RTNETLINK answers: No such device" if via is None else "Error: Nexthop has invalid gateway.", 2)
    scope = values.get("scope") or (None if via else "link")
    return Route(destination, device, via, source, int(values.get("metric", 0)), values.get("proto", "boot"), scope)


def _add(network: NodeNetwork, wanted: Route, *, replace: bool) -> None:
    interface = network.interfaces[wanted.device]
    if not interface.admin_up:
        raise Usage("RTNETLINK answers: Network is down", 2)
    if wanted.via is not None and not any(wanted.via in entry.network for entry in interface.addresses4):
        raise Usage("Error: Nexthop has invalid gateway.", 2)
    if wanted.source is not None and not network.is_local(wanted.source):
        raise Usage("RTNETLINK answers: Invalid argument", 2)
    same = [r for r in network.static_routes if (r.destination, r.metric) == (wanted.destination, wanted.metric)]
    if same and not replace:
        raise Usage("RTNETLINK answers: File exists", 2)
    network.static_routes = [r for r in network.static_routes if r not in same]
    network.static_routes.append(wanted)


def _delete(network: NodeNetwork, wanted: Route) -> None:
    for existing in network.static_routes:
        if (
            existing.destination == wanted.destination
            and existing.device == wanted.device
            and wanted.via in (None, existing.via)
            and wanted.metric in (0, existing.metric)
        ):
            network.static_routes.remove(existing)
            return
    raise Usage("RTNETLINK answers: No such process", 2)


def _show(call: Call, words: Words, json: bool, family: int | None) -> int:
    network = call.machine.network
    device: str | None = None
    exact: Network | None = None
    while words:
        word = words.need(INCOMPLETE)
        if word in ("table", "proto", "scope", "type"):
            words.need(INCOMPLETE)
        elif word == "dev":
            device = words.need(INCOMPLETE)
            if device not in network.interfaces:
                raise Usage(f'Cannot find device "{device}"', 1)
        elif word not in ("match", "root", "exact", "to"):
            exact = _destination(word)
    # The simulated wires carry IPv6 for link-local multicast only.
    routes = [] if family == 6 else network.routes()
    routes = [r for r in routes if device in (None, r.device) and exact in (None, r.destination)]
    if json:
        call.json([_as_json(network, r, with_device=device is None) for r in routes])
    else:
        call.out("".join(_text(network, r, with_device=device is None) + "\n" for r in routes))
    return 0


def destination_text(route: Route) -> str:
    """`default`, an address, or a prefix, as `ip` prints it."""
    if route.destination.prefixlen == 0:
        return "default"
    return str(route.destination.network_address if route.destination.prefixlen == 32 else route.destination)


def _flags(network: NodeNetwork, route: Route) -> list[str]:
    return [] if network.interfaces[route.device].carrier else ["linkdown"]


def _as_json(network: NodeNetwork, route: Route, *, with_device: bool) -> dict[str, Any]:
    body: dict[str, Any] = {"dst": destination_text(route)}
    if route.via is not None:
        body["gateway"] = str(route.via)
    if with_device:
        body["dev"] = route.device
    if route.protocol != "boot":
        body["protocol"] = route.protocol
    if route.scope is not None:
        body["scope"] = route.scope
    if route.source is not None:
        body["prefsrc"] = str(route.source)
    if route.metric:
        body["metric"] = route.metric
    return {**body, "flags": _flags(network, route)}


def _text(network: NodeNetwork, route: Route, *, with_device: bool) -> str:
    words = [destination_text(route)]
    if route.via is not None:
        words += ["via", str(route.via)]
    if with_device:
        words += ["dev", route.device]
    if route.protocol != "boot":
        words += ["proto", route.protocol]
    if route.scope is not None:
        words += ["scope", route.scope]
    if route.source is not None:
        words += ["src", str(route.source)]
    if route.metric:
        words += ["metric", str(route.metric)]
    return " ".join([*words, *_flags(network, route), ""])


def _get(call: Call, words: Words, json: bool) -> int:
    network = call.machine.network
    words.take("to")
    target = _ip(words.need("need at least a destination address", 1))
    source: Address4 | None = None
    device: str | None = None
    while words:
        word = words.need(INCOMPLETE)
        if word == "from":
            source = _ip(words.need(INCOMPLETE))
        elif word in ("oif", "dev"):
            device = words.need(INCOMPLETE)
            if device not in network.interfaces:
                raise Usage(f'Cannot find device "{device}"', 1)
        else:
            raise Usage(f'Error: argument "{word}" is wrong: unknown argument', 255)
    uid = 1000
    if network.is_local(target):
        answer: dict[str, Any] = {"type": "local", "dst": str(target), "dev": "lo", "prefsrc": str(target),
                                  "flags": ["local"], "uid": uid, "cache": ["local"]}  # fmt: skip
        text = f"local {target} dev lo src {target} uid {uid} \n    cache <local> "
    else:
        found = network.lookup(target, device)
        if found is None:
            raise Usage("RTNETLINK answers: Network is unreachable", 2)
        own = source or found.source or network.source_for(found.device, target)
        answer = {"dst": str(target)}
        if source is not None:
            answer["from"] = str(source)
        if found.via is not None:
            answer["gateway"] = str(found.via)
        answer["dev"] = found.device
        # iproute2 tells the source only when it chose it itself.
        if source is None and own is not None:
            answer["prefsrc"] = str(own)
        answer |= {"flags": [], "uid": uid, "cache": []}
        via = f" via {found.via}" if found.via else ""
        origin = f" from {source}" if source else ""
        chosen = f" src {own}" if own is not None and source is None else ""
        text = f"{target}{origin}{via} dev {found.device}{chosen} uid {uid} \n    cache "
    if json:
        call.json([answer])
    else:
        call.line(text)
    return 0


def neighbour(call: Call, words: Words, *, json: bool, family: int | None) -> int:
    """ip neigh [show] [to ADDRESS] [dev IF] | flush [dev IF] | del ADDRESS dev IF"""
    network = call.machine.network
    verb = words.take("show", "list", "ls", "flush", "del", "delete") or "show"
    device: str | None = None
    target: str | None = None
    while words:
        word = words.need(INCOMPLETE)
        if word == "dev":
            device = words.need(INCOMPLETE)
            if device not in network.interfaces:
                raise Usage(f'Cannot find device "{device}"', 1)
        elif word in ("nud", "lladdr"):
            words.need(INCOMPLETE)
        elif word not in ("to", "all"):
            try:
                target = str(ipaddress.ip_address(word))
            except ValueError:
                raise Usage(f'Error: any valid prefix is expected rather than "{word}".', 1) from None
    chosen = [key for key in sorted(network.neighbours) if device in (None, key[0]) and target in (None, key[1])]
    if verb in ("flush", "del", "delete"):
        call.need_root(NOT_PERMITTED, 2)
        for key in chosen:
            del network.neighbours[key]
        return 0
    if family == 6:
        chosen = []
    if json:
        call.json([_neighbour_json(network, key, with_device=device is None) for key in chosen])
        return 0
    for dev, ip in chosen:
        entry = network.neighbours[(dev, ip)]
        where = f" dev {dev}" if device is None else ""
        call.line(f"{ip}{where}{f' lladdr {entry.mac}' if entry.mac else ''} {entry.state} ")
    return 0


def _neighbour_json(network: NodeNetwork, key: tuple[str, str], *, with_device: bool) -> dict[str, Any]:
    entry = network.neighbours[key]
    body: dict[str, Any] = {"dst": key[1]}
    if with_device:
        body["dev"] = key[0]
    if entry.mac:
        body["lladdr"] = entry.mac
    return {**body, "state": [entry.state]}
