"""Where cards, ports and the switch go: pure geometry, tested without a window."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stellwerk.model.fabric import PortRef, TopologyKind
from stellwerk_gui.widgets.fabricmap.view import MapView

CARD_W, CARD_H = 232.0, 196.0
RING_W, RING_H, RING_LIVE_H = 256.0, 132.0, 182.0
SWITCH_H, LOW_SWITCH_H = 72.0, 46.0
CABLE_H, LOW_CABLE_H = 120.0, 42.0
LOW_CARD_H = 140.0  # where cards get lower than this the switch and its cables give way first
MIN_CARD_W, MIN_GAP, MAX_GAP, ROOM_FOR_CABLE = 150.0, 12.0, 224.0, 48.0
MAX_ROW_GAP = 310.0
MAX_COLUMNS = 4
LEAST_CARD_W, LEAST_CARD_H, LEAST_ROW_GAP = 168.0, 118.0, 44.0
LEAST_BESIDE_W, UPRIGHT_W, UPRIGHT_CABLE_W = 140.0, 58.0, 26.0  # a switch that stands between two columns
LEAST_MIDDLE_H = 138.0  # with a port at its top and one at its bottom


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in design pixels."""

    x: float
    y: float
    w: float
    h: float

    @property
    def cx(self) -> float:
        return self.x + self.w / 2

    @property
    def cy(self) -> float:
        return self.y + self.h / 2

    def overlaps(self, other: Box) -> bool:
        return (
            self.x < other.x + other.w
            and other.x < self.x + self.w
            and self.y < other.y + other.h
            and other.y < self.y + self.h
        )


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a cable leaves: a point on an edge and the direction away from it."""

    x: float
    y: float
    side: str  # left | right | top | bottom

    @property
    def normal(self) -> tuple[float, float]:
        return {"left": (-1.0, 0.0), "right": (1.0, 0.0), "top": (0.0, -1.0), "bottom": (0.0, 1.0)}[self.side]


@dataclass(frozen=True, slots=True)
class MapLayout:
    """Everything placed."""

    nodes: dict[str, Box]
    ports: dict[PortRef, Anchor]
    switch: Box | None = None
    switch_ports: dict[PortRef, Anchor] | None = None


def least_size(view: MapView, width: float) -> tuple[float, float]:
    """Below this a card would lose its name or its first lines: then a map of that width scrolls."""
    count = len(view.nodes)
    if view.switch is None:
        columns, rows = grid(count, view.kind, width)
        narrowest = grid(count, view.kind, 0.0)[0]
        high = LEAST_MIDDLE_H if rows > 2 else LEAST_CARD_H
        return _least_width(narrowest), rows * high + (rows - 1) * LEAST_ROW_GAP
    rows = 1 if count <= 2 else 2
    columns = -(-count // rows)
    if _upright(count, width):
        return 2 * LEAST_BESIDE_W + UPRIGHT_W + 2 * UPRIGHT_CABLE_W, columns * (LEAST_CARD_H + MIN_GAP) - MIN_GAP
    bar = LOW_SWITCH_H + (rows - 1) * LOW_CABLE_H
    return columns * LEAST_CARD_W + max(0, columns - 1) * 16.0, rows * LEAST_CARD_H + bar + LOW_CABLE_H


def grid(count: int, kind: TopologyKind, width: float) -> tuple[int, int]:
    """Columns and rows of a ring or chain: as flat as the width allows, for a map scrolls downwards, not sideways."""
    flat = (count, 1) if count <= 2 or (kind is TopologyKind.CHAIN and count <= MAX_COLUMNS) else (-(-count // 2), 2)
    if count <= 2 or _least_width(flat[0]) <= width:
        return flat
    # Around a square the middle stays free; else down one side and up the other.
    if count > 6 and _least_width(3) <= width:
        return 3, 3
    return 2, -(-count // 2)


def _least_width(columns: int) -> float:
    return columns * LEAST_CARD_W + max(0, columns - 1) * ROOM_FOR_CABLE


def lay_out(view: MapView, width: float, height: float) -> MapLayout:
    """Place all of `view` into `width` x `height`."""
    names = [n.name for n in view.nodes]
    order = list(view.order) if set(view.order) == set(names) else names
    if not names:
        return MapLayout({}, {})
    if view.switch is not None:
        return _switch(view, order, width, height)
    boxes = _rows(order, view.kind, width, height, RING_W, RING_H if view.words else RING_LIVE_H)
    return MapLayout(boxes, _port_anchors(view, boxes))


def _cells(order: list[str], columns: int, rows: int) -> dict[str, tuple[float, int]]:
    """Column and row of each node, clockwise around the edge of the grid, so that neighbours stay neighbours."""
    n = len(order)
    if rows <= 2:
        top = n if rows == 1 else math.ceil(n / 2)
        below = n - top
        # The shorter row of a ring spreads out, so that its ends stay below the ends of the longer one.
        step = (columns - 1) / (below - 1) if below > 1 else 0.0
        first = 0.0 if below > 1 else (columns - 1) / 2
        places = [(float(i), 0) for i in range(top)] + [(first + step * (below - 1 - i), 1) for i in range(below)]
    else:
        last = columns - 1
        places = [
            *((float(x), 0) for x in range(columns)),
            *((float(last), y) for y in range(1, rows)),
            *((float(x), rows - 1) for x in reversed(range(last))),
            *((0.0, y) for y in reversed(range(1, rows - 1))),
        ]
    return dict(zip(order, places, strict=False))


def _rows(
    order: list[str], kind: TopologyKind, width: float, height: float, card_w: float, card_h: float
) -> dict[str, Box]:
    columns, rows = grid(len(order), kind, width)
    # Room for the cables between the cards.
    free = width - columns * card_w
    gap = max(ROOM_FOR_CABLE, min(MAX_GAP, free / (columns - 1))) if columns > 1 else 0.0
    w = min(card_w, (width - (columns - 1) * gap) / columns)
    if w < MIN_CARD_W:
        gap = MIN_GAP
        w = (width - (columns - 1) * gap) / columns
    between = max(LEAST_ROW_GAP, min(MAX_ROW_GAP, (height - rows * card_h) / (rows - 1))) if rows > 1 else 0.0
    h = min(card_h, (height - (rows - 1) * between) / rows)
    left = (width - columns * w - (columns - 1) * gap) / 2
    top = max(0.0, (height - rows * h - (rows - 1) * between) / 2)
    return {
        name: Box(left + x * (w + gap), top + y * (h + between), w, h)
        for name, (x, y) in _cells(order, columns, rows).items()
    }


def _facing(own: Box, other: Box) -> str:
    dx, dy = other.cx - own.cx, other.cy - own.cy
    if abs(dy) > own.h * 0.75 and abs(dx) < max(own.w, abs(dy)):
        return "bottom" if dy > 0 else "top"
    return "right" if dx > 0 else "left"


def _port_anchors(view: MapView, boxes: dict[str, Box]) -> dict[PortRef, Anchor]:
    """Each port sits on the edge that faces the other end of its cable; a port without one goes to a free edge."""
    target: dict[PortRef, Box] = {}
    for cable in view.cables:
        if cable.b is None:
            continue
        # A cable that is there decides; one that only ought to be there fills the rest.
        for own, other in ((cable.a, cable.b), (cable.b, cable.a)):
            if own not in target or cable.state not in ("missing", "belongs"):
                target[own] = boxes[other.node]
    sides: dict[str, dict[str, list[PortRef]]] = {}
    for node in view.nodes:
        taken = sides.setdefault(node.name, {})
        loose: list[PortRef] = []
        for port in node.ports:
            ref = PortRef(node.name, port.number)
            if ref in target:
                taken.setdefault(_facing(boxes[node.name], target[ref]), []).append(ref)
            else:
                loose.append(ref)
        for ref in loose:
            free = [s for s in ("bottom", "right", "left", "top") if s not in taken]
            taken.setdefault(free[0] if free else "bottom", []).append(ref)
    anchors: dict[PortRef, Anchor] = {}
    for name, edges in sides.items():
        for side, refs in edges.items():
            for i, ref in enumerate(refs):
                anchors[ref] = _on_edge(boxes[name], side, i, len(refs))
    return anchors


def _on_edge(box: Box, side: str, index: int, count: int) -> Anchor:
    share = (index + 1) / (count + 1)
    if side in ("left", "right"):
        return Anchor(box.x if side == "left" else box.x + box.w, box.y + box.h * share, side)
    return Anchor(box.x + box.w * share, box.y if side == "top" else box.y + box.h, side)


def _switch(view: MapView, order: list[str], width: float, height: float) -> MapLayout:
    n = len(order)
    if _upright(n, width):
        return _upright_switch(view, order, width, height)
    top = order if n <= 2 else order[: math.ceil(n / 2)]
    bottom = [] if n <= 2 else order[math.ceil(n / 2) :]
    columns = max(len(top), len(bottom))
    gap = 16.0
    card_h = RING_H if view.words else CARD_H  # words of two ports need less than meters
    w = min(CARD_W, (width - (columns - 1) * gap) / columns)
    rows = 2 if bottom else 1
    low = height < rows * (LOW_CARD_H + 56.0) + SWITCH_H
    bar_h = LOW_SWITCH_H if low else SWITCH_H
    cable_space = LOW_CABLE_H if low else max(56.0, min(CABLE_H, (height - rows * card_h - bar_h) / rows))
    h = min(card_h, (height - bar_h - rows * cable_space) / rows)
    total = rows * h + bar_h + rows * cable_space
    y0 = max(0.0, (height - total) / 2)
    spread = columns * w + (columns - 1) * gap
    x0 = (width - spread) / 2
    boxes: dict[str, Box] = {}
    for row, y in ((top, y0), (bottom, y0 + h + bar_h + 2 * cable_space)):
        shift = (spread - (len(row) * w + (len(row) - 1) * gap)) / 2 if row else 0.0
        for i, name in enumerate(row):
            boxes[name] = Box(x0 + shift + i * (w + gap), y, w, h)
    bar_w = min(max(spread * 0.74, 360.0), spread)
    bar = Box((width - bar_w) / 2, y0 + h + cable_space, bar_w, bar_h)
    ports, switch_ports = _switch_anchors(view, boxes, bar, top)
    return MapLayout(boxes, ports, bar, switch_ports)


def _upright(count: int, width: float) -> bool:
    """Whether the switch stands between two columns of nodes, because so many do not fit beside each other."""
    columns = -(-count // 2)
    return count > 4 and columns * LEAST_CARD_W + (columns - 1) * 16.0 > width


def _upright_switch(view: MapView, order: list[str], width: float, height: float) -> MapLayout:
    half = math.ceil(len(order) / 2)
    between = UPRIGHT_W + 2 * UPRIGHT_CABLE_W
    w = min(CARD_W, (width - between) / 2)
    h = min(RING_H if view.words else CARD_H, (height - (half - 1) * MIN_GAP) / half)
    high = half * h + (half - 1) * MIN_GAP
    top, left = max(0.0, (height - high) / 2), (width - 2 * w - between) / 2
    bar = Box((width - UPRIGHT_W) / 2, top, UPRIGHT_W, high)
    boxes: dict[str, Box] = {}
    ports: dict[PortRef, Anchor] = {}
    switch_ports: dict[PortRef, Anchor] = {}
    uplinks = {c.a for c in view.cables if c.b is None}
    numbers = {n.name: [p.number for p in n.ports] for n in view.nodes}
    for i, name in enumerate(order):
        first = i < half
        box = boxes[name] = Box(left if first else left + w + between, top + (i % half) * (h + MIN_GAP), w, h)
        for k, number in enumerate(numbers[name]):
            ref, y = PortRef(name, number), box.cy + (k - (len(numbers[name]) - 1) / 2) * 46.0
            ports[ref] = Anchor(box.x + (w if first else 0.0), y, "right" if first else "left")
            if ref in uplinks:
                switch_ports[ref] = Anchor(bar.x + (0.0 if first else bar.w), y, "left" if first else "right")
    return MapLayout(boxes, ports, bar, switch_ports)


def _switch_anchors(
    view: MapView, boxes: dict[str, Box], bar: Box, top: list[str]
) -> tuple[dict[PortRef, Anchor], dict[PortRef, Anchor]]:
    ports: dict[PortRef, Anchor] = {}
    for node in view.nodes:
        side = "bottom" if node.name in top else "top"
        box = boxes[node.name]
        count = len(node.ports)
        first = box.cx - (count - 1) * 52.0 if box.w > 200 else box.cx - (count - 1) * 26.0
        for i, port in enumerate(node.ports):
            y = box.y + box.h if side == "bottom" else box.y
            ports[PortRef(node.name, port.number)] = Anchor(first + i * 52.0, y, side)
    uplinks = [c.a for c in view.cables if c.b is None]
    switch_ports: dict[PortRef, Anchor] = {}
    for side, names in (("top", top), ("bottom", [n for n in boxes if n not in top])):
        row = sorted((ref for ref in uplinks if ref.node in names), key=lambda ref: (boxes[ref.node].x, ref.port))
        y = bar.y if side == "top" else bar.y + bar.h
        for i, ref in enumerate(row):
            switch_ports[ref] = Anchor(bar.x + bar.w * (i + 0.5) / len(row), y, side)
    return ports, switch_ports
