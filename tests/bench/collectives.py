"""The collective benchmark with everything: rivals in turns, `auto` against the best, step counts on an emulated link.

    python tests/bench/collectives.py [--quick] [--tune] [--json FILE] [--picture FILE]

`--tune` first measures the dispatch table of this computer, as `stellwerk measure collectives --tune` does, and lets
`auto` use it; without it `auto` uses the shipped one. `--picture` draws the figures as the page *Measure* shows them.

Ratios count, not the absolute times of a shared machine. `chrt -r 1 python ...` (as root) keeps other load away.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from stellwerk.cli.measure import show_result
from stellwerk.collectives import dispatch
from stellwerk.collectives.engine import Link
from stellwerk.collectives.kinds import Operation, Topology, Transport
from stellwerk.measure import collectives as benchmark
from stellwerk.measure import collectives_report as report
from stellwerk.model.units import size_text

# On a shared machine many short turns of everybody say more than few long ones.
ROUNDS = 9
NEAR = 1.1


def figures(quick: bool, tuning: Path | None = None) -> benchmark.Plan:
    sizes = (1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20) if quick else benchmark.Plan().sizes
    return benchmark.Plan(sizes=sizes, seconds_per_cell=0.06 if quick else 0.3, rounds=ROUNDS, tuning=tuning)


def tune(quick: bool, path: Path, console: Console) -> Path:
    """The dispatch table of this computer: the fastest algorithm of each size, measured before and apart."""
    plan = replace(figures(quick), rivals=())
    for line in report.store_tuning(benchmark.measure(plan), Topology.HOST, path):
        console.print(line)
    return path


def draw(result: benchmark.Result, path: Path) -> None:
    """The page *Measure* with these figures, without a screen."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from PySide6.QtWidgets import QApplication

    from stellwerk.setup.store import ClusterStore
    from stellwerk_gui.app import Application
    from stellwerk_gui.measure.runner import Shown

    app = QApplication.instance() or QApplication([sys.argv[0]])
    assert isinstance(app, QApplication)
    with tempfile.TemporaryDirectory() as base:
        window = Application(app, ClusterStore(Path(base)), time.monotonic(), search=False)
        window.shell.resize(1440, 900)
        window.show()
        while not window._pages_built:
            app.processEvents()
        window.shell.open_page("measure")
        page = window.measure_page
        page.runner.shown = Shown(result, "this computer", complete=True)
        page.runner.changed.emit()
        for _ in range(20):
            app.processEvents()
        window.shell.grab().save(str(path))
        window.close()


def steps(console: Console) -> bool:
    """On a link of 1 ms the number of dependent steps decides: 1 : 2 : log2 n : 2 (n - 1)."""
    plan = benchmark.Plan(
        ranks=(4, 8), sizes=(16 << 10,), transports=("tcp",), rivals=(), link=Link(delay_us=1000), seconds_per_cell=0.3
    )
    result = benchmark.measure(plan)
    good = True
    for ranks in plan.ranks:
        expected = {"direct": 1, "two_shot": 2, "recursive_doubling": ranks.bit_length() - 1, "ring": 2 * (ranks - 1)}
        direct = result.cell("tcp direct", ranks, 16 << 10)
        assert direct is not None
        for name, count in expected.items():
            cell = result.cell(f"tcp {name}", ranks, 16 << 10)
            assert cell is not None
            times = cell.median_us / direct.median_us
            near = abs(times / count - 1) <= 0.3
            good = good and near
            console.print(
                f"1 ms link, {ranks} ranks, 16 KiB, {name:20} {cell.median_us / 1000:6.2f} ms, "
                f"{times:5.2f} times direct for {count} steps"
                f"{'' if near else '  (not within 30 %)'}"
            )
    return good


def auto_is_near_the_best(result: benchmark.Result, console: Console) -> None:
    """`auto` against the best fixed algorithm of its transport, cell by cell.

    Where `auto` runs the very algorithm that was the best, a factor is noise, and the line says so.
    """
    for contender in result.contenders:
        if contender.rival or contender.algorithm is not None:
            continue
        for ranks in result.plan.ranks:
            factors = []
            for size in result.plan.sizes:
                mine, best = result.cell(contender.name, ranks, size), report.best_other(result, contender, ranks, size)
                if mine and best:
                    factor = mine.median_us / best.median_us
                    kind = Transport(contender.group.removeprefix("stellwerk-"))
                    table = dispatch.load(kind, Topology.HOST, ranks, result.plan.tuning)
                    taken = table.choose(Operation.ALL_REDUCE, size).name.lower()
                    same = " (the same)" if taken == best.contender.split(" ", 1)[1] else f" ({taken})"
                    factors.append(f"{size_text(size)} {factor:.2f}{same if factor > NEAR else ''}")
            console.print(f"{contender.name}, {ranks} ranks, time against the best algorithm: {', '.join(factors)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    console = Console(width=200, highlight=False)
    with tempfile.TemporaryDirectory() as folder:
        tuning = tune(options.quick, Path(folder) / "tuning.json", console) if options.tune else None
        result = _measure(options.quick, tuning, console)
    if options.json:
        options.json.write_text(json.dumps(report.to_json(result), indent=1) + "\n", encoding="utf-8")
    if options.picture:
        draw(result, options.picture)
    return int(any(cell.wrong for cell in result.cells))


def _measure(quick: bool, tuning: Path | None, console: Console) -> benchmark.Result:
    plan = figures(quick, tuning)
    result = benchmark.measure(plan, lambda p: print(f"\r{p.what:40}", end="", file=sys.stderr))
    show_result(console, result)
    auto_is_near_the_best(result, console)
    steps(console)
    return result


if __name__ == "__main__":
    sys.exit(main())
