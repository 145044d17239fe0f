"""What the map shows, as plain data: made by pages, painted by the map."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.model.fabric import PortRef, TopologyKind


@dataclass(frozen=True, slots=True)
class HalfView:
    """One half of a port: its light and its traffic."""

    label: str  # A | B
    state: str = "off"  # ok | warn | bad | off
    tx_gbps: float | None = None
    rx_gbps: float | None = None

    @property
    def load_gbps(self) -> float:
        return (self.tx_gbps or 0.0) + (self.rx_gbps or 0.0)


@dataclass(frozen=True, slots=True)
class PortView:
    """One port tab on a card's edge, and its line of words in the cable picture."""

    number: int
    halves: tuple[HalfView, ...] = ()
    words: str = ""  # "to spark-2 port 1", "no cable"
    short: str = ""  # the same for a narrow card: "spark-2"
    state: str = "off"  # ok | warn | bad | off


@dataclass(frozen=True, slots=True)
class NodeView:
    """One card. Numbers that are not known are None and are not drawn as 0."""

    name: str
    number: int
    state: str = "ready"  # ready | degraded | bad | unreachable | busy
    state_text: str = ""
    state_icon: bool = True
    subtitle: str = ""
    ports: tuple[PortView, ...] = ()
    gpu_pct: float | None = None
    cpu_pct: float | None = None  # shown where there is no GPU
    mem_used_gib: float | None = None
    mem_total_gib: float | None = None
    temp_c: float | None = None
    power_w: float | None = None
    tx_gbps: float | None = None
    rx_gbps: float | None = None
    note: str = ""
    age_s: float | None = None


@dataclass(frozen=True, slots=True)
class CableView:
    """One line between two ports, or between a port and the switch (`b` None)."""

    a: PortRef
    b: PortRef | None
    state: str = "ok"  # ok | warn | bad | missing | belongs
    label: str = ""
    label_state: str = "plain"  # plain | ok | warn | bad
    halves: tuple[HalfView, ...] = ()  # seen from `a`
    highlight: bool = False


@dataclass(frozen=True, slots=True)
class SwitchView:
    """The bar in the middle. Port names come from LLDP or are empty."""

    name: str
    left: str = ""
    right: str = ""
    port_names: tuple[tuple[PortRef, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MapView:
    """The whole picture."""

    kind: TopologyKind
    nodes: tuple[NodeView, ...] = ()
    cables: tuple[CableView, ...] = ()
    switch: SwitchView | None = None
    order: tuple[str, ...] = ()
    words: bool = False  # cards show a line per port instead of meters
    centre_big: str = ""
    centre_small: str = ""
