"""Small questions that have to be answered before anything else happens."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def translate(text: str) -> str:
    return QCoreApplication.translate("dialogs", text)


def confirm(window: QWidget, title: str, text: str, do_it: str, run: Callable[[], object]) -> QMessageBox:
    """Ask before something that cannot be taken back; the safe answer is the one that Enter and Esc give."""
    box = QMessageBox(window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(title)
    box.setInformativeText(text)
    keep = box.addButton(translate("Cancel"), QMessageBox.ButtonRole.RejectRole)
    go = box.addButton(do_it, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(keep)
    box.setEscapeButton(keep)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    go.clicked.connect(lambda: run())
    box.open()
    return box


def choose(
    window: QWidget,
    title: str,
    text: str,
    keep: tuple[str, Callable[[], object]],
    drop: tuple[str, Callable[[], object]],
) -> QMessageBox:
    """Two ways on, or none: `keep` loses nothing and is what Enter gives; Esc leaves everything as it is."""
    box = QMessageBox(window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(title)
    box.setInformativeText(text)
    stay = box.addButton(translate("Cancel"), QMessageBox.ButtonRole.RejectRole)
    first = box.addButton(keep[0], QMessageBox.ButtonRole.AcceptRole)
    second = box.addButton(drop[0], QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(first)
    box.setEscapeButton(stay)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    first.clicked.connect(lambda: keep[1]())
    second.clicked.connect(lambda: drop[1]())
    box.open()
    return box


def offer_old_reports(window: QWidget, reports: list[Path]) -> QMessageBox | None:
    """A crash of an earlier run is offered once."""
    if not reports:
        return None
    box = QMessageBox(window)
    box.setTextFormat(Qt.TextFormat.PlainText)
    ended = any(report.name.startswith("crash-native-") for report in reports)
    went_on = translate("Something went wrong inside Stellwerk last time.")
    box.setText(translate("Stellwerk ended unexpectedly last time.") if ended else went_on)
    text = translate("A report lies in {path}. It holds no passwords or keys.")
    box.setInformativeText(text.format(path=reports[-1]))
    keep = box.addButton(translate("Keep it"), QMessageBox.ButtonRole.AcceptRole)
    drop = box.addButton(translate("Remove it"), QMessageBox.ButtonRole.DestructiveRole)
    drop.clicked.connect(partial(_settle_reports, reports, False))
    keep.clicked.connect(partial(_settle_reports, reports, True))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()
    return box


def _settle_reports(reports: list[Path], keep: bool) -> None:
    """Remove crash reports, or rename them so that they are not offered again."""
    for report in reports:
        if keep:
            report.rename(report.with_name(report.name.replace("crash-", "kept-")))
        else:
            report.unlink(missing_ok=True)
