"""From checks to the cells of the matrix: plain functions, tested without a window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QCoreApplication

from stellwerk.model.finding import Check, Verdict, Verification
from stellwerk_gui.language import local

BOTH = "A+B"  # a check of both halves at the same time concerns each of them
COMPARE_OVER = 0.03  # a measured value that differs by more than this is shown beside the old one
MOST_NAMED = 3  # kinds of trouble that the headline names
WORST_FIRST = (Verdict.FAIL, Verdict.NOT_AVAILABLE, Verdict.DEGRADED)


@dataclass(frozen=True, slots=True)
class Column:
    """One column: the last kind gives the value, the ones before it speak only when something is wrong."""

    key: str
    kinds: tuple[str, ...]
    half: str | None = None

    @property
    def main(self) -> str:
        return self.kinds[-1]


COLUMNS = (
    Column("speed", ("cable", "carrier", "speed")),
    Column("pcie", ("pcie",)),
    Column("mtu", ("transit", "mtu")),
    Column("route", ("connection", "address", "neighbour", "route")),
    Column("gid", ("rdma", "gid")),
    Column("bandwidth-a", ("bandwidth-port", "bandwidth"), "A"),
    Column("bandwidth-b", ("bandwidth-port", "bandwidth"), "B"),
    Column("latency", ("latency",)),
)
PER_CABLE = MEASURED = ("bandwidth", "bandwidth-port", "latency")
KNOWN_KINDS = frozenset(kind for column in COLUMNS for kind in column.kinds)


@dataclass(frozen=True, slots=True)
class Cell:
    """What one cell shows. `verdict` None: nothing has been measured yet."""

    text: str
    verdict: Verdict | None
    checks: tuple[Check, ...] = ()
    value: float | None = None
    old: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One port of a machine."""

    node: str
    port: int | None
    cells: tuple[Cell, ...] = field(default=())


def translate(text: str) -> str:
    return QCoreApplication.translate("proof", text)


def columns_of(proof: Verification) -> tuple[Column, ...]:
    """The columns that have a check, and one for kinds that are not known here."""
    kinds = {c.kind for c in proof.checks}
    shown = [c for c in COLUMNS if c.main in kinds or any(k in kinds for k in c.kinds)]
    halves = {c.half for c in proof.checks if c.kind == "bandwidth"}
    shown = [c for c in shown if c.half is None or c.half in halves]
    others = tuple(sorted(kinds - KNOWN_KINDS))
    return (*shown, *((Column("others", others),) if others else ()))


End = tuple[str, int | None]


def rows_of(
    proof: Verification,
    columns: Sequence[Column],
    old: Verification | None = None,
    ends: Mapping[End, End] | None = None,
) -> list[Row]:
    """A row per port; what concerns a whole machine counts in its first row.

    `ends`: port -> port at the other end of its cable. What is measured once per cable is shown at both.
    """
    ports: dict[str, set[int]] = {}
    for check in proof.checks:
        found = ports.setdefault(check.node, set())
        if check.port is not None:
            found.add(check.port)
    earlier = {_key(c): c for c in old.checks} if old is not None else {}
    rows: list[Row] = []
    for node, numbers in ports.items():
        for i, port in enumerate(sorted(numbers) or [None]):
            own = [c for c in proof.checks if c.node == node and (c.port == port or (c.port is None and i == 0))]
            rows.append(Row(node, port, tuple(_cell(own, column, earlier) for column in columns)))
    return _both_ends(rows, ends or {})


def _both_ends(rows: list[Row], ends: Mapping[End, End]) -> list[Row]:
    by_end = {(row.node, row.port): row for row in rows}
    made: list[Row] = []
    for row in rows:
        other = by_end.get(ends.get((row.node, row.port), ("", None)))
        cells = row.cells
        if other is not None:
            cells = tuple(
                theirs if own.verdict is None and any(c.kind in PER_CABLE for c in theirs.checks) else own
                for own, theirs in zip(row.cells, other.cells, strict=True)
            )
        made.append(Row(row.node, row.port, cells))
    return made


def _cell(own: Sequence[Check], column: Column, earlier: dict[tuple[str, str, str], Check]) -> Cell:
    heard = (column.half, BOTH) if column.half is None or not _other_half_alone(own, column) else (column.half,)
    checks = tuple(c for c in own if c.kind in column.kinds and (column.half is None or c.half in heard))
    if not checks:
        return Cell("·", None)
    verdict = worst(checks)
    speaking = _speaking(checks, column, verdict)
    halves = {c.half for c in checks if c.kind == speaking.kind and c.half}
    wrong = {c.half for c in checks if c.kind == speaking.kind and c.verdict is verdict and c.half}
    text = _text(speaking, column)
    if verdict is not Verdict.PASS and len(wrong) < len(halves):
        text = translate("{value} on {half}").format(value=text, half=", ".join(sorted(wrong)))
    return Cell(
        text, verdict, checks, speaking.value if speaking.kind == column.main else None, _old(checks, speaking, earlier)
    )


def _other_half_alone(own: Sequence[Check], column: Column) -> bool:
    """Only the other half is bad by itself: what both carry together is then no fault of this one."""
    bad = {c.half for c in own if c.kind == column.main and c.verdict in (Verdict.FAIL, Verdict.DEGRADED)}
    return bool(bad) and column.half not in bad


def _speaking(checks: Sequence[Check], column: Column, verdict: Verdict) -> Check:
    found = [c for c in checks if c.verdict is verdict]
    main = [c for c in found if c.kind == column.main] or found
    if column.main == "bandwidth":
        return min(main, key=lambda c: c.value if c.value is not None else float("inf"))
    if column.main == "latency":
        return max(main, key=lambda c: c.value if c.value is not None else 0.0)
    return main[0]


def _text(check: Check, column: Column) -> str:
    if check.kind in ("bandwidth", "bandwidth-port") and check.value is not None:
        # Both halves together have another mark than the one in the column's head.
        return f"{BOTH} {check.value:.1f}" if check.half == BOTH else f"{check.value:.1f}"
    # Before the main question of a column is answered, what was found on the way to it is no answer.
    return (
        said(check) if check.kind == column.main or check.verdict is not Verdict.PASS else verdict_word(check.verdict)
    )


def said(check: Check) -> str:
    """What a check found, or its verdict where it found nothing to say."""
    return local(check.text) if check.text else verdict_word(check.verdict)


def worst(checks: Sequence[Check]) -> Verdict:
    """The verdict that speaks for a cell."""
    return next((v for v in WORST_FIRST if any(c.verdict is v for c in checks)), Verdict.PASS)


def _key(check: Check) -> tuple[str, str, str]:
    return (check.kind, check.node, check.subject)


def _old(checks: Sequence[Check], speaking: Check, earlier: dict[tuple[str, str, str], Check]) -> str:
    """What the cell said before, where it differs enough to be worth reading."""
    for check in (speaking, *checks):
        before = earlier.get(_key(check))
        if before is None:
            continue
        differs, shown = 0.0, said(before)
        if check.kind in MEASURED and before.value and check.value is not None:
            differs, shown = abs(check.value - before.value) / abs(before.value), f"{before.value:.1f}"
        if before.verdict is not check.verdict or (check is speaking and differs > COMPARE_OVER):
            return translate("was {value}").format(value=shown)
    return ""


def pass_mark(proof: Verification, column: Column) -> str:
    """The second line of a column's head."""
    marks = [c.pass_mark for c in proof.checks if c.kind == column.main and c.pass_mark is not None]
    passed = [c for c in proof.checks if c.kind == column.main and c.verdict is Verdict.PASS]
    if column.key == "speed":
        return f"{marks[0]:.0f} Gb/s" if marks else ""
    if column.key == "pcie":
        return local(passed[0].text) if passed else f"{marks[0]:g} GT/s" if marks else ""
    if column.key == "mtu":
        return next((f"{c.value:.0f}" for c in proof.checks if c.kind == "mtu" and c.value), "")
    if column.main == "bandwidth":
        return f"≥ {marks[0]:.1f} Gb/s" if marks else ""
    if column.main == "latency":
        return f"≤ {marks[0]:.1f} µs" if marks else ""
    return {"route": translate("on the fabric"), "gid": "RoCE v2"}.get(column.key, "")


def kind_word(kind: str) -> str:
    """What a check looks at, in one or two words."""
    words = {
        "cable": translate("Cable"),
        "carrier": translate("Link"),
        "speed": translate("Link speed"),
        "pcie": "PCIe",
        "rdma": "RDMA",
        "address": translate("Address"),
        "mtu": "MTU",
        "transit": translate("Transit"),
        "route": translate("Route"),
        "neighbour": translate("Neighbour"),
        "gid": "GID",
        "bandwidth": "RDMA",
        "bandwidth-port": "RDMA",
        "latency": translate("Latency"),
        "connection": translate("Connection"),
    }
    return words.get(kind, kind)


def short_words(check: Check) -> str:
    """What is wrong in the few words for which a card has room: `Port 1 half B: 13 of 92 Gb/s`."""
    where = "" if check.port is None else translate("Port {n}").format(n=check.port)
    if where and check.half in ("A", "B"):
        where = translate("{port} half {half}").format(port=where, half=check.half)
    if check.value is not None and check.pass_mark is not None and check.kind.startswith("bandwidth"):
        what = translate("{value} of {mark} Gb/s").format(value=f"{check.value:.1f}", mark=f"{check.pass_mark:.0f}")
        return f"{where}: {what}" if where else what
    what = f"{kind_word(check.kind)} {local(check.text) if check.text else verdict_word(check.verdict)}"
    return f"{where}: {what}" if where else what


def head(column: Column) -> str:
    """The first line of a column's head."""
    heads = {
        "speed": translate("Link speed"),
        "pcie": "PCIe",
        "mtu": translate("MTU both ways"),
        "route": translate("Route"),
        "gid": "GID",
        "bandwidth-a": translate("RDMA half A"),
        "bandwidth-b": translate("RDMA half B"),
        "latency": translate("Latency"),
        "others": translate("Others"),
    }
    return heads[column.key]


def sentences(proof: Verification, running: bool, total: int) -> tuple[str, str]:
    """The verdict in one sentence, and the counts in another."""
    count = Counter(c.verdict for c in proof.checks)
    done = len(proof.checks)
    if running:
        return translate("Measuring"), translate("{n} of {all} checks are done.").format(n=done, all=max(total, done))
    words = {
        Verdict.PASS: translate("Everything works."),
        Verdict.DEGRADED: translate("The cluster works, below its mark in places."),
        Verdict.FAIL: translate("Something has to be put right."),
        Verdict.NOT_AVAILABLE: translate("Not everything could be checked."),
    }
    parts = [translate("{n} of {all} checks pass").format(n=count[Verdict.PASS], all=done)]
    for verdict, text in (
        (Verdict.DEGRADED, translate("{n} degraded")),
        (Verdict.FAIL, translate("{n} failed")),
        (Verdict.NOT_AVAILABLE, translate("{n} not available")),
    ):
        if count[verdict]:
            parts.append(text.format(n=count[verdict]))
    measured = translate("Measured in {s} s.").format(s=f"{proof.seconds:.0f}")
    where = translate("Simulated hardware.") if proof.simulated else ""
    counts = " ".join(p for p in (", ".join(parts) + ".", measured, where) if p)
    wrong = what_is_wrong(proof)
    headline = words[proof.verdict]
    return f"{headline.removesuffix('.')}: {wrong}." if wrong else headline, counts


def what_is_wrong(proof: Verification) -> str:
    """`MTU on 2 ports, RDMA on 1 port`: what the verdict rests on, worst first; "" where all is well."""
    places: dict[str, set[tuple[str, int | None]]] = {}
    for verdict in (Verdict.FAIL, Verdict.DEGRADED):
        for check in proof.checks:
            if check.verdict is verdict:
                places.setdefault(kind_word(check.kind), set()).add((check.node, check.port))
    return ", ".join(_place_words(what, found) for what, found in list(places.items())[:MOST_NAMED])


def _place_words(what: str, found: set[tuple[str, int | None]]) -> str:
    if all(port is None for _, port in found):
        names = ", ".join(sorted(node for node, _ in found))
        return translate("{what} of {names}").format(what=what, names=names)
    one = translate("{what} on 1 port").format(what=what)
    return one if len(found) == 1 else translate("{what} on {n} ports").format(what=what, n=len(found))


def verdict_word(verdict: Verdict) -> str:
    """A verdict for people."""
    return {
        Verdict.PASS: translate("Pass"),
        Verdict.DEGRADED: translate("Degraded"),
        Verdict.FAIL: translate("Fail"),
        Verdict.NOT_AVAILABLE: translate("Not available"),
    }[verdict]
