"""Both themes can be read: contrast of every pair of colours that the style sheet and the painters put together."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from stellwerk_gui import theme
from stellwerk_gui.theme import DARK, LIGHT, Tokens

TEXT, GRAPHIC = 4.5, 3.0
GROUNDS = ("canvas", "surface", "raised")
SOFT = {"good": "good_soft", "warn": "warn_soft", "bad": "bad_soft"}


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio of two `#rrggbb` colours, 1 to 21."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("tokens", [DARK, LIGHT], ids=["dark", "light"])
class TestContrast:
    @pytest.mark.parametrize("ink", ["text", "muted", "faint"])
    @pytest.mark.parametrize("ground", ["canvas", "surface"])
    def test_text(self, tokens: Tokens, ink: str, ground: str) -> None:
        assert contrast(getattr(tokens, ink), getattr(tokens, ground)) >= TEXT

    @pytest.mark.parametrize("ink", ["text", "muted"])
    def test_text_on_controls(self, tokens: Tokens, ink: str) -> None:
        assert contrast(getattr(tokens, ink), tokens.raised) >= TEXT

    @pytest.mark.parametrize("name", ["good_text", "warn_text", "bad_text", "accent_text", "info"])
    @pytest.mark.parametrize("ground", ["canvas", "surface"])
    def test_words_in_colour(self, tokens: Tokens, name: str, ground: str) -> None:
        assert contrast(getattr(tokens, name), getattr(tokens, ground)) >= TEXT

    @pytest.mark.parametrize(("state", "soft"), SOFT.items())
    def test_words_on_their_tinted_ground(self, tokens: Tokens, state: str, soft: str) -> None:
        assert contrast(getattr(tokens, f"{state}_text"), getattr(tokens, soft)) >= TEXT

    def test_main_action(self, tokens: Tokens) -> None:
        assert contrast(tokens.on_accent, tokens.accent) >= TEXT

    @pytest.mark.parametrize("name", ["accent", "good", "warn", "bad", "outline"])
    @pytest.mark.parametrize("ground", GROUNDS)
    def test_icons_and_rings(self, tokens: Tokens, name: str, ground: str) -> None:
        assert contrast(getattr(tokens, name), getattr(tokens, ground)) >= GRAPHIC

    def test_lines_of_graphs(self, tokens: Tokens) -> None:
        assert {
            c: round(contrast(c, tokens.surface), 2) for c in tokens.series if contrast(c, tokens.surface) < GRAPHIC
        } == {}

    def test_strands_of_cables(self, tokens: Tokens) -> None:
        assert {c: round(contrast(c, tokens.casing), 2) for c in tokens.load if contrast(c, tokens.casing) < 2.4} == {}

    def test_added_and_removed_lines(self, tokens: Tokens) -> None:
        assert min(contrast(tokens.text, tokens.add_bg), contrast(tokens.text, tokens.del_bg)) >= TEXT


def test_the_contrast_of_black_and_white_is_the_standards_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)


def test_a_change_of_theme_reaches_palette_and_sheet(qapp: QApplication, themed: theme.Theme) -> None:
    themed.apply("light")
    assert qapp.palette().window().color().name() == LIGHT.canvas
    assert LIGHT.surface in qapp.styleSheet()
    themed.apply("dark")
    assert DARK.surface in qapp.styleSheet()


def test_the_focus_is_ringed_only_after_somebody_used_the_keyboard(qapp: QApplication, themed: theme.Theme) -> None:
    assert "QPushButton:focus" not in qapp.styleSheet()
    themed.show_focus()
    assert "QPushButton:focus" in qapp.styleSheet()
