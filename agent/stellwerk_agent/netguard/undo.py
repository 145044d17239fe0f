"""Taking back a confirmed change: the same change the other way round, guarded like any other."""

from __future__ import annotations

from dataclasses import replace

from stellwerk.model.errors import PlanRefused
from stellwerk.model.guard import GuardState
from stellwerk.model.plan import Change, CommandChange, FileChange, FirewallChange, NodePlan, SysctlChange, UnitChange
from stellwerk.model.text import say
from stellwerk_agent.netguard import backup
from stellwerk_agent.netguard.journal import Entry, Journal, state_of
from stellwerk_agent.netguard.layout import Layout
from stellwerk_agent.netguard.request import Request
from stellwerk_agent.netguard.transaction import load_request


def undo_request(layout: Layout, plan_id: str, owner_uid: int) -> Request:
    """The request that takes a confirmed plan back. Raises `PlanRefused` when there is nothing to take back."""
    entries = Journal(layout.plan(plan_id) / "journal.jsonl", "").entries()
    request = load_request(layout, plan_id)
    taken = backup.load(layout.plan(plan_id))
    if request is None or taken is None or state_of(entries) is not GuardState.CONFIRMED:
        raise PlanRefused(
            say("there is no confirmed change {plan_id} on this node", plan_id=plan_id),
            why="nothing can be taken back",
        )
    if any(entry.event == "undone" for entry in entries):
        raise PlanRefused(say("the change {plan_id} has been taken back already", plan_id=plan_id))
    number = 1
    while layout.plan(f"{plan_id}.undo{number}").exists():
        number += 1
    return replace(
        request,
        plan=reversed_plan(request.plan, taken, entries),
        plan_id=f"{plan_id}.undo{number}",
        owner_uid=owner_uid,
        undo_of=plan_id,
    )


def reversed_plan(plan: NodePlan, taken: backup.Backup, entries: tuple[Entry, ...]) -> NodePlan:
    """The plan the other way round; the live state wanted is the one noted before the change."""
    modes = {item.path: item.mode for item in taken.files}
    ours = {e.values.get("number") for e in entries if e.event == "firewall" and not e.values.get("there")}
    changes: list[Change] = []
    for number, change in reversed(tuple(enumerate(plan.changes))):
        if isinstance(change, FileChange):
            mode = modes.get(change.path) or change.mode
            changes.append(FileChange(change.path, change.after, change.before, mode, "taken back"))
        elif isinstance(change, UnitChange):
            changes.append(UnitChange(change.name, change.after, change.before, "taken back"))
        elif isinstance(change, SysctlChange):
            changes.append(SysctlChange(change.key, None, taken.sysctls[change.key], "taken back"))
        elif isinstance(change, FirewallChange):
            if number in ours:
                rule = (change.table, change.chain, *change.rule)
                changes.append(CommandChange(("firewall-delete", *rule), ("firewall-insert", *rule), "taken back"))
        elif isinstance(change, CommandChange) and change.undo:
            changes.append(CommandChange(change.undo, change.argv, "taken back"))
    for device in plan.reconfigure:
        if taken.live.up.get(device) is False:
            changes.append(CommandChange(("link-down", device), ("link-up", device), "taken back"))
    fixed = [a for a in taken.live.addresses if not a.dynamic and not a.is_link_local6]
    return replace(
        plan,
        changes=tuple(changes),
        expect_addresses=tuple((a.device, a.cidr) for a in fixed if a.device in plan.reconfigure),
        expect_mtu=tuple((d, taken.live.mtu[d]) for d in plan.reconfigure if d in taken.live.mtu),
        peers=(),
    )
