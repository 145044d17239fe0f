"""The part of cable discovery that runs as root: raw frames, and interfaces that are brought up for it and put back.

`root hear-raw --seconds N [--hear-carrier C] [--root DIR] [--bring-up] IF=MAC …`. The first line of stdin is a JSON
object {node_id, hostname, token}; the end of stdin ends the run. On stdout one JSON object a line: {"heard": …},
{"lldp": …}, {"bpdu": IF}, and at the end {"state": IF, "problem": null or why}.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from stellwerk import wire
from stellwerk.model.errors import BadInput
from stellwerk.model.fabric import LldpNeighbour
from stellwerk_agent import hear_ports
from stellwerk_agent.hear_frames import Said, build_payload
from stellwerk_agent.reading import Reader
from stellwerk_agent.verify import check_device

MAX_SECONDS = 120.0
MAX_INTERFACES = 64
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
CARRIER_LIMIT_S = 6.0  # a 200G link needs some seconds of training after it was brought up


class _Ended(Exception):
    """A signal asks to end; what was brought up is put back first."""


def main(argv: Sequence[str]) -> int:
    """Run one round. Exit code 0; trouble with single interfaces is told on stdout."""
    parser = argparse.ArgumentParser(prog="agent root hear-raw", allow_abbrev=False)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--hear-carrier", default="sockets")
    parser.add_argument("--root", type=Path, default=Path("/"))
    parser.add_argument("--bring-up", action="store_true")
    parser.add_argument("interfaces", nargs="+", metavar="IF=MAC")
    values = parser.parse_args(list(argv))
    macs = dict(_interface(text) for text in values.interfaces[:MAX_INTERFACES])
    asked = json.loads(sys.stdin.readline(wire.MAX_LINE_BYTES))
    for number in ENDING:
        signal.signal(number, _end)
    try:
        _run(Reader(values.root), values.hear_carrier, macs, asked, min(values.seconds, MAX_SECONDS), values.bring_up)
    except (_Ended, BrokenPipeError):
        return 0
    return 0


def _end(number: int, frame: Any) -> None:
    _ignore_signals()  # a second one must not interrupt the putting back
    raise _Ended


def _ignore_signals() -> None:
    for number in ENDING:
        signal.signal(number, signal.SIG_IGN)


def _interface(text: str) -> tuple[str, str]:
    name, _, mac = text.partition("=")
    return check_device(name), mac


def _run(
    reader: Reader, carrier: str, macs: dict[str, str], asked: dict[str, Any], seconds: float, bring_up: bool
) -> None:
    problems: dict[str, str] = {}
    ports: list[hear_ports.Port] = []
    with ExitStack() as stack:
        if bring_up:
            raised = [name for name in macs if _bring_up(reader, name, stack, problems)]
            _wait_for_carriers(reader, raised)
        for name, mac in macs.items():
            try:
                opened = hear_ports.open_raw_ports(carrier, name, mac)
            except OSError as error:
                problems.setdefault(name, hear_ports.word_for(error, hear_ports.RAW))
                continue
            except ValueError as error:
                problems.setdefault(name, str(error))
                continue
            for port in opened:
                stack.callback(port.close)
            ports += opened
        words = {key: str(asked.get(key, "")) for key in ("node_id", "hostname", "token")}
        payloads = {name: build_payload(Said(netdev=name, mac=mac, **words)) for name, mac in macs.items()}
        hear_ports.exchange(ports, payloads, seconds, _tell, lambda: False, stop_fd=sys.stdin.fileno())
        _ignore_signals()
        for port in ports:
            if port.problem is not None:
                problems.setdefault(port.netdev, port.problem)
        for name in macs:
            _print({"state": name, "problem": problems.get(name)})


def _bring_up(reader: Reader, name: str, stack: ExitStack, problems: dict[str, str]) -> bool:
    """Bring an interface up that is down; leaving the block puts it back."""
    flags = reader.number(f"/sys/class/net/{name}/flags")
    if flags is None or flags & 1:
        return False
    # Registered first: a signal between the two must not leave it up.
    stack.callback(_set_link, name, "down")
    complaint = _set_link(name, "up")
    if complaint:
        problems[name] = f"cannot be brought up: {complaint}"
    return not complaint


def _set_link(name: str, state: str) -> str:
    try:
        done = subprocess.run(
            ["ip", "link", "set", "dev", name, state],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else done.stderr.decode("utf-8", "replace").strip() or "ip failed"


def _wait_for_carriers(reader: Reader, names: list[str]) -> None:
    """Give links that were brought up the time that they need; one without cable never gets a carrier."""
    until = time.monotonic() + CARRIER_LIMIT_S
    while time.monotonic() < until and not all(reader.number(f"/sys/class/net/{n}/carrier") == 1 for n in names):
        time.sleep(0.1)


def _tell(event: hear_ports.Event) -> None:
    if event.said is not None:
        _print({"heard": event.netdev, "said": wire.to_wire(event.said)})
    elif event.lldp is not None:
        _print({"lldp": wire.to_wire(event.lldp)})
    elif event.bpdu:
        _print({"bpdu": event.netdev})


def _print(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def read_line(line: bytes) -> tuple[hear_ports.Event | None, tuple[str, str | None] | None]:
    """What one line of a run's output says: an event, or (interface, problem). Raises `BadInput` for another line."""
    try:
        message = json.loads(line)
        if "heard" in message:
            said = wire.from_wire(Said, message["said"])
            return hear_ports.Event(str(message["heard"]), hear_ports.RAW, said=said), None
        if "lldp" in message:
            lldp = wire.from_wire(LldpNeighbour, message["lldp"])
            return hear_ports.Event(lldp.netdev, hear_ports.RAW, lldp=lldp), None
        if "bpdu" in message:
            return hear_ports.Event(str(message["bpdu"]), hear_ports.RAW, bpdu=True), None
        if "state" in message:
            problem = message["problem"]
            return None, (str(message["state"]), None if problem is None else str(problem))
    except (ValueError, KeyError, TypeError):
        pass
    raise BadInput("the discovery as root said something unexpected")
