"""Ports, halves, cables and topologies: what the core makes of the facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from stellwerk.model.facts import NetDevice, RdmaDevice
from stellwerk.model.finding import Severity
from stellwerk.model.text import Text, say


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a port: a netdev and, on RDMA hardware, its device. An ordinary NIC is a port with one half."""

    label: str  # "A" for the first (the lower PCI domain), "B" for its twin
    netdev: NetDevice
    rdma: RdmaDevice | None = None


@dataclass(frozen=True, slots=True)
class Port:
    """One QSFP cage (or RJ45): all halves share one wire."""

    number: int  # 0 is the one next to the RJ45 on a Spark
    halves: tuple[Half, ...]

    @property
    def netdevs(self) -> tuple[str, ...]:
        return tuple(half.netdev.name for half in self.halves)


@dataclass(frozen=True, slots=True, order=True)
class PortRef:
    """A port of a node, by names that stay: `node` is the node's name in the cluster."""

    node: str
    port: int

    def __str__(self) -> Text:
        return say("{node} port {port}", node=self.node, port=self.port)


@dataclass(frozen=True, slots=True)
class Heard:
    """One interface heard a frame of another one. Both ends name themselves."""

    netdev: str
    remote_node_id: str
    remote_hostname: str
    remote_netdev: str
    remote_mac: str
    carrier: str  # ipv6 | ipv4 | raw
    frames: int = 1
    remote_token: str = ""


@dataclass(frozen=True, slots=True)
class LldpNeighbour:
    """A switch that named itself in an LLDP frame."""

    netdev: str
    chassis: str
    port: str
    system_name: str | None = None
    port_description: str | None = None


@dataclass(frozen=True, slots=True)
class HearState:
    """How listening went on one interface: heard | silent | down | no-carrier | needs-sudo | failed."""

    netdev: str
    state: str
    why: str | None = None


@dataclass(frozen=True, slots=True)
class HearReport:
    """What one node heard in one discovery round."""

    node_id: str
    hostname: str
    states: tuple[HearState, ...] = ()
    heard: tuple[Heard, ...] = ()
    lldp: tuple[LldpNeighbour, ...] = ()
    bpdu: tuple[str, ...] = ()  # interfaces on which a spanning-tree frame arrived: a bridge is at the other end
    seconds: float = 0.0


class TopologyKind(str, Enum):
    """The shapes of a fabric; `UNKNOWN` is an answer, too."""

    SINGLE = "single"
    PAIR = "pair"
    RING = "ring"
    CHAIN = "chain"
    SWITCH = "switch"
    MIXED = "mixed"
    UNKNOWN = "unknown"

    @property
    def word(self) -> Text:
        """As it stands in a sentence."""
        return _KIND_WORDS[self.value]


_KIND_WORDS = {
    "single": say("single node"),
    "pair": say("pair"),
    "ring": say("ring"),
    "chain": say("chain"),
    "switch": say("switch"),
    "mixed": say("mix of cables and a switch"),
    "unknown": say("fabric"),
}


@dataclass(frozen=True, slots=True)
class Cable:
    """A direct cable between two ports, with the ends in sorted order."""

    a: PortRef
    b: PortRef
    speed_mbps: int | None = None


@dataclass(frozen=True, slots=True)
class SwitchLink:
    """A port that goes to a switch."""

    port: PortRef
    switch: str  # chassis from LLDP or "switch"
    switch_port: str | None = None


@dataclass(frozen=True, slots=True)
class Cabling:
    """Who is connected to whom, as heard."""

    cables: tuple[Cable, ...] = ()
    switch_links: tuple[SwitchLink, ...] = ()
    silent: tuple[PortRef, ...] = ()  # carrier, but nobody of this cluster answers
    dark: tuple[PortRef, ...] = ()  # no carrier
    unheard: tuple[tuple[PortRef, str], ...] = ()  # could not be asked, and why
    loops: tuple[tuple[PortRef, PortRef], ...] = ()  # a cable from a machine to itself
    foreign: tuple[tuple[PortRef, str], ...] = ()  # the other end is a machine outside this cluster: left alone


@dataclass(frozen=True, slots=True)
class Topology:
    """The shape of the fabric. `order` walks a ring or chain from the first node."""

    kind: TopologyKind
    nodes: tuple[str, ...]
    cabling: Cabling
    order: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    direct_certain: bool = True  # False: two nodes that may be joined by a cable or by a switch


@dataclass(frozen=True, slots=True)
class Address:
    """The planned or present IPv4 address of one half."""

    node: str
    port: int
    half: str
    netdev: str
    cidr: str
    mtu: int
    peer: str | None = None  # the peer half's address, on a direct cable


@dataclass(frozen=True, slots=True)
class FabricPlanInput:
    """What the user may choose."""

    wanted: TopologyKind | None = None  # None: what the cables say
    mtu: int | None = None  # None: what is there when it is uniform and the addresses stay, else 9000
    pool: str | None = None  # CIDR out of which new subnets are taken; None: the first private /16 that is free


@dataclass(frozen=True, slots=True)
class Movement:
    """One movement of a hand at the back of the machines.

    move: the plug in `plug` goes to `to`. swap: the plugs in `plug` and `to` change places.
    plug: a cable is put between `plug` and `to` (`to` None: into the switch). pull: the plug in `plug` is pulled.
    """

    kind: str  # move | swap | plug | pull
    plug: PortRef
    to: PortRef | None = None


@dataclass(frozen=True, slots=True)
class CableFinding:
    """One thing that is wrong with the cables, in words and as data for the drawing."""

    code: str
    severity: Severity
    title: str  # one sentence: what is wrong
    meaning: str = ""
    steps: tuple[str, ...] = ()  # what to do, in order
    movements: tuple[Movement, ...] = ()  # the same as data
    cable: Cable | None = None  # the cable as it is now
    belongs: Cable | None = None  # where it belongs
    missing: tuple[Cable, ...] = ()  # cables that are not there and that these steps bring
    ports: tuple[PortRef, ...] = ()  # all ports spoken of


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables for one node at launch, and why each has its value."""

    node: str
    variables: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
