"""The plan that netguard's tests carry out: every kind of change at once, on the simulated machine."""

from __future__ import annotations

from pathlib import Path

from stellwerk.model.plan import CommandChange, FileChange, FirewallChange, NodePlan, SysctlChange, UnitChange
from stellwerk_agent.netguard import judge
from stellwerk_agent.netguard.board import Board
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.request import Request
from stellwerk_agent.netguard.transaction import Machine as Guarded
from stellwerk_agent.netguard.transaction import Transaction, save_request
from unit.netguard.machine import Machine

OURS = "/etc/netplan/60-stellwerk.yaml"
FOREIGN = "/etc/netplan/40-cx7.yaml"
LEFTOVER = "/etc/netplan/98-old.yaml"
FOREIGN_TEXT = "network:\n  version: 2\n  ethernets:\n    mgmt0: {mtu: 1500}\n    fab0: {addresses: [10.9.0.1/24]}\n"
FOREIGN_AFTER = "network:\n  version: 2\n  ethernets:\n    mgmt0: {mtu: 1500}\n"
LEFTOVER_TEXT = "network: {version: 2, ethernets: {fab0: {mtu: 1500}}}\n"
OUR_TEXT = """\
network:
  version: 2
  ethernets:
    fab0: {addresses: [10.0.1.1/24], mtu: 9000, optional: true}
    fab1: {addresses: [10.0.2.1/24], mtu: 9000, optional: true}
"""
RULE = ("-i", "fab0", "-o", "fab1", "-j", "ACCEPT")


def prepared(base: Path, manager: str = "networkd") -> Machine:
    """A machine with two files of others: one that must lose a key, one that must go."""
    machine = Machine.make(base, manager=manager)
    machine.write(FOREIGN, FOREIGN_TEXT, 0o644)
    machine.write(LEFTOVER, LEFTOVER_TEXT)
    machine(["netplan", "generate", "--root-dir", str(machine.root)])
    return machine


def full_plan() -> NodePlan:
    """One change of every kind."""
    return NodePlan(
        node="spark-1",
        node_id="n1",
        rows=(),
        changes=(
            FileChange(OURS, None, OUR_TEXT),
            FileChange(FOREIGN, FOREIGN_TEXT, FOREIGN_AFTER, 0o644),
            FileChange(LEFTOVER, LEFTOVER_TEXT, None),
            FileChange("/etc/sysctl.d/60-stellwerk.conf", None, "net.ipv4.conf.fab0.arp_ignore = 1\n", 0o644),
            SysctlChange("net.ipv4.conf.fab0.arp_ignore", "0", "1"),
            UnitChange("stellwerk-firewall.service", None, "[Service]\nExecStart=/bin/true\n"),
            FirewallChange("filter", "DOCKER-USER", RULE),
            CommandChange(("link-up", "fab1"), ("link-down", "fab1")),
        ),
        reconfigure=("fab0", "fab1"),
        expect_addresses=(("fab0", "10.0.1.1/24"), ("fab1", "10.0.2.1/24")),
        expect_mtu=(("fab0", 9000), ("fab1", 9000)),
        peers=(("fab0", "10.0.1.2"),),
    )


def guarded(machine: Machine) -> Guarded:
    """The simulated machine as netguard sees one."""
    return Guarded(Layout(machine.root), machine, ("/usr/bin/python3", "-I", "agent.pyz", "root", "boot-restore"))


def request(plan: NodePlan | None = None, **other: object) -> Request:
    """The request for a plan, with short times."""
    values = {"plan": plan or full_plan(), "plan_id": "p1", "owner_uid": 0, "settle_s": 0.3, **other}
    return Request(**values)  # type: ignore[arg-type]


def new_tree(before: dict[str, tuple[bytes, int]]) -> dict[str, tuple[bytes, int]]:
    """The files as they must be after the plan was confirmed."""
    after = dict(before)
    after[OURS[1:]] = (OUR_TEXT.encode(), 0o600)
    after[FOREIGN[1:]] = (FOREIGN_AFTER.encode(), 0o644)
    del after[LEFTOVER[1:]]
    after["etc/sysctl.d/60-stellwerk.conf"] = (b"net.ipv4.conf.fab0.arp_ignore = 1\n", 0o644)
    after["etc/systemd/system/stellwerk-firewall.service"] = (b"[Service]\nExecStart=/bin/true\n", 0o644)
    after["proc/sys/net/ipv4/conf/fab0/arp_ignore"] = (b"1\n", after["proc/sys/net/ipv4/conf/fab0/arp_ignore"][1])
    return after


def open_transaction(machine: Machine, request: Request) -> Transaction:
    """A transaction that is written down and has not begun."""
    on = guarded(machine)
    judge.prepare_tree(on.layout)
    save_request(on.layout, request)
    return Transaction(on, request, Board(request.plan_id))
