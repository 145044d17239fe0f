"""The user's choices: declared once as data, kept in one JSON file."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from stellwerk.model.errors import StellwerkError
from stellwerk.model.text import say
from stellwerk.setup.files import write_atomic

THEMES = ("dark", "light", "system")
LANGUAGES = ("system", "en", "de")


@dataclass(frozen=True, slots=True)
class Settings:
    """All choices with their defaults."""

    theme: str = "dark"
    language: str = "system"
    scale: float = 1.0  # 1.0 to 2.0
    reduce_motion: bool = False
    sample_rate_hz: float = 1.0  # 1 to 10
    window: str = ""  # base64 of the window's geometry


class SettingsFile(QObject):
    """Reads and writes the choices; a broken file is put aside and said, never a reason not to start."""

    changed = Signal(object)
    failed = Signal(object)  # StellwerkError: a choice could not be saved

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self.problem = ""
        self.value = self._read()

    def change(self, **choices: Any) -> None:
        """Save some choices and tell everybody. What cannot be saved counts until the window closes."""
        self.value = _checked(replace(self.value, **choices))
        try:
            write_atomic(self._path, json.dumps(asdict(self.value), indent=2).encode())
        except StellwerkError as error:
            self.failed.emit(error)
        self.changed.emit(self.value)

    def _read(self) -> Settings:
        try:
            data = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return Settings()
        except (OSError, ValueError) as error:
            aside = self._path.with_suffix(".broken.json")
            if not self._path.exists():
                return Settings()  # the folder is no folder: the log's file says so
            self.problem = say(
                "{path} could not be read ({said}); it was put aside as {name}",
                path=self._path,
                said=error,
                name=aside.name,
            )
            self._path.replace(aside)
            return Settings()
        if not isinstance(data, dict):
            return Settings()
        choices: dict[str, Any] = {}
        for field in fields(Settings):
            value, kind = data.get(field.name), type(field.default)
            value = float(value) if kind is float and isinstance(value, int) else value
            if isinstance(value, kind):
                choices[field.name] = value
        return _checked(Settings(**choices))


def _checked(value: Settings) -> Settings:
    return replace(
        value,
        theme=value.theme if value.theme in THEMES else "dark",
        language=value.language if value.language in LANGUAGES else "system",
        scale=min(2.0, max(1.0, value.scale)),
        sample_rate_hz=min(10.0, max(1.0, value.sample_rate_hz)),
    )
