"""Kernel settings of the fabric halves.

Both halves of a port sit on one wire, so each answers ARP for the other's address unless told otherwise, and RoCE
takes its destination MAC from there: arp_ignore 1 and arp_announce 2 keep each to its own, rp_filter 2 lets an answer
come back on the twin.
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.fabric.members import HalfAt, Member
from stellwerk.model.plan import FileChange, SysctlChange
from stellwerk.model.text import say

SYSCTL_PATH = "/etc/sysctl.d/60-stellwerk.conf"
ARP = (("arp_ignore", "1"), ("arp_announce", "2"), ("rp_filter", "2"))
_WHY = {
    "arp_ignore": say("each half answers ARP only for its own address"),
    "arp_announce": say("each half asks with its own address"),
    "rp_filter": say("an answer may come back on the other half"),
    "forwarding": say("nodes that are no neighbours reach each other through this one"),
}


def sysctl_key(netdev: str, name: str) -> str:
    """The key as sysctl(8) and sysctl.d(5) take it: a dot in the interface's name is written as a slash."""
    return f"net.ipv4.conf.{netdev.replace('.', '/')}.{name}"


def arp_is_set(at: HalfAt) -> bool:
    """Are the ARP settings of a half as they should be? A value that cannot be read counts as not."""
    return all(str(getattr(at.half.netdev, name)) == value for name, value in ARP)


def sysctl_changes(member: Member, halves: Sequence[HalfAt], forwarding: bool) -> list[FileChange | SysctlChange]:
    """The settings now, and the file that keeps them over a restart; nothing for what is so already."""
    wanted = [*ARP, *((("forwarding", "1"),) if forwarding else ())]
    lines = ["# Written by Stellwerk: settings of the fabric interfaces."]
    changes: list[FileChange | SysctlChange] = []
    for at in halves:
        for name, value in wanted:
            key = sysctl_key(at.netdev, name)
            lines.append(f"{key} = {value}")
            changes += _one(at, name, value)
        if not forwarding and at.half.netdev.forwarding == 1 and _was_ours(member, at):
            changes += _one(at, "forwarding", "0")
    text = "\n".join(lines) + "\n"
    before = member.facts.own_files.get(SYSCTL_PATH)
    if before != text:
        changes.append(FileChange(SYSCTL_PATH, before, text, 0o644, "these settings are kept over a restart"))
    return changes


def settings_removed(member: Member, halves: Sequence[HalfAt]) -> list[FileChange | SysctlChange]:
    """Back to the kernel's own settings, for a machine that leaves."""
    before = member.facts.own_files.get(SYSCTL_PATH)
    if before is None:
        return []
    changes: list[FileChange | SysctlChange] = []
    for at in halves:
        for name in ("arp_ignore", "arp_announce", "forwarding"):
            if sysctl_key(at.netdev, name) + " " in before:
                changes += _one(at, name, "0")
    return [*changes, FileChange(SYSCTL_PATH, before, None, 0o644, "the node leaves the cluster")]


def _one(at: HalfAt, name: str, value: str) -> list[SysctlChange]:
    now = getattr(at.half.netdev, name)
    if now is not None and str(now) == value:
        return []
    before = None if now is None else str(now)
    return [SysctlChange(sysctl_key(at.netdev, name), before, value, _WHY[name])]


def _was_ours(member: Member, at: HalfAt) -> bool:
    text = member.facts.own_files.get(SYSCTL_PATH) or ""
    return f"{sysctl_key(at.netdev, 'forwarding')} = 1" in text
