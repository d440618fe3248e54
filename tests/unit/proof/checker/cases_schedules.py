"""Stories about schedules and leaders: C and D."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from proof.checker.history.events import (
    Act,
    ActBegin,
    Alive,
    Cancelled,
    CancelOk,
    Elect,
    ElectInfo,
    Expect,
    Lead,
    SchedSet,
    Told,
)
from tests.unit.proof.checker.story import NOON, Story, case, t


def twice(story: Story, **fields: Any) -> None:
    """A job that is due at 1000 and at 2000."""
    story.job(**{"every": 1000, "anchor": NOON, "end_at": t(2500), **fields})


def fired(story: Story, due: float, run: str, at: float | None = None, **fields: object) -> None:
    """A due time that fires at once, or at `at`, and is done two seconds later."""
    at = due if at is None else at
    story.fire(at, due, run, **fields)
    story.live(run, at=at)


# Every due time -----------------------------------------------------------------------------------


@case("C1")
def a_due_time_is_left_out(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    if not wrong:
        fired(story, 2000, "b")
    story.read()


@case("C1")
def a_due_time_just_before_the_read_owes_nothing(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    story.read(2101 if wrong else 2099)


@case("C1")
def a_due_time_fires_and_is_skipped(story: Story, wrong: bool) -> None:
    twice(story, overlap="skip")
    story.fire(1000, 1000, "a")
    if wrong:
        story.skip(1000, 1000, "overlap")
    story.live("a", at=1000)
    fired(story, 2000, "b")
    story.read()


@case("C1")
def a_row_speaks_for_more_times_than_there_are(story: Story, wrong: bool) -> None:
    twice(story, misfire="IGNORE")
    story.skip(2100, 1000, "misfire", until=2000, count=3 if wrong else 2)
    story.read()


@case("C1")
def a_calendar_is_given_as_a_reason_that_it_is_not(story: Story, wrong: bool) -> None:
    twice(story, closed=() if wrong else (NOON.date(),))
    story.skip(1000, 1000, "calendar")
    story.skip(2000, 2000, "calendar")
    story.read()


@case("C1")
def a_job_that_goes_on_skips_as_cancelled(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    story.skip(2000, 2000, "cancelled")
    if not wrong:
        story.job(at=2000, since=t(2000), state="CANCELLED")
    story.read()


@case("C1")
def after_its_last_run_a_job_owes_nothing(story: Story, wrong: bool) -> None:
    twice(story, max_runs=2 if wrong else 1)
    fired(story, 1000, "a")
    story.read()


@case("C1")
def an_instant_that_had_passed_is_owed_too(story: Story, wrong: bool) -> None:
    story.store(0, SchedSet, job="j", rev=1, at=t(-500))
    if not wrong:
        fired(story, -500, "a", at=1)
    story.read()


@case("C2")
def a_due_time_fires_twice(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    if wrong:
        fired(story, 1000, "b", at=1003)
    fired(story, 2000, "c")
    story.read()


@case("C3")
def a_time_is_invented(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    if wrong:
        fired(story, 1500, "b")
    fired(story, 2000, "c")
    story.read()


@case("C3")
def a_time_fires_as_another_revision(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    twice(story, rev=2, at=1500, since=t(1500))
    fired(story, 2000, "b", rev=1 if wrong else 2)
    story.read()


@case("C3")
def a_fire_is_held_back_by_more_than_its_jitter(story: Story, wrong: bool) -> None:
    twice(story, end_at=t(1500), jitter=30)
    story.fire(1000, 1000, "a", run_at=t(1040 if wrong else 1020))
    story.live("a", at=1040)
    story.read()


# In time ------------------------------------------------------------------------------------------


@case("C4")
def a_due_time_fires_late(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a", at=1009 if wrong else 1004)
    fired(story, 2000, "b")
    story.read()


@case("C4")
def a_fire_during_a_fault_may_be_late(story: Story, wrong: bool) -> None:
    twice(story)
    if not wrong:
        story.fault(990, 1010, "cut", "db")
    fired(story, 1000, "a", at=1012)
    fired(story, 2000, "b")
    story.read()


@case("C4")
def a_time_that_all_have_known_for_long_waits_for_a_look(story: Story, wrong: bool) -> None:
    """The tolerance is for a schedule of which nobody was told."""
    story.process("nemesis", 0, Expect, tolerance=10.0)
    twice(story, at=0 if wrong else 995)
    fired(story, 1000, "a", at=1008)
    fired(story, 2000, "b")
    story.read()


@case("C4")
def a_scheduler_that_is_well_waits_for_a_broken_one(story: Story, wrong: bool) -> None:
    story.up("s/1", "scheduler", slots=0)
    story.up("z/1", "scheduler", slots=0)
    twice(story)
    story.fault(990, 1100, "pause", "s/1")
    fired(story, 1000, "a", at=1009 if wrong else 1004)
    fired(story, 2000, "b")
    story.process("s/1", 1101, Alive)
    story.process("z/1", 1101, Alive)
    story.read()


@case("C4")
def late_though_not_all_schedulers_stand_still(story: Story, wrong: bool) -> None:
    story.up("s/1", "scheduler", slots=0)
    twice(story)
    story.fault(990, 1100, "pause", "w/1" if wrong else "schedulers")
    fired(story, 1000, "a", at=1101)
    fired(story, 2000, "b")
    story.process("s/1", 1102, Alive)
    story.read()


@case("C4")
def a_free_worker_does_not_start_it(story: Story, wrong: bool) -> None:
    twice(story, end_at=t(1500))
    story.up("w/1", slots=4)
    story.fire(1000, 1000, "a")
    story.live("a", at=1010 if wrong else 1001)
    story.read()


@case("C4")
def a_worker_that_serves_the_queue_does_not_start_it(story: Story, wrong: bool) -> None:
    twice(story, end_at=t(1500))
    story.up("w/1", slots=4, queues=("default",) if wrong else ("slow",))
    story.fire(1000, 1000, "a")
    story.live("a", at=1010, worker="v/1")
    story.read()


@case("C5")
def a_time_fires_early(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    story.fire(1999 if wrong else 2000, 2000, "b", late=0.0)
    story.live("b", at=2000)
    story.read()


@case("C10")
def nothing_happened_for_a_due_time(story: Story, wrong: bool) -> None:
    story.process("nemesis", 0, Expect, job="j", effect="sink", run_max=10.0)
    twice(story)
    fired(story, 1000, "a")
    story.effect(1001, "a")
    fired(story, 2000, "b")
    story.effect(2001 if not wrong else 1002, "b")
    story.read()


# Misfires -----------------------------------------------------------------------------------------


@case("C6")
def fire_now_fires_an_older_one(story: Story, wrong: bool) -> None:
    twice(story)
    story.fault(900, 2090, "cut", "db")
    if wrong:
        fired(story, 1000, "a", at=2100)
        story.skip(2100, 2000, "misfire")
    else:
        story.skip(2100, 1000, "misfire")
        fired(story, 2000, "a", at=2100)
    story.read()


@case("C6")
def fire_now_prefers_a_time_that_is_still_in_time(story: Story, wrong: bool) -> None:
    twice(story)
    story.fault(900, 2010, "cut", "db")
    if wrong:
        story.fire(2020, 1000, "b")
        story.live("b", at=2021)
    else:
        story.skip(2020, 1000, "misfire")
    story.fire(2020, 2000, "a")
    story.live("a", at=2030)
    story.read()


@case("C6")
def fire_all_fires_more_than_its_limit(story: Story, wrong: bool) -> None:
    story.job(every=100, anchor=NOON, end_at=t(550), misfire="FIRE_ALL", catchup_limit=2)
    story.fault(50, 990, "cut", "db")
    # Missed are 100 to 500.
    story.skip(1000, 100, "catchup_limit", until=200 if wrong else 300, count=2 if wrong else 3)
    for number, due in enumerate((300, 400, 500) if wrong else (400, 500)):
        story.fire(1000, due, f"r{due}")
        story.live(f"r{due}", at=1001 + 2 * number)
    story.read()


@case("C6")
def fire_all_knows_its_window(story: Story, wrong: bool) -> None:
    story.job(every=100, anchor=NOON, end_at=t(250), misfire="FIRE_ALL", catchup_window=150)
    story.fault(50, 290, "cut", "db")
    story.skip(300, 100, "catchup_limit" if wrong else "catchup_window")
    fired(story, 200, "a", at=300)
    story.read()


@case("C6")
def a_time_in_its_grace_is_skipped_as_missed(story: Story, wrong: bool) -> None:
    twice(story, misfire="IGNORE")
    story.skip(1030 if wrong else 1070, 1000, "misfire")
    fired(story, 2000, "b")
    story.read()


@case("C6")
def an_interval_does_not_count_anew(story: Story, wrong: bool) -> None:
    story.job(every=1000, anchor=NOON, end_at=t(3500), misfire="RESCHEDULE")
    story.fault(900, 2290, "cut", "db")
    anchor = {} if wrong else {"anchor": t(2300)}
    story.skip(2300, 1000, "misfire", until=2000, count=2, **anchor)
    fired(story, 3000 if wrong else 3300, "a")
    story.read()


# Overlap ------------------------------------------------------------------------------------------


@case("C7")
def a_fire_does_not_see_a_live_run(story: Story, wrong: bool) -> None:
    twice(story, overlap="skip", timeout=3000)
    story.fire(1000, 1000, "a")
    story.live("a", at=1000, until=2010 if wrong else 1990)
    story.fire(2000, 2000, "b")
    story.live("b", at=2000, worker="v/1")
    story.read()


@case("C7")
def a_skip_names_an_overlap_that_was_none(story: Story, wrong: bool) -> None:
    twice(story, overlap="skip", timeout=3000)
    story.fire(1000, 1000, "a")
    story.live("a", at=1000, until=1500 if wrong else 2200)
    story.skip(2000, 2000, "overlap")
    story.read()


@case("C7")
def a_slow_skip_names_a_run_that_had_ended_before_its_time(story: Story, wrong: bool) -> None:
    twice(story, overlap="skip", timeout=3000)
    story.fire(1000, 1000, "a")
    story.live("a", at=1000, until=1990 if wrong else 2001)
    story.skip(2008, 2000, "overlap")
    story.read()


@case("C7")
def a_fire_does_not_see_a_run_that_was_asked_for(story: Story, wrong: bool) -> None:
    twice(story, overlap="skip", timeout=3000)
    story.fire(1000, 1000, "a")
    story.live("a", at=1000)
    if not wrong:
        story.fault(1990, 1999, "slow", "db")  # The count was on its way when somebody asked.
    story.enqueue("m", at=1995)
    story.live("m", at=1996, until=2100)
    story.fire(2000, 2000, "b")
    story.live("b", at=2000, worker="v/1")
    story.read()


@case("C7")
def a_queue_is_jumped(story: Story, wrong: bool) -> None:
    twice(story, overlap="queue", timeout=3000)
    story.fire(1000, 1000, "a")
    story.fire(2000, 2000, "b")
    story.live("a", at=1000, until=2200)
    story.live("b", at=2100 if wrong else 2201, worker="v/1")
    story.read()


@case("C7")
def a_replaced_run_is_not_asked_to_stop(story: Story, wrong: bool) -> None:
    twice(story, overlap="replace", timeout=3000)
    story.fire(1000, 1000, "a")
    story.claim(1000, "a")
    story.start(1000, "a")
    story.beats(1000, 2000, "a")
    if not wrong:
        story.store(2000, CancelOk, run="a")
        story.process("w/1", 2001, Told, run="a", token=1)
    story.fire(2000, 2000, "b")
    story.live("b", at=2000, worker="v/1")
    story.beat(2003, "a")
    story.end(2004, Cancelled, "a")
    story.read()


@case("C7")
def of_several_times_only_the_last_replaces(story: Story, wrong: bool) -> None:
    twice(story, overlap="replace", misfire="FIRE_ALL")
    story.fault(900, 2090, "cut", "db")
    if wrong:
        story.fire(2100, 1000, "a")
        story.live("a", at=2101)
        story.skip(2100, 2000, "overlap")
    else:
        story.skip(2100, 1000, "overlap")
        story.fire(2100, 2000, "a")
        story.live("a", at=2101)
    story.read()


# Shifts and pauses --------------------------------------------------------------------------------

MARCH = datetime(2026, 3, 8, 7, tzinfo=UTC)  # 02:00 in New York, which is 03:00 at once.
NOVEMBER = datetime(2026, 11, 1, 5, 30, tzinfo=UTC)  # 01:30 in New York, for the first time.


def new_york(story: Story, around: datetime, cron: str, **fields: Any) -> float:
    """A job in New York from an hour before a shift until an hour after. Returns where that is."""
    at = (around - NOON).total_seconds()
    story.job(at=at - 3600, cron=cron, tz="America/New_York", end_at=t(at + 3600), **fields)
    return at


@case("C8")
def a_time_in_a_gap_fires_and_was_to_be_skipped(story: Story, wrong: bool) -> None:
    at = new_york(story, MARCH, "30 2 * * *", gap="skip")
    if wrong:
        fired(story, at, "a")
    else:
        story.skip(at, at, "dst_gap")
    story.read(at + 5000)


@case("C8")
def a_time_in_a_gap_is_skipped_and_was_to_be_moved(story: Story, wrong: bool) -> None:
    at = new_york(story, MARCH, "30 2 * * *", gap="shift")
    if wrong:
        story.skip(at, at, "dst_gap")
    else:
        fired(story, at, "a")
    story.read(at + 5000)


@case("C8")
def a_repeated_time_fires_twice(story: Story, wrong: bool) -> None:
    at = new_york(story, NOVEMBER, "30 1 * * *")
    fired(story, at, "a")
    if wrong:
        fired(story, at + 3600, "b")
    story.read(at + 8000)


@case("C8")
def a_wildcard_hour_runs_in_elapsed_time(story: Story, wrong: bool) -> None:
    at = new_york(story, NOVEMBER, "30 * * * *")
    fired(story, at, "a")
    if not wrong:
        fired(story, at + 3600, "b")
    story.read(at + 8000)


@case("C9")
def a_paused_job_fires(story: Story, wrong: bool) -> None:
    twice(story)
    fired(story, 1000, "a")
    twice(story, at=1500, since=t(1500), state="PAUSED")
    if wrong:
        fired(story, 2000, "b")
    else:
        story.skip(2000, 2000, "paused")
    story.read()


@case("C9")
def a_job_skips_as_paused_and_is_not(story: Story, wrong: bool) -> None:
    twice(story)
    if not wrong:
        twice(story, at=500, since=t(500), state="PAUSED")
    story.skip(1000, 1000, "paused")
    twice(story, at=1500, since=t(1500))
    fired(story, 2000, "b")
    story.read()


@case("C9")
def a_job_is_paused_for_a_blink_and_skips(story: Story, wrong: bool) -> None:
    twice(story)
    if not wrong:
        twice(story, at=999.997, since=t(999.997), state="PAUSED")
    story.skip(1000, 1000, "paused")
    twice(story, at=1000.003, since=t(1000.003))
    fired(story, 2000, "b")
    story.read()


# Leaders ------------------------------------------------------------------------------------------


@case("D1")
def somebody_acts_in_an_old_term(story: Story, wrong: bool) -> None:
    story.store(1, Elect, who="s1", term=1, expires=t(20))
    story.store(2, Act, who="s1", term=1)
    story.store(19, Elect, who="s2", term=2, expires=t(40))
    story.store(21, Act, who="s1" if wrong else "s2", term=1 if wrong else 2)
    story.read(40)


@case("D2")
def a_term_begins_again(story: Story, wrong: bool) -> None:
    story.store(1, Elect, who="s1", term=4, expires=t(20))
    story.store(10, Elect, who="s1", term=4, expires=t(30))
    story.store(29, Elect, who="s2", term=1 if wrong else 5, expires=t(40))
    story.read(40)


@case("D3")
def nobody_leads(story: Story, wrong: bool) -> None:
    story.store(1, Elect, who="s1", term=1, expires=t(1900))
    story.store(1930 if wrong else 1905, Elect, who="s2", term=2, expires=t(4000))
    story.read(4000)


@case("D4")
def a_leader_believes_for_too_long(story: Story, wrong: bool) -> None:
    story.process("s/1", 1, Lead, term=1, until=1016.0)
    story.process("s/1", 17 if wrong else 15, ActBegin, term=1)
    story.read(40)


@case("D5")
def a_leader_believes_after_an_error(story: Story, wrong: bool) -> None:
    story.process("s/1", 1, Lead, term=1, until=1016.0)
    story.process("s/1", 5, ElectInfo)
    if not wrong:
        story.process("s/1", 6, Lead, term=1, until=1020.0)
    story.process("s/1", 7, ActBegin, term=1)
    story.read(40)
