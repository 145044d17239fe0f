"""Numbers for people: units and sensible digits. Gb/s for links (bits), GiB for memory (bytes)."""

from __future__ import annotations

from stellwerk.model.text import say

NOT_AVAILABLE = say("not available")


def gbps(value: float | None) -> str:
    """A link rate in Gb/s, such as `189.9 Gb/s`."""
    return NOT_AVAILABLE if value is None else f"{value:.1f} Gb/s"


def link_speed(mbps: int | None) -> str:
    """A negotiated link speed in Mb/s as `200 Gb/s` or `100 Mb/s`."""
    if mbps is None:
        return NOT_AVAILABLE
    if mbps >= 1000:
        whole = mbps / 1000
        return f"{whole:.0f} Gb/s" if whole == int(whole) else f"{whole:.1f} Gb/s"
    return f"{mbps} Mb/s"


def microseconds(value: float | None) -> str:
    """A latency, such as `16.9 µs`."""
    return NOT_AVAILABLE if value is None else f"{value:.1f} µs" if value < 100 else f"{value:.0f} µs"


def gibibytes_from_kb(kb: int | None) -> str:
    """Kernel kilobytes (1024 bytes) as GiB, such as `121.6 GiB`."""
    return NOT_AVAILABLE if kb is None else f"{kb / 1024**2:.1f} GiB"


def seconds(value: float) -> str:
    """A duration, short: `0.4 s`, `12 s`, `3 min 5 s`, `2 h 4 min`."""
    if value < 10:
        return f"{value:.1f} s"
    if value < 60:
        return f"{value:.0f} s"
    whole = int(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def size_text(size: int) -> str:
    """`8 KiB`, `1 MiB`."""
    if size >= 1 << 20 and size % (1 << 20) == 0:
        return f"{size >> 20} MiB"
    if size >= 1 << 10 and size % (1 << 10) == 0:
        return f"{size >> 10} KiB"
    return f"{size} B"
