"""Runs a measurement in asyncio's thread and holds what there is to show of it, for the page."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, QObject, Signal

from stellwerk.model.errors import StellwerkError
from stellwerk_gui.controller import Controller

if TYPE_CHECKING:
    from stellwerk.measure.cluster import ClusterBench, ClusterPlan, ClusterResult
    from stellwerk.measure.collectives import Plan, Progress, Result

CLOSING_S = 6.0  # so long a closing window waits for the size that is being measured on this computer


@dataclass(frozen=True, slots=True)
class Shown:
    """Figures and where they come from. `complete` is False while it runs and after it was stopped."""

    result: Result
    where: str
    cluster: ClusterResult | None = None
    complete: bool = False

    @property
    def simulated(self) -> bool:
        return self.cluster is not None and self.cluster.simulated


class MeasureRunner(QObject):
    """At most one measurement at a time. All methods belong to Qt's thread."""

    changed = Signal()  # progress, figures, or the end

    def __init__(self, controller: Controller, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._running = False
        self._stop: Callable[[], None] = lambda: None
        self.progress: Progress | None = None
        self.shown: Shown | None = None
        controller.cluster_changed.connect(self._cluster_changed)

    @property
    def running(self) -> bool:
        return self._running

    def start_here(self, plan: Plan) -> None:
        """Measure on this computer."""
        stopping = threading.Event()
        where = QCoreApplication.translate("MeasureRunner", "this computer")
        if not plan.link.real:
            where = QCoreApplication.translate("MeasureRunner", "this computer, over an emulated link")

        def ended(result: Any) -> None:
            self._ended(Shown(result, where, complete=not stopping.is_set()))

        self._begin(lambda report: _here(plan, report, stopping), ended, stopping.set)

    def start_cluster(self, plan: ClusterPlan) -> None:
        """Measure on the open cluster, one rank per machine."""
        controller = self._controller
        session, folder = controller.session, controller.folder
        if session is None or folder is None:
            return
        from stellwerk.measure.cluster import TUNING_FILE

        plan = replace(plan, tuning=folder.path / TUNING_FILE)
        run = _OnCluster(session, controller.wanted, plan, session.cluster.name)
        self._begin(run.work, self._ended, lambda: controller.bridge.call_soon(run.stop))

    def stop(self) -> None:
        """Ask it to end; what was measured until then is shown when it has."""
        self._stop()

    def store_tuning(self) -> list[str]:
        """Use the fastest algorithm of each size from now on, on this cluster; says what was stored."""
        shown, folder = self.shown, self._controller.folder
        if shown is None or shown.cluster is None or folder is None:
            return []
        from stellwerk.measure.cluster import TUNING_FILE, store_tuning

        return store_tuning(shown.cluster, folder.path / TUNING_FILE)

    def _begin(self, work: Any, ended: Callable[[Any], None], stop: Callable[[], None]) -> None:
        if self._running:
            return
        # Before it is submitted: one that fails at once has ended before `submit` returns.
        self.progress, self.shown, self._stop, self._running = None, None, stop, True
        self.changed.emit()
        task = self._controller.bridge.submit(work, done=ended, failed=self._failed, progress=self._progressed)
        task.cancelled.connect(lambda: self._ended(None))

    def _progressed(self, data: Any) -> None:
        self.progress, so_far = data
        if so_far is not None:
            self.shown = so_far
        self.changed.emit()

    def _ended(self, shown: Any) -> None:
        self._running, self._stop, self.progress = False, lambda: None, None
        self.shown = shown if shown is not None else self.shown
        self.changed.emit()

    def _failed(self, error: StellwerkError) -> None:
        self._ended(None)
        self._controller.problem.emit(error)

    def _cluster_changed(self) -> None:
        """Figures of another cluster are not left standing; those of this computer are."""
        if self.shown is not None and self.shown.cluster is not None and not self.running:
            self.shown = None
            self.changed.emit()


async def _here(plan: Plan, report: Callable[[Any], None], stopping: threading.Event) -> Result:
    from stellwerk.measure.collectives import MeasurementFailed, measure

    def tell(progress: Progress) -> None:
        if not stopping.is_set():
            report((progress, None))

    work = asyncio.create_task(asyncio.to_thread(measure, plan, tell, stopping.is_set))
    try:
        return await asyncio.shield(work)
    except MeasurementFailed as error:
        raise StellwerkError("the collectives could not be measured", why=str(error)) from error
    except asyncio.CancelledError:
        stopping.set()
        await asyncio.wait({work}, timeout=CLOSING_S)
        raise


class _OnCluster:
    """One run on a cluster; `work` and `stop` run in asyncio's thread."""

    def __init__(self, session: Any, wanted: Any, plan: ClusterPlan, name: str) -> None:
        self._session, self._wanted, self._plan, self._name = session, wanted, plan, name
        self._inner: asyncio.Task[ClusterResult] | None = None
        self._bench: ClusterBench | None = None
        self._stopped = False

    def stop(self) -> None:
        """The ranks are ended first; then `work` returns what there is."""
        self._stopped = True
        if self._inner is not None:
            self._inner.cancel()

    def _shown(self, measured: ClusterResult, complete: bool) -> Shown:
        return Shown(measured.result, self._name, measured, complete)

    async def _run(self, report: Callable[[Any], None]) -> ClusterResult:
        from stellwerk.measure.cluster import ClusterBench
        from stellwerk.measure.collectives import Progress
        from stellwerk.setup.look import take_look

        report((Progress(0, 0, "looking at the fabric"), None))
        look = await take_look(self._session, self._wanted)

        def tell(progress: Progress) -> None:
            assert self._bench is not None
            so_far = self._bench.partial()
            report((progress, self._shown(so_far, False) if so_far.result.cells else None))

        self._bench = ClusterBench(self._session, look, self._plan, tell)
        return await self._bench.run()

    async def work(self, report: Callable[[Any], None]) -> Shown | None:
        self._inner = asyncio.create_task(self._run(report))
        try:
            return self._shown(await self._inner, True)
        except asyncio.CancelledError:
            if not self._stopped:
                raise  # the window closes
            so_far = self._bench.partial() if self._bench is not None else None
            return self._shown(so_far, False) if so_far is not None and so_far.result.cells else None
