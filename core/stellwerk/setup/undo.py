"""Take back a plan that was confirmed: the same decision-first way as any other end of a plan."""

from __future__ import annotations

from collections.abc import Mapping

from stellwerk.model.errors import BadInput
from stellwerk.model.plan import Plan
from stellwerk.model.text import say
from stellwerk.setup.journal import Entry, Journal
from stellwerk.setup.outcome import ApplyOutcome, Channel, OnEvent
from stellwerk.setup.resume import Resume
from stellwerk.wire import to_wire


def applied_plans(journal: Journal) -> list[Plan]:
    """Plans that ended applied and were not taken back since, newest first."""
    applied: dict[str, Plan] = {}
    begun: dict[str, Entry] = {}
    for entry in journal.entries():
        if entry.event == "begin":
            begun[entry.plan_id] = entry
        elif entry.event == "end" and entry.plan_id in begun:
            applied.pop(entry.plan_id, None)
            if entry.data.get("applied"):
                applied[entry.plan_id] = journal.plan(begun[entry.plan_id])
    return list(reversed(applied.values()))


async def undo_plan(
    plan_id: str, channels: Mapping[str, Channel], journal: Journal, on_event: OnEvent = lambda event: None
) -> ApplyOutcome:
    """Bring all nodes of the newest applied plan back. Raises `BadInput` for any other: plans build on each other."""
    plans = applied_plans(journal)
    if not plans or plans[0].plan_id != plan_id:
        newest = plans[0].plan_id if plans else say("none")
        raise BadInput(
            say("plan {plan_id} cannot be taken back", plan_id=plan_id),
            why=say("only the newest applied plan can; that is {newest}", newest=newest),
            remedy="Take back the newer ones first",
        )
    plan = plans[0]
    journal.write("begin", plan_id, plan=to_wire(plan), undo=True)
    journal.write("decision", plan_id, verdict="revert", why="taken back by hand")
    return await Resume(plan, channels, journal, on_event).run()
