"""Which quantities can be drawn, on which axis, and how they come out of the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QCoreApplication

from stellwerk_gui.widgets.graph_group import Line

if TYPE_CHECKING:
    from stellwerk.fabric.members import Member
    from stellwerk.setup.look import Look
    from stellwerk.telemetry import TelemetryStore


def mark(text: str) -> str:
    """Marks a text of this module for translation where it cannot be translated yet."""
    return text


@dataclass(frozen=True, slots=True)
class Quantity:
    """One thing to draw. `metric` "" means: the sum over the node's fabric halves."""

    key: str
    title: str
    unit: str
    top: float
    metric: str = ""
    way: str = "tx"
    digits: int = 1

    @property
    def name(self) -> str:
        """The title in the user's language."""
        return QCoreApplication.translate("metrics", self.title)

    @property
    def unit_words(self) -> str:
        """The unit, and what of it is meant, in the user's language; the unit itself is the first word."""
        return QCoreApplication.translate("metrics", self.unit)


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        q.key: q
        for q in (
            Quantity("link", mark("Link throughput, sent"), "Gb/s", 200.0),
            Quantity("received", mark("Link throughput, received"), "Gb/s", 200.0, way="rx"),
            Quantity("gpu", mark("GPU utilisation"), "%", 100.0, "gpu.util", digits=0),
            Quantity("memory", mark("Unified memory"), mark("GiB used"), 128.0, "mem.used"),
            Quantity("power", mark("Power"), "W", 160.0, "gpu.power", digits=0),
            Quantity("temperature", mark("Temperature"), "°C", 100.0, "gpu.temp", digits=0),
            Quantity("cpu", mark("CPU"), "%", 100.0, "cpu", digits=0),
        )
    }
)


def _netdevs(member: Member) -> list[str]:
    """The fabric's halves; a machine without a port for a fabric has its usual network drawn instead."""
    fabric = [h.netdev.name for p in member.ports for h in p.halves]
    return fabric or [d.name for d in member.facts.netdevs if d.carrier and d.name != "lo"]


def line_of(
    store: TelemetryStore, quantity: Quantity, node: str, look: Look | None, seconds: float, now_s: float, stale: bool
) -> Line:
    """The line of one node: desktop times and values, NaN where nothing was heard."""
    if quantity.metric:
        window = store.window(node, quantity.metric, seconds, now_s)
        return Line(np.asarray(window.times), np.asarray(window.values, dtype=float), stale)
    member = next((m for m in look.members if m.name == node), None) if look is not None else None
    netdevs = _netdevs(member) if member is not None else []
    if not netdevs:
        return Line(np.empty(0), np.empty(0), stale)
    windows = [store.window(node, f"half.{d}.{quantity.way}", seconds, now_s) for d in netdevs]
    count = min(len(w.times) for w in windows)
    stacked = np.asarray([np.asarray(w.values, dtype=float)[len(w.times) - count :] for w in windows])
    # A half that says nothing is left out of the sum; all silent is a gap.
    silent = np.isnan(stacked).all(axis=0)
    total = np.nansum(stacked, axis=0)
    total[silent] = np.nan
    times = np.asarray(windows[0].times)[len(windows[0].times) - count :]
    return Line(times, total, stale)
