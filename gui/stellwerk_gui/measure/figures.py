"""From figures to lines and cells: names, colours, which numbers stand where. No widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stellwerk.measure.collectives import Cell, Contender, Result
from stellwerk.measure.collectives_report import ratio, time_text
from stellwerk.model.units import size_text
from stellwerk_gui import theme
from stellwerk_gui.measure.curves import Curve
from stellwerk_gui.widgets.graph_group import Series

# Algorithm (or rival) -> place in the eight colours: the same for every transport, which is told by the line's style.
COLOURS = {
    "auto": 1,
    "direct": 2,
    "two_shot": 3,
    "recursive_doubling": 4,
    "ring": 5,
    "relay": 6,
    "gloo": 7,
    "ompi": 8,
}
WORDS = {"two_shot": "two-shot", "recursive_doubling": "recursive doubling", "gloo": "Gloo"}
TRANSPORTS = {"tcp": "TCP", "shm": "shared memory", "verbs": "RDMA", "python": "pure Python"}
SHORT = {**TRANSPORTS, "shm": "shm", "python": "Python"}  # for names in narrow places


def algorithm_word(name: str) -> str:
    """`two_shot` as it is said."""
    return WORDS.get(name, name)


def contender_name(contender: Contender) -> str:
    """`direct, TCP`; `Open MPI, shm`."""
    if contender.name.startswith("ompi"):
        return f"Open MPI, {SHORT[contender.name.removeprefix('ompi-')]}"
    if contender.rival:
        return algorithm_word(contender.name)
    transport, algorithm = contender.name.split(" ", 1)
    return f"{algorithm_word(algorithm)}, {SHORT.get(transport, transport)}"


def series_of(contender: Contender) -> Series:
    """Colour by algorithm, dashes for shared memory."""
    key = contender.name.split("-")[0] if contender.rival else contender.name.split(" ", 1)[1]
    shared = "shm" in contender.name
    return Series(contender_name(contender), theme.current().node_colour(COLOURS.get(key, 8)), shared)


def _cells(result: Result, contender: Contender, ranks: int) -> list[Cell]:
    return [c for c in result.cells if c.contender == contender.name and c.ranks == ranks]


def ranks_of(result: Result) -> tuple[int, ...]:
    """Numbers of ranks with figures."""
    return tuple(sorted({cell.ranks for cell in result.cells}))


def curves(result: Result, ranks: int, quantity: str, hidden: frozenset[str]) -> list[Curve]:
    """Lines for `latency` (median µs) or `bandwidth` (bus GB/s), without those whose shown names are hidden."""
    found = []
    for contender in result.contenders:
        cells = _cells(result, contender, ranks)
        if cells and contender_name(contender) not in hidden:
            latency = quantity == "latency"
            points = {c.size: c.median_us if latency else c.bus_gbytes_per_s for c in cells}
            found.append(Curve(series_of(contender), points))
    return found


@dataclass(frozen=True, slots=True)
class TableRow:
    """One contender: median / p99 per size, and how many elements were wrong in all."""

    contender: Contender
    texts: tuple[str, ...]
    best: tuple[bool, ...]
    wrong: int


def rows(result: Result, ranks: int) -> tuple[tuple[int, ...], list[TableRow]]:
    """(sizes, rows). The fastest of a size is marked, whoever it is."""
    cells = [cell for cell in result.cells if cell.ranks == ranks]
    sizes = tuple(sorted({cell.size for cell in cells}))
    fastest = {size: min(c.median_us for c in cells if c.size == size) for size in sizes}
    found = []
    for contender in result.contenders:
        own = {cell.size: cell for cell in _cells(result, contender, ranks)}
        if own:
            found.append(
                TableRow(
                    contender,
                    tuple(_text(own[s]) if s in own else "–" for s in sizes),
                    tuple(s in own and own[s].median_us <= fastest[s] for s in sizes),
                    sum(cell.wrong for cell in own.values()),
                )
            )
    return sizes, found


def _text(cell: Cell) -> str:
    return f"{time_text(cell.median_us)} / {time_text(cell.p99_us)}"


@dataclass(frozen=True, slots=True)
class Claim:
    """`direct` against `ring`, as numbers; the page puts them into words of its language."""

    transport: str
    factor: float
    size: int
    ranks: int

    @property
    def faster(self) -> bool:
        return self.factor >= 1

    @property
    def times(self) -> str:
        return f"{max(self.factor, 1 / self.factor):.1f}"

    @property
    def size_words(self) -> str:
        return size_text(self.size)


def claims(result: Result, ranks: int) -> list[Claim]:
    """Direct against ring at 8 KiB, or else at the smallest size that both were measured at."""
    found = []
    sizes = sorted({cell.size for cell in result.cells if cell.ranks == ranks})
    for transport in result.plan.transports:
        for size in sorted(sizes, key=lambda s: (s != 8192, s)):
            factor = ratio(result, f"{transport} direct", f"{transport} ring", ranks, size)
            if factor is not None:
                found.append(Claim(transport, factor, size, ranks))
                break
    return found


def wrong_elements(cells: Sequence[Cell]) -> int:
    """All elements that were not what they must be."""
    return sum(cell.wrong for cell in cells)
