"""Parts that the panel of a node and the one of a cable share: a half with its traffic, and five minutes of it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from stellwerk_gui import theme
from stellwerk_gui.widgets.controls import hbox, label, vbox
from stellwerk_gui.widgets.ink import LEFT, RIGHT, scaled_painter, write

if TYPE_CHECKING:
    from stellwerk.model.fabric import Half
    from stellwerk_gui.cluster.views import Rates
    from stellwerk_gui.controller import Controller

SPARK_SECONDS = 300.0
HALF_GBPS = 100.0  # what a half carries at most: the end of its bar
TOPS_GBPS = (1, 5, 10, 25, 50, 100)


class Load(QWidget):
    """A thin bar: how much of what a half carries is in use."""

    def __init__(self) -> None:
        super().__init__()
        self._share, self._state = 0.0, "ok"
        self.setFixedHeight(theme.current().px(4))

    def show_rate(self, gbps: float, state: str) -> None:
        share = max(0.0, min(1.0, gbps / HALF_GBPS))
        if (share, state) != (self._share, self._state):
            self._share, self._state = share, state
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        c = theme.current().tokens
        p = QPainter(self)
        p.setRenderHint(QPainter.RenderHint.Antialiasing)
        radius = self.height() / 2
        p.setPen(QColor(0, 0, 0, 0))
        p.setBrush(QColor(c.raised))
        p.drawRoundedRect(QRectF(self.rect()), radius, radius)
        if self._share > 0:
            p.setBrush(QColor({"warn": c.warn, "bad": c.bad}.get(self._state, c.load[3])))
            p.drawRoundedRect(QRectF(0, 0, max(self.height(), self.width() * self._share), self.height()), 2, 2)
        p.end()


class HalfRow(QWidget):
    """One half: its letter, interface, rate, bar, address, RDMA device."""

    def __init__(self, half: Half, state: str) -> None:
        super().__init__()
        self._netdev, self._state = half.netdev.name, state
        row = hbox(self, spacing=8)
        side = vbox(spacing=0)
        letter = label(half.label, f"letter-{state}" if state in ("warn", "bad") else "letter")
        letter.setAlignment(Qt.AlignmentFlag.AlignCenter)
        side.addWidget(letter)
        side.addStretch(1)
        row.addLayout(side)
        column = vbox(spacing=3)
        top = hbox(spacing=8)
        top.addWidget(label(half.netdev.name, "mono"))
        top.addStretch(1)
        self.rate = label("", {"warn": "warn", "bad": "bad"}.get(state, "second"))
        top.addWidget(self.rate)
        column.addLayout(top)
        self._load = Load()
        column.addWidget(self._load)
        under = hbox(spacing=8)
        v4 = [a for a in half.netdev.addresses if ":" not in a]
        under.addWidget(label(", ".join(v4) or self.tr("no address"), "second-muted"))
        under.addStretch(1)
        under.addWidget(label(half.rdma.name if half.rdma else "", "second-muted"))
        column.addLayout(under)
        row.addLayout(column, 1)

    def show_rates(self, latest: Rates) -> None:
        tx, rx = latest.get(f"half.{self._netdev}.tx"), latest.get(f"half.{self._netdev}.rx")
        self.rate.setText("–" if tx is None and rx is None else f"↑ {tx or 0:.1f}  ↓ {rx or 0:.1f} Gb/s")
        self._load.show_rate(max(tx or 0.0, rx or 0.0), self._state)


class HalfChart(QWidget):
    """Five minutes of what a port sent or received, one line per half."""

    def __init__(self, title: str, netdevs: Sequence[str], labels: Sequence[str], way: str = "tx") -> None:
        super().__init__()
        self._title, self._netdevs, self._labels, self._way = title, list(netdevs), list(labels), way
        self._lines: list[tuple[np.ndarray, np.ndarray]] = []
        self._end = 0.0
        self.setFixedHeight(theme.current().px(114))
        self.setAccessibleName(self.tr("{what} in the last five minutes").format(what=title))

    def load(self, controller: Controller, node: str) -> None:
        store = controller.telemetry
        if store is None:
            return
        self._end = time.monotonic()
        windows = [store.window(node, f"half.{d}.{self._way}", SPARK_SECONDS, self._end) for d in self._netdevs]
        self._lines = [(np.asarray(w.times), np.asarray(w.values)) for w in windows]
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        width, height = self.width() / t.scale, self.height() / t.scale
        top = self._top()
        p.setFont(theme.font(theme.TEXT_PT, QFont.Weight.DemiBold))
        p.setPen(QColor(c.text))
        used = write(p, QRectF(0, 0, width * 0.5, 20), LEFT, self._title)
        p.setFont(theme.font(theme.SECOND_PT))
        right = width
        colours = (c.load[3], c.warn)
        for i in reversed(range(len(self._labels))):
            p.setPen(QColor(c.muted))
            words = self.tr("half {n}").format(n=self._labels[i])
            wide = p.fontMetrics().horizontalAdvance(words)
            if right - wide - 16 < used + 8:
                break
            write(p, QRectF(right - wide, 0, wide, 20), RIGHT, words)
            p.setPen(QPen(QColor(colours[i % 2]), 2))
            p.drawLine(QLineF(right - wide - 15, 10, right - wide - 5, 10))
            right -= wide + 26
        box = QRectF(0, 42, width, height - 62)
        p.setPen(QColor(c.muted))
        write(p, QRectF(0, 23, width, 16), RIGHT, f"{top:g} Gb/s")
        below = QRectF(0, box.bottom() + 3, width, 16)
        write(p, below, LEFT, "−5 min")
        write(p, below, RIGHT, self.tr("now"))
        p.setPen(QPen(QColor(c.line), 1))
        p.drawLine(box.topLeft(), box.topRight())
        p.drawLine(box.bottomLeft(), box.bottomRight())
        for i, (times, values) in enumerate(self._lines):
            p.setPen(QPen(QColor(colours[i % 2]), 1.5))
            p.drawPath(self._path(times, values, box, top))
        p.end()

    def _top(self) -> float:
        peak = max((float(np.nanmax(v)) for _, v in self._lines if len(v) and not np.all(np.isnan(v))), default=0.0)
        return next((s for s in TOPS_GBPS if peak <= s), 200)

    def _path(self, times: np.ndarray, values: np.ndarray, box: QRectF, top: float) -> QPainterPath:
        path = QPainterPath()
        draw = False
        for at, value in zip(times, values, strict=True):
            if np.isnan(value):
                draw = False
                continue
            x = box.right() - (self._end - float(at)) / SPARK_SECONDS * box.width()
            y = box.bottom() - min(1.0, float(value) / top) * box.height()
            if draw:
                path.lineTo(x, y)
            else:
                path.moveTo(x, y)
            draw = True
        return path
