"""English as written, German from the translation that is shipped."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication


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
