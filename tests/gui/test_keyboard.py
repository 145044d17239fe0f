"""Everything without a mouse: the whole way by keys, and a visible, named focus at every stop."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QWidget

from fixtures.person import called, press, reads, sees
from fixtures.window import opened, wait_until
from gui.test_layout import PAGES, eight_proven, open_eight
from stellwerk_gui.app import Application

STOPS = 120  # more than any page has
SEEN_AROUND_PX = 3


def has_focus(window: Application) -> QWidget:
    """Where the keys go; it has to be seen and to have a name for those who do not see it."""
    widget = QApplication.focusWidget()
    assert widget is not None, "the keys go nowhere"
    assert widget.isVisible() and not widget.visibleRegion().isEmpty(), f"{called(widget)} is out of sight"
    assert name_of(widget), f"{called(widget)} has no name for screen readers"
    assert widget.window() is window.shell or widget.window().isVisible()
    return widget


def name_of(widget: QWidget) -> str:
    """What a screen reader says: the name, or the words of a check box."""
    return widget.accessibleName() or (widget.text() if isinstance(widget, QCheckBox) else "")


def picture(widget: QWidget) -> bytes:
    """The widget with a little around it, as it is in the window."""
    place = widget.mapTo(widget.window(), QPoint(0, 0))
    around = widget.rect().translated(place).adjusted(*(d * SEEN_AROUND_PX for d in (-1, -1, 1, 1)))
    shot = widget.window().grab(around).toImage()
    return bytes(shot.constBits())


def tab_to(window: Application, name: str) -> QWidget:
    """Tab until the focus is on what is called `name`."""
    passed: list[str] = []
    for _ in range(STOPS):
        press(window.shell, Qt.Key.Key_Tab)
        at = has_focus(window)
        if name_of(at) == name:
            return at
        passed.append(name_of(at))
    raise AssertionError(f"Tab never comes to {name!r}; it passes {dict.fromkeys(passed)}")


def can_go_on(window: Application, name: str) -> bool:
    button = window.setup_page.next
    return button.isEnabled() and button.text() == name


@pytest.mark.timeout(240)
def test_the_whole_way_with_the_keyboard_alone(qapp: QApplication, tmp_path: Path) -> None:
    with opened(qapp, tmp_path / "data", theme="light") as window:
        setup, shell = window.setup_page, window.shell
        shell.activateWindow()
        wait_until(shell.isActiveWindow)
        press(shell, Qt.Key.Key_3)
        sees(shell, "Machines of this cluster", "spark-8", seconds=60)

        for step, name in (("pair", "Next"), ("look", "Next"), ("plan", "Next"), ("apply", "Apply to 8 nodes")):
            ready = partial(can_go_on, window, name)
            wait_until(ready, 120, lambda: reads(setup))
            tab_to(window, name)
            press(shell, Qt.Key.Key_Return)
            wait_until(lambda step=step: setup.step == step, 10)
        wait_until(lambda: setup.step == "prove" and setup.next.text() == "Finish", 120)
        sees(setup, "Everything works.", seconds=120)
        tab_to(window, "Finish")
        press(shell, Qt.Key.Key_Return)
        sees(window.cluster_page, "8 of 8 nodes connected", seconds=30)

        page = window.cluster_page
        first = page.map.card("spark-1")
        tab_to(window, first.accessibleName())
        press(shell, Qt.Key.Key_Right)
        walked = has_focus(window)
        assert walked is not first, "an arrow goes to the next machine"
        press(shell, Qt.Key.Key_Return)
        name = walked.accessibleName().partition(",")[0]
        sees(page.panel, name, "MTU 9000", "NVIDIA DGX Spark (simulated)")
        press(shell, Qt.Key.Key_Escape)
        wait_until(lambda: not page.panel.isVisible(), 5)


def stops(window: Application) -> list[QWidget]:
    """Every stop of Tab on the page in front, each seen to be marked while it has the focus."""
    found: list[QWidget] = []
    press(window.shell, Qt.Key.Key_Tab)
    for _ in range(STOPS):
        at = has_focus(window)
        if at in found:
            return found
        found.append(at)
        QApplication.processEvents()
        marked = picture(at)
        press(window.shell, Qt.Key.Key_Tab)
        QApplication.processEvents()
        assert at is not QApplication.focusWidget(), f"Tab does not leave {called(at)}"
        assert picture(at) != marked, f"{called(at)} {name_of(at)} looks the same with and without the focus"
    raise AssertionError(f"Tab does not come round: {[called(w) for w in found]}")


@pytest.mark.parametrize("looks", ["dark", "light"])
def test_every_stop_of_tab_is_marked_and_named(qapp: QApplication, tmp_path: Path, looks: str) -> None:
    with opened(qapp, tmp_path / "data", theme=looks) as window:
        shell = window.shell
        shell.activateWindow()
        wait_until(shell.isActiveWindow)
        first = stops(window)
        assert {window.start.set_up, window.start.open, window.start.virtual} <= set(first)
        open_eight(window)
        for page in PAGES:
            shell.open_page(page)
            assert stops(window), page
        window.controller.proof = eight_proven()
        shell.open_page("setup")
        for step in ("pair", "look", "plan", "prove"):
            window.setup_page.open_step(step)
            assert any(w.accessibleName() in ("Next", "Finish", "Back") for w in stops(window)), step
