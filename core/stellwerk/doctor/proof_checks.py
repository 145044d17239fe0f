"""Findings out of the last proof: what was measured below its mark."""

from __future__ import annotations

from stellwerk.doctor.case import Case, NotKnown, finding
from stellwerk.model.finding import Check, Finding, Severity, Verdict
from stellwerk.model.text import Text, say, whole

_SEVERITY = {Verdict.FAIL: Severity.BAD, Verdict.DEGRADED: Severity.WARN}
_CODES = {
    "bandwidth": "rdma-half-slow",
    "bandwidth-port": "rdma-port-slow",
    "latency": "rdma-latency",
    "mtu": "mtu-blocked",
    "route": "route-astray",
    "transit": "transit-blocked",
    "rdma": "rdma-down",
}
_SEEN_IN_FACTS = {"carrier", "speed", "pcie", "address", "neighbour", "gid"}  # the other checks speak of these


def measured(case: Case) -> list[Finding]:
    """One finding per check of the last proof that did not pass."""
    if case.proof is None:
        raise NotKnown("the cluster has not been proven yet")
    found = []
    for check in case.proof.checks:
        severity = _SEVERITY.get(check.verdict)
        if severity is None or check.kind in _SEEN_IN_FACTS or check.kind not in _CODES:
            continue
        found.append(
            finding(
                _CODES[check.kind],
                severity,
                _title(check),
                node=check.node,
                subject=check.subject,
                evidence=(
                    say(
                        "proof of {started_at}: {kind} to {peer}: {text}",
                        started_at=case.proof.started_at,
                        kind=check.kind,
                        peer=check.peer,
                        text=check.text,
                    ),
                ),
                meaning=check.why,
                remedy=(check.remedy,) if check.remedy else (),
                fix="plan" if check.kind in ("mtu", "route", "transit") else "",
            )
        )
    return found


def _title(check: Check) -> str:
    place = str(check.subject).split(" -> ")[0]
    place = f"{place[:1].upper()}{place[1:]}" if check.port is None else _port_and_half(check)
    said: str = whole(check.text)
    if check.pass_mark and check.value is not None:
        said = say("{value} of {mark} {unit}", value=said, mark=f"{check.pass_mark:g}", unit=check.unit)
    titles = {
        "bandwidth": say("{place} carries {said}", place=place, said=said),
        "bandwidth-port": say("{place} carry together {said}", place=place, said=said),
        "latency": say("{place} answers in {said}", place=place, said=said),
        "mtu": say("{place} loses large packets: {said}", place=place, said=said),
        "route": say("{place} sends its traffic {said}", place=place, said=said),
        "transit": say("{place} does not reach a node that is no neighbour: {said}", place=place, said=said),
    }
    return titles.get(check.kind, say("{place} has RDMA that is {said}", place=place, said=said))


def _port_and_half(check: Check) -> Text:
    return say("Port {port} half {half}", port=check.port, half=check.half)
