"""Starts a measurement with torch in processes of its own, follows it, and leaves none of them behind."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from stellwerk.measure.collectives import MeasurementFailed, Progress
from stellwerk.model.errors import StellwerkError

END_S = 5.0
LINE_MAX = 64 << 20

MAX_RANKS = 16


def need_torch() -> None:
    """StellwerkError with what to do if torch is not there."""
    if importlib.util.find_spec("torch") is None:
        raise StellwerkError(
            "torch is not installed",
            why="the model of this measurement runs on it",
            remedy="Install it with: pip install 'stellwerk[torch]'",
        )


def processors() -> int:
    """How many processors the ranks share."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_ranks(ranks: tuple[int, ...]) -> None:
    """ValueError if these numbers of ranks cannot be started on one computer."""
    if not ranks or min(ranks) < 1 or max(ranks) > MAX_RANKS:
        raise ValueError(f"measure with 1 to {MAX_RANKS} ranks")


async def run(module: str, plan: dict[str, Any], on_progress: Callable[[Progress], None]) -> Any:
    """Run `python -m module PLAN` and return its result. MeasurementFailed says which rank failed, and why."""
    with tempfile.TemporaryFile() as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", module, json.dumps(plan),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            limit=LINE_MAX,
            start_new_session=True,  # Ctrl-C reaches only us, and we can end all of them as a group
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                message = json.loads(line)
                if "failed" in message:
                    raise MeasurementFailed(message["failed"])
                if "result" in message:
                    return message["result"]
                on_progress(Progress(message["done"], message["of"], message["what"]))
            errors.seek(0)
            last = errors.read().decode(errors="replace").strip().splitlines()[-3:]
            raise MeasurementFailed(f"the ranks ended early: {' '.join(last)[-500:] or 'they said nothing'}")
        finally:
            # Also when this task is cancelled once more: the processes end first.
            await asyncio.shield(_end(process))


async def _end(process: asyncio.subprocess.Process) -> None:
    """In good order: it ends its ranks and waits for them. Else by force, all of them."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END_S)
    except TimeoutError:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    with contextlib.suppress(ProcessLookupError):  # it may have been killed, so its ranks may be left
        os.killpg(process.pid, signal.SIGKILL)
