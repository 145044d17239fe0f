"""`ping` of iputils, over the simulated wires. Waiting is cut short; what is printed is what was measured there."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from dataclasses import dataclass

from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.reach import Echo

MAX_INTERVAL_S = 0.02  # between two packets, whatever -i says: simulated wires need no rest
MAX_LOSS_WAIT_S = 0.3  # for an answer that does not come, whatever -W says
ICMP_HEADER = 8


@dataclass(slots=True)
class Options:
    """A parsed command line."""

    destination: str = ""
    device: str | None = None
    source: str | None = None
    count: int = 4
    payload: int = 56
    interval_s: float = 1.0
    wait_s: float = 10.0
    dont_fragment: bool = False
    quiet: bool = False


def parse(call: Call) -> Options:
    """Read the command line. Raises `Usage`."""
    options, words = Options(), Words(call.argv)
    numbers = {"-c": "count", "-s": "payload", "-i": "interval_s", "-W": "wait_s", "-w": "deadline"}
    while words:
        word = words.need("", 2)
        if word in numbers:
            value = words.need(f"ping: option requires an argument -- '{word[1:]}'", 2)
            try:
                number = float(value)
            except ValueError:
                raise Usage(f"ping: invalid argument: '{value}'", 1) from None
            if word != "-w":
                setattr(options, numbers[word], int(number) if word in ("-c", "-s") else number)
        elif word == "-I":
            name = words.need("ping: option requires an argument -- 'I'", 2)
            if name in call.machine.network.interfaces:
                options.device = name
            else:
                options.source = name
        elif word == "-M":
            options.dont_fragment = words.need("ping: option requires an argument -- 'M'", 2) in ("do", "probe")
        elif word in ("-n", "-4", "-O", "-D", "-v"):
            continue
        elif word == "-q":
            options.quiet = True
        elif word in ("-t", "-Q", "-m", "-l"):
            words.need(f"ping: option requires an argument -- '{word[1:]}'", 2)
        elif word.startswith("-"):
            raise Usage(f"ping: invalid option -- '{word[1:]}'", 2)
        else:
            options.destination = word
    if not options.destination:
        raise Usage("ping: usage error: Destination address required", 1)
    return options


async def run(call: Call) -> int:
    """ping [-I IF] [-M do] [-s BYTES] [-c COUNT] [-W S] [-i S] ADDRESS"""
    options = parse(call)
    network = call.machine.network
    try:
        target = ipaddress.IPv4Address(options.destination)
    except ValueError:
        raise Usage(f"ping: {options.destination}: Name or service not known", 2) from None
    if options.source is not None:
        try:
            local = network.is_local(ipaddress.IPv4Address(options.source))
        except ValueError:
            raise Usage(f"ping: unknown iface: {options.source}", 2) from None
        if not local:
            raise Usage("ping: bind: Cannot assign requested address", 2)
    if network.lookup(target, options.device) is None and not network.is_local(target):
        raise Usage("ping: connect: Network is unreachable", 2)
    return await _packets(call, options, str(target))


async def _packets(call: Call, options: Options, target: str) -> int:
    started = time.monotonic()
    times: list[float] = []
    errors = 0
    for number in range(1, options.count + 1):
        echo = call.cluster.fabric.ping(
            call.machine.name,
            target,
            payload_bytes=_effective(options),
            device=options.device,
            source=options.source,
        )
        if number == 1:
            origin = f"from {echo.source} {options.device or ''}".rstrip() if options.device or options.source else ""
            call.line(f"PING {target} ({target}) {origin + ': ' if origin else ''}{options.payload}"
                      f"({options.payload + 28}) bytes of data.")  # fmt: skip
        errors += await _one(call, options, target, number, echo, times)
        if number < options.count:
            await asyncio.sleep(min(options.interval_s, MAX_INTERVAL_S))
    passed_ms = int((time.monotonic() - started) * 1000)
    _summary(call, options, target, times, errors, passed_ms)
    call.cluster.load.count_pings(call.machine.name, options.device, target, options.count, options.payload)
    return 0 if times else 1


def _effective(options: Options) -> int:
    # Without don't-fragment a packet is cut into pieces that fit: as good as a small one here.
    return options.payload if options.dont_fragment else min(options.payload, 56)


async def _one(call: Call, options: Options, target: str, number: int, echo: Echo, times: list[float]) -> int:
    """Report one packet; returns 1 for one that ended in an error message."""
    if echo.problem is None:
        times.append(echo.rtt_ms)
        if not options.quiet:
            ttl = 64 - echo.hops
            call.line(f"{options.payload + ICMP_HEADER} bytes from {target}: icmp_seq={number} ttl={ttl} "
                      f"time={echo.rtt_ms:.3g} ms")  # fmt: skip
        return 0
    if echo.problem == "too-long":
        call.err(f"ping: local error: message too long, mtu={echo.mtu}")
        return 1
    await asyncio.sleep(min(options.wait_s, MAX_LOSS_WAIT_S))
    if echo.problem == "unreachable":
        call.line(f"From {echo.source or target} icmp_seq={number} Destination Host Unreachable")
        return 1
    return 0


def _summary(call: Call, options: Options, target: str, times: list[float], errors: int, passed_ms: int) -> None:
    lost = 100 * (options.count - len(times)) / options.count if options.count else 0
    said = f"+{errors} errors, " if errors else ""
    call.line(f"\n--- {target} ping statistics ---")
    call.line(f"{options.count} packets transmitted, {len(times)} received, {said}{lost:.6g}% packet loss, "
              f"time {passed_ms}ms")  # fmt: skip
    if times:
        mean = sum(times) / len(times)
        spread = (sum((t - mean) ** 2 for t in times) / len(times)) ** 0.5
        call.line(f"rtt min/avg/max/mdev = {min(times):.3f}/{mean:.3f}/{max(times):.3f}/{spread:.3f} ms")
