"""The collective self-test of *Prove*: every algorithm over the fabric, its times, and whether each sum was exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from stellwerk.measure.collectives_report import time_text
from stellwerk.model.errors import StellwerkError
from stellwerk.model.finding import Verdict
from stellwerk.model.units import size_text
from stellwerk_gui import theme
from stellwerk_gui.bridge import Task
from stellwerk_gui.controller import Controller
from stellwerk_gui.measure.figures import TRANSPORTS, algorithm_word
from stellwerk_gui.widgets.controls import Button, Icon, Tag, clear_layout, frame, hbox, label, sentence, vbox

if TYPE_CHECKING:
    from stellwerk.measure.collectives import Progress
    from stellwerk.model.selftest import SelfTest, SelfTestRow

RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class SelfTestCard(QWidget):
    """A card for the page *Prove*. It runs by itself when a proof has ended, and again on its button."""

    def __init__(self, controller: Controller) -> None:
        super().__init__()
        self.controller = controller
        self.test: SelfTest | None = None
        self._task: Task | None = None
        self._running = False
        self._was_proving = False
        self._build()
        controller.proof_changed.connect(self._proof_changed)
        controller.cluster_changed.connect(self._forget)
        self._say("", "", self.tr("Runs when the links have been proven."))

    def _build(self) -> None:
        card = frame("card")
        vbox(self, spacing=0).addWidget(card)
        column = vbox(card, margins=(0, 12, 0, 12), spacing=8)
        head = hbox(margins=(16, 0, 16, 0), spacing=8)
        head.addWidget(label(self.tr("Collective self-test"), "heading"))
        self.tag = Tag()
        head.addWidget(self.tag)
        head.addStretch(1)
        self.what = label("", "second-muted")
        head.addWidget(self.what)
        again = self.tr("Run the collective self-test again")
        self.again = Button("", "icon", icon_name="refresh", icon_colour="muted", on_click=self.run, name=again)
        self.again.setToolTip(again)
        head.addWidget(self.again)
        column.addLayout(head)
        self._grid = QGridLayout()
        self._grid.setSpacing(0)
        column.addLayout(self._grid)
        foot = hbox(margins=(16, 4, 16, 0))
        self.note = label("", "second-muted", wrap=True, selectable=True)
        self.note.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        foot.addWidget(self.note)
        column.addLayout(foot)
        column.addStretch(1)

    # -- running -------------------------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        return self._running

    def run(self) -> None:
        """Test all machines of the latest look."""
        session, look, folder = self.controller.session, self.controller.look, self.controller.folder
        if self.running or session is None or look is None or folder is None or self.controller.proving:
            return
        proof = self.controller.proof

        def work(report: Callable[[Any], None]) -> Any:
            from stellwerk.setup.prove import self_test

            return self_test(session, look, proof, report)

        self._say("plain", self.tr("running"), self.tr("The ranks are being started."))
        self._running = True  # before it is submitted: one that fails at once has ended before `submit` returns
        self.again.setEnabled(False)
        task = self.controller.bridge.submit(work, done=self._done, failed=self._failed, progress=self._progress)
        task.cancelled.connect(self._cancelled)
        self._task = task if self._running else None

    def stop(self) -> None:
        """End the ranks; nothing is shown then."""
        if self._task is not None:
            self._task.cancel()

    def _proof_changed(self) -> None:
        ended = self._was_proving and not self.controller.proving and self.controller.proof is not None
        if self.controller.proving and not self._was_proving:
            self.stop()
        self._was_proving = self.controller.proving
        kept = self.controller.proof.self_test if self.controller.proof is not None else None
        if ended and self._fit_for_ranks():
            self.run()
        elif ended or (self.controller.proof is None and not self.running):
            self._forget()
        elif kept is not None and kept is not self.test and not self.running and not self.controller.proving:
            self.show_test(kept)  # of a proof that was opened again

    def _fit_for_ranks(self) -> bool:
        """Ranks meet over the fabric; where its cables make none there is nothing to start them on."""
        proof = self.controller.proof
        return proof is not None and not any(c.kind == "cable" and c.verdict is Verdict.FAIL for c in proof.checks)

    def _forget(self) -> None:
        self.stop()
        self.test = None
        clear_layout(self._grid)
        self._say("", "", self.tr("Runs when the links have been proven."))

    def _progress(self, progress: Progress) -> None:
        if self.running and progress.of:
            done = self.tr("{done} of {all}").format(done=progress.done, all=progress.of)
            self._say("plain", done, self.note.text())

    def _end(self) -> None:
        self._task, self._running = None, False
        self.again.setEnabled(True)

    def _cancelled(self) -> None:
        self._end()
        self._say("plain", self.tr("stopped"), self.tr("Runs when the links have been proven."))

    def _done(self, test: Any) -> None:
        self._end()
        self.show_test(test)
        self.controller.self_tested(test)

    def _failed(self, error: StellwerkError) -> None:
        self._end()
        self.test = None
        clear_layout(self._grid)
        self._say("bad", self.tr("failed"), str(error))

    # -- showing -------------------------------------------------------------------------------------------------

    def _say(self, kind: str, tag: str, note: str) -> None:
        self.tag.setVisible(bool(tag))
        self.tag.say(tag, kind or "plain")
        self.note.setText(note)

    def show_test(self, test: SelfTest) -> None:
        """The table of a finished self-test."""
        self.test = test
        clear_layout(self._grid)
        how = TRANSPORTS.get(test.transport, test.transport)
        words = self.tr("{n} ranks, {how}, {calls} calls").format(n=test.ranks, how=how, calls=f"{test.calls:,}")
        self.what.setText(words)
        heads = [self.tr("Algorithm"), *(size_text(size) for size in test.sizes), self.tr("Sum")]
        for x, head in enumerate(heads):
            self._put(0, x, len(heads), label(head, "second-muted"))
        for y, row in enumerate(test.rows, 1):
            line = frame("line")
            self._grid.addWidget(line, 2 * y - 1, 0, 1, len(heads))
            self._row(2 * y, row, test, len(heads))
        wrong = sum(row.wrong for row in test.rows)
        if wrong:
            self._say("bad", self.tr("wrong sums"), self._notes(test))
        elif test.notes:
            self._say("warn", self.tr("{how} only").format(how=how), self._notes(test))
        else:
            self._say("good", self.tr("exact"), self._notes(test))

    def _notes(self, test: SelfTest) -> str:
        said = [self.tr("All-reduce, median, best of each size in bold.")]
        if test.simulated:
            said.append(self.tr("The machines are simulated: their ranks share this computer, and so do the times."))
        said += [sentence(note) for note in test.notes]
        return " ".join(said)

    def _row(self, y: int, row: SelfTestRow, test: SelfTest, columns: int) -> None:
        self._put(y, 0, columns, label(algorithm_word(row.algorithm)))
        for x, us in enumerate(row.median_us, 1):
            text = "–" if us is None else f"{time_text(us)} µs" if us < 10_000 else time_text(us)
            figure = label(text, "accent" if test.best[x - 1] == row.algorithm else "")
            if test.best[x - 1] == row.algorithm:
                figure.setStyleSheet("font-weight: 600;")
                figure.setAccessibleName(self.tr("{text}, the best").format(text=text))
            self._put(y, x, columns, figure)
        box = QWidget()
        inside = hbox(box, spacing=6)
        inside.addStretch(1)
        inside.addWidget(Icon("circle-x" if row.wrong else "check", "bad" if row.wrong else "good", 14))
        words = self.tr("{n} wrong").format(n=row.wrong) if row.wrong else self.tr("exact")
        inside.addWidget(label(words, "bad" if row.wrong else ""))
        self._put(y, columns - 1, columns, box)

    def _put(self, y: int, x: int, columns: int, widget: QWidget) -> None:
        px = theme.current().px
        widget.setFixedHeight(px(28))
        if isinstance(widget, QLabel):
            widget.setAlignment(Qt.AlignmentFlag.AlignVCenter if x == 0 else RIGHT)
        left, right = px(16 if x == 0 else 6), px(16 if x == columns - 1 else 6)
        widget.setContentsMargins(left, 0, right, 0)
        self._grid.addWidget(widget, y, x)
        self._grid.setColumnStretch(x, 2 if x == 0 else 1)
