"""The benchmark's figures in words and files, from made-up cells."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from stellwerk.collectives import dispatch
from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport
from stellwerk.measure.collectives import Cell, Contender, Plan, Result
from stellwerk.measure.collectives_report import (
    from_json,
    parse_size,
    sentences,
    size_text,
    store_tuning,
    table,
    time_text,
    to_csv,
    to_json,
    tuned,
)

SIZES = (1 << 10, 8 << 10, 64 << 10, 1 << 20)


def made_up(wrong: int = 0) -> Result:
    contenders = (
        Contender("tcp auto", "stellwerk-tcp"),
        Contender("tcp direct", "stellwerk-tcp", "direct"),
        Contender("tcp ring", "stellwerk-tcp", "ring"),
        Contender("ompi-tcp", "ompi-tcp", None, True),
    )
    times = {
        "tcp auto": (10, 12, 30, 100),
        "tcp direct": (10, 12, 40, 400),
        "tcp ring": (30, 36, 32, 100),
        "ompi-tcp": (20, 30, 33, 90),
    }
    cells = [
        Cell(name, 8, size, float(us), us * 1.5, 100, wrong if name == "tcp ring" else 0)
        for name, row in times.items()
        for size, us in zip(SIZES, row, strict=True)
    ]
    return Result(
        Plan(ranks=(8,), sizes=SIZES, transports=("tcp",)), contenders, tuple(cells), ("gloo: no torch",), (), 2
    )


@pytest.mark.parametrize(
    ("text", "size"), [("4096", 4096), ("8K", 8192), ("8KiB", 8192), ("1m", 1 << 20), ("16 B", 16)]
)
def test_sizes_are_read_as_people_write_them(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "K", "8X", "-1", "1.5K"])
def test_a_size_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        parse_size(text)


def test_figures_have_sensible_digits() -> None:
    assert [time_text(v) for v in (3.14, 52.3, 523.4, 14_400)] == ["3.1", "52.3", "523", "14.4 ms"]
    assert [size_text(v) for v in (100, 8192, 3 << 20, 1500)] == ["100 B", "8 KiB", "3 MiB", "1500 B"]


def test_the_result_is_said_in_words() -> None:
    said = sentences(made_up())
    assert "tcp: direct is 3.0 times faster than ring at 8 KiB on 8 ranks." in said
    assert "tcp: direct is 4.0 times slower than ring at 1 MiB on 8 ranks." in said
    assert "TCP: at or under ompi-tcp in 3 of 4 cells; ompi-tcp takes 0.90 to 2.5 times as long." in said
    assert said[-1] == "# Out of bounds values : 0 OK"


def test_a_wrong_element_is_not_hidden() -> None:
    assert sentences(made_up(wrong=3))[-1] == "# Out of bounds values : 12 FAILED"
    _, lines = table(made_up(wrong=3), 8)
    assert [line[-1] for line in lines] == ["3"] * 4


def test_bus_bandwidth_is_that_of_nccl_tests() -> None:
    assert Cell("x", 4, 1_000_000, 100.0, 100.0, 1, 0).bus_gbytes_per_s == pytest.approx(10 * 2 * 3 / 4)


def test_the_table_has_a_line_per_size_with_ratios() -> None:
    heads, lines = table(made_up(), 8)
    assert heads == ["size", "tcp auto", "tcp direct", "tcp ring", "ompi-tcp", "ompi-tcp : tcp auto", "#wrong"]
    assert lines[1] == ["8 KiB", "12.0 / 18.0", "12.0 / 18.0", "36.0 / 54.0", "30.0 / 45.0", "2.50", "0"]


def test_json_and_csv_hold_every_cell() -> None:
    result = made_up()
    again = from_json(json.loads(json.dumps(to_json(result))))
    assert again.cells == result.cells
    assert again.contenders == result.contenders
    rows = list(csv.DictReader(io.StringIO(to_csv(result))))
    assert len(rows) == len(result.cells)
    assert rows[0]["median_us"] == "10.000"
    with pytest.raises(ValueError, match="not a collective measurement"):
        from_json({"kind": "decode"})


def test_tuning_takes_the_fastest_and_puts_limits_between_sizes(tmp_path: Path) -> None:
    row = tuned(made_up(), "tcp", 8)
    assert row is not None
    assert [rule.algorithm for rule in row] == [Algorithm.DIRECT, Algorithm.RING]
    assert 8 << 10 < row[0].bytes_max < 64 << 10
    assert tuned(made_up(), "shm", 8) is None
    path = tmp_path / "tuning.json"
    (line,) = store_tuning(made_up(), Topology.HOST, path)
    assert "direct up to 23170 bytes, ring above" in line
    loaded = dispatch.load(Transport.TCP, Topology.HOST, 8, path)
    assert loaded.table[Operation.ALL_REDUCE] == row
    assert loaded.source == str(path)
    assert dispatch.load(Transport.TCP, Topology.HOST, 4, path).source == "shipped"
