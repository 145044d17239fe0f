"""All checks of the doctor, and one examination with all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.doctor import fabric_checks as fabric
from stellwerk.doctor import file_checks as files
from stellwerk.doctor import link_checks as links
from stellwerk.doctor import machine_checks as machines
from stellwerk.doctor.case import Case, Check, NotKnown
from stellwerk.doctor.proof_checks import measured
from stellwerk.model.finding import Finding

# (what it looks at, the check), in the order in which a person would look
CHECKS: tuple[tuple[str, Check], ...] = (
    ("cables", links.cables),
    ("link speed", links.link_100g),
    ("both halves up", links.half_down),
    ("PCIe links", links.pcie_downgraded),
    ("one subnet for each half", fabric.twins_one_subnet),
    ("addresses that stay", fabric.address_changes),
    ("settings that last", fabric.not_lasting),
    ("networks that overlap", fabric.overlapping),
    ("networks of home routers", fabric.home_lan),
    ("default route", fabric.default_route),
    ("MTU", fabric.mtu_mixed),
    ("neighbours' MACs", fabric.arp_flux),
    ("ARP settings", fabric.arp_settings),
    ("GID tables", fabric.gid_missing),
    ("GID index", fabric.gid_drift),
    ("traffic between nodes that are no neighbours", fabric.transit),
    ("netplan files", files.netplan_broken),
    ("netplan files readable", files.netplan_unread),
    ("netplan permissions", files.netplan_permissions),
    ("one file for each interface", files.foreign_claims),
    ("patterns in netplan files", files.wildcards),
    ("bonds and bridges", files.in_a_bond),
    ("ports for a fabric", machines.no_ports),
    ("root", machines.no_sudo),
    ("DGX OS", machines.os_too_old),
    ("DGX OS alike", machines.os_mixed),
    ("drivers alike", machines.driver_mixed),
    ("kernels alike", machines.kernel_mixed),
    ("firmware alike", machines.firmware_mixed),
    ("memory alike", machines.memory_mixed),
    ("users alike", machines.user_mixed),
    ("agents alike", machines.agents_differ),
    ("kernel faults", machines.bad_kernel),
    ("memory for RDMA", machines.cma_zero),
    ("clocks", machines.clock_skew),
    ("machine ids", machines.same_machine_id),
    ("host names", machines.same_hostname),
    ("free space", machines.disk_low),
    ("programs", machines.tools_missing),
    ("management network", machines.management_wifi),
    ("last proof", measured),
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one examination."""

    findings: tuple[Finding, ...]  # worst first
    fine: tuple[str, ...]
    not_available: tuple[tuple[str, str], ...]  # (what, why); never counted as fine

    @property
    def count(self) -> int:
        """How many checks there were in all."""
        return len(CHECKS)


def examine(case: Case, checks: Sequence[tuple[str, Check]] = CHECKS) -> Diagnosis:
    """Run all checks on what is known."""
    findings: list[Finding] = []
    fine: list[str] = []
    unknown: list[tuple[str, str]] = []
    for name, check in checks:
        try:
            found = check(case)
        except NotKnown as error:
            unknown.append((name, str(error)))
            continue
        findings += found
        if not found:
            fine.append(name)
    for member in case.members:
        unknown += [(f"{member.name}: {gap.what}", gap.why) for gap in member.facts.unavailable]
    ordered = sorted(findings, key=lambda finding: (finding.severity.rank, finding.node or "", finding.code))
    return Diagnosis(tuple(ordered), tuple(fine), tuple(unknown))
