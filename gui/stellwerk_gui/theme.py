"""Colours, fonts and sizes, in one place: Fusion, our own palette, one style sheet made from the tokens."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from stellwerk_gui.sheet import style_sheet

RAIL_PX, TITLE_PX, STATUS_PX, MARGIN_PX = 72, 56, 28, 16
TABLE_ROW_PX = 31
TEXT_PT, SECOND_PT, TITLE_PT, BIG_PT = 10.5, 9.0, 13.0, 22.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme. Names as in the design; every colour is `#rrggbb`."""

    canvas: str
    surface: str
    raised: str
    hover: str
    line: str
    outline: str
    text: str
    muted: str
    faint: str
    disabled: str
    accent: str
    on_accent: str
    accent_text: str
    good: str
    warn: str
    bad: str
    info: str
    good_text: str
    warn_text: str
    bad_text: str
    accent_soft: str
    good_soft: str
    warn_soft: str
    bad_soft: str
    info_soft: str
    seg_on: str
    card_line: str
    casing: str
    dash: str
    series: tuple[str, ...]
    load: tuple[str, ...]
    code_key: str
    code_str: str
    code_num: str
    code_com: str
    code_punct: str
    add_bg: str
    del_bg: str


DARK = Tokens(
    canvas="#15171a",
    surface="#1d2024",
    raised="#262a2f",
    hover="#2f343a",
    line="#343a41",
    outline="#737d88",
    text="#e8eaed",
    muted="#9aa3ad",
    faint="#88919b",
    disabled="#6b7580",
    accent="#7ab648",
    on_accent="#0f1a08",
    accent_text="#7ab648",
    good="#4caf72",
    warn="#e0a63a",
    bad="#e5645c",
    info="#6aa6d8",
    good_text="#4caf72",
    warn_text="#e0a63a",
    bad_text="#ec7f77",
    accent_soft="#2a3529",
    good_soft="#22302a",
    warn_soft="#383327",
    bad_soft="#392a2c",
    info_soft="#232d37",
    seg_on="#3a4047",
    card_line="#1d2024",
    casing="#23272c",
    dash="#e8eaed",
    series=("#448dd8", "#fbb757", "#2ec0b6", "#c26883", "#9a8c15", "#e5bcfc", "#f18979", "#ace6bb"),
    load=("#626b75", "#5e7f99", "#6b9cc4", "#86bde9", "#b8dfff"),
    code_key="#8ab8e6",
    code_str="#c3b076",
    code_num="#c89be0",
    code_com="#88919b",
    code_punct="#9aa3ad",
    add_bg="#1f2f26",
    del_bg="#33262a",
)
LIGHT = Tokens(
    canvas="#f4f5f7",
    surface="#ffffff",
    raised="#eceef1",
    hover="#e2e5e9",
    line="#d5d9de",
    outline="#7d8792",
    text="#1b1e22",
    muted="#5d6670",
    faint="#646d77",
    disabled="#98a1ab",
    accent="#41791a",
    on_accent="#ffffff",
    accent_text="#41791a",
    good="#2b8a4b",
    warn="#a86a00",
    bad="#c0362c",
    info="#1f6aa8",
    good_text="#267b43",
    warn_text="#8f5a00",
    bad_text="#c0362c",
    accent_soft="#eaf2e3",
    good_soft="#e8f3ec",
    warn_soft="#f9f0dd",
    bad_soft="#fae9e8",
    info_soft="#e6eff7",
    seg_on="#ffffff",
    card_line="#e3e6ea",
    casing="#e3e7eb",
    dash="#a9cdec",
    series=("#07416b", "#864708", "#1b7b66", "#be56a3", "#8c7610", "#693eac", "#790f09", "#5c976a"),
    load=("#838e99", "#5c8db8", "#3b7cb6", "#1d66a8", "#0a4479"),
    code_key="#1a5f9e",
    code_str="#7a5a00",
    code_num="#7a3d9c",
    code_com="#646d77",
    code_punct="#5d6670",
    add_bg="#e3f2e8",
    del_bg="#fbe6e4",
)


@contextmanager
def _nothing_collected() -> Iterator[None]:
    """Hold the garbage collector back while Qt walks over all widgets to tell them of a new style.

    Qt keeps bare pointers to them for that walk, and some of them answer in Python: a collection then (set off by
    any thread) that takes a forgotten widget away leaves Qt with a pointer to nothing, and the program ends.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


class Theme(QObject):
    """The theme in use. Widgets that paint themselves read `tokens` and repaint on `changed`."""

    changed = Signal()

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self.choice = "dark"
        self.scale = 1.0
        self.reduce_motion = False
        self.keys_used = False
        self.tokens = DARK
        app.setStyle("Fusion")
        load_fonts()
        app.styleHints().colorSchemeChanged.connect(self._system_changed)

    def apply(self, choice: str, scale: float = 1.0, reduce_motion: bool = False) -> None:
        """Switch to `dark`, `light` or `system`, at 1.0 to 2.0 times the size."""
        self.choice, self.scale, self.reduce_motion = choice, scale, reduce_motion
        self.tokens = _resolve(choice)
        with _nothing_collected():
            self._app.setFont(font(TEXT_PT * scale))
            self._app.setPalette(_palette(self.tokens))
            self._app.setStyleSheet(style_sheet(self.tokens, scale, rings=self.keys_used))
        self.changed.emit()

    def show_focus(self) -> None:
        """Somebody moves with the keyboard: from now on the focus is ringed. Before that it would only distract."""
        if not self.keys_used:
            self.keys_used = True
            with _nothing_collected():
                self._app.setStyleSheet(style_sheet(self.tokens, self.scale, rings=True))

    def ringed(self, widget: QWidget) -> bool:
        """Whether a widget that paints itself draws its focus ring."""
        return self.keys_used and widget.hasFocus()

    @property
    def dark(self) -> bool:
        return self.tokens is DARK

    def px(self, pixels: float) -> int:
        """A length of the design at the chosen scale."""
        return round(pixels * self.scale)

    def node_colour(self, number: int) -> str:
        """The colour of node 1..8, the same everywhere; more nodes begin again."""
        return self.tokens.series[(number - 1) % len(self.tokens.series)]

    def _system_changed(self) -> None:
        if self.choice == "system":
            self.apply("system", self.scale, self.reduce_motion)


def current() -> Theme:
    """The application's theme. Raises `RuntimeError` before `install`."""
    app = QApplication.instance()
    found = app.findChild(Theme) if app is not None else None
    if found is None:
        raise RuntimeError("the theme has not been installed")
    return found


def install(app: QApplication, choice: str = "dark", scale: float = 1.0, reduce_motion: bool = False) -> Theme:
    """Make the theme once per application and switch to `choice`."""
    theme = app.findChild(Theme) or Theme(app)
    theme.apply(choice, scale, reduce_motion)
    return theme


def font(points: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Inter with tabular figures, so that read-outs do not jump."""
    made = QFont("Inter")
    made.setPointSizeF(points)
    made.setWeight(weight)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    _tabular(made)
    return made


def mono(points: float = SECOND_PT) -> QFont:
    """JetBrains Mono, for interface names, code and diffs."""
    made = QFont("JetBrains Mono")
    made.setPointSizeF(points)
    made.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return made


def _tabular(made: QFont) -> None:
    made.setFeature(QFont.Tag("tnum"), 1)


@cache
def load_fonts() -> tuple[int, ...]:
    """Register the shipped fonts; they need not be installed."""
    ids = []
    for entry in sorted((files("stellwerk_resources") / "fonts").iterdir(), key=lambda e: e.name):
        if entry.name.endswith((".otf", ".ttf")):
            with as_file(entry) as path:
                ids.append(QFontDatabase.addApplicationFont(str(path)))
    return tuple(ids)


def _resolve(choice: str) -> Tokens:
    if choice == "light":
        return LIGHT
    if choice == "system" and QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Light:
        return LIGHT
    return DARK


def _palette(t: Tokens) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for name, colour in {
        role.Window: t.canvas,
        role.Base: t.surface,
        role.AlternateBase: t.raised,
        role.Button: t.raised,
        role.WindowText: t.text,
        role.Text: t.text,
        role.ButtonText: t.text,
        role.BrightText: t.bad_text,
        role.ToolTipBase: t.raised,
        role.ToolTipText: t.text,
        role.PlaceholderText: t.faint,
        role.Highlight: t.accent,
        role.HighlightedText: t.on_accent,
        role.Link: t.accent_text,
        role.Accent: t.accent,
    }.items():
        palette.setColor(name, QColor(colour))
    for name in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, name, QColor(t.disabled))
    return palette
