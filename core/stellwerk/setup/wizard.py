"""The wizard without a screen: pages as data, and a pure function from what is known to the next page.

The window's pages and the command line are thin views of this. The state is saved after every page, so that a crash,
a closed window or *Back* loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from stellwerk.model.fabric import TopologyKind
from stellwerk.model.finding import Severity
from stellwerk.model.text import say


@dataclass(frozen=True, slots=True)
class WizardState:
    """What is known so far. Every field is something that a page yields."""

    page: str = "find"
    machines: int = 0  # on the list
    paired: int = 0
    looked: bool = False  # facts and cabling are read
    worst_cable: Severity | None = None  # of the cable findings
    chosen_topology: str | None = None
    plan_ready: bool = False
    plan_empty: bool = False
    applied: bool = False
    away: tuple[str, ...] = ()  # paired nodes that do not answer now

    def at(self, page: str) -> WizardState:
        return replace(self, page=page)


@dataclass(frozen=True, slots=True)
class PageSpec:
    """One page: what it is for, and why it cannot be left yet ("" when it can)."""

    key: str
    title: str
    purpose: str
    shut: Callable[[WizardState], str]


def _find_shut(state: WizardState) -> str:
    return "" if state.machines else say("Add at least one machine")


def _pair_shut(state: WizardState) -> str:
    if state.paired == 0:
        return say("Next opens when a machine is ready")
    missing = state.machines - state.paired
    if missing:
        return say(
            "{missing} of {machines} machines are not ready: pair them or take them off the list",
            missing=missing,
            machines=state.machines,
        )
    return ""


def _look_shut(state: WizardState) -> str:
    if not state.looked:
        return say("The nodes are still being read")
    if state.away:
        return _no_answer(state)
    if state.worst_cable is Severity.BAD:
        shape = TopologyKind(state.chosen_topology or TopologyKind.UNKNOWN).word
        return say("Next opens when the cables of the {shape} are right", shape=shape)
    return ""


def _plan_shut(state: WizardState) -> str:
    if state.away:
        return _no_answer(state)
    return "" if state.plan_ready else say("There is no plan yet")


def _no_answer(state: WizardState) -> str:
    """A plan for some of the nodes would be another one than that for all."""
    return say("No answer from {names}", names=", ".join(state.away))


def _apply_shut(state: WizardState) -> str:
    return "" if state.applied or state.plan_empty else say("The plan has not been applied")


def _prove_shut(state: WizardState) -> str:
    return ""


PAGES: tuple[PageSpec, ...] = (
    PageSpec("find", "Find", "machines on the network, or typed addresses", _find_shut),
    PageSpec("pair", "Pair", "trust, log in once, install the agent", _pair_shut),
    PageSpec("look", "Look", "read the nodes and their cables", _look_shut),
    PageSpec("plan", "Plan", "see what would change", _plan_shut),
    PageSpec("apply", "Apply", "change it, with the way back open", _apply_shut),
    PageSpec("prove", "Prove", "measure that it works", _prove_shut),
)
KEYS = tuple(page.key for page in PAGES)


def page(key: str) -> PageSpec:
    """The page called `key`; an unknown one (from an older file) is the first."""
    return next((p for p in PAGES if p.key == key), PAGES[0])


def why_shut(state: WizardState) -> str:
    """Why *Next* is shut on the current page, or ""."""
    return page(state.page).shut(state)


def next_page(state: WizardState) -> str | None:
    """The page after the current one; None after the last. An empty plan needs no *Apply*."""
    at = KEYS.index(page(state.page).key)
    if at + 1 >= len(KEYS):
        return None
    following = KEYS[at + 1]
    if following == "apply" and state.plan_empty:
        return "prove"
    return following


def back_page(state: WizardState) -> str | None:
    """The page before; *Apply* cannot be gone back into once it is done."""
    at = KEYS.index(page(state.page).key)
    if at == 0:
        return None
    before = KEYS[at - 1]
    if before == "apply":
        return "plan"
    return before


def resume_page(state: WizardState) -> str:
    """Where to go on after a restart: the saved page, or the first one before it that is not complete any more."""
    for key in KEYS:
        if key == page(state.page).key or page(key).shut(state.at(key)):
            return key
    return KEYS[-1]


def done(state: WizardState, key: str) -> bool:
    """Whether a page's mark in the list of steps is a tick."""
    before = KEYS.index(key) < KEYS.index(page(state.page).key)
    return before and not page(key).shut(state.at(key))
