"""Histories of a model in which nothing is wrong pass; one changed event is flagged, or harmless."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from proof.checker.history.events import (
    AnyEvent,
    Beat,
    Change,
    Claim,
    Done,
    Effect,
    Event,
    Kept,
    OfRun,
    Skip,
    name_of,
)
from proof.checker.verdict import Outcome
from tests.unit.proof.checker.model import numbered, small_history, with_fields
from tests.unit.proof.checker.story import broken, verdict_of

seeds = st.integers(0, 10**6)


@given(seed=seeds)
@settings(max_examples=60, deadline=None)
def test_a_history_in_which_nothing_is_wrong_passes(seed: int) -> None:
    verdict = verdict_of(small_history(seed))
    assert [f"{one.violation.invariant}: {one.violation.what}" for one in verdict.told] == []
    assert verdict.outcome is Outcome.VALID


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_the_order_of_the_lines_does_not_matter(seed: int) -> None:
    events = small_history(seed)
    assert verdict_of(Random(seed).sample(events, len(events))).outcome is Outcome.VALID


@given(seed=seeds, place=seeds, how=st.sampled_from(["drop", "double", "token", "version"]))
@settings(max_examples=250, deadline=None)
def test_a_change_of_one_event_is_flagged_or_harmless(seed: int, place: int, how: str) -> None:
    events: list[Event] = [*small_history(seed)]
    place %= len(events)
    changed = mutated(events, place, how)

    if is_grave(events[place], how):
        assert broken(changed), f"{how} of {name_of(events[place])}"
    else:
        verdict_of(changed)  # Whatever it says, it says something.


def mutated(events: list[Event], place: int, how: str) -> list[AnyEvent]:
    event, others = events[place], events[:place] + events[place + 1 :]
    match how:
        case "drop":
            return numbered(others)
        case "double":
            return numbered([*events, event])
        case "token" if getattr(event, "token", None) is not None:
            return numbered(
                [
                    *events[:place],
                    with_fields(event, token=getattr(event, "token", 0) + 1),
                    *events[place + 1 :],
                ]
            )
        case "version" if isinstance(event, OfRun):
            return numbered([*events[:place], with_fields(event, v=event.v + 1), *events[place + 1 :]])
        case _:
            return numbered(events)


def is_grave(event: Event, how: str) -> bool:
    """Whether somebody must notice."""
    match how:
        case "drop" | "double":
            return isinstance(event, OfRun | Skip | Kept | Effect)
        case "token":
            return isinstance(event, Claim | Beat | Effect) or (
                isinstance(event, Change) and event.token is not None
            )
        case "version":
            return isinstance(event, OfRun)
        case _:
            return False


def test_a_small_history_has_what_it_is_to_be_made_of() -> None:
    names = {name_of(event) for seed in range(30) for event in small_history(seed)}
    assert {"fire", "skip", "beat", "failed", "released", "cancelled", "expired", "refused"} <= names
    assert any(isinstance(event, Done) for event in small_history(1))
