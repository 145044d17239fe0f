"""The process of a virtual cluster: `python -m stellwerk.virtual --nodes 2 --topology pair`.

It speaks the control protocol on stdin and stdout and ends when stdin closes, when its parent dies, on SIGTERM and
SIGINT, or when told to stop. With `--stay` it does not mind a closed stdin.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from stellwerk.model.errors import StellwerkError
from stellwerk.virtual.client import PERF_RUN_S

PR_SET_PDEATHSIG = 1
# Real machines would not share this computer: the person's window comes before what is simulated on it.
NICENESS = 10


def die_with_parent() -> None:
    """Ask the kernel for SIGTERM when the parent ends (Linux); a closed stdin says the same elsewhere."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


async def _serve_stdin(answer: Callable[[bytes], Awaitable[bytes]], stopped: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=4 * 1024 * 1024)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while line := await reader.readline():
        sys.stdout.buffer.write(await answer(line))
        sys.stdout.buffer.flush()
    stopped.set()


async def _run(options: argparse.Namespace) -> int:
    from stellwerk.virtual.cluster import Cluster
    from stellwerk.virtual.control import Control

    cluster = Cluster(options.nodes, options.topology, options.dir, perf_run_s=options.perf_run_s)
    control = Control(cluster)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, control.stopped.set)
    serving: asyncio.Task[None] | None = None
    try:
        await cluster.start()
        await control.listen()
        hello = {"ready": True, "dir": str(cluster.dir), "topology": cluster.topology, "nodes": cluster.nodes()}
        print(json.dumps(hello), flush=True)
        serving = asyncio.create_task(_serve_stdin(control.answer, control.stopped))
        await control.stopped.wait()
    finally:
        if serving is not None:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)
        await control.close()
        await cluster.stop()
    return 0


def step_back() -> None:
    """Let the window go first.

    Linux weighs sessions against each other before it looks at the niceness of their processes (sched(7), autogroup),
    and this process has a session of its own.
    """
    os.nice(NICENESS)
    with contextlib.suppress(OSError):  # a kernel without autogroups, or asked too often
        Path("/proc/self/autogroup").write_text(str(NICENESS))


def main() -> int:
    """Run one virtual cluster until it is told to end."""
    parser = argparse.ArgumentParser(prog="python -m stellwerk.virtual")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--topology", default="pair")
    parser.add_argument("--dir", type=Path)
    parser.add_argument("--perf-run-s", type=float, default=PERF_RUN_S)
    options = parser.parse_args()
    die_with_parent()
    step_back()
    parent = os.getppid()
    if parent == 1:
        return 0  # the parent died before we asked the kernel to watch it
    try:
        return asyncio.run(_run(options))
    except StellwerkError as error:
        failure = {"what": error.what, "why": error.why, "remedy": error.remedy}
        print(json.dumps({"ready": False, "error": failure}), flush=True)
        return 2


if __name__ == "__main__":
    sys.exit(main())
