"""Everything that can be broken in a virtual cluster, and mended again, while it runs.

`KINDS` says what each fault does. A fault is set at once or, with a trigger, later:

    after_s=N            N seconds from now
    on_command="TEXT"    when the node is about to run a simulated command that starts with TEXT ("netplan generate")
    after_command="TEXT" when it has run it
    on_step="TEXT"       when the journal of a guarded change (below /var/lib/stellwerk/guard) gets a line with TEXT

Without `node` a fault meets every node.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import struct
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stellwerk.model.errors import BadInput, StellwerkError
from stellwerk.model.text import say
from stellwerk.virtual import fault_network
from stellwerk.virtual.machine import Machine

if TYPE_CHECKING:
    from stellwerk.virtual.cluster import Cluster

TRIGGERS = ("after_s", "on_command", "after_command", "on_step")
STEP_POLL_S = 0.01
GUARD_DIR = "/var/lib/stellwerk/guard"
AGENT_SOCKET = ".local/state/stellwerk/agent.sock"

Action = Callable[["Cluster", Machine, Mapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fault. Without `clear` it is an event that is over once it has happened."""

    name: str
    text: str
    set: Action
    clear: Action | None = None
    parameters: tuple[str, ...] = ()


@dataclass(slots=True)
class Fault:
    """A fault that is set, or waits for its trigger. `state`: waiting | active | done."""

    kind: str
    node: str
    parameters: dict[str, Any] = field(default_factory=dict)
    trigger: dict[str, Any] = field(default_factory=dict)
    state: str = "waiting"

    def as_dict(self) -> dict[str, Any]:
        """For the control interface."""
        return {"kind": self.kind, "node": self.node, "state": self.state, **self.parameters, **self.trigger}


async def _power_off(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    await cluster.power_off(machine.name)


async def _power_on(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    await cluster.power_on(machine.name)


async def _reboot(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    await cluster.power_off(machine.name)
    await asyncio.sleep(float(parameters.get("down_s", 0.0)))
    await cluster.power_on(machine.name)


async def _reinstall(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    await cluster.reinstall(machine.name)


async def _kill_agent(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Kill whoever listens on the agent's socket: the kernel tells who that is."""
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    with probe:
        try:
            probe.connect(str(machine.home / AGENT_SOCKET))
        except OSError:
            raise BadInput(
                say("no agent runs on {machine}", machine=machine.name), remedy="pair the node first"
            ) from None
        answer = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    if machine.init is not None:
        machine.init.signal(struct.unpack("3i", answer)[0], signal.SIGKILL)


async def _kill_guard(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    """Kill both processes of a running guard, so that nobody on the node takes its change back."""
    found = [p.pid for p in machine.init.processes.values() if _is_guard(p.argv)] if machine.init is not None else []
    if machine.init is None or not found:
        raise BadInput(
            say("no network change is guarded on {machine}", machine=machine.name), remedy="set it with on_step=…"
        )
    for pid in found:
        machine.init.signal(pid, signal.SIGKILL, group=True)


def _is_guard(argv: Sequence[str]) -> bool:
    return "root" in argv and "guard" in argv and "--plan-id" in argv


async def _disk_full(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.disk_full = True
    if machine.init is not None:
        machine.init.limit_files(0)


async def _disk_free(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.disk_full = False
    if machine.init is not None:
        machine.init.limit_files(None)


def _sudo(mode: str) -> Action:
    async def act(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
        machine.sudo_mode = mode
        machine.sudo_cached = False

    return act


async def _other_sudo_password(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.sudo_password = f"{machine.password}-root"
    machine.sudo_cached = False


async def _same_sudo_password(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.sudo_password = machine.password


async def _skew(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.clock_offset_s = float(parameters.get("seconds", 600.0))


async def _right_clock(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.clock_offset_s = 0.0


async def _hide_python(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    (machine.bin / "python3").unlink(missing_ok=True)


async def _show_python(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    if not (machine.bin / "python3").exists():
        (machine.bin / "python3").symlink_to(machine.python)


async def _ssh_drop(cluster: Cluster, machine: Machine, parameters: Mapping[str, Any]) -> None:
    machine.refuse_ssh_until = asyncio.get_running_loop().time() + float(parameters.get("hold_s", 0.0))
    cluster.ssh[machine.name].cut()


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("cable-unplugged", "the cable is out of the port; both ends lose their link",
             fault_network.unplug, fault_network.replug, ("port",)),
        Kind("cable-wrong-port", "the plug is in the node's other port (with both ports in use: the two are swapped)",
             fault_network.swap_ports, fault_network.swap_ports, ("port",)),
        Kind("link-100g", "the link is negotiated at 100 Gb/s instead of 200",
             fault_network.slow_link, fault_network.fast_link, ("port",)),
        Kind("switch-silent", "the switch that the node hangs on does not name itself (no LLDP)",
             fault_network.silence_switch, fault_network.let_switch_speak, ("port",)),
        Kind("half-13g", "one half carries 13 Gb/s, as behind a degraded PCIe link (default: half B)",
             fault_network.slow_half, fault_network.fast_half, ("port", "half")),
        Kind("mtu-reset", "all fabric interfaces are back at MTU 1500, whatever netplan says",
             fault_network.reset_mtu, fault_network.restore_mtu),
        Kind("power-off", "the plug is pulled; everything on the node dies (clearing it powers the node on)",
             _power_off, _power_on),
        Kind("power-on", "the node is switched on", _power_on),
        Kind("reboot", "the node goes down and boots again", _reboot, None, ("down_s",)),
        Kind("reinstall", "a fresh system: other host key and machine id, home and agent are gone", _reinstall),
        Kind("agent-killed", "the agent's daemon is killed", _kill_agent),
        Kind("guard-killed", "netguard is killed while it holds or carries out a change", _kill_guard),
        Kind("disk-full", "nothing can be written: SFTP says so, programs may not write to files",
             _disk_full, _disk_free),
        Kind("sudo-wrong-password", "sudo wants another password than the login",
             _other_sudo_password, _same_sudo_password),
        Kind("sudo-nopasswd", "sudo wants no password", _sudo("nopasswd"), _sudo("password")),
        Kind("sudo-none", "the user is not in the sudoers file", _sudo("none"), _sudo("password")),
        Kind("twins-one-subnet", "both halves of every cabled port have addresses in one subnet, by 40-cx7.yaml",
             fault_network.twins_one_subnet, fault_network.remove_twins_file),
        Kind("link-local-off", "the fabric interfaces have no link-local addresses, by 41-no-link-local.yaml",
             fault_network.link_local_off, fault_network.remove_link_local_file),
        Kind("foreign-netplan", "99-fastlink.yaml sets a fabric half and, statically, the management interface",
             fault_network.foreign_netplan, fault_network.remove_foreign_netplan),
        Kind("clock-skew", "the node's clock is 10 minutes ahead", _skew, _right_clock, ("seconds",)),
        Kind("python-missing", "there is no python3 in the PATH", _hide_python, _show_python),
        Kind("ssh-drop", "every SSH connection is cut; with hold_s new ones are refused for so long",
             _ssh_drop, None, ("hold_s",)),
    )
}  # fmt: skip


class Faults:
    """The faults of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.known: list[Fault] = []
        self._timers: set[asyncio.Task[None]] = set()

    def listed(self) -> list[dict[str, Any]]:
        """All that are active or wait."""
        return [fault.as_dict() for fault in self.known if fault.state != "done"]

    async def set(self, kind: str, node: str | None, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Set a fault, now or by its trigger. Raises `BadInput`."""
        found = _kind(kind)
        own = {k: v for k, v in parameters.items() if k not in TRIGGERS and v is not None}
        trigger = {k: v for k, v in parameters.items() if k in TRIGGERS and v is not None}
        for name in own:
            if name not in found.parameters:
                known = ", ".join((*found.parameters, *TRIGGERS))
                raise BadInput(
                    say("{kind} has no parameter {name}", kind=kind, name=repr(name)),
                    remedy=say("it knows {known}", known=known),
                )
        for machine in self._machines(node):
            fault = Fault(kind, machine.name, own, trigger)
            if not trigger and (same := self._active(fault)) is not None:
                if found.set is not found.clear:  # swapped plugs that are swapped again would be right
                    await self._fire(same)
                continue
            if not trigger:
                await self._fire(fault)
            self.known.append(fault)
            if "after_s" in trigger:
                self._start(self._wait(fault, float(trigger["after_s"])))
            if "on_step" in trigger:
                self._start(self._watch_journal(fault, str(trigger["on_step"]), _lengths(machine)))
        return self.listed()

    async def clear(self, kind: str, node: str | None) -> list[dict[str, Any]]:
        """Mend it. Raises `BadInput` when it is not set."""
        found = _kind(kind)
        names = {machine.name for machine in self._machines(node)}
        matching = [f for f in self.known if f.kind == kind and f.node in names and f.state != "done"]
        if not matching:
            where = (
                say("{kind} is not set on {node}", kind=kind, node=node)
                if node
                else say("{kind} is not set", kind=kind)
            )
            raise BadInput(where)
        for fault in matching:
            if fault.state == "active" and found.clear is not None:
                await found.clear(self.cluster, self.cluster.machine(fault.node), fault.parameters)
            fault.state = "done"
            self.known.remove(fault)
        return self.listed()

    async def before_command(self, machine: Machine, line: str) -> None:
        """A node is about to run a simulated command."""
        await self._on_command("on_command", machine, line)

    async def after_command(self, machine: Machine, line: str) -> None:
        """A node has run a simulated command."""
        await self._on_command("after_command", machine, line)

    async def stop(self) -> None:
        """Nothing fires any more."""
        for task in list(self._timers):
            task.cancel()
        await asyncio.gather(*self._timers, return_exceptions=True)

    async def _on_command(self, trigger: str, machine: Machine, line: str) -> None:
        for fault in list(self.known):
            wanted = fault.trigger.get(trigger)
            waiting = wanted is not None and fault.state == "waiting" and fault.node == machine.name
            if waiting and line.startswith(str(wanted)):
                try:
                    await self._fire(fault)
                except StellwerkError as error:
                    self._complain(error)

    async def _fire(self, fault: Fault) -> None:
        kind = _kind(fault.kind)
        fault.state = "active" if kind.clear is not None else "done"
        machine = self.cluster.machine(fault.node)
        machine.note(f"fault {fault.kind}")
        try:
            await kind.set(self.cluster, machine, fault.parameters)
        except StellwerkError:
            fault.state = "done"
            raise
        if fault.kind == "reinstall":
            self._forget(fault.node, "twins-one-subnet", "link-local-off", "foreign-netplan", "python-missing")
        if fault.kind in ("power-on", "reboot", "reinstall"):
            self._forget(fault.node, "power-off")

    def _active(self, fault: Fault) -> Fault | None:
        """The same fault, set already: it is broken once, and mended once."""
        same = (f for f in self.known if (f.kind, f.node, f.parameters) == (fault.kind, fault.node, fault.parameters))
        return next((f for f in same if f.state == "active"), None)

    def _forget(self, node: str, *kinds: str) -> None:
        """What has happened since took these faults along."""
        self.known = [f for f in self.known if f.node != node or f.kind not in kinds or f.state == "waiting"]

    def _start(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._timers.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._timers.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._complain(error)

    def _complain(self, error: BaseException) -> None:
        """Nobody waits for a fault that a trigger sets: `state` tells what became of it."""
        self.cluster.complaints.append(f"a fault could not be set: {error}")

    async def _wait(self, fault: Fault, seconds: float) -> None:
        await asyncio.sleep(seconds)
        if fault.state == "waiting":
            await self._fire(fault)

    async def _watch_journal(self, fault: Fault, text: str, read: dict[Path, int]) -> None:
        """Journals are only ever appended to: what has been `read` need not be read again."""
        machine = self.cluster.machine(fault.node)
        while fault.state == "waiting":
            for path in _journals(machine):
                start = read.get(path, 0)
                try:
                    with path.open("rb") as stream:
                        stream.seek(start)
                        fresh = stream.read()
                except FileNotFoundError:
                    continue  # netguard has just cleared away a change of long ago
                read[path] = start + fresh.rfind(b"\n") + 1
                if text.encode() in fresh[: fresh.rfind(b"\n") + 1]:
                    await self._fire(fault)
                    return
            await asyncio.sleep(STEP_POLL_S)

    def _machines(self, node: str | None) -> list[Machine]:
        return list(self.cluster.machines.values()) if node is None else [self.cluster.machine(node)]


def _journals(machine: Machine) -> list[Path]:
    """The journals of guarded changes on a node; none at the moment at which netguard clears an old one away."""
    try:
        return list(machine.tree.path(GUARD_DIR).glob("*/journal*"))
    except FileNotFoundError:
        return []


def _lengths(machine: Machine) -> dict[Path, int]:
    """How long the journals are; one that goes between being listed and being looked at has none."""
    found: dict[Path, int] = {}
    for path in _journals(machine):
        with contextlib.suppress(FileNotFoundError):
            found[path] = path.stat().st_size
    return found


def _kind(name: str) -> Kind:
    kind = KINDS.get(name)
    if kind is None:
        raise BadInput(
            say("there is no fault {name}", name=repr(name)), remedy=say("faults are {kinds}", kinds=", ".join(KINDS))
        )
    return kind
