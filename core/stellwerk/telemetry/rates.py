"""Counters to rates: wrap-safe, reset-safe, and silent (None) where nothing can be said."""

from __future__ import annotations

from collections.abc import Mapping

from stellwerk.model.sample import GpuSample, Sample

GB10_WORD_BYTES = 4  # RDMA port data counters count 4-byte words
# No port of a Spark carries more than 200 Gb/s; a step beyond this is a reset that looks like a wrap.
MAX_PORT_BYTES_PER_S = 4 * 200e9 / 8


def counter_delta(before: int, after: int, bits: int, max_step: float) -> int | None:
    """How far a counter of `bits` bits went from `before` to `after`.

    A smaller value is either a wrap (then the way over the top is short enough, at most `max_step`) or a reset
    (driver reload, reboot): then nothing can be said and the answer is None.
    """
    if after >= before:
        step = after - before
        return step if step <= max_step else None
    step = (after - before) % (1 << bits)
    return step if step <= max_step else None


def _byte_rate_gbps(before: int, after: int, seconds: float, scale: int) -> float | None:
    step = counter_delta(before, after, 64, MAX_PORT_BYTES_PER_S * seconds / scale)
    if step is None:
        # Some drivers expose 32-bit counters in a 64-bit file.
        step = counter_delta(before, after, 32, MAX_PORT_BYTES_PER_S * seconds / scale) if before < 1 << 32 else None
    return None if step is None else step * scale * 8 / seconds / 1e9


def _event_rate(before: int | None, after: int | None, seconds: float) -> float | None:
    if before is None or after is None or after < before:
        return None
    return (after - before) / seconds


def _gpu_values(gpus: tuple[GpuSample, ...]) -> dict[str, float | None]:
    if not gpus:
        return {}
    gpu = gpus[0]
    memory = gpu.memory_used_mib if gpu.memory_used_mib is not None else gpu.process_memory_mib
    return {
        "gpu.util": gpu.utilisation_pct,
        "gpu.temp": gpu.temperature_c,
        "gpu.power": gpu.power_w,
        "gpu.clock": gpu.clock_mhz,
        "gpu.mem": None if memory is None else memory / 1024,
    }


def gauges(sample: Sample) -> dict[str, float | None]:
    """Values that need no predecessor. Units: %, GiB, °C, W, MHz."""
    values: dict[str, float | None] = {"load1": sample.load1, **_gpu_values(sample.gpus)}
    if sample.mem_total_kb is not None and sample.mem_available_kb is not None:
        values["mem.total"] = sample.mem_total_kb / 1024**2
        values["mem.used"] = (sample.mem_total_kb - sample.mem_available_kb) / 1024**2
    if sample.swap_used_kb is not None:
        values["swap.used"] = sample.swap_used_kb / 1024**2
    if sample.temperatures_c:
        values["temp.max"] = max(sample.temperatures_c.values())
    return values


def rates(before: Sample, after: Sample, rdma_of: Mapping[str, str]) -> dict[str, float | None]:
    """Rates between two samples of one boot. Units: Gb/s, events per second, % of all CPUs.

    `rdma_of` maps a netdev to its RDMA device: RoCE traffic bypasses the netdev counters, so the throughput of a
    half, `half.<netdev>.tx`, is the sum of both.
    """
    seconds = (after.monotonic_ns - before.monotonic_ns) / 1e9
    if seconds <= 0 or before.boot_id != after.boot_id:
        return {}
    values: dict[str, float | None] = {"cpu": _cpu_percent(before, after)}
    for name, now in after.net.items():
        old = before.net.get(name)
        if old is None:
            continue
        values[f"net.{name}.tx"] = _byte_rate_gbps(old.tx_bytes, now.tx_bytes, seconds, 1)
        values[f"net.{name}.rx"] = _byte_rate_gbps(old.rx_bytes, now.rx_bytes, seconds, 1)
        values[f"net.{name}.err"] = _event_rate(
            old.rx_errors + old.tx_errors + old.rx_dropped + old.tx_dropped,
            now.rx_errors + now.tx_errors + now.rx_dropped + now.tx_dropped,
            seconds,
        )
    for name, port in after.rdma.items():
        was = before.rdma.get(name)
        if was is None:
            continue
        values[f"rdma.{name}.tx"] = _byte_rate_gbps(was.xmit_words, port.xmit_words, seconds, GB10_WORD_BYTES)
        values[f"rdma.{name}.rx"] = _byte_rate_gbps(was.rcv_words, port.rcv_words, seconds, GB10_WORD_BYTES)
        values[f"rdma.{name}.retrans"] = _event_rate(was.retransmits, port.retransmits, seconds)
        values[f"rdma.{name}.outofseq"] = _event_rate(was.out_of_sequence, port.out_of_sequence, seconds)
    for netdev in after.net:
        for way in ("tx", "rx"):
            parts = [values.get(f"net.{netdev}.{way}")]
            if netdev in rdma_of:
                parts.append(values.get(f"rdma.{rdma_of[netdev]}.{way}"))
            known = [part for part in parts if part is not None]
            values[f"half.{netdev}.{way}"] = sum(known) if known else None
    return values


def _cpu_percent(before: Sample, after: Sample) -> float | None:
    if before.cpu_total_ticks is None or after.cpu_total_ticks is None:
        return None
    if before.cpu_busy_ticks is None or after.cpu_busy_ticks is None:
        return None
    total = after.cpu_total_ticks - before.cpu_total_ticks
    busy = after.cpu_busy_ticks - before.cpu_busy_ticks
    if total <= 0 or not 0 <= busy <= total:
        return None
    return 100.0 * busy / total
