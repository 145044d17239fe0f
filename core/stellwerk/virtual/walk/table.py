"""The whole table: clusters of simulated machines side by side, and all faults at all moments shared out among them."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.virtual.client import VirtualCluster
from stellwerk.virtual.topologies import MAX_NODES, check
from stellwerk.virtual.walk.lane import Lane, Row
from stellwerk.virtual.walk.moments import FAULTS, Moment, WalkFault, makes_sense

SHAPES = ("pair", "ring", "switch")
Job = tuple[WalkFault, Moment]


@contextlib.asynccontextmanager
async def lanes(topology: str, nodes: int, count: int) -> AsyncIterator[list[Lane]]:
    """`count` clusters of `nodes` machines each, in one virtual cluster, ready to walk.

    Raises `BadInput` for a shape that cannot be, or for more machines than a virtual cluster has.
    """
    problem = check(nodes, topology)
    if problem is not None or topology not in SHAPES:
        raise BadInput(problem or f"{topology!r} is not walked", remedy=f"choose one of {', '.join(SHAPES)}")
    if nodes * count > MAX_NODES:
        raise BadInput(f"{count} clusters of {nodes} nodes are too many", why=f"there are {MAX_NODES} nodes")
    async with contextlib.AsyncExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="stellwerk-walk-")))
        shape = topology if count == 1 else "switch"
        cluster = await stack.enter_async_context(VirtualCluster.start(nodes * count, shape))
        names = [node.name for node in cluster.nodes]
        groups = [names[at : at + nodes] for at in range(0, len(names), nodes)]
        if count > 1:
            await _cable(cluster, topology, groups)
        made = [Lane(cluster, group, topology, base / f"desktop-{i}") for i, group in enumerate(groups)]
        for lane in made:
            stack.push_async_callback(lane.close)
        await _together(lane.prepare() for lane in made)
        yield made


async def _together(work: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Do all at once; the first error ends the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for item in work:
                group.create_task(item)
    except* StellwerkError as errors:
        raise errors.exceptions[0] from None


async def _cable(cluster: VirtualCluster, topology: str, groups: Sequence[Sequence[str]]) -> None:
    """Take all machines off the switch and cable each group for itself."""
    if topology == "switch":
        raise BadInput("nodes behind one switch are one cluster", remedy="walk one at a time")
    for group in groups:
        for name in group:
            await cluster.unplug(f"{name}:1")
    for group in groups:
        if topology == "pair":
            await cluster.plug(f"{group[0]}:1", f"{group[1]}:1")
        else:
            for at, name in enumerate(group):
                await cluster.plug(f"{name}:0", f"{group[(at + 1) % len(group)]}:1")


def all_jobs(moments: Sequence[Moment], faults: Iterable[WalkFault] = FAULTS) -> list[Job]:
    """Every fault at every moment at which it can strike."""
    return [(fault, moment) for moment in moments for fault in faults if makes_sense(fault, moment)]


async def walk(made: Sequence[Lane], jobs: Sequence[Job], on_row: Callable[[Row], None], victim: int = 1) -> list[Row]:
    """Share the jobs out among the lanes; `victim` is the number of the machine that is struck, from 0."""
    left = list(reversed(jobs))
    rows: list[Row] = []

    async def work(lane: Lane) -> None:
        while left:
            fault, moment = left.pop()
            row = await lane.walk(fault, moment, lane.names[victim])
            rows.append(row)
            on_row(row)

    await _together(work(lane) for lane in made)
    return rows
