"""What the pages work on: one cluster with its session, as snapshots and signals in Qt's thread.

Everything that talks to machines runs over the bridge; pages read `nodes`, `look`, `plan` ... and listen to signals.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import Cluster, ClusterFolder, ClusterLock, ClusterStore
from stellwerk_gui.bridge import Bridge, Task
from stellwerk_gui.language import local
from stellwerk_gui.node import NodeSnapshot
from stellwerk_gui.pairing import Pairing

if TYPE_CHECKING:
    from stellwerk.model.fabric import TopologyKind
    from stellwerk.remote import LinkState
    from stellwerk.setup.look import Look
    from stellwerk.setup.session import ClusterSession
    from stellwerk.telemetry import TelemetryStore

RELOOK_PAUSE_S = 1.0
FOLLOWED = ("chain", "switch")  # kinds that were chosen: two machines or a line of them would be recommended otherwise
GATHER_MS = 80


class Relay(QObject):
    """Carries callbacks of asyncio's thread over to Qt's."""

    arrived = Signal(str, object)

    def send(self, kind: str, payload: object = None) -> None:
        self.arrived.emit(kind, payload)


class ClusterController(QObject):
    """Owns the open cluster. All public methods belong to Qt's thread."""

    cluster_changed = Signal()  # another cluster, or none
    connected = Signal()  # every machine of a cluster that was opened has answered, or has not
    nodes_changed = Signal()
    look_changed = Signal()
    happened = Signal(str)  # one line for the status line
    problem = Signal(object)  # StellwerkError for the one place that shows them
    held = Signal(object, object)  # Busy of another desktop, and how to do it all the same

    def __init__(self, bridge: Bridge, store: ClusterStore, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.bridge = bridge
        self.store = store
        self.folder: ClusterFolder | None = None
        self.session: ClusterSession | None = None
        self.nodes: tuple[NodeSnapshot, ...] = ()
        self.look: Look | None = None
        self.looked_at_s: float | None = None
        self.wanted: TopologyKind | None = None
        self.rate_hz = 1.0
        self._mixed_before = False
        self._lock: ClusterLock | None = None
        self._looking: Task | None = None
        # Machines report each percent of what is sent to them: the pages hear of it all at once, some times a second.
        self._said: dict[str, str] = {}
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(GATHER_MS)
        self._soon.timeout.connect(self.refresh_nodes)
        self.relay = Relay(self)
        self.relay.arrived.connect(self._take)
        self.pairing = Pairing(self)

    # -- the cluster ---------------------------------------------------------------------------------------------

    @property
    def cluster(self) -> Cluster | None:
        return self.session.cluster if self.session is not None else None

    @property
    def telemetry(self) -> TelemetryStore | None:
        return self.session.telemetry if self.session is not None else None

    def new_cluster(self, name: str) -> None:
        """Make an empty cluster and open it."""
        folder, _ = self.store.create(name)
        self.open_cluster(folder)

    def open_cluster(self, folder: ClusterFolder, done: Callable[[], None] | None = None) -> None:
        """Close what is open and open `folder`; machines that were paired are connected at once."""

        def opened(session: Any) -> None:
            self.session = session
            self.wanted = _chosen_kind(session.cluster)
            session.on_state(lambda name, state, reason: self.relay.send("state", (name, state, reason)))
            self.refresh_nodes()
            self.cluster_changed.emit()
            if session.links:
                self.bridge.submit(self._connect(session), done=lambda _: self._connected())
            if session.cluster.unpaired:  # after the line above: to these nobody connects before a person pairs them
                self.bridge.submit(_name_unpaired(session), done=lambda _: self.refresh_nodes())
            if done is not None:
                done()

        def start() -> None:
            try:
                lock = folder.lock()
                lock.__enter__()
            except StellwerkError as error:
                self.problem.emit(error)
                return
            self._lock, self.folder = lock, folder
            self.bridge.submit(_open_session(folder), done=opened, failed=self._could_not_open)

        self.close_cluster(start)

    def _connected(self) -> None:
        self.refresh_nodes()
        self.connected.emit()

    def _could_not_open(self, error: StellwerkError) -> None:
        self._release()
        self.problem.emit(error)
        self.cluster_changed.emit()

    async def _connect(self, session: ClusterSession) -> None:
        await session.connect()
        session.watch(self.rate_hz)

    def close_cluster(self, then: Callable[[], None] | None = None) -> None:
        """End all links of the open cluster, then call `then`."""
        session, self.session = self.session, None
        self.stop_looking()
        self.nodes, self.look, self.wanted, self.looked_at_s = (), None, None, None
        self._said.clear()
        given, self.pairing.sudo_given = self.pairing.sudo_given, False

        def closed() -> None:
            self._release()
            self.cluster_changed.emit()
            if then is not None:
                then()

        if session is None:
            self._release()
            if then is not None:
                then()
            return
        self.bridge.submit(_end(session, given)).ended.connect(closed)

    def _release(self) -> None:
        lock, self._lock, self.folder = self._lock, None, None
        if lock is not None:
            lock.__exit__(None, None, None)

    # -- looking -------------------------------------------------------------------------------------------------

    def want(self, kind: TopologyKind | None) -> None:
        """The topology to aim at; None follows the recommendation."""
        self.wanted = kind
        if self.session is not None:
            self._rejudge()

    def _rejudge(self) -> None:
        if self.look is None or self.session is None:
            return
        from stellwerk.setup.look import judge

        facts = {m.name: m.facts for m in self.look.members}
        numbers = {n.name: n.number for n in self.session.cluster.nodes}
        self.look = judge(facts, self.look.reports, numbers, self.wanted, self.look.notes)
        self.look_changed.emit()

    def start_looking(self) -> None:
        """Look again and again, so that the picture follows the cables, until `stop_looking`."""
        if self._looking is not None or self.session is None:
            return
        session = self.session

        def work(report: Callable[[Any], None]) -> Any:
            return self._look_forever(session, report)

        self._looking = self.bridge.submit(work, progress=self._looked, failed=self._look_failed)

    async def _look_forever(self, session: ClusterSession, report: Callable[[Any], None]) -> None:
        from stellwerk.setup.look import take_look

        while True:
            try:
                report(await take_look(session, self.wanted))
            except StellwerkError as error:
                report(error)
            await asyncio.sleep(RELOOK_PAUSE_S)

    def stop_looking(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None

    @property
    def looking(self) -> bool:
        return self._looking is not None

    def look_once(
        self, done: Callable[[], None] | None = None, failed: Callable[[StellwerkError], None] | None = None
    ) -> Task:
        """One look, for pages that only need to know."""
        session = self.open_session()

        async def work() -> Look:
            from stellwerk.setup.look import take_look

            return await take_look(session, self.wanted)

        def arrived(look: Any) -> None:
            self._looked(look)
            if done is not None:
                done()

        return self.bridge.submit(work(), done=arrived, failed=failed)

    def _looked(self, found: Any) -> None:
        if isinstance(found, StellwerkError):
            self.happened.emit(str(found))
            return
        # While a plug is on its way a port may have heard both its old and its new neighbour in one look, as behind a
        # switch: that shape is believed when the next look sees it, too.
        mixed = found.topology.kind.value == "mixed"
        if mixed and not self._mixed_before and self.looking and self.look is not None:
            self._mixed_before = True
            return
        self._mixed_before = mixed
        self.look, self.looked_at_s = found, time.monotonic()
        self.look_changed.emit()

    def _look_failed(self, error: StellwerkError) -> None:
        self._looking = None
        self.problem.emit(error)

    # -- snapshots -----------------------------------------------------------------------------------------------

    def node(self, name: str) -> NodeSnapshot | None:
        return next((n for n in self.nodes if n.name == name), None)

    def number(self, name: str) -> int:
        """The number that gives a node its colour."""
        found = self.node(name)
        return found.number if found is not None else 1

    def _take(self, kind: str, payload: Any) -> None:
        if kind == "state":
            name, state, _reason = payload
            self._node_state(name, state)
        elif kind == "event":
            self.happened.emit(str(payload))

    def _node_state(self, name: str, state: LinkState) -> None:
        if self.session is None:
            return  # a last word of a cluster that was just closed
        if self._said.get(name) != state.value and self.node(name) is not None:
            self.happened.emit(f"{name}: {local(state.word)}")
        self._said[name] = state.value
        if not self._soon.isActive():
            self._soon.start()

    def refresh_nodes(self) -> None:
        """Read the links' plain attributes; they are only ever replaced, so a read from here is whole."""
        if self.session is None:
            return
        numbers = {n.name: n.number for n in self.session.cluster.nodes}
        free = (i for i in range(1, 65) if i not in numbers.values())
        self.nodes = tuple(
            NodeSnapshot(
                name=name,
                address=link.target.address,
                number=numbers.get(name) or next(free),
                state=link.state.value,
                reason=link.reason,
                error=link.error,
                agent_version=link.hello.agent_version if link.hello else "",
            )
            for name, link in list(self.session.links.items())
        )
        self.nodes_changed.emit()

    def open_session(self) -> ClusterSession:
        if self.session is None:
            raise RuntimeError("no cluster is open: the page should not have offered this")
        return self.session

    def save_page(self, page: str) -> None:
        """Remember where the wizard stands."""
        if self.session is not None and self.session.cluster.page != page:
            self.keep(page=page)

    def keep(self, **changes: Any) -> None:
        """Write to the cluster's file, beside Qt's thread: it is read, changed and synced to the disk.

        Where that fails (a full disk) it is said, and the window goes on.
        """
        session = self.session
        if session is None:
            return

        async def write() -> None:
            session.save(replace(session.cluster, **changes))

        self.bridge.submit(write(), done=lambda _: self.nodes_changed.emit(), failed=self.problem.emit)

    def shutdown(self) -> None:
        """Close the cluster and wait for it; the bridge may be stopped afterwards."""
        session, self.session = self.session, None
        self._soon.stop()
        self.stop_looking()
        if session is not None:
            self.bridge.run(_end(session, self.pairing.sudo_given))
        self._release()


def _chosen_kind(cluster: Cluster) -> TopologyKind | None:
    """The topology that a person chose for this cluster, where the cables alone would not tell it."""
    from stellwerk.model.fabric import TopologyKind

    return TopologyKind(cluster.topology) if cluster.topology in FOLLOWED else None


async def _end(session: ClusterSession, forget: bool) -> None:
    if forget and session.ready:
        await session.forget_sudo()
    await session.close()


async def _name_unpaired(session: ClusterSession) -> None:
    session.name_unpaired()


async def _open_session(folder: ClusterFolder) -> ClusterSession:
    from stellwerk.setup.session import ClusterSession

    return ClusterSession.open(folder)


def data_folder(store: ClusterStore) -> Path:
    """Where clusters, keys and reports lie."""
    return store.base
