"""English as written, German from the translation that is shipped.

`local` says a text of the core (a finding, a reason, an error's parts) in the window's language: every place that shows
one passes it through there.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from stellwerk.model.text import Text


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


def local(text: str) -> str:
    """A text of the core in the window's language.

    A plain string is looked up as a whole, which finds literal texts; whatever a machine said is in no catalogue and
    stays as it is.
    """
    return text.render(_translate) if isinstance(text, Text) else _translate(text)


def _translate(template: str) -> str:
    return QCoreApplication.translate("core", template) if template else ""
