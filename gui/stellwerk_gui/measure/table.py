"""The figures as a table: a line per contender, a column per size, and how many elements were wrong."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QBrush, QColor
from PySide6.QtWidgets import QHeaderView, QTableWidget, QTableWidgetItem

from stellwerk.measure.collectives import Result
from stellwerk.model.units import size_text
from stellwerk_gui import theme
from stellwerk_gui.icons import stroke
from stellwerk_gui.measure.figures import contender_name, rows, series_of

ROW_PX = 28


class FiguresTable(QTableWidget):
    """Median and 99th percentile in µs of the slowest rank; the fastest of a size is marked."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Figures"))
        self.setEditTriggers(self.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(self.SelectionBehavior.SelectRows)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.verticalHeader().hide()
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.verticalHeader().setDefaultSectionSize(theme.current().px(ROW_PX))

    def show_result(self, result: Result, ranks: int) -> None:
        """All lines of one number of ranks."""
        sizes, lines = rows(result, ranks)
        heads = [self.tr("Median / p99, µs"), *(size_text(size) for size in sizes), self.tr("wrong")]
        self.setColumnCount(len(heads))
        self.setRowCount(len(lines))
        self.setHorizontalHeaderLabels(heads)
        first = QTableWidgetItem(heads[0])
        first.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setHorizontalHeaderItem(0, first)
        px, c = theme.current().px, theme.current().tokens
        self.setIconSize(QSize(px(26), px(10)))
        for y, line in enumerate(lines):
            name = QTableWidgetItem(contender_name(line.contender))
            series = series_of(line.contender)
            name.setIcon(stroke(series.colour, px(20), px(10), dashed=series.dashed, pad=px(6)))
            self.setItem(y, 0, name)
            for x, (text, best) in enumerate(zip(line.texts, line.best, strict=True), 1):
                item = self._figure(text)
                if best:
                    font = theme.font(theme.TEXT_PT * theme.current().scale)
                    font.setBold(True)
                    item.setFont(font)
                    item.setForeground(QBrush(QColor(c.accent_text)))
                    item.setToolTip(self.tr("fastest at this size"))
                self.setItem(y, x, item)
            wrong = self._figure(str(line.wrong))
            wrong.setForeground(QBrush(QColor(c.bad_text if line.wrong else c.good_text)))
            self.setItem(y, len(heads) - 1, wrong)
        header = self.horizontalHeader()
        header.setMinimumSectionSize(px(112))  # two times with their slash; a narrow window scrolls
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(len(heads) - 1, QHeaderView.ResizeMode.ResizeToContents)
        self.setHorizontalScrollMode(self.ScrollMode.ScrollPerPixel)

    @staticmethod
    def _figure(text: str) -> QTableWidgetItem:
        item = QTableWidgetItem(text)
        item.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return item
