"""Fail-stop: whatever goes wrong on one rank, every other rank raises a named error in time."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil
import pytest

from engine.collectives import programs
from engine.collectives.ranks import Outcome, Ranks

TRANSPORTS = ["shm", "tcp"]


def survivors_name(outcomes: list[Outcome], victim: int) -> None:
    for outcome in outcomes:
        assert outcome.error == "PeerLost", outcome
        assert outcome.attributes["rank"] == victim, outcome
        assert outcome.attributes["host"] == os.uname().nodename
        assert f"rank {victim} on " in outcome.text


@pytest.mark.parametrize(
    ("transport", "ranks"), [("shm", 2), ("shm", 4), ("shm", 8), ("tcp", 2), ("tcp", 8), ("python", 3)]
)
def test_survivors_of_a_killed_rank_name_it_at_once(transport: str, ranks: int) -> None:
    shared = set(Path("/dev/shm").iterdir())
    with Ranks(ranks, programs.until_it_fails, transport=transport, self_test=False, timeout_s=30.0) as running:
        running.wait_ready()
        victim = ranks // 2
        running.processes[victim].kill()
        outcomes = running.collect(but=frozenset({victim}), seconds=10)  # far below the time-out of a call
    survivors_name(outcomes, victim)
    assert set(Path("/dev/shm").iterdir()) <= shared


@pytest.mark.parametrize(("transport", "ranks"), [("shm", 2), ("tcp", 4), ("shm", 8)])
def test_survivors_of_a_stopped_rank_name_it_within_the_timeout(transport: str, ranks: int) -> None:
    with Ranks(ranks, programs.until_it_fails, transport=transport, self_test=False, timeout_s=1.5) as running:
        running.wait_ready()
        victim = ranks - 1
        process = psutil.Process(running.processes[victim].pid)
        process.send_signal(signal.SIGSTOP)
        try:
            outcomes = running.collect(but=frozenset({victim}), seconds=15)
        finally:
            process.send_signal(signal.SIGCONT)
        survivors_name(outcomes, victim)
        assert all("has not answered" in o.text for o in outcomes)
        (late,) = [o for o in running.collect(seconds=10) if o.rank == victim]
    assert late.error in ("Aborted", "PeerLost")  # it wakes up and finds the others gone


@pytest.mark.parametrize("ranks", [2, 4])
def test_a_severed_connection_ends_the_communicator_everywhere(ranks: int) -> None:
    odd = ranks - 1
    with Ranks(ranks, programs.cut_connection, odd, transport="tcp", self_test=False, timeout_s=20.0) as running:
        outcomes = running.collect(seconds=15)
    assert all(o.error in ("PeerLost", "Aborted") for o in outcomes), outcomes
    lost = {o.attributes["rank"] for o in outcomes if o.error == "PeerLost"}
    assert lost
    assert all("lost" in o.text or "closed" in o.text or "went on" in o.text for o in outcomes)


@pytest.mark.parametrize(
    ("transport", "how"),
    [(t, h) for t in (*TRANSPORTS, "python") for h in ("shape", "operation")]
    + [("shm", "type"), ("tcp", "reduction"), ("tcp", "algorithm")],
)
def test_a_different_call_is_named_on_every_rank(transport: str, how: str) -> None:
    with Ranks(4, programs.one_differs, 1, how, transport=transport, self_test=False, timeout_s=20.0) as running:
        outcomes = running.collect(seconds=15)
    for outcome in outcomes:
        assert outcome.error == "CallMismatch", outcome
        assert "all_reduce #4 of 64 float32, sum" in outcome.text
        assert "rank 1" in outcome.text


@pytest.mark.parametrize("ranks", [2, 4])
def test_calls_in_another_order_are_named(ranks: int) -> None:
    with Ranks(ranks, programs.out_of_order, ranks - 1, transport="tcp", self_test=False) as running:
        outcomes = running.collect(seconds=15)
    for outcome in outcomes:
        assert outcome.error == "CallMismatch", outcome
        assert "float32" in outcome.text
        assert "int32" in outcome.text


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_rank_that_is_alive_but_elsewhere_is_named(transport: str) -> None:
    with Ranks(4, programs.one_is_absent, 2, 60.0, transport=transport, self_test=False, timeout_s=1.0) as running:
        outcomes = running.collect(but=frozenset({2}), seconds=15)
        running.processes[2].kill()
    survivors_name(outcomes, 2)
    assert all("alive but did not come on in its 0 calls while barrier #1" in o.text for o in outcomes)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_abort_releases_a_blocked_rank_and_health_is_readable_meanwhile(transport: str) -> None:
    with Ranks(2, programs.blocked_and_aborted, transport=transport, self_test=False) as running:
        outcomes = running.collect(seconds=15)
    assert [o.error for o in outcomes] == ["", ""], outcomes
    assert outcomes[0].value == "the user pressed stop"
    assert "gave up: the user pressed stop" in outcomes[1].value


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_closing_from_another_thread_releases_a_blocked_rank(transport: str) -> None:
    with Ranks(2, programs.closed_while_blocked, transport=transport, self_test=False) as running:
        outcomes = running.collect(seconds=15)
    assert [o.error for o in outcomes] == ["", ""], outcomes
    assert "closed during a call" in outcomes[0].value


@pytest.mark.parametrize("transport", [*TRANSPORTS, "python"])
def test_ctrl_c_works_in_a_blocked_call(transport: str) -> None:
    with Ranks(2, programs.interrupted, transport=transport, self_test=False) as running:
        outcomes = running.collect(seconds=15)
    assert outcomes[0].value == "interrupted", outcomes
    assert "interrupted" in outcomes[1].value


def test_an_interrupted_send_ends_the_communicator_instead_of_mixing_messages() -> None:
    with Ranks(2, programs.interrupted_send, self_test=False) as running:
        outcomes = running.collect(seconds=15)
    assert "send or recv was interrupted" in outcomes[0].value, outcomes
    assert "send or recv was interrupted" in outcomes[1].value, outcomes


@pytest.mark.parametrize("transport", [*TRANSPORTS, "python"])
def test_a_forked_process_cannot_disturb_its_parents_communicator(transport: str) -> None:
    with Ranks(3, programs.forked, transport=transport, self_test=False, timeout_s=5.0) as running:
        outcomes = running.collect(seconds=15)
    assert [o.value for o in outcomes] == ["3"] * 3, outcomes


def test_a_child_that_lives_on_does_not_hide_the_death_of_its_rank() -> None:
    with Ranks(3, programs.killed_with_a_child, 1, self_test=False, timeout_s=30.0) as running:
        outcomes = running.collect(but=frozenset({1}), seconds=10)  # far below the time-out of a call
        survivors_name(outcomes, 1)
