"""Machines that announce themselves on the network: listens only while a page wants to know."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from stellwerk.model.errors import StellwerkError
from stellwerk_gui.bridge import Bridge, Task

if TYPE_CHECKING:
    from stellwerk.remote.find import FoundMachine
    from stellwerk.remote.target import Target


class Search(QObject):
    """Starts and stops listening; `changed` whenever there are more, fewer or other machines."""

    changed = Signal()

    def __init__(self, bridge: Bridge, parent: QObject | None = None, *, allowed: bool = True) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._allowed = allowed
        self._task: Task | None = None
        self.machines: tuple[FoundMachine, ...] = ()
        self.available = allowed
        self.why = ""

    @property
    def listening(self) -> bool:
        return self._task is not None

    def set_on(self, wanted: bool) -> None:
        """Listen, or stop listening. What was found stays on show until the next change."""
        if wanted and self._task is None and self._allowed:
            self._task = self._bridge.submit(_listen, progress=self._take, failed=self._failed)
            self._task.ended.connect(self._ended)
        elif not wanted and self._task is not None:
            self._task.cancel()

    def _take(self, machines: Any) -> None:
        self.machines, self.available, self.why = machines, True, ""
        self.changed.emit()

    def _failed(self, error: StellwerkError) -> None:
        # Not being able to listen is a state of this network, not a fault that a person has to deal with.
        self.available, self.why = False, error.why
        self.changed.emit()

    def _ended(self) -> None:
        self._task = None


async def _listen(report: Callable[[Any], None]) -> None:
    from stellwerk.remote.find import Finder

    async with Finder.open() as finder:
        while True:
            report(finder.machines)
            await finder.changed.wait()
            finder.changed.clear()


def target_of(machine: FoundMachine) -> Target:
    """Where to log in, under the name that the machine gave itself."""
    from dataclasses import replace

    from stellwerk.remote.target import parse_target

    host = f"[{machine.host}]" if ":" in machine.host else machine.host
    return replace(parse_target(f"{host}:{machine.port}"), name=machine.name)
