"""What is set on each half now: live and in the netplan files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Interface

from stellwerk.fabric.members import HalfAt, Member
from stellwerk.fabric.netplan import OWN_PATH, Configured, NetplanText, configured, parse_files
from stellwerk.fabric.subnets import LINK_LOCAL, ipv4
from stellwerk.model.errors import BadInput


@dataclass(frozen=True, slots=True)
class NodeState:
    """The netplan files of a machine, parsed. `unread` lists those that need root to be read."""

    member: Member
    texts: tuple[NetplanText, ...]
    unread: tuple[str, ...] = ()

    @property
    def owned(self) -> bool:
        """Is our own file there?"""
        return any(text.path == OWN_PATH for text in self.texts)


@dataclass(frozen=True, slots=True)
class HalfState:
    """One half as it is."""

    live: tuple[IPv4Interface, ...]  # without link-local ones
    link_local: bool  # a 169.254 address is on it
    mtu: int | None
    by_dhcp: bool
    config: Configured
    static: tuple[IPv4Interface, ...]  # from the netplan files

    def address(self, readable: bool) -> IPv4Interface | None:
        """The one address that this half has for good; None when it has none, several, or one that may change."""
        if self.by_dhcp:
            return None
        if readable and self.static:
            return self.static[0] if len(self.static) == 1 else None
        return self.live[0] if len(self.live) == 1 else None


def read_node(member: Member) -> NodeState:
    """Parse the netplan files of a machine. Raises `BadInput` that names machine and file."""
    try:
        texts = parse_files(member.facts.netplan)
    except BadInput as error:
        raise BadInput(error.what, node=member.name, why=error.why, remedy=error.remedy) from None
    unread = tuple(file.path for file in member.facts.netplan if file.text is None and file.path.endswith(".yaml"))
    return NodeState(member, texts, unread)


def read_half(node: NodeState, at: HalfAt) -> HalfState:
    """The state of one half."""
    device = at.half.netdev
    config = configured(node.texts, device)
    found = [address for address in map(ipv4, device.addresses) if address is not None]
    from_dhcp = any(route.device == device.name and route.protocol == "dhcp" for route in node.member.facts.routes)
    return HalfState(
        live=tuple(address for address in found if address.ip not in LINK_LOCAL),
        link_local=any(address.ip in LINK_LOCAL for address in found),
        mtu=device.mtu,
        by_dhcp=config.dhcp4 or from_dhcp,
        config=config,
        static=tuple(a for a in map(ipv4, config.addresses) if a is not None and a.ip not in LINK_LOCAL),
    )


def halves_of(member: Member) -> Iterable[HalfAt]:
    """All halves of a machine, in order."""
    for port in member.ports:
        for half in port.halves:
            yield HalfAt(member, port, half)
