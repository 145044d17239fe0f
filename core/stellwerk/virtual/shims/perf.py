"""`ib_write_bw` and `ib_write_lat` of perftest: a server waits for its client, figures come from the traffic model."""

from __future__ import annotations

import asyncio
import hashlib
import ipaddress
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stellwerk.virtual import simroot
from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.hardware import HalfSpec

RULE = "-" * 87
ONE_WAY_US = 1.42
SWITCH_US = 0.55


@dataclass(slots=True)
class Request:
    """A parsed command line."""

    device: str = "rocep1s0f0"
    ib_port: int = 1
    port: int = 18515
    gid_index: int | None = None
    size: int = 65536
    iterations: int = 5000
    duration_s: float | None = None
    report_gbits: bool = False
    infinite: bool = False
    server: str | None = None


@dataclass(slots=True)
class Waiting:
    """A server that listens."""

    call: Call
    half: HalfSpec
    request: Request
    client: asyncio.Future[str]  # the result block to print


_WITH_VALUE = {"-d": "device", "--ib-dev": "device", "-i": "ib_port", "--ib-port": "ib_port", "-p": "port",
               "--port": "port", "-x": "gid_index", "--gid-index": "gid_index", "-s": "size", "--size": "size",
               "-n": "iterations", "--iters": "iterations", "-D": "duration_s", "--duration": "duration_s"}  # fmt: skip
_KINDS: dict[str, Callable[[str], object]] = {"device": str, "duration_s": float}
_IGNORED = ("-F", "--CPU-freq", "-b", "-R", "-a", "--all")
_IGNORED_WITH_VALUE = ("-q", "--qp", "-m", "--mtu", "-t", "-Q", "--tclass", "-T")


def parse(call: Call) -> Request:
    """Read the command line. Raises `Usage`."""
    request, words = Request(), Words(call.argv)
    if call.name == "ib_write_lat":
        request.size, request.iterations = 2, 1000
    while words:
        word = words.need("", 1)
        name, equals, inline = word.partition("=")
        if name in _WITH_VALUE:
            value = inline if equals else words.need(f"{call.name}: option requires an argument -- '{name}'", 1)
            field = _WITH_VALUE[name]
            try:
                setattr(
                    request,
                    field,
                    value if field == "device" else float(value) if field == "duration_s" else int(value),
                )
            except ValueError:
                raise Usage(f" Invalid value {value!r} for {name}", 1) from None
        elif word == "--report_gbits":
            request.report_gbits = True
        elif word == "--run_infinitely":
            request.infinite = True
        elif word in _IGNORED_WITH_VALUE:
            words.need("", 1)
        elif word not in _IGNORED and word.startswith("-"):
            raise Usage(f"{call.name}: unrecognized option '{word}'", 1)
        elif not word.startswith("-"):
            request.server = word
    return request


async def run(call: Call) -> int:
    """One end of a measurement."""
    request = parse(call)
    half = call.machine.hardware.half_of_device(request.device)
    if half is None:
        raise Usage(f"IB device {request.device} not found\n Unable to find the Infiniband/RoCE device", 1)
    interface = call.machine.network.interfaces[half.netdev]
    if not interface.running:
        raise Usage(f" Port number {request.ib_port} state is Down\n Couldn't set the link layer\n"
                    " Couldn't get context for the device", 1)  # fmt: skip
    _gid(call, half, request)
    call.machine.note(call.name, call.argv)
    return await (_serve(call, half, request) if request.server is None else _connect(call, half, request))


def _gid(call: Call, half: HalfSpec, request: Request) -> tuple[int, str]:
    """Index and text of the GID in use; perftest takes the last RoCE v2 entry when none is named."""
    table = simroot.gid_table(call.machine.network.interfaces[half.netdev])
    index = request.gid_index
    if index is None:
        usable = [at for at, (_, kind) in enumerate(table) if kind == "RoCE v2"]
        index = usable[-1] if usable else 0
    if index >= len(table):
        raise Usage(f" Failed to query GID index {index}: the entry is empty\n Failed to modify QP to RTR", 1)
    return index, table[index][0]


async def _serve(call: Call, half: HalfSpec, request: Request) -> int:
    key = (call.machine.name, request.port)
    if key in call.cluster.perf_servers:
        raise Usage(f"Unable to bind to port {request.port}: Address already in use\n Couldn't listen to port "
                    f"{request.port}", 1)  # fmt: skip
    waiting = Waiting(call, half, request, asyncio.get_running_loop().create_future())
    call.cluster.perf_servers[key] = waiting
    call.out("\n************************************\n* Waiting for client to connect... *\n"
             "************************************\n")  # fmt: skip
    await call.drain()
    gone = asyncio.create_task(call.until_gone())
    try:
        both: list[asyncio.Future[Any]] = [gone, waiting.client]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        if not waiting.client.done():
            return 1
        call.out(waiting.client.result())
        return 0
    finally:
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        if call.cluster.perf_servers.get(key) is waiting:
            del call.cluster.perf_servers[key]


async def _connect(call: Call, half: HalfSpec, request: Request) -> int:
    assert request.server is not None
    refused = f"Couldn't connect to {request.server}:{request.port}\nUnable to open file descriptor for socket " \
              "connection Unable to init the socket connection"  # fmt: skip
    try:
        target = ipaddress.IPv4Address(request.server)
    except ValueError:
        raise Usage(refused, 1) from None
    fabric, node = call.cluster.fabric, call.machine.name
    echo = fabric.ping(node, str(target), payload_bytes=36)
    owner = next((name for name, network in fabric.nodes.items() if network.is_local(target)), None)
    waiting = call.cluster.perf_servers.get((owner or "", request.port))
    if echo.problem is not None or waiting is None or waiting.client.done():
        raise Usage(refused, 1)
    del call.cluster.perf_servers[(waiting.call.machine.name, request.port)]
    head = _head(call, half, request, waiting)
    problem = _qp_problem(call, half, waiting)
    if problem is not None:
        waiting.client.set_result(head + problem)
        call.out(head)
        raise Usage(problem, 1)
    call.out(head)
    await call.drain()
    if call.name == "ib_write_lat":
        result = await _latency(call, request, waiting)
    else:
        result = await _bandwidth(call, half, request, waiting)
    call.out(result)
    if not waiting.client.done():
        waiting.client.set_result(head + result)
    return 0


def _qp_problem(call: Call, half: HalfSpec, waiting: Waiting) -> str | None:
    """RoCE takes the destination MAC from the neighbour table: the twin's MAC there means no answer ever."""
    network, peer = call.machine.network, waiting.call.machine
    interface = network.interfaces[half.netdev]
    there = peer.network.interfaces[waiting.half.netdev]
    if not interface.addresses4 or not there.addresses4:
        return " Failed to modify QP 295 to RTR: the GID has no route\n Unable to Connect the HCA's through the link"
    own, target = interface.addresses4[0].ip, there.addresses4[0].ip
    mac = call.cluster.fabric.resolve(call.machine.name, half.netdev, target, own)
    if mac != there.mac:
        return (" Completion with error at client\n Failed status 12: wr_id 0 syndrom 0x81\nscnt=128, ccnt=0\n"
                " Failed to complete run_iter_bw function successfully")  # fmt: skip
    return None


def rdma_mtu(mtu: int) -> int:
    """The RDMA MTU that fits into an Ethernet MTU."""
    return 4096 if mtu >= 4096 + 90 else 2048 if mtu >= 2048 + 90 else 1024


def _common_mtu(call: Call, half: HalfSpec, waiting: Waiting) -> int:
    mine = call.machine.network.interfaces[half.netdev].mtu
    theirs = waiting.call.machine.network.interfaces[waiting.half.netdev].mtu
    return rdma_mtu(min(mine, theirs))


async def _bandwidth(call: Call, half: HalfSpec, request: Request, waiting: Waiting) -> str:
    peer = waiting.call.machine
    flow = call.cluster.load.rdma_flow((call.machine.name, half.netdev), (peer.name, waiting.half.netdev),
                                  _common_mtu(call, half, waiting))  # fmt: skip
    head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]    MsgRate[Mpps]\n"
    if not request.report_gbits:
        head = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
    asked_s = request.duration_s if request.duration_s is not None else request.iterations * request.size * 8 / 97e9
    traffic = call.cluster.load.traffic
    started = time.monotonic()
    traffic.add(flow, started)
    try:
        while True:
            begun, before = time.monotonic(), flow.moved_bytes
            await asyncio.sleep(min(asked_s, call.cluster.perf_run_s))
            now = time.monotonic()
            traffic.advance(now)
            gbps = (flow.moved_bytes - before) * 8 / 1e9 / (now - begun)
            row = _row(request, gbps, asked_s)
            if not request.infinite:
                return head + row + RULE + "\n"
            call.out(head + row)
            head = ""
            await call.drain()
            if call.gone():
                return ""
    finally:
        traffic.remove(flow, time.monotonic())


def _row(request: Request, gbps: float, asked_s: float) -> str:
    messages = request.iterations
    if request.duration_s is not None or request.infinite:
        messages = int(gbps * 1e9 / 8 * asked_s / request.size)
    rate = gbps * 1e9 / 8 / request.size / 1e6
    peak = 0.0 if request.duration_s is not None or request.infinite else gbps + 0.01
    shown, top = (gbps, peak) if request.report_gbits else (gbps * 1e9 / 8 / 2**20, peak * 1e9 / 8 / 2**20)
    return f" {request.size:<10} {messages:<15}{top:.2f}               {shown:.2f}\t\t     {rate:.6f}\n"


async def _latency(call: Call, request: Request, waiting: Waiting) -> str:
    await asyncio.sleep(0.05)
    peer = waiting.call.machine.name
    segment = next((s for s in call.cluster.cables.segments
                    if {call.machine.name, peer} <= {end.node for end in s.ends}), None)  # fmt: skip
    usual = ONE_WAY_US + 0.05 + (SWITCH_US if segment is not None and segment.kind == "switch" else 0.0)
    head = (" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
            "99% percentile[usec]   99.9% percentile[usec]\n")  # fmt: skip
    row = (f" {request.size:<7} {request.iterations:<11} {usual - 0.05:.2f}           {usual + 0.46:.2f}         "
           f"{usual:.2f}                {usual:.2f}             0.00            {usual + 0.10:.2f}                    "
           f"{usual + 0.46:.2f}\n")  # fmt: skip
    return head + row + RULE + "\n"


def _head(call: Call, half: HalfSpec, request: Request, waiting: Waiting) -> str:
    latency = call.name == "ib_write_lat"
    title = "RDMA_Write Latency Test" if latency else "RDMA_Write BW Test"
    index, gid = _gid(call, half, request)
    _, remote = _gid(waiting.call, waiting.half, waiting.request)
    lines = [
        RULE,
        f"                    {title}",
        f" Dual-port       : OFF\t\tDevice         : {half.rdma}",
        " Number of qps   : 1\t\tTransport type : IB",
        " Connection type : RC\t\tUsing SRQ      : OFF",
        " PCIe relax order: ON",
        " ibv_wr* API     : ON",
        f" TX depth        : {1 if latency else 128}",
        *([] if latency else [" CQ Moderation   : 1"]),
        f" Mtu             : {_common_mtu(call, half, waiting)}[B]",
        " Link type       : Ethernet",
        f" GID index       : {index}",
        f" Max inline data : {220 if latency else 0}[B]",
        " rdma_cm QPs\t : OFF",
        " Data ex. method : Ethernet",
        RULE,
        f" local address: {_queue(call.machine.name, half)}",
        f" GID: {_gid_text(gid)}",
        f" remote address: {_queue(waiting.call.machine.name, waiting.half)}",
        f" GID: {_gid_text(remote)}",
        RULE,
    ]
    return "\n".join(lines) + "\n"


def _queue(node: str, half: HalfSpec) -> str:
    digest = hashlib.sha256(f"{node}/{half.rdma}".encode()).hexdigest()
    return f"LID 0000 QPN 0x0{digest[:3]} PSN 0x{digest[3:9]} RKey 0x{digest[9:15]} VAddr 0x00{digest[15:29]}"


def _gid_text(gid: str) -> str:
    return ":".join(f"{byte:02d}" for byte in ipaddress.IPv6Address(gid).packed)
