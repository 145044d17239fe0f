"""Dataclasses survive the wire; anything malformed is named, never a crash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk import wire
from stellwerk.model.errors import ERRORS_BY_CODE, LoginFailed, StellwerkError
from stellwerk.model.facts import NetDevice, NodeFacts, Sudo
from stellwerk.model.plan import FileChange, NodePlan, SysctlChange

FILE_CHANGES = st.builds(FileChange, kind=st.just("file"))


@given(st.lists(st.one_of(FILE_CHANGES, st.builds(SysctlChange, kind=st.just("sysctl"))), max_size=4))
def test_a_plan_survives_the_wire(changes: list[FileChange | SysctlChange]) -> None:
    plan = NodePlan(node="spark-1", node_id="n", rows=(), changes=tuple(changes), peers=(("enp1s0f0np0", "10.0.0.2"),))
    line = wire.encode(wire.request(1, "net.guard.start", {"plan": wire.to_wire(plan)}))
    assert wire.from_wire(NodePlan, wire.decode(line)["params"]["plan"]) == plan


def test_unknown_keys_are_ignored_and_missing_ones_take_their_default() -> None:
    data = {"name": "eth0", "from_the_future": 1}
    assert wire.from_wire(NetDevice, data) == NetDevice("eth0")


def test_a_missing_required_key_is_named_with_its_path() -> None:
    with pytest.raises(wire.WireError, match=r"NodeFacts: 'node_id' is missing"):
        wire.from_wire(NodeFacts, {})


def test_a_wrong_type_is_named_with_its_path() -> None:
    with pytest.raises(wire.WireError, match=r"Sudo\.state: expected str, got int"):
        wire.from_wire(Sudo, {"state": 3})


@given(st.binary(max_size=200))
def test_garbage_lines_raise_only_wire_errors(line: bytes) -> None:
    try:
        wire.decode(line)
    except wire.WireError:
        pass


@given(st.sampled_from(sorted(ERRORS_BY_CODE)), st.text(min_size=1), st.text(), st.text())
def test_errors_for_people_survive_the_wire(code: str, what: str, why: str, remedy: str) -> None:
    error = ERRORS_BY_CODE[code](what, node="spark-1", why=why, remedy=remedy)
    back = wire.error_from_wire(wire.error_to_wire(7, error)["error"])
    assert type(back) is type(error)
    assert (back.what, back.node, back.why, back.remedy) == (what, "spark-1", why, remedy)


def test_an_error_reads_as_one_paragraph() -> None:
    error = LoginFailed("no key was accepted", node="spark-2", why="the password was wrong", remedy="type it again")
    assert str(error) == "spark-2: no key was accepted: the password was wrong. Type it again."
    assert str(LoginFailed("no key", why="It is old", remedy="Make one.")) == "no key. It is old. Make one."
    assert isinstance(error, StellwerkError)
