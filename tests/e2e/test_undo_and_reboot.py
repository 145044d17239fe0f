"""After a change was taken back the cables are seen as before, also when one machine started anew in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.support import journey
from stellwerk.model.fabric import TopologyKind
from stellwerk.setup.apply import Apply
from stellwerk.setup.look import take_look
from stellwerk.setup.planning import build_plan
from stellwerk.setup.undo import undo_plan


@pytest.mark.timeout(180)
async def test_the_cable_is_seen_after_an_undo_and_a_reboot_of_one_machine(tmp_path: Path) -> None:
    async with journey(tmp_path) as made:
        look = await take_look(made.session, None, hear_s=1.0)
        fabric = [h.netdev.name for m in look.members for p in m.ports for h in p.halves if h.netdev.carrier]
        made_plan = build_plan(made.session.cluster, look)
        outcome = await Apply(made_plan, made.session.links, made.folder.journal).run()
        assert outcome.applied, outcome.why
        undone = await undo_plan(made_plan.plan_id, made.session.links, made.folder.journal)
        assert undone.consistent, undone.why
        back = await take_look(made.session, None, hear_s=1.0)
        without = [
            (m.name, d.name)
            for m in back.members
            for d in m.facts.netdevs
            if d.name in fabric and d.carrier and not d.link_local6
        ]
        assert without == [], "the link-local address has not come back"

        await made.cluster.set_fault("power-off", node="spark-2")
        await made.cluster.set_fault("power-on", node="spark-2")
        await made.session.links["spark-2"].ready(60)
        after = await take_look(made.session, None, hear_s=1.0)
        assert after.topology.kind is TopologyKind.PAIR, after.cable_findings
        assert [f.code for f in after.cable_findings] == [f.code for f in look.cable_findings]


@pytest.mark.timeout(180)
async def test_a_machine_without_link_local_but_with_root_is_heard_by_one_without_root(tmp_path: Path) -> None:
    async with journey(tmp_path, faults=({"kind": "link-local-off", "node": "spark-1"},)) as made:
        await made.session.links["spark-2"].call("sudo.forget", {})
        look = await take_look(made.session, None)
        assert look.topology.kind is TopologyKind.PAIR, look.cable_findings
