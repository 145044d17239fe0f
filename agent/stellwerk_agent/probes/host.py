"""The machine itself: who it is, what runs on it, how much memory it has."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from stellwerk.model.facts import DgxRelease, Memory
from stellwerk_agent.reading import Reader, clean

# Cores of GB10 and of common servers: /proc/cpuinfo on ARM names no model.
ARM_PARTS = {"0xd85": "Cortex-X925", "0xd87": "Cortex-A725", "0xd4f": "Neoverse-V2", "0xd0c": "Neoverse-N1"}

_ASSIGNMENT = re.compile(r"^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$")


def parse_assignments(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """`NAME=value` lines in order, quoted or not (HP writes its dgx-release without quotes); the rest is skipped."""
    for line in lines:
        match = _ASSIGNMENT.match(line)
        if match is None:
            continue
        name, value = match[1], match[2]
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        yield name, clean(value)


def parse_dgx_release(lines: Iterable[str]) -> DgxRelease:
    """/etc/dgx-release. Updates append further DGX_OTA_VERSION lines, so the last wins. The serial is not taken."""
    values = {name: value for name, value in parse_assignments(lines) if value}
    return DgxRelease(
        name=values.get("DGX_NAME"),
        pretty_name=values.get("DGX_PRETTY_NAME"),
        platform=values.get("DGX_PLATFORM"),
        swbuild_version=values.get("DGX_SWBUILD_VERSION"),
        ota_version=values.get("DGX_OTA_VERSION"),
    )


def parse_meminfo(lines: Iterable[str]) -> Memory:
    """/proc/meminfo; a line that is missing stays None."""
    values: dict[str, int] = {}
    for line in lines:
        name, _, rest = line.partition(":")
        words = rest.split()
        if words and words[0].isdecimal():
            values[name.strip()] = int(words[0])
    return Memory(
        total_kb=values.get("MemTotal"),
        available_kb=values.get("MemAvailable"),
        swap_total_kb=values.get("SwapTotal"),
        swap_free_kb=values.get("SwapFree"),
        cma_total_kb=values.get("CmaTotal"),
        cma_free_kb=values.get("CmaFree"),
    )


def parse_cpuinfo(lines: Iterable[str]) -> tuple[str | None, int | None]:
    """Model and number of logical CPUs of /proc/cpuinfo, on x86 and on ARM."""
    count = 0
    models: dict[str, int] = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.strip(), value.strip()
        if name == "processor" and value.isdecimal():
            count += 1
        elif name == "model name" and value:
            models[value] = models.get(value, 0) + 1
        elif name == "CPU part" and value in ARM_PARTS:
            models[ARM_PARTS[value]] = models.get(ARM_PARTS[value], 0) + 1
    if not models:
        return None, count or None
    if len(models) == 1:
        return next(iter(models)), count or None
    return ", ".join(f"{number} x {model}" for model, number in models.items()), count or None


def hostname(reader: Reader) -> str:
    """The machine's own name, as it is under the root."""
    return reader.text("/proc/sys/kernel/hostname") or reader.text("/etc/hostname") or "unnamed"


def boot_id(reader: Reader) -> str:
    """Another one after every boot; empty when the kernel does not tell."""
    return reader.text("/proc/sys/kernel/random/boot_id") or ""


def node_id(reader: Reader, state_dir: Path) -> str:
    """A name for the machine that stays: derived from the machine id, which itself is not given away.

    A machine without one (a container) gets a random name that is kept in the state directory.
    """
    machine = reader.text("/etc/machine-id") or reader.text("/var/lib/dbus/machine-id")
    if machine is None or not re.fullmatch(r"[0-9a-fA-F]{32}", machine):
        machine = _kept_random_id(state_dir / "node-id")
    return hashlib.sha256(b"stellwerk node:" + machine.lower().encode()).hexdigest()[:20]


def _kept_random_id(path: Path) -> str:
    try:
        kept = path.read_text("ascii", "replace").strip()
        if re.fullmatch(r"[0-9a-f]{32}", kept):
            return kept
    except FileNotFoundError:
        pass
    fresh = secrets.token_hex(16)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(fresh + "\n")
    return fresh


def product(reader: Reader) -> str | None:
    """What the firmware calls the machine; boards without DMI have a device tree."""
    return reader.text("/sys/class/dmi/id/product_name") or reader.text("/proc/device-tree/model")


def os_name(reader: Reader) -> str | None:
    """Such as `Ubuntu 24.04.3 LTS`."""
    return dict(parse_assignments(reader.lines("/etc/os-release"))).get("PRETTY_NAME")


def uptime_s(reader: Reader) -> float | None:
    """Seconds since the boot."""
    words = (reader.text("/proc/uptime") or "").split()
    try:
        return float(words[0]) if words else None
    except ValueError:
        return None


def wall_time_s(reader: Reader) -> float:
    """The node's clock in seconds since the epoch: boot time and uptime as its kernel tells them.

    Those have whole seconds; where they agree with this process's clock, that one is given for its precision.
    """
    here = time.time()
    up = uptime_s(reader)
    boot = next((line.split()[1] for line in reader.lines("/proc/stat", 1024 * 1024) if line.startswith("btime ")), "")
    if up is None or not boot.isdecimal():
        return here
    there = int(boot) + up
    return here if abs(there - here) < 2.5 else there


def architecture(reader: Reader) -> str:
    """Such as `aarch64`. Older kernels do not show it as a file; then it is that of this Python."""
    return reader.text("/proc/sys/kernel/arch") or os.uname().machine


def user_name() -> str:
    """The login name of the session that started the agent."""
    name = os.environ.get("LOGNAME") or os.environ.get("USER")
    if name:
        return clean(name)
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
