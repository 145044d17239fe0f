"""The log in memory for the page, and on disk as rotating JSON lines."""

from __future__ import annotations

import json
import logging
import logging.handlers
import os
import threading
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from stellwerk.model.errors import StellwerkError
from stellwerk.setup.files import cannot_write

MAX_LINES = 5000
MAX_TEXT = 2000
FILE_BYTES = 2_000_000
FILE_COUNT = 3
OURS = ("stellwerk", "stellwerk_gui")


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line as it is shown."""

    level: int
    text: str


class LogRing(logging.Handler):
    """Keeps the newest lines. Safe from any thread."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: deque[LogLine] = deque(maxlen=MAX_LINES)
        self._guard = threading.Lock()
        self.count = 0
        self.problem: StellwerkError | None = None  # why nothing is written to a file

    def emit(self, record: logging.LogRecord) -> None:
        text = clean(record.getMessage())
        if record.exc_info and record.exc_info[1] is not None:
            text += f" ({type(record.exc_info[1]).__name__}: {clean(str(record.exc_info[1]))})"
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        with self._guard:
            self._lines.append(LogLine(record.levelno, f"{at}  {record.levelname:7} {text}"))
            self.count += 1

    def lines(self) -> list[LogLine]:
        with self._guard:
            return list(self._lines)

    def since(self, count: int) -> tuple[list[LogLine], int]:
        """The lines that came after the first `count`, as far as they are kept, and how many there were by now."""
        with self._guard:
            new = min(self.count - count, len(self._lines))
            return [self._lines[i] for i in range(len(self._lines) - new, len(self._lines))], self.count

    def texts(self) -> list[str]:
        return [line.text for line in self.lines()]


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message."""

    def format(self, record: logging.LogRecord) -> str:
        body = {
            "at": datetime.fromtimestamp(record.created).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": clean(record.getMessage()),
        }
        return json.dumps(body, ensure_ascii=False)


def clean(text: str) -> str:
    """Strings of machines without control characters, bounded."""
    return "".join(c if c.isprintable() else " " for c in text[:MAX_TEXT])


def install(folder: Path) -> LogRing:
    """Attach the ring and the rotating file (mode 0600) to the product's own loggers only.

    Libraries' loggers stay out: what they say may hold what must not be written down. Where no file can be made the
    window still has its ring, and `problem` says why.
    """
    ring = LogRing()
    handlers: list[logging.Handler] = [ring]
    path = folder / "stellwerk.log"
    try:
        handlers.append(_file(path))
    except OSError as error:
        ring.problem = cannot_write(path, error)
    for name in OURS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.INFO)
        for handler in handlers:
            logger.addHandler(handler)
    return ring


def _file(path: Path) -> logging.Handler:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    file = logging.handlers.RotatingFileHandler(
        path, maxBytes=FILE_BYTES, backupCount=FILE_COUNT, encoding="utf-8", delay=True
    )
    file.setFormatter(JsonLines())
    return file


def uninstall(ring: LogRing) -> None:
    """Detach what `install` attached."""
    for name in OURS:
        logger = logging.getLogger(name)
        for handler in list(logger.handlers):
            if handler is ring or isinstance(handler, logging.handlers.RotatingFileHandler):
                logger.removeHandler(handler)
                handler.close()
