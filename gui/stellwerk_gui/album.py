"""Pictures of every page and state, from a virtual cluster: for the README, and for looking at what a change did."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QPointF, QSize
from PySide6.QtWidgets import QApplication, QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say
from stellwerk.setup.store import ClusterStore
from stellwerk_gui import scenes
from stellwerk_gui.app import Application
from stellwerk_gui.camera import AllTaken, Camera, Wanted
from stellwerk_gui.eyes import faults
from stellwerk_gui.settings import SettingsFile

MEASURE_S = 6.0  # a picture of figures needs no more of them

# The pictures of README.md: (machines, topology) -> what of their journey is shown.
README: Mapping[tuple[int, str], Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        (4, "ring"): {"setup-3-wrong-cable": ("cables-dark",)},
        (4, "switch"): {"setup-4-plan": ("plan-dark",)},
        (8, "switch"): {
            "setup-6-proof-failing": ("proof-dark",),
            "cluster": ("cluster-dark", "cluster-light"),
            "monitor": ("monitor-dark",),
        },
    }
)


class Album(Camera):
    """Drives the window through its journey and grabs it at every state."""

    def run(self) -> None:
        """Take all pictures. Raises `StellwerkError` when the journey does not come to its end."""
        app = QApplication.instance() or QApplication([sys.argv[0]])
        assert isinstance(app, QApplication)
        with tempfile.TemporaryDirectory(prefix="stellwerk-pictures-") as base:
            store = ClusterStore(Path(base))
            SettingsFile(store.base / "settings.json").change(
                theme=self.wanted.themes[0],
                language=self.wanted.language,
                scale=self.wanted.scale,
                reduce_motion=True,  # a panel that is on its way belongs into no picture
            )
            self.window = Application(app, store, time.monotonic(), search=False)
            self.window.shell.resize(QSize(*self.wanted.size))
            self.window.show()
            try:
                with contextlib.suppress(AllTaken):
                    self._journey()
            finally:
                self.window.close()
                self.window.shell.deleteLater()
                self.window.deleteLater()
                app.sendPostedEvents(None, 0)

    # -- the journey ---------------------------------------------------------------------------------------------

    def _journey(self) -> None:
        self.until(lambda: self.window._pages_built, 20, "the pages")
        self._start()
        self._set_up()
        self._broken()
        self._running()
        self._the_rest()

    def _start(self) -> None:
        w = self.window
        self.shot("start")
        scenes.start_states(self)
        scenes.crash_states(self)
        w.shell.show_error(
            StellwerkError(
                say("{path} could not be saved on this computer", path="plan.json"),
                why="the disk is full",
                remedy="Free some space and try again; the file from before is unchanged",
            )
        )
        self.shot("error")
        w.shell.error_box.hide()
        w.shell.open_page("settings")
        self.shot("settings")
        w.shell.open_page("start")

    def _set_up(self) -> None:
        w, c = self.window, self.window.controller
        w.try_virtual(self.wanted.nodes, self.wanted.topology)
        self.until(lambda: len(c.nodes) == self.wanted.nodes, 40, "the machines")
        setup = w.setup_page
        self.shot("setup-1-find")
        setup.find_step.field.setPlainText("nvidia@10.0.0.7:99999")
        setup.find_step.add_typed()
        self.shot("setup-1-find-problem")
        setup.find_step.field.clear()
        setup.find_step.problem.hide()
        self._questions()
        scenes.pair_states(self)
        setup.open_step("find")
        setup.go_next()
        self.shot("setup-2-pairing")
        self.until(lambda: all(n.ready for n in c.nodes), 90, "pairing")
        self.shot("setup-2-paired")
        setup.go_next()
        self.until(lambda: c.look is not None and not c.look.cable_findings, 60, "the first look")
        self.shot("setup-3-cables")
        look = setup.views["look"]
        look.show_tab("machines")  # type: ignore[attr-defined]
        self.shot("setup-3-machines")
        look.show_tab("cables")  # type: ignore[attr-defined]
        self._wrong_cable()
        setup.go_next()
        self.until(lambda: c.plan is not None, 40, "the plan")
        self.shot("setup-4-plan")
        setup.views["plan"].show_as("drawing")  # type: ignore[attr-defined]
        self.shot("setup-4-drawing")
        setup.views["plan"].show_as("table")  # type: ignore[attr-defined]
        setup.go_next()
        states: list[str] = []
        c.apply_event.connect(lambda event: states.append(event.state))
        self.until(lambda: "holding" in states or "applying" in states or c.outcome is not None, 60, "applying")
        self.shot("setup-5-apply")
        self.until(lambda: c.outcome is not None, 120, "the end of applying")
        scenes.apply_states(self)
        setup.open_step("prove")
        self.until(lambda: c.proof is not None and len(c.proof.checks) > 12, 60, "the first checks")
        self.shot("setup-6-proving")
        self.until(lambda: not c.proving, 180, "the proof")
        self._self_tested()
        self.shot("setup-6-proof")

    def _wrong_cable(self) -> None:
        """A plug in the wrong port: seen, named, and gone again when it is put right."""
        w, c = self.window, self.window.controller
        node = c.nodes[-1].name
        # On a switch one cable of two would do: there a cable is pulled instead.
        kind = "cable-wrong-port" if self.wanted.topology == "ring" else "cable-unplugged"
        w.trial.set_fault(kind, node)
        self.until(lambda: c.look is not None and bool(c.look.cable_findings), 60, "the wrong cable", needed=False)
        self.shot("setup-3-wrong-cable")
        w.trial.clear_fault(kind, node)
        self.until(lambda: c.look is not None and not c.look.cable_findings, 60, "the cable put right")

    def _questions(self) -> None:
        """The dialogs, with a machine of the virtual cluster in them."""
        from stellwerk.remote.prompts import PasswordQuestion
        from stellwerk.remote.trust import HostKey, HostKeyAlarm, HostKeyQuestion
        from stellwerk_gui.prompts import ChangedKeyDialog, HostKeyDialog, PasswordDialog

        node = self.window.trial.cluster.nodes[0]
        key = HostKey("ssh-ed25519", "", node.host_key_fingerprint)
        shell = self.window.shell
        question = HostKeyQuestion(node.name, node.host, node.port, key)
        alarm = HostKeyAlarm(node.name, node.host, node.port, key, (key,))
        why = PasswordQuestion(node.name, node.user, node.host, 2, "the last answer was not accepted")
        for name, dialog in (
            ("dialog-host-key", HostKeyDialog(shell, question)),
            ("dialog-changed-key", ChangedKeyDialog(shell, alarm)),
            ("dialog-password", PasswordDialog(shell, why, sudo=False)),
            ("dialog-sudo", PasswordDialog(shell, PasswordQuestion(node.name, node.user, node.host), sudo=True)),
        ):
            self.shot_dialog(name, dialog)

    def _broken(self) -> None:
        """Half 13 Gb/s and a wrong MTU, as *Prove* finds them."""
        w, c = self.window, self.window.controller
        w.trial.set_fault("half-13g", c.nodes[1].name)
        w.trial.set_fault("mtu-reset", c.nodes[-1].name)
        self.settle(0.4)
        c.prove()
        self.until(lambda: not c.proving, 180, "the second proof")
        self._self_tested()
        self.shot("setup-6-proof-failing")
        w.shell.open_page("cluster")
        self.until(lambda: bool(w.cluster_page.map.view.nodes), 20, "the map")
        w.cluster_page.open_node(c.nodes[1].name)
        self.settle(0.6)
        self.shot("cluster-degraded")
        w.cluster_page.close_panel()
        w.trial.clear_fault("mtu-reset", c.nodes[-1].name)
        w.shell.open_page("setup")
        w.setup_page.open_step("prove")
        self.settle(0.4)
        c.prove()
        self.until(lambda: not c.proving, 180, "the proof of one slow half")
        prove = w.setup_page.views["prove"]
        prove.compare.setCurrentIndex(prove.compare.count() - 1)  # type: ignore[attr-defined]
        self.shot("setup-6-proof-degraded-compared")
        prove.compare.setCurrentIndex(0)  # type: ignore[attr-defined]
        scenes.change_dialogs(self)
        w.trial.clear_fault("half-13g", c.nodes[1].name)
        w.shell.open_page("setup")
        w.setup_page.open_step("prove")
        self.settle(0.4)
        c.prove()
        self.until(lambda: not c.proving, 180, "the third proof")
        self.shot("setup-6-proof-again")

    def _self_tested(self) -> None:
        """The self-test follows a proof by itself."""
        card = self.window.setup_page.views["prove"].selftest  # type: ignore[attr-defined]
        self.until(lambda: card.running, 2, "the start of the self-test", needed=False)
        self.until(lambda: not card.running, 60, "the self-test", needed=False)

    def _running(self) -> None:
        w, c = self.window, self.window.controller
        names = [n.name for n in c.nodes]
        w.shell.open_page("monitor")
        for i, name in enumerate(names):
            busy = (97.0, 71.0, 88.0, 52.0, 93.0, 64.0, 80.0, 45.0)[i % 8]
            w.trial.load(name, (95.0, 30.0, 60.0, 12.0)[i % 4], gpu_pct=busy, cpu_pct=busy / 4, memory_gib=busy)
        w.monitor_page.stretch.choose("60")
        w.monitor_page.group.set_window(60)
        self.settle(20.0 if self.wanted.chosen else 1.5 if self.wanted.quick else 6.0)
        w.shell.open_page("cluster")
        self.settle(0.8)
        self.shot("cluster")
        w.cluster_page.open_node(names[0])
        self.settle(0.3)
        self.shot("cluster-panel")
        w.cluster_page.close_panel()
        w.cluster_page.show_as("table")
        self.shot("cluster-table")
        w.cluster_page.show_as("map")
        self._cables()
        scenes.shapes(self)
        w.shell.open_page("monitor")
        self.settle(0.3)
        self.shot("monitor")
        page = w.monitor_page
        page.group.point_at(page.graphs[0].end_s - 4, page.graphs[0])
        self.shot("monitor-crosshair")
        page.group.isolate(names[0], names)
        self.shot("monitor-one-node")
        page.group.isolate(names[0], names)
        page.toggle_pause()
        page.log_axis.setChecked(True)
        self.shot("monitor-paused-log")
        page.group.point_at(None, None)
        page.log_axis.setChecked(False)
        page.toggle_pause()
        w.trial.set_fault("power-off", names[-1])
        self.until(lambda: not c.nodes[-1].ready, 60, "the machine that lost power")
        self.settle(1.5 if self.wanted.quick else 4.0)
        self.shot("monitor-node-off")
        w.shell.open_page("cluster")
        self.settle(0.6)
        self.shot("cluster-node-off")
        w.shell.open_page("setup")
        w.setup_page.open_step("pair")
        self.shot("setup-2-node-off")
        w.shell.open_page("measure")
        self.shot("measure")
        self._measure()

    def _the_rest(self) -> None:
        w = self.window
        w.shell.open_page("logs")
        self.settle(0.4)
        self.shot("logs")
        w.trial_panel.show()
        self.settle(0.4)
        self.shot("trial-panel")
        w.trial_panel.hide()
        w.shell.open_palette()
        palette = QApplication.activePopupWidget()
        if palette is not None:
            self.shot("palette", palette)
            palette.close()
        closed: list[bool] = []
        w.controller.close_cluster(lambda: closed.append(True))
        self.until(lambda: bool(closed), 60, "the end of the cluster")
        w.shell.open_page("start")
        self.shot("start-recent")
        w.new_cluster()
        self.until(lambda: w.controller.session is not None, 20, "an empty cluster")
        self.shot("setup-1-empty")
        for page in ("cluster", "monitor"):
            w.shell.open_page(page)
            self.shot(f"{page}-empty")

    def _cables(self) -> None:
        """A cable under the mouse, and in the panel."""
        page = self.window.cluster_page
        if not page.map.view.cables:
            return
        cable = page.map.view.cables[0]
        page._hover_cable(cable, QPointF(page.map.width() / 2, page.map.height() / 3))
        self.shot("cluster-cable-hover")
        page._open_cable(cable)
        self.shot("cluster-cable")
        page.close_panel()

    def _measure(self) -> None:
        """A short measurement on this computer, on its way and done."""
        page = self.window.measure_page
        page.choices.rivals.setChecked(False)
        page.choices.where.choose("here")
        page.choices.ranks.setCurrentIndex(0)
        page.choices.sizes.setCurrentIndex(1)
        page.measure()
        shown = self.until(lambda: page.runner.progress is not None, 10, "a measurement", needed=False)
        if shown:
            self.shot("measure-running")
            enough = 3.0 if self.wanted.quick else MEASURE_S
            end = time.monotonic() + enough
            self.until(lambda: not page.runner.running or time.monotonic() > end, 60, "some figures")
            if page.runner.running:
                page.runner.stop()
                self.until(lambda: not page.runner.running, 20, "the end of measuring", needed=False)
            self.shot("measure-done")


def take(
    wanted: Wanted, say: Callable[[str], None] = lambda text: None, faults_into: list[str] | None = None
) -> list[Path]:
    """Take all pictures without a screen; returns their paths. `faults_into`: what cannot be read in them is added."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    wanted.folder.mkdir(parents=True, exist_ok=True)
    album = Album(wanted, say=say)
    if faults_into is not None:

        def look(what: str, widget: QWidget) -> None:
            faults_into.extend(f"{what}: {fault}" for fault in faults(widget))

        album.look = look
    album.run()
    return album.paths


def take_readme(folder: Path, patience: float, say: Callable[[str], None] = lambda text: None) -> list[Path]:
    """Take the pictures of README.md, under the names that it shows."""
    paths: list[Path] = []
    for (nodes, topology), chosen in README.items():
        paths += take(Wanted(folder, ("dark",), nodes=nodes, topology=topology, patience=patience, chosen=chosen), say)
    return paths
