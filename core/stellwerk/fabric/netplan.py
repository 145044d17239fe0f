"""Netplan files: what they say about an interface, our own file, and our interfaces' keys out of foreign files.

Our file carries no `renderer:` (inherited: Sparks are NetworkManager's), marks the halves `optional` (else boot waits
for a cable) and sets `link-local: []`: without an IPv6 address on a half the RoCE v2 entry of its IPv4 address stays
at one place in the GID table (index 3 on a ConnectX-7), and cable discovery does not need IPv6 on a half that has an
IPv4 address: it then calls by IPv4 multicast.
"""

from __future__ import annotations

import difflib
import fnmatch
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from stellwerk.fabric import yamltree
from stellwerk.model.errors import BadInput
from stellwerk.model.facts import NetDevice, NetplanFile
from stellwerk.model.plan import FileChange
from stellwerk.model.text import say

OWN_PATH = "/etc/netplan/60-stellwerk.yaml"
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS_WITH_MEANING = frozenset(["true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"])
_TRUE = frozenset(("true", "yes", "on", "y", "1"))
_GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Stanza:
    """What our file says about one interface."""

    netdev: str
    address: str  # CIDR
    mtu: int
    routes: tuple[tuple[str, str], ...] = ()  # (subnet, next hop)


@dataclass(frozen=True, slots=True)
class Claim:
    """A place in a netplan file that configures one of our interfaces.

    kind: own (a key of its own, can be removed) | pattern (a wildcard that takes in other interfaces, too) |
    rename (the name itself comes from here) | member (part of a bond, bridge or VLAN).
    """

    path: str
    netdev: str
    key: str  # the id under `ethernets:`, or `bonds.bond0`
    kind: str


@dataclass(frozen=True, slots=True)
class Configured:
    """What all netplan files together say about one interface; lists of several files add up, as netplan does it."""

    addresses: tuple[str, ...] = ()
    dhcp4: bool = False
    mtu: int | None = None
    link_local_off: bool = False
    routes: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()


class NetplanText:
    """One file, parsed. Raises `BadInput` where netplan could not read it either."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.tree = yamltree.parse(text, path)
        content = yamltree.data(self.tree, path)
        if content is None:
            content = {}
        if not isinstance(content, dict):
            raise BadInput(say("{path} is not a netplan file", path=path), why="it does not begin with `network:`")
        network = content.get("network")
        if network is None:
            network = {}
        if not isinstance(network, dict):
            raise BadInput(say("{path} is not a netplan file", path=path), why="`network:` holds no settings")
        self.content: dict[str, Any] = content
        self.network: dict[str, Any] = network
        self.ethernets = self._section("ethernets")

    def _section(self, name: str) -> dict[str, dict[str, Any]]:
        section = self.network.get(name)
        if section is None:
            return {}
        if not isinstance(section, dict) or not all(isinstance(v, dict) or v is None for v in section.values()):
            raise BadInput(
                say("{path} is not a netplan file", path=self.path),
                why=say("`{name}:` holds something that is no interface", name=name),
            )
        return {key: value or {} for key, value in section.items()}

    def claims(self, device: NetDevice) -> list[Claim]:
        """All places in this file that configure the interface."""
        found = []
        for key, value in self.ethernets.items():
            kind = _claim_kind(key, value, device)
            if kind:
                found.append(Claim(self.path, device.name, key, kind))
        for section in ("bonds", "bridges", "vlans"):
            for key, value in self._section(section).items():
                members = value.get("interfaces") or []
                link = [value["link"]] if isinstance(value.get("link"), str) else []
                if device.name in (members if isinstance(members, list) else []) or device.name in link:
                    found.append(Claim(self.path, device.name, f"{section}.{key}", "member"))
        return found

    def without(self, keys: Iterable[str]) -> str | None:
        """The text without these ids of `ethernets:`; None when nothing but the version is left.

        Raises `BadInput` when that cannot be done without touching anything else.
        """
        doomed = set(keys) & set(self.ethernets)
        if not doomed:
            return self.text
        expected = self._expected_without(doomed)
        if expected is None:
            return None
        root = yamltree.mapping(self.tree)
        cuts: list[yamltree.Cut] = []
        for network in _mappings(root, "network"):
            empty = []
            for key, value in network.pairs:
                if yamltree.key_text(key) != "ethernets":
                    continue
                section = value if isinstance(value, yamltree.Mapping) else None
                if section is None:
                    raise self._refused("`ethernets:` is an alias")
                going = [k for k, _ in section.pairs if yamltree.key_text(k) in doomed]
                if len(going) == len(section.pairs):
                    empty.append(key)
                else:
                    cuts += yamltree.cuts_for(self.text, self.path, section, lambda k, g=going: _is_in(k, g))  # type: ignore[misc]
            cuts += yamltree.cuts_for(self.text, self.path, network, lambda k, e=empty: _is_in(k, e))  # type: ignore[misc]
        result = yamltree.cut(self.text, cuts)
        try:
            check = NetplanText(self.path, result).content
        except BadInput as error:
            raise self._refused(error.what) from None
        if check != expected:
            raise self._refused("what stays depends on what would go")
        return result

    def _expected_without(self, doomed: set[str]) -> dict[str, Any] | None:
        section = {key: value for key, value in (self.network.get("ethernets") or {}).items() if key not in doomed}
        network = {key: value for key, value in self.network.items() if key != "ethernets"}
        if section:
            network["ethernets"] = section
        if set(network) <= {"version"} and set(self.content) == {"network"}:
            return None
        return {**self.content, "network": network}

    def _refused(self, why: str) -> BadInput:
        return BadInput(
            say("our interfaces cannot be taken out of {path} without touching the rest of it", path=self.path),
            why=why,
            remedy="Remove them from that file by hand",
        )


def _is_in(key: yamltree.Node, keys: Sequence[yamltree.Node]) -> bool:
    return any(key is other for other in keys)


def _mappings(parent: yamltree.Mapping | None, key: str) -> list[yamltree.Mapping]:
    pairs = parent.pairs if parent else []
    return [v for k, v in pairs if yamltree.key_text(k) == key and isinstance(v, yamltree.Mapping)]


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _claim_kind(key: str, value: Mapping[str, Any], device: NetDevice) -> str | None:
    """How an entry of `ethernets:` claims an interface; None when it does not."""
    if "match" not in value:
        return "own" if key == device.name else None
    match = value["match"] if isinstance(value["match"], dict) else {}
    macs = {mac.lower() for mac in (device.mac, device.permanent_mac) if mac}
    if "macaddress" in match and (match["macaddress"] or "").lower() not in macs:
        return None
    names, drivers = _strings(match.get("name")), _strings(match.get("driver"))
    # A stanza that sets the name matches the interface under the name it had before.
    renames = isinstance(value.get("set-name"), str)
    if names and not renames and not any(fnmatch.fnmatchcase(device.name, pattern) for pattern in names):
        return None
    if drivers and not any(fnmatch.fnmatchcase(device.driver or "", pattern) for pattern in drivers):
        return None
    if renames:
        return "rename" if value["set-name"] == device.name else None
    exact = "macaddress" in match or (len(names) == 1 and not _GLOB.search(names[0]))
    return "own" if exact else "pattern"


def parse_files(files: Sequence[NetplanFile]) -> tuple[NetplanText, ...]:
    """All files that netplan reads, in the order in which it merges them. Raises `BadInput`; skips unread ones."""
    readable = [file for file in files if file.text is not None and file.path.endswith(".yaml")]
    ordered = sorted(readable, key=lambda file: PurePosixPath(file.path).name)
    return tuple(NetplanText(file.path, file.text or "") for file in ordered)


def configured(texts: Sequence[NetplanText], device: NetDevice) -> Configured:
    """What the files together say about one interface."""
    addresses: list[str] = []
    routes: list[tuple[str, str]] = []
    files: list[str] = []
    dhcp4 = link_local_off = False
    mtu: int | None = None
    for text in texts:
        for claim in text.claims(device):
            if claim.kind == "member":
                continue
            value = text.ethernets[claim.key]
            files += [text.path] if text.path not in files else []
            addresses += [a for a in _addresses(value) if a not in addresses]
            routes += _routes(value)
            if isinstance(value.get("dhcp4"), str):
                dhcp4 = value["dhcp4"].lower() in _TRUE
            if isinstance(value.get("mtu"), str) and value["mtu"].isdigit():
                mtu = int(value["mtu"])
            if "link-local" in value:
                link_local_off = value["link-local"] in (None, [])
    return Configured(tuple(addresses), dhcp4, mtu, link_local_off, tuple(routes), tuple(files))


def addresses_elsewhere(texts: Sequence[NetplanText], devices: Sequence[NetDevice]) -> list[tuple[str, str]]:
    """(CIDR, file) of every address in these files that is not for one of the devices, whatever kind it is for."""
    result = []
    for text in texts:
        ours = {claim.key for device in devices for claim in text.claims(device) if claim.kind in ("own", "rename")}
        for section, entries in text.network.items():
            for key, value in entries.items() if isinstance(entries, dict) else ():
                if isinstance(value, dict) and not (section == "ethernets" and key in ours):
                    result += [(address, text.path) for address in _addresses(value)]
    return result


def _addresses(value: Mapping[str, Any]) -> list[str]:
    entries = value.get("addresses")
    result = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, str):
            result.append(entry)
        elif isinstance(entry, dict):  # an address with options
            result += list(entry)
    return result


def _routes(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    entries = value.get("routes")
    return [
        (entry["to"], entry["via"])
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and isinstance(entry.get("to"), str) and isinstance(entry.get("via"), str)
    ]


def render(stanzas: Sequence[Stanza]) -> str:
    """The text of our own file."""
    lines = [
        "# Written by Stellwerk: the fabric of this machine. It is replaced as a whole when a plan is applied.",
        "network:",
        "  version: 2",
        "  ethernets:",
    ]
    for stanza in stanzas:
        lines += [
            f"    {_quoted(stanza.netdev)}:",
            "      optional: true",
            "      dhcp4: false",
            "      dhcp6: false",
            "      link-local: []",
            f"      mtu: {stanza.mtu}",
            "      addresses:",
            f"        - {stanza.address}",
        ]
        if stanza.routes:
            lines.append("      routes:")
            for to, via in stanza.routes:
                lines += [f"        - to: {to}", f"          via: {via}"]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    plain = _PLAIN_NAME.fullmatch(name) and name.lower() not in _WORDS_WITH_MEANING
    return name if plain else json.dumps(name)


def diff(change: FileChange) -> str:
    """A unified diff of one file, for showing."""
    before, after = change.before or "", change.after or ""
    lines = difflib.unified_diff(
        before.splitlines(),
        after.splitlines(),
        change.path if change.before is not None else "/dev/null",
        change.path if change.after is not None else "/dev/null",
        lineterm="",
    )
    return "\n".join(lines)
