"""`hear`: finds out what is at the other end of every cable, by saying something on it and listening.

IPv6 link-local multicast where an interface has such an address, IPv4 multicast where it has an IPv4 address: both need
no root. Raw frames through sudo where that needs no question: they need no address, and hear switches (LLDP, spanning
tree) as well. An interface that is down is brought up only when that was allowed, and put back.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.fabric import Heard, HearReport, HearState, LldpNeighbour
from stellwerk.model.facts import NetDevice, RdmaDevice
from stellwerk.model.text import joined, say
from stellwerk_agent import commands, hear_ports, hearing_raw
from stellwerk_agent.hear_frames import Said, build_payload
from stellwerk_agent.options import Options
from stellwerk_agent.probes import host, net, rdma
from stellwerk_agent.reading import Reader, clean
from stellwerk_agent.rpc import Call, Registry
from stellwerk_agent.sudo import Sudo
from stellwerk_agent.verify import check_device

MIN_SECONDS = 0.5
MAX_SECONDS = 60.0
MAX_INTERFACES = 32
MAX_HEARD = 64  # per interface
PROGRESS_S = 1.0


@dataclass(frozen=True, slots=True)
class Hear:
    seconds: float
    netdevs: tuple[str, ...] | None = None
    token: str = ""
    bring_up: bool = False


class Round:
    """What one round of listening has heard so far. Called from the listening thread and from the loop."""

    def __init__(self, node_id: str, hostname: str) -> None:
        self.node_id = node_id
        self.hostname = hostname
        self._lock = threading.Lock()
        self._heard: dict[tuple[str, str, str, str], Heard] = {}
        self._lldp: dict[str, LldpNeighbour] = {}
        self._bpdu: set[str] = set()
        self._problems: dict[str, dict[str, str | None]] = {}
        self._started = time.monotonic()

    def take(self, event: hear_ports.Event) -> None:
        """Keep what was heard. An interface that hears itself has heard nobody."""
        with self._lock:
            if event.lldp is not None:
                self._lldp[event.netdev] = event.lldp
            elif event.bpdu:
                self._bpdu.add(event.netdev)
            elif event.said is not None:
                self._take_said(event, event.said)

    def _take_said(self, event: hear_ports.Event, said: Said) -> None:
        if (said.node_id, said.netdev) == (self.node_id, event.netdev):
            return
        key = (event.netdev, said.node_id, said.netdev, event.kind)
        known = self._heard.get(key)
        if known is not None:
            self._heard[key] = replace(known, frames=known.frames + 1, remote_token=said.token)
        elif sum(netdev == event.netdev for netdev, *_ in self._heard) < MAX_HEARD:
            self._heard[key] = Heard(
                netdev=event.netdev,
                remote_node_id=said.node_id,
                remote_hostname=said.hostname,
                remote_netdev=said.netdev,
                remote_mac=said.mac.lower(),
                carrier=event.kind,
                remote_token=said.token,
            )

    def note(self, netdev: str, kind: str, problem: str | None) -> None:
        """Remember how a way on an interface went: None when it could be used."""
        with self._lock:
            self._problems.setdefault(netdev, {})[kind] = problem

    def add_lldp(self, neighbours: Iterable[LldpNeighbour]) -> None:
        """Switches that another program has heard."""
        with self._lock:
            for neighbour in neighbours:
                self._lldp.setdefault(neighbour.netdev, neighbour)

    def report(self, devices: Iterable[NetDevice], raw: RawWay) -> HearReport:
        """All that is known now."""
        with self._lock:
            neighbours = {h.netdev for h in self._heard.values() if h.remote_node_id != self.node_id}
            states = tuple(judge_state(d, d.name in neighbours, self._problems.get(d.name, {}), raw) for d in devices)
            return HearReport(
                node_id=self.node_id,
                hostname=self.hostname,
                states=states,
                heard=tuple(self._heard[key] for key in sorted(self._heard)),
                lldp=tuple(self._lldp[name] for name in sorted(self._lldp)),
                bpdu=tuple(sorted(self._bpdu)),
                seconds=time.monotonic() - self._started,
            )


@dataclass(frozen=True, slots=True)
class RawWay:
    """Whether raw frames can be used: `why` says why not."""

    usable: bool
    bring_up: bool = False
    why: str = ""


WORDS = {
    "no-link-local": say("it has no IPv6 link-local address"),
    "no-ipv4": say("it has no IPv4 address"),
    "down": say("it is down"),
    "no-carrier": say("it has no carrier"),
    "needs-sudo": say("raw frames need the sudo password"),
}


def judge_state(device: NetDevice, heard: bool, problems: Mapping[str, str | None], raw: RawWay) -> HearState:
    """How listening went on one interface, in the words of `HearState`."""
    if heard:
        return HearState(device.name, "heard")
    if any(problem is None for problem in problems.values()):
        if problems.get(hear_ports.RAW, "unused") is None:
            return HearState(device.name, "silent", "nobody answered on this wire")
        why = "nobody answered on this wire; without root a firewall at either end may hide who is there"
        return HearState(device.name, "silent", why)
    reasons = set(problems.values())
    if device.admin_up is False and not (raw.usable and raw.bring_up):
        if raw.bring_up:
            return HearState(
                device.name,
                "needs-sudo",
                say("the interface is down, and bringing it up needs root: {why}", why=raw.why),
            )
        return HearState(device.name, "down", "the interface is switched off; it may be brought up for the test")
    if device.carrier is False or "no-carrier" in reasons:
        return HearState(device.name, "no-carrier", "no signal: no cable, or the other end is off")
    if "down" in reasons:
        return HearState(device.name, "down", "the interface is switched off")
    words = dict.fromkeys(WORDS.get(problem, problem) for problem in problems.values() if problem is not None)
    why = joined(words, "; ")
    if not raw.usable:
        return HearState(device.name, "needs-sudo", joined([part for part in (why, raw.why) if part], "; "))
    return HearState(device.name, "failed", why or say("nothing could be sent"))


class Hearing:
    """The `hear` method."""

    def __init__(self, options: Options, sudo: Sudo) -> None:
        self._options = options
        self._sudo = sudo
        self._one_at_a_time = asyncio.Lock()

    def register(self, registry: Registry) -> None:
        registry.add("hear", Hear, self._hear, deadline_s=MAX_SECONDS + 60.0)

    async def _hear(self, call: Call, params: Hear) -> HearReport:
        if not MIN_SECONDS <= params.seconds <= MAX_SECONDS:
            raise BadInput(
                say(
                    "seconds is between {min_seconds} and {max_seconds}",
                    min_seconds=f"{MIN_SECONDS:g}",
                    max_seconds=f"{MAX_SECONDS:g}",
                )
            )
        async with self._one_at_a_time:
            return await self._listen(call, params)

    async def _listen(self, call: Call, params: Hear) -> HearReport:
        reader = Reader(self._options.root)
        devices = await self._choose(reader, params.netdevs, call.connection.context.ssh_connection)
        raw = await self._raw_way(params.bring_up)
        heard = Round(host.node_id(reader, self._options.state_dir), host.hostname(reader))
        work = [
            asyncio.create_task(self._listen_as_user(heard, devices, params)),
            asyncio.create_task(self._ask_lldpd(heard, devices)),
        ]
        if raw.usable:
            work.append(asyncio.create_task(self._listen_as_root(heard, devices, params)))
        try:
            waiting: set[asyncio.Task[None]] = set(work)
            while waiting:
                done, waiting = await asyncio.wait(waiting, timeout=PROGRESS_S, return_when=asyncio.FIRST_EXCEPTION)
                for task in done:
                    task.result()
                call.progress(heard.report(devices, raw))
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
        return heard.report(devices, raw)

    async def _choose(self, reader: Reader, names: tuple[str, ...] | None, ssh: str | None) -> list[NetDevice]:
        """The interfaces asked for, else those with an RDMA device, else every Ethernet one but the session's."""
        links = await net.ip_json(reader, "addresses", "addr", "show")
        devices = net.with_addresses(await asyncio.to_thread(net.read_netdevs, reader), links)
        if names is not None:
            wanted = [check_device(name) for name in names[:MAX_INTERFACES]]
            known = {device.name: device for device in devices}
            return [known.get(name, NetDevice(name)) for name in wanted]
        adapters: tuple[RdmaDevice, ...] = await asyncio.to_thread(rdma.read_rdma, reader, await rdma.netdev_hints())
        with_rdma = {adapter.netdev for adapter in adapters}
        session = net.session_route(ssh, devices).device
        ethernet = [d for d in devices if d.kind == "ethernet" and d.name != session]
        return ([d for d in devices if d.name in with_rdma] or ethernet)[:MAX_INTERFACES]

    async def _raw_way(self, bring_up: bool) -> RawWay:
        state = await self._sudo.state()
        if state.state in ("root", "nopasswd") or state.unlocked:
            return RawWay(True, bring_up)
        why = say("needs the sudo password") if state.state == "password" else state.why or say("root cannot be had")
        return RawWay(False, bring_up, why)

    async def _listen_as_user(self, heard: Round, devices: list[NetDevice], params: Hear) -> None:
        ports: list[hear_ports.Port] = []
        payloads: dict[str, bytes] = {}
        stop = threading.Event()
        try:
            for device in devices:
                said = Said(heard.node_id, heard.hostname, device.name, device.mac or "", params.token)
                payloads[device.name] = build_payload(said)
                ports += self._open_as_user(heard, device)
            listening = asyncio.create_task(
                asyncio.to_thread(hear_ports.exchange, ports, payloads, params.seconds, heard.take, stop.is_set)
            )
            try:
                await asyncio.shield(listening)
            finally:
                stop.set()
                await listening  # the ports must not be closed under the thread
            for port in ports:
                heard.note(port.netdev, port.kind, port.problem)
        finally:
            for port in ports:
                port.close()

    def _open_as_user(self, heard: Round, device: NetDevice) -> list[hear_ports.Port]:
        found: list[hear_ports.Port] = []
        for kind in (hear_ports.IPV6, hear_ports.IPV4):
            if self._options.hear_carrier == "sockets":
                missing = _missing_address(device, kind)
                if missing is not None:
                    heard.note(device.name, kind, missing)
                    continue
            try:
                found.append(hear_ports.open_port(self._options.hear_carrier, device.name, device.index or 0, kind))
            except OSError as error:
                heard.note(device.name, kind, hear_ports.word_for(error, kind))
        return found

    async def _listen_as_root(self, heard: Round, devices: list[NetDevice], params: Hear) -> None:
        args = ["--seconds", str(params.seconds), "--hear-carrier", self._options.hear_carrier]
        if params.bring_up:
            args.append("--bring-up")
        pairs = [f"{device.name}={device.mac}" for device in devices if device.mac]
        if not pairs:
            return
        asked = {"node_id": heard.node_id, "hostname": heard.hostname, "token": params.token}
        try:
            async with self._sudo.root_process("hear-raw", [*args, *pairs]) as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(json.dumps(asked).encode() + b"\n")
                async for line in process.stdout:
                    event, state = hearing_raw.read_line(line)
                    if event is not None:
                        heard.take(event)
                    elif state is not None:
                        heard.note(state[0], hear_ports.RAW, state[1])
        except (StellwerkError, OSError, ValueError) as error:
            # The other ways go on: what root could not do is a reason beside theirs.
            for device in devices:
                heard.note(device.name, hear_ports.RAW, f"raw frames: {clean(str(error))}")

    async def _ask_lldpd(self, heard: Round, devices: list[NetDevice]) -> None:
        if commands.find("lldpctl"):
            result = await commands.run(["lldpctl", "-f", "json"])
            if result.ok:
                names = {device.name for device in devices}
                heard.add_lldp(n for n in parse_lldpctl(result.out) if n.netdev in names)


def _missing_address(device: NetDevice, kind: str) -> str | None:
    """Why multicast of a kind cannot be used, by what is known of the interface."""
    if device.index is None:
        return "there is no such interface"
    if device.admin_up is False:
        return "down"
    if kind == hear_ports.IPV6:
        return None if device.link_local6 else "no-link-local"
    return None if any(":" not in address for address in device.addresses) else "no-ipv4"


def parse_lldpctl(text: str) -> list[LldpNeighbour]:
    """`lldpctl -f json`: one or several interfaces, each an object of name -> neighbour."""
    try:
        top = json.loads(text)["lldp"]["interface"]
    except (ValueError, KeyError, TypeError):
        return []
    found: list[LldpNeighbour] = []
    for group in top if isinstance(top, list) else [top]:
        for name, body in group.items() if isinstance(group, dict) else ():
            neighbour = _lldpctl_neighbour(str(name), body)
            if neighbour is not None:
                found.append(neighbour)
    return found


def _lldpctl_neighbour(netdev: str, body: Any) -> LldpNeighbour | None:
    if (
        not isinstance(body, dict)
        or not isinstance(body.get("chassis"), dict)
        or not isinstance(body.get("port"), dict)
    ):
        return None
    chassis, system = body["chassis"], None
    if "id" not in chassis and len(chassis) == 1:  # {"switch-name": {"id": …}}
        system, chassis = next(iter(chassis.items()))
    chassis_id, port_id = _lldpctl_value(chassis, "id"), _lldpctl_value(body["port"], "id")
    if chassis_id is None or port_id is None:
        return None
    described = _lldpctl_value(body["port"], "descr")
    return LldpNeighbour(clean(netdev), chassis_id, port_id, clean(str(system)) if system else None, described)


def _lldpctl_value(body: Any, name: str) -> str | None:
    value = body.get(name) if isinstance(body, dict) else None
    if isinstance(value, dict):
        value = value.get("value")
    return clean(value)[:128] or None if isinstance(value, str) else None
