"""The map, its cards and its cables: what is drawn where, in every shape and size."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QFontMetricsF
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from fixtures.wires import cable, hear, sparks
from stellwerk.model.fabric import TopologyKind
from stellwerk.setup.look import judge
from stellwerk_gui import theme
from stellwerk_gui.app import Application
from stellwerk_gui.cluster.views import cables_view
from stellwerk_gui.eyes import painted_faults
from stellwerk_gui.monitor.strip import NodeChip
from stellwerk_gui.scenes import shape
from stellwerk_gui.widgets.controls import Note
from stellwerk_gui.widgets.fabricmap import FabricMap, HalfView
from stellwerk_gui.widgets.fabricmap.cable import direction
from stellwerk_gui.widgets.fabricmap.layout import lay_out, least_size
from stellwerk_gui.widgets.fabricmap.painted import PARTS, parts_that_fit
from stellwerk_gui.widgets.graph_group import GraphGroup
from stellwerk_gui.widgets.ink import listening, wrapped
from stellwerk_gui.widgets.motion import slide_in

SHAPES = [
    (TopologyKind.SINGLE, 1),
    (TopologyKind.PAIR, 2),
    (TopologyKind.CHAIN, 4),
    (TopologyKind.RING, 3),
    (TopologyKind.RING, 8),
    (TopologyKind.SWITCH, 8),
]
RING = TopologyKind.RING
ROOMS = [(856, 388), (1020, 690), (1340, 690)]  # of the smallest window, beside a panel, and of the usual one


@pytest.mark.parametrize(("kind", "count"), SHAPES, ids=lambda x: str(getattr(x, "value", x)))
@pytest.mark.parametrize("room", ROOMS, ids=lambda r: f"{r[0]}x{r[1]}")
def test_cards_lie_apart_and_inside(kind: TopologyKind, count: int, room: tuple[int, int]) -> None:
    placed = lay_out(shape(kind, count), *room)
    boxes = [*placed.nodes.values(), *([placed.switch] if placed.switch is not None else [])]
    for box in boxes:
        assert box.x >= -0.5
        assert box.y >= -0.5
        assert box.x + box.w <= room[0] + 0.5
        assert box.y + box.h <= room[1] + 0.5
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


@pytest.mark.parametrize(("kind", "count"), SHAPES, ids=lambda x: str(getattr(x, "value", x)))
@pytest.mark.parametrize("room", ROOMS, ids=lambda r: f"{r[0]}x{r[1]}")
def test_every_word_of_the_map_can_be_read(
    kind: TopologyKind, count: int, room: tuple[int, int], themed: theme.Theme
) -> None:
    shown = FabricMap()
    shown.resize(*room)
    shown.show_view(shape(kind, count))
    shown.show()
    assert painted_faults(shown) == []
    shown.hide()


@pytest.mark.parametrize("width", [400, 640, 724, 856])
@pytest.mark.parametrize(
    ("kind", "count"),
    [(TopologyKind.CHAIN, 4), (TopologyKind.CHAIN, 8), (RING, 7), (RING, 8), (TopologyKind.SWITCH, 8)],
)
def test_a_narrow_map_scrolls_downwards_and_not_sideways(kind: TopologyKind, count: int, width: int) -> None:
    view = shape(kind, count)
    least_w, height = least_size(view, width)
    assert least_w <= width
    placed = lay_out(view, width, height)
    boxes = [*placed.nodes.values(), *([placed.switch] if placed.switch is not None else [])]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(b.x > -0.5 and b.x + b.w < width + 0.5 and b.y > -0.5 and b.y + b.h < height + 0.5 for b in boxes)
    for one, other in itertools.pairwise(view.order) if placed.switch is None else ():
        assert placed.nodes[one].cx == placed.nodes[other].cx or placed.nodes[one].cy == placed.nodes[other].cy


def test_a_note_is_read_whole_on_a_narrow_card(themed: theme.Theme) -> None:
    shown = FabricMap()
    shown.resize(856, 388)
    shown.show_view(shape(RING, 8))
    with listening() as heard:
        shown.grab()
    written = [w for w in heard if w.widget is shown.card("spark-2")]
    assert " ".join(w.shown for w in written).find("Port 0 half B: 13.0 of 92 Gb/s") >= 0
    shown.hide()


@given(
    st.lists(st.sampled_from(sorted(PARTS)), unique=True, min_size=1),
    st.floats(min_value=0, max_value=300),
)
def test_the_least_important_line_of_a_card_goes_first(keys: list[str], room: float) -> None:
    kept = dict(parts_that_fit(tuple(keys), room))
    gone = set(keys) - set(kept)
    fits = sum(kept.values()) <= room + 1e-6
    assert fits or not any(PARTS[key].give_up for key in kept)
    for key in gone:
        assert PARTS[key].give_up
        assert all(PARTS[other].give_up <= PARTS[key].give_up for other in kept)


@pytest.mark.parametrize(
    ("tx", "rx", "expected"),
    [(90.0, 2.0, True), (2.0, 90.0, False), (3.0, 3.0, None), (40.0, 40.0, True), (None, None, None)],
)
def test_dashes_run_where_the_traffic_goes(tx: float | None, rx: float | None, expected: bool | None) -> None:
    half = HalfView("A", "ok", tx, rx)
    assert direction(half, 0) is expected
    if tx == rx and tx and tx > 8:
        assert direction(half, 1) is False
    assert direction(replace(half, state="off"), 0) is None


def test_lines_are_parted_between_words_only(themed: theme.Theme) -> None:
    metrics = QFontMetricsF(theme.font(9))
    text = "Find machines, pair them, check the cables, prove the network."
    lines = wrapped(metrics, text, 120)
    assert " ".join(lines) == text
    assert all(metrics.horizontalAdvance(line) <= 120 for line in lines)


class TestChips:
    NAMES = ("a", "b", "c")

    def chip(self, group: GraphGroup, name: str) -> NodeChip:
        made = NodeChip(name, "#ffffff")
        made.toggled_name = group.toggle
        made.added = lambda n: group.add(n, self.NAMES)
        made.isolated = lambda n: group.isolate(n, self.NAMES)
        made.show()
        return made

    def test_a_click_hides_and_shows(self, themed: theme.Theme) -> None:
        group = GraphGroup()
        chip = self.chip(group, "b")
        QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
        assert group.hidden == {"b"}
        QTest.mouseClick(chip, Qt.MouseButton.LeftButton)
        assert group.hidden == frozenset()
        chip.hide()

    def test_a_double_click_shows_it_alone_and_another_one_all_again(self, themed: theme.Theme) -> None:
        group = GraphGroup()
        chip = self.chip(group, "b")
        for hidden in ({"a", "c"}, set()):
            QTest.mouseClick(chip, Qt.MouseButton.LeftButton)  # a double click is a click at first
            QTest.mouseDClick(chip, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(8, 8))
            assert group.hidden == hidden
        chip.hide()

    def test_more_are_added_to_one_that_is_alone(self) -> None:
        group = GraphGroup()
        group.add("b", self.NAMES)
        assert group.hidden == {"a", "c"}
        group.add("c", self.NAMES)
        assert group.hidden == {"a"}
        group.add("c", self.NAMES)
        assert group.hidden == {"a"}


def test_who_wants_no_motion_gets_none(themed: theme.Theme) -> None:
    above = QWidget()
    panel = QWidget(above)
    above.show()
    themed.apply("dark", 1.0, reduce_motion=True)
    assert slide_in(panel) is None
    themed.apply("dark", 1.0, reduce_motion=False)
    assert slide_in(panel) is not None
    above.hide()


def test_the_mouse_on_a_finding_lights_its_cable(window: Application) -> None:
    wiring = [cable((1, 0), (2, 1)), cable((2, 0), (3, 1)), cable((3, 0), (4, 0))]
    members = sparks(4, wiring)
    look = judge({m.name: m.facts for m in members}, hear(4, wiring), {m.name: m.number for m in members}, RING)
    step = window.setup_page.views["look"]
    window.controller.look = look
    window.controller.look_changed.emit()
    note = next(n for n in step.panel.findChildren(Note) if n.property("kind") == "note-bad")  # type: ignore[attr-defined]
    QApplication.sendEvent(note, QEvent(QEvent.Type.Enter))
    shown = step.map.view.cables  # type: ignore[attr-defined]
    assert any(c.highlight for c in shown)
    assert not all(c.highlight for c in shown)
    QApplication.sendEvent(note, QEvent(QEvent.Type.Leave))
    assert not any(c.highlight for c in step.map.view.cables)  # type: ignore[attr-defined]


def test_of_two_swapped_plugs_both_cables_are_wrong() -> None:
    wiring = [cable((1, 0), (2, 1)), cable((2, 0), (3, 1)), cable((3, 0), (4, 0)), cable((1, 1), (4, 1))]
    members = sparks(4, wiring)
    look = judge({m.name: m.facts for m in members}, hear(4, wiring), {m.name: m.number for m in members}, RING)
    assert len(look.cable_findings) == 1
    view = cables_view(look, ())
    assert sorted(c.state for c in view.cables if c.state != "belongs") == ["bad", "bad", "ok", "ok"]
    assert view.centre_big == "2 of 4"
