"""The virtual cluster's process, owned by asyncio's side."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from PySide6.QtCore import QObject, Signal

from stellwerk.model.errors import StellwerkError
from stellwerk_gui.bridge import Bridge


class Trial(QObject):
    """Starts, changes and ends one virtual cluster. All methods belong to Qt's thread."""

    started = Signal(object)  # VirtualCluster
    changed = Signal(object)  # state as a dict
    ended = Signal()
    problem = Signal(object)

    def __init__(self, bridge: Bridge, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self.cluster: Any = None
        self._stop: asyncio.Event | None = None
        self._finished: asyncio.Event | None = None
        self._running = False

    def start(self, nodes: int, topology: str) -> None:
        """Start simulated Sparks; `started` follows when they answer."""
        if self._running:
            return
        self._running = True

        def work(report: Callable[[Any], None]) -> Any:
            return self._live(nodes, topology, report)

        task = self._bridge.submit(work, progress=self._arrived, failed=self.problem.emit)
        task.ended.connect(self._gone)

    async def _live(self, nodes: int, topology: str, report: Callable[[Any], None]) -> None:
        from stellwerk.virtual import VirtualCluster

        self._stop, self._finished = asyncio.Event(), asyncio.Event()
        try:
            async with VirtualCluster.start(nodes=nodes, topology=topology) as cluster:
                report(cluster)
                await self._until_stopped(cluster, self._stop)
        finally:
            self._finished.set()

    async def _until_stopped(self, cluster: Any, stop: asyncio.Event) -> None:
        """Returns when it is to end. Raises `StellwerkError` when its process ended by itself."""
        asked, gone = asyncio.ensure_future(stop.wait()), asyncio.ensure_future(cluster.wait_gone())
        try:
            await asyncio.wait((asked, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asked, gone):
                task.cancel()
        if not stop.is_set():
            raise StellwerkError(
                "the virtual cluster has ended",
                why="its process is gone, and with it all its nodes",
                remedy="Choose “Try a virtual cluster” again",
            )

    def _arrived(self, cluster: Any) -> None:
        self.cluster = cluster
        self.started.emit(cluster)
        self.refresh()

    def _gone(self) -> None:
        self.cluster, self._running = None, False
        self.ended.emit()

    def stop(self) -> None:
        """End the simulated machines."""
        stop = self._stop
        if stop is not None:
            self._bridge.call_soon(stop.set)

    async def wait_stopped(self) -> None:
        """For the window's end: stop and wait until the process is gone."""
        if self._stop is not None and self._finished is not None:
            self._stop.set()
            await self._finished.wait()

    def refresh(self) -> None:
        """Read faults, cables and load."""
        self._do(lambda cluster: cluster.state(), self.changed.emit)

    def set_fault(self, kind: str, node: str | None, **more: Any) -> None:
        self._do(lambda cluster: cluster.set_fault(kind, node=node, **more), lambda _: self.refresh())

    def clear_fault(self, kind: str, node: str | None, **more: Any) -> None:
        self._do(lambda cluster: cluster.clear_fault(kind, node=node, **more), lambda _: self.refresh())

    def load(self, target: str, gbps: float, **more: float) -> None:
        """Traffic of a node or a port; `more`: gpu_pct, cpu_pct, memory_gib of its machine."""
        self._do(lambda cluster: cluster.load(target, gbps, **more), lambda _: self.refresh())

    def plug(self, end: str, to: str) -> None:
        self._do(lambda cluster: cluster.plug(end, to), lambda _: self.refresh())

    def unplug(self, end: str) -> None:
        self._do(lambda cluster: cluster.unplug(end), lambda _: self.refresh())

    def _do(self, call: Callable[[Any], Awaitable[Any]], done: Callable[[Any], None]) -> None:
        cluster = self.cluster
        if cluster is None:
            return

        async def work() -> Any:
            return await call(cluster)

        self._bridge.submit(work(), done=done, failed=self.problem.emit)


class TrialAnswers:
    """Answers of the virtual cluster's own machines: this program made their secrets and keys.

    Only for its own addresses; any other machine goes to the person. To sudo the login's password is offered, as people
    do: where a fault made it another one, the machine's no and the next question are seen.
    """

    def __init__(self, person: Any) -> None:
        self._person = person
        self.cluster: Any = None

    def _node(self, host: str, name: str) -> Any:
        if self.cluster is None:
            return None
        return next((n for n in self.cluster.nodes if n.host == host and n.name == name), None)

    async def confirm_host_key(self, question: Any) -> bool:
        node = self._node(question.host, question.node)
        if node is not None and node.host_key_fingerprint == question.key.fingerprint:
            return True
        return bool(await self._person.confirm_host_key(question))

    async def password(self, question: Any) -> str | None:
        node = self._node(question.host, question.node)
        if node is not None and question.attempt == 1:
            return str(node.password)
        answer: str | None = await self._person.password(question)
        return answer

    async def sudo_password(self, question: Any) -> str | None:
        node = self._node(question.host, question.node)
        if node is not None and question.attempt == 1:
            return str(node.password)
        answer: str | None = await self._person.sudo_password(question)
        return answer
