"""Every invariant has a story that breaks it, and a twin of the story that breaks none."""

from __future__ import annotations

import pytest

from proof.checker.judge import INVARIANTS
from proof.checker.verdict import Outcome
from tests.unit.proof.checker import cases_runs, cases_schedules, cases_workflows  # noqa: F401 - they register.
from tests.unit.proof.checker.story import CASES, Case, Story, broken, verdict_of

ALL = [
    pytest.param(invariant, told, id=f"{invariant}-{told.__name__}")
    for invariant, stories in CASES.items()
    for told in stories
]


def test_every_invariant_has_a_story() -> None:
    assert CASES.keys() == INVARIANTS.keys()


@pytest.mark.parametrize(("invariant", "told"), ALL)
def test_it_is_flagged(invariant: str, told: Case) -> None:
    story = Story()
    told(story, True)
    assert invariant in broken(story.events)


@pytest.mark.parametrize(("invariant", "told"), ALL)
def test_its_clean_twin_passes(invariant: str, told: Case) -> None:
    story = Story()
    told(story, False)
    verdict = verdict_of(story.events)
    assert [f"{one.violation.invariant}: {one.violation.what}" for one in verdict.told] == []
    assert verdict.outcome is Outcome.VALID
