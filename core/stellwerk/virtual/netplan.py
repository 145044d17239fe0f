"""Reads netplan files as netplan does: merged over all files, judged key by key, with line and column of an error."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

_WORDS = {
    "device sections": """ethernets wifis bonds bridges vlans tunnels vrfs modems nm-devices dummy-devices
        virtual-ethernets""",
    "ethernet": """accept-ra activation-mode addresses auth critical delay-virtual-functions-rebind dhcp-identifier
        dhcp4 dhcp4-overrides dhcp6 dhcp6-overrides embedded-switch-mode emit-lldp gateway4 gateway6
        generic-receive-offload generic-segmentation-offload ignore-carrier infiniband-mode ipv6-address-generation
        ipv6-address-token ipv6-mtu ipv6-privacy large-receive-offload link link-local macaddress match mtu
        nameservers networkmanager openvswitch optional optional-addresses receive-checksum-offload renderer routes
        routing-policy set-name tcp-segmentation-offload tcp6-segmentation-offload transmit-checksum-offload
        virtual-function-count wakeonlan""",
    "route": """from to via on-link metric type scope table mtu congestion-window advertised-receive-window
        advertised-mss""",
}
_DEVICE_SECTIONS, _ETHERNET_KEYS, _ROUTE_KEYS = (frozenset(words.split()) for words in _WORDS.values())
_TOP_KEYS = frozenset({"version", "renderer", "openvswitch", *_DEVICE_SECTIONS})
_BOOLEANS = {"true": True, "yes": True, "on": True, "y": True, "false": False, "no": False, "off": False, "n": False}
_RENDERERS = ("networkd", "NetworkManager", "sriov")


class NetplanError(ValueError):
    """A file that netplan refuses; the text is what netplan prints."""


@dataclass(frozen=True, slots=True)
class RouteConfig:
    """One entry of `routes:`."""

    to: str
    via: str | None = None
    metric: int | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class EthernetConfig:
    """What all files together say about one interface."""

    name: str
    dhcp4: bool = False
    addresses: tuple[str, ...] = ()
    mtu: int | None = None
    routes: tuple[RouteConfig, ...] = ()
    link_local: tuple[str, ...] = ("ipv6",)
    renderer: str | None = None
    optional: bool = False
    gateway4: str | None = None


@dataclass(frozen=True, slots=True)
class NetplanConfig:
    """The merged configuration."""

    renderer: str = "networkd"
    ethernets: Mapping[str, EthernetConfig] = field(default_factory=dict)

    def owner(self, interface: str) -> str:
        """Which program configures the interface."""
        entry = self.ethernets.get(interface)
        return (entry.renderer if entry else None) or self.renderer


class _File:
    """One file while it is judged."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()

    def refuse(self, node: yaml.Node, message: str) -> NetplanError:
        mark = node.start_mark
        line = self.lines[mark.line] if mark.line < len(self.lines) else ""
        place = f"{self.path}:{mark.line + 1}:{mark.column + 1}"
        return NetplanError(f"{place}: Error in network definition: {message}\n{line}\n{' ' * mark.column}^")


def load(files: Mapping[str, str]) -> NetplanConfig:
    """Merge the files (path -> text) in the order given. Raises `NetplanError`."""
    config = NetplanConfig()
    for path, text in files.items():
        config = _merge_file(config, path, text)
    return config


def _merge_file(config: NetplanConfig, path: str, text: str) -> NetplanConfig:
    file = _File(path, text)
    try:
        document = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark is not None else path
        raise NetplanError(f"{place}: Invalid YAML: {getattr(error, 'problem', None) or error}") from None
    if document is None:
        return config
    for key, node in _mapping(file, document):
        if key.value != "network":
            raise file.refuse(key, f"unknown key '{key.value}'")
        for section, body in _mapping(file, node):
            config = _merge_section(config, file, section, body)
    return config


def _merge_section(config: NetplanConfig, file: _File, section: yaml.ScalarNode, body: yaml.Node) -> NetplanConfig:
    name = section.value
    if name not in _TOP_KEYS:
        raise file.refuse(section, f"unknown key '{name}'")
    if name == "version":
        if _scalar(file, body) != "2":
            raise file.refuse(body, "Only version 2 is supported")
    elif name == "renderer":
        return replace(config, renderer=_renderer(file, body))
    elif name == "ethernets" and not _is_null(body):
        ethernets = dict(config.ethernets)
        for device, keys in _mapping(file, body):
            known = ethernets.get(device.value, EthernetConfig(device.value))
            ethernets[device.value] = _merge_ethernet(known, file, keys)
        return replace(config, ethernets=ethernets)
    elif name in _DEVICE_SECTIONS and not _is_null(body):
        _mapping(file, body)
    return config


def _merge_ethernet(known: EthernetConfig, file: _File, body: yaml.Node) -> EthernetConfig:
    if _is_null(body):
        return known
    changes: dict[str, Any] = {}
    for key, value in _mapping(file, body):
        name = key.value
        if name not in _ETHERNET_KEYS:
            raise file.refuse(key, f"unknown key '{name}'")
        reader = _READERS.get(name)
        if reader is not None:
            changes.update(reader(known, file, value))
    return replace(known, **changes)


def _read_addresses(known: EthernetConfig, file: _File, value: yaml.Node) -> dict[str, Any]:
    found = list(known.addresses)
    for item in _sequence(file, value):
        # An address with options is a mapping of one key.
        node = item.value[0][0] if isinstance(item, yaml.MappingNode) and item.value else item
        text = _scalar(file, node)
        try:
            ipaddress.ip_interface(text)
        except ValueError:
            raise file.refuse(node, f"malformed address '{text}', must be X.X.X.X/NN or X:X:X:X:X:X:X:X/NN") from None
        if "/" not in text:
            raise file.refuse(node, f"address '{text}' is missing /prefixlength")
        if text not in found:
            found.append(text)
    return {"addresses": tuple(found)}


def _read_routes(known: EthernetConfig, file: _File, value: yaml.Node) -> dict[str, Any]:
    found = list(known.routes)
    for item in _sequence(file, value):
        words: dict[str, str] = {}
        for key, node in _mapping(file, item):
            if key.value not in _ROUTE_KEYS:
                raise file.refuse(key, f"unknown key '{key.value}'")
            words[key.value] = text = _scalar(file, node)
            if key.value == "to" and text != "default":
                _check_ip(file, node, text, network=True)
            elif key.value in ("via", "from"):
                _check_ip(file, node, text, network=False)
        if "to" not in words:
            raise file.refuse(item, "unicast route must include a 'to' IP")
        metric = words.get("metric")
        route = RouteConfig(words["to"], words.get("via"), int(metric) if metric else None, words.get("from"))
        if route not in found:
            found.append(route)
    return {"routes": tuple(found)}


def _check_ip(file: _File, node: yaml.Node, text: str, *, network: bool) -> None:
    try:
        if network:
            ipaddress.ip_network(text, strict=False)
        else:
            ipaddress.ip_address(text)
    except ValueError:
        raise file.refuse(node, f"invalid IP family '{text}'") from None


def _read_mtu(known: EthernetConfig, file: _File, value: yaml.Node) -> dict[str, Any]:
    text = _scalar(file, value)
    if not text.isdecimal():
        raise file.refuse(value, f"invalid unsigned int value '{text}'")
    return {"mtu": int(text)}


def _read_link_local(known: EthernetConfig, file: _File, value: yaml.Node) -> dict[str, Any]:
    families = [_scalar(file, item) for item in _sequence(file, value)]
    for family in families:
        if family not in ("ipv4", "ipv6"):
            raise file.refuse(value, f"invalid value for link-local: '{family}'")
    return {"link_local": tuple(families)}


def _read_gateway(known: EthernetConfig, file: _File, value: yaml.Node) -> dict[str, Any]:
    text = _scalar(file, value)
    _check_ip(file, value, text, network=False)
    return {"gateway4": text}


def _renderer(file: _File, value: yaml.Node) -> str:
    text = _scalar(file, value)
    if text not in _RENDERERS:
        raise file.refuse(value, f"unknown renderer '{text}'")
    return text


def _boolean(name: str) -> Callable[[EthernetConfig, _File, yaml.Node], dict[str, Any]]:
    def read(known: EthernetConfig, file: _File, value: yaml.Node) -> dict[str, Any]:
        text = _scalar(file, value)
        if text.lower() not in _BOOLEANS:
            raise file.refuse(value, f"invalid boolean value '{text}'")
        return {name: _BOOLEANS[text.lower()]}

    return read


_READERS: dict[str, Callable[[EthernetConfig, _File, yaml.Node], dict[str, Any]]] = {
    "addresses": _read_addresses,
    "routes": _read_routes,
    "mtu": _read_mtu,
    "link-local": _read_link_local,
    "gateway4": _read_gateway,
    "dhcp4": _boolean("dhcp4"),
    "optional": _boolean("optional"),
    "renderer": lambda known, file, value: {"renderer": _renderer(file, value)},
}


def _mapping(file: _File, node: yaml.Node) -> list[tuple[yaml.ScalarNode, yaml.Node]]:
    if not isinstance(node, yaml.MappingNode):
        raise file.refuse(node, "expected mapping (check indentation)")
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise file.refuse(key, "expected scalar")
    return list(node.value)


def _sequence(file: _File, node: yaml.Node) -> list[yaml.Node]:
    if not isinstance(node, yaml.SequenceNode):
        raise file.refuse(node, "expected sequence")
    return list(node.value)


def _scalar(file: _File, node: yaml.Node) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise file.refuse(node, "expected scalar")
    return str(node.value)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value in ("", "null", "~")
