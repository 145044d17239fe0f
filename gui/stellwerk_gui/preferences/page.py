"""*Settings*: theme, language, scale, motion, sampling, keys, data folder."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QVBoxLayout, QWidget

from stellwerk_gui import theme
from stellwerk_gui.settings import SettingsFile
from stellwerk_gui.shell import Page
from stellwerk_gui.widgets.controls import Button, Check, Combo, Segments, frame, hbox, label, scroll_area, vbox

SCALES = (1.0, 1.25, 1.5, 1.75, 2.0)
RATES = (1.0, 2.0, 5.0, 10.0)


class SettingsPage(Page):
    """Every choice takes effect at once."""

    def __init__(self, settings: SettingsFile, data: Path) -> None:
        super().__init__("")
        self.title.setText(self.tr("Settings"))
        self.settings = settings
        inner = QWidget()
        inner.setMaximumWidth(theme.current().px(720))
        self._column = vbox(inner, margins=(16, 0, 16, 16), spacing=12)
        vbox(self.body, spacing=0).addWidget(scroll_area(inner))
        self._look()
        self._data(data)
        self._keys()
        self._column.addStretch(1)
        settings.changed.connect(lambda value: self.theme_choice.choose(value.theme))  # it may come from elsewhere

    def _card(self, title: str) -> QWidget:
        card = frame("card")
        self._column.addWidget(label(title, "heading"))
        self._column.addWidget(card)
        return card

    def _row(self, box: QVBoxLayout, text: str, control: QWidget) -> None:
        row = hbox(spacing=12)
        row.addWidget(label(text), 1)
        control.setAccessibleName(text)
        row.addWidget(control)
        box.addLayout(row)

    def _look(self) -> None:
        box = vbox(self._card(self.tr("Look")), margins=(16, 12, 16, 12), spacing=10)
        value = self.settings.value
        choices = [("dark", self.tr("Dark")), ("light", self.tr("Light")), ("system", self.tr("System"))]
        self.theme_choice = Segments(choices, value.theme)
        self.theme_choice.chosen.connect(lambda key: self.settings.change(theme=key))
        self._row(box, self.tr("Theme"), self.theme_choice)
        self.language = Combo()
        for key, text in (("system", self.tr("System")), ("en", "English"), ("de", "Deutsch")):
            self.language.addItem(text, key)
        self.language.setCurrentIndex(self.language.findData(value.language))
        self.language.currentIndexChanged.connect(lambda: self.settings.change(language=self.language.currentData()))
        self._row(box, self.tr("Language (at the next start)"), self.language)
        self.scale = Combo()
        for number in SCALES:
            self.scale.addItem(f"{number:.0%}", number)
        self.scale.setCurrentIndex(max(0, self.scale.findData(value.scale)))
        self.scale.currentIndexChanged.connect(lambda: self.settings.change(scale=self.scale.currentData()))
        self._row(box, self.tr("Size (at the next start)"), self.scale)
        self.motion = Check()
        self.motion.setChecked(value.reduce_motion)
        self.motion.toggled.connect(lambda on: self.settings.change(reduce_motion=on))
        self._row(box, self.tr("Reduce motion"), self.motion)
        self.rate = Combo()
        for hz in RATES:
            self.rate.addItem(self.tr("{r} a second").format(r=f"{hz:g}"), hz)
        self.rate.setCurrentIndex(max(0, self.rate.findData(value.sample_rate_hz)))
        self.rate.currentIndexChanged.connect(lambda: self.settings.change(sample_rate_hz=self.rate.currentData()))
        self._row(box, self.tr("Samples"), self.rate)

    def _data(self, data: Path) -> None:
        box = vbox(self._card(self.tr("Data")), margins=(16, 12, 16, 12), spacing=10)
        row = hbox(spacing=12)
        row.addWidget(label(str(data), "mono", wrap=True, selectable=True), 1)
        open_folder = Button(self.tr("Open folder"), icon_name="folder")
        open_folder.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(data))))
        row.addWidget(open_folder)
        box.addLayout(row)
        box.addWidget(
            label(
                self.tr("Clusters, their keys and reports lie here and nowhere else. Nothing is sent anywhere."),
                "second-muted",
                wrap=True,
            )
        )

    def _keys(self) -> None:
        box = vbox(self._card(self.tr("Keys")), margins=(16, 12, 16, 12), spacing=8)
        for keys, text in (
            ("Ctrl+1, Ctrl+2, …", self.tr("The pages, from the top")),
            ("Ctrl+K", self.tr("Every action by name")),
            (self.tr("Arrows, Enter, Esc"), self.tr("Walk over the map, open a node, close it")),
            (self.tr("Space"), self.tr("Pause or live (Monitor)")),
            ("1, 2, 3", self.tr("The three doors (Start)")),
            ("Ctrl+Q", self.tr("Quit")),
        ):
            row = hbox(spacing=12)
            row.addWidget(label(text), 1)
            row.addWidget(label(keys, "key"))
            box.addLayout(row)
