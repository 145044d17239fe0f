"""The program: builds the window, wires the pages, ends everything in order."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import ClusterFolder, ClusterStore
from stellwerk_gui import theme
from stellwerk_gui.asking import Asking
from stellwerk_gui.bridge import Bridge
from stellwerk_gui.changes import Changes
from stellwerk_gui.controller import Controller
from stellwerk_gui.crash import CrashHandler
from stellwerk_gui.dialogs import offer_old_reports
from stellwerk_gui.health import Health
from stellwerk_gui.language import install_language
from stellwerk_gui.lean import Collector, settle
from stellwerk_gui.logs import ring as log_ring
from stellwerk_gui.palette import Command
from stellwerk_gui.rail import PageEntry
from stellwerk_gui.search import Search, target_of
from stellwerk_gui.settings import Settings, SettingsFile
from stellwerk_gui.shell import Shell
from stellwerk_gui.trial.mark import has_ended


class Application(QObject):
    """Owns window, bridge, controller and the virtual cluster."""

    def __init__(self, app: QApplication, store: ClusterStore, started_at: float, *, search: bool = True) -> None:
        """`search` False: never listen on the network (tests, pictures)."""
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
        self.collector = Collector(self)
        self.bridge = Bridge(self)
        self.controller = Controller(self.bridge, store, self)
        self.controller.rate_hz = value.sample_rate_hz
        self.changes = Changes(self.controller, self)
        self.search = Search(self.bridge, self, allowed=search)
        self.shell = Shell(_entries(self), self.settings)
        self.health = Health(self.controller, self.shell)
        self.asking = Asking(self.shell, self.controller, self.changes)
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
        from stellwerk_gui.left_open import LeftOpen
        from stellwerk_gui.logs.page import LogsPage
        from stellwerk_gui.measure.page import MeasurePage
        from stellwerk_gui.monitor.page import MonitorPage
        from stellwerk_gui.preferences.page import SettingsPage
        from stellwerk_gui.prompts import GuiPrompts
        from stellwerk_gui.setup.page import SetupPage
        from stellwerk_gui.trial.life import TrialLife
        from stellwerk_gui.trial.panel import TrialPanel
        from stellwerk_gui.trial.runner import Trial, TrialAnswers

        self.left_open = LeftOpen(self.controller, self)
        self.trial = Trial(self.bridge, self)
        self.prompts = GuiPrompts(self.shell)
        self.answers = TrialAnswers(self.prompts)
        self.controller.pairing.use_prompts(self.answers)  # type: ignore[arg-type]
        self.cluster_page = ClusterPage(self.controller)
        self.setup_page = SetupPage(self.controller)
        self.monitor_page = MonitorPage(self.controller)
        self.measure_page = MeasurePage(self.controller)
        self.logs_page = LogsPage(self.ring)
        self.settings_page = SettingsPage(self.settings, self.store.base)
        for key, page in (
            ("cluster", self.cluster_page),
            ("setup", self.setup_page),
            ("monitor", self.monitor_page),
            ("measure", self.measure_page),
            ("logs", self.logs_page),
            ("settings", self.settings_page),
        ):
            self.shell.add_page(key, page)
        self.trial_panel = TrialPanel(self.trial)
        self.shell.add_side_panel(self.trial_panel)
        self.life = TrialLife(self.trial, self.answers, self.trial_panel, self.controller, self.shell)
        self._wire_pages()

    def _wire(self) -> None:
        c = self.controller
        self.crash.crashed.connect(self._show_crash)
        self.crash.failed.connect(self.shell.show_error)
        self.bridge.unhandled.connect(self.shell.show_error)
        c.problem.connect(self.shell.show_error)
        c.held.connect(self.asking.take_over)
        c.happened.connect(self._happened)
        c.cluster_changed.connect(self._cluster_changed)
        self.settings.changed.connect(self._settings_changed)
        self.start.set_up.clicked.connect(self.new_cluster)
        self.start.open.clicked.connect(self._open_any)
        self.start.virtual.clicked.connect(lambda: self.try_virtual(8, "switch"))
        self.start.add_by_address.clicked.connect(self.new_cluster)
        self.start.pair_found.clicked.connect(self.pair_found)
        self.search.changed.connect(self._show_found)
        self.shell.opened.connect(lambda _: self._search_or_not())
        self.shell.more_commands = self._commands
        self.shell.way = self._way
        self.start.opened = self.open_cluster
        self.start.forgotten = lambda folder: self.asking.forget(folder, self.start.refresh)
        self.settings.failed.connect(self.shell.show_error)
        if self.ring.problem is not None:
            self.shell.show_error(self.ring.problem)
        elif self.settings.problem:
            self.shell.show_error(StellwerkError(self.settings.problem))

    def _wire_pages(self) -> None:
        self.cluster_page.set_up.connect(lambda: self.shell.open_page("setup"))
        self.cluster_page.add_node.connect(self._add_node)
        self.cluster_page.prove.connect(self._prove_again)
        self.cluster_page.open_logs.connect(self._logs_of)
        self.cluster_page.unpair.connect(self.asking.unpair)
        self.asking.unpairing.connect(self.cluster_page.close_panel)
        self.setup_page.step_opened.connect(lambda _: self._search_or_not())
        self.setup_page.step_opened.connect(lambda _: self.health.show())
        self.setup_page.finished.connect(self.health.show)
        self.setup_page.finished.connect(lambda: self.shell.open_page("cluster"))
        self.setup_page.closed.connect(self._close_setup)
        self.setup_page.cancelled.connect(lambda: self.asking.leave(self.start.refresh))
        self.setup_page.mesh_wanted.connect(self.asking.open_mesh)
        self.setup_page.undo_wanted.connect(self.asking.undo)
        self.cluster_page.test_wanted.connect(self._show_test)
        self.cluster_page.step_wanted.connect(self._open_step)
        self.changes.undone.connect(lambda _: self.setup_page.open_step("look"))
        self.life.find = lambda: self._open_step("find")
        self.life.open = self.open_cluster

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

    def pair_found(self) -> None:
        """A new cluster of the machines that announce themselves here."""
        targets = tuple(target_of(m) for m in self.search.machines if not m.is_this_computer)
        self.build_pages()
        try:
            folder, _ = self.store.create(self.tr("cluster"))
        except StellwerkError as error:
            self.shell.show_error(error)
            return

        def opened() -> None:
            self.controller.pairing.add(targets)
            self.shell.open_page("setup")
            self.setup_page.open_step("find")

        self.controller.open_cluster(folder, opened)

    def _way(self, key: str) -> str:
        """Without a cluster there is nothing to set up yet: the three doors come first."""
        return "start" if key == "setup" and self.controller.session is None else key

    def _search_or_not(self) -> None:
        """Listen on the network only while a page shows what is found."""
        front = self.shell.front
        finding = self._pages_built and front == "setup" and self.setup_page.step == "find"
        self.search.set_on(front == "start" or finding)
        if front == "start" and self.controller.session is None and self.search.listening:
            self.shell.status.event_text.setText(self.tr("Listening for machines over mDNS"))

    def _show_found(self) -> None:
        machines = [m for m in self.search.machines if not m.is_this_computer]
        self.start.show_found(tuple(m.name for m in machines), self.search.available)
        if self._pages_built:
            self.setup_page.find_step.show_found(tuple(target_of(m) for m in machines), self.search.available)

    def _commands(self) -> list[Command]:
        """What Ctrl+K offers on every page."""
        found = [
            Command(self.tr("New cluster"), self.new_cluster),
            Command(self.tr("Theme: dark"), lambda: self.settings.change(theme="dark")),
            Command(self.tr("Theme: light"), lambda: self.settings.change(theme="light")),
            Command(self.tr("Theme: as the system"), lambda: self.settings.change(theme="system")),
        ]
        if self.controller.session is not None:
            found.append(Command(self.tr("Close the cluster"), self._close_setup))
            if len(self.controller.nodes) > 1:
                found.append(Command(self.tr("Nodes may reach each other (SSH)"), self.asking.open_mesh))
            if self.changes.newest_plan() is not None:
                found.append(Command(self.tr("Take the newest plan back"), self.asking.undo))
        if self._pages_built and self.trial.cluster is not None:
            found.append(Command(self.tr("Virtual cluster: faults and load"), self.life.toggle))
            found.append(Command(self.tr("Virtual cluster: end it"), self.trial.stop))
        else:
            found.append(Command(self.tr("Try a virtual cluster"), lambda: self.try_virtual(8, "switch")))
            found.append(Command(self.tr("Try a virtual cluster: a ring"), lambda: self.try_virtual(8, "ring")))
        return found

    def open_cluster(self, folder: ClusterFolder) -> None:
        """Open a cluster: a finished one on its map, another one where its wizard stands."""
        self.build_pages()
        if has_ended(folder):
            self.life.say_ended(folder)
            return

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
        folders = [folder for folder in self.store.all() if not has_ended(folder)]
        if folders:
            newest = max(folders, key=lambda f: f.cluster_file.stat().st_mtime)
            self.open_cluster(newest)
        else:
            self.new_cluster()

    def try_virtual(self, nodes: int, topology: str) -> None:
        """Start simulated Sparks and put them into a new cluster's wizard."""
        self.build_pages()
        self.life.begin(nodes, topology)

    def _add_node(self) -> None:
        self.shell.open_page("setup")
        self.setup_page.open_step("find")

    def _prove_again(self) -> None:
        self.shell.open_page("setup")
        self.setup_page.open_step("prove")
        self.controller.prove()

    def _open_step(self, key: str) -> None:
        self.shell.open_page("setup")
        self.setup_page.open_step(key)

    def _show_test(self, name: str) -> None:
        """The proof's worst cell of one machine."""
        self.shell.open_page("setup")
        self.setup_page.open_step("prove")
        self.setup_page.show_test_of(name)

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
        self.health.show()
        if not open_now:
            self.shell.open_page("start")

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

    # -- life ----------------------------------------------------------------------------------------------------

    def show(self, after: Callable[[], None] | None = None) -> None:
        """Show the start page; everything heavy is loaded after the first picture."""
        self.crash.install()
        self.collector.start()
        self.shell.closing.connect(self.close)
        self._cluster_changed()
        self.shell.open_page("start")
        self.shell.show()

        def later() -> None:
            self.first_paint_s = time.monotonic() - self.started_at
            self.build_pages()
            offer_old_reports(self.shell, self.crash.left_over())
            if after is not None:
                after()

        QTimer.singleShot(0, later)

    def close(self) -> None:
        """End links, virtual cluster, threads; called once when the window closes."""
        if getattr(self, "_closed", False):
            return
        self._closed = True
        self.shell.leave()
        self.search.set_on(False)
        self.controller.shutdown()
        if self._pages_built:
            self.bridge.run(self.trial.wait_stopped(), 20.0)
        self.bridge.stop()
        self.collector.stop()
        self.crash.uninstall()
        log_ring.uninstall(self.ring)


def _entries(owner: QObject) -> list[PageEntry]:
    return [
        PageEntry("cluster", owner.tr("Cluster"), "cluster"),
        PageEntry("setup", owner.tr("Set up"), "plug-upright"),
        PageEntry("monitor", owner.tr("Monitor"), "activity"),
        PageEntry("measure", owner.tr("Measure"), "gauge"),
        PageEntry("logs", owner.tr("Logs"), "align-left", bottom=True),
        PageEntry("settings", owner.tr("Settings"), "adjustments-horizontal", bottom=True),
    ]


def run(virtual: int = 0, topology: str = "switch", base: Path | None = None, argv: Sequence[str] = ()) -> int:
    """Open the window and stay until it is closed."""
    started = time.monotonic()
    app = QApplication([sys.argv[0], *argv])
    app.setApplicationName("Stellwerk")
    app.setDesktopFileName("stellwerk")
    window = Application(app, ClusterStore(base), started)

    def built() -> None:
        settle()
        if virtual:
            window.try_virtual(virtual, topology)

    window.show(after=built)
    code = app.exec()
    window.close()
    return code
