"""English as written, German from the translation that is shipped.

`local` says a text of the core (a finding, a reason, an error's parts) in the window's language: every place that shows
one passes it through there.
"""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import QCoreApplication, QLocale, QObject, QTranslator
from PySide6.QtWidgets import QApplication

from stellwerk.model.text import Text


def install_language(app: QApplication, choice: str) -> str:
    """Load the German translation when it is chosen, or when the system is German; returns the language."""
    language = QLocale.system().name()[:2] if choice == "system" else choice
    if language != "de":
        return "en"
    translator = _Translator(app)
    if translator.load(translator.data):
        QCoreApplication.installTranslator(translator)
    return "de"


class _Translator(QTranslator):
    """Keeps what it reads: a file that is mapped turns to noise when an update writes over it under the window."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.data = (files("stellwerk_resources") / "translations" / "stellwerk_de.qm").read_bytes()


def local(text: str) -> str:
    """A text of the core in the window's language.

    A plain string is looked up as a whole, which finds literal texts; whatever a machine said is in no catalogue and
    stays as it is.
    """
    return text.render(_translate) if isinstance(text, Text) else _translate(text)


def _translate(template: str) -> str:
    return QCoreApplication.translate("core", template) if template else ""
