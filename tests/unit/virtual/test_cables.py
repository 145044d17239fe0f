"""Cables and switches: who is on which wire, what has carrier."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.virtual.cables import CableModel, End, parse_end
from stellwerk.virtual.topologies import TOPOLOGIES, cable, check

NAMES = [f"spark-{n}" for n in range(1, 9)]


def shapes() -> st.SearchStrategy[tuple[str, int]]:
    pairs = [(topology, n) for topology in TOPOLOGIES for n in range(1, 9) if check(n, topology) is None]
    return st.sampled_from(pairs)


@given(shapes())
def test_every_topology_uses_each_port_at_most_once(shape: tuple[str, int]) -> None:
    topology, count = shape
    ends = [end for segment in cable(topology, NAMES[:count]).segments for end in segment.ends]
    assert len(ends) == len(set(ends))


@given(shapes())
def test_in_a_ring_and_a_chain_port_0_goes_to_the_next_nodes_port_1(shape: tuple[str, int]) -> None:
    topology, count = shape
    if topology not in ("ring", "chain"):
        return
    segments = cable(topology, NAMES[:count]).segments
    assert len(segments) == (count if topology == "ring" else count - 1)
    for segment in segments:
        first, second = segment.ends
        assert (first.port, second.port) == (0, 1)
        assert NAMES.index(second.node) == (NAMES.index(first.node) + 1) % count


@given(shapes(), st.sets(st.sampled_from(NAMES)))
def test_carrier_needs_power_here_and_light_from_there(shape: tuple[str, int], powered: set[str]) -> None:
    topology, count = shape
    cables = cable(topology, NAMES[:count])
    for segment in cables.segments:
        for end in segment.ends:
            others = [other for other in segment.ends if other != end and other.node in powered]
            lit = segment.kind == "switch" or bool(others)
            assert cables.has_carrier(end, powered) == (end.node in powered and lit)
    assert not cables.has_carrier(End("elsewhere", 0), powered | {"elsewhere"})


@given(shapes(), st.data())
def test_what_is_unplugged_can_be_plugged_in_again_and_all_is_as_before(
    shape: tuple[str, int], data: st.DataObject
) -> None:
    topology, count = shape
    cables = cable(topology, NAMES[:count])
    ends = [end for segment in cables.segments for end in segment.ends]
    if not ends:
        return
    end = data.draw(st.sampled_from(ends))
    before = {(segment.kind, frozenset(segment.ends)) for segment in cables.segments}
    taken = cables.unplug(end)
    assert cables.segment_of(end) is None
    if taken.kind == "switch":
        cables.join(taken.name, end)
    else:
        cables.plug(*taken.ends)
    assert {(segment.kind, frozenset(segment.ends)) for segment in cables.segments} == before


def test_a_taken_port_takes_no_second_cable() -> None:
    cables = CableModel()
    cables.plug(End("a", 0), End("b", 0))
    with pytest.raises(ValueError, match="a:0 already holds a cable"):
        cables.plug(End("a", 0), End("c", 0))
    with pytest.raises(ValueError, match="cannot be joined with itself"):
        cables.plug(End("c", 1), End("c", 1))


@pytest.mark.parametrize("text", ["", "spark-1", "spark-1:", ":0", "spark-1:2", "spark-1:x"])
def test_an_end_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="spark-1:0"):
        parse_end(text)


@pytest.mark.parametrize(
    ("nodes", "topology", "said"),
    [(2, "ring", "three nodes"), (0, "switch", "1 to 8"), (9, "switch", "1 to 8"), (3, "pair", "two nodes"),
     (2, "single", "one node"), (2, "star", "no topology")],
)  # fmt: skip
def test_a_shape_that_cannot_be_says_why(nodes: int, topology: str, said: str) -> None:
    assert said in (check(nodes, topology) or "")
