"""`netplan`, `networkctl`, `nmcli`: what the product and people use of them."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from stellwerk.virtual import manager
from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.manager import Profile
from stellwerk.virtual.netplan import NetplanError, load
from stellwerk.virtual.network import Interface

_NETPLAN_USAGE = "usage: /usr/sbin/netplan  [-h] [--debug]  ..."


async def netplan(call: Call) -> int:
    """netplan generate [--root-dir DIR] | apply | get"""
    words = Words([word for word in call.argv if word != "--debug"])
    verb = words.need(_NETPLAN_USAGE, 2)
    if verb == "generate":
        return _generate(call, words)
    if verb == "apply":
        return await _apply(call)
    if verb == "get":
        return _get(call)
    raise Usage(f"{_NETPLAN_USAGE}\nnetplan: error: argument : invalid choice: {verb!r}", 2)


def _too_open(files: list[str], call: Call) -> None:
    for path in files:
        if stat.S_IMODE(Path(path).stat().st_mode) & 0o077:
            call.err(
                f"** (generate:{call.pid}): WARNING **: Permissions for {path} are too open. "
                "Netplan configuration should NOT be accessible by others."
            )


def _generate(call: Call, words: Words) -> int:
    machine = call.machine
    directory: Path | None = None
    while words:
        word = words.need(_NETPLAN_USAGE, 2)
        if word == "--root-dir":
            directory = call.cwd / words.need(f"{_NETPLAN_USAGE}\nnetplan generate: error: expected one argument", 2)
        elif word.startswith("--root-dir="):
            directory = call.cwd / word.partition("=")[2]
        elif word != "--mapping":
            raise Usage(f"netplan: error: unrecognized arguments: {word}", 2)
    live = directory is None or directory.resolve() == machine.root.resolve()
    if live:
        call.need_root("netplan: Permission denied: cannot write to /run/systemd/network", 1)
    root = machine.root if live or directory is None else directory
    machine.note("netplan", call.argv, root=call.root)
    _too_open(list(manager.netplan_files(root)), call)
    try:
        config = manager.generate(root, root)
    except NetplanError as error:
        raise Usage(str(error), 1) from None
    except OSError as error:
        raise Usage(f"Cannot write the generated files below {root}: {error.strerror}", 1) from None
    if live:
        machine.manager.generated = config
    return 0


async def _apply(call: Call) -> int:
    machine = call.machine
    call.need_root("ERROR:: netplan apply must be run as root", 1)
    machine.note("netplan", call.argv, root=True)
    _too_open(list(manager.netplan_files(machine.root)), call)
    try:
        machine.manager.generated = manager.generate(machine.root, machine.root)
    except NetplanError as error:
        raise Usage(str(error), 1) from None
    machine.manager.reload()
    # As on a real machine the command returns before NetworkManager has everything up again.
    for profile in list(machine.manager.profiles.values()):
        if machine.manager.active.get(profile.interface) != profile:
            machine.manager.activate(profile)
    return 0


def _get(call: Call) -> int:
    machine = call.machine
    call.need_root("Permission denied: /etc/netplan", 1)
    merged: dict[str, object] = {"version": 2}
    try:
        config = load(manager.netplan_files(machine.root))
    except NetplanError as error:
        raise Usage(str(error), 1) from None
    merged["renderer"] = config.renderer
    ethernets: dict[str, object] = {}
    for entry in config.ethernets.values():
        body: dict[str, object] = {"dhcp4": entry.dhcp4, "link-local": list(entry.link_local)}
        body |= {"addresses": list(entry.addresses)} if entry.addresses else {}
        body |= {"mtu": entry.mtu} if entry.mtu else {}
        routes = [{k: v for k, v in (("to", r.to), ("via", r.via)) if v} for r in entry.routes]
        body |= {"routes": routes} if routes else {}
        ethernets[entry.name] = body
    if ethernets:
        merged["ethernets"] = ethernets
    call.out(yaml.safe_dump({"network": merged}, sort_keys=False))
    return 0


async def networkctl(call: Call) -> int:
    """networkctl reload | reconfigure IF… | list"""
    machine = call.machine
    words = Words([word for word in call.argv if not word.startswith("--")])
    verb = words.take() or "list"
    if verb in ("list", "status"):
        if "--no-legend" not in call.argv:
            call.line("IDX LINK            TYPE     OPERATIONAL SETUP")
        for interface in machine.network.interfaces.values():
            kind = "loopback" if interface.kind == "loopback" else "ether"
            setup = "configured" if machine.manager.owner(interface.name) == "networkd" else "unmanaged"
            state = "routable" if interface.running and interface.addresses4 else "no-carrier"
            call.line(f"{interface.index:3} {interface.name:<15} {kind:<8} {state:<11} {setup}")
        return 0
    call.need_root("Failed to reload network settings: Interactive authentication required.", 1)
    machine.note("networkctl", call.argv, root=True)
    if verb == "reload":
        machine.manager.reload()
        return 0
    if verb != "reconfigure":
        raise Usage(f"Unknown command verb '{verb}'.", 1)
    while words:
        name = words.need("Too few arguments.", 1)
        profile = machine.manager.profile_for(name)
        if name not in machine.network.interfaces:
            raise Usage(f'Failed to resolve interface "{name}": No such device', 1)
        if profile is None or profile.owner != "networkd":
            raise Usage(f"Failed to reconfigure network interface {name}: Link {name} is not managed by us.", 1)
        machine.manager.activate(profile)
    return 0


async def nmcli(call: Call) -> int:
    """nmcli connection reload|up|show, nmcli device show|status|reapply"""
    words = Words(call.argv)
    options = _nmcli_options(words)
    what = words.take() or "general"
    verb = words.take()
    if "connection".startswith(what):
        if verb == "reload":
            call.need_root("Error: failed to reload connections: Not authorized.", 1)
            call.machine.note("nmcli", call.argv, root=True)
            call.machine.manager.reload()
            return 0
        if verb == "up":
            return await _connection_up(call, words)
        if verb in (None, "show"):
            return _connections(call)
    elif "device".startswith(what):
        if verb == "show":
            return _device_show(call, words, options.fields)
        if verb in (None, "status"):
            return _device_status(call, options)
        if verb in ("reapply", "connect"):
            return await _device_reapply(call, words)
    elif "general".startswith(what):
        call.line("STATE      CONNECTIVITY\nconnected  full")
        return 0
    raise Usage(f"Error: argument '{verb or what}' not understood. Try passing --help instead.", 2)


@dataclass(slots=True)
class _NmcliOptions:
    fields: list[str] = field(default_factory=list)
    terse: bool = False


def _nmcli_options(words: Words) -> _NmcliOptions:
    options = _NmcliOptions()
    while (word := words.peek()) is not None and word.startswith("-"):
        words.take()
        if word in ("-g", "--get-values", "-f", "--fields"):
            options.fields = words.need(f"Error: missing argument for '{word}'.", 2).split(",")
            options.terse = options.terse or word in ("-g", "--get-values")
        elif word in ("-t", "--terse"):
            options.terse = True
        elif word in ("-w", "--wait", "-e", "--escape", "-m", "--mode", "-c", "--colors"):
            words.need(f"Error: missing argument for '{word}'.", 2)
    return options


def _device(call: Call, words: Words) -> Interface:
    name = words.need("Error: No interface specified.", 2)
    interface = call.machine.network.interfaces.get(name)
    if interface is None:
        raise Usage(f"Error: Device '{name}' not found.", 10)
    return interface


def _device_show(call: Call, words: Words, fields: list[str]) -> int:
    interface = _device(call, words)
    profile = call.machine.manager.active.get(interface.name)
    known = profile is not None and profile.owner == "NetworkManager"
    values = {
        "GENERAL.DEVICE": interface.name,
        "GENERAL.TYPE": "ethernet",
        "GENERAL.HWADDR": interface.mac.upper(),
        "GENERAL.MTU": str(interface.mtu),
        "GENERAL.STATE": "100 (connected)" if known else "30 (disconnected)",
        "GENERAL.CONNECTION": profile.name if known and profile else "",
        "GENERAL.CON-UUID": profile.uuid if known and profile else "",
    }
    if fields:
        for field in fields:
            if field not in values:
                raise Usage(f"Error: invalid field '{field}'.", 2)
            call.line(values[field])
        return 0
    for key, value in values.items():
        call.line(f"{key + ':':<40}{value or '--'}")
    return 0


def _device_status(call: Call, options: _NmcliOptions) -> int:
    fields = options.fields or ["DEVICE", "TYPE", "STATE", "CONNECTION"]
    rows = []
    for interface in call.machine.network.interfaces.values():
        profile = call.machine.manager.active.get(interface.name)
        kind = {"wifi": "wifi", "bridge": "bridge", "loopback": "loopback"}.get(interface.kind, "ethernet")
        known = {"DEVICE": interface.name, "TYPE": kind, "STATE": _state(call, interface),
                 "CONNECTION": profile.name if profile else ""}  # fmt: skip
        unknown = [name for name in fields if name not in known]
        if unknown:
            raise Usage(f"Error: invalid field '{unknown[0]}'.", 2)
        rows.append([known[name] for name in fields])
    if options.terse:
        for row in rows:
            call.line(":".join(word.replace("\\", "\\\\").replace(":", "\\:") for word in row))
        return 0
    for row in [fields, *([word or "--" for word in row] for row in rows)]:
        call.line("  ".join(f"{word:<22}" for word in row).rstrip())
    return 0


def _state(call: Call, interface: Interface) -> str:
    if interface.kind in ("loopback", "bridge"):
        return "connected (externally)"
    if call.machine.manager.owner(interface.name) != "NetworkManager":
        return "unmanaged"
    if interface.name in call.machine.manager.active:
        return "connected"
    return "disconnected" if interface.carrier or interface.kind == "wifi" else "unavailable"


def _connections(call: Call) -> int:
    call.line(f"{'NAME':<24}{'UUID':<38}{'TYPE':<10}DEVICE")
    active = {profile.name for profile in call.machine.manager.active.values()}
    for profile in call.machine.manager.profiles.values():
        device = profile.interface if profile.name in active else "--"
        call.line(f"{profile.name:<24}{profile.uuid:<38}{'ethernet':<10}{device}")
    return 0


async def _connection_up(call: Call, words: Words) -> int:
    machine = call.machine
    kind = words.take("id", "uuid") or "id"
    name = words.need("Error: No connection specified.", 2)
    profile = machine.manager.find(name)
    if profile is None or profile.owner != "NetworkManager":
        raise Usage(
            f"Error: unknown connection '{name}'." if kind == "id" else f"Error: unknown connection {name}.", 10
        )
    if words.take("ifname"):
        wanted = words.need("Error: missing argument.", 2)
        if wanted != profile.interface:
            raise Usage(f"Error: device '{wanted}' not compatible with connection '{profile.name}'.", 4)
    call.need_root("Error: Connection activation failed: Not authorized to control networking.", 4)
    machine.note("nmcli", call.argv, root=True)
    return await _activate(call, profile)


async def _activate(call: Call, profile: Profile) -> int:
    machine = call.machine
    if not machine.network.interfaces[profile.interface].carrier:
        raise Usage(
            f"Error: Connection activation failed: No suitable device found for this connection (device "
            f"{profile.interface} not available because device has no carrier).",
            4,
        )
    if not await machine.manager.activated(profile):
        raise Usage("Error: Connection activation failed: a newer activation request took over.", 4)
    call.line(
        "Connection successfully activated (D-Bus active path: /org/freedesktop/NetworkManager/ActiveConnection/9)"
    )
    return 0


async def _device_reapply(call: Call, words: Words) -> int:
    machine = call.machine
    interface = _device(call, words)
    call.need_root("Error: Reapplying connection to device failed: Not authorized to control networking.", 1)
    profile = machine.manager.profile_for(interface.name)
    if profile is None or profile.owner != "NetworkManager" or interface.name not in machine.manager.active:
        raise Usage(f"Error: Reapplying connection to device '{interface.name}' failed: Device is not activated", 1)
    machine.note("nmcli", call.argv, root=True)
    if not await machine.manager.activated(profile):
        raise Usage(f"Error: Reapplying connection to device '{interface.name}' failed: it was activated anew", 1)
    call.line(f"Connection successfully reapplied to device '{interface.name}'.")
    return 0
