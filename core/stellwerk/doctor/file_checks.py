"""Checks of the netplan files."""

from __future__ import annotations

from stellwerk.doctor.case import PLAN, Case, NotKnown, finding
from stellwerk.fabric.netplan import OWN_PATH
from stellwerk.fabric.state import halves_of
from stellwerk.model.finding import Finding, Severity
from stellwerk.model.text import say, words


def netplan_broken(case: Case) -> list[Finding]:
    """A file that netplan cannot read."""
    return [
        finding(
            "netplan-broken",
            Severity.BAD,
            error.what,
            node=name,
            evidence=(error.why,) if error.why else (),
            meaning="netplan refuses all files together, so at the next restart no network may come up.",
            remedy=(error.remedy or "Correct the file by hand",),
        )
        for name, error in case.broken.items()
    ]


def netplan_unread(case: Case) -> list[Finding]:
    """Nothing wrong, but not all files could be read."""
    unread = [node.member.name for node in case.nodes if node.unread]
    if unread:
        raise NotKnown(say("the netplan files of {unread} need the sudo password", unread=words(unread)))
    return []


def netplan_permissions(case: Case) -> list[Finding]:
    """Files that others may read."""
    return [
        finding(
            "netplan-permissions",
            Severity.INFO,
            say("{path} can be read by others", path=file.path),
            node=member.name,
            subject=file.path,
            evidence=(say("mode {mode}", mode=f"{file.mode & 511:o}"),),
            meaning="netplan warns about it each time, because such a file may hold a Wi-Fi password.",
            remedy=(say("sudo chmod 600 {path}", path=file.path),),
        )
        for member in case.members
        for file in member.facts.netplan
        if file.path.endswith(".yaml") and file.mode & 0o077
    ]


def foreign_claims(case: Case) -> list[Finding]:
    """A half that more than one file configures, or a foreign file beside ours."""
    found = []
    for node in case.nodes:
        for at in halves_of(node.member):
            claims = [claim for text in node.texts for claim in text.claims(at.half.netdev)]
            paths = list(dict.fromkeys(claim.path for claim in claims if claim.kind == "own"))
            foreign = [path for path in paths if path != OWN_PATH]
            if len(paths) > 1:
                found.append(
                    finding(
                        "foreign-netplan-claims-interface",
                        Severity.WARN,
                        say("{netdev} is configured by {paths}", netdev=at.netdev, paths=words(paths)),
                        at=at,
                        evidence=paths,
                        meaning="netplan adds the addresses of all files up, so an old file keeps old addresses alive.",
                        remedy=(
                            say("Leave it in one file; the plan takes it out of {foreign}.", foreign=words(foreign)),
                            *PLAN,
                        ),
                        fix="plan",
                    )
                )
    return found


def wildcards(case: Case) -> list[Finding]:
    """A pattern, a bond or a rename that takes a half in."""
    what = {
        "pattern": "fits other interfaces, too, and would win over a plan of ours",
        "rename": "gives the interface its name",
        "member": "makes it part of something else",
    }
    return [
        finding(
            "netplan-pattern",
            Severity.WARN,
            say("{path} configures {netdev} by the entry {key}", path=claim.path, netdev=at.netdev, key=claim.key),
            at=at,
            evidence=(say("{key} {what}", key=claim.key, what=what[claim.kind]),),
            meaning="Such an entry cannot be taken over without changing other interfaces.",
            remedy=(say("Take {netdev} out of {path} by hand.", netdev=at.netdev, path=claim.path),),
        )
        for node in case.nodes
        for at in halves_of(node.member)
        for text in node.texts
        for claim in text.claims(at.half.netdev)
        if claim.kind in what and "networkmanager" not in text.ethernets.get(claim.key, {})
    ]


def in_a_bond(case: Case) -> list[Finding]:
    """A fabric interface that is part of a bond or bridge."""
    return [
        finding(
            "half-in-bond",
            Severity.BAD,
            say("{device} is part of {master}", device=device.name, master=device.master),
            node=member.name,
            subject=device.name,
            evidence=(say("{device} master {master}", device=device.name, master=device.master),),
            meaning="RDMA uses each half by itself; in a bond or bridge its speed is lost.",
            remedy=(say("Take {device} out of {master}.", device=device.name, master=device.master),),
        )
        for member in case.members
        for device in member.facts.netdevs
        if device.master and any(rdma.netdev == device.name for rdma in member.facts.rdma)
    ]
