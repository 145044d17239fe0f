"""One simulated Spark: its directory, its power, its network, its programs."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import shutil
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stellwerk.model.errors import StellwerkError
from stellwerk.virtual import hardware, manager, simroot, units
from stellwerk.virtual.hardware import Hardware
from stellwerk.virtual.manager import Manager
from stellwerk.virtual.metrics import Metrics
from stellwerk.virtual.network import NodeNetwork
from stellwerk.virtual.process import NodeInit, NodeProcess
from stellwerk.virtual.tree import Tree

LOG_LENGTH = 500
_ONNODE = Path(__file__).parent / "onnode"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One command that the node was asked to run, or one thing that happened to it."""

    at: float
    what: str
    argv: tuple[str, ...]
    root: bool = False


def system_python() -> Path:
    """The interpreter of the system, never that of the desktop's virtual environment."""
    for candidate in ("/usr/bin/python3", "/usr/local/bin/python3"):
        if Path(candidate).exists():
            return Path(candidate).resolve()
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


class Machine:
    """A node. `changed` is called after everything that other nodes or the files in /sys may see."""

    def __init__(self, number: int, cluster_dir: Path, python: Path, changed: Callable[[], None]) -> None:
        self.hardware: Hardware = hardware.spark(number)
        self.dir = cluster_dir / self.hardware.name
        self.home = self.dir / "home"
        self.root = self.dir / "root"
        self.bin = self.dir / "bin"
        self.cluster_dir = cluster_dir
        self.python = python
        self.changed = changed
        self.tree = Tree(self.root)
        self.network = NodeNetwork(self.hardware, lambda key: self.tree.number(f"/proc/sys/{key}"))
        self.manager = Manager(self.network, changed)
        self.units = units.Units(self)
        self.metrics = Metrics(self)
        self.init: NodeInit | None = None
        self.password = secrets.token_urlsafe(9)
        self.sudo_password = self.password
        self.sudo_mode = "password"  # password | nopasswd | none
        self.sudo_cached = False
        self.disk_full = False
        self.clock_offset_s = 0.0
        self.management_address = self.hardware.lan_address  # where people know it to be
        self.refuse_ssh_until = 0.0  # on the event loop's clock
        self.host_key_private = b""
        self.boot_id = ""
        self.booted_at = 0.0
        self.address = ""  # loopback address and port of its SSH server
        self.port = 0
        self.log: deque[LogEntry] = deque(maxlen=LOG_LENGTH)

    @property
    def name(self) -> str:
        return self.hardware.name

    @property
    def powered(self) -> bool:
        return self.init is not None and self.init.running

    @property
    def reachable(self) -> bool:
        """Whether somebody on the home LAN gets to the address under which the node is known there."""
        interface = self.network.interfaces[hardware.MANAGEMENT]
        return (
            self.powered
            and interface.running
            and any(str(entry.ip) == self.management_address for entry in interface.addresses4)
        )

    def note(self, what: str, argv: Sequence[str] = (), *, root: bool = False) -> None:
        """Keep what happened, for `state` and for tests."""
        self.log.append(LogEntry(time.time(), what, tuple(argv), root))

    def install(self, host_key: Callable[[], tuple[bytes, str]], tools: Mapping[str, Path]) -> None:
        """A fresh machine: empty home, stock files, new machine id and host key."""
        self.tree.close()
        self.tree = Tree(self.root)
        for directory in (self.home, self.root, self.bin):
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
        self.home.chmod(0o750)
        self.dir.chmod(0o700)
        (self.dir / "node.json").write_text(f'{{"name": "{self.name}"}}\n')
        self._fill_bin(tools)
        private, public = host_key()
        self.host_key_private = private
        identity = simroot.Identity(uuid.uuid4().hex, public)
        simroot.write_installation(self.tree, self.hardware, identity)

    def _fill_bin(self, tools: Mapping[str, Path]) -> None:
        shim = self.bin / ".shim"
        text = (_ONNODE / "shim.py").read_text("utf-8")
        shim.write_text(f"#!{self.python} -IS\n{text}", "utf-8")
        shim.chmod(0o755)
        (self.bin / "python3").symlink_to(self.python)
        (self.bin / "sh").symlink_to("/bin/sh")
        for name, target in tools.items():
            (self.bin / name).symlink_to(target)

    def environment(self) -> dict[str, str]:
        """What a login session of the user gets."""
        options = [
            "--root", str(self.root),
            "--hear-carrier", f"unix:{self.dir / 'carrier'}",
            "--address-map", str(self.cluster_dir / "address-map.json"),
        ]  # fmt: skip
        return {
            "HOME": str(self.home),
            "USER": hardware.USER,
            "LOGNAME": hardware.USER,
            "SHELL": "/bin/sh",
            "PATH": str(self.bin),
            "LANG": "C.UTF-8",
            "STELLWERK_AGENT_OPTIONS": shlex.join(options),
        }

    def root_environment(self, *, by_sudo: bool = True) -> dict[str, str]:
        """What sudo or systemd gives a program of root."""
        base = {"PATH": str(self.bin), "LANG": "C.UTF-8"}
        if not by_sudo:
            return base
        who = {"SUDO_UID": str(os.getuid()), "SUDO_GID": str(os.getgid()), "SUDO_USER": hardware.USER}
        return {**base, **who, "HOME": str(self.root / "root"), "USER": "root", "LOGNAME": "root", "SHELL": "/bin/sh"}

    def lookup_program(self, name: str) -> Path | None:
        """Where the node's PATH has a program; a path with a slash is taken as it is."""
        path = Path(name) if "/" in name else self.bin / name
        return path if os.access(path, os.X_OK) and path.is_file() else None

    async def power_on(self) -> None:
        """Boot: kernel, units that come before the network, network, the other units."""
        if self.powered:
            return
        self.init = NodeInit.start(self.python, self.cluster_dir / "sbin" / "init.py", self.dir)
        if self.disk_full:
            self.init.limit_files(0)
        self.boot_id = str(uuid.uuid4())
        self.booted_at = time.monotonic()
        self.sudo_cached = False
        self.metrics.boot(self.booted_at)
        self.network.reset()
        simroot.write_boot(self.tree, self.hardware, self.boot_id)
        self.metrics.tick(self.booted_at, time.time())
        self.note("boot")
        await self.units.run_early()
        self.generate_netplan()
        self.manager.reload()
        self.changed()  # carriers first: an interface without one is not configured
        self.manager.bring_up_all()
        await self.units.run_late()

    async def power_off(self) -> None:
        """Pull the plug: every process dies, nothing is written any more."""
        if self.init is None:
            return
        self.note("power off")
        init, self.init = self.init, None
        self.manager.reset()
        self.units.reset()
        await init.halt()
        self.network.reset()
        self.changed()

    def generate_netplan(self) -> None:
        """At boot netplan's generator runs; files that it refuses leave the interfaces without their profiles."""
        try:
            self.manager.generated = manager.generate(self.root, self.root)
        except ValueError as error:
            self.note(f"netplan generate refused: {error}")

    async def apply_netplan(self) -> None:
        """What `netplan apply` does, waited for. Without power the next boot does it."""
        if not self.powered:
            return
        self.generate_netplan()
        self.manager.reload()
        changed = [p for p in self.manager.profiles.values() if self.manager.active.get(p.interface) != p]
        await asyncio.gather(*(self.manager.activated(profile) for profile in changed))

    async def spawn(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        fds: tuple[int, int, int],
        *,
        cwd: Path | None = None,
        root: bool = False,
        tty: bool = False,
    ) -> NodeProcess:
        """Run a program on the node. Raises `StellwerkError` when it has no power."""
        if self.init is None:
            raise StellwerkError("the simulated machine has no power", node=self.name)
        return await self.init.spawn(argv, env, cwd or self.home, fds, root=root, tty=tty)

    async def start_as_root(self, argv: Sequence[str], log: Path, env: Mapping[str, str] | None = None) -> NodeProcess:
        """Start a unit's program as a child of the node's first process."""
        log.parent.mkdir(parents=True, exist_ok=True)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            environment = {**self.root_environment(by_sudo=False), **(env or {})}
            return await self.spawn(argv, environment, (nothing, output, output), cwd=Path("/"), root=True)
        finally:
            os.close(nothing)
            os.close(output)
