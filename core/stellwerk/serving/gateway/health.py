"""Asking replicas whether they live, and once in a while who they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from time import monotonic

from stellwerk.serving.gateway.fetch import fetch
from stellwerk.serving.gateway.replica import Replica
from stellwerk.serving.gateway.upstream import why_unreachable


async def check(replica: Replica) -> str | None:
    """One check. None when it passed, else why not.

    The health path decides. A server that has none there (404) must list models, as every engine does.
    """
    health = replica.health
    assert health.path is not None
    try:
        status, _ = await fetch(replica, "GET", health.path.encode(), timeout_s=health.timeout_s, fresh=True)
        if status == 404 and health.path != "/v1/models":
            return await _identify(replica)
    except TimeoutError:
        return f"no answer within {health.timeout_s:g} s"
    except OSError as error:
        return f"cannot be reached: {why_unreachable(error)}"
    if not 200 <= status < 300:
        return f"its health check says {status}"
    return None


async def _identify(replica: Replica) -> str | None:
    """Does it list models? Takes over the context window where the engine states it."""
    path = replica.address.base + b"/models"
    status, body = await fetch(replica, "GET", path, timeout_s=replica.health.timeout_s, fresh=True)
    if status in (401, 403):
        return "it refuses the gateway's key"
    models = model_list(body) if status == 200 else None
    if models is None:
        return "something answers, but it is no engine: it lists no models"
    stated = [model.get("max_model_len") for model in models]
    windows = [window for window in stated if isinstance(window, int) and window > 1]  # True is an int, too
    if windows:
        replica.context_window = min(windows)
    return None


def model_list(body: bytes) -> list[dict[str, object]] | None:
    """The entries of an answer to /v1/models, None if it is none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    data = value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        return None
    return data


class HealthMonitor:
    """One task per watched replica. `changed` is called when a replica's slots changed."""

    def __init__(self, changed: Callable[[Replica], None]) -> None:
        self._changed = changed
        self._tasks: dict[Replica, asyncio.Task[None]] = {}

    def watch(self, replicas: Iterable[Replica]) -> None:
        """Watch exactly these from now on."""
        wanted = {replica for replica in replicas if replica.health.path is not None}
        for replica in list(self._tasks):
            if replica not in wanted:
                self._tasks.pop(replica).cancel()
        for replica in wanted:
            if replica not in self._tasks:
                self._tasks[replica] = asyncio.get_running_loop().create_task(self._watch(replica))

    async def _watch(self, replica: Replica) -> None:
        identified = False
        while True:
            problem = await check(replica)
            learned = False  # its context window, above all
            if problem is None and not identified:
                try:
                    problem = await _identify(replica)
                except (OSError, TimeoutError) as error:
                    problem = f"does not list its models: {error or 'no answer in time'}"
                identified = learned = problem is None
            now_s = monotonic()
            if problem is None:
                moved = replica.check_passed(now_s) or learned
            else:
                identified = False
                moved = replica.check_failed(now_s, problem)
            if moved:
                self._changed(replica)
            await asyncio.sleep(replica.health.every_s)

    async def stop(self) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
