"""A proof never calls a fabric whose cables are wrong a working one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fixtures.wires import Segment, hear, ring, sparks, switch
from stellwerk.model.errors import ConnectionFailed
from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Verdict
from stellwerk.setup.look import Look, judge
from stellwerk.setup.prove import prove


class Link:
    """An agent that answers that it is there, and nothing else."""

    async def call(self, method: str, *_: object, **__: object) -> Any:
        if method == "sudo.state":
            return {}
        raise ConnectionFailed(f"{method} was not to be asked")


def look_at(count: int, segments: list[Segment], wanted: TopologyKind | None = None) -> Look:
    members = sparks(count, segments)
    facts = {m.name: m.facts for m in members}
    return judge(facts, hear(count, segments), {m.name: m.number for m in members}, wanted)


def session_of(look: Look) -> Any:
    cluster = SimpleNamespace(name="test", nodes=tuple(SimpleNamespace(name=m.name) for m in look.members))
    return SimpleNamespace(cluster=cluster, links={m.name: Link() for m in look.members})


@pytest.mark.parametrize(
    ("segments", "wanted"),
    [
        pytest.param([Segment(tuple((n, 1) for n in (1, 3, 4))), Segment(((2, 0),))], TopologyKind.SWITCH, id="switch"),
        pytest.param([], None, id="no cable at all"),
        pytest.param(ring(4)[:2], TopologyKind.RING, id="half a ring"),
    ],
)
async def test_machines_that_answer_over_ssh_are_no_proof_while_a_cable_is_wrong(
    segments: list[Segment], wanted: TopologyKind | None
) -> None:
    look = look_at(4, segments, wanted)
    proof = await prove(session_of(look), look)
    assert proof.verdict is Verdict.FAIL
    bad = [c for c in proof.checks if c.kind == "cable"]
    assert bad and all(c.verdict is Verdict.FAIL and c.why and c.remedy for c in bad)
    assert {c.node for c in bad} <= {m.name for m in look.members}


async def test_a_node_that_is_lost_meanwhile_is_named_before_what_it_no_longer_answers() -> None:
    look = look_at(4, switch(4))
    session = session_of(look)
    lost = [c for c in (await prove(session, look)).checks if c.kind == "connection"]
    assert {c.verdict for c in lost} == {Verdict.FAIL}, "each answered once and then no more"
    assert all("was lost while it was measured" in c.why and c.remedy for c in lost)


async def test_right_cables_add_no_check() -> None:
    look = look_at(4, switch(4))
    assert not [c for c in (await prove(session_of(look), look)).checks if c.kind == "cable"]
