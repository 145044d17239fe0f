"""A table to read: one row per thing, chosen as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidget

from stellwerk_gui import theme


class RowTable(QTableWidget):
    """Columns with these heads; nothing can be typed into it."""

    def __init__(self, heads: Sequence[str], name: str) -> None:
        super().__init__(0, len(heads))
        self.setHorizontalHeaderLabels(heads)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(theme.current().px(theme.TABLE_ROW_PX))
        self.setShowGrid(False)
        self.setEditTriggers(self.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(self.SelectionBehavior.SelectRows)
        self.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.setAccessibleName(name)
