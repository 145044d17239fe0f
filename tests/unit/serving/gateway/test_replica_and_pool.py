"""Replicas come, rest and return; pools choose among those that are there."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.serving.gateway.address import Address, AddressError, address_of, direct, from_table
from stellwerk.serving.gateway.pool import Pool
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.policy.model import Balance, Health
from stellwerk.serving.policy.model import Pool as PoolSpec
from stellwerk.serving.policy.model import Replica as ReplicaSpec

HEALTH = Health(fails=3, passes=2, eject_s=10.0, slow_start_s=10.0)


def replica(name: str = "a", limit: int = 10) -> Replica:
    return Replica(name, Address("h", 1, None, None, b"/v1", b"host: h\r\n"), limit, HEALTH)


def pool(*replicas: Replica, balance: Balance = "least_busy", waiting: int = 2) -> Pool:
    spec = PoolSpec("p", "m", (), balance=balance, max_running=10, max_waiting=waiting)
    return Pool(spec, list(replicas), b'"m"')


def test_failures_in_a_row_eject_and_single_ones_do_not() -> None:
    one = replica()
    for _ in range(5):
        assert not one.request_failed(0, "x")
        assert not one.request_failed(0, "x")
        assert not one.succeeded(0)
    assert one.state == "up"
    assert [one.request_failed(0, "refused") for _ in range(3)] == [False, False, True]
    assert (one.state, one.slots) == ("ejected", 0)
    assert "refused" in one.reason


def test_a_rest_ends_in_one_trial_that_decides_and_rests_grow() -> None:
    one = replica()
    for _ in range(3):
        one.request_failed(0, "x")
    assert not one.tick(9.9)
    assert one.tick(10.0)
    assert (one.state, one.slots) == ("trial", 1)
    assert one.request_failed(10.0, "x")
    assert not one.tick(29.0)
    assert one.tick(30.0), "the second rest is twice as long"
    assert one.succeeded(30.0)
    assert one.state == "up"


def test_a_returned_replica_starts_slowly() -> None:
    one = replica(limit=10)
    for _ in range(3):
        one.check_failed(0, "gone")
    assert (one.state, one.slots) == ("down", 0)
    assert not one.check_passed(1)
    assert one.check_passed(2)
    slots = []
    for now in range(2, 14):
        one.tick(now)
        slots.append(one.slots)
    assert slots[0] == 1
    assert slots == sorted(slots)
    assert slots[-1] == 10


def test_a_drained_replica_takes_nothing_and_checks_do_not_bring_it_back() -> None:
    one = replica()
    one.drain()
    one.check_passed(1)
    one.check_passed(2)
    one.tick(3)
    assert one.slots == 0
    one.undrain(4)
    assert one.slots == 1


@given(st.lists(st.sampled_from(["ok", "fail", "pass", "miss", "tick"]), max_size=60))
def test_slots_are_always_what_the_state_says(events: list[str]) -> None:
    one = replica(limit=7)
    for now, event in enumerate(events):
        if event == "ok":
            one.succeeded(now)
        elif event == "fail":
            one.request_failed(now, "x")
        elif event == "pass":
            one.check_passed(now)
        elif event == "miss":
            one.check_failed(now, "x")
        else:
            one.tick(now)
        if one.state in ("down", "ejected", "draining"):
            assert one.slots == 0
        elif one.state == "trial":
            assert one.slots == 1
        else:
            assert 1 <= one.slots <= 7
        assert one.reason


@settings(max_examples=50)
@given(
    st.sampled_from(["least_busy", "round_robin", "prefix"]),
    st.integers(1, 5),
    st.lists(st.tuples(st.booleans(), st.sampled_from([None, "s1", "s2"])), max_size=80),
)
def test_no_replica_gets_more_than_its_slots_and_counts_add_up(
    balance: Balance, size: int, steps: list[tuple[bool, str | None]]
) -> None:
    replicas = [replica(f"r{number}", 3) for number in range(size)]
    chosen = pool(*replicas, balance=balance)
    held: list[Replica] = []
    for take, session in steps:
        if take:
            got = chosen.take(session)
            if got is None:
                assert all(one.running == one.slots for one in replicas) or balance == "prefix"
            else:
                held.append(got)
        elif held:
            chosen.release(held.pop(0))
        assert chosen.running == len(held)
        assert all(0 <= one.running <= one.slots for one in replicas)


def test_prefix_moves_only_the_conversations_of_a_lost_replica() -> None:
    replicas = [replica(f"r{number}", 100) for number in range(4)]
    chosen = pool(*replicas, balance="prefix")
    sessions = [f"session {number}" for number in range(200)]

    def place(session: str) -> str:
        got = chosen.take(session)
        assert got is not None
        chosen.release(got)
        return got.name

    before = {session: place(session) for session in sessions}
    assert min(Counter(before.values()).values()) > 25
    replicas[0].drain()
    chosen.recount()
    after = {session: place(session) for session in sessions}
    moved = [session for session in sessions if before[session] != after[session]]
    assert set(moved) == {session for session in sessions if before[session] == "r0"}


class Waits:
    def __init__(self) -> None:
        self.gone = False
        self.session: str | None = None
        self.avoid: tuple[Replica, ...] = ()
        self.got: Replica | None = None

    def slot_free(self, replica: Replica) -> None:
        self.got = replica


def test_the_queue_is_bounded_and_served_in_order() -> None:
    only = replica(limit=1)
    chosen = pool(only, waiting=2)
    assert chosen.take() is only
    first, second, third = Waits(), Waits(), Waits()
    assert chosen.enqueue(first)
    assert chosen.enqueue(second)
    assert chosen.full
    assert not chosen.enqueue(third)
    first.gone = True
    chosen.leave_queue(first)
    chosen.release(only, 2.0)
    assert (first.got, second.got) == (None, only)
    assert (chosen.running, chosen.waiting) == (1, 0)
    assert 1 <= chosen.retry_after_s() <= 60


def test_who_waits_for_a_certain_replica_does_not_hold_up_who_can_take_any() -> None:
    one, other = replica("one", 1), replica("other", 1)
    chosen = pool(one, other, waiting=4)
    assert {chosen.take(), chosen.take()} == {one, other}
    picky, easy, last = Waits(), Waits(), Waits()
    picky.avoid = (one,)  # it has failed there
    for waiter in (picky, easy, last):
        assert chosen.enqueue(waiter)
    chosen.release(one)
    assert (picky.got, easy.got, last.got) == (None, one, None)
    assert (chosen.running, chosen.waiting) == (2, 2)
    chosen.release(one)
    chosen.release(other)
    assert (picky.got, last.got, chosen.waiting) == (other, one, 0)


def test_addresses_of_nodes_and_urls(monkeypatch: pytest.MonkeyPatch) -> None:
    node = address_of(ReplicaSpec(node="spark-1", port=8000), direct)
    assert (node.host, node.port, node.base, node.lines) == ("spark-1", 8000, b"/v1", b"host: spark-1:8000\r\n")
    table = from_table(
        {"spark-1": "10.0.0.1", "spark-2:8000": "127.0.0.1:9000", "spark-3": "[fd00::1]", "spark-4": "[fd00::1]:90"}
    )
    assert address_of(ReplicaSpec(node="spark-1", port=8000), table).host == "10.0.0.1"
    assert address_of(ReplicaSpec(node="spark-2", port=8000), table).port == 9000
    assert address_of(ReplicaSpec(node="spark-3", port=8000), table).lines == b"host: [fd00::1]:8000\r\n"
    assert address_of(ReplicaSpec(node="spark-4", port=8000), table).lines == b"host: [fd00::1]:90\r\n"
    abroad = address_of(ReplicaSpec(url="http://bücher.example:90/v1"), direct)
    assert (abroad.host, abroad.lines) == ("xn--bcher-kva.example", b"host: xn--bcher-kva.example:90\r\n")
    monkeypatch.setenv("STELLWERK_TEST_KEY", "abc")
    outside = address_of(ReplicaSpec(url="https://api.example/openai/v1", key_env="STELLWERK_TEST_KEY"), direct)
    assert (outside.port, outside.base, outside.server_name) == (443, b"/openai/v1", "api.example")
    assert b"authorization: Bearer abc\r\n" in outside.lines
    monkeypatch.setenv("STELLWERK_TEST_KEY", "abc\r\nx: y")
    with pytest.raises(AddressError):
        address_of(ReplicaSpec(url="https://api.example/v1", key_env="STELLWERK_TEST_KEY"), direct)
    with pytest.raises(AddressError):
        address_of(ReplicaSpec(url="ftp://api.example/v1"), direct)
