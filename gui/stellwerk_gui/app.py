"""The program: builds the window, wires the pages, ends everything in order."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, QLocale, QObject, QTimer, QTranslator
from PySide6.QtWidgets import QApplication, QMessageBox

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import ClusterFolder, ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.bridge import Bridge
from stellwerk_gui.controller import Controller
from stellwerk_gui.crash import CrashHandler
from stellwerk_gui.logs import ring as log_ring
from stellwerk_gui.settings import Settings, SettingsFile
from stellwerk_gui.shell import PageEntry, Shell


class Application(QObject):
    """Owns window, bridge, controller and the virtual cluster."""

    def __init__(self, app: QApplication, store: ClusterStore, started_at: float) -> None:
        super().__init__(app)
        self.app = app
        self.store = store
        self.started_at = started_at
        self.first_paint_s: float | None = None
        self.settings = SettingsFile(store.base / "settings.json", self)
        value = self.settings.value
        install_language(app, value.language)
        theme.install(app, value.theme, value.scale, value.reduce_motion)
        self.ring = log_ring.install(store.base / "logs")
        self.crash = CrashHandler(store.base / "crashes", self.ring.texts, self)
        self.bridge = Bridge(self)
        self.controller = Controller(self.bridge, store, self)
        self.controller.rate_hz = value.sample_rate_hz
        self.shell = Shell(_entries(self), self.settings)
        self._build()
        self._wire()

    def _build(self) -> None:
        """Only what the first picture needs; the other pages follow after it."""
        from stellwerk_gui.start.page import StartPage

        self.start = StartPage(self.store)
        self.shell.add_page("start", self.start)
        self._pages_built = False

    def build_pages(self) -> None:
        """The pages that need numpy, pyqtgraph and the rest of the core."""
        if self._pages_built:
            return
        self._pages_built = True
        from stellwerk_gui.cluster.page import ClusterPage
        from stellwerk_gui.logs.page import LogsPage
        from stellwerk_gui.monitor.page import MonitorPage
        from stellwerk_gui.preferences.page import SettingsPage
        from stellwerk_gui.prompts import GuiPrompts
        from stellwerk_gui.setup.page import SetupPage
        from stellwerk_gui.trial.panel import TrialPanel
        from stellwerk_gui.trial.runner import Trial, TrialAnswers

        self.trial = Trial(self.bridge, self)
        self.prompts = GuiPrompts(self.shell)
        self.answers = TrialAnswers(self.prompts)
        self.controller.use_prompts(self.answers)  # type: ignore[arg-type]
        self.cluster_page = ClusterPage(self.controller)
        self.setup_page = SetupPage(self.controller)
        self.monitor_page = MonitorPage(self.controller)
        self.logs_page = LogsPage(self.ring)
        self.settings_page = SettingsPage(self.settings, self.store.base)
        for key, page in (
            ("cluster", self.cluster_page),
            ("setup", self.setup_page),
            ("monitor", self.monitor_page),
            ("logs", self.logs_page),
            ("settings", self.settings_page),
        ):
            self.shell.add_page(key, page)
        self.trial_panel = TrialPanel(self.trial)
        self.shell.add_side_panel(self.trial_panel)
        self.trial_panel.closed.connect(self.trial_panel.hide)
        self._wire_pages()

    def _wire(self) -> None:
        c = self.controller
        self.crash.crashed.connect(self._show_crash)
        self.bridge.unhandled.connect(self.shell.show_error)
        c.problem.connect(self.shell.show_error)
        c.happened.connect(self._happened)
        c.cluster_changed.connect(self._cluster_changed)
        c.nodes_changed.connect(self._health)
        c.look_changed.connect(self._health)
        c.proof_changed.connect(self._health)
        self.settings.changed.connect(self._settings_changed)
        self.start.set_up.clicked.connect(self.new_cluster)
        self.start.open.clicked.connect(self._open_any)
        self.start.virtual.clicked.connect(lambda: self.try_virtual(8, "switch"))
        self.start.add_by_address.clicked.connect(self.new_cluster)
        self.start.opened = self.open_cluster
        self.start.forgotten = self._forget_cluster
        if self.settings.problem:
            self.shell.show_error(StellwerkError(self.settings.problem))

    def _wire_pages(self) -> None:
        self.cluster_page.set_up.connect(lambda: self.shell.open_page("setup"))
        self.cluster_page.add_node.connect(self._add_node)
        self.cluster_page.prove.connect(self._prove_again)
        self.cluster_page.open_logs.connect(self._logs_of)
        self.setup_page.finished.connect(lambda: self.shell.open_page("cluster"))
        self.setup_page.closed.connect(self._close_setup)
        self.trial.problem.connect(self.shell.show_error)
        self.trial.started.connect(self._trial_started)

    # -- actions -------------------------------------------------------------------------------------------------

    def new_cluster(self) -> None:
        """Begin a new cluster in the wizard."""
        self.build_pages()
        try:
            folder, _ = self.store.create(self.tr("cluster"))
        except StellwerkError as error:
            self.shell.show_error(error)
            return
        self.open_cluster(folder)

    def open_cluster(self, folder: ClusterFolder) -> None:
        """Open a cluster: a finished one on its map, another one where its wizard stands."""
        self.build_pages()

        def opened() -> None:
            cluster = self.controller.cluster
            finished = cluster is not None and cluster.page in ("done", "prove") and cluster.nodes
            if finished:
                self.shell.open_page("cluster")
            else:
                self.shell.open_page("setup")
                self.setup_page.resume()

        self.controller.open_cluster(folder, opened)

    def _open_any(self) -> None:
        folders = self.store.all()
        if folders:
            newest = max(folders, key=lambda f: f.cluster_file.stat().st_mtime)
            self.open_cluster(newest)
        else:
            self.new_cluster()

    def _forget_cluster(self, folder: ClusterFolder) -> None:
        box = QMessageBox(self.shell)
        box.setText(self.tr("Forget the cluster {name}?").format(name=folder.path.name))
        box.setInformativeText(
            self.tr(
                "Its key and reports on this computer are removed. The machines keep their network and agent: "
                "un-pair them first."
            )
        )
        box.setStandardButtons(QMessageBox.StandardButton.Cancel | QMessageBox.StandardButton.Discard)
        box.setDefaultButton(QMessageBox.StandardButton.Cancel)
        box.button(QMessageBox.StandardButton.Discard).setText(self.tr("Forget it"))
        box.button(QMessageBox.StandardButton.Discard).clicked.connect(partial(self._forget_now, folder))
        box.open()

    def _forget_now(self, folder: ClusterFolder) -> None:
        self.store.remove(folder)
        self.start.refresh()

    def try_virtual(self, nodes: int, topology: str) -> None:
        """Start simulated Sparks and put them into a new cluster's wizard."""
        self.build_pages()
        self.shell.status.set_work(self.tr("Starting {n} simulated Sparks").format(n=nodes), None)
        if self.trial.cluster is not None:
            self._trial_started(self.trial.cluster)
            return
        self.trial.start(nodes, topology)

    def _trial_started(self, cluster: Any) -> None:
        self.answers.cluster = cluster
        self.shell.status.set_work("", None)
        self.shell.tag_trial(self.trial_panel)
        folder, _ = self.store.create(self.tr("virtual"))

        def opened() -> None:
            from stellwerk.remote.target import Target

            targets = tuple(Target(n.host, n.port, n.user, n.name) for n in cluster.nodes)
            self.controller.add_targets(targets)
            self.shell.open_page("setup")
            self.setup_page.open_step("find")

        self.controller.open_cluster(folder, opened)

    def _add_node(self) -> None:
        self.shell.open_page("setup")
        self.setup_page.open_step("find")

    def _prove_again(self) -> None:
        self.shell.open_page("setup")
        self.setup_page.open_step("prove")
        self.controller.prove()

    def _logs_of(self, name: str) -> None:
        self.logs_page.only(name)
        self.shell.open_page("logs")

    def _close_setup(self) -> None:
        self.controller.close_cluster(lambda: self.shell.open_page("start"))

    # -- showing -------------------------------------------------------------------------------------------------

    def _happened(self, text: str) -> None:
        self.shell.status.event_text.setText(f"{time.strftime('%H:%M')} {text}"[:120])

    def _cluster_changed(self) -> None:
        open_now = self.controller.session is not None
        why = self.tr("open or set up a cluster first")
        for key in ("cluster", "monitor"):
            self.shell.rail.items[key].set_available(open_now, why)
        self.shell.rail.items["setup"].set_available(True)
        self._health()
        if not open_now:
            self.shell.open_page("start")

    def _health(self) -> None:
        cluster = self.controller.cluster
        head, status = self.shell.rail.head, self.shell.status
        if cluster is None:
            head.show_cluster("", "", "circle-minus", "muted")
            status.set_connection(self.tr("No cluster open"), "circle-minus", "muted")
            return
        nodes = self.controller.nodes
        ready = sum(n.ready for n in nodes)
        notes = self.controller.node_notes()
        if cluster.page not in ("done", "prove"):
            head.show_cluster(cluster.name, self.tr("draft"), "circle-minus", "muted")
        elif notes or ready < len(nodes):
            bad = any(s == "bad" for s, _ in notes.values())
            count = len(notes) + len(nodes) - ready
            sign = ("circle-x", "bad") if bad else ("alert-triangle", "warn")
            head.show_cluster(cluster.name, str(count), *sign)
        else:
            head.show_cluster(cluster.name, self.tr("fine"), "circle-check", "good")
        text = self.tr("Connected to {ready} of {all} agents").format(ready=ready, all=len(nodes))
        fine = ready == len(nodes) and ready > 0
        status.set_connection(text, "circle-check" if fine else "alert-triangle", "good" if fine else "warn")

    def _settings_changed(self, value: Settings) -> None:
        current = theme.current()
        if (current.choice, current.reduce_motion) != (value.theme, value.reduce_motion):
            current.apply(value.theme, current.scale, value.reduce_motion)
        if value.sample_rate_hz != self.controller.rate_hz:
            self.controller.rate_hz = value.sample_rate_hz
            session = self.controller.session
            if session is not None:
                self.bridge.submit(session.rewatch(value.sample_rate_hz))

    def _show_crash(self, path: str) -> None:
        where = self.tr("A report was saved: {path}").format(path=path) if path else ""
        self.shell.show_error(
            StellwerkError(
                self.tr("Something went wrong inside Stellwerk"),
                why=self.tr("The window goes on; what you did last may not have happened"),
                remedy=where,
            )
        )

    def offer_old_reports(self) -> None:
        """A crash of an earlier run is offered once."""
        reports = self.crash.left_over()
        if not reports:
            return
        box = QMessageBox(self.shell)
        box.setText(self.tr("Stellwerk ended unexpectedly last time."))
        text = self.tr("A report lies in {path}. It holds no passwords or keys.")
        box.setInformativeText(text.format(path=reports[-1]))
        keep = box.addButton(self.tr("Keep it"), QMessageBox.ButtonRole.AcceptRole)
        drop = box.addButton(self.tr("Remove it"), QMessageBox.ButtonRole.DestructiveRole)
        drop.clicked.connect(partial(_settle_reports, reports, False))
        keep.clicked.connect(partial(_settle_reports, reports, True))
        box.open()

    # -- life ----------------------------------------------------------------------------------------------------

    def show(self, after: Callable[[], None] | None = None) -> None:
        """Show the start page; everything heavy is loaded after the first picture."""
        self.crash.install()
        self.shell.closing.connect(self.close)
        self._cluster_changed()
        self.shell.open_page("start")
        self.shell.show()

        def later() -> None:
            self.first_paint_s = time.monotonic() - self.started_at
            self.build_pages()
            self.offer_old_reports()
            if after is not None:
                after()

        QTimer.singleShot(0, later)

    def close(self) -> None:
        """End links, virtual cluster, threads; called once when the window closes."""
        if getattr(self, "_closed", False):
            return
        self._closed = True
        self.controller.shutdown()
        if self._pages_built:
            self.bridge.run(self.trial.wait_stopped(), 20.0)
        self.bridge.stop()
        self.crash.uninstall()
        log_ring.uninstall(self.ring)


def _settle_reports(reports: list[Path], keep: bool) -> None:
    """Remove crash reports, or rename them so that they are not offered again."""
    for report in reports:
        if keep:
            report.rename(report.with_name(report.name.replace("crash-", "kept-")))
        else:
            report.unlink(missing_ok=True)


def _entries(owner: QObject) -> list[PageEntry]:
    return [
        PageEntry("cluster", owner.tr("Cluster"), "cluster"),
        PageEntry("setup", owner.tr("Set up"), "plug-upright"),
        PageEntry("monitor", owner.tr("Monitor"), "activity"),
        PageEntry("logs", owner.tr("Logs"), "align-left", bottom=True),
        PageEntry("settings", owner.tr("Settings"), "adjustments-horizontal", bottom=True),
    ]


def install_language(app: QApplication, choice: str) -> str:
    """Load the German translation when it is chosen, or when the system is German; returns the language."""
    language = QLocale.system().name()[:2] if choice == "system" else choice
    if language != "de":
        return "en"
    translator = QTranslator(app)
    with as_file(files("stellwerk_resources") / "translations" / "stellwerk_de.qm") as path:
        if Path(path).exists() and translator.load(str(path)):
            QCoreApplication.installTranslator(translator)
    return "de"


def run(virtual: int = 0, topology: str = "switch", base: Path | None = None, argv: Sequence[str] = ()) -> int:
    """Open the window and stay until it is closed."""
    started = time.monotonic()
    app = QApplication([sys.argv[0], *argv])
    app.setApplicationName("Stellwerk")
    app.setDesktopFileName("stellwerk")
    window = Application(app, ClusterStore(base), started)
    window.show(after=(lambda: window.try_virtual(virtual, topology)) if virtual else None)
    code = app.exec()
    window.close()
    return code
