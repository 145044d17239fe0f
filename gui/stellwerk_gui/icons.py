"""Icons, tinted at load. The files are Tabler's outline set and a few of our own."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QIcon, QImage, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer


@lru_cache(maxsize=256)
def _svg(name: str, colour: str, pen: float) -> QByteArray:
    text = (files("stellwerk_resources") / "icons" / f"{name}.svg").read_text("utf-8")
    text = text.replace("currentColor", colour).replace('stroke-width="2"', f'stroke-width="{pen}"')
    return QByteArray(text.encode())


def paint_icon(painter: QPainter, name: str, box: QRectF, colour: str, pen: float = 1.75) -> None:
    """Draw an icon into `box` with the given colour."""
    QSvgRenderer(_svg(name, colour, pen)).render(painter, box)


def pixmap(name: str, colour: str, size: int = 20, pen: float = 1.75, ratio: float = 1.0) -> QPixmap:
    """An icon as a pixmap of `size` logical pixels."""
    image = QImage(QSize(round(size * ratio), round(size * ratio)), QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    paint_icon(painter, name, QRectF(0, 0, image.width(), image.height()), colour, pen)
    painter.end()
    made = QPixmap.fromImage(image)
    made.setDevicePixelRatio(ratio)
    return made


def icon(name: str, colour: str, size: int = 20, disabled: str | None = None) -> QIcon:
    """An icon for buttons and menus, sharp at 1x and 2x."""
    made = QIcon()
    for ratio in (1.0, 2.0):
        made.addPixmap(pixmap(name, colour, size, ratio=ratio))
        if disabled:
            made.addPixmap(pixmap(name, disabled, size, ratio=ratio), QIcon.Mode.Disabled)
    return made
