"""What the core decides about due times, judged: the policies are read the same way twice."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from gnomon.core.executions.lifecycle import DeadReason
from gnomon.core.jobs.job import Delivery, JobStatus
from gnomon.core.jobs.retry import RetryPolicy
from gnomon.core.schedules.occurrence import Firing, SkipReason
from gnomon.core.time.dst import Fold, Gap
from gnomon.core.time.schedule import CronTiming, Interval, Misfire, Overlap, Schedule
from gnomon.core.values.instants import MICROSECOND
from proof.checker.calendar import ledger
from proof.checker.history.events import AnyEvent, Enqueue, FaultBegin, FaultEnd, Fire, Read, SchedSet, Skip
from proof.checker.invariants import calendar
from proof.checker.judge import check
from proof.checker.parameters import Parameters
from tests.unit.core.builders import after_firing, step
from tests.unit.core.firing_stories import Story, stories
from tests.unit.proof.checker.model import numbered

NONE, MINUTE = timedelta(0), timedelta(minutes=1)
STRICT = Parameters(tolerance=NONE, forgiveness=NONE, recovery=NONE, run_max=NONE)


def spec_of(schedule: Schedule) -> dict[str, Any]:
    """A schedule in the words of a history."""
    timing = schedule.timing
    assert isinstance(timing, CronTiming | Interval)
    fields: dict[str, object] = {
        "start_at": schedule.start_at,
        "end_at": schedule.end_at,
        "max_runs": schedule.max_runs,
        "misfire": str(schedule.misfire),
        "grace": schedule.misfire_grace.total_seconds(),
        "catchup_limit": schedule.catchup_limit,
        "overlap": str(schedule.overlap),
    }
    if schedule.catchup_window is not None:
        fields["catchup_window"] = schedule.catchup_window.total_seconds()
    if isinstance(timing, Interval):
        return {**fields, "every": timing.every.total_seconds(), "anchor": timing.anchor}
    cron = {
        "cron": timing.expression,
        "tz": timing.timezone,
        "gap": str(timing.gap),
        "fold": str(timing.fold),
    }
    return {**fields, **cron}


def history_of(told: Story, *, limit: int) -> list[AnyEvent]:
    """The events that a scheduler would leave which comes at `now`, in steps of so many due times."""
    first, now = told.ticks[0][0] - MICROSECOND, told.now
    fields = spec_of(told.schedule)
    if told.fires and isinstance(runs := fields["max_runs"], int):
        fields["max_runs"] = runs - told.fires
    state = "PAUSED" if told.paused else "ACTIVE"
    # Everything else was down meanwhile: nothing here is about being on time.
    down = {"src": "nemesis", "n": 0, "kind": "stop", "target": "s"}
    events: list[object] = [
        SchedSet(
            src="store",
            n=0,
            db=first - MINUTE,
            since=first,
            job="j",
            rev=1,
            state=state,
            closed=tuple(told.excluded),
            **fields,
        ),
        FaultBegin(wall=first, **down),  # type: ignore[arg-type]
        FaultEnd(wall=now, **down),  # type: ignore[arg-type]
    ]
    if told.live:
        events.append(Enqueue(src="store", n=0, db=first - MINUTE, run="live", job="j", rev=1))
    job, live = told.job, told.live
    while job.next_run_time is not None and job.next_run_time <= now:
        firing = step(job, now=now, live=live, excluded=told.excluded, limit=limit)
        events += events_of(firing, told)
        live += sum(row.reason is None for row in firing.occurrences)
        job = after_firing(job, firing)
    events.append(Read(src="reader", n=0, wall=now))
    return numbered(cast("list[AnyEvent]", events))


def events_of(firing: Firing, told: Story) -> list[object]:
    events: list[object] = []
    for row in firing.occurrences:
        late = (told.now - row.nominal_time).total_seconds()
        where = {"src": "store", "n": 0, "db": told.now, "job": "j", "rev": 1, "late": late}
        if row.reason is None:
            events.append(Fire(due=row.nominal_time, run=f"r-{row.nominal_time}", **where))  # type: ignore[arg-type]
        else:
            events.append(
                Skip(
                    due=row.nominal_time,
                    until=row.nominal_until,
                    count=row.count,
                    why=str(row.reason),
                    anchor=firing.anchor,
                    **where,  # type: ignore[arg-type]
                )
            )
    return events


@given(told=stories(), limit=st.sampled_from([7, 100, 10_000]))
@settings(max_examples=50, deadline=None)
def test_what_the_core_decides_passes(told: Story, limit: int) -> None:
    verdict = check(history_of(told, limit=limit), STRICT, coverage_min=0)
    calendar_only = [one.violation for one in verdict.told if one.violation.invariant.startswith("C")]
    assert [f"{one.invariant}: {one.what}" for one in calendar_only] == []
    assert sum(one.checked for one in verdict.findings if one.invariant == "C1") > 0 or not told.ticks


@given(told=stories(), place=st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_a_decision_turned_around_is_flagged(told: Story, place: int) -> None:
    events = history_of(told, limit=10_000)
    decided = [n for n, event in enumerate(events) if isinstance(event, Fire | Skip)]
    place = decided[place % len(decided)]
    event = events[place]
    if isinstance(event, Fire):
        turned: object = Skip(
            src="store", n=0, db=event.db, job="j", rev=1, late=event.late, due=event.due, why="misfire"
        )
    else:
        assert isinstance(event, Skip)
        turned = Fire(
            src="store", n=0, db=event.db, job="j", rev=1, late=event.late, due=event.due, run="turned"
        )
    changed = numbered([*events[:place], cast("AnyEvent", turned), *events[place + 1 :]])
    verdict = check(changed, STRICT, coverage_min=0)
    assert [one for one in verdict.told if one.violation.invariant.startswith("C")]


def test_the_words_of_a_history_are_those_of_the_core() -> None:
    assert set(calendar.REASONS) == set(SkipReason)
    known = SchedSet(src="s", n=1, job="j", rev=1)
    retry = RetryPolicy()
    assert known.misfire == Schedule().misfire == Misfire.FIRE_NOW
    assert known.overlap == Schedule().overlap == Overlap.ALLOW
    assert (known.gap, known.fold) == (Gap.SHIFT, Fold.FIRST)
    assert known.delivery == Delivery.AT_LEAST_ONCE
    assert known.backoff == retry.backoff
    assert known.backoff_base == retry.backoff_base.total_seconds()
    assert known.backoff_max == retry.backoff_max.total_seconds()
    assert (known.backoff_multiplier, known.backoff_jitter) == (retry.multiplier, retry.jitter)
    assert (known.max_attempts, known.retry_on) == (retry.max_attempts, retry.retry_on)
    assert known.grace == Schedule().misfire_grace.total_seconds()
    assert known.catchup_limit == Schedule().catchup_limit
    assert set(ledger.FIRING | ledger.ENDED | {"COMPLETED"}) == set(JobStatus)
    assert {"crash_loop", "exhausted"} <= set(DeadReason)
