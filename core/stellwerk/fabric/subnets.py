"""Which networks are taken on any machine, and where free subnets come from."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Interface, IPv4Network
from itertools import islice

from stellwerk.model.errors import BadInput, PlanRefused
from stellwerk.model.text import joined, say

LINK_LOCAL = IPv4Network("169.254.0.0/16")
# What routers hand out most. A fabric in one of these breaks on the day a machine is carried to such a LAN.
HOME_LANS = tuple(IPv4Network(f"192.168.{n}.0/24") for n in (0, 1, 2, 88, 178))
DOCKER = IPv4Network("172.17.0.0/16")
SHARED = IPv4Network("100.64.0.0/10")  # Tailscale and providers
NEVER = (*HOME_LANS, DOCKER, SHARED, LINK_LOCAL)
_SUBNET_PREFIX = 24
_MOST_SUBNETS = 4096  # of a wide pool; a fabric of eight needs 16


@dataclass(frozen=True, slots=True)
class Taken:
    """A network that is in use, and where."""

    network: IPv4Network
    where: str


def ipv4(text: str) -> IPv4Interface | None:
    """An IPv4 address with its prefix out of a CIDR; None for IPv6, for a bare address and for garbage."""
    try:
        interface = ipaddress.ip_interface(text)
    except ValueError:
        return None
    return interface if isinstance(interface, IPv4Interface) and "/" in text else None


def taken(text: str, where: str) -> Taken | None:
    """A network in use, from an address, a route or a file; None for what is no IPv4 network or all of it."""
    try:
        network = ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
    # A prefix of one bit or none is a default route in disguise (VPNs that take all traffic).
    if not isinstance(network, IPv4Network) or network.prefixlen <= 1 or network.is_loopback or network.is_multicast:
        return None
    return Taken(network, where)


def overlap(network: IPv4Network, others: Iterable[Taken]) -> Taken | None:
    """The first of the others that overlaps the network."""
    return next((other for other in others if network.overlaps(other.network)), None)


def default_pools() -> Iterator[IPv4Network]:
    """Private ranges of 256 subnets, the least likely to collide first."""
    for second in (*range(100, 200), *range(16, 100), *range(200, 255)):
        yield IPv4Network(f"10.{second}.0.0/16")
    for second in range(18, 32):
        yield IPv4Network(f"172.{second}.0.0/16")
    yield IPv4Network("192.168.0.0/16")


def parse_pool(text: str) -> IPv4Network:
    """The pool that a person chose. Raises `BadInput`."""
    try:
        pool = IPv4Network(text.strip())
    except ValueError as error:
        remedy = "Give a private network such as 10.100.0.0/16"
        raise BadInput(
            say("{text} is no network to take subnets from", text=repr(text)), why=str(error), remedy=remedy
        ) from None
    if not pool.is_private or pool.prefixlen > _SUBNET_PREFIX - 1 or pool.prefixlen < 8:
        raise BadInput(
            say("{pool} is no network to take subnets from", pool=pool),
            why=say(
                "it has to be private and hold at least two /{subnet_prefix} networks", subnet_prefix=_SUBNET_PREFIX
            ),
            remedy="Give a private network such as 10.100.0.0/16",
        )
    return pool


class SubnetSource:
    """Hands out /24 subnets that overlap nothing. Two neighbours (2k, 2k+1) belong to the two halves of a cable."""

    def __init__(self, chosen: str | None, in_use: Sequence[Taken], kept: Sequence[IPv4Network], need: int) -> None:
        self._blocked = [*(Taken(network, say("in use everywhere")) for network in NEVER), *in_use]
        self._gone = [Taken(network, say("the fabric")) for network in kept]
        self.pool = parse_pool(chosen) if chosen else self._default(kept, need)
        self._subnets = list(islice(self.pool.subnets(new_prefix=_SUBNET_PREFIX), _MOST_SUBNETS))

    def _default(self, kept: Sequence[IPv4Network], need: int) -> IPv4Network:
        # New subnets go where the old ones are, so that one range covers the whole fabric.
        homes = [net.supernet(new_prefix=16) for net in kept if net.prefixlen > 16 and str(net).startswith("10.")]
        whole = [pool for pool in (*homes, *default_pools()) if overlap(pool, self._blocked) is None]
        for pool in (*whole, *default_pools()):
            free = (subnet for subnet in pool.subnets(new_prefix=_SUBNET_PREFIX) if self._is_free(subnet))
            if len(list(islice(free, 2 * need))) == 2 * need:
                return pool
        raise self._full(say("any private range"))

    def _is_free(self, subnet: IPv4Network) -> bool:
        return overlap(subnet, self._blocked) is None and overlap(subnet, self._gone) is None

    def _full(self, where: str) -> PlanRefused:
        named = self._blocked[len(NEVER) :][:4]
        blocking = joined([say("{network} ({where})", network=e.network, where=e.where) for e in named], "; ")
        return PlanRefused(
            say("there is no free subnet left in {where}", where=where),
            why=say("these networks are in use: {blocking}", blocking=blocking) if blocking else "",
            remedy="Choose another range for the fabric's subnets",
        )

    def take(self, count: int, sibling_of: IPv4Network | None = None) -> list[IPv4Network]:
        """`count` free subnets: next to `sibling_of` where that is free, else the lowest free neighbours.

        Raises `PlanRefused` when the pool is used up.
        """
        if count == 1 and sibling_of in self._subnets:
            beside = self._subnets[self._subnets.index(sibling_of) ^ 1]
            if self._is_free(beside):
                return self._mark([beside])
        step = 2 if count <= 2 else count
        for start in range(0, len(self._subnets) - count + 1, step):
            group = self._subnets[start : start + count]
            if all(self._is_free(subnet) for subnet in group):
                return self._mark(group)
        free = [subnet for subnet in self._subnets if self._is_free(subnet)]
        if len(free) < count:
            raise self._full(str(self.pool))
        return self._mark(free[:count])

    def _mark(self, subnets: list[IPv4Network]) -> list[IPv4Network]:
        self._gone += [Taken(subnet, say("the fabric")) for subnet in subnets]
        return subnets
