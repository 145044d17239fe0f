"""In a terminal of 80 columns names of interfaces and addresses stay whole, and nothing is said twice."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from fixtures.wires import addressed, cable, hear
from stellwerk.cli import network, nodes
from stellwerk.fabric.plan import make_plan
from stellwerk.model.fabric import FabricPlanInput
from stellwerk.setup.look import judge

NETDEVS = ("enp1s0f1np1", "enP2p1s0f1np1")
OLD = ("169.254.131.117/16", "169.254.201.101/16")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    text = io.StringIO()
    console = Console(file=text, width=80, highlight=False)
    for module in (network, nodes):
        monkeypatch.setattr(module, "out", console)
    return text


def test_interfaces_and_addresses_stay_whole_in_80_columns(shown: io.StringIO) -> None:
    segments = [cable((1, 1), (2, 1))]
    members = addressed(2, segments, {1: dict(zip(NETDEVS, OLD, strict=True))})
    look = judge({m.name: m.facts for m in members}, hear(2, segments), {}, None)
    made = make_plan(
        look.members, look.topology, FabricPlanInput(), cluster="c", plan_id="p", created_at="2026-01-01T00:00:00Z"
    )
    nodes.out.print(nodes.facts_table({m.name: m.facts for m in members}))
    facts = shown.getvalue()
    for netdev in ("enP7s7 10 Gb/s", *(f"{name} 200 Gb/s" for name in NETDEVS), "roceP2p1s0f1 ACTIVE"):
        assert facts.count(netdev) == 2, facts
    network.show_cables(look)
    network.show_plan(made, said=look.topology.notes)
    text = shown.getvalue()[len(facts) :]
    planned = [row.then for node in made.nodes for row in node.rows if row.then]
    assert planned
    for word in (*NETDEVS, *OLD, *planned):
        assert word in text, text
    assert " ".join(text.split()).count("a switch that does not name itself") == 1, text
