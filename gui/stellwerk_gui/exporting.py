"""A file that a person takes along: the place is asked for, and what became of it is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QCoreApplication, QIODevice
from PySide6.QtWidgets import QFileDialog, QWidget

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.files import write_atomic

if TYPE_CHECKING:
    from stellwerk_gui.cluster_controller import ClusterController


def translate(text: str) -> str:
    return QCoreApplication.translate("exporting", text)


def export(controller: ClusterController, window: QWidget, name: str, data: bytes) -> None:
    """Ask where `data` goes, with `name` to begin with. A file that was there is whole when it cannot be written."""
    chosen, _ = QFileDialog.getSaveFileName(window, translate("Save"), name)
    if not chosen:
        return
    try:
        write_atomic(Path(chosen), data, 0o644)
    except StellwerkError as error:
        controller.problem.emit(error)
    else:
        controller.happened.emit(translate("saved {name}").format(name=Path(chosen).name))


def picture_of(widget: QWidget) -> bytes:
    """What `widget` shows, as PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    widget.grab().save(buffer, "PNG")
    return bytes(buffer.data().data())
