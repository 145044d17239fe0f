"""Makes the machine live by its files: generates, reconfigures only what changes, asks who owns an interface."""

from __future__ import annotations

import configparser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stellwerk.model.errors import ApplyFailed
from stellwerk.model.text import joined
from stellwerk_agent.netguard.commands import Done, Runner
from stellwerk_agent.netguard.layout import Layout

NETWORKD = "networkd"
NETWORK_MANAGER = "NetworkManager"
_ACTIVATION_S = 20


@dataclass(frozen=True, slots=True)
class Profile:
    """NetworkManager's active connection of one interface."""

    name: str
    uuid: str


def generate_command(layout: Layout, tree: Path | None = None) -> tuple[str, ...]:
    """The call of netplan's generator for a staging tree, or for the machine itself."""
    target = tree if tree is not None else layout.root
    return ("netplan", "generate") if target == Path("/") else ("netplan", "generate", "--root-dir", str(target))


def generate(layout: Layout, run: Runner) -> None:
    """Turn the machine's netplan files into what its network service reads. Raises `ApplyFailed`."""
    done = run(generate_command(layout))
    if not done.ok:
        raise ApplyFailed("netplan does not accept the files in place", why=done.complaint)


def netplan_profile(tree: Path, device: str) -> str | None:
    """The name of NetworkManager's profile that netplan generated for an interface."""
    for path in sorted((tree / "run/NetworkManager/system-connections").glob("netplan-*.nmconnection")):
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(path.read_text("utf-8", "replace"))
        except (OSError, configparser.Error):
            continue
        named = parser.get("connection", "interface-name", fallback=None)
        if named == device or (named is None and path.name == f"netplan-{device}.nmconnection"):
            return parser.get("connection", "id", fallback=f"netplan-{device}")
    return None


def owner(tree: Path, device: str) -> str | None:
    """Who configures an interface by what netplan generated; None when no netplan file names it."""
    if (tree / f"run/systemd/network/10-netplan-{device}.network").is_file():
        return NETWORKD
    return NETWORK_MANAGER if netplan_profile(tree, device) is not None else None


def active_profile(device: str, run: Runner) -> Profile | None:
    """The connection that NetworkManager runs on an interface; None without one or without NetworkManager."""
    done = run(("nmcli", "-g", "GENERAL.CONNECTION,GENERAL.CON-UUID", "device", "show", device))
    lines = done.stdout.splitlines() if done.ok else []
    if len(lines) < 2 or not lines[1].strip():
        return None
    return Profile(lines[0].replace("\\", "").strip(), lines[1].strip())


def reconfigure(
    layout: Layout,
    devices: Sequence[str],
    run: Runner,
    owners_before: Mapping[str, str],
    profiles_before: Mapping[str, Profile],
) -> tuple[str, ...]:
    """Have the network service take up what was generated, on these interfaces only.

    `netplan apply` touches every interface, so it is the last resort. Gives notes for the log; raises `ApplyFailed`.
    """
    owners = {device: owner(layout.root, device) for device in devices}
    concerned = set(owners.values()) | {owners_before.get(device) for device in devices}
    failed: list[Done] = []
    if NETWORKD in concerned:
        failed += _failed(run(("networkctl", "reload")))
    if NETWORK_MANAGER in concerned:
        failed += _failed(run(("nmcli", "connection", "reload")))
    for device in () if failed else devices:
        who = owners[device] or owners_before.get(device)
        if who == NETWORKD:
            failed += _failed(run(("networkctl", "reconfigure", device)))
        elif who == NETWORK_MANAGER:
            failed += _reconfigure_nm(layout, device, run, profiles_before.get(device))
    if not failed:
        return ()
    done = run(("netplan", "apply"), timeout_s=120.0)
    if not done.ok:
        raise ApplyFailed(
            "the network service does not take up the files",
            why=joined((failed[0].complaint, done.complaint), "; "),
        )
    return (f"{failed[0].complaint}; `netplan apply` did it",)


def _reconfigure_nm(layout: Layout, device: str, run: Runner, before: Profile | None) -> list[Done]:
    profile = netplan_profile(layout.root, device)
    if profile is None:
        # Netplan no longer speaks of it: back to what NetworkManager ran there before, if anything. It often does so by
        # itself; waiting for the end would be waiting for a DHCP server that may not be there.
        still = active_profile(device, run)
        if before is not None and (still is None or still.uuid != before.uuid):
            run(("nmcli", "--wait", "0", "connection", "up", "uuid", before.uuid, "ifname", device))
        return []
    active = active_profile(device, run)
    if active is not None and active.name == profile and run(("nmcli", "device", "reapply", device)).ok:
        return []
    up = ("nmcli", "--wait", str(_ACTIVATION_S), "connection", "up", "id", profile, "ifname", device)
    done = run(up, timeout_s=_ACTIVATION_S + 10)
    if not done.ok and layout.carrier(device) is not True:
        return []  # NetworkManager waits for a cable; it will take the profile up by itself
    return _failed(done)


def _failed(done: Done) -> list[Done]:
    return [] if done.ok else [done]
