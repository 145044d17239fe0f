"""Below the matrix: why the cell in hand is as it is, what to do, and how it stands beside the others."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from stellwerk.model.finding import Check, Verdict
from stellwerk_gui import theme
from stellwerk_gui.language import local
from stellwerk_gui.setup.proof_cells import Cell, Column, Row, head, kind_word, said, verdict_word
from stellwerk_gui.widgets.controls import Button, Elided, Tag, clear_layout, frame, hbox, label, sentence, vbox
from stellwerk_gui.widgets.controls import Swatch as NodeSwatch
from stellwerk_gui.widgets.ink import CENTRE, LEFT, scaled_painter, write
from stellwerk_gui.widgets.words import Words

EVIDENCE_LINES = 6
PLANNED = frozenset(("address", "mtu", "transit", "route", "gid"))  # kinds that the plan puts right
TAGS = {
    Verdict.PASS: "good",
    Verdict.DEGRADED: "warn",
    Verdict.FAIL: "bad",
    Verdict.NOT_AVAILABLE: "plain",
}


class CellDetail(QWidget):
    """One card: words left, bars right."""

    def __init__(self) -> None:
        super().__init__()
        outer = vbox(self, spacing=0)
        card = frame("card")
        outer.addWidget(card)
        whole = vbox(card, margins=(16, 12, 16, 12), spacing=6)
        top = hbox(spacing=8)
        self._swatch_place = hbox()
        top.addLayout(self._swatch_place)
        self._title = Elided("", "heading")
        top.addWidget(self._title)
        self._tag = Tag()
        top.addWidget(self._tag)
        top.addStretch(1)
        whole.addLayout(top)
        row = hbox(spacing=20)
        whole.addLayout(row, 1)
        words = vbox(spacing=6)
        row.addLayout(words, 9)
        self._why = Words("muted")
        self._why.setText(self.tr("What was measured appears here, cell by cell."))
        words.addWidget(self._why)
        self._evidence = QPlainTextEdit()
        self._evidence.setProperty("kind", "code")
        self._evidence.setReadOnly(True)
        self._evidence.setTabChangesFocus(True)
        self._evidence.setAccessibleName(self.tr("What was measured"))
        self._evidence.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._evidence.hide()
        words.addWidget(self._evidence)
        remedy = hbox(spacing=6)
        self._to_do = label(self.tr("What to do:"), "heading")
        remedy.addWidget(self._to_do, 0, Qt.AlignmentFlag.AlignTop)
        self._what = Words()
        remedy.addWidget(self._what, 1)
        self.repair = Button(self.tr("Plan the repair"), "link")
        self.repair.hide()
        remedy.addWidget(self.repair, 0, Qt.AlignmentFlag.AlignTop)
        words.addStretch(1)
        self.bars = Bars()
        row.addWidget(self.bars, 4)
        whole.addLayout(remedy)
        self._tag.hide()
        self._to_do.hide()

    def show_nothing(self) -> None:
        """No cell is in hand."""
        clear_layout(self._swatch_place)
        for words in (self._title, self._what):
            words.setText("")
        for widget in (self._tag, self._evidence, self.bars, self._to_do, self.repair):
            widget.hide()
        self._why.setText(self.tr("What was measured appears here, cell by cell."))
        self._why.show()

    def show_cell(self, row: Row, column: Column, rows: list[Row], at: int, number: int, unit: str) -> None:
        """`at`: the column's place in the rows; `number`: the node's, for its colour."""
        cell = row.cells[at]
        self.bars.show_column(
            rows, at, rows.index(row), f"{head(column)}, {unit}" if unit else head(column), bool(unit)
        )
        clear_layout(self._swatch_place)
        self._swatch_place.addWidget(NodeSwatch(number))
        where = row.node if row.port is None else self.tr("{node} port {n}").format(node=row.node, n=row.port)
        value = f"{cell.text} {unit}".strip() if column.main == "bandwidth" and cell.text[-1:].isdigit() else cell.text
        self._title.setText(f"{where}, {head(column)}: {value}")
        self._tag.setVisible(cell.verdict is not None)
        if cell.verdict is None:
            self._why.setText(self.tr("Not measured yet."))
            self._evidence.hide()
            self._to_do.hide()
            self.repair.hide()
            self._what.setText("")
            return
        self._tag.say(verdict_word(cell.verdict), TAGS[cell.verdict])
        speaking = next(c for c in cell.checks if c.verdict is cell.verdict)
        why = speaking.why or (self.tr("It is as it should be.") if cell.verdict is Verdict.PASS else "")
        self._why.setText(sentence(why))
        self._why.setVisible(bool(why))
        wide = max(len(kind_word(c.kind)) for c in cell.checks)
        self._evidence.setPlainText("\n".join(_line(c, wide) for c in cell.checks))
        self._evidence.show()
        self._fit_evidence()
        remedies = list(dict.fromkeys(sentence(c.remedy) for c in cell.checks if c.remedy))
        self._what.setText(" ".join(remedies))
        for widget in (self._to_do, self._what):
            widget.setVisible(bool(remedies))
        wrong = {c.kind for c in cell.checks if c.verdict is Verdict.FAIL}
        self.repair.setVisible(bool(wrong) and wrong <= PLANNED)

    def _fit_evidence(self) -> None:
        """As high as its lines, wrapped as they are; more than a few scroll."""
        metrics = self._evidence.fontMetrics()
        room = max(1, self._evidence.viewport().width() - theme.current().px(10))
        texts = self._evidence.toPlainText().splitlines()
        lines = sum(max(1, -(-metrics.horizontalAdvance(line) // room)) for line in texts)
        shown = min(EVIDENCE_LINES, max(1, lines))
        self._evidence.setFixedHeight(metrics.lineSpacing() * shown + theme.current().px(26))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_evidence()

    def text(self) -> str:
        """Everything that is shown, for copying and for tests."""
        what = f"{self._to_do.text()} {self._what.text()}" if self._what.text() else ""
        return "\n".join((self._title.text(), self._why.text(), self._evidence.toPlainText(), what))


def _line(check: Check, wide: int) -> str:
    mark = f"  ({verdict_word(check.verdict)})" if check.verdict is not Verdict.PASS else ""
    return f"{kind_word(check.kind):<{wide}}  {local(check.subject)}: {said(check)}{mark}"


class Bars(QWidget):
    """The chosen quantity of all rows side by side, with its pass mark."""

    def __init__(self) -> None:
        super().__init__()
        self._cells: list[tuple[str, Cell]] = []
        self._chosen = 0
        self._title = ""
        self.setMinimumWidth(theme.current().px(140))
        self.setMinimumHeight(theme.current().px(120))

    def show_column(self, rows: list[Row], at: int, chosen: int, title: str, measured: bool) -> None:
        many = len({r.port for r in rows}) > 1
        self._cells = [(f"{i + 1}" if not many else f"{i // 2 + 1}.{r.port}", r.cells[at]) for i, r in enumerate(rows)]
        self._chosen, self._title = chosen, title
        self.setVisible(sum(bool(c.value) for _, c in self._cells) > 1 and measured)
        values = [f"{r.node} {r.cells[at].text}" for r in rows]
        self.setAccessibleName(f"{title}: {', '.join(values)}")
        self.update()

    def _mark(self) -> float | None:
        marks = [k.pass_mark for _, c in self._cells for k in c.checks if k.pass_mark is not None and c.value]
        return marks[0] if marks else None

    def paintEvent(self, event: QPaintEvent) -> None:
        values = [c.value for _, c in self._cells if c.value]
        if len(values) < 2:
            return
        t = theme.current()
        c = t.tokens
        p = scaled_painter(self)
        width, height = self.width() / t.scale, self.height() / t.scale
        p.setFont(theme.font(theme.SECOND_PT))
        p.setPen(QColor(c.muted))
        write(p, QRectF(0, 0, width, 18), LEFT, self._title)
        plot = QRectF(0, 28, width, min(height - 50, 170.0))
        mark = self._mark()
        top = max(*values, mark or 0.0) * 1.04
        step = width / len(self._cells)
        bar = min(24.0, max(4.0, step - 4))
        roomy = max(QFontMetricsF(p.font()).horizontalAdvance(name) for name, _ in self._cells) + 4 <= step
        named: list[str] = []
        for i, (name, cell) in enumerate(self._cells):
            odd = cell.verdict in (Verdict.DEGRADED, Verdict.FAIL)
            x = i * step + (step - bar) / 2
            tall = (cell.value or 0.0) / top * plot.height()
            p.setPen(Qt.PenStyle.NoPen)
            p.setBrush(QColor(c.warn if odd else c.load[1]))
            p.drawRoundedRect(QRectF(x, plot.bottom() - tall, bar, tall), 2, 2)
            weight = QFont.Weight.DemiBold if i == self._chosen else QFont.Weight.Normal
            p.setFont(theme.font(theme.SECOND_PT, weight))
            p.setPen(QColor(c.warn_text if odd else c.text if i == self._chosen else c.muted))
            if roomy:
                write(p, QRectF(i * step - 4, plot.bottom() + 3, step + 8, 16), CENTRE, name)
            elif (number := name.partition(".")[0]) not in named:  # one number below all bars of a machine
                named.append(number)
                bars = sum(other.partition(".")[0] == number for other, _ in self._cells)
                write(p, QRectF(i * step - 4, plot.bottom() + 3, bars * step + 8, 16), CENTRE, number)
        if mark is not None:
            y = plot.bottom() - mark / top * plot.height()
            p.setPen(QPen(QColor(c.muted), 1, Qt.PenStyle.DashLine))
            p.drawLine(QPointF(0, y), QPointF(width, y))
        p.end()
