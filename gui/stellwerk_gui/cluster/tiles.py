"""Numbers at a glance: a strip of tiles, each says on how many nodes it rests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from stellwerk.telemetry import TelemetryStore


@dataclass(frozen=True, slots=True)
class TileValue:
    """One tile: a big number, its unit, and how many nodes it rests on."""

    key: str
    value: str
    unit: str
    live: int
    total: int
    number: float = 0.0  # the value itself, for the small line


def tile_values(telemetry: TelemetryStore | None, names: Sequence[str], now_s: float) -> tuple[TileValue, ...]:
    """All tiles that have a source. Values of stale nodes are left out, and said by the count."""
    live = [n for n in names if telemetry is not None and not telemetry.freshness(n, now_s).stale]
    latest = {n: telemetry.latest(n) for n in live} if telemetry is not None else {}
    tiles: list[TileValue] = []

    def add(
        key: str,
        unit: str,
        combine: Callable[[list[float]], float],
        pick: Callable[[str], float | None],
        digits: int = 1,
    ) -> None:
        found = [v for v in (pick(n) for n in live) if v is not None]
        if found:
            tiles.append(TileValue(key, f"{combine(found):.{digits}f}", unit, len(found), len(names), combine(found)))

    def fabric(name: str) -> float | None:
        values = [v for k, v in latest[name].items() if k.startswith("half.") and k.endswith(".tx") and v is not None]
        return sum(values) if values else None

    add("fabric", "Gb/s", sum, fabric)
    add("gpu", "%", _mean, lambda n: latest[n].get("gpu.util"))
    used = [v for v in (latest[n].get("mem.used") for n in live) if v is not None]
    total = [v for v in (latest[n].get("mem.total") for n in live) if v is not None]
    if used:
        of = QCoreApplication.translate("tiles", "of {n} GiB")
        tiles.append(
            TileValue("memory", f"{sum(used):.1f}", of.format(n=f"{sum(total):.1f}"), len(used), len(names), sum(used))
        )
    add("power", "W", sum, lambda n: latest[n].get("gpu.power"), 0)
    temps = {n: latest[n].get("gpu.temp") or latest[n].get("temp.max") for n in live}
    known = {n: v for n, v in temps.items() if v is not None}
    if known:
        hottest = max(known, key=lambda n: known[n])
        tiles.append(
            TileValue("hottest", f"{known[hottest]:.0f}", f"°C {hottest}", len(known), len(names), known[hottest])
        )
    add("cpu", "%", _mean, lambda n: latest[n].get("cpu"))
    return tuple(tiles)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
