"""Motion: 150 ms, and none at all for who wants none."""

from __future__ import annotations

from PySide6.QtCore import QEasingCurve, QPoint, QPropertyAnimation
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme

SLIDE_MS, SLIDE_PX = 150, 24


def slide_in(panel: QWidget) -> QPropertyAnimation | None:
    """A panel comes in from the right; None where it is there at once."""
    if theme.current().reduce_motion or not panel.isVisible():
        return None
    above = panel.parentWidget()
    layout = above.layout() if above is not None else None
    if layout is not None:
        layout.activate()  # a panel that was put into it just now lies in its corner until then
    end = panel.pos()
    moving = QPropertyAnimation(panel, b"pos", panel)
    moving.setDuration(SLIDE_MS)
    moving.setEasingCurve(QEasingCurve.Type.OutCubic)
    moving.setStartValue(end + QPoint(theme.current().px(SLIDE_PX), 0))
    moving.setEndValue(end)
    moving.start(QPropertyAnimation.DeletionPolicy.DeleteWhenStopped)
    return moving
