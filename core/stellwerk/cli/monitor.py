"""`stellwerk monitor`: the cluster live in the terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import click
from rich.live import Live
from rich.table import Table

from stellwerk.cli.common import DONE, ERROR, cluster_option, command, out, plain, table
from stellwerk.cli.nodes import connected, open_cluster
from stellwerk.model.units import seconds
from stellwerk.telemetry import TelemetryStore

BARS = " ▁▂▃▄▅▆▇█"
SPARK_POINTS = 30


@click.command()
@cluster_option
@click.option("--rate", default=1.0, show_default=True, type=click.FloatRange(1, 10), help="Samples a second.")
@click.option("--seconds", "limit_s", default=None, type=float, help="End by itself.")
@command
async def monitor(cluster_name: str | None, rate: float, limit_s: float | None) -> int:
    """CPU, GPU, memory and links of all nodes, live. Ctrl-C ends it."""
    async with open_cluster(cluster_name) as (_, session):
        await connected(session)
        if not session.ready:
            return ERROR
        await session.facts()
        session.watch(rate)
        names = [n.name for n in session.cluster.nodes]
        ends = None if limit_s is None else time.monotonic() + limit_s
        with Live(console=out, refresh_per_second=4, transient=False) as live:
            while ends is None or time.monotonic() < ends:
                live.update(monitor_table(session.telemetry, names, time.monotonic()))
                await asyncio.sleep(0.25)
            live.update(monitor_table(session.telemetry, names, time.monotonic()))
    return DONE


def monitor_table(store: TelemetryStore, names: Sequence[str], now_s: float) -> Table:
    """One row per machine; what is not known is a dash, what is old says so."""
    rows = table("Node", "CPU", "GPU", "Memory", "Temp", "Power", "Fabric sent", "received", "last 30 s", "")
    for name in names:
        latest = store.latest(name)
        fresh = store.freshness(name, now_s)
        sent, received = (_links(latest, way) for way in ("tx", "rx"))
        age = "no data" if fresh.age_s is None else f"stale {seconds(fresh.age_s)}" if fresh.stale else ""
        total, used = latest.get("mem.total"), latest.get("mem.used")
        rows.add_row(
            plain(name),
            _value(latest.get("cpu"), "%", 0),
            _value(latest.get("gpu.util"), "%", 0),
            "–" if used is None else f"{used:.1f}/{total or 0:.1f} GiB",
            _value(latest.get("gpu.temp") or latest.get("temp.max"), "°C", 0),
            _value(latest.get("gpu.power"), "W", 0),
            _value(sent, "Gb/s", 1),
            _value(received, "Gb/s", 1),
            _spark(store, name, now_s),
            f"[yellow]{age}[/]" if age else "",
            style="dim" if fresh.stale else "",
        )
    return rows


def _links(latest: dict[str, float | None], way: str) -> float | None:
    known = [v for k, v in latest.items() if k.startswith("half.") and k.endswith(f".{way}") and v is not None]
    return sum(known) if known else None


def _value(value: float | None, unit: str, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f} {unit}"


def _spark(store: TelemetryStore, name: str, now_s: float) -> str:
    """What the machine sent in the last 30 seconds; a gap is a gap."""
    totals: dict[int, float] = {}
    for metric in store.metrics(name):
        if metric.startswith("half.") and metric.endswith(".tx"):
            window = store.window(name, metric, SPARK_POINTS, now_s)
            for at, value in zip(window.times, window.values, strict=True):
                if value == value:  # not NaN
                    totals[int(at)] = max(totals.get(int(at), 0.0), value)
    points = [totals.get(int(now_s) - i) for i in reversed(range(SPARK_POINTS))]
    top = max((p for p in points if p is not None), default=0.0) or 1.0
    return "".join(" " if p is None else BARS[min(8, round(p / top * 8))] if p > 0 else BARS[1] for p in points)
