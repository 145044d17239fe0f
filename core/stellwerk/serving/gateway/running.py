"""A gateway as a process: until it is told to end, and then in peace unless somebody is in a hurry."""

from __future__ import annotations

import asyncio
import gc
import resource
import signal
import sys
from collections.abc import Callable

from stellwerk.serving.gateway.app import Gateway

_DESCRIPTORS = 65_536  # more than the largest policy's clients and engines need


def raise_descriptor_limit() -> int:
    """Take as many open files as the system lets this user have: every client and every engine takes one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return sys.maxsize
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


async def until_told(on_hangup: Callable[[], object] | None = None) -> None:
    """Wait for Ctrl+C or SIGTERM."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told.set)
    hangup = getattr(signal, "SIGHUP", None)
    if on_hangup is not None and hangup is not None:
        loop.add_signal_handler(hangup, on_hangup)
    await told.wait()


async def run_until_told(gateway: Gateway, say: Callable[[str], None]) -> None:
    """For a gateway that has been started. SIGHUP reads the policy again, SIGTERM lets running answers finish."""
    # What is there now stays until the end; the collector need not look at it again and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    await until_told(lambda: gateway.spawn(gateway.reload_quietly()))
    say("Finishing what runs; Ctrl+C again cuts it off.")
    stopping = asyncio.ensure_future(gateway.stop())
    hurry = asyncio.ensure_future(until_told())
    await asyncio.wait((stopping, hurry), return_when=asyncio.FIRST_COMPLETED)
    hurry.cancel()
    if not stopping.done():
        stopping.cancel()
        await asyncio.gather(stopping, return_exceptions=True)
        await gateway.stop(0)
