"""Verdicts: what they say, and when they dare not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from proof.checker.coverage import COVERAGE, coverage_of
from proof.checker.history.events import Again, CancelOk, Elect, Expired, Refused, Released, name_of
from proof.checker.index import index_of
from proof.checker.judge import AROUND, check
from proof.checker.pictures import svg
from proof.checker.verdict import Outcome
from tests.unit.proof.checker import cases_runs, cases_schedules
from tests.unit.proof.checker.cases_workflows import ROOT, Flow
from tests.unit.proof.checker.model import small_history
from tests.unit.proof.checker.story import NOON, Story, t


def told(case: Callable[[Story, bool], None], wrong: bool) -> Story:
    story = Story()
    case(story, wrong)
    return story


def test_too_little_is_unknown_and_not_valid() -> None:
    verdict = check(told(cases_runs.a_run_never_ends, False).events)
    assert verdict.outcome is Outcome.UNKNOWN
    assert len(verdict.missing) == len(COVERAGE)


def test_a_violation_is_invalid_whatever_is_missing() -> None:
    assert check(told(cases_runs.a_run_never_ends, True).events).outcome is Outcome.INVALID


def test_without_a_final_read_nothing_is_sure() -> None:
    story = Story()
    story.job()
    story.enqueue()
    verdict = check(story.events, coverage_min=0)
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.missing == ["there is no final read, so nothing was ever owed."]


def test_a_fault_that_never_ends_leaves_nothing_sure() -> None:
    story = Story()
    story.fault(1, None, "cut", "db")
    story.read()
    verdict = check(story.events, coverage_min=0)
    assert verdict.outcome is Outcome.UNKNOWN
    assert verdict.missing == ["the fault cut of db never ended, so little was owed after it."]


def test_another_release_of_the_time_zones_is_unknown() -> None:
    story = Story()
    story.job(cron="0 0 1 1 *", tzdata="1999z")
    story.read()
    assert "1999z" in check(story.events, coverage_min=0).missing[0]


def test_what_a_campaign_cannot_do_may_be_left_out() -> None:
    events = told(cases_runs.a_run_never_ends, False).events
    assert check(events, without=list(COVERAGE)).outcome is Outcome.VALID


def test_a_violation_comes_with_five_events_around_it() -> None:
    story = Story()
    story.job()
    story.enqueue("other")
    story.live("other", at=1, until=100, worker="v/1")
    story.enqueue()
    story.claim(2)
    story.start(2)
    story.beats(2, 60)
    story.end(60)
    story.end(61)
    story.beat(62)
    story.read()
    [first, *_] = [one for one in check(story.events).told if one.violation.invariant == "Q2"]

    assert [name_of(event) for event in first.around] == ["beat", "done", "done", "beat", "kept"]
    assert len(first.around) == AROUND
    assert {getattr(event, "run", None) for event in first.around} == {"r"}


def refused_completion(story: Story) -> None:
    story.store(1, Refused, run="r", token=1, op="complete")


def claim_answered_again(story: Story) -> None:
    story.process("w/1", 1, Again, op="claim", req="q")


def expired_lease(story: Story) -> None:
    story.enqueue()
    story.claim(2)
    story.again(30, Expired)


def leader_change_while_a_time_is_due(story: Story) -> None:
    story.store(1, Elect, who="s1", term=1, expires=t(10))
    story.fire(12, 10, "r")
    story.store(11, Elect, who="s2", term=2, expires=t(20))


def lost_reply(op: str) -> Callable[[Story], None]:
    return lambda story: story.fault(1, 2, "lost_reply", "w/1", op=op)


def job_longer_than_three_leases(story: Story) -> None:
    story.enqueue()
    story.live(at=2, until=70)


def overlap_skip(story: Story) -> None:
    story.skip(1000, 1000, "overlap")


def catch_up_of_more_than_100_times(story: Story) -> None:
    story.fire(5000, 4999, "r")
    story.skip(5000, 100, "misfire", until=4900, count=101)


def cancel_while_running(story: Story) -> None:
    story.enqueue()
    story.claim(2)
    story.store(3, CancelOk, run="r")


def join_raced_by_two_parents(story: Story) -> None:
    flow = Flow(story, a=ROOT, b=ROOT, c=("a", "b"))
    flow.begin("a", "b")
    flow.begins(3, "a")
    flow.begins(3, "b")
    flow.ends(4, "a")
    flow.ends(4.1, "b")


def drain_with_leftovers(story: Story) -> None:
    story.enqueue()
    story.claim(2)
    story.fault(3, 30, "term", "w/1")
    story.again(29, Released)


def dst_gap(story: Story) -> None:
    cases_schedules.a_time_in_a_gap_is_skipped_and_was_to_be_moved(story, False)


def dst_overlap(story: Story) -> None:
    cases_schedules.a_repeated_time_fires_twice(story, False)


def disk_full_during_complete(story: Story) -> None:
    story.enqueue()
    story.fault(3, 8, "disk_full", "db")
    story.live(at=2, until=10)


MADE_OF: dict[str, Callable[[Story], None]] = {
    "refused completion": refused_completion,
    "claim answered again": claim_answered_again,
    "expired lease": expired_lease,
    "leader change while a time is due": leader_change_while_a_time_is_due,
    "lost reply to claim": lost_reply("claim"),
    "lost reply to complete": lost_reply("complete"),
    "lost reply to fire": lost_reply("fire"),
    "lost reply to submit": lost_reply("submit"),
    "job longer than three leases": job_longer_than_three_leases,
    "overlap skip": overlap_skip,
    "catch-up of more than 100 times": catch_up_of_more_than_100_times,
    "cancel while running": cancel_while_running,
    "join raced by two parents": join_raced_by_two_parents,
    "drain with leftovers": drain_with_leftovers,
    "DST gap": dst_gap,
    "DST overlap": dst_overlap,
    "disk full during complete": disk_full_during_complete,
}


@pytest.mark.parametrize("name", COVERAGE)
def test_each_thing_that_must_happen_is_counted(name: str) -> None:
    quiet, story = Story(), Story()
    for one in (quiet, story):
        one.job("other")
    MADE_OF[name](story)

    assert coverage_of(index_of(quiet.events))[name] == 0
    assert coverage_of(index_of(story.events))[name] == 1


def test_a_picture_shows_due_times_runs_and_faults() -> None:
    index = index_of(small_history(3))
    picture = svg(index, "a")
    assert picture.startswith("<svg ")
    assert picture.count("<circle") == 6
    assert "<title>a-1, attempt 1 on " in picture
    assert "fill-opacity" in picture
    assert NOON.isoformat() not in svg(index, "no such job")
