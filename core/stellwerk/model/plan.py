"""A plan is data: what would be changed on each node, and how each change is undone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileChange:
    """Write, replace or (with `after` None) remove a file. `before` None: there is none yet."""

    path: str
    before: str | None
    after: str | None
    mode: int = 0o600
    why: str = ""
    kind: str = "file"


@dataclass(frozen=True, slots=True)
class SysctlChange:
    """Set one sysctl now; the file that keeps it over a reboot is a `FileChange` of its own."""

    key: str  # as sysctl(8) takes it: dotted, a dot in an interface's name as a slash (net.ipv4.conf.eth0/5.forwarding)
    before: str | None
    after: str
    why: str = ""
    kind: str = "sysctl"


@dataclass(frozen=True, slots=True)
class FirewallChange:
    """One iptables rule, as arguments after `iptables -I`; undone by `iptables -D` with the same arguments."""

    table: str
    chain: str
    rule: tuple[str, ...]
    why: str = ""
    kind: str = "firewall"


@dataclass(frozen=True, slots=True)
class UnitChange:
    """Install and enable a systemd unit; undone by disabling and removing it."""

    name: str
    before: str | None
    after: str | None
    why: str = ""
    kind: str = "unit"


@dataclass(frozen=True, slots=True)
class CommandChange:
    """Run one command of netguard's fixed list of verbs, with typed arguments; `undo` takes it back."""

    argv: tuple[str, ...]
    undo: tuple[str, ...] = ()
    why: str = ""
    kind: str = "command"


Change = FileChange | SysctlChange | FirewallChange | UnitChange | CommandChange


@dataclass(frozen=True, slots=True)
class HalfRow:
    """One line of the plan's table: a half, now and then."""

    port: int
    half: str
    netdev: str
    now: tuple[str, ...]
    then: str | None
    mtu_now: int | None
    mtu_then: int | None
    changed: bool
    peer: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodePlan:
    """All that happens on one node. An empty `changes` means: adopted, nothing to do."""

    node: str
    node_id: str
    rows: tuple[HalfRow, ...]
    changes: tuple[Change, ...]
    reconfigure: tuple[str, ...] = ()  # interfaces to reconfigure, in this order
    expect_addresses: tuple[tuple[str, str], ...] = ()  # (netdev, cidr) that must be there after the apply
    expect_mtu: tuple[tuple[str, int], ...] = ()
    peers: tuple[tuple[str, str], ...] = ()  # (own netdev, peer address) that must answer before the confirm
    last: bool = False  # the node through which we talk: applied last


@dataclass(frozen=True, slots=True)
class Plan:
    """One change of the cluster's network."""

    plan_id: str
    created_at: str  # ISO 8601, UTC
    cluster: str
    topology: str
    nodes: tuple[NodePlan, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """True when every node is already as planned."""
        return not any(node.changes for node in self.nodes)
