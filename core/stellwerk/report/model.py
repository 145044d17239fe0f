"""A report as data: what was there, what was proven, what was found. Kept as JSON, shown as HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from stellwerk.fabric import Member
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import Topology
from stellwerk.model.finding import Finding, Verification
from stellwerk.wire import WireError, from_wire, to_wire

SCHEMA = "stellwerk-report"
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class NodeLine:
    """One machine in a report. None: not available."""

    name: str
    number: int
    hostname: str
    product: str | None = None
    os: str | None = None
    dgx_os: str | None = None
    kernel: str | None = None
    driver: str | None = None
    firmware: str | None = None
    memory_kb: int | None = None


@dataclass(frozen=True, slots=True)
class HalfLine:
    """One fabric half in a report."""

    node: str
    port: int
    half: str
    netdev: str
    rdma: str | None
    addresses: tuple[str, ...]
    mtu: int | None
    speed_mbps: int | None


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that goes into one report."""

    cluster: str
    created_at: str  # ISO 8601, UTC
    product_version: str
    topology: str
    order: tuple[str, ...] = ()
    cables: tuple[str, ...] = ()
    nodes: tuple[NodeLine, ...] = ()
    halves: tuple[HalfLine, ...] = ()
    verification: Verification | None = None
    findings: tuple[Finding, ...] = ()
    not_available: tuple[str, ...] = ()  # checks of the doctor that could not be made, with the reason
    simulated: bool = False
    notes: tuple[str, ...] = field(default=())


def make_report(
    members: Sequence[Member],
    topology: Topology | None,
    *,
    cluster: str,
    created_at: str,
    product_version: str,
    verification: Verification | None = None,
    findings: Sequence[Finding] = (),
    not_available: Sequence[tuple[str, str]] = (),
    notes: Sequence[str] = (),
) -> Report:
    """Gather a report. It is marked as simulated when any machine says that its hardware is."""
    simulated = any("simulated" in (member.facts.product or "").lower() for member in members)
    cables: list[str] = []
    if topology is not None:
        cables += [f"{cable.a} to {cable.b}" for cable in topology.cabling.cables]
        cables += [
            f"{link.port} to {link.switch}" + (f", {link.switch_port}" if link.switch_port else "")
            for link in topology.cabling.switch_links
        ]
    kind = verification.topology if verification else topology.kind.value if topology else "unknown"
    return Report(
        cluster=cluster,
        created_at=created_at,
        product_version=product_version,
        topology=kind,
        order=topology.order if topology else (),
        cables=tuple(cables),
        nodes=tuple(_node_line(member) for member in members),
        halves=tuple(_half_lines(members)),
        verification=verification,
        findings=tuple(findings),
        not_available=tuple(f"{what}: {why}" for what, why in not_available),
        simulated=simulated or (verification is not None and verification.simulated),
        notes=tuple(notes),
    )


def _node_line(member: Member) -> NodeLine:
    facts = member.facts
    return NodeLine(
        name=member.name,
        number=member.number,
        hostname=facts.hostname,
        product=facts.product,
        os=facts.os_name,
        dgx_os=(facts.dgx.ota_version or facts.dgx.swbuild_version) if facts.dgx else None,
        kernel=facts.kernel,
        driver=facts.gpus[0].driver if facts.gpus else None,
        firmware=facts.rdma[0].firmware if facts.rdma else None,
        memory_kb=facts.memory.total_kb,
    )


def _half_lines(members: Sequence[Member]) -> list[HalfLine]:
    return [
        HalfLine(
            member.name,
            port.number,
            half.label,
            half.netdev.name,
            half.rdma.name if half.rdma else None,
            tuple(address for address in half.netdev.addresses if ":" not in address),
            half.netdev.mtu,
            half.netdev.speed_mbps,
        )
        for member in members
        for port in member.ports
        for half in port.halves
    ]


def to_json(report: Report) -> str:
    """The report as JSON, with the version of its schema."""
    body = {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **to_wire(report)}
    if report.verification is not None:
        body["verdict"] = report.verification.verdict.value
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str, source: str = "the report") -> Report:
    """Read a report back. Raises `BadInput` for what is none, or one of a newer version."""
    try:
        body: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{source} is not JSON", why=str(error)) from None
    if not isinstance(body, dict) or body.get("schema") != SCHEMA:
        raise BadInput(f"{source} is not a report of Stellwerk")
    version = body.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version > SCHEMA_VERSION or version < 1:
        remedy = "Open it with a newer Stellwerk" if isinstance(version, int) and version > SCHEMA_VERSION else ""
        raise BadInput(f"{source} has the version {version!r}, which this Stellwerk cannot read", remedy=remedy)
    try:
        return from_wire(Report, body)
    except WireError as error:
        raise BadInput(f"{source} is damaged", why=str(error)) from None
