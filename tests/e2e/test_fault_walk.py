"""A sample of the table fault x moment: whatever strikes, and whenever, all machines end on the same network.

The whole table is `stellwerk faults`; this walks each fault once, at moments spread over an apply.
"""

from __future__ import annotations

import pytest

from stellwerk.virtual.walk.lane import Row
from stellwerk.virtual.walk.moments import FAULTS, fault_of
from stellwerk.virtual.walk.table import all_jobs, lanes, walk

# The other cells are the command's: each of these takes some seconds.
SAMPLE = (
    ("desktop", "reconfigure"),
    ("desktop-late", "decided"),
    ("agent", "files"),
    ("guard", "generate"),
    ("power", "backup"),
    ("disk", "judge"),
    ("reboot", "halfway"),
    ("ssh", "confirmed"),
)


@pytest.mark.timeout(300)
async def test_every_machine_ends_on_the_old_or_the_new_network_and_says_which() -> None:
    assert {fault for fault, _ in SAMPLE} == {fault.key for fault in FAULTS}
    async with lanes("pair", 2, 3) as made:
        moments = {moment.key: moment for moment in made[0].moments}
        assert len(all_jobs(list(moments.values()))) > 100, "the journal shows no steps"
        rows: list[Row] = []
        await walk(made, [(fault_of(fault), moments[moment]) for fault, moment in SAMPLE], rows.append)
    assert len(rows) == len(SAMPLE)
    assert [(row.fault, row.moment, row.problems) for row in rows if row.problems] == []
    ends = {(row.fault, row.moment): row.end for row in rows}
    # What nobody could have confirmed goes back; what was decided is carried out by whoever comes back.
    assert ends["desktop", "reconfigure"] == "old"
    assert ends["guard", "generate"] == "old"
    assert ends["desktop-late", "decided"] == "new"
    assert ends["ssh", "confirmed"] == "new"
