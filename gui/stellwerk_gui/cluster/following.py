"""Looks again where a plug was moved, so that the map shows the cluster as it is and not as it was set up."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject

from stellwerk.model.errors import StellwerkError
from stellwerk_gui.bridge import Task
from stellwerk_gui.controller import Controller

PAUSE_S = 4.0  # between two looks
OLD_S = 15.0  # what no sample tells (an MTU, an address) is read anew after this long


class Follower(QObject):
    """For one page; asked a few times a second while it is in front."""

    def __init__(self, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self._controller = controller
        self._task: Task | None = None
        self._looked_at_s = 0.0
        controller.cluster_changed.connect(self._forget)

    def tick(self) -> None:
        """Look again when there is a reason to."""
        c, now = self._controller, time.monotonic()
        busy = self._task is not None or c.looking or c.proving or c.applying
        if busy or c.session is None or not any(n.ready for n in c.nodes):
            return
        old = c.look is None or c.looked_at_s is None or now - c.looked_at_s > OLD_S
        if now - self._looked_at_s < PAUSE_S or not (old or self._plug_moved()):
            return
        self._looked_at_s = now
        self._task = c.look_once(failed=self._failed)
        self._task.ended.connect(self._ended)

    def _ended(self) -> None:
        self._task = None

    def _failed(self, error: StellwerkError) -> None:
        """A machine may go away at any moment: its card says so."""
        self._controller.happened.emit(str(error))

    def _forget(self) -> None:
        task, self._task, self._looked_at_s = self._task, None, 0.0
        if task is not None:
            task.cancel()

    def _plug_moved(self) -> bool:
        """A port has a signal that had none at the latest look, or has none any more."""
        look, telemetry = self._controller.look, self._controller.telemetry
        if look is None or telemetry is None:
            return False
        for member in look.members:
            now = telemetry.carriers(member.name)
            for half in (half for port in member.ports for half in port.halves):
                if now.get(half.netdev.name, half.netdev.carrier) != half.netdev.carrier:
                    return True
        return False
