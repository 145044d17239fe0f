"""Findings out of the last proof: what was measured below its mark."""

from __future__ import annotations

from stellwerk.doctor.case import Case, NotKnown, finding
from stellwerk.model.finding import Finding, Severity, Verdict

_SEVERITY = {Verdict.FAIL: Severity.BAD, Verdict.DEGRADED: Severity.WARN}
_WHAT = {
    "bandwidth": ("rdma-half-slow", "carries"),
    "bandwidth-port": ("rdma-port-slow", "carry together"),
    "latency": ("rdma-latency", "answers in"),
    "mtu": ("mtu-blocked", "loses large packets:"),
    "route": ("route-astray", "sends its traffic"),
    "transit": ("transit-blocked", "does not reach a machine that is no neighbour:"),
    "rdma": ("rdma-down", "has RDMA that is"),
}
_SEEN_IN_FACTS = {"carrier", "speed", "pcie", "address", "neighbour", "gid"}  # the other checks speak of these


def measured(case: Case) -> list[Finding]:
    """One finding per check of the last proof that did not pass."""
    if case.proof is None:
        raise NotKnown("the cluster has not been proven yet")
    found = []
    for check in case.proof.checks:
        severity = _SEVERITY.get(check.verdict)
        if severity is None or check.kind in _SEEN_IN_FACTS or check.kind not in _WHAT:
            continue
        code, verb = _WHAT[check.kind]
        mark = f" of {check.pass_mark:g} {check.unit}" if check.pass_mark and check.value is not None else ""
        place = check.subject.split(" -> ")[0]
        found.append(
            finding(
                code,
                severity,
                f"{place[:1].upper()}{place[1:]} {verb} {check.text}{mark}",
                node=check.node,
                subject=check.subject,
                evidence=(f"proof of {case.proof.started_at}: {check.kind} to {check.peer}: {check.text}",),
                meaning=check.why,
                remedy=(check.remedy,) if check.remedy else (),
                fix="plan" if check.kind in ("mtu", "route", "transit") else "",
            )
        )
    return found
