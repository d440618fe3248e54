"""Calendars: kept under their name with a version, and never taken from a schedule that names them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import date

import pytest

from gnomon.core.access.tenants import DEFAULT_TENANT, TenantId
from gnomon.core.executions.lifecycle import JobAction, change_of
from gnomon.core.jobs.job import Definition, Job, NewJob
from gnomon.core.time.calendars import Calendar
from gnomon.core.time.schedule import Schedule
from gnomon.core.values.idempotency import Idempotency
from gnomon.errors import (
    CalendarInUse,
    CalendarNotFound,
    GnomonError,
    IdempotencyConflict,
    TenantNotFound,
    VersionConflict,
)
from gnomon.store.protocols.store import Store
from tests.contract.given import MINUTE, NOW, new_id, new_job

YEAR = date(2030, 1, 1)
CHRISTMAS = date(2030, 12, 25)


def holidays(*dates: date, name: str = "holidays") -> Calendar:
    return Calendar(DEFAULT_TENANT, name, frozenset(dates))


def a_job_with(calendar: str | None, name: str = "report") -> NewJob:
    return replace(new_job(name), definition=Definition("echo", schedule=Schedule(calendar=calendar)))


async def refusals(calls: Iterable[object]) -> list[type[GnomonError]]:
    answers = await asyncio.gather(*calls, return_exceptions=True)  # type: ignore[call-overload]
    return [type(one) for one in answers if isinstance(one, GnomonError)]


async def test_a_calendar_gets_a_new_version_when_its_dates_change(store: Store) -> None:
    first = await store.calendars.save(holidays(YEAR), now=NOW)
    same = await store.calendars.save(holidays(YEAR), now=NOW + MINUTE)
    second = await store.calendars.save(holidays(YEAR, CHRISTMAS), now=NOW + MINUTE)

    assert same == first
    assert (first.version, first.updated_at) == (1, NOW)
    assert (second.version, second.updated_at) == (2, NOW + MINUTE)
    assert await store.calendars.get(DEFAULT_TENANT, "holidays") == second


async def test_a_version_that_is_no_longer_current_is_refused(store: Store) -> None:
    await store.calendars.save(holidays(YEAR), now=NOW)
    await store.calendars.save(holidays(CHRISTMAS), now=NOW, version=1)

    with pytest.raises(VersionConflict):
        await store.calendars.save(holidays(), now=NOW, version=1)
    with pytest.raises(VersionConflict):
        await store.calendars.delete(DEFAULT_TENANT, "holidays", version=1)
    with pytest.raises(CalendarNotFound):
        await store.calendars.save(holidays(name="other"), now=NOW, version=1)


async def test_a_repeated_request_with_its_key_is_answered_and_not_done_again(store: Store) -> None:
    once = Idempotency("once", "these dates")
    await store.calendars.save(holidays(YEAR), now=NOW, idempotency=once)
    changed = await store.calendars.save(holidays(CHRISTMAS), now=NOW)

    assert await store.calendars.save(holidays(YEAR), now=NOW, idempotency=once) == changed
    with pytest.raises(IdempotencyConflict):
        await store.calendars.save(holidays(), now=NOW, idempotency=Idempotency("once", "other dates"))


async def test_a_calendar_needs_its_tenant(store: Store) -> None:
    with pytest.raises(TenantNotFound):
        await store.calendars.save(Calendar(TenantId(new_id()), "holidays", frozenset()), now=NOW)


async def test_calendars_are_listed_by_name_with_the_number_of_their_dates(store: Store) -> None:
    for name in ("b", "a", "Z", "é"):
        await store.calendars.save(holidays(YEAR, CHRISTMAS, name=name), now=NOW)

    found = await store.calendars.list(DEFAULT_TENANT, limit=2)
    rest = await store.calendars.list(DEFAULT_TENANT, limit=10, after=found[-1].name)

    assert [one.name for one in (*found, *rest)] == ["Z", "a", "b", "é"]
    assert (found[0].date_count, found[0].version, found[0].updated_at) == (2, 1, NOW)


async def test_a_calendar_that_a_schedule_names_is_not_deleted(store: Store) -> None:
    await store.calendars.save(holidays(YEAR), now=NOW)
    [job] = await store.jobs.create([a_job_with("holidays")], now=NOW)

    with pytest.raises(CalendarInUse) as refused:
        await store.calendars.delete(DEFAULT_TENANT, "holidays")
    assert refused.value.users == ["report"]

    without = replace(
        change_of(job, JobAction.UPDATE, next_run_time=job.next_run_time), definition=Definition("echo")
    )
    await store.jobs.change([without], now=NOW)
    await store.calendars.delete(DEFAULT_TENANT, "holidays")
    with pytest.raises(CalendarNotFound):
        await store.calendars.get(DEFAULT_TENANT, "holidays")
    with pytest.raises(CalendarNotFound):
        await store.calendars.delete(DEFAULT_TENANT, "holidays")


async def test_a_deleted_job_gives_its_calendar_up(store: Store) -> None:
    await store.calendars.save(holidays(YEAR), now=NOW)
    [job] = await store.jobs.create([a_job_with("holidays")], now=NOW)
    await store.jobs.change([change_of(job, JobAction.DELETE, next_run_time=None)], now=NOW)

    await store.calendars.delete(DEFAULT_TENANT, "holidays")


async def test_a_job_cannot_name_a_calendar_that_is_not_there(store: Store) -> None:
    with pytest.raises(CalendarNotFound):
        await store.jobs.create([a_job_with("holidays")], now=NOW)
    [job] = await store.jobs.create([a_job_with(None)], now=NOW)
    change = change_of(job, JobAction.UPDATE, next_run_time=job.next_run_time)
    naming = replace(change, definition=a_job_with("holidays").definition)
    with pytest.raises(CalendarNotFound):
        await store.jobs.change([naming], now=NOW)


async def test_of_a_delete_and_jobs_that_name_the_calendar_at_once_one_side_is_refused(store: Store) -> None:
    for number in range(8):
        name = f"calendar {number}"
        await store.calendars.save(holidays(YEAR, name=name), now=NOW)
        made: list[Job] = []

        async def make(name: str = name, made: list[Job] = made) -> None:
            made += await store.jobs.create([a_job_with(name, f"job of {name}")], now=NOW)

        refused = await refusals([store.calendars.delete(DEFAULT_TENANT, name), make()])

        assert refused == [CalendarInUse if made else CalendarNotFound]
