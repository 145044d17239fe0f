"""The benchmark, small but real: its own processes, every cell checked."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from stellwerk.cli.main import cli
from stellwerk.collectives.kinds import Topology
from stellwerk.measure import collectives as benchmark
from stellwerk.measure.collectives_report import store_tuning


def test_the_command_measures_checks_and_writes_files(tmp_path: Path) -> None:
    where = tmp_path / "figures.json"
    options = ["--ranks", "2", "--sizes", "1K,64K", "--algorithms", "direct,ring", "--rivals", "none"]
    outcome = CliRunner().invoke(
        cli,
        [
            "measure",
            "collectives",
            *options,
            "--seconds",
            "0.01",
            "--json",
            str(where),
            "--csv",
            str(tmp_path / "f.csv"),
        ],
    )
    assert outcome.exit_code == 0, outcome.output
    assert "all_reduce, 2 ranks" in outcome.output
    assert "# Out of bounds values : 0 OK" in outcome.output
    figures = json.loads(where.read_text(encoding="utf-8"))
    measured = {(c["contender"], c["size"]) for c in figures["cells"]}
    assert len(measured) == 2 * 3 * 2
    assert all(c["wrong"] == 0 and c["calls"] > 5 for c in figures["cells"])
    assert (tmp_path / "f.csv").read_text(encoding="utf-8").count("\n") == 13


def test_a_run_can_be_cancelled_and_keeps_what_it_has() -> None:
    plan = benchmark.Plan(
        ranks=(2,), sizes=(1024, 4096), transports=("tcp",), algorithms=(), rivals=(), seconds_per_cell=0.01
    )
    seen: list[str] = []
    result = benchmark.measure(plan, lambda p: seen.append(p.what), lambda: len(seen) > 1)
    assert {cell.size for cell in result.cells} == {1024}


def test_a_rival_that_is_not_installed_is_named() -> None:
    plan = benchmark.Plan(ranks=(2,), sizes=(1024,), rivals=("nosuch",))
    missing: list[str] = []
    assert all(not c.rival for c in benchmark.contenders_of(plan, missing))
    assert missing == ["nosuch: no such rival"]


def test_nonsense_is_refused_with_the_reason() -> None:
    outcome = CliRunner().invoke(cli, ["measure", "collectives", "--ranks", "99", "--rivals", "none"])
    assert outcome.exit_code == 2
    outcome = CliRunner().invoke(cli, ["measure", "collectives", "--sizes", "huge"])
    assert outcome.exit_code == 2
    assert "not a size" in outcome.output
    for option, value, why in (
        ("--rounds", "0", "x>=1"),
        ("--seconds", "0", "x>0"),
        ("--json", "/no/such/folder/f.json", "/no/such/folder is not there"),
    ):
        outcome = CliRunner().invoke(cli, ["measure", "collectives", option, value])
        assert outcome.exit_code == 2
        assert why in outcome.output


def test_figures_go_to_standard_output_and_nothing_else_does() -> None:
    command = "measure collectives --ranks 2 --sizes 1K --transports tcp --algorithms ring --rivals none --seconds 0.01"
    outcome = CliRunner().invoke(cli, [*command.split(), "--csv", "-"])
    assert outcome.exit_code == 0, outcome.output
    assert [line.split(",")[0] for line in outcome.stdout.splitlines()] == ["contender", "tcp auto", "tcp ring"]


def test_auto_takes_the_table_that_a_run_is_given(tmp_path: Path) -> None:
    small = benchmark.Plan(
        ranks=(2,), sizes=(1024,), transports=("tcp",), algorithms=("ring",), rivals=(), seconds_per_cell=0.01
    )
    stored = list(store_tuning(benchmark.measure(small), Topology.HOST, tmp_path / "tuning.json"))
    assert "ring" in stored[0]
    result = benchmark.measure(replace(small, tuning=tmp_path / "tuning.json"))
    assert str(tmp_path / "tuning.json") in " ".join(result.notes)
