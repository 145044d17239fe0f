"""Takes the pictures of an album: waits for a state of the window and grabs it in every theme that is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QApplication, QDialog, QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk_gui import theme
from stellwerk_gui.app import Application

POLL_MS = 25
SMALLEST_FILE = 0  # Qt's quality of a PNG: the harder it packs, the lower
Look = Callable[[str, QWidget], None]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which pictures."""

    folder: Path
    themes: tuple[str, ...] = ("dark", "light")
    language: str = "en"
    size: tuple[int, int] = (1440, 900)
    scale: float = 1.0
    nodes: int = 4
    topology: str = "ring"
    patience: float = 1.0  # how many times longer than usual a step may take
    quick: bool = False  # without graphs that fill up: for who looks at texts only
    # State -> names of its files, each ending in its theme. Empty: every state in all `themes`.
    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class AllTaken(Exception):
    """The journey may end: every chosen picture is there."""


@dataclass
class Camera:
    """Looks at `window`.

    `look` is called with each state's name and widget, e.g. by the test for clipped text.
    """

    wanted: Wanted
    look: Look | None = None
    say: Callable[[str], None] = lambda text: None
    paths: list[Path] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    window: Application = field(init=False)

    def until(self, condition: Callable[[], bool], seconds: float, what: str, needed: bool = True) -> bool:
        """Let the window live until `condition` holds."""
        if condition():
            return True
        loop = QEventLoop()
        poll = QTimer()
        poll.setInterval(POLL_MS)
        end = time.monotonic() + seconds * self.wanted.patience
        poll.timeout.connect(lambda: loop.quit() if condition() or time.monotonic() > end else None)
        poll.start()
        loop.exec()
        poll.stop()
        if condition():
            return True
        self.missed.append(what)
        if needed:
            waited = seconds * self.wanted.patience
            states = "; ".join(f"{n.name} {n.state} {n.reason}".strip() for n in self.window.controller.nodes)
            why = f"{what} did not come within {waited:.0f} s ({states or 'no machines'})"
            raise StellwerkError("the pictures could not be taken", why=why)
        return False

    def settle(self, seconds: float) -> None:
        """Let the window live for a while, where the time itself is what is shown."""
        loop = QEventLoop()
        QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()

    def shot_front(self, name: str) -> None:
        """Grab the question in front, and answer it with no."""
        front = QApplication.activeModalWidget()
        if front is not None:
            self.shot(name, front)
            front.close()

    def shot_dialog(self, name: str, dialog: QDialog) -> None:
        dialog.open()
        self.shot(name, dialog)
        dialog.reject()

    def shot(self, name: str, widget: QWidget | None = None) -> None:
        """Grab the window (or `widget`) in every theme that is wanted."""
        target = widget if widget is not None else self.window.shell
        current = theme.current()
        chosen = self.wanted.chosen
        if chosen and name not in chosen:
            return
        files = {f: f.rpartition("-")[2] for f in chosen.get(name, ())} or {
            f"{name}-{t}": t for t in self.wanted.themes
        }
        for file, choice in files.items():
            if current.choice != choice:
                current.apply(choice, current.scale, current.reduce_motion)
            self.settle(0.02)
            for _ in range(3):  # a layout that answers to its own width needs more than one turn
                QApplication.sendPostedEvents()
                QApplication.processEvents()
            if self.look is not None:
                self.look(f"{name} {choice} {self.wanted.language}", target)
            path = self.wanted.folder / f"{file}.png"
            image = _small(target.grab().toImage()) if chosen else target.grab().toImage()
            if not image.save(str(path), quality=SMALLEST_FILE):
                raise StellwerkError(f"{path} could not be saved", remedy="Choose another folder")
            self.paths.append(path)
        self.say(name)
        if chosen and len(self.paths) == sum(map(len, chosen.values())):
            raise AllTaken


def _small(image: QImage) -> QImage:
    """Six bits a colour: no eye sees it, and a file of a repository is a quarter smaller."""
    whole = image.convertToFormat(QImage.Format.Format_RGB888)
    lines = np.frombuffer(whole.constBits(), np.uint8).reshape(whole.height(), whole.bytesPerLine())
    rounded = np.minimum((lines.astype(np.uint16) + 2) // 4 * 4, 255).astype(np.uint8)
    drawn = QImage(rounded.tobytes(), whole.width(), whole.height(), whole.bytesPerLine(), whole.format())
    return drawn.copy()  # of its own: the bytes above end with this function
