"""The collective benchmark with everything: rivals in turns, step counts on an emulated link, the torch backend's cost.

    python tests/bench/collectives.py [--quick] [--json FILE]

Ratios count, not the absolute times of a shared machine. `chrt -r 1 python ...` (as root) keeps other load away.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console

from stellwerk.cli.measure import _show
from stellwerk.collectives.engine import Link
from stellwerk.measure import collectives as benchmark
from stellwerk.measure import collectives_report as report
from stellwerk.model.units import size_text


def figures(quick: bool) -> benchmark.Plan:
    sizes = (1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20) if quick else benchmark.Plan().sizes
    return benchmark.Plan(sizes=sizes, seconds_per_cell=0.06 if quick else 0.15)


def steps(console: Console) -> bool:
    """On a link of 1 ms the number of dependent steps decides: 1 : 2 : log2 n : 2 (n - 1)."""
    plan = benchmark.Plan(
        ranks=(4, 8), sizes=(16 << 10,), transports=("tcp",), rivals=(), link=Link(delay_us=1000), seconds_per_cell=0.3
    )
    result = benchmark.measure(plan)
    good = True
    for ranks in plan.ranks:
        expected = {"direct": 1, "two_shot": 2, "recursive_doubling": ranks.bit_length() - 1, "ring": 2 * (ranks - 1)}
        for name, count in expected.items():
            cell = result.cell(f"tcp {name}", ranks, 16 << 10)
            assert cell is not None
            near = abs(cell.median_us / 1000 / count - 1) <= 0.3
            good = good and near
            console.print(
                f"1 ms link, {ranks} ranks, 16 KiB, {name:20} {cell.median_us / 1000:6.2f} ms for {count} steps"
                f"{'' if near else '  (not within 30 %)'}"
            )
    return good


def auto_is_near_the_best(result: benchmark.Result, console: Console) -> None:
    """`auto` against the best fixed algorithm of its transport, cell by cell."""
    for contender in result.contenders:
        if contender.rival or contender.algorithm is not None:
            continue
        for ranks in result.plan.ranks:
            factors = []
            for size in result.plan.sizes:
                mine, best = result.cell(contender.name, ranks, size), report.best_other(result, contender, ranks, size)
                if mine and best:
                    factors.append(f"{size_text(size)} {mine.median_us / best.median_us:.2f}")
            console.print(f"{contender.name}, {ranks} ranks, time against the best algorithm: {', '.join(factors)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    console = Console(width=200, highlight=False)
    result = benchmark.measure(figures(options.quick), lambda p: print(f"\r{p.what:40}", end="", file=sys.stderr))
    _show(console, result)
    auto_is_near_the_best(result, console)
    steps(console)
    if options.json:
        options.json.write_text(json.dumps(report.to_json(result), indent=1) + "\n", encoding="utf-8")
    return int(any(cell.wrong for cell in result.cells))


if __name__ == "__main__":
    sys.exit(main())
