"""`uninstall`: takes the agent off the node (un-pairing). What cannot be removed is named, the rest goes."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stellwerk.model.errors import StellwerkError
from stellwerk_agent.jobs import Jobs
from stellwerk_agent.locking import NodeLock
from stellwerk_agent.mesh import Mesh
from stellwerk_agent.netguard.client import remove_root_place
from stellwerk_agent.options import Options
from stellwerk_agent.rpc import Call, Nothing, Registry
from stellwerk_agent.selfrun import Self
from stellwerk_agent.sudo import Sudo


class Uninstall:
    """Ends jobs, removes what the agent put on the node, then ends the daemon."""

    def __init__(
        self,
        options: Options,
        me: Self,
        jobs: Jobs,
        mesh: Mesh,
        sudo: Sudo,
        lock: NodeLock,
        stop: Callable[[str], None],
    ) -> None:
        self._options = options
        self._me = me
        self._jobs = jobs
        self._mesh = mesh
        self._sudo = sudo
        self._lock = lock
        self._stop = stop
        self.done = False  # then the daemon removes its state directory as its last act

    def register(self, registry: Registry) -> None:
        registry.add("uninstall", Nothing, self._uninstall, deadline_s=180.0)

    async def _uninstall(self, call: Call, params: Nothing) -> dict[str, Any]:
        self._lock.require(call.connection)
        removed: list[str] = []
        left: list[dict[str, str]] = []
        await self._jobs.stop_all()
        try:
            removed += await self._mesh.remove()
        except StellwerkError as error:
            left.append({"path": "~/.ssh", "why": str(error)})
        await self._remove_root_place(removed, left)
        await asyncio.to_thread(self._remove_archives, removed, left)
        removed.append(str(self._options.state_dir))
        self.done = True
        call.when_answered = lambda: self._stop("uninstalled")
        return {"removed": removed, "left": left}

    async def _remove_root_place(self, removed: list[str], left: list[dict[str, str]]) -> None:
        place = self._options.under("/var/lib/stellwerk")
        if not place.exists():
            return
        try:
            await remove_root_place(self._sudo)
            removed.append("/var/lib/stellwerk")
        except StellwerkError as error:
            left.append({"path": "/var/lib/stellwerk", "why": str(error)})

    def _remove_archives(self, removed: list[str], left: list[dict[str, str]]) -> None:
        """This agent's archive, those of older ones beside it, and the runtime of ranks and gateways."""
        if self._me.archive is None:
            return
        directory = self._me.archive.parent
        ours = {self._me.archive, *directory.glob("agent-*.pyz"), *directory.glob("runtime-*")}
        for path in sorted(ours | set(directory.glob(".runtime-*"))):
            try:
                if path.is_dir():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
                removed.append(str(path))
            except OSError as error:
                left.append({"path": str(path), "why": error.strerror or str(error)})
        if directory.name == "stellwerk" and not any(directory.iterdir()):
            directory.rmdir()
            removed.append(str(directory))


def remove_state(state_dir: Path) -> None:
    """The last act of a daemon that was uninstalled; it still holds the lock. Raises OSError."""
    shutil.rmtree(state_dir)
