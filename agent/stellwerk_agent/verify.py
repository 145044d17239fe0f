"""Checks between nodes: pings, routes, neighbours, RDMA bandwidth and latency."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import re
import time
from dataclasses import dataclass, replace
from typing import Any

from stellwerk.model.errors import BadInput
from stellwerk.model.guard import PingResult, RdmaPerf, RouteAnswer
from stellwerk.model.text import say
from stellwerk_agent import commands
from stellwerk_agent.jobs import Jobs, StartJob
from stellwerk_agent.options import Options
from stellwerk_agent.probes import net
from stellwerk_agent.reading import Reader, clean, clean_text
from stellwerk_agent.rpc import Call, Nothing, Registry

TOOLS = ("ib_write_bw", "ib_write_lat")
MAX_OUTPUT_CHARS = 8000
# A client may come before the server listens; it tries again this long.
CONNECT_LIMIT_S = 10.0
RETRY_S = 0.3
_DEVICE = re.compile(r"^[A-Za-z0-9_.:-]{1,63}$")
_REFUSED = ("couldn't connect", "connection refused", "unable to connect", "failed to connect")


@dataclass(frozen=True, slots=True)
class Ping:
    destination: str
    netdev: str | None = None
    payload_bytes: int = 56
    count: int = 3
    dont_fragment: bool = False
    timeout_s: float = 10.0


@dataclass(frozen=True, slots=True)
class Destination:
    destination: str


@dataclass(frozen=True, slots=True)
class RdmaServer:
    tool: str
    device: str
    port: int
    gid_index: int | None = None
    seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class RdmaClient:
    tool: str
    device: str
    server: str
    port: int
    gid_index: int | None = None
    seconds: float = 5.0


class Verify:
    """The `verify.*` methods. RDMA servers are jobs with a limited life, so that none stays behind."""

    def __init__(self, options: Options, jobs: Jobs) -> None:
        self._options = options
        self._jobs = jobs

    def register(self, registry: Registry) -> None:
        registry.add("verify.ping", Ping, self._ping, deadline_s=120.0)
        registry.add("verify.route", Destination, self._route)
        registry.add("verify.neighbours", Nothing, self._neighbours)
        registry.add("verify.rdma_server", RdmaServer, self._rdma_server)
        registry.add("verify.rdma_client", RdmaClient, self._rdma_client, deadline_s=180.0)

    async def _ping(self, call: Call, params: Ping) -> PingResult:
        address = check_address(params.destination)
        argv = ["ping", "-n", "-c", str(_within(params.count, 1, 100)), "-i", "0.2", "-W", "1"]
        argv += ["-s", str(_within(params.payload_bytes, 0, 65507))]
        if params.dont_fragment:
            argv += ["-M", "do"]
        if params.netdev is not None:
            argv += ["-I", check_device(params.netdev)]
        result = await commands.run([*argv, address], timeout_s=max(1.0, params.timeout_s))
        base = PingResult(address, params.netdev, params.payload_bytes, params.dont_fragment, sent=0, received=0)
        return judge_ping(base, result)

    async def _route(self, call: Call, params: Destination) -> RouteAnswer:
        address = check_address(params.destination)
        reader = Reader(self._options.root)
        items = await net.ip_json(reader, "route", "route", "get", address)
        if not items or not isinstance(items[0].get("dev"), str):
            why = reader.notes[0].why if reader.notes else "no route"
            return RouteAnswer(address, None, error=clean(why.removeprefix("RTNETLINK answers: ")))
        item = items[0]
        # iproute2 names the source `from` when it was asked for one.
        source = item.get("prefsrc") or item.get("from")
        return RouteAnswer(address, clean(item["dev"]), source, item.get("gateway"))

    async def _neighbours(self, call: Call, params: Nothing) -> dict[str, Any]:
        reader = Reader(self._options.root)
        found = net.parse_neighbours(await net.ip_json(reader, "neighbours", "neigh", "show"))
        if reader.notes:
            raise BadInput("the neighbour table cannot be read", why=reader.notes[0].why)
        return {"neighbours": found}

    async def _rdma_server(self, call: Call, params: RdmaServer) -> dict[str, str]:
        argv = perf_argv(params.tool, params.device, params.port, params.gid_index, params.seconds)
        if commands.find(params.tool) is None:
            raise _missing(params.tool)
        # A server ends with its client; without one it ends by its limit.
        lifetime_s = params.seconds + CONNECT_LIMIT_S + 20.0
        job = await self._jobs.start(StartJob(params.tool, tuple(argv), lifetime_s=lifetime_s))
        return {"job_id": job.job_id}

    async def _rdma_client(self, call: Call, params: RdmaClient) -> RdmaPerf:
        server = check_address(params.server)
        argv = [*perf_argv(params.tool, params.device, params.port, params.gid_index, params.seconds), server]
        if commands.find(params.tool) is None:
            raise _missing(params.tool)
        until = time.monotonic() + CONNECT_LIMIT_S
        while True:
            result = await commands.run(argv, timeout_s=params.seconds + 30.0)
            refused = any(word in (result.out + result.err).lower() for word in _REFUSED)
            if result.ok or not refused or time.monotonic() > until:
                return judge_perf(RdmaPerf(params.tool, params.device, server), result)
            await asyncio.sleep(RETRY_S)


def check_address(text: str) -> str:
    """An IP address, and nothing that a program could take for an option. Raises `BadInput`."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        raise BadInput(say("{text} is no IP address", text=repr(clean(text)))) from None


def check_device(text: str) -> str:
    """The name of an interface or an RDMA device. Raises `BadInput`."""
    if not _DEVICE.match(text) or text.startswith("-") or text in (".", ".."):
        raise BadInput(say("{text} is no name of a device", text=repr(clean(text))))
    return text


def perf_argv(tool: str, device: str, port: int, gid_index: int | None, seconds: float) -> list[str]:
    """The words of perftest that server and client share. Raises `BadInput`."""
    if tool not in TOOLS:
        raise BadInput(say("{tool} is none of {tools}", tool=repr(clean(tool)), tools=", ".join(TOOLS)))
    argv = [tool, "-d", check_device(device), "-i", "1", "-p", str(_within(port, 1024, 65535)), "-F"]
    if gid_index is not None:
        argv += ["-x", str(_within(gid_index, 0, 4095))]
    if tool == "ib_write_bw":
        argv += ["--report_gbits", "-D", str(math.ceil(_within(seconds, 1, 3600)))]
    return argv


def _within(value: float, low: int, high: int) -> Any:
    if not low <= value <= high:
        raise BadInput(say("{value} is not between {low} and {high}", value=value, low=low, high=high))
    return value


def _missing(tool: str) -> BadInput:
    return BadInput(
        say("{tool} is not installed", tool=tool), why="RDMA is measured with it", remedy="install the package perftest"
    )


_SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+)(?: packets)? received")
_RTT = re.compile(r"^(?:rtt|round-trip) min/avg/max(?:/mdev)? = [\d.]+/([\d.]+)/", re.MULTILINE)
_PING_TROUBLE = re.compile(
    r"message too long|frag needed|unreachable|exceeded|not permitted|invalid|unknown|cannot", re.IGNORECASE
)


def judge_ping(base: PingResult, result: commands.Result) -> PingResult:
    """What iputils' or busybox' ping printed, as a result. Loss is no error; a packet that cannot be sent is one."""
    text = clean_text(result.out + "\n" + result.err)
    summary, rtt = _SUMMARY.search(text), _RTT.search(text)
    trouble = next((line.strip() for line in text.splitlines() if _PING_TROUBLE.search(line)), None)
    if summary is None:
        return replace(base, error=clean(trouble or result.complaint()))
    sent, received = int(summary[1]), int(summary[2])
    return replace(
        base,
        sent=sent,
        received=received,
        rtt_avg_ms=float(rtt[1]) if rtt else None,
        error=clean(trouble) if trouble and received < sent else None,
    )


def judge_perf(base: RdmaPerf, result: commands.Result) -> RdmaPerf:
    """What perftest printed, as a result; an error when it holds no figure."""
    text = clean_text(result.out)
    output = (text + clean_text(result.err))[-MAX_OUTPUT_CHARS:]
    value = parse_bandwidth_gbps(text) if base.tool == "ib_write_bw" else parse_latency_us(text)
    if value is None or not result.ok:
        return replace(base, error=clean(_perf_complaint(result)) or "it printed no figure", output=output)
    if base.tool == "ib_write_bw":
        return replace(base, bandwidth_gbps=value, output=output)
    return replace(base, latency_us=value, output=output)


def _perf_complaint(result: commands.Result) -> str:
    if result.error:
        return result.error
    lines = [line.strip() for line in (result.out + "\n" + result.err).splitlines()]
    # perftest says what is wrong, then what follows from it: the first complaint is the cause.
    said = [line for line in lines if re.search(r"fail|unable|couldn't|error|not found|invalid", line, re.IGNORECASE)]
    return said[0] if said else result.complaint()


def _data_rows(text: str, columns: int) -> list[list[float]]:
    """Rows of numbers below perftest's `#bytes` line with at least that many columns."""
    rows: list[list[float]] = []
    below = False
    for line in text.splitlines():
        if line.lstrip().startswith("#bytes"):
            below = True
            continue
        try:
            row = [float(word) for word in line.split()]
        except ValueError:
            continue
        if below and len(row) >= columns:
            rows.append(row)
    return rows


def parse_bandwidth_gbps(text: str) -> float | None:
    """Average bandwidth of ib_write_bw: the fourth of five columns, or of six with the CPU's load."""
    rows = _data_rows(text, 4)
    if not rows or not math.isfinite(rows[-1][3]):
        return None
    value = rows[-1][3]
    if re.search(r"BW average\[MB/sec\]", text):
        return value * 8 * 2**20 / 1e9  # perftest's MB has 2^20 bytes
    return value


def parse_latency_us(text: str) -> float | None:
    """Typical latency of ib_write_lat; runs by duration have no typical column, then the average."""
    header = next((line for line in text.splitlines() if line.lstrip().startswith("#bytes")), "")
    names = re.findall(r"#?[\w.%]+(?: percentile)?(?:\[\w+/?\w*\])?", header)
    rows = _data_rows(text, 2)
    for wanted in ("t_typical", "t_avg"):
        for column, name in enumerate(names):
            if name.startswith(wanted) and rows and column < len(rows[-1]) and math.isfinite(rows[-1][column]):
                return rows[-1][column]
    return None
