"""The virtual cluster in the window: how it is begun and ended, and what is said of one that has ended."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.store import ClusterFolder
from stellwerk_gui.controller import Controller
from stellwerk_gui.dialogs import choose
from stellwerk_gui.shell import Shell
from stellwerk_gui.trial.mark import home_of, set_mark
from stellwerk_gui.trial.panel import TrialPanel
from stellwerk_gui.trial.runner import Trial, TrialAnswers

log = logging.getLogger(__name__)

USUAL = (8, "switch")
SHAPES = ("single", "pair", "ring", "chain", "switch")


class TrialLife(QObject):
    """One virtual cluster at a time."""

    def __init__(
        self, trial: Trial, answers: TrialAnswers, panel: TrialPanel, controller: Controller, shell: Shell
    ) -> None:
        super().__init__(shell)
        self.trial, self.answers, self.panel = trial, answers, panel
        self.controller, self.shell = controller, shell
        self.find: Callable[[], object] = lambda: None  # brings the wizard's first step to the front
        self.open: Callable[[ClusterFolder], object] = lambda folder: None
        self._home: Path | None = None
        self._next: tuple[int, str] | None = None
        self._told: StellwerkError | None = None
        trial.problem.connect(self._problem)
        trial.started.connect(self._started)
        trial.ended.connect(self._ended)
        panel.closed.connect(panel.hide)
        panel.instead.connect(self.instead)

    def begin(self, nodes: int, topology: str) -> None:
        """Start simulated Sparks and put them into a new cluster's wizard; those that run are opened again."""
        if self.trial.cluster is not None:
            self._open_running(self.trial.cluster)
            return
        self.shell.error_box.withdraw(self._told)  # the new ones are the remedy
        self.shell.status.set_work(self.tr("Starting {n} simulated Sparks").format(n=nodes), None)
        self.trial.start(nodes, topology)

    def _problem(self, error: StellwerkError) -> None:
        self._told = error
        self.shell.show_error(error)

    def instead(self, nodes: int, topology: str) -> None:
        """End the simulated Sparks that run and start others."""
        if self.trial.cluster is None:
            self.begin(nodes, topology)
            return
        self._next = (nodes, topology)
        self.trial.stop()

    def toggle(self) -> None:
        """Show or hide the panel; who opens it by a key goes on in it."""
        self.panel.setVisible(not self.panel.isVisible())
        if self.panel.isVisible():
            self.panel.node.setFocus()

    def say_ended(self, folder: ClusterFolder) -> None:
        """A cluster whose simulated nodes are gone is not opened: it would be eight nodes that do not answer."""
        choose(
            self.shell,
            self.tr("This virtual cluster has ended."),
            self.tr("Its simulated nodes went with the program that ran them."),
            (self.tr("Start a new one"), lambda: self.begin(*_shape_of(folder))),
            (self.tr("Forget it"), lambda: self._forget(folder)),
        )

    def _forget(self, folder: ClusterFolder) -> None:
        self.controller.store.remove(folder)
        self.shell.pages["start"].shown()

    # -- the process ---------------------------------------------------------------------------------------------

    def _started(self, cluster: Any) -> None:
        self.answers.cluster = cluster
        self._home = cluster.dir
        self.shell.status.set_work("", None)
        self.shell.tag_trial(self.toggle)
        try:
            folder, _ = self.controller.store.create(self._free_name(self.tr("virtual")))
            set_mark(folder, cluster.dir)
        except StellwerkError as error:
            self.shell.show_error(error)
            return
        self.controller.open_cluster(folder, partial(self._opened, cluster))

    def _opened(self, cluster: Any) -> None:
        from stellwerk.remote.target import Target

        self.controller.pairing.add(tuple(Target(n.host, n.port, n.user, n.name) for n in cluster.nodes))
        self.find()

    def _open_running(self, cluster: Any) -> None:
        for folder in self.controller.store.all():
            if home_of(folder) == cluster.dir:
                self.open(folder)
                return
        self._started(cluster)

    def _free_name(self, wanted: str) -> str:
        """Two clusters of one name could not be told apart under *Recent*."""
        taken = set()
        for folder in self.controller.store.all():
            try:
                taken.add(folder.load().name)
            except StellwerkError as error:
                log.info("%s has no name that could be taken: %s", folder.path.name, error)
        names = (wanted, *(f"{wanted} {n}" for n in range(2, len(taken) + 3)))
        return next(name for name in names if name not in taken)

    def _ended(self) -> None:
        """Its panel would change nothing any more, and its nodes answer nobody."""
        self.answers.cluster = None
        self.shell.status.tag.hide()
        self.panel.hide()
        self.shell.status.set_work("", None)
        home, self._home = self._home, None
        folder = self.controller.folder
        if folder is None or self.controller.session is None or home_of(folder) != home or home is None:
            self._ended_and_closed(home)
            return
        self.controller.happened.emit(self.tr("the virtual cluster has ended"))
        self.controller.close_cluster(partial(self._ended_and_closed, home))

    def _ended_and_closed(self, home: Path | None) -> None:
        for folder in self.controller.store.all():
            if home is not None and home_of(folder) == home and _is_draft(folder):
                self.controller.store.remove(folder)  # nothing was set up in it, and nothing can be any more
        if self.shell.front == "start":
            self.shell.pages["start"].shown()
        following, self._next = self._next, None
        if following is not None:
            self.begin(*following)


def _is_draft(folder: ClusterFolder) -> bool:
    try:
        return folder.load().topology is None and not folder.reports.is_dir()
    except StellwerkError:
        return False


def _shape_of(folder: ClusterFolder) -> tuple[int, str]:
    """As many nodes, cabled in the same way, as far as that is known."""
    try:
        cluster = folder.load()
    except StellwerkError:
        return USUAL
    count = len(cluster.nodes)
    return (count, cluster.topology) if count and cluster.topology in SHAPES else USUAL
