"""*Measure*: choose, run, read. Latency and bus bandwidth by size, a line per algorithm and rival, numbers below."""

from __future__ import annotations

import json
from functools import partial

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QProgressBar, QScrollArea, QWidget

from stellwerk.measure import collectives_report as report
from stellwerk.model.errors import StellwerkError
from stellwerk_gui import theme
from stellwerk_gui.controller import Controller
from stellwerk_gui.exporting import export, picture_of
from stellwerk_gui.language import local
from stellwerk_gui.measure.chip import LineChip
from stellwerk_gui.measure.choices import Choices
from stellwerk_gui.measure.curves import SizePlot
from stellwerk_gui.measure.figures import (
    TRANSPORTS,
    Claim,
    claims,
    curves,
    ranks_of,
    series_of,
    wrong_elements,
)
from stellwerk_gui.measure.runner import MeasureRunner, Shown
from stellwerk_gui.measure.table import FiguresTable
from stellwerk_gui.palette import Command
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Icon, Segments, clear_layout, frame, hbox, label, vbox

LEGEND_PX = 208


class MeasurePage(Page):
    """All methods belong to Qt's thread."""

    def __init__(self, controller: Controller) -> None:
        super().__init__("")
        self.title.setText(self.tr("Measure"))
        self.controller = controller
        self.runner = MeasureRunner(controller, self)
        self._hidden: frozenset[str] = frozenset()
        self._chip_of: dict[str, LineChip] = {}
        self._ranks = 0
        self.tune = Button(self.tr("Use for this cluster"), icon_name="check", on_click=self._store_tuning)
        self.tune.setToolTip(self.tr("From now on, ranks on this cluster take the fastest algorithm of each size"))
        self.export = Button(
            "", icon_name="upload", on_click=self._export_menu, name=self.tr("Export"), tip=self.tr("Export")
        )
        self.stop = Button(self.tr("Stop"), icon_name="player-stop", on_click=self.runner.stop)
        self.start = Button(self.tr("Measure"), "primary", icon_name="player-play", on_click=self.measure)
        for widget in (self.tune, self.export, self.stop, self.start):
            self.add_action(widget)
        self._build()
        self.runner.changed.connect(self._refresh)
        theme.current().changed.connect(self._refresh)
        self._refresh()

    def _build(self) -> None:
        column = vbox(self.body, margins=(16, 0, 16, 12), spacing=12)
        self.choices = Choices(self.controller)
        column.addWidget(self.choices)
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        column.addWidget(self.bar)
        column.addWidget(self._headline())
        self._figures = QWidget()
        inside = vbox(self._figures, spacing=12)
        inside.addLayout(self._plots(), 3)
        self.table = FiguresTable()
        inside.addWidget(self.table, 2)
        column.addWidget(self._figures, 1)
        self._empty = label(
            self.tr(
                "Nothing has been measured yet. A measurement runs all algorithms, and Gloo and Open MPI where they "
                "are installed, in turns, and checks every sum."
            ),
            "muted",
            wrap=True,
        )
        column.addWidget(self._empty)
        self._spring = QWidget()
        column.addWidget(self._spring, 1)

    def _headline(self) -> QWidget:
        self._card = frame("card")
        column = vbox(self._card, margins=(16, 12, 16, 12), spacing=4)
        top = hbox(spacing=10)
        self.sign = Icon("circle-check", "good", 20)
        top.addWidget(self.sign, 0, Qt.AlignmentFlag.AlignTop)
        self.claim = label("", "title", wrap=True, selectable=True)
        top.addWidget(self.claim, 1)
        self.simulated = label(self.tr("Simulated machines"), "tag-info")
        top.addWidget(self.simulated, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(top)
        self.words = label("", "muted", wrap=True, selectable=True)
        column.addWidget(self.words)
        return self._card

    def _plots(self) -> QHBoxLayout:
        row = hbox(spacing=12)
        self.latency = SizePlot(self.tr("Latency"), "µs", self.tr("median of the slowest rank, lower is better"))
        self.bandwidth = SizePlot(self.tr("Bus bandwidth"), "GB/s", self.tr("higher is better"), upward=True)
        for plot in (self.latency, self.bandwidth):
            row.addWidget(plot, 1)
            plot.pointed.connect(self.latency.point_at)
            plot.pointed.connect(self.bandwidth.point_at)
        side = QWidget()
        side.setFixedWidth(theme.current().px(LEGEND_PX))
        column = vbox(side, spacing=8)
        self._ranks_place = hbox()
        column.addLayout(self._ranks_place)
        holder = QWidget()
        self._chips = vbox(holder, spacing=4)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(holder)
        column.addWidget(scroll, 1)
        row.addWidget(side)
        return row

    # -- running -------------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """Start with what is chosen."""
        if self.runner.running:
            return
        if self.choices.on_cluster:
            self.runner.start_cluster(self.choices.plan_cluster())
        else:
            self.runner.start_here(self.choices.plan_here())

    def _store_tuning(self) -> None:
        try:
            stored = self.runner.store_tuning()
        except (StellwerkError, OSError) as error:
            known = error if isinstance(error, StellwerkError) else StellwerkError("not stored", why=str(error))
            self.controller.problem.emit(known)
            return
        for line in stored:
            self.controller.happened.emit(self.tr("stored: {line}").format(line=line))
        self.tune.setEnabled(False)

    # -- showing -------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        running, shown, progress = self.runner.running, self.runner.shown, self.runner.progress
        self.start.setVisible(not running)
        self.stop.setVisible(running)
        self.choices.setEnabled(not running)
        self.bar.setVisible(running)
        if progress is not None and progress.of:
            self.bar.setRange(0, progress.of)
            self.bar.setValue(progress.done)
        else:
            self.bar.setRange(0, 0)
        has = shown is not None and bool(shown.result.cells)
        self.export.setVisible(has and not running)
        whole = shown is not None and shown.complete and shown.cluster is not None
        self.tune.setVisible(whole and not running)
        self.tune.setEnabled(True)
        for widget in (self._card, self._figures):
            widget.setVisible(has)
        for widget in (self._empty, self._spring):
            widget.setVisible(not has)
        self.set_state(self._state_words(), "refresh" if running else "", "muted")
        if shown is not None and has:
            self._show(shown)

    def _state_words(self) -> str:
        progress, shown = self.runner.progress, self.runner.shown
        if self.runner.running:
            words = local(progress.what) if progress is not None else self.tr("starting")
            if progress is not None and progress.of:
                return self.tr("{done} of {all} cells, {what}").format(done=progress.done, all=progress.of, what=words)
            return words
        if shown is None:
            return ""
        if not shown.complete:
            return self.tr("Stopped; measured until then on {where}").format(where=shown.where)
        return self.tr("Measured on {where}").format(where=shown.where)

    def _show(self, shown: Shown) -> None:
        known = ranks_of(shown.result)
        if self._ranks not in known:
            self._ranks = known[-1]
        self._show_ranks(known)
        self._show_chips(shown)
        self.latency.show_curves(curves(shown.result, self._ranks, "latency", self._hidden))
        self.bandwidth.show_curves(curves(shown.result, self._ranks, "bandwidth", self._hidden))
        self.table.show_result(shown.result, self._ranks)
        self._say(shown)

    def _show_ranks(self, known: tuple[int, ...]) -> None:
        clear_layout(self._ranks_place)
        if len(known) > 1:
            self._ranks_place.addWidget(label(self.tr("Ranks"), "heading"))
            segments = Segments([(str(n), str(n)) for n in known], str(self._ranks))
            segments.setAccessibleName(self.tr("Ranks"))
            segments.chosen.connect(lambda key: self._choose_ranks(int(key)))
            self._ranks_place.addWidget(segments)
        else:
            self._ranks_place.addWidget(label(self.tr("{n} ranks").format(n=self._ranks), "heading"))
        self._ranks_place.addStretch(1)

    def _choose_ranks(self, ranks: int) -> None:
        self._ranks = ranks
        self._refresh()

    def _show_chips(self, shown: Shown) -> None:
        series = {s.name: s for s in map(series_of, shown.result.contenders)}
        if list(series) != list(self._chip_of):
            clear_layout(self._chips)
            self._chip_of = {name: LineChip(name, s.colour, False, dashed=s.dashed) for name, s in series.items()}
            for name, chip in self._chip_of.items():
                chip.clicked.connect(partial(self._toggle, name))
                chip.isolated.connect(self._isolate)
                self._chips.addWidget(chip, 0, Qt.AlignmentFlag.AlignLeft)
            self._chips.addStretch(1)
        for name, chip in self._chip_of.items():
            chip.show_off(series[name].colour, name in self._hidden)

    def _toggle(self, name: str, _: bool = False) -> None:
        self._hidden = self._hidden ^ {name}
        self._refresh()

    def _isolate(self, name: str) -> None:
        others = frozenset(n for n in self._chip_of if n != name)
        self._hidden = frozenset() if self._hidden == others else others
        self._refresh()

    def _say(self, shown: Shown) -> None:
        result = shown.result
        wrong = wrong_elements(result.cells)
        said = [self._claim_words(claim) for claim in claims(result, self._ranks)]
        if wrong:
            self.sign.set_icon("circle-x", "bad")
            said.insert(0, self.tr("{n} elements were wrong: do not use these figures.").format(n=wrong))
        else:
            self.sign.set_icon("circle-check", "good")
        self.claim.setText(said[0] if said else self.tr("Every sum was right."))
        more = said[1:]
        if not wrong:
            more.append(self.tr("Every sum was right."))
        if shown.simulated:
            more.append(self.tr("The machines are simulated: their ranks share this computer, and so do the figures."))
        if shown.cluster is not None:
            more += shown.cluster.fallbacks
        more += [self.tr("Not measured: {what}.").format(what=what.rstrip(".")) for what in result.missing]
        self.words.setText(" ".join(more))
        self.simulated.setVisible(shown.simulated)

    def _claim_words(self, claim: Claim) -> str:
        text = (
            self.tr("{how}: direct is as fast as ring at {size} on {ranks} ranks.")
            if claim.times == "1.0"
            else self.tr("{how}: direct is {n} times faster than ring at {size} on {ranks} ranks.")
            if claim.faster
            else self.tr("{how}: direct is {n} times slower than ring at {size} on {ranks} ranks.")
        )
        how = TRANSPORTS.get(claim.transport, claim.transport)
        return text.format(how=how[0].upper() + how[1:], n=claim.times, size=claim.size_words, ranks=claim.ranks)

    # -- export --------------------------------------------------------------------------------------------------

    def _export_menu(self) -> None:
        menu = QMenu(self)
        menu.addAction(self.tr("Picture (PNG)"), self.export_png)
        menu.addAction(self.tr("Numbers (JSON)"), lambda: self._save("collectives.json", self.json_text()))
        menu.addAction(self.tr("Numbers (CSV)"), lambda: self._save("collectives.csv", self.csv_text()))
        menu.popup(self.export.mapToGlobal(QPoint(0, self.export.height())))

    def json_text(self) -> str:
        """The figures, in the form of `stellwerk measure collectives --json`."""
        shown = self.runner.shown
        if shown is None:
            return ""
        if shown.cluster is not None:
            from stellwerk.measure.cluster import to_json

            return json.dumps(to_json(shown.cluster), indent=1) + "\n"
        return json.dumps(report.to_json(shown.result), indent=1) + "\n"

    def csv_text(self) -> str:
        """One line per cell."""
        return report.to_csv(self.runner.shown.result) if self.runner.shown is not None else ""

    def export_png(self) -> None:
        export(self.controller, self.window(), "collectives.png", picture_of(self.body))

    def _save(self, name: str, text: str) -> None:
        export(self.controller, self.window(), name, text.encode())

    def commands(self) -> list[Command]:
        if self.runner.running:
            return [Command(self.tr("Stop the measurement"), self.runner.stop)]
        found = [Command(self.tr("Measure collectives"), self.measure)]
        if self.runner.shown is not None:
            found.append(Command(self.tr("Export as picture"), self.export_png))
        return found
