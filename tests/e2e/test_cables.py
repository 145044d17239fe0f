"""Each wrong cabling of a ring of four: every single swap of two plugs and every missing cable, named and put right."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from e2e.support import Journey, journey, stellwerk
from stellwerk.fabric.expected import after
from stellwerk.model.fabric import CableFinding, Cabling, TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.setup.look import take_look

RIGHT = {frozenset({f"spark-{n}:0", f"spark-{n % 4 + 1}:1"}) for n in range(1, 5)}
ENDS = sorted(end for ends in RIGHT for end in ends)
HEAR_S = 0.5  # simulated wires are quick


def joined(cabling: Cabling) -> set[frozenset[str]]:
    both = [*((cable.a, cable.b) for cable in cabling.cables), *cabling.loops]
    return {frozenset(f"{end.node}:{end.port}" for end in ends) for ends in both}


async def plugged(made: Journey) -> set[frozenset[str]]:
    return {frozenset(cable["ends"]) for cable in await made.cluster.cables()}


async def plug(made: Journey, wanted: set[frozenset[str]]) -> None:
    """Move the cables of the running machines until exactly these are plugged."""
    there = await plugged(made)
    for ends in there - wanted:
        await made.cluster.unplug(sorted(ends)[0])
    for ends in wanted - there:
        await made.cluster.plug(*sorted(ends))


async def heard(made: Journey, plugged: set[frozenset[str]]) -> tuple[Cabling, tuple[CableFinding, ...]]:
    """Half a second is short for a busy computer: a frame that came too late is asked for again."""
    for _ in range(4):
        look = await take_look(made.session, TopologyKind.RING, hear_s=HEAR_S)
        if joined(look.topology.cabling) == plugged:
            break
    return look.topology.cabling, look.cable_findings


def wrong_cablings() -> list[set[frozenset[str]]]:
    """Every cable missing once, every two plugs swapped once (both plugs of one cable swapped is the same cable)."""
    found = [RIGHT - {cable} for cable in sorted(RIGHT, key=sorted)]
    for x, y in itertools.combinations(ENDS, 2):
        swap = {x: y, y: x}
        found.append({frozenset(swap.get(end, end) for end in ends) for ends in RIGHT})
    return [cables for cables in found if cables != RIGHT]


async def check(made: Journey, wrong: list[set[frozenset[str]]]) -> None:
    for cables in wrong:
        await plug(made, cables)
        cabling, findings = await heard(made, cables)
        assert joined(cabling) == cables, "what was heard is not what is plugged"
        [finding] = findings
        assert finding.severity is Severity.BAD
        assert finding.title and finding.meaning and finding.steps
        named = {f"{port.node}:{port.port}" for port in finding.ports}
        concerned = {end for ends in cables ^ RIGHT for end in ends}
        assert named <= concerned, f"{finding.title}: {named - concerned} has nothing to do with it"
        put_right = joined(after(cabling, finding.movements))
        assert len(put_right) == 4
        assert all({end[-1] for end in ends} == {"0", "1"} for ends in put_right), finding


@pytest.mark.soak
@pytest.mark.timeout(600)
async def test_each_wrong_cabling_of_a_ring_of_four_is_named_and_put_right(tmp_path: Path) -> None:
    assert len(wrong_cablings()) == 4 + 24
    async with journey(tmp_path, 4, "ring") as made:
        await check(made, wrong_cablings())


@pytest.mark.timeout(300)
async def test_a_missing_and_two_swapped_cables_of_a_ring_of_four_are_named_and_put_right(tmp_path: Path) -> None:
    wrong = wrong_cablings()
    async with journey(tmp_path, 4, "ring") as made:
        cabling, findings = await heard(made, RIGHT)
        assert (joined(cabling), findings) == (RIGHT, ())
        await check(made, [wrong[0], wrong[4], wrong[-3]])
        # One of them as a person sees it.
        await made.session.close()
        await plug(made, wrong[0])
        ran = await stellwerk(tmp_path, "cables", "--topology", "ring", "--seconds", "1")
        assert ran.code == 1, ran.text
        assert "is not connected to" in ran.text
        assert "Plug a cable from" in ran.text
        await plug(made, RIGHT)
        ran = await stellwerk(tmp_path, "cables", "--topology", "ring", "--seconds", "1", "--json", "-")
        assert ran.code == 0, ran.text
        assert json.loads(ran.out)["findings"] == []
