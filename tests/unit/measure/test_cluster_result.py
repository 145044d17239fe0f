"""From a cluster's figures to the self-test's table, the tuning file and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stellwerk.collectives import dispatch
from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport
from stellwerk.measure.cluster import ClusterResult, read_tuning, self_test_of, store_tuning, to_json
from stellwerk.measure.collectives import Cell, Contender, Plan, Result
from stellwerk.measure.collectives_report import from_json, table
from stellwerk.model.errors import BadInput

SIZES = (8192, 1 << 20)
FIGURES = {  # algorithm -> median µs per size
    "auto": (22.5, 372.0),
    "direct": (22.0, 598.0),
    "two_shot": (34.1, 371.0),
    "ring": (90.2, 436.0),
}


def measured(wrong: int = 0, ranks: tuple[int, ...] = (2, 8), joined: Topology = Topology.MESH) -> ClusterResult:
    names = {f"tcp {a}": None if a == "auto" else a for a in FIGURES}
    cells = tuple(
        Cell(f"tcp {a}", n, size, us, us * 2, 500, wrong if a == "ring" and n == 8 else 0)
        for n in ranks
        for i, size in enumerate(SIZES)
        for a, us in ((a, figures[i]) for a, figures in FIGURES.items())
    )
    plan = Plan(ranks, SIZES, ("tcp",), tuple(a for a in FIGURES if a != "auto"), ())
    contenders = tuple(Contender(name, "stellwerk-tcp", algorithm) for name, algorithm in names.items())
    result = Result(plan, contenders, cells, (), (), 20)
    nodes = tuple(f"spark-{i}" for i in range(1, max(ranks) + 1))
    return ClusterResult(result, nodes, dict.fromkeys(ranks, joined), True, ("verbs is off on every rank: why",))


def test_the_self_test_names_the_best_of_each_size_and_says_what_was_left_out() -> None:
    test = self_test_of(measured())
    assert (test.ranks, test.transport, test.sizes) == (8, "tcp", SIZES)
    assert [row.algorithm for row in test.rows] == ["direct", "two_shot", "ring"]
    assert test.best == ("direct", "two_shot")
    assert test.calls == 8 * 500
    assert test.exact
    assert test.simulated
    assert test.notes == ("verbs is off on every rank: why",)


def test_a_wrong_sum_is_never_exact() -> None:
    test = self_test_of(measured(wrong=3))
    assert not test.exact
    assert {row.algorithm: row.wrong for row in test.rows} == {"direct": 0, "two_shot": 0, "ring": 6}


def test_nothing_measured_is_not_exact_either() -> None:
    empty = measured(ranks=(2,))
    nothing = ClusterResult(Result(empty.result.plan, (), (), (), (), 20), empty.nodes, empty.joined, False)
    assert not self_test_of(nothing).exact
    assert self_test_of(nothing).best == ()


def test_the_table_is_stored_per_number_of_ranks_and_shape_and_the_ranks_read_it(tmp_path: Path) -> None:
    path = tmp_path / "cluster" / "collectives-tuning.json"
    assert read_tuning(path) == {"format": 1, "tables": {}}
    both = measured()
    stored = store_tuning(ClusterResult(both.result, both.nodes, {2: Topology.MESH, 8: Topology.RING}, False), path)
    assert len(stored) == 2
    assert set(read_tuning(path)["tables"]) == {"tcp/mesh/2", "tcp/ring/8"}
    row = dispatch.load(Transport.TCP, Topology.RING, 8, path).table[Operation.ALL_REDUCE]
    assert [rule.algorithm for rule in row] == [Algorithm.DIRECT, Algorithm.TWO_SHOT]


@pytest.mark.parametrize("text", ["{", "[]", "7"])
def test_a_broken_tuning_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tuning.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"tuning\.json"):
        read_tuning(path)


def test_the_json_reads_back_as_that_of_one_computer_and_names_the_machines() -> None:
    data = json.loads(json.dumps(to_json(measured())))
    assert data["cluster"]["nodes"][0] == "spark-1"
    assert data["cluster"]["joined"] == {"2": "mesh", "8": "mesh"}
    assert data["cluster"]["simulated"] is True
    again = from_json(data)
    assert again.cells == measured().result.cells
    assert "tcp: direct is 4.1 times faster than ring at 8 KiB on 8 ranks." in data["sentences"]
    assert table(again, 8)[1][0][0] == "8 KiB"
