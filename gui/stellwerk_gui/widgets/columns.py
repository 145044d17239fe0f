"""Columns of a table: each as wide as its widest text, and what is left over shared out."""

from __future__ import annotations

from PySide6.QtWidgets import QTableWidget

from stellwerk_gui import theme

AIR_PX, MOST_AIR_PX = 2, 56


def spread_columns(table: QTableWidget) -> None:
    """Call after the texts or the width changed; where not all fit the table scrolls."""
    px = theme.current().px
    header = table.horizontalHeader()
    count = table.columnCount()
    if not count:
        return
    needed = [
        max(table.sizeHintForColumn(c), header.sectionSizeHint(c) if header.isVisibleTo(table) else 0) + px(AIR_PX)
        for c in range(count)
    ]
    spare = table.viewport().width() - sum(needed)
    each = max(0, min(px(MOST_AIR_PX), spare // count))
    for column, width in enumerate(needed):
        table.setColumnWidth(column, width + each)
