"""The collective benchmark in words, tables and files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any

from stellwerk.collectives import dispatch
from stellwerk.collectives.kinds import Algorithm, Operation, Topology, Transport
from stellwerk.measure.collectives import Cell, Contender, Plan, Result
from stellwerk.model.units import size_text

FORMAT = 1


def parse_size(text: str) -> int:
    """`8K`, `8KiB`, `1M`, `4096`. ValueError for anything else."""
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    word = text.strip().lower().removesuffix("ib").removesuffix("b")
    factor = units.get(word[-1:], 1)
    number = word[:-1] if word[-1:] in units else word
    if not number.strip().isdigit():
        raise ValueError(f"{text!r} is not a size; write 4096, 8K or 1M")
    return int(number) * factor


def time_text(us: float) -> str:
    """Three sensible digits: `3.1`, `52`, `14.4 ms`."""
    if us >= 10_000:
        return f"{us / 1000:.1f} ms"
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def _pairs(result: Result) -> list[tuple[str, str, str]]:
    """(our line, its rival, what both are)."""
    names = {c.name for c in result.contenders}
    wanted = [
        ("tcp auto", "ompi-tcp", "TCP"),
        ("shm auto", "ompi-shm", "shared memory"),
        ("tcp auto", "gloo", "TCP"),
    ]
    return [pair for pair in wanted if pair[0] in names and pair[1] in names]


def ratio(result: Result, ours: str, rival: str, ranks: int, size: int) -> float | None:
    """How many times the rival takes longer; None if one of the cells is missing."""
    mine, theirs = result.cell(ours, ranks, size), result.cell(rival, ranks, size)
    return theirs.median_us / mine.median_us if mine and theirs else None


def sentences(result: Result) -> list[str]:
    """What the figures say."""
    said: list[str] = []
    most = max(result.plan.ranks)
    for transport in result.plan.transports:
        for size in (8 << 10, 1 << 20):
            factor = ratio(result, f"{transport} direct", f"{transport} ring", most, size)
            if factor is not None:
                what = "faster" if factor >= 1 else "slower"
                said.append(
                    f"{transport}: direct is {max(factor, 1 / factor):.1f} times {what} than ring at {size_text(size)} "
                    f"on {most} ranks."
                )
    for ours, rival, what in _pairs(result):
        factors = [
            f
            for n in result.plan.ranks
            for s in result.plan.sizes
            if (f := ratio(result, ours, rival, n, s)) is not None
        ]
        if factors:
            won = sum(f >= 1 for f in factors)
            said.append(
                f"{what}: at or under {rival} in {won} of {len(factors)} cells; "
                f"{rival} takes {min(factors):.2f} to {max(factors):.1f} times as long."
            )
    bad = sum(cell.wrong for cell in result.cells)
    said.append(f"# Out of bounds values : {bad} {'OK' if bad == 0 else 'FAILED'}")
    return said


def best_other(result: Result, contender: Contender, ranks: int, size: int) -> Cell | None:
    """The best fixed algorithm of the same transport."""
    cells = [
        cell
        for c in result.contenders
        if c.group == contender.group and c.algorithm is not None and (cell := result.cell(c.name, ranks, size))
    ]
    return min(cells, key=lambda cell: cell.median_us, default=None)


def to_json(result: Result) -> dict[str, Any]:
    """Plain data for files and for the window."""
    return {
        "format": FORMAT,
        "kind": "collectives",
        "processors": result.processors,
        "link": {"delay_us": result.plan.link.delay_us, "gbps": result.plan.link.gbps},
        "ranks": list(result.plan.ranks),
        "sizes": list(result.plan.sizes),
        "contenders": [
            {"name": c.name, "group": c.group, "algorithm": c.algorithm, "rival": c.rival} for c in result.contenders
        ],
        "cells": [
            {
                "contender": c.contender,
                "ranks": c.ranks,
                "size": c.size,
                "median_us": c.median_us,
                "p99_us": c.p99_us,
                "bus_gbytes_per_s": c.bus_gbytes_per_s,
                "calls": c.calls,
                "wrong": c.wrong,
            }
            for c in result.cells
        ],
        "missing": list(result.missing),
        "notes": list(result.notes),
        "sentences": sentences(result),
    }


def from_json(data: dict[str, Any]) -> Result:
    """Read what `to_json` wrote. ValueError if it is something else."""
    if data.get("kind") != "collectives" or data.get("format") != FORMAT:
        raise ValueError("this is not a collective measurement of this version")
    plan = Plan(ranks=tuple(data["ranks"]), sizes=tuple(data["sizes"]))
    cells = tuple(
        Cell(c["contender"], c["ranks"], c["size"], c["median_us"], c["p99_us"], c["calls"], c["wrong"])
        for c in data["cells"]
    )
    contenders = tuple(Contender(c["name"], c["group"], c["algorithm"], c["rival"]) for c in data["contenders"])
    return Result(plan, contenders, cells, tuple(data["missing"]), tuple(data["notes"]), data["processors"])


def to_csv(result: Result) -> str:
    """One line per cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["contender", "ranks", "size", "median_us", "p99_us", "bus_gbytes_per_s", "calls", "wrong"])
    for c in result.cells:
        figures = [f"{c.median_us:.3f}", f"{c.p99_us:.3f}", f"{c.bus_gbytes_per_s:.4f}"]
        writer.writerow([c.contender, c.ranks, c.size, *figures, c.calls, c.wrong])
    return out.getvalue()


def table(result: Result, ranks: int) -> tuple[list[str], list[list[str]]]:
    """Headings and lines for one number of ranks: median / p99 in µs, wrong elements, and the ratios."""
    heads = ["size", *(c.name for c in result.contenders), *(f"{r} : {o}" for o, r, _ in _pairs(result)), "#wrong"]
    lines = []
    for size in result.plan.sizes:
        line = [size_text(size)]
        bad = 0
        for contender in result.contenders:
            cell = result.cell(contender.name, ranks, size)
            line.append(f"{time_text(cell.median_us)} / {time_text(cell.p99_us)}" if cell else "-")
            bad += cell.wrong if cell else 0
        for ours, rival, _ in _pairs(result):
            factor = ratio(result, ours, rival, ranks, size)
            line.append(f"{factor:.2f}" if factor is not None else "-")
        lines.append([*line, str(bad)])
    return heads, lines


def tuned(result: Result, transport: str, ranks: int) -> dispatch.Rules | None:
    """The dispatch row for all_reduce that the measurement suggests: at every size the algorithm that was fastest.

    Between two measured sizes the limit is their geometric mean. None if nothing was measured.
    """
    winners: list[tuple[int, Algorithm]] = []
    for size in sorted(result.plan.sizes):
        cells = [
            (cell.median_us, c.algorithm)
            for c in result.contenders
            if c.group == f"stellwerk-{transport}" and c.algorithm and (cell := result.cell(c.name, ranks, size))
        ]
        if cells:
            winners.append((size, Algorithm[min(cells)[1].upper()]))
    if not winners:
        return None
    limits = [
        (int((small * large) ** 0.5), algorithm)
        for (small, algorithm), (large, after) in pairwise(winners)
        if after is not algorithm
    ]
    return dispatch.rules(*limits, above=winners[-1][1])


def store_tuning(result: Result, topology: Topology, path: Path | None = None) -> Iterable[str]:
    """Put the tuned rows into the tuning file; returns what was stored, in words."""
    for transport in result.plan.transports:
        for ranks in result.plan.ranks:
            row = tuned(result, transport, ranks)
            if row is None:
                continue
            kind = Transport(transport)
            table_ = {**dispatch.shipped(kind, topology, ranks), Operation.ALL_REDUCE: row}
            where = dispatch.store(kind, topology, ranks, table_, path)
            parts = [
                f"{rule.algorithm.name.lower()}"
                + (f" up to {rule.bytes_max} bytes" if rule.bytes_max < dispatch.UNBOUNDED else " above")
                for rule in row
            ]
            yield f"{transport}, {topology}, {ranks} ranks: {', '.join(parts)} ({where})"
