"""Checks of cables, links and PCIe. One function per code."""

from __future__ import annotations

from stellwerk.doctor.case import PLAN, Case, NotKnown, finding
from stellwerk.fabric.cable_findings import FULL_SPEED_MBPS, as_finding
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.text import say
from stellwerk.model.units import link_speed


def cables(case: Case) -> list[Finding]:
    """What is missing or in the wrong port."""
    if case.topology is None:
        raise NotKnown("the nodes have not called each other yet")
    return [as_finding(found) for found in case.cable_findings if found.code not in ("link-100g", "link-slow")]


def link_100g(case: Case) -> list[Finding]:
    """A port of 200 Gb/s that came up slower."""
    found = []
    unknown = 0
    for member in case.members:
        for port in member.ports:
            speeds = [half.netdev.speed_mbps for half in port.halves if half.netdev.carrier and half.netdev.speed_mbps]
            unknown += any(half.netdev.carrier and half.netdev.speed_mbps is None for half in port.halves)
            if len(port.halves) > 1 and speeds and min(speeds) < FULL_SPEED_MBPS:
                found.append(
                    finding(
                        "link-100g",
                        Severity.WARN,
                        say(
                            "{member} port {number} runs at {speeds}, not at 200 Gb/s",
                            member=member.name,
                            number=port.number,
                            speeds=link_speed(min(speeds)),
                        ),
                        node=member.name,
                        subject=say("port {port}", port=port.number),
                        evidence=[
                            say("{name}: {speeds}", name=name, speeds=link_speed(min(speeds))) for name in port.netdevs
                        ],
                        meaning="It works; models that span nodes may get slower by a few percent.",
                        remedy=(
                            "Try a cable made for 200 or 400 Gb/s Ethernet.",
                            "On a switch: set the port to 200G-baseCR4 and switch auto-negotiation off.",
                        ),
                    )
                )
    if unknown and not found:
        raise NotKnown("the nodes do not report a link speed")
    return found


def half_down(case: Case) -> list[Finding]:
    """One half of a port has a link and its twin has none, although both share one wire."""
    found = []
    for member in case.members:
        for port in member.ports:
            up = [half for half in port.halves if half.netdev.carrier]
            for half in port.halves:
                if up and not half.netdev.carrier:
                    off = half.netdev.admin_up is False
                    state = say("off") if off else say("no carrier")
                    found.append(
                        finding(
                            "half-down",
                            Severity.BAD,
                            say("Half {half} of port {port} is switched off", half=half.label, port=port.number)
                            if off
                            else say("Half {half} of port {port} is down", half=half.label, port=port.number),
                            node=member.name,
                            subject=say("port {port} half {half}", port=port.number, half=half.label),
                            evidence=(
                                say("{netdev}: {state}", netdev=half.netdev.name, state=state),
                                say("{netdev}: up", netdev=up[0].netdev.name),
                            ),
                            meaning="Both halves share one cable; with one of them the port gives half its speed.",
                            remedy=PLAN if off else ("Restart the node; if it stays, update its firmware.",),
                            fix="plan" if off else "",
                        )
                    )
    return found


def pcie_downgraded(case: Case) -> list[Finding]:
    """A PCIe link below what the function can do."""
    found = []
    read = False
    for _, at, _ in case.halves():
        d = at.half.netdev
        if d.pcie_speed_gts is None or d.pcie_width is None:
            continue
        read = True
        best, widest = d.pcie_max_speed_gts or d.pcie_speed_gts, d.pcie_max_width or d.pcie_width
        if d.pcie_speed_gts < best or d.pcie_width < widest:
            found.append(
                finding(
                    "pcie-downgraded",
                    Severity.WARN,
                    say(
                        "The PCIe link of {netdev} came up at {pcie_speed_gts} GT/s ×{pcie_width}",
                        netdev=at.netdev,
                        pcie_speed_gts=f"{d.pcie_speed_gts:g}",
                        pcie_width=d.pcie_width,
                    ),
                    at=at,
                    evidence=(
                        say(
                            "{pci_address}: can do {best} GT/s ×{widest}",
                            pci_address=d.pci_address,
                            best=f"{best:g}",
                            widest=widest,
                        ),
                    ),
                    meaning="This half is limited by it; the other one is not.",
                    remedy=("Shut the machine down, unplug its power for a minute, start it.", "Update its firmware."),
                )
            )
    if not read:
        raise NotKnown("no node reports its PCIe links")
    return found
