"""What is due, and the calendars that say when not."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.executions.lifecycle import JobAction
from gnomon.core.jobs.job import Definition, Job, shard_of
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.schedule import CronTiming, Schedule
from gnomon.errors import InvalidTimezone
from gnomon.store.protocols.store import Store
from tests.contract.firings import vanish
from tests.contract.given import (
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    act,
    create,
    create_one,
    new_job,
    other_tenant,
)


async def due_job(store: Store, *, at: datetime = NOW) -> Job:
    return await create_one(store, new_job(next_run_time=at))


# Due --------------------------------------------------------------------------------------------------


async def test_jobs_are_due_oldest_first_and_not_before_their_time(store: Store) -> None:
    late, sharp, early, soon, never = await create(
        store,
        new_job("late", next_run_time=NOW - MINUTE),
        new_job("sharp", next_run_time=NOW),
        new_job("early", next_run_time=NOW - HOUR),
        new_job("soon", next_run_time=NOW + SECOND),
        new_job("never"),
    )

    assert (await store.schedules.due(now=NOW, limit=10)).jobs == [early, late, sharp]
    assert (await store.schedules.due(now=NOW, limit=2)).jobs == [early, late]
    assert (await store.schedules.due(now=NOW + SECOND, limit=10)).jobs == [early, late, sharp, soon]
    assert never.next_run_time is None


async def test_a_paused_job_is_due_too_because_its_times_are_recorded(store: Store) -> None:
    job = await act(store, await due_job(store), JobAction.PAUSE)

    assert (await store.schedules.due(now=NOW, limit=10)).jobs == [job]


@pytest.mark.parametrize("action", [JobAction.CANCEL, JobAction.DELETE])
async def test_an_ended_job_is_never_due(store: Store, action: JobAction) -> None:
    await act(store, await due_job(store), action)

    assert (await store.schedules.due(now=NOW, limit=10)).jobs == []
    assert await store.schedules.next_due() is None


async def test_jobs_of_all_tenants_are_due(store: Store) -> None:
    theirs = await create_one(store, new_job(tenant_id=await other_tenant(store), next_run_time=NOW))

    assert (await store.schedules.due(now=NOW, limit=10)).jobs == [theirs]


async def test_the_next_due_time_is_the_earliest(store: Store) -> None:
    assert await store.schedules.next_due() is None

    await due_job(store, at=NOW + HOUR)
    await due_job(store, at=NOW + MINUTE)

    assert await store.schedules.next_due() == NOW + MINUTE


async def test_a_scheduler_sees_only_its_shards(store: Store) -> None:
    jobs = await create(store, *(new_job(next_run_time=NOW + n * SECOND) for n in range(12)))
    mine = {shard_of(job.id) for job in jobs[::2]}
    expected = [job for job in jobs if shard_of(job.id) in mine]

    assert (await store.schedules.due(now=NOW + MINUTE, limit=100, shards=mine)).jobs == expected
    assert await store.schedules.next_due(shards=mine) == expected[0].next_run_time
    assert (await store.schedules.due(now=NOW + MINUTE, limit=100, shards=[])).jobs == []
    assert await store.schedules.next_due(shards=[]) is None


async def test_a_job_whose_zone_vanished_stops_nobody_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    definition = Definition("echo", schedule=Schedule(CronTiming("0 9 * * *", "Asia/Calcutta")))
    lost, other, later = await create(
        store,
        new_job("lost", definition=definition, next_run_time=NOW - HOUR),
        new_job("other", next_run_time=NOW - MINUTE),
        new_job("later", next_run_time=NOW + MINUTE),
    )
    vanish("Asia/Calcutta", monkeypatch)

    due = await store.schedules.due(now=NOW, limit=10)

    assert due.jobs == [other]
    [unreadable] = due.unreadable
    assert unreadable[:4] == (DEFAULT_TENANT, lost.id, "lost", NOW - HOUR)
    assert isinstance(unreadable.reason, InvalidTimezone)
    # Once reported, it is passed over, so that it neither fills the answers nor keeps a scheduler awake.
    assert (await store.schedules.due(now=NOW, limit=1, passed_over=[lost.id])) == ([other], [])
    assert await store.schedules.next_due() == NOW - HOUR
    assert await store.schedules.next_due(passed_over=[lost.id, other.id]) == later.next_run_time


# Calendars --------------------------------------------------------------------------------------------


async def test_a_calendar_is_kept_and_replaced_under_its_name(store: Store) -> None:
    name = (DEFAULT_TENANT, "holidays")
    first = Calendar(*name, dates=frozenset({date(2030, 1, 1), date(2030, 12, 25)}))
    await store.calendars.save(first, now=NOW)
    assert list(await store.schedules.calendars([name])) == [first]

    second = Calendar(*name, dates=frozenset({date(2031, 1, 1)}))
    await store.calendars.save(second, now=NOW)

    assert list(await store.schedules.calendars([name])) == [second]


async def test_only_calendars_that_exist_are_returned(store: Store) -> None:
    neighbours = await other_tenant(store)
    ours = Calendar(DEFAULT_TENANT, "holidays", frozenset({date(2030, 1, 1)}))
    theirs = Calendar(neighbours, "holidays", frozenset())
    for calendar in (ours, theirs):
        await store.calendars.save(calendar, now=NOW)

    asked = [(DEFAULT_TENANT, "holidays"), (neighbours, "holidays"), (neighbours, "weekends")]
    found = await store.schedules.calendars(asked)

    assert sorted(found, key=lambda calendar: calendar.tenant_id) == [ours, theirs]
    assert list(await store.schedules.calendars([])) == []
