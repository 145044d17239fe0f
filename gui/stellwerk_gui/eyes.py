"""Looks at a window as a person would: is any text cut off, does anything lie on something else?

Labels and buttons are measured; text that widgets paint by hand is listened to while the window is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRect, QRectF
from PySide6.QtWidgets import QAbstractButton, QAbstractScrollArea, QLabel, QPushButton, QWidget

from stellwerk_gui.widgets.ink import Written, listening

SLACK_PX = 2  # rounding of font metrics


def faults(window: QWidget) -> list[str]:
    """Every text that does not fit, and every pair of texts that overlap."""
    shown = [w for w in (window, *window.findChildren(QWidget)) if w.isVisibleTo(window) and _in_view(w)]
    found = [fault for widget in shown for fault in _clipped(widget)]
    return [*found, *_overlaps(shown), *painted_faults(window)]


def painted_faults(window: QWidget) -> list[str]:
    """The same for painted text: draws the window once."""
    with listening() as heard:
        window.grab()
    # A view paints some of its cells more than once.
    once = {(id(w.widget), w.text, w.box.x(), w.box.y()): w for w in heard}
    texts = list(once.values())
    return [*(fault for text in texts for fault in _badly_written(text)), *_on_each_other(texts)]


def _badly_written(text: Written) -> Iterator[str]:
    if text.shortened and not text.may_shorten:
        yield f"painted text is shortened: {text.text!r} to {text.shown!r}"
    if text.cut:
        yield f"painted lines are cut off: {text.text!r}"
    widget = text.widget
    scrolled = isinstance(widget.parentWidget(), QAbstractScrollArea)
    room = QRectF(widget.rect()).adjusted(-SLACK_PX, -SLACK_PX, SLACK_PX, SLACK_PX)
    if not scrolled and not room.contains(text.box):
        yield f"painted text leaves its widget: {text.text!r} in {type(widget).__name__}"
    for child in widget.findChildren(QWidget):
        if child.parentWidget() is not widget or not child.isVisible() or scrolled:
            continue
        shared = QRectF(child.geometry()).intersected(text.box)
        if shared.width() > SLACK_PX and shared.height() > SLACK_PX:
            yield f"painted text is covered: {text.text!r} by {child.accessibleName() or type(child).__name__}"


def _on_each_other(texts: Sequence[Written]) -> Iterator[str]:
    for i, one in enumerate(texts):
        for other in texts[i + 1 :]:
            if one.widget is not other.widget:
                continue
            shared = one.box.intersected(other.box)
            if shared.width() > SLACK_PX and shared.height() > 2 * SLACK_PX:
                yield f"painted texts lie on each other: {one.text!r} and {other.text!r}"


def _in_view(widget: QWidget) -> bool:
    """Inside what its scroll areas show, at least in part; a hidden corner of a scrolled list is no fault."""
    return not widget.visibleRegion().isEmpty()


def _clipped(widget: QWidget) -> Iterator[str]:
    if widget.property("elides"):
        return  # shortens its text itself and shows all of it as a tool tip
    if isinstance(widget, QLabel) and widget.text():
        text, room = widget.text(), widget.contentsRect()
        metrics = widget.fontMetrics()
        if widget.wordWrap():
            if widget.heightForWidth(widget.width()) > widget.height() + SLACK_PX:
                yield f"text is cut off below: {text!r} has {widget.height()} px"
        else:
            needed = max(metrics.horizontalAdvance(line) for line in text.splitlines())
            if needed > room.width() + SLACK_PX:
                yield f"text is cut off: {text!r} needs {needed} px, has {room.width()}"
    elif isinstance(widget, QPushButton) and widget.text():
        needed = widget.sizeHint().width()
        if needed > widget.width() + SLACK_PX:
            yield f"button is cut off: {widget.text()!r} needs {needed} px, has {widget.width()}"


def _overlaps(shown: Sequence[QWidget]) -> Iterator[str]:
    texts = [w for w in shown if isinstance(w, QLabel | QAbstractButton) and _words(w)]
    for i, one in enumerate(texts):
        for other in texts[i + 1 :]:
            if one.parentWidget() is not other.parentWidget():
                continue
            shared = _inner(one).intersected(_inner(other))
            if shared.width() > SLACK_PX and shared.height() > SLACK_PX:
                yield f"{_words(one)!r} and {_words(other)!r} lie on each other"


def _words(widget: QWidget) -> str:
    return widget.text() if isinstance(widget, QLabel | QAbstractButton) else ""


def _inner(widget: QWidget) -> QRect:
    return widget.geometry()
