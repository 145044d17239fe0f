"""Communicators between real processes, over every transport of this machine."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from engine.collectives import programs, saboteurs
from engine.collectives.ranks import Ranks, run
from stellwerk.collectives import Communicator, Link, Transport, native_library
from stellwerk.native import NativeMissing

TRANSPORTS = ["shm", "tcp", "python"]
ALGORITHMS = [None, "direct", "two_shot", "ring", "recursive_doubling", "relay"]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("ranks", [1, 3])
def test_sums_are_right_and_bit_identical(transport: str, ranks: int) -> None:
    counts = [0, 1, 7, 1000] if transport == "python" else [0, 1, 7, 70_001]
    digests = run(ranks, programs.sums, counts, ALGORITHMS, transport=transport, self_test=False)
    assert all(of_rank == digests[0] for of_rank in digests)


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_large_sums_are_cut_into_chunks_and_right(transport: str) -> None:
    digests = run(3, programs.sums, [600_001], ["two_shot", "ring"], transport=transport, self_test=False)
    assert digests[0] == digests[1] == digests[2]


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_any_mixture_of_calls_ends_with_the_same_bits_on_all_ranks(transport: str) -> None:
    """Messages of very different sizes must not get in each other's way (a ring of memory once filled up and hung)."""
    digests = run(8, programs.mixture, 80, transport=transport, self_test=False)
    assert len(set(digests)) == 1


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("ranks", [1, 4])
def test_every_operation_does_what_it_says(transport: str, ranks: int) -> None:
    assert run(ranks, programs.every_operation, transport=transport, self_test=False) == ["fine"] * ranks


def test_sixteen_ranks_work() -> None:
    assert run(16, programs.every_operation, transport="shm", self_test=False) == ["fine"] * 16


def test_sixteen_ranks_pass_the_start_up_tests() -> None:
    """What the tests expected of bytes once did not fit into a byte, and every large group fell back to Python."""
    for found in run(16, programs.report, transport="tcp"):
        assert found["transport"] == "tcp"
        assert not found["fallbacks"]


@pytest.mark.parametrize("transport", ["shm", "python"])
def test_any_contiguous_memory_is_taken(transport: str) -> None:
    assert run(2, programs.other_memory, transport=transport, self_test=False) == ["fine"] * 2


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_asynchronous_calls_keep_their_order(transport: str) -> None:
    results = run(3, programs.asynchronous, transport=transport, self_test=False)
    assert results == [[3.0 * i + 3 for i in range(20)] + [3.0]] * 3


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_any_source_takes_the_tag_that_is_asked_for_with_a_thousand_open_files(transport: str) -> None:
    results = run(3, programs.any_source, transport=transport, prepare=saboteurs.a_thousand_open_files, timeout_s=5.0)
    assert results == ["fine"] * 3


def test_subgroups_work_beside_the_whole() -> None:
    results = run(4, programs.subgroups, transport="tcp", self_test=False)
    assert results == [[6.0, 2.0] * 5, [6.0, 4.0] * 5, [6.0, 2.0] * 5, [6.0, 4.0] * 5]


def test_pairs_exchange_messages_beside_collectives() -> None:
    assert run(3, programs.pairs, transport="shm", self_test=False) == ["fine"] * 3


@pytest.mark.parametrize("transport", ["tcp", "python"])
def test_a_communicator_is_tested_before_it_is_handed_out(transport: str) -> None:
    for found in run(3, programs.report, transport=transport):
        assert found["transport"] == transport
        assert found["calls"] > 100
        assert found["latency_us"] > 0
        assert not found["fallbacks"]


def test_auto_takes_shared_memory_on_one_machine() -> None:
    assert [found["transport"] for found in run(2, programs.report)] == ["shm", "shm"]


@pytest.mark.parametrize("transport", ["shm", "tcp", "python"])
def test_a_rank_that_leaves_early_takes_nothing_with_it(transport: str) -> None:
    assert run(3, programs.leaves_early, transport=transport, self_test=False) == ["fine"] * 3


def test_a_topology_may_be_given_as_a_word_and_an_unknown_one_is_refused() -> None:
    from stellwerk.collectives import Algorithm, Operation, Options

    for chosen in run(4, programs.chosen, Operation.ALL_REDUCE, 1024, topology="ring", self_test=False):
        assert chosen is Algorithm.RELAY
    with pytest.raises(ValueError, match="unknown topology 'banana'; known are: host, mesh, ring"):
        Options(topology="banana")


def test_one_rank_without_the_library_turns_it_off_everywhere() -> None:
    for found in run(3, programs.report, prepare=saboteurs.no_library_on_rank_1):
        assert found["transport"] == "python"
        assert "shm is off on every rank: rank 1" in found["fallbacks"][0]
        assert "STELLWERK_NATIVE=0" in found["fallbacks"][0]


def test_without_the_library_one_warning_says_why_and_that_it_is_slow(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(native_library, "load", missing_library)
    listener = socket.create_server(("127.0.0.1", 0))
    with Communicator.connect(0, 1, "tcp://127.0.0.1:1", token="t", listener=listener) as comm:
        assert comm.transport is Transport.PYTHON
        (slow,) = comm.report.notes
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "no native library: there is no compiler" in record.getMessage()
    assert record.getMessage().endswith(slow)
    assert "many times slower" in slow


def test_a_result_that_lies_partly_over_its_input_is_refused() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    with Communicator.connect(0, 1, "tcp://127.0.0.1:1", token="t", listener=listener) as comm:
        data = bytearray(11)
        for make in (comm.all_reduce, comm.prepare_all_reduce):
            with pytest.raises(ValueError, match="partly over each other"):
                make(memoryview(data)[:10], out=memoryview(data)[1:])
        comm.all_reduce(memoryview(data)[:5], out=memoryview(data)[5:10])
        comm.all_reduce(data, out=data)


def missing_library() -> None:
    raise NativeMissing("there is no compiler")


def test_verbs_without_a_device_falls_back_to_tcp_and_says_why() -> None:
    for found in run(2, programs.report, transport="verbs", address="127.0.0.1"):
        assert found["transport"] == "tcp"
        assert "verbs is off on every rank: rank 0" in found["fallbacks"][0]
        assert "RDMA device" in found["fallbacks"][0]


def test_a_wrong_sum_on_one_rank_makes_all_fall_back_and_say_so() -> None:
    for found in run(3, programs.report, prepare=saboteurs.wrong_sums_on_rank_2):
        assert found["transport"] == "python"
        assert len(found["fallbacks"]) == 2
        assert "shm is off on every rank: rank 2" in found["fallbacks"][0]
        assert "elements are wrong" in found["fallbacks"][0]
        assert any("shm is off" in line for line in found["lines"])


def test_the_start_up_tests_try_every_algorithm_of_every_operation_and_both_sides_of_every_limit(
    tmp_path: Path,
) -> None:
    from stellwerk.collectives import dispatch
    from stellwerk.collectives.algorithms import algorithms_for
    from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport

    path = tmp_path / "tuning.json"
    table = {
        Operation.ALL_GATHER: dispatch.rules((3001, Algorithm.RING), above=Algorithm.DIRECT),
        Operation.REDUCE_SCATTER: dispatch.rules((6000, Algorithm.RING), above=Algorithm.DIRECT),
    }
    dispatch.store(Transport.SHM, Topology.HOST, 3, table, path)
    for calls in run(3, programs.tested_calls, tuning=path, prepare=saboteurs.calls_of_the_tests_are_noted):
        for operation in Operation:
            wanted = set(algorithms_for(operation))
            assert {algorithm for name, algorithm, _ in calls if name == operation} == wanted
        assert (Operation.ALL_GATHER, Algorithm.RING, 3001) in calls
        assert (Operation.ALL_GATHER, Algorithm.DIRECT, 3002) in calls
        assert (Operation.REDUCE_SCATTER, Algorithm.RING, 500) in calls
        assert (Operation.REDUCE_SCATTER, Algorithm.DIRECT, 501) in calls
        assert (Operation.BROADCAST, Algorithm.TWO_SHOT, 65537) in calls


def test_different_dispatch_tables_are_noticed_and_the_shipped_one_is_used(tmp_path: Path) -> None:
    from stellwerk.collectives import dispatch
    from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport

    path = tmp_path / "tuning.json"
    row = {Operation.ALL_REDUCE: dispatch.rules((77, Algorithm.RING), above=Algorithm.DIRECT)}
    dispatch.store(Transport.SHM, Topology.HOST, 2, row, path)
    for found in run(2, programs.report, tuning=str(path), prepare=saboteurs.another_table_on_rank_1):
        assert found["source"] == "shipped"
        assert "rank 1 has another dispatch table" in found["notes"][0]
    for found in run(2, programs.report, tuning=path):
        assert found["source"] == str(path)


def test_a_wrong_token_is_refused_and_named() -> None:
    with Ranks(2, programs.report, prepare=saboteurs.other_token, setup_timeout_s=2.0) as ranks:
        first, second = ranks.collect()
    assert (first.error, second.error) == ("SetupFailed", "TokenRefused")
    assert "rank 1 did not come in time (1 callers with a wrong token were refused)" in first.text
    assert "the token was refused" in second.text


def test_a_missing_rank_is_named_on_the_others() -> None:
    with Ranks(3, programs.report, prepare=saboteurs.missing, setup_timeout_s=1.5) as ranks:
        outcomes = ranks.collect()
    assert [o.error for o in outcomes] == ["SetupFailed", "SetupFailed", "OSError"]
    assert "rank 2 did not come in time" in outcomes[0].text
    assert "rank 2 did not come in time" in outcomes[1].text


def test_ranks_that_were_started_differently_are_told_so() -> None:
    with Ranks(2, programs.report, prepare=saboteurs.other_transport) as ranks:
        outcomes = ranks.collect()
    for outcome in outcomes:
        assert outcome.error == "SetupFailed"
        assert "rank 1" in outcome.text
        assert "transport 'tcp'" in outcome.text


def test_a_pair_that_cannot_reach_each_other_is_named_on_every_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    with Ranks(3, programs.report, prepare=saboteurs.unreachable, setup_timeout_s=3.0) as ranks:
        outcomes = ranks.collect()
    for outcome in outcomes:
        assert outcome.error == "SetupFailed"
        assert "No route to host" in outcome.text
        assert "rank 2" in outcome.text


def test_on_an_emulated_link_the_number_of_steps_decides() -> None:
    """8 ranks, 20 ms: direct, two_shot, recursive doubling and ring wait 1, 2, 3 and 14 times."""
    steps = {"direct": 1, "two_shot": 2, "recursive_doubling": 3, "ring": 14}
    least = dict.fromkeys(steps, float("inf"))
    for _ in range(4):  # other load can only add to the steps, so a busy moment may be repeated
        times = run(8, programs.step_times, 256, 4, transport="shm", link=Link(delay_us=20_000), self_test=False)
        for name in steps:
            least[name] = min(least[name], sorted(of_rank[name] for of_rank in times)[4])
        if all(least[name] <= 1.3 * count * 0.020 for name, count in steps.items()):
            break
    for name, count in steps.items():
        assert least[name] == pytest.approx(count * 0.020, rel=0.3), name
