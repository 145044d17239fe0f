"""Whole journeys through the wizard, without a screen."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.finding import Severity
from stellwerk.setup.wizard import KEYS, WizardState, back_page, done, next_page, resume_page, why_shut

STATES = st.builds(
    WizardState,
    page=st.sampled_from(KEYS),
    machines=st.integers(0, 8),
    paired=st.integers(0, 8),
    looked=st.booleans(),
    worst_cable=st.sampled_from([None, *Severity]),
    chosen_topology=st.sampled_from([None, "ring"]),
    plan_ready=st.booleans(),
    plan_empty=st.booleans(),
    applied=st.booleans(),
)


def test_a_good_journey_walks_through_all_pages() -> None:
    state = WizardState(machines=2, paired=2, looked=True, chosen_topology="pair", plan_ready=True, applied=True)
    walked = [state.page]
    while (following := next_page(state)) is not None:
        assert why_shut(state) == ""
        state = state.at(following)
        walked.append(following)
    assert walked == list(KEYS)


def test_an_adopted_cluster_goes_from_plan_to_prove() -> None:
    assert next_page(WizardState(page="plan", plan_ready=True, plan_empty=True)) == "prove"


def test_next_says_why_it_is_shut() -> None:
    assert "2 of 4" in why_shut(WizardState(page="pair", machines=4, paired=2))
    wrong = WizardState(page="look", looked=True, worst_cable=Severity.BAD, chosen_topology="ring")
    assert why_shut(wrong) == "Next opens when the cables of the ring are right"
    assert why_shut(replace(wrong, worst_cable=Severity.WARN)) == ""


@given(STATES)
def test_a_resumed_wizard_never_stands_behind_an_unfinished_page(state: WizardState) -> None:
    at = resume_page(state)
    for key in KEYS[: KEYS.index(at)]:
        assert why_shut(state.at(key)) == ""
    assert KEYS.index(at) <= KEYS.index(state.page)


@given(STATES)
def test_back_never_goes_into_an_apply_that_is_over(state: WizardState) -> None:
    before = back_page(state)
    assert before != "apply"
    assert before is None or KEYS.index(before) < KEYS.index(state.page)


@given(STATES)
def test_no_page_ahead_has_a_tick(state: WizardState) -> None:
    assert not any(done(state, key) for key in KEYS[KEYS.index(state.page) :])
