"""Icons, tinted at load. The files are Tabler's outline set and a few of our own."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from PySide6.QtCore import QByteArray, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QPainter, QPen, QPixmap
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


def icon(name: str, colour: str, size: int = 20, disabled: str | None = None, pad: tuple[int, int] = (0, 0)) -> QIcon:
    """An icon for buttons and menus, sharp at 1x and 2x; `pad` is empty room left and right of it."""
    made = QIcon()
    for ratio in (1.0, 2.0):
        made.addPixmap(padded(pixmap(name, colour, size, ratio=ratio), pad))
        if disabled:
            made.addPixmap(padded(pixmap(name, disabled, size, ratio=ratio), pad), QIcon.Mode.Disabled)
    return made


def padded(image: QPixmap, pad: tuple[int, int]) -> QPixmap:
    """Room beside an icon: Qt sets it too near to a button's text, and style sheets cannot change that."""
    left, right = pad
    if not left and not right:
        return image
    ratio = image.devicePixelRatio()
    made = QPixmap(round(image.width() + (left + right) * ratio), image.height())
    made.setDevicePixelRatio(ratio)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    painter.drawPixmap(left, 0, image)
    painter.end()
    return made


def swatch(colour: str, side: int, *, hollow: bool = False, pad: int = 0) -> QIcon:
    """A node's square as an icon."""
    made = QIcon()
    for ratio in (1.0, 2.0):
        image = QPixmap(round(side * ratio), round(side * ratio))
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colour), 1.5) if hollow else Qt.PenStyle.NoPen)
        painter.setBrush(Qt.BrushStyle.NoBrush if hollow else QColor(colour))
        inset = 0.75 if hollow else 0.0
        painter.drawRoundedRect(QRectF(0, 0, side, side).adjusted(inset, inset, -inset, -inset), 3, 3)
        painter.end()
        made.addPixmap(padded(image, (0, pad)))
    return made


def stroke(colour: str, wide: int, high: int, *, dashed: bool = False, hollow: bool = False, pad: int = 0) -> QIcon:
    """A piece of a graph's line as an icon: dashed like the line itself, thin while it is hidden."""
    made = QIcon()
    for ratio in (1.0, 2.0):
        image = QPixmap(round(wide * ratio), round(high * ratio))
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        pen = QPen(QColor(colour), 1.0 if hollow else 2.5)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if dashed:
            unit = wide / 5 / pen.widthF()  # three dashes, two gaps
            pen.setDashPattern([unit, unit])
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.drawLine(QPointF(0, high / 2), QPointF(wide, high / 2))
        painter.end()
        made.addPixmap(padded(image, (0, pad)))
    return made
