"""Answers -> checks with pass marks. What was not measured is NOT_AVAILABLE and never counts as fine.

Marks: 200 Gb/s a link (100 is a warning: it costs models a few percent), PCIe at what the function can do (32 GT/s x4),
92 Gb/s a half and 184 Gb/s a port by ib_write_bw, 4 µs by ib_write_lat.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stellwerk.fabric.addresses import Assigned
from stellwerk.fabric.cable_findings import FULL_SPEED_MBPS
from stellwerk.fabric.verification import (
    BANDWIDTH_TOOL,
    LATENCY_TOOL,
    PerfRequest,
    PingRequest,
    Place,
    Proof,
    RouteRequest,
    gid_index,
)
from stellwerk.model.facts import Neighbour
from stellwerk.model.finding import Check, Verdict, Verification
from stellwerk.model.guard import PingResult, RdmaPerf, RouteAnswer
from stellwerk.model.text import Text, say
from stellwerk.model.units import gbps, link_speed, microseconds

HALF_MARK_GBPS = 92.0
PORT_MARK_GBPS = 184.0
LATENCY_MARK_US = 4.0


@dataclass(frozen=True, slots=True)
class Answers:
    """What came back, by the id of the request; a request that is missing here was not run."""

    pings: Mapping[str, PingResult] = field(default_factory=dict)
    routes: Mapping[str, RouteAnswer] = field(default_factory=dict)
    perf: Mapping[str, RdmaPerf] = field(default_factory=dict)
    neighbours: Mapping[str, Sequence[Neighbour]] = field(default_factory=dict)  # node -> its table, after the pings
    errors: Mapping[str, str] = field(default_factory=dict)  # id, or "neighbours NODE" -> why it could not be asked


def judge(proof: Proof, answers: Answers) -> tuple[Check, ...]:
    """All checks of a proof, bottom up: carrier to latency."""
    checks: list[Check] = []
    for entry in proof.addressing.assigned:
        place = _place(entry)
        checks += [_carrier(entry, place), _speed(entry, place), _pcie(entry, place), _rdma(entry, place)]
        checks += [_address(entry, place), _gid(entry, place)]
    checks += [_route(request, answers) for request in proof.routes]
    checks += [_ping(request, answers, proof.mtu) for request in proof.pings]
    checks += _neighbours(proof, answers)
    checks += [_perf(request, answers, proof) for request in proof.perf]
    checks += _port_sums(proof, answers)
    return tuple(check for check in checks if check.kind != "none")


def make_verification(
    proof: Proof, checks: Sequence[Check], *, run_id: str, cluster: str, started_at: str, seconds: float
) -> Verification:
    """One run of *Prove*, marked as simulated when a machine says that its hardware is."""
    simulated = any("simulated" in (member.facts.product or "").lower() for member in proof.members)
    return Verification(run_id, cluster, proof.kind.value, started_at, seconds, tuple(checks), simulated, proof.notes)


_NONE = Check("none", "", "", Verdict.PASS)


def _place(entry: Assigned) -> Place:
    others = [at.member.name for at in entry.segment.halves if at.member.name != entry.at.member.name]
    peer = others[0] if len(others) == 1 else entry.segment.name
    return Place(entry.at.member.name, entry.at.port.number, entry.at.half.label, entry.at.netdev, peer)


def _check(
    kind: str,
    place: Place,
    verdict: Verdict,
    text: str,
    *,
    value: float | None = None,
    unit: str = "",
    mark: float | None = None,
    why: str = "",
    remedy: str = "",
) -> Check:
    return Check(
        kind, place.node, str(place), verdict, value, unit, mark, text, why, remedy, place.port, place.half, place.peer
    )


def _no_result(kind: str, place: Place, unit: str, mark: float, why: str | None) -> Check:
    remedy = "Put the checks above right, then prove again"
    text = "no result"
    return _check(kind, place, Verdict.FAIL, text, unit=unit, mark=mark, why=why or text, remedy=remedy)


def _unknown(kind: str, place: Place, why: str, **more: Any) -> Check:
    return _check(kind, place, Verdict.NOT_AVAILABLE, "not available", why=why, **more)


# --- from the facts --------------------------------------------------------------------------------------------------


def _carrier(entry: Assigned, place: Place) -> Check:
    device = entry.at.half.netdev
    if device.carrier:
        return _check("carrier", place, Verdict.PASS, "up")
    if device.admin_up is False:
        remedy = say("Switch {device} on, or apply the plan again", device=device.name)
        return _check("carrier", place, Verdict.FAIL, "off", why="the interface is switched off", remedy=remedy)
    if device.carrier is False:
        remedy = say(
            "Look at the cable between {node} port {port} and {peer}", node=place.node, port=place.port, peer=place.peer
        )
        return _check(
            "carrier", place, Verdict.FAIL, "no link", why="no signal comes from the other end", remedy=remedy
        )
    return _unknown("carrier", place, "the carrier could not be read")


def _speed(entry: Assigned, place: Place) -> Check:
    speed = entry.at.half.netdev.speed_mbps
    full = len(entry.at.port.halves) > 1
    mark = FULL_SPEED_MBPS / 1000 if full else None
    if speed is None:
        return _check(
            "speed", place, Verdict.NOT_AVAILABLE, "not available", unit="Gb/s", mark=mark, why="not reported"
        )
    fine = not full or speed >= FULL_SPEED_MBPS
    return _check(
        "speed",
        place,
        Verdict.PASS if fine else Verdict.DEGRADED,
        link_speed(speed),
        value=speed / 1000,
        unit="Gb/s",
        mark=mark,
        why="" if fine else "the link was negotiated below 200 Gb/s",
        remedy="" if fine else "Check the cable; on a switch set the port to 200G-baseCR4 without auto-negotiation",
    )


def _pcie(entry: Assigned, place: Place) -> Check:
    device = entry.at.half.netdev
    if entry.at.half.rdma is None:
        return _NONE
    now, width = device.pcie_speed_gts, device.pcie_width
    if now is None or width is None:
        return _unknown("pcie", place, "the PCIe link could not be read")
    text = say("{now} GT/s ×{width}", now=f"{now:g}", width=width)
    best, widest = device.pcie_max_speed_gts or now, device.pcie_max_width or width
    if now >= best and width >= widest:
        return _check("pcie", place, Verdict.PASS, text, value=now, unit="GT/s", mark=best)
    why = say(
        "the PCIe link came up at {text} instead of {best} GT/s ×{widest}", text=text, best=f"{best:g}", widest=widest
    )
    remedy = say("{remedy}; if it stays, update the firmware", remedy=_power_remedy(place.node))
    return _check("pcie", place, Verdict.DEGRADED, text, value=now, unit="GT/s", mark=best, why=why, remedy=remedy)


def _rdma(entry: Assigned, place: Place) -> Check:
    rdma = entry.at.half.rdma
    if rdma is None:
        return _NONE
    if rdma.state is None:
        return _check(
            "rdma",
            place,
            Verdict.NOT_AVAILABLE,
            "not available",
            why=say("the state of {rdma} is not known", rdma=rdma.name),
        )
    if rdma.state.upper() == "ACTIVE":
        return _check("rdma", place, Verdict.PASS, "active")
    state = f"{rdma.state}, {rdma.physical_state}" if rdma.physical_state else rdma.state
    why = say("{rdma} is {state}", rdma=rdma.name, state=state)
    remedy = "Bring the link up first; if it is up, restart the node"
    return _check("rdma", place, Verdict.FAIL, rdma.state.lower(), why=why, remedy=remedy)


def _address(entry: Assigned, place: Place) -> Check:
    if not entry.kept:
        why = entry.why or "its address is not as planned"
        return _check("address", place, Verdict.FAIL, "wrong", why=why, remedy="Make the plan and apply it")
    if str(entry.address) not in entry.at.half.netdev.addresses:
        why = say("{address} is in the files but not in effect", address=entry.address)
        return _check("address", place, Verdict.FAIL, "missing", why=why, remedy="Apply the plan again")
    return _check("address", place, Verdict.PASS, str(entry.address))


def _gid(entry: Assigned, place: Place) -> Check:
    if entry.at.half.rdma is None or not entry.kept:
        return _NONE
    index = gid_index(entry)
    if index is not None:
        return _check("gid", place, Verdict.PASS, say("index {index}", index=index), value=float(index))
    if not entry.at.half.rdma.gids:
        return _unknown("gid", place, "the GID table could not be read")
    why = say("{rdma} has no RoCE v2 entry for {ip}", rdma=entry.at.half.rdma.name, ip=entry.address.ip)
    remedy = say("Apply the plan again; if it stays, restart {node}", node=place.node)
    return _check("gid", place, Verdict.FAIL, "missing", why=why, remedy=remedy)


# --- from answers ----------------------------------------------------------------------------------------------------


def _not_run(kind: str, place: Place, request_id: str, answers: Answers) -> Check:
    why = answers.errors.get(request_id, "it was not run")
    return _unknown(kind, place, why)


def _route(request: RouteRequest, answers: Answers) -> Check:
    answer = answers.routes.get(request.id)
    place = request.place
    if answer is None:
        return _not_run("route", place, request.id, answers)
    if answer.error is None and answer.device == place.netdev and answer.via is None:
        return _check("route", place, Verdict.PASS, "direct")
    way = say("nowhere")
    if answer.device and answer.via:
        way = say("through {device} via {via}", device=answer.device, via=answer.via)
    elif answer.device:
        way = say("through {device}", device=answer.device)
    why = answer.error or say(
        "traffic to {destination} leaves {way}, not through {netdev}",
        destination=request.destination,
        way=way,
        netdev=place.netdev,
    )
    return _check("route", place, Verdict.FAIL, way, why=why, remedy="Make the plan and apply it")


def _ping(request: PingRequest, answers: Answers, mtu: int) -> Check:
    answer = answers.pings.get(request.id)
    place = request.place
    kind = "mtu" if request.dont_fragment else "transit"
    if answer is None:
        return _not_run(kind, place, request.id, answers)
    lost = answer.sent - answer.received
    rtt = None if answer.rtt_avg_ms is None else answer.rtt_avg_ms
    if answer.received and not lost:
        text = str(mtu) if kind == "mtu" else "reached"
        return _check(kind, place, Verdict.PASS, text, value=float(mtu) if kind == "mtu" else rtt)
    if answer.received:
        why: str = say(
            "{lost} of {sent} packets to {destination} were lost",
            lost=lost,
            sent=answer.sent,
            destination=request.destination,
        )
        return _check(
            kind, place, Verdict.DEGRADED, say("{lost} lost", lost=lost), why=why, remedy="Check the cable at both ends"
        )
    if kind == "transit":
        why = answer.error or say(
            "{destination} does not answer; the nodes in between do not pass it on", destination=request.destination
        )
        return _check(kind, place, Verdict.FAIL, "no answer", why=why, remedy="Make the plan and apply it")
    why = say("packets of {mtu} bytes do not pass to {destination}", mtu=mtu, destination=request.destination)
    if answer.error:
        why = say("{what}: {error}", what=why, error=answer.error)
    remedy = say("Compare the MTU of both ends; the plan puts {mtu} back", mtu=mtu)
    return _check(kind, place, Verdict.FAIL, "no answer", why=why, remedy=remedy)


def _neighbours(proof: Proof, answers: Answers) -> Iterable[Check]:
    """The MAC behind each neighbour's address has to be that of the half that has the address."""
    owner = {str(entry.address.ip): entry for entry in proof.addressing.assigned if entry.kept}
    for request in proof.pings:
        place, target = request.place, owner.get(request.destination)
        if not request.dont_fragment or target is None:
            continue
        table = answers.neighbours.get(place.node)
        if table is None:
            yield _not_run("neighbour", place, f"neighbours {place.node}", answers)
            continue
        found = [n for n in table if n.address == request.destination and n.device == place.netdev and n.mac]
        mac = (target.at.half.netdev.mac or "").lower()
        if not found or not mac:
            yield _unknown("neighbour", place, "there is no entry to compare")
        elif (found[0].mac or "").lower() == mac:
            yield _check("neighbour", place, Verdict.PASS, "right half")
        else:
            twins = [half for half in target.at.port.halves if (half.netdev.mac or "").lower() == found[0].mac]
            whose = say("half {label} of that port", label=twins[0].label) if twins else say("somebody else")
            why = say(
                "{destination} is answered by {whose} ({mac}); RoCE would send to the wrong half",
                destination=request.destination,
                whose=whose,
                mac=found[0].mac,
            )
            remedy = "Apply the plan, which sets arp_ignore and arp_announce"
            yield _check("neighbour", place, Verdict.FAIL, "wrong half", why=why, remedy=remedy)


def _perf(request: PerfRequest, answers: Answers, proof: Proof) -> Check:
    kind = "bandwidth" if request.tool == BANDWIDTH_TOOL else "latency"
    place = request.place
    for name in (place.node, place.peer):
        facts = next(member.facts for member in proof.members if member.name == name)
        if request.tool in facts.tools and facts.tools[request.tool] is None:
            why: str = say("{tool} is not installed on {name}", tool=request.tool, name=name)
            remedy: str = say("On {name}: sudo apt install perftest", name=name)
            return _unknown(kind, place, why, remedy=remedy)
    answer = answers.perf.get(request.id)
    if answer is None:
        return _not_run(kind, place, request.id, answers)
    if request.tool == LATENCY_TOOL:
        return _latency(place, answer)
    value = answer.bandwidth_gbps
    if value is None:
        return _no_result(kind, place, "Gb/s", HALF_MARK_GBPS, answer.error)
    fine = value >= HALF_MARK_GBPS
    why, remedy = ("", "") if fine else _why_slow(request, proof)
    verdict, text = Verdict.PASS if fine else Verdict.DEGRADED, gbps(value)
    return _check(kind, place, verdict, text, value=value, unit="Gb/s", mark=HALF_MARK_GBPS, why=why, remedy=remedy)


def _latency(place: Place, answer: RdmaPerf) -> Check:
    value = answer.latency_us
    if value is None:
        return _no_result("latency", place, "µs", LATENCY_MARK_US, answer.error)
    fine = value <= LATENCY_MARK_US
    return _check(
        "latency",
        place,
        Verdict.PASS if fine else Verdict.DEGRADED,
        microseconds(value),
        value=value,
        unit="µs",
        mark=LATENCY_MARK_US,
        why="" if fine else "small messages take longer than they should",
        remedy="" if fine else "Prove again while the nodes are idle",
    )


def _power_remedy(node: str) -> Text:
    return say("Shut {node} down, unplug its power for a minute, start it and prove again", node=node)


def _why_slow(request: PerfRequest, proof: Proof) -> tuple[str, str]:
    """What the facts say about a slow half: link, PCIe of both ends, or nothing."""
    ends = [
        entry
        for entry in proof.addressing.assigned
        if entry.key == (request.place.node, request.place.netdev) or str(entry.address.ip) == request.server_address
    ]
    for entry in ends:
        name, device = entry.at.member.name, entry.at.half.netdev
        if device.speed_mbps and device.speed_mbps < FULL_SPEED_MBPS and len(entry.at.port.halves) > 1:
            return say(
                "the link of {name} runs at {speed_mbps}", name=name, speed_mbps=link_speed(device.speed_mbps)
            ), "Put the link speed right first"
        pcie = _pcie(entry, request.place)
        if pcie.verdict is Verdict.DEGRADED:
            return say("{name}: {why}", name=name, why=pcie.why), _power_remedy(name)
    return (
        "link and PCIe of both ends are in order, so the limit lies in one of the two nodes",
        say(
            "Shut {node}, then {peer}, down, unplug its power for a minute, start it again and prove again",
            node=request.place.node,
            peer=request.place.peer,
        ),
    )


def _port_sums(proof: Proof, answers: Answers) -> Iterable[Check]:
    """Both halves of a link at the same time, added up."""
    links: dict[str, list[PerfRequest]] = {}
    for request in proof.perf:
        if request.tool == BANDWIDTH_TOOL:
            links.setdefault(request.link, []).append(request)
    for requests in links.values():
        if len(requests) < 2:
            continue
        first = requests[0].place
        place = Place(first.node, first.port, "A+B", first.netdev, first.peer)
        values = [answer.bandwidth_gbps for r in requests if (answer := answers.perf.get(r.id)) is not None]
        known = [value for value in values if value is not None]
        if len(known) < len(requests):
            why = "not all halves gave a result"
            yield _unknown("bandwidth-port", place, why, mark=PORT_MARK_GBPS)
            continue
        total = sum(known)
        fine = total >= PORT_MARK_GBPS
        yield _check(
            "bandwidth-port",
            place,
            Verdict.PASS if fine else Verdict.DEGRADED,
            gbps(total),
            value=total,
            unit="Gb/s",
            mark=PORT_MARK_GBPS,
            why="" if fine else "together the halves stay below the mark",
            remedy="" if fine else "See each half of this port for the reason",
        )
