"""systemd on a simulated node, as far as the product uses it: enabled one-shot units at boot, transient units."""

from __future__ import annotations

import re
import shlex
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from stellwerk.virtual.process import NodeProcess

if TYPE_CHECKING:
    from stellwerk.virtual.machine import Machine

UNIT_DIR = "/etc/systemd/system"
_NAME = re.compile(r"[A-Za-z0-9:_.\\@-]+\.(service|target|timer|socket)")
EARLY_TARGETS = ("network-pre.target", "sysinit.target", "local-fs.target")


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit file: section -> key -> values in order."""

    name: str
    values: Mapping[str, Mapping[str, Sequence[str]]] = field(default_factory=dict)

    def get(self, section: str, key: str) -> list[str]:
        """All values of a key."""
        return list(self.values.get(section, {}).get(key, ()))

    def words(self, section: str, key: str) -> list[str]:
        """All values of a key that takes lists of names."""
        return [word for value in self.get(section, key) for word in value.split()]

    @property
    def early(self) -> bool:
        """Whether it has to run before the network is configured."""
        return any(target in self.words("Unit", "Before") for target in EARLY_TARGETS)


def parse_unit(name: str, text: str) -> Unit:
    """Read a unit file. Lines that are no assignment are ignored, as systemd does with a warning."""
    values: dict[str, dict[str, list[str]]] = {}
    section = ""
    for line in text.replace("\\\n", " ").splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif "=" in line and not line.startswith(("#", ";")):
            key, _, value = line.partition("=")
            values.setdefault(section, {}).setdefault(key.strip(), []).append(value.strip())
    return Unit(name, values)


def valid_name(name: str) -> bool:
    """Whether it names a unit."""
    return _NAME.fullmatch(name) is not None


class Units:
    """The units of one node."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.running: dict[str, NodeProcess] = {}
        self.results: dict[str, int] = {}  # exit codes of this boot

    @property
    def directory(self) -> Path:
        return self.machine.tree.path(UNIT_DIR)

    def reset(self) -> None:
        """Power is gone."""
        self.running.clear()
        self.results.clear()

    def load(self, name: str) -> Unit | None:
        """The unit file of that name; None when there is none."""
        if not valid_name(name):
            return None
        text = self.machine.tree.read(f"{UNIT_DIR}/{name}")
        return None if text is None else parse_unit(name, text)

    def links(self, unit: Unit) -> list[Path]:
        """Where `systemctl enable` puts its links."""
        made = [self.directory / f"{target}.wants" / unit.name for target in unit.words("Install", "WantedBy")]
        return made + [
            self.directory / f"{target}.requires" / unit.name for target in unit.words("Install", "RequiredBy")
        ]

    def enabled(self) -> list[Unit]:
        """Every unit that starts at boot, in order of its name."""
        names = {path.name for kind in ("wants", "requires") for path in self.directory.glob(f"*.{kind}/*")}
        units = [self.load(name) for name in sorted(names)]
        return [unit for unit in units if unit is not None]

    def is_enabled(self, name: str) -> bool:
        """Whether it starts at boot."""
        return any(unit.name == name for unit in self.enabled())

    async def run_early(self) -> None:
        """At boot, before any interface is configured."""
        for unit in self.enabled():
            if unit.early:
                await self.start(unit)

    async def run_late(self) -> None:
        """At boot, once the network is up."""
        for unit in self.enabled():
            if not unit.early:
                await self.start(unit)

    async def start(self, unit: Unit) -> int:
        """Run a unit's commands. A one-shot is waited for. Returns the exit code (0 when it was left out)."""
        if not self._condition(unit):
            return 0
        code = 0
        for line in unit.get("Service", "ExecStart"):
            argv = [word.replace("%%", "%") for word in shlex.split(line.lstrip("-+!@:"))]
            log = self.machine.dir / "journal" / f"{unit.name}.log"
            self.machine.note(f"unit {unit.name}", argv, root=True)
            process = await self.machine.start_as_root(argv, log, self._environment(unit))
            if unit.get("Service", "Type") != ["oneshot"]:
                self.running[unit.name] = process
                continue
            code = await process.wait()
            if code and not line.startswith("-"):
                break
        self.results[unit.name] = code
        return code

    def _environment(self, unit: Unit) -> dict[str, str]:
        words = [word for line in unit.get("Service", "Environment") for word in shlex.split(line)]
        return dict(word.split("=", 1) for word in words if "=" in word)

    def _condition(self, unit: Unit) -> bool:
        for value in (*unit.get("Unit", "ConditionPathExists"), *unit.get("Unit", "AssertPathExists")):
            path = value.lstrip("!|")
            inside = Path(path) if path.startswith(str(self.machine.root)) else self.machine.tree.path(path)
            if inside.exists() == value.startswith("!"):
                return False
        return True

    def is_active(self, name: str) -> bool:
        """Whether its program runs, or its one-shot stays active."""
        process = self.running.get(name)
        if process is not None and not process.ended.done():
            return True
        unit = self.load(name)
        remains = unit is not None and unit.get("Service", "RemainAfterExit")[-1:] in (["yes"], ["true"], ["on"])
        return remains and self.results.get(name) == 0

    def stop(self, name: str) -> None:
        """Ask the unit's program to end."""
        process = self.running.pop(name, None)
        self.results.pop(name, None)
        if process is not None and not process.ended.done() and self.machine.init is not None:
            self.machine.init.signal(process.pid, signal.SIGTERM, group=True)
