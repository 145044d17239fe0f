"""The commands of a simulated node, by name."""

from __future__ import annotations

from stellwerk.virtual.call import Command
from stellwerk.virtual.shims import ip, netconfig, sudo

COMMANDS: dict[str, Command] = {
    "ip": ip.run,
    "netplan": netconfig.netplan,
    "networkctl": netconfig.networkctl,
    "nmcli": netconfig.nmcli,
    "sudo": sudo.run,
}
