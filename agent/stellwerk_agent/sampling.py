"""Samples the node once a second, or as often as a desktop asks, and keeps an hour of it."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import BadInput
from stellwerk.model.sample import GpuSample, Sample
from stellwerk_agent import commands
from stellwerk_agent.counters import Counters
from stellwerk_agent.history import History
from stellwerk_agent.options import Options
from stellwerk_agent.probes import gpu, host
from stellwerk_agent.reading import Reader
from stellwerk_agent.rpc import Call, Connection, Nothing, Registry

log = logging.getLogger("stellwerk.sampling")

BASE_RATE_HZ = 1.0
MAX_RATE_HZ = 10.0
RESCAN_S = 5.0
THERMAL_S = 2.0  # some firmware takes milliseconds for one temperature
# nvidia-smi is a process of its own for every reading: dear, so rare unless somebody looks.
SMI_WATCHED_S = 2.0
SMI_IDLE_S = 60.0
GPU_FRESH_S = 5.0  # older values are not shown: a gap is a gap


@dataclass(frozen=True, slots=True)
class After:
    after_sequence: int = 0


@dataclass(frozen=True, slots=True)
class Rate:
    rate_hz: float = BASE_RATE_HZ


@dataclass(slots=True)
class _Subscriber:
    rate_hz: float
    due_ns: int = 0


class Sampling:
    """The sampler, its history and its subscribers."""

    def __init__(self, options: Options, jobs_running: Callable[[], int], on_failure: Callable[[str], None]) -> None:
        self._options = options
        self._on_failure = on_failure
        self._jobs_running = jobs_running
        self._reader = Reader(options.root)
        self._boot_id = host.boot_id(self._reader)
        self._counters = Counters(options.root)
        self._history = History()
        self._subscribers: dict[Connection, _Subscriber] = {}
        self._changed = asyncio.Event()
        self._latest: Sample | None = None
        # Numbers go on rising over a change of the daemon, so that "after n" never hides new samples.
        self._sequence = int(time.time() * MAX_RATE_HZ)
        self._gpus: tuple[GpuSample, ...] = ()
        self._gpus_until_ns = 0
        self._temperatures: dict[str, float] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._rescan_due = self._thermal_due = self._keep_due = 0

    def register(self, registry: Registry) -> None:
        registry.add("sample.latest", Nothing, self._answer_latest)
        registry.add("sample.history", After, self._answer_history)
        registry.add("sample.subscribe", Rate, self._subscribe)
        registry.add("sample.unsubscribe", Nothing, self._unsubscribe)

    async def start(self) -> None:
        """Begin to sample."""
        self._history.load(self._options.state_dir / "history", self._boot_id)
        self._sequence = max(self._sequence, self._history.last_sequence)
        self._tasks = [asyncio.create_task(self._run()), asyncio.create_task(self._watch_gpus())]
        for task in self._tasks:
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A sampler that fails ends the daemon: attach starts a fresh one, instead of graphs that stand still."""
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("sampling failed", exc_info=error)
            self._on_failure(f"sampling failed: {type(error).__name__}: {error}")

    async def stop(self) -> None:
        """End, and leave the history for the next daemon."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._counters.close()
        try:
            self._history.save(self._options.state_dir / "history", self._boot_id)
        except OSError as error:
            log.warning("the history of samples is lost: %s", error)

    def take(self) -> Sample:
        """Read the node now."""
        now = time.monotonic_ns()
        if now >= self._rescan_due:
            self._counters.rescan()
            self._rescan_due = now + int(RESCAN_S * 1e9)
        if now >= self._thermal_due:
            self._temperatures = self._counters.temperatures_c()
            self._thermal_due = now + int(THERMAL_S * 1e9)
        busy, total = self._counters.cpu_ticks()
        memory = self._counters.memory_kb()
        swap = (memory.get("SwapTotal"), memory.get("SwapFree"))
        self._sequence += 1
        return Sample(
            sequence=self._sequence,
            monotonic_ns=now,
            wall_s=time.time(),
            boot_id=self._boot_id,
            cpu_busy_ticks=busy,
            cpu_total_ticks=total,
            load1=self._counters.load1(),
            mem_total_kb=memory.get("MemTotal"),
            mem_available_kb=memory.get("MemAvailable"),
            swap_used_kb=swap[0] - swap[1] if swap[0] is not None and swap[1] is not None else None,
            gpus=self._gpus if now < self._gpus_until_ns else (),
            net=self._counters.net(),
            rdma=self._counters.rdma(),
            temperatures_c=self._temperatures,
            jobs_running=self._jobs_running(),
        )

    async def _run(self) -> None:
        due = time.monotonic_ns()
        while True:
            self._tick()
            period_ns = int(1e9 / self._rate_hz())
            due = max(due + period_ns, time.monotonic_ns())  # after a pause: no burst to catch up
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), (due - time.monotonic_ns()) / 1e9)
                due = time.monotonic_ns()  # somebody wants another rate: from now on
            except asyncio.TimeoutError:
                continue

    def _rate_hz(self) -> float:
        return max([BASE_RATE_HZ, *(s.rate_hz for s in self._subscribers.values())])

    def _tick(self) -> None:
        sample = self._latest = self.take()
        if sample.monotonic_ns >= self._keep_due:
            self._history.append(sample)
            self._keep_due = sample.monotonic_ns + int(0.95e9 / BASE_RATE_HZ)
        data: dict[str, Any] | None = None
        for connection, subscriber in self._subscribers.items():
            if sample.monotonic_ns >= subscriber.due_ns:
                subscriber.due_ns = sample.monotonic_ns + int(0.95e9 / subscriber.rate_hz)
                data = data or wire.to_wire(sample)
                connection.notify("sample", data)

    async def _watch_gpus(self) -> None:
        """Keep `_gpus` fresh. A driver that hangs holds up this task alone, and its old values run out."""
        nvml = await asyncio.to_thread(gpu.Nvml.open, self._reader)
        while True:
            if nvml is not None:
                self._show_gpus(await asyncio.to_thread(nvml.samples))
                await asyncio.sleep(1.0 / min(self._rate_hz(), 2.0))
                continue
            if commands.find("nvidia-smi"):
                self._show_gpus(await gpu.smi_samples())
            await self._pause(SMI_WATCHED_S if self._subscribers else SMI_IDLE_S)

    def _show_gpus(self, gpus: tuple[GpuSample, ...]) -> None:
        self._gpus, self._gpus_until_ns = gpus, time.monotonic_ns() + int(GPU_FRESH_S * 1e9)

    async def _pause(self, period_s: float) -> None:
        """Sleep, but no longer than the period that holds once somebody watches."""
        until = time.monotonic() + period_s
        while (left := until - time.monotonic()) > 0:
            await asyncio.sleep(min(left, SMI_WATCHED_S))
            if self._subscribers and period_s > SMI_WATCHED_S:
                return

    async def _answer_latest(self, call: Call, params: Nothing) -> Sample:
        return self._latest if self._latest is not None else self.take()

    async def _answer_history(self, call: Call, params: After) -> dict[str, Any]:
        return {"samples": self._history.after(params.after_sequence)}

    async def _subscribe(self, call: Call, params: Rate) -> dict[str, float]:
        if not params.rate_hz > 0:
            raise BadInput("rate_hz is a number above 0")
        rate = min(params.rate_hz, MAX_RATE_HZ)
        if call.connection not in self._subscribers:
            call.connection.context.on_close.append(lambda: self._forget(call.connection))
        self._subscribers[call.connection] = _Subscriber(rate)
        self._changed.set()
        return {"rate_hz": rate}

    async def _unsubscribe(self, call: Call, params: Nothing) -> dict[str, Any]:
        self._forget(call.connection)
        return {}

    def _forget(self, connection: Connection) -> None:
        self._subscribers.pop(connection, None)
