"""The one style sheet, written from the tokens.

Widgets choose a style by the dynamic property `kind`: QPushButton primary | ghost | link | icon | small | segment |
chip; QLabel title | heading | big | second | muted | faint | good | warn | bad | accent | mono | tag-…; QFrame card |
panel | line | note-good | note-warn | note-bad | note-info | note-plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stellwerk_gui.theme import Tokens


def style_sheet(t: Tokens, scale: float, rings: bool = True) -> str:
    """QSS for the whole application at `scale`; `rings`: the widget with the focus is ringed."""

    def px(value: float) -> str:
        return f"{round(value * scale)}px"

    def pt(value: float) -> str:
        return f"{value * scale:.2f}pt"

    parts = [_base(t, px, pt), _buttons(t, px, pt), _inputs(t, px, pt), _labels(t, px, pt), _frames(t, px)]
    return "\n".join([*parts, _rings(t)] if rings else parts)


def _rings(t: Tokens) -> str:
    return f"""
QPushButton:focus, QToolButton:focus {{ border: 2px solid {t.accent}; }}
QPushButton[kind="primary"]:focus {{ border: 2px solid {t.text}; }}
QLineEdit:focus, QComboBox:focus, QSpinBox:focus, QPlainTextEdit:focus {{ border: 2px solid {t.accent}; }}
QCheckBox:focus, QRadioButton:focus {{ border: 2px solid {t.accent}; }}
QAbstractItemView:focus {{ border: 2px solid {t.accent}; }}
QSlider:focus {{ border: 2px solid {t.accent}; }}
"""


def _base(t: Tokens, px, pt) -> str:  # type: ignore[no-untyped-def]
    return f"""
QWidget {{ color: {t.text}; font-family: Inter; font-size: {pt(10.5)}; outline: 0; }}
QMessageBox QLabel#qt_msgbox_label {{ font-weight: 600; min-width: {px(340)}; }}
QMessageBox QLabel#qt_msgbox_informativelabel {{ color: {t.muted}; min-width: {px(340)}; }}
QMainWindow, QDialog, QWidget#page, QStackedWidget {{ background: {t.canvas}; }}
QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line}; padding: {px(4)} {px(8)}; }}
QScrollArea, QScrollArea > QWidget > QWidget {{ background: transparent; border: 0; }}
QAbstractScrollArea::corner {{ background: transparent; border: 0; }}
QScrollBar:vertical {{ background: transparent; width: {px(10)}; margin: 0; }}
QScrollBar:horizontal {{ background: transparent; height: {px(10)}; margin: 0; }}
QScrollBar::handle {{ background: {t.hover}; border-radius: {px(3)}; min-height: {px(24)}; min-width: {px(24)};
  margin: {px(2)}; }}
QScrollBar::handle:hover {{ background: {t.outline}; }}
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {{ background: none; border: 0;
  width: 0; height: 0; }}
QMenu {{ background: {t.raised}; border: 1px solid {t.line}; padding: {px(4)}; border-radius: {px(6)}; }}
QMenu::item {{ padding: {px(6)} {px(16)}; border-radius: {px(4)}; }}
QMenu::item:selected {{ background: {t.hover}; }}
QMenu::item:disabled {{ color: {t.disabled}; }}
QProgressBar {{ background: {t.raised}; border: 0; border-radius: {px(2)}; max-height: {px(3)}; min-height: {px(3)}; }}
QProgressBar::chunk {{ background: {t.accent}; border-radius: {px(2)}; }}
QSplitter::handle {{ background: {t.line}; }}
"""


def _buttons(t: Tokens, px, pt) -> str:  # type: ignore[no-untyped-def]
    return f"""
QPushButton, QToolButton {{ background: {t.raised}; color: {t.text}; border: 2px solid transparent;
  border-radius: {px(8)}; padding: 0 {px(10)}; min-height: {px(28)}; max-height: {px(28)}; font-weight: 500; }}
QPushButton:hover, QToolButton:hover {{ background: {t.hover}; }}
QPushButton:disabled, QToolButton:disabled {{ color: {t.disabled}; background: {t.raised}; }}
QPushButton[kind="primary"] {{ background: {t.accent}; color: {t.on_accent}; font-weight: 600; }}
QPushButton[kind="primary"]:disabled {{ background: {t.raised}; color: {t.disabled}; }}
QPushButton[kind="ghost"] {{ background: transparent; color: {t.muted}; }}
QPushButton[kind="ghost"]:hover {{ background: {t.raised}; }}
QPushButton[kind="ghost"]:disabled {{ background: transparent; color: {t.disabled}; }}
QPushButton[kind="link"] {{ background: transparent; color: {t.accent_text}; padding: 0; min-height: {px(20)};
  max-height: {px(20)}; border-radius: {px(4)}; text-align: left; }}
QPushButton[kind="quiet"] {{ background: transparent; color: {t.muted}; padding: 0; min-height: {px(18)};
  max-height: {px(18)}; font-size: {pt(9)}; font-weight: 400; }}
QPushButton[kind="quiet"]:hover {{ color: {t.text}; }}
QPushButton[kind="small"] {{ min-height: {px(22)}; max-height: {px(22)}; padding: 0 {px(8)}; font-size: {pt(9)}; }}
QPushButton[kind="icon"] {{ padding: 0; min-width: {px(28)}; max-width: {px(28)}; background: transparent; }}
QPushButton[kind="icon"]:hover {{ background: {t.raised}; }}
QPushButton[kind="danger"] {{ background: {t.bad_soft}; color: {t.bad_text}; }}
QPushButton[kind="segment"] {{ background: transparent; color: {t.muted}; min-height: {px(24)}; max-height: {px(24)};
  padding: 0 {px(8)}; border-radius: {px(5)}; }}
QPushButton[kind="segment"]:checked {{ background: {t.seg_on}; color: {t.text}; }}
QPushButton[kind="chip"] {{ border-radius: {px(11)}; min-height: {px(20)}; max-height: {px(20)}; padding: 0 {px(8)};
  font-size: {pt(9)}; font-weight: 400; }}
QPushButton[kind="chip"][off="true"] {{ background: transparent; color: {t.faint}; border: 2px solid {t.line}; }}
QPushButton[kind="row"] {{ background: transparent; text-align: left; border-radius: {px(6)}; font-weight: 400; }}
QPushButton[kind="row"]:checked {{ background: {t.raised}; }}
"""


def _inputs(t: Tokens, px, pt) -> str:  # type: ignore[no-untyped-def]
    return f"""
QLineEdit, QComboBox, QSpinBox, QPlainTextEdit {{ background: {t.raised}; color: {t.text};
  border: 2px solid transparent; border-radius: {px(6)}; padding: 0 {px(8)};
  selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
QLineEdit, QSpinBox, QPlainTextEdit[readOnly="false"] {{ border-bottom: 1px solid {t.outline}; }}
QComboBox {{ font-weight: 500; }}
QPlainTextEdit[kind="code"] {{ background: {t.canvas}; }}
QLineEdit, QComboBox, QSpinBox {{ min-height: {px(28)}; max-height: {px(28)}; }}
QLineEdit:disabled, QComboBox:disabled {{ color: {t.disabled}; }}
QPlainTextEdit {{ padding: {px(6)}; font-family: "JetBrains Mono"; font-size: {pt(9)}; }}
QComboBox {{ padding-right: {px(24)}; }}
QComboBox::drop-down {{ border: 0; width: {px(20)}; }}
QComboBox QAbstractItemView {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
  selection-background-color: {t.hover}; selection-color: {t.text}; outline: 0; }}
QCheckBox::indicator {{ width: {px(16)}; height: {px(16)}; border: 1px solid {t.outline}; border-radius: {px(4)};
  background: {t.raised}; }}
QCheckBox::indicator:checked {{ background: {t.accent}; border: 1px solid {t.accent}; }}
QCheckBox, QRadioButton {{ spacing: {px(8)}; border: 2px solid transparent; border-radius: {px(4)}; }}
QLineEdit:focus, QPlainTextEdit:focus {{ border-bottom: 1px solid {t.accent}; }}
QAbstractItemView {{ background: {t.surface}; border: 2px solid transparent; border-radius: {px(12)}; outline: 0;
  selection-background-color: {t.accent_soft}; selection-color: {t.text}; gridline-color: {t.line}; }}
QAbstractItemView::item {{ padding: 0 {px(10)}; border-bottom: 1px solid {t.line}; }}
QAbstractItemView::item:selected {{ background: {t.accent_soft}; color: {t.text}; }}
QListWidget[kind="choices"] {{ border: 0; }}
QListWidget[kind="choices"]::item {{ border: 0; padding: {px(5)} {px(8)}; border-radius: {px(6)}; }}
QHeaderView {{ border: 0; border-radius: 0; padding: 0; margin: 0; }}
QHeaderView::section {{ background: {t.surface}; color: {t.muted}; border: 0; border-radius: 0;
  padding: 0 {px(10)}; font-size: {pt(9)}; font-weight: 500; min-height: {px(30)}; }}
QHeaderView::section {{ border-bottom: 1px solid {t.line}; }}
QHeaderView {{ background: transparent; }}
QTableCornerButton::section {{ background: {t.surface}; border: 0; }}
QComboBox[kind="heading"] {{ background: transparent; border: 2px solid transparent; padding: 0; font-weight: 600;
  min-height: {px(20)}; max-height: {px(20)}; }}
QComboBox::down-arrow {{ image: none; border: 0; width: 0; }}
QSlider {{ border: 2px solid transparent; border-radius: {px(4)}; min-height: {px(22)}; }}
QSlider::groove:horizontal {{ background: {t.raised}; height: {px(4)}; border-radius: {px(2)}; }}
QSlider::sub-page:horizontal {{ background: {t.accent}; height: {px(4)}; border-radius: {px(2)}; }}
QSlider::handle:horizontal {{ background: {t.text}; width: {px(14)}; height: {px(14)}; margin: -{px(5)} 0;
  border-radius: {px(7)}; }}
"""


def _labels(t: Tokens, px, pt) -> str:  # type: ignore[no-untyped-def]
    tags = "\n".join(
        f'QLabel[kind="tag-{name}"] {{ background: {ground}; color: {ink}; border-radius: {px(4)}; '
        f"padding: 0 {px(7)}; min-height: {px(20)}; max-height: {px(20)}; font-size: {pt(9)}; }}"
        for name, ground, ink in (
            ("plain", t.raised, t.muted),
            ("good", t.good_soft, t.good_text),
            ("warn", t.warn_soft, t.warn_text),
            ("bad", t.bad_soft, t.bad_text),
            ("accent", t.accent_soft, t.accent_text),
            ("info", t.info_soft, t.info),
        )
    )
    tags += "\n".join(
        f'QLabel[kind="{name}"] {{ background: {ground}; color: {ink}; border-radius: {px(4)}; font-size: {pt(9)}; '
        f"min-width: {px(18)}; max-width: {px(18)}; min-height: {px(18)}; max-height: {px(18)}; }}"
        for name, ground, ink in (
            ("letter", t.raised, t.text),
            ("letter-warn", t.warn_soft, t.warn_text),
            ("letter-bad", t.bad_soft, t.bad_text),
        )
    )
    return f"""
QLabel {{ background: transparent; }}
QLabel[kind="title"] {{ font-size: {pt(13)}; font-weight: 600; }}
QLabel[kind="heading"] {{ font-weight: 600; }}
QLabel[kind="big"] {{ font-size: {pt(22)}; font-weight: 600; }}
QLabel[kind="strong"] {{ font-size: {pt(9)}; font-weight: 600; }}
QLabel[kind="second"] {{ font-size: {pt(9)}; }}
QLabel[kind="muted"] {{ color: {t.muted}; }}
QLabel[kind="second-muted"] {{ color: {t.muted}; font-size: {pt(9)}; }}
QLabel[kind="faint"] {{ color: {t.faint}; font-size: {pt(9)}; }}
QLabel[kind="good"] {{ color: {t.good_text}; font-size: {pt(9)}; }}
QLabel[kind="warn"] {{ color: {t.warn_text}; font-size: {pt(9)}; }}
QLabel[kind="bad"] {{ color: {t.bad_text}; font-size: {pt(9)}; }}
QLabel[kind="warn-words"] {{ color: {t.warn_text}; }}
QLabel[kind="bad-words"] {{ color: {t.bad_text}; }}
QLabel[kind="good-words"], QLabel[kind="muted-words"] {{ color: {t.muted}; }}
QLabel[kind="accent"] {{ color: {t.accent_text}; }}
QLabel[kind="mono"] {{ font-family: "JetBrains Mono"; font-size: {pt(9)}; }}
QLabel[kind="number"] {{ background: {t.raised}; color: {t.muted}; border-radius: {px(10)}; font-size: {pt(9)};
  min-width: {px(20)}; max-width: {px(20)}; min-height: {px(20)}; max-height: {px(20)}; font-weight: 600; }}
QLabel[kind="chip"] {{ background: {t.raised}; border-radius: {px(12)}; padding: 0 {px(9)}; font-size: {pt(9)};
  min-height: {px(24)}; max-height: {px(24)}; }}
QLabel[kind="key"] {{ background: {t.raised}; color: {t.muted}; border-radius: {px(4)}; padding: 0 {px(5)};
  font-size: {pt(9)}; min-height: {px(18)}; max-height: {px(18)}; }}
{tags}
"""


def _frames(t: Tokens, px) -> str:  # type: ignore[no-untyped-def]
    notes = "\n".join(
        f'QFrame[kind="note-{name}"] {{ background: {ground}; border-radius: {px(6)}; }}'
        for name, ground in (
            ("plain", t.raised),
            ("good", t.good_soft),
            ("warn", t.warn_soft),
            ("bad", t.bad_soft),
            ("info", t.info_soft),
        )
    )
    return f"""
QFrame[kind="card"] {{ background: {t.surface}; border: 1px solid {t.card_line}; border-radius: {px(12)}; }}
QFrame[kind="hovercard"] {{ background: {t.canvas}; border: 1px solid {t.outline}; border-radius: {px(8)}; }}
QFrame[kind="dashed"] {{ background: transparent; border: 1px dashed {t.outline}; border-radius: {px(12)}; }}
QFrame[kind="panel"] {{ background: {t.surface}; border-left: 1px solid {t.line}; }}
QFrame[kind="rail"] {{ background: {t.canvas}; border-right: 1px solid {t.line}; }}
QFrame[kind="status"] {{ background: {t.canvas}; border-top: 1px solid {t.line}; }}
QFrame[kind="footer"] {{ background: {t.canvas}; border-top: 1px solid {t.line}; }}
QFrame[kind="titleline"] {{ background: {t.canvas}; border-bottom: 1px solid {t.line}; }}
QFrame[kind="segments"] {{ background: {t.raised}; border-radius: {px(6)}; }}
QFrame[kind="line"] {{ background: {t.line}; border: 0; max-height: 1px; min-height: 1px; }}
QFrame[kind="vline"] {{ background: {t.line}; border: 0; max-width: 1px; min-width: 1px; }}
{notes}
"""
