"""GPUs, through NVML where its binding and library are there, else through `nvidia-smi`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from stellwerk.model.facts import Gpu
from stellwerk.model.sample import GpuSample
from stellwerk.model.text import say
from stellwerk_agent import commands
from stellwerk_agent.reading import Reader, clean, clean_text

MAX_GPUS = 16
NVIDIA = "0x10de"

FACT_FIELDS = ("name", "uuid", "pci.bus_id", "memory.total", "driver_version", "compute_cap")
SAMPLE_FIELDS = ("utilization.gpu", "temperature.gpu", "power.draw", "clocks.gr", "memory.used")

_NOT_A_VALUE = ("n/a", "not supported", "unknown error", "not available", "insufficient permissions", "err!")


def value_or_none(text: str) -> str | None:
    """A value of nvidia-smi; on GB10 memory is `[N/A]` or `Not Supported`, which is None and never 0."""
    plain = clean(text)
    bare = plain.strip("[]").lower()
    return None if not bare or bare.startswith(_NOT_A_VALUE) else plain


def number_or_none(text: str) -> float | None:
    """A number of nvidia-smi, with or without its unit (`3.74 W`, `2405 MHz`)."""
    match = re.match(r"^-?\d+(?:\.\d+)?", value_or_none(text) or "")
    return float(match[0]) if match else None


def parse_rows(text: str, columns: int) -> Iterator[list[str]]:
    """Rows of `--format=csv,noheader,nounits`; what is no such row (warnings, `No devices were found`) is skipped."""
    for line in clean_text(text).splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == columns:
            yield cells


def parse_gpus(text: str) -> tuple[Gpu, ...]:
    """The answer to a query of `FACT_FIELDS`."""
    gpus = []
    for name, uuid, bus, memory, driver, capability in parse_rows(text, len(FACT_FIELDS)):
        mib = number_or_none(memory)
        gpus.append(
            Gpu(
                name=value_or_none(name) or "unnamed GPU",
                uuid=value_or_none(uuid),
                pci_bus=value_or_none(bus),
                memory_total_mib=None if mib is None else int(mib),
                driver=value_or_none(driver),
                compute_capability=value_or_none(capability),
            )
        )
    return tuple(gpus[:MAX_GPUS])


def parse_samples(text: str, process_memory_mib: float | None) -> tuple[GpuSample, ...]:
    """The answer to a query of `SAMPLE_FIELDS`. Per-process memory is known for the whole machine, so for one GPU."""
    samples = [
        GpuSample(
            utilisation_pct=number_or_none(busy),
            temperature_c=number_or_none(heat),
            power_w=number_or_none(power),
            clock_mhz=number_or_none(clock),
            memory_used_mib=number_or_none(used),
        )
        for busy, heat, power, clock, used in parse_rows(text, len(SAMPLE_FIELDS))
    ]
    if len(samples) == 1:
        samples[0] = replace(samples[0], process_memory_mib=process_memory_mib)
    return tuple(samples[:MAX_GPUS])


def parse_process_memory(text: str) -> float | None:
    """MiB used by all compute processes: `pid, process_name, used_memory` rows. A name may hold commas."""
    total, seen = 0.0, False
    for line in clean_text(text).splitlines():
        pid, _, rest = line.partition(",")
        used = number_or_none(rest.rpartition(",")[2])
        if pid.strip().isdecimal() and used is not None:
            total, seen = total + used, True
    return total if seen else None


def parse_cuda(text: str) -> str | None:
    """The CUDA version in the head of nvidia-smi's table or of `nvidia-smi -q`."""
    match = re.search(r"CUDA (?:UMD )?Version\s*:\s*(\d+\.\d+)", text)
    return match[1] if match else None


async def smi_gpus() -> tuple[tuple[Gpu, ...], str | None]:
    """GPUs by nvidia-smi, or why there are none."""
    result = await commands.run(
        ["nvidia-smi", f"--query-gpu={','.join(FACT_FIELDS)}", "--format=csv,noheader,nounits"], timeout_s=20
    )
    gpus = parse_gpus(result.out) if result.ok else ()
    if not gpus:
        return (), result.complaint()
    head = await commands.run(["nvidia-smi"], timeout_s=20)
    cuda = parse_cuda(head.out) if head.ok else None
    return tuple(replace(gpu, cuda=cuda) for gpu in gpus), None


async def smi_samples() -> tuple[GpuSample, ...]:
    """One reading of all GPUs by nvidia-smi; empty when it fails."""
    result = await commands.run(
        ["nvidia-smi", f"--query-gpu={','.join(SAMPLE_FIELDS)}", "--format=csv,noheader,nounits"]
    )
    if not result.ok:
        return ()
    apps = await commands.run(
        ["nvidia-smi", "--query-compute-apps=pid,process_name,used_memory", "--format=csv,noheader,nounits"]
    )
    return parse_samples(result.out, parse_process_memory(apps.out) if apps.ok else None)


class Nvml:
    """NVML through its Python binding, opened once. It reads this machine and knows no root."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._handles = [
            library.nvmlDeviceGetHandleByIndex(i) for i in range(min(library.nvmlDeviceGetCount(), MAX_GPUS))
        ]

    @classmethod
    def open(cls, reader: Reader) -> Nvml | None:
        """NVML, if this process reads the real machine and the binding, the library and a driver are there."""
        if str(reader.root) != "/":
            return None
        try:
            import pynvml  # type: ignore[import-not-found,import-untyped,unused-ignore]
        except ImportError:
            return None
        try:
            pynvml.nvmlInit()
            found = cls(pynvml)
        except pynvml.NVMLError:
            return None  # no library or no driver: nvidia-smi will say it in words
        return found if found._handles else None

    def gpus(self) -> tuple[Gpu, ...]:
        """What stays the same of every GPU."""
        nv = self._library
        driver = self._ask(nv.nvmlSystemGetDriverVersion)
        cuda = self._ask(nv.nvmlSystemGetCudaDriverVersion)
        found = []
        for handle in self._handles:
            capability = self._ask(nv.nvmlDeviceGetCudaComputeCapability, handle)
            memory = self._ask(nv.nvmlDeviceGetMemoryInfo, handle)
            bus = self._ask(nv.nvmlDeviceGetPciInfo, handle)
            found.append(
                Gpu(
                    name=_text(self._ask(nv.nvmlDeviceGetName, handle)) or "unnamed GPU",
                    uuid=_text(self._ask(nv.nvmlDeviceGetUUID, handle)),
                    pci_bus=_text(bus.busId) if bus is not None else None,
                    memory_total_mib=memory.total // 2**20 if memory is not None and memory.total else None,
                    driver=_text(driver),
                    cuda=f"{cuda // 1000}.{cuda % 1000 // 10}" if isinstance(cuda, int) else None,
                    compute_capability=f"{capability[0]}.{capability[1]}" if capability else None,
                )
            )
        return tuple(found)

    def samples(self) -> tuple[GpuSample, ...]:
        """One reading of every GPU; a value that the driver does not give is None."""
        nv = self._library
        found = []
        for handle in self._handles:
            busy = self._ask(nv.nvmlDeviceGetUtilizationRates, handle)
            power = self._ask(nv.nvmlDeviceGetPowerUsage, handle)
            memory = self._ask(nv.nvmlDeviceGetMemoryInfo, handle)
            processes = self._ask(nv.nvmlDeviceGetComputeRunningProcesses, handle)
            used = [p.usedGpuMemory for p in processes or () if p.usedGpuMemory]
            found.append(
                GpuSample(
                    utilisation_pct=None if busy is None else float(busy.gpu),
                    temperature_c=_float(self._ask(nv.nvmlDeviceGetTemperature, handle, nv.NVML_TEMPERATURE_GPU)),
                    power_w=None if power is None else power / 1000,
                    clock_mhz=_float(self._ask(nv.nvmlDeviceGetClockInfo, handle, nv.NVML_CLOCK_GRAPHICS)),
                    memory_used_mib=memory.used / 2**20 if memory is not None and memory.total else None,
                    process_memory_mib=sum(used) / 2**20 if used else None,
                )
            )
        return tuple(found)

    def _ask(self, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except self._library.NVMLError:
            return None  # not supported on this GPU


def _text(value: Any) -> str | None:
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return clean(value) or None if isinstance(value, str) else None


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def why_no_gpu(reader: Reader, complaint: str) -> str:
    """In words: is there no GPU, or does its driver not answer?"""
    for name in reader.names("/sys/bus/pci/devices"):
        if reader.text(f"/sys/bus/pci/devices/{name}/vendor") != NVIDIA:
            continue
        if (reader.text(f"/sys/bus/pci/devices/{name}/class") or "").startswith("0x03"):
            return say("an NVIDIA GPU is on the PCI bus, but its driver does not answer: {said}", said=complaint)
    return say("no NVIDIA GPU in this machine ({said})", said=complaint)
